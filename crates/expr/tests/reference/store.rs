//! Storing values against a reference server. `data/store.data` holds column types, modes and
//! values, with the conditions and stored values that MariaDB gives.

use std::sync::Arc;

use selkie_expr::store::{Given, StoreMode, StoreTarget, convert_for_column};
use selkie_expr::{EvalContext, NoSession, TypeContext, text};
use selkie_types::{
    Batch, Charset, Column, Condition, Level, SqlMode, SqlResult, SqlType, TypeKind, Value,
};

use crate::parser;

/// The column type in a declaration.
fn column_type(declaration: &str, types: &TypeContext) -> SqlType {
    let (name, rest) = declaration.split_once(['(', ' ']).unwrap_or((declaration, ""));
    let inside =
        declaration.split_once('(').and_then(|(_, r)| r.split_once(')')).map_or("", |(i, _)| i);
    let numbers: Vec<u32> = inside.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let first = numbers.first().copied();
    let mut ty = match name {
        "int" => SqlType::int(),
        "tinyint" => SqlType::new(TypeKind::TinyInt, 4, 0),
        "decimal" => SqlType::decimal(numbers[0], numbers[1] as u8),
        "float" | "double" => {
            let kind = if name == "float" { TypeKind::Float } else { TypeKind::Double };
            SqlType::new(kind, first.unwrap_or(12), numbers.get(1).map_or(31, |d| *d as u8))
        }
        "date" => SqlType::date(),
        "datetime" => SqlType::datetime(0),
        "timestamp" => SqlType::new(TypeKind::Timestamp, 19, 0),
        "time" => SqlType::time(0),
        "year" => SqlType { zerofill: true, ..SqlType::new(TypeKind::Year, 4, 0) },
        "varchar" => SqlType::varchar(numbers[0], types.collation_connection),
        "char" => SqlType::new(TypeKind::Char, numbers[0], 0),
        "binary" => SqlType::new(TypeKind::Char, numbers[0], 0),
        "varbinary" => SqlType::new(TypeKind::VarChar, numbers[0], 0),
        "tinytext" => SqlType::new(TypeKind::TinyText, 255, 0),
        "bit" => SqlType::new(TypeKind::Bit, numbers[0], 0),
        _ => {
            let kind = if name == "enum" { TypeKind::Enum } else { TypeKind::Set };
            let mut ty = SqlType::new(kind, 1, 0);
            let members = inside.split(',').map(|m| m.trim_matches('\'').into());
            ty.members = Some(members.collect::<Vec<Box<str>>>().into());
            ty
        }
    };
    ty.unsigned = rest.contains("unsigned");
    if rest.contains("latin1") {
        ty.collation = Charset::Latin1.default_collation();
    } else if !matches!(name, "binary" | "varbinary") && (ty.is_string() || ty.members.is_some()) {
        ty.collation = types.collation_connection;
    }
    ty
}

fn store(
    source: &str,
    ty: &SqlType,
    mode: StoreMode,
    ctx: &EvalContext<'_>,
) -> SqlResult<Arc<Column>> {
    let e = parser::expression(source, &ctx.types)?;
    let column = e.eval(ctx, &Batch::one_row())?;
    let target = StoreTarget { ty, schema: "s", table: "t", column: "c", given: Given::Computed };
    convert_for_column(&column, &e.ty, &target, mode, 1, ctx)
}

fn conditions(list: &[Condition]) -> String {
    let one = |c: &Condition| {
        let level = if c.level == Level::Note { "Note" } else { "Warning" };
        format!("{level} {} {}", c.code, c.message)
    };
    list.iter().map(one).collect::<Vec<_>>().join(" ; ")
}

fn shown(column: &Column, ty: &SqlType) -> String {
    match column.value(0) {
        Value::Null => "NULL".into(),
        Value::UInt(v) if ty.kind == TypeKind::Bit => format!("{v:02x}"),
        Value::Bytes(b) if ty.collation.is_binary() => {
            b.iter().map(|b| format!("{b:02x}")).collect()
        }
        Value::Bytes(b) => {
            let text = ty.collation.charset().convert(&b, Charset::Utf8mb4).0;
            String::from_utf8_lossy(&text).into_owned()
        }
        value => text::display(&value, ty),
    }
}

#[test]
fn stored_values_are_what_the_reference_stores() {
    let data = include_str!("../data/store.data");
    let mut failures = Vec::new();
    for line in data.lines() {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [declaration, mode, source, wanted, value] = fields[..] else { panic!("{line}") };
        let mode = if mode == "strict" { StoreMode::Strict } else { StoreMode::Lenient };
        let sql_mode = match mode {
            StoreMode::Strict => SqlMode::STRICT_ALL_TABLES,
            StoreMode::Lenient | StoreMode::Softened => SqlMode::EMPTY,
        };
        let types = TypeContext { sql_mode, ..TypeContext::default() };
        let ty = column_type(declaration, &types);
        let ctx = EvalContext::new(types, &NoSession, 1_700_000_000_000_000);
        let (got, stored) = match store(source, &ty, mode, &ctx) {
            Err(e) => (format!("error {} {}", e.code(), e.message()), String::new()),
            Ok(column) => {
                let got = conditions(ctx.conditions.borrow().list());
                (got, shown(&column, &ty))
            }
        };
        let same = got == wanted && (stored == value || value == "long");
        if !same {
            failures.push(format!("{line}\n  {got} | {stored}"));
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}
