//! Arbitrary bytes as a statement: parser, digest, and the text made again of what was parsed.
//! A text may be refused; nothing may panic, and a text made again must mean the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_sql::ast::Statement;
use selkie_sql::{ParseOptions, UnparseOptions, digest, parse, parse_expr, unparse_expr, unparse_query};
use selkie_types::SqlMode;

fuzz_target!(|input: (u8, &[u8])| {
    let (modes, text) = input;
    let bits = [
        SqlMode::ANSI_QUOTES,
        SqlMode::PIPES_AS_CONCAT,
        SqlMode::NO_BACKSLASH_ESCAPES,
        SqlMode::IGNORE_SPACE,
        SqlMode::HIGH_NOT_PRECEDENCE,
        SqlMode::EMPTY_STRING_IS_NULL,
        SqlMode::ORACLE,
    ];
    let chosen = bits.into_iter().enumerate().filter(|(i, _)| modes >> i & 1 == 1);
    let sql_mode = chosen.fold(SqlMode::EMPTY, |all, (_, mode)| all.with(mode));
    let options = ParseOptions { sql_mode };
    if let Ok(parsed) = parse(text, &options) {
        assert!(parsed.end <= text.len());
        if let Statement::Query(query) = &parsed.statement {
            unparse_query(query, &UnparseOptions::default());
        }
    }
    if let Ok(expr) = parse_expr(text, &options) {
        unparse_expr(&expr, &UnparseOptions::default());
    }
    digest(text, sql_mode);
});
