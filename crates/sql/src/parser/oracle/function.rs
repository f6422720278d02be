//! Functions that mean something else in this mode: they get the names of their own functions.
//!
//! Compat: `mariadb_schema.f()`, `oracle_schema.f()` and `maxdb_schema.f()` choose the meaning in
//! any mode.

use crate::ast::{Expr, ExprKind, Ident, TrimSide};
use crate::parser::{PResult, Parser};

/// Functions with a meaning of their own, and what is added to their names for it.
const OWN: &[(&str, &str)] = &[
    ("concat", "_operator_oracle"),
    ("decode", "_oracle"),
    ("lpad", "_oracle"),
    ("ltrim", "_oracle"),
    ("regexp_replace", "_oracle"),
    ("replace", "_oracle"),
    ("rpad", "_oracle"),
    ("rtrim", "_oracle"),
    ("substr", "_oracle"),
    ("trim", "_oracle"),
];

/// The function that `name` means in this mode.
fn own_name(name: &str) -> Option<String> {
    let name = match name {
        _ if name.eq_ignore_ascii_case("length") => return Some("char_length".to_owned()),
        _ if name.eq_ignore_ascii_case("substring") || name.eq_ignore_ascii_case("mid") => "substr",
        _ => name,
    };
    let (_, suffix) = OWN.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    Some(format!("{name}{suffix}"))
}

/// The name without what [`own_name`] added; `None` for other functions.
pub fn written_name(name: &str) -> Option<&str> {
    OWN.iter().find_map(|(own, suffix)| {
        let (written, rest) = name.split_at_checked(own.len())?;
        let is_it = written.eq_ignore_ascii_case(own) && rest.eq_ignore_ascii_case(suffix);
        is_it.then_some(written)
    })
}

/// Whether a function means something else in this mode.
pub(crate) fn has_own_meaning(name: &str) -> bool {
    OWN.iter().any(|(own, _)| *own == name)
}

impl Parser<'_> {
    /// The name of a built-in function, which this mode may read as another.
    pub(in crate::parser) fn meant(&self, name: Ident) -> Ident {
        match own_name(&name.value) {
            Some(value) if self.is_oracle() => Ident { value: value.into(), ..name },
            _ => name,
        }
    }

    /// The function `name` of the dialect `schema`, if that is one.
    pub(in crate::parser) fn of_dialect(&self, schema: &Ident, name: &Ident) -> Option<Ident> {
        if schema.is("oracle_schema") {
            let value = own_name(&name.value).map_or_else(|| name.value.clone(), Into::into);
            return Some(Ident { value, ..name.clone() });
        }
        let is_plain = schema.is("mariadb_schema") || schema.is("maxdb_schema");
        is_plain.then(|| name.clone())
    }

    /// `TRIM` under the name it has in this mode.
    pub(in crate::parser) fn own_trim(
        &self,
        (side, what, expr): (TrimSide, Option<Box<Expr>>, Box<Expr>),
    ) -> ExprKind {
        let name = match side {
            TrimSide::Both => "trim_oracle",
            TrimSide::Leading => "ltrim_oracle",
            TrimSide::Trailing => "rtrim_oracle",
        };
        let args = std::iter::once(*expr).chain(what.map(|what| *what)).collect();
        self.plain_call(Ident::new(name), args)
    }

    /// `left || right`: a missing text is an empty one.
    pub(in crate::parser) fn own_concat(&self, left: Expr, right: Expr) -> ExprKind {
        self.plain_call(Ident::new("concat_operator_oracle"), vec![left, right])
    }

    /// The arguments of `schema.name(...)` for a function with a grammar of its own.
    pub(in crate::parser) fn dialect_call(&mut self, name: &Ident) -> PResult<Option<ExprKind>> {
        let own = written_name(&name.value);
        let plain = own.unwrap_or(&name.value).to_ascii_lowercase();
        match plain.as_str() {
            "trim" => {
                let (side, what, expr) = self.trim_arguments()?;
                Ok(Some(match own {
                    Some(_) => self.own_trim((side, what, expr)),
                    None => ExprKind::Trim { side, what, expr },
                }))
            }
            "substr" | "substring" | "mid" => {
                let args = self.substring_arguments()?;
                Ok(Some(self.plain_call(name.clone(), args)))
            }
            _ => Ok(None),
        }
    }
}
