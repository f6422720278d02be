//! Literals with their types. The helpers here are shared with DEFAULT clauses, whose literals are
//! bound in `define/constant.rs`.

use selkie_expr::{Expr, TypeContext};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Charset, CollationId, Condition, Decimal, SqlError, SqlResult, TypeKind};

use super::Binder;

impl Binder<'_> {
    pub(super) fn literal(&mut self, literal: &ast::Literal) -> SqlResult<Expr> {
        Ok(match literal {
            ast::Literal::Null => Expr::null(),
            ast::Literal::Bool(value) => {
                let mut e = Expr::boolean(*value);
                // Compat: as long as the longer word.
                e.ty.length = 5;
                e
            }
            ast::Literal::Int(value) => Expr::uint(*value),
            ast::Literal::Decimal(text) => {
                let mut e = Expr::decimal(Decimal::parse(text.as_bytes()).value);
                // Compat: only a zero that is written counts as a digit.
                e.ty.length -= u32::from(text.starts_with('.') && e.ty.length > 1);
                e
            }
            ast::Literal::Float { value, length } => {
                let mut e = Expr::double(*value);
                e.ty.length = *length;
                e
            }
            ast::Literal::String(string) => self.string(string)?,
            // Compat: only `0x41` is a number where one is wanted, `x'41'` never.
            ast::Literal::Hex { bytes, hybrid: false } => Expr::string(bytes, CollationId::BINARY),
            ast::Literal::Hex { bytes, .. } | ast::Literal::Bit(bytes) => Expr::hex(bytes),
            ast::Literal::Temporal { kind, text } => self.temporal(*kind, text)?,
        })
    }

    fn temporal(&mut self, kind: ast::TemporalKind, text: &[u8]) -> SqlResult<Expr> {
        let (literal, cut) = temporal_literal(kind, text, self.types)?;
        self.warnings.conditions.extend(cut);
        Ok(literal)
    }

    fn string(&self, string: &ast::StringLiteral) -> SqlResult<Expr> {
        let connection = self.kept_text.collation.unwrap_or(self.types.collation_connection);
        string_expr(string, connection)
    }
}

/// A string in the character set of the connection, or in that of its introducer.
pub(crate) fn string_expr(string: &ast::StringLiteral, connection: CollationId) -> SqlResult<Expr> {
    let Some(name) = &string.charset else {
        let (from, to) = (string.encoding, connection.charset());
        if from == Charset::Binary {
            return Ok(Expr::string(&string.bytes, connection));
        }
        return Ok(Expr::string(&from.convert(&string.bytes, to).0, connection));
    };
    let collation = charset_collation(name)?;
    let charset = collation.charset();
    let bytes = charset.completed(&string.bytes);
    let good = charset.well_formed_len(&bytes);
    // Compat: what was written as text is not looked at.
    if good < bytes.len() && string.encoding == Charset::Binary {
        let shown = bytes[good..].iter().take(3).map(|b| format!("{b:02X}")).collect::<String>();
        return Err(SqlError::new(&ER_INVALID_CHARACTER_STRING, &[&charset.name(), &shown]));
    }
    Ok(Expr::string(&bytes, collation))
}

/// `DATE'text'` and the like, and a note if digits of the fraction are cut off.
pub(crate) fn temporal_literal(
    kind: ast::TemporalKind,
    text: &[u8],
    types: &TypeContext,
) -> SqlResult<(Expr, Option<Condition>)> {
    let kind = match kind {
        ast::TemporalKind::Date => TypeKind::Date,
        ast::TemporalKind::Time => TypeKind::Time,
        ast::TemporalKind::Timestamp => TypeKind::DateTime,
    };
    selkie_expr::cast::literal_temporal(kind, text, types)
}

/// The default collation of a charset.
pub(super) fn charset_collation(name: &str) -> SqlResult<CollationId> {
    match Charset::from_name(name) {
        Some(charset) => Ok(charset.default_collation()),
        None => Err(SqlError::new(&ER_UNKNOWN_CHARACTER_SET, &[&name])),
    }
}
