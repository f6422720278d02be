//! A variable's value and its formats: text for SHOW, a typed value for SELECT.
//!
//! Must not check ranges.

use std::fmt::Write;
use std::sync::Arc;

use selkie_types::{CollationId, SqlType, TypeKind, Value};

use super::def::{Kind, VarDef};

/// A value of a system variable.
#[derive(Clone, Debug, PartialEq)]
pub enum VarValue {
    /// ON or OFF.
    Bool(bool),
    /// Signed integer.
    Int(i64),
    /// Unsigned integer; bits of a set or of flags.
    Uint(u64),
    /// Position in the names of an enumeration.
    Enum(u16),
    /// Floating point.
    Double(f64),
    /// String or NULL.
    Text(Option<Arc<str>>),
}

impl VarValue {
    /// A string.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text(Some(Arc::from(text.as_ref())))
    }

    /// NULL.
    pub fn null() -> Self {
        Self::Text(None)
    }

    /// The value as a truth value.
    pub fn as_bool(&self) -> bool {
        match self {
            Self::Bool(v) => *v,
            Self::Int(v) => *v != 0,
            Self::Uint(v) => *v != 0,
            Self::Enum(v) => *v != 0,
            Self::Double(v) => *v != 0.0,
            Self::Text(_) => false,
        }
    }

    /// The value as an unsigned integer.
    pub fn as_u64(&self) -> u64 {
        match self {
            Self::Bool(v) => u64::from(*v),
            Self::Int(v) => (*v).max(0) as u64,
            Self::Uint(v) => *v,
            Self::Enum(v) => u64::from(*v),
            Self::Double(v) => *v as u64,
            Self::Text(_) => 0,
        }
    }

    /// The value as a floating point number.
    pub fn as_f64(&self) -> f64 {
        match self {
            Self::Double(v) => *v,
            Self::Int(v) => *v as f64,
            other => other.as_u64() as f64,
        }
    }

    /// The value as a string; empty for NULL and for other kinds.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(Some(text)) => text,
            _ => "",
        }
    }

    /// The text in SHOW VARIABLES and session tracking; NULL is empty.
    pub fn show(&self, def: &VarDef) -> String {
        match self {
            Self::Bool(v) => if *v { "ON" } else { "OFF" }.to_owned(),
            Self::Int(v) => v.to_string(),
            Self::Uint(bits) if def.kind == Kind::Set => set_text(*bits, &def.names),
            Self::Uint(bits) if def.kind == Kind::Flags => flags_text(*bits, &def.names),
            Self::Uint(v) => v.to_string(),
            Self::Enum(at) => def.names.get(usize::from(*at)).copied().unwrap_or("").to_owned(),
            Self::Double(v) => format!("{v:.6}"),
            Self::Text(text) => text.as_deref().unwrap_or_default().to_owned(),
        }
    }

    /// The value and type of `SELECT @@name`.
    pub fn select(&self, def: &VarDef) -> (Value, SqlType) {
        match self {
            Self::Bool(v) => (Value::Int(i64::from(*v)), SqlType::new(TypeKind::BigInt, 1, 0)),
            Self::Int(v) => (Value::Int(*v), SqlType::new(TypeKind::BigInt, 21, 0)),
            Self::Uint(v) if !matches!(def.kind, Kind::Set | Kind::Flags) => {
                let mut ty = SqlType::new(TypeKind::BigInt, 21, 0);
                ty.unsigned = true;
                (Value::UInt(*v), ty)
            }
            Self::Double(v) => (Value::Double(*v), SqlType::new(TypeKind::Double, 23, 6)),
            Self::Text(None) => (Value::Null, text_type(0)),
            other => {
                let text = other.show(def);
                let ty = text_type(text.chars().count() as u32);
                (Value::bytes(text), ty)
            }
        }
    }
}

fn text_type(characters: u32) -> SqlType {
    SqlType::varchar(characters, CollationId::UTF8MB3_GENERAL_CI)
}

fn set_text(bits: u64, names: &[&str]) -> String {
    let chosen = names.iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0).map(|(_, n)| *n);
    chosen.collect::<Vec<_>>().join(",")
}

fn flags_text(bits: u64, names: &[&str]) -> String {
    let mut text = String::new();
    for (i, name) in names.iter().enumerate().filter(|(_, n)| **n != "default") {
        let separator = if i == 0 { "" } else { "," };
        let state = if bits & (1 << i) != 0 { "on" } else { "off" };
        let _ = write!(text, "{separator}{name}={state}");
    }
    text
}
