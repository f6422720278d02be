//! Parsing any input ends with a tree or an error: no panic, no overflow of the stack.
//! Covers random texts of SQL words, and the constructs that nest.

use proptest::prelude::*;
use selkie_sql::ast::Statement;
use selkie_sql::{
    ParseOptions, UnparseOptions, digest, parse, parse_expr, unparse_expr, unparse_query,
};
use selkie_types::SqlMode;

/// Words of stored programs in the mode of Oracle.
const PROGRAM_WORDS: &[&str] = &[
    "begin",
    "declare",
    "end",
    "exception",
    "when",
    "others",
    "then",
    "loop",
    "exit",
    "continue",
    "goto",
    "<<",
    ">>",
    "a",
    "b",
    ":=",
    ";",
    ";",
    ";",
    "if",
    "elsif",
    "else",
    "while",
    "for",
    "in",
    "reverse",
    "1",
    "..",
    "2",
    "cursor",
    "is",
    "select",
    "open",
    "fetch",
    "into",
    "close",
    "raise",
    "return",
    "null",
    "%",
    "type",
    "rowtype",
    "found",
    "int",
    "varchar",
    "(",
    ")",
    ",",
    ".",
    "package",
    "body",
    "procedure",
    "function",
    "create",
    "trigger",
    ":",
    "new",
    "out",
    "row",
];

const WORDS: &[&str] = &[
    "select",
    "from",
    "where",
    "a",
    "t.b",
    "`c`",
    "@x",
    "@@y",
    "1",
    "1.5",
    "1e5",
    "0x41",
    "x'41'",
    "'s'",
    "\"d\"",
    "(",
    ")",
    "(",
    ")",
    ",",
    ".",
    ";",
    "*",
    "+",
    "-",
    "=",
    ":=",
    "||",
    "&&",
    "!",
    "not",
    "and",
    "or",
    "in",
    "is",
    "null",
    "like",
    "between",
    "case",
    "when",
    "then",
    "else",
    "end",
    "exists",
    "union",
    "all",
    "intersect",
    "values",
    "insert",
    "into",
    "on",
    "duplicate",
    "key",
    "update",
    "set",
    "delete",
    "using",
    "join",
    "left",
    "natural",
    "group",
    "by",
    "order",
    "limit",
    "having",
    "with",
    "recursive",
    "as",
    "create",
    "table",
    "view",
    "int",
    "varchar",
    "(10)",
    "default",
    "primary",
    "unique",
    "index",
    "foreign",
    "references",
    "check",
    "alter",
    "add",
    "drop",
    "column",
    "modify",
    "partition",
    "range",
    "less",
    "than",
    "show",
    "columns",
    "explain",
    "analyze",
    "count(",
    "sum(",
    "over",
    "window",
    "interval",
    "day",
    "date",
    "cast(",
    "convert(",
    "grant",
    "to",
    "user",
    "identified",
    "begin",
    "commit",
    "prepare",
    "execute",
    "?",
    "/*!",
    "*/",
    "/*",
    "--",
    "#",
    "\n",
    "_latin1",
    "collate",
    "binary",
    "for",
    "lock",
    "sequence",
    "json_table(",
    "N'x'",
    "\\N",
    "{d '1'}",
];

fn exercise(text: &[u8], sql_mode: SqlMode) {
    let options = ParseOptions { sql_mode };
    if let Ok(parsed) = parse(text, &options) {
        assert!(parsed.end <= text.len());
        if let Statement::Query(query) = &parsed.statement {
            unparse_query(query, &UnparseOptions::default());
        }
    }
    let _ = parse_expr(text, &options);
    digest(text, sql_mode);
}

