//! Casts and the calls that MariaDB prints as casts.
//! The names of types here are those of `SHOW CREATE VIEW`, not those of column definitions.

use super::Writer;
use crate::ast::{CastType, CharsetName, Expr};

impl Writer<'_> {
    /// `cast(expr as type)`.
    pub(super) fn cast(&mut self, expr: &Expr, target: &CastType) {
        self.str("cast(");
        self.expr(expr);
        self.str(" as ");
        self.cast_type(target);
        self.str(")");
    }

    /// `cast(expr as word)`.
    pub(super) fn plain_cast(&mut self, expr: &Expr, word: &str) {
        self.str("cast(");
        self.expr(expr);
        self.display(format_args!(" as {word})"));
    }

    /// The type of a dynamic column. Compat: its name differs from that of CAST.
    pub(super) fn dynamic_type(&mut self, target: &CastType) {
        let text = match target {
            CastType::Signed => "int",
            CastType::Unsigned => "unsigned int",
            CastType::Decimal { .. } => "decimal",
            CastType::Float | CastType::Double(_) => "double",
            CastType::Time(_) => "time",
            CastType::DateTime(_) => "datetime",
            CastType::Binary(_) => "char charset binary",
            CastType::Char { charset, .. } => {
                let charset = match charset {
                    Some(CharsetName::Named(name)) => name,
                    _ => self.options.charset,
                };
                let full = if charset.eq_ignore_ascii_case("utf8") { "utf8mb3" } else { charset };
                let found = selkie_types::Charset::from_name(full);
                let collation = found.map_or("binary", |c| c.default_collation().name());
                let text = format!("char charset {full} collate {collation} ");
                return self.str(&text);
            }
            other => return self.cast_type(other),
        };
        self.str(text);
    }

    pub(super) fn cast_type(&mut self, target: &CastType) {
        match target {
            CastType::Binary(length) => {
                self.with_length("char", *length);
                self.str(" charset binary");
            }
            CastType::Char { length, charset, collation, .. } => {
                self.with_length("char", *length);
                let charset = match charset {
                    Some(CharsetName::Named(name)) => name,
                    _ => self.options.charset,
                };
                let charset = super::special::full_charset(charset).to_owned();
                self.display(format_args!(" charset {charset}"));
                if let Some(collation) = collation {
                    self.display(format_args!(" collate {collation}"));
                }
            }
            CastType::Signed => self.str("signed"),
            CastType::Unsigned => self.str("unsigned"),
            CastType::Decimal { precision, decimals } => {
                let (precision, decimals) = (precision.unwrap_or(10), decimals.unwrap_or(0));
                self.display(format_args!("decimal({precision},{decimals})"));
            }
            CastType::Float => self.str("float"),
            CastType::Double(None) => self.str("double"),
            CastType::Double(Some((length, decimals))) => {
                self.display(format_args!("double({length},{decimals})"));
            }
            CastType::Date => self.str("date"),
            CastType::Time(fsp) => self.with_length("time", fsp.filter(|digits| *digits > 0)),
            CastType::DateTime(fsp) => {
                self.with_length("datetime", fsp.filter(|digits| *digits > 0));
            }
            CastType::IntervalDaySecond(fsp) => self.with_length("interval day_second", *fsp),
            CastType::Json => self.str("json"),
            CastType::Other(name) => self.str(super::types::word(*name)),
        }
    }

    fn with_length(&mut self, word: &str, length: Option<u64>) {
        self.str(word);
        if let Some(length) = length {
            self.display(format_args!("({length})"));
        }
    }
}
