//! Expressions against a reference server. `data/*.txt` holds expressions with the type, length,
//! decimals, nullability and value that MariaDB gives them.
//!
//! A line is `expression | type length decimals null|notnull | value`; volatile results have no
//! value. The lines are made by `generate.py` beside the data.

mod parser;
mod store;
mod table;

use selkie_expr::{EvalContext, Expr, NoSession, TypeContext, text};
use selkie_types::{SqlType, TypeKind, Value};

/// Name of a type in the protocol, as in the data.
fn type_name(ty: &SqlType) -> &'static str {
    match ty.kind {
        TypeKind::Null => "null",
        TypeKind::TinyInt => "tiny",
        TypeKind::SmallInt => "short",
        TypeKind::MediumInt => "int24",
        TypeKind::Int => "long",
        TypeKind::BigInt => "longlong",
        TypeKind::Float => "float",
        TypeKind::Double => "double",
        TypeKind::Decimal => "newdecimal",
        TypeKind::Bit => "bit",
        TypeKind::Year => "year",
        TypeKind::Date => "date",
        TypeKind::Time => "time",
        TypeKind::DateTime => "datetime",
        TypeKind::Timestamp => "timestamp",
        TypeKind::Char | TypeKind::Enum | TypeKind::Set => "string",
        TypeKind::VarChar => "varstring",
        TypeKind::TinyText => "tinyblob",
        TypeKind::Text => "blob",
        TypeKind::MediumText => "medblob",
        TypeKind::LongText => "longblob",
        TypeKind::Inet4 | TypeKind::Inet6 | TypeKind::Uuid => ty.name(),
    }
}

fn describe(e: &Expr) -> String {
    let nulls = if e.nullable { "null" } else { "notnull" };
    let length = text::display_length(&e.ty);
    let decimals = if e.ty.is_string() { 0 } else { e.ty.decimals };
    format!("{} {length} {decimals} {nulls}", type_name(&e.ty))
}

fn value(e: &Expr, value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Bytes(b) if e.ty.collation.is_binary() => {
            b.iter().map(|b| format!("{b:02x}")).collect::<String>()
        }
        _ => text::display(value, &e.ty).replace('\n', "\\n"),
    }
}

/// Type and value of a line's expression in Selkie.
fn evaluate(source: &str, types: &TypeContext) -> (String, String) {
    let ctx = EvalContext::new(types.clone(), &NoSession, 1_700_000_000_123_456);
    let expr = match parser::expression(source, types) {
        Ok(expr) => expr,
        Err(e) => return (format!("error {}", e.code()), String::new()),
    };
    match expr.eval(&ctx, &table::batch()).map(|column| column.value(0)) {
        Ok(v) => (describe(&expr), value(&expr, &v)),
        Err(e) => (format!("error {}", e.code()), String::new()),
    }
}

/// Whether a difference is intended or already known.
fn is_known(source: &str, reference: &str, got: &str) -> bool {
    let length = |text: &str| -> Option<(String, i64, String)> {
        let mut words = text.split(' ');
        let (kind, length) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
        Some((kind, length, words.collect::<Vec<_>>().join(" ")))
    };
    let (Some(reference), Some(got)) = (length(reference), length(got)) else { return false };
    let difference = match reference.0.as_str() {
        _ if source == "cast(x'41' as unsigned)" => return true,
        "newdecimal" if source.starts_with('-') => -1,
        _ => return false,
    };
    (&reference.0, reference.1 + difference, &reference.2) == (&got.0, got.1, &got.2)
}

#[test]
fn expressions_are_what_the_reference_says() {
    let types = TypeContext::default();
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let mut failures = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "txt") {
            continue;
        }
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let mut fields = line.split(" | ");
            let (Some(source), Some(ty)) = (fields.next(), fields.next()) else { continue };
            let (got_ty, got) = evaluate(source, &types);
            let wanted = fields.next();
            let same_value = wanted.is_none_or(|w| w == got);
            if !(got_ty == ty || is_known(source, ty, &got_ty)) || !same_value {
                let wanted = wanted.unwrap_or("");
                failures.push(format!("{source}\n  {ty} | {wanted}\n  {got_ty} | {got}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}
