//! Functions with a syntax of their own, such as intervals, TRIM or WEIGHT_STRING. Types are
//! inferred by [`selkie_expr::build`].

use selkie_expr::Expr;
use selkie_expr::SequenceAsk;
use selkie_expr::build::{self, TrimSide};
use selkie_sql::ast;
use selkie_types::charset::WeightOptions;
use selkie_types::{CollationId, SqlError, SqlResult, SqlType, TypeKind};

use super::Binder;
use super::literal::charset_collation;

impl Binder<'_> {
    fn dynamic_value(&mut self, value: &ast::DynamicValue) -> SqlResult<build::DynamicValue> {
        Ok(build::DynamicValue {
            name: self.scalar(&value.name)?,
            value: self.scalar(&value.value)?,
            ty: value.target.as_ref().map(|target| self.cast_type(target)).transpose()?,
            nested: matches!(value.value.kind, ast::ExprKind::ColumnAdd { .. }),
        })
    }

    pub(super) fn own_syntax(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        use ast::ExprKind as Syntax;
        let types = self.types;
        match &expr.kind {
            Syntax::AddInterval { expr, negated, amount, unit } => {
                let (value, amount) = (self.scalar(expr)?, self.scalar(amount)?);
                build::interval_add(value, amount, *unit, *negated, types)
            }
            Syntax::TimestampAdd { unit, amount, expr } => {
                let (amount, value) = (self.scalar(amount)?, self.scalar(expr)?);
                build::timestampadd(*unit, amount, value, types)
            }
            Syntax::TimestampDiff { unit, from, to } => {
                let (from, to) = (self.scalar(from)?, self.scalar(to)?);
                build::timestampdiff(*unit, from, to, types)
            }
            Syntax::Extract { unit, expr } => build::extract(*unit, self.scalar(expr)?, types),
            Syntax::GetFormat { kind, name } => {
                let kind = match kind {
                    ast::TemporalFormat::Date => "DATE",
                    ast::TemporalFormat::Time => "TIME",
                    ast::TemporalFormat::DateTime => "DATETIME",
                };
                build::get_format(kind, self.scalar(name)?, types)
            }
            Syntax::Trim { side, what, expr } => {
                let side = match side {
                    ast::TrimSide::Both => TrimSide::Both,
                    ast::TrimSide::Leading => TrimSide::Leading,
                    ast::TrimSide::Trailing => TrimSide::Trailing,
                };
                let what = what.as_deref().map(|e| self.scalar(e)).transpose()?;
                build::trim(side, what, self.scalar(expr)?, types)
            }
            Syntax::Position { needle, haystack } => {
                build::position(self.scalar(needle)?, self.scalar(haystack)?, types)
            }
            Syntax::Char { codes, charset } => {
                let collation = match charset {
                    Some(name) => charset_collation(name)?,
                    None => selkie_types::CollationId::BINARY,
                };
                build::char_using(self.many(codes)?, collation, types)
            }
            Syntax::NextValue(name) => self.sequence(name, SequenceAsk::Next),
            Syntax::PreviousValue(name) => self.sequence(name, SequenceAsk::Previous),
            Syntax::SetValue { sequence, value, is_used, round } => {
                let round = i64::try_from(*round).unwrap_or(i64::MAX);
                self.sequence(
                    sequence,
                    SequenceAsk::Set { value: *value, is_used: *is_used, round },
                )
            }
            _ => self.bytes_syntax(expr),
        }
    }

    /// Functions that look at or make the bytes of values.
    fn bytes_syntax(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        use ast::ExprKind as Syntax;
        let types = self.types;
        match &expr.kind {
            Syntax::WeightString { expr, length, binary, levels, descending, reversed } => {
                let mut expr = self.scalar(expr)?;
                let characters = length.map(|n| n as usize);
                if let Some(bytes) = characters.filter(|_| *binary) {
                    let length = u32::try_from(bytes).unwrap_or(u32::MAX - 1);
                    let mut ty = SqlType::varchar(length, CollationId::BINARY);
                    ty.kind = TypeKind::Char;
                    self.limit_length(&mut ty);
                    expr = build::cast(expr, &ty, types)?;
                }
                let (levels, descending, reversed) = (*levels, *descending, *reversed);
                let options = WeightOptions { characters, levels, descending, reversed };
                build::weight_string(expr, options, types)
            }
            Syntax::ColumnAdd { columns, values } => {
                let columns = columns.as_deref().map(|e| self.scalar(e)).transpose()?;
                let values = values.iter().map(|v| self.dynamic_value(v));
                build::column_add(columns, values.collect::<SqlResult<_>>()?, types)
            }
            Syntax::ColumnGet { columns, name, target } => {
                let (columns, name) = (self.scalar(columns)?, self.scalar(name)?);
                build::column_get(columns, name, &self.cast_type(target)?, types)
            }
            _ => Err(SqlError::not_supported("this expression")),
        }
    }
}
