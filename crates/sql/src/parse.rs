//! The entry points: a statement or an expression from its text.
//! The only way from other crates into the parser. Cuts one statement out of a text of several.

use selkie_meter::interruptible;
use selkie_types::{SqlMode, SqlResult};

use crate::ClientText;
use crate::ast::{Expr, Span, Statement};
use crate::parser::Parser;

/// Settings of the session that parsing depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseOptions {
    /// The session's `sql_mode`.
    pub sql_mode: SqlMode,
}

/// A statement cut out of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// Its text, without the semicolon.
    pub span: Span,
    /// Offset of the next statement; the length of the text if there is none.
    pub end: usize,
    /// Number of `?` in it.
    pub params: u32,
}

/// Parses the first statement of a text.
///
/// The text is in a character set whose ASCII bytes are always ASCII characters. Names must be
/// UTF-8, strings may be any bytes. A caller that allows only one statement reports `end <
/// text.len()` with [`syntax_error_at`].
pub fn parse(text: &[u8], options: &ParseOptions) -> SqlResult<Parsed> {
    parse_from(text, options, None)
}

/// Like [`parse`], for a part of a client's text that was converted to UTF-8.
pub fn parse_from(
    text: &[u8],
    options: &ParseOptions,
    origin: Option<&ClientText>,
) -> SqlResult<Parsed> {
    interruptible(|| parse_whole(text, options, origin))?
}

fn parse_whole(
    text: &[u8],
    options: &ParseOptions,
    origin: Option<&ClientText>,
) -> SqlResult<Parsed> {
    let text = limited(text)?;
    let mut parser = Parser::new(text, options.sql_mode);
    parser.origin = origin.and_then(|origin| Some((origin, origin.offset_of(text)?)));
    let start = parser.statement_start();
    let (statement, end) = parser.whole_statement()?;
    let span = Span::new(start, parser.statement_end());
    let rest = &text[end as usize..];
    let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace() || **b == 0).count();
    Ok(Parsed { statement, span, end: end as usize + blanks, params: parser.param_count() })
}

/// Parses a text that is one expression: a stored default, check or generated column.
pub fn parse_expr(text: &[u8], options: &ParseOptions) -> SqlResult<Expr> {
    Parser::new(limited(text)?, options.sql_mode).whole_expr()
}

/// Error 1064 for a text that continues at `at` although it must end there.
pub fn syntax_error_at(text: &[u8], at: usize, options: &ParseOptions) -> selkie_types::SqlError {
    error_at(&selkie_types::error::catalogue::ER_SYNTAX_ERROR, text, at, options)
}

/// Error 1064 with the message of `wrong` for a text that is wrong before `at`.
pub fn error_at(
    wrong: &selkie_types::ErrorDef,
    text: &[u8],
    at: usize,
    options: &ParseOptions,
) -> selkie_types::SqlError {
    let at = u32::try_from(at.min(text.len())).unwrap_or(u32::MAX);
    let token = crate::lexer::Token { kind: crate::lexer::T::Bad, start: at, end: at };
    crate::error::error_at(wrong, text, options.sql_mode, token)
}

/// Refuses a text that is too long for 32-bit spans.
fn limited(text: &[u8]) -> SqlResult<&[u8]> {
    use selkie_types::error::catalogue::ER_NET_PACKET_TOO_LARGE;
    match u32::try_from(text.len()) {
        Ok(_) => Ok(text),
        Err(_) => Err(selkie_types::SqlError::new(&ER_NET_PACKET_TOO_LARGE, &[])),
    }
}

/// A statement's text without leading blanks and without the end of the statement. Compat: MariaDB
/// cuts them first, so its line numbers count from the first word.
pub fn trimmed(text: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let is_end = |byte: &u8| *byte == b';' || is_blank(byte);
    let length = text.iter().rposition(|byte| !is_end(byte)).map_or(0, |last| last + 1);
    let start = text[..length].iter().position(|byte| !is_blank(byte)).unwrap_or(length);
    &text[start..length]
}
