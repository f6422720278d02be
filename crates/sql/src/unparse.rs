//! Trees back to SQL in MariaDB's canonical style, as `SHOW CREATE` prints defaults, checks and
//! views.
//!
//! Names are printed as the tree has them. The caller qualifies them, since it has resolved them.

mod boolean;
mod cast;
mod expr;
mod function;
mod literal;
mod query;
mod special;
mod table;
mod types;

use std::fmt::Write;

use selkie_types::SqlMode;

use crate::ast::{Expr, Ident, Query};
use crate::lexer::Kw;

/// Settings that the text depends on besides the tree.
#[derive(Clone, Copy, Debug)]
pub struct UnparseOptions<'a> {
    /// Character set of a `CAST(.. AS CHAR)` that names none: the connection's.
    pub charset: &'a str,
    /// Quotes and the meaning of names of functions.
    pub sql_mode: SqlMode,
    /// Texts in the places of placeholders; `?` for those that are missing.
    pub parameters: &'a [String],
    /// Form of names.
    pub names: Names,
}

/// Form of names in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// In quotes, with their schemas.
    #[default]
    Quoted,
    /// Without schemas, and in quotes only if they would not be names otherwise. Only for people.
    Plain,
    /// As `Plain`; SELECTs in expressions have numbers, beginning with 2.
    Numbered,
}

impl Default for UnparseOptions<'_> {
    fn default() -> Self {
        let names = Names::Quoted;
        Self { charset: "utf8mb4", sql_mode: SqlMode::default(), parameters: &[], names }
    }
}

/// The text of an expression.
pub fn unparse_expr(expr: &Expr, options: &UnparseOptions<'_>) -> String {
    let mut writer = Writer::new(options);
    writer.of_query = false;
    writer.selects = (options.names == Names::Numbered).then_some(1);
    writer.expr(expr);
    writer.out
}

/// The text of a query.
pub fn unparse_query(query: &Query, options: &UnparseOptions<'_>) -> String {
    let mut writer = Writer::new(options);
    writer.whole_query(query);
    writer.out
}

/// The text of a query as EXPLAIN shows it: SELECTs have numbers if there are several, and joins
/// have no outer parentheses. `numbers`: of SELECTs by the starts of their texts, sorted; one that
/// is not there has its number in the order of the text.
pub fn unparse_numbered(
    query: &Query,
    options: &UnparseOptions<'_>,
    numbers: &[(u32, u32)],
) -> String {
    let text = |selects: Option<u32>| {
        let mut writer = Writer { selects, numbers, bare_joins: true, ..Writer::new(options) };
        writer.whole_query(query);
        writer
    };
    let numbered = text(Some(0));
    match numbered.selects {
        Some(0 | 1) => text(None).out,
        _ => numbered.out,
    }
}

/// A name in backticks.
pub fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The text so far.
struct Writer<'a> {
    out: String,
    options: UnparseOptions<'a>,
    /// Number of SELECTs so far; `None` if they have no numbers.
    selects: Option<u32>,
    /// Known numbers of SELECTs by the starts of their texts.
    numbers: &'a [(u32, u32)],
    /// Joins of FROM get no parentheses.
    bare_joins: bool,
    /// The text is a query, not an expression.
    of_query: bool,
}

impl<'a> Writer<'a> {
    fn new(options: &UnparseOptions<'a>) -> Self {
        Self {
            out: String::new(),
            options: *options,
            selects: None,
            numbers: &[],
            bare_joins: false,
            of_query: true,
        }
    }
}

impl Writer<'_> {
    fn str(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn display(&mut self, value: impl std::fmt::Display) {
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{value}");
    }

    fn name(&mut self, name: &str) {
        if self.options.names != Names::Quoted && is_plain(name) {
            return self.str(name);
        }
        let ansi = self.options.sql_mode.contains(SqlMode::ANSI_QUOTES);
        let quote = if ansi { '"' } else { '`' };
        self.out.push(quote);
        for c in name.chars() {
            if c == quote {
                self.out.push(quote);
            }
            self.out.push(c);
        }
        self.out.push(quote);
    }

    /// A schema before a name.
    fn schema(&mut self, schema: &Ident) {
        if self.options.names == Names::Quoted {
            self.ident(schema);
            self.str(".");
        }
    }

    fn ident(&mut self, ident: &Ident) {
        self.name(&ident.value);
    }

    /// Items separated by commas without blanks.
    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (i, it) in items.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            item(self, it);
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        self.list(exprs, Self::expr);
    }
}

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    name.chars().all(is_of_name)
        && name.starts_with(|c: char| !c.is_ascii_digit())
        && !Kw::lookup(name.as_bytes()).is_reserved()
}
