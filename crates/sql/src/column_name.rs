//! Names of result columns without an alias: values and columns name themselves, everything else is
//! named by its text.

use crate::ast::{Expr, ExprKind, Literal, SelectItem, Span, UnaryOp};
use crate::lexer::strip_versions;

impl SelectItem {
    /// The written alias, if its start is dropped.
    pub fn cut_alias(&self) -> Option<&str> {
        let SelectItem::Expr { alias: Some(alias), .. } = self else { return None };
        Some(&*alias.value).filter(|name| without_start(name).len() < name.len())
    }

    /// The name of the result column, given the text of the statement; `None` for a wildcard.
    pub fn column_name(&self, text: &[u8]) -> Option<String> {
        let SelectItem::Expr { expr, alias, span } = self else { return None };
        match alias {
            Some(alias) => Some(without_nul(without_start(&alias.value).to_owned())),
            None => Some(expr.column_name(*span, text)),
        }
    }
}

impl Expr {
    /// The name of the result column for this expression, which is written at `span` of `text`.
    pub fn column_name(&self, span: Span, text: &[u8]) -> String {
        let name = match named_by_itself(self) {
            ExprKind::Column(column) => return column.name.value.to_string(),
            ExprKind::Literal(Literal::Null) => return "NULL".to_owned(),
            ExprKind::Literal(Literal::Bool(true)) => return "TRUE".to_owned(),
            ExprKind::Literal(Literal::Bool(false)) => return "FALSE".to_owned(),
            // A string that was written as hexadecimal or binary digits has no text to name a
            // column.
            ExprKind::Literal(Literal::String(string)) if !string.is_digits() => {
                String::from_utf8_lossy(&string.bytes).into_owned()
            }
            ExprKind::Literal(Literal::Temporal { .. }) => source(span.text(text)),
            // Compat: the column of NAME_CONST is named by its first argument.
            ExprKind::Call(call) if call.schema.is_none() && call.name.is("name_const") => {
                match call.args.first().map(|arg| &arg.kind) {
                    Some(ExprKind::Literal(Literal::String(string))) => {
                        String::from_utf8_lossy(&string.bytes).into_owned()
                    }
                    _ => source(span.text(text)),
                }
            }
            ExprKind::Literal(_) | ExprKind::Param(_) => source(bare(self).span.text(text)),
            _ => source(span.text(text)),
        };
        without_nul(without_start(&name).to_owned())
    }
}

/// Compat: blanks and control characters at the start of a name are dropped.
fn without_start(name: &str) -> &str {
    name.trim_start_matches(|c: char| c.is_ascii_control() || c == ' ')
}

/// Compat: no name has the character NUL, but how it is written.
fn without_nul(name: String) -> String {
    match name.contains('\0') {
        true => name.replace('\0', "\\x00"),
        false => name,
    }
}

/// The expression without the plus signs before it.
fn bare(mut expr: &Expr) -> &Expr {
    while let ExprKind::Unary { op: UnaryOp::Plus, expr: inner } = &expr.kind {
        expr = inner;
    }
    expr
}

fn named_by_itself(expr: &Expr) -> &ExprKind {
    &bare(expr).kind
}

/// Compat: the name is the text without the marks of versioned comments.
fn source(text: &[u8]) -> String {
    String::from_utf8_lossy(&strip_versions(text)).trim_end().to_owned()
}