proptest! {
    #[test]
    fn token_soup(words in prop::collection::vec(0..WORDS.len(), 0..40)) {
        let text = words.iter().map(|&w| WORDS[w]).collect::<Vec<_>>().join(" ");
        exercise(text.as_bytes(), SqlMode::DEFAULT);
        exercise(text.as_bytes(), SqlMode::ORACLE);
        exercise(text.as_bytes(), SqlMode::parse("ANSI,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE").unwrap());
    }

    #[test]
    fn program_soup(words in prop::collection::vec(0..PROGRAM_WORDS.len(), 0..40)) {
        let text: Vec<&str> = words.iter().map(|i| PROGRAM_WORDS[*i]).collect();
        for start in ["begin", "create procedure p as begin", "create package body k as"] {
            exercise(format!("{start} {}", text.join(" ")).as_bytes(), SqlMode::ORACLE);
        }
    }

    #[test]
    fn bytes(text in prop::collection::vec(any::<u8>(), 0..60)) {
        exercise(&text, SqlMode::DEFAULT);
    }

    #[test]
    fn text_of_a_tree_means_the_same(words in prop::collection::vec(0..WORDS.len(), 1..12)) {
        let text = words.iter().map(|&w| WORDS[w]).collect::<Vec<_>>().join(" ");
        let options = ParseOptions::default();
        if let Ok(expr) = parse_expr(text.as_bytes(), &options) {
            let once = unparse_expr(&expr, &UnparseOptions::default());
            if let Ok(again) = parse_expr(once.as_bytes(), &options) {
                let twice = unparse_expr(&again, &UnparseOptions::default());
                prop_assert_eq!(once, twice);
            }
        }
    }
}

#[test]
fn deep_statements_are_errors() {
    let nest = |open: &str, inner: &str, close: &str, n: usize| {
        format!("select {}{inner}{}", open.repeat(n), close.repeat(n))
    };
    let deep = [
        nest("(", "1", ")", 100_000),
        nest("(select ", "1", ")", 100_000),
        nest("- ", "1", "", 100_000),
        nest("not ", "1", "", 100_000),
        nest("f(", "1", ")", 100_000),
        nest("case when 1 then ", "1", " end", 100_000),
        nest("1 + ", "1", "", 100_000),
        nest("1 in (", "1", ")", 100_000),
        nest("interval 1 day + ", "1", "", 100_000),
        nest("@a := ", "1", "", 100_000),
        nest("1 between 1 and ", "1", "", 100_000),
        format!("select 1 from {}t{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("select 1 from t{}", " join t".repeat(100_000)),
        "set statement a = 1 for ".repeat(100_000) + "select 1",
        "explain ".repeat(100_000) + "select 1",
        format!("select 1 {}", "collate x ".repeat(100_000)),
    ];
    for sql in deep {
        assert!(parse(sql.as_bytes(), &ParseOptions::default()).is_err(), "{}", &sql[..60]);
    }
}

/// Tries every construct that adds a level: walks without a guard (dropping, copying, comparing)
/// must end too.
#[test]
fn trees_are_of_limited_height() {
    let of = |open: &str, close: &str, n: usize| {
        let sql = format!("select {}1{}", open.repeat(n), close.repeat(n));
        let stack = std::thread::Builder::new().stack_size(64 << 20);
        let parsing = stack.spawn(move || parse(sql.as_bytes(), &ParseOptions::default()).is_ok());
        parsing.unwrap().join().unwrap()
    };
    let levels =
        [("- ", ""), ("not ", ""), ("f(", ")"), ("case when 1 then ", " end"), ("(1,", ")")];
    for (open, close) in levels {
        assert!(of(open, close, 400), "{open}");
        assert!(!of(open, close, 1100), "{open}");
    }
    for (open, close) in [("(", ")"), ("(1 and ", ")"), ("(", " or 1)")] {
        assert!(of(open, close, 3000), "{open}");
    }
}

#[test]
fn long_lists_are_fine() {
    let values = vec!["(1,'x')"; 10_000].join(",");
    let sql = format!("insert into t values {values}");
    assert!(parse(sql.as_bytes(), &ParseOptions::default()).is_ok());
    let conditions = vec!["a = 1"; 10_000].join(" or ");
    let sql = format!("select 1 from t where {conditions}");
    assert!(parse(sql.as_bytes(), &ParseOptions::default()).is_ok());
    let unions = vec!["select 1"; 10_000].join(" union all ");
    assert!(parse(unions.as_bytes(), &ParseOptions::default()).is_ok());
    let nested = format!("select {}1{}", "(".repeat(140), ")".repeat(140));
    assert!(parse(nested.as_bytes(), &ParseOptions::default()).is_ok());
    let sum = format!("select {}", vec!["a"; 900].join(" + "));
    assert!(parse(sum.as_bytes(), &ParseOptions::default()).is_ok());
}
