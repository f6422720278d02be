//! The table with one row over which the expressions of the data files are evaluated.
//! Must equal the table in `generate.py`.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_types::{
    Batch, CollationId, Column, Date, DateTime, Decimal, Physical, SqlType, Time, TypeKind, Value,
};

const NAMES: &[&str] = &[
    "i", "u", "b", "bu", "t", "d", "f", "db", "s", "c", "dt", "tm", "dtm", "ts", "y", "bt", "e",
    "tx", "bl", "vb",
];

fn types() -> Vec<SqlType> {
    let utf8 = CollationId::UTF8MB4_GENERAL_CI;
    let unsigned = |kind, length| SqlType { unsigned: true, ..SqlType::new(kind, length, 0) };
    let text = |kind, length, collation| SqlType { collation, ..SqlType::new(kind, length, 0) };
    let members: Vec<Box<str>> = vec!["x".into(), "yy".into()];
    vec![
        SqlType::int(),
        unsigned(TypeKind::Int, 10),
        SqlType::bigint(),
        unsigned(TypeKind::BigInt, 20),
        SqlType::new(TypeKind::TinyInt, 4, 0),
        SqlType::decimal(10, 2),
        SqlType::new(TypeKind::Float, 12, 31),
        SqlType::double(),
        SqlType::varchar(20, utf8),
        text(TypeKind::Char, 5, CollationId::LATIN1_SWEDISH_CI),
        SqlType::date(),
        SqlType::time(3),
        SqlType::datetime(0),
        SqlType::new(TypeKind::Timestamp, 19, 0),
        unsigned(TypeKind::Year, 4),
        unsigned(TypeKind::Bit, 5),
        SqlType { members: Some(members.into()), ..text(TypeKind::Enum, 2, utf8) },
        text(TypeKind::Text, 65_535, utf8),
        text(TypeKind::Text, 65_535, CollationId::BINARY),
        SqlType::varchar(10, CollationId::BINARY),
    ]
}

/// The column with this name.
pub(crate) fn column(name: &str) -> Option<Expr> {
    let at = NAMES.iter().position(|n| *n == name)?;
    Some(Expr::column(at, types().swap_remove(at), true))
}

/// The row.
pub(crate) fn batch() -> Batch {
    let date = Date::from_parts(2020, 1, 2);
    let noon = DateTime::from_parts(date, 3, 4, 5, 0);
    let values = [
        Value::Int(1),
        Value::UInt(2),
        Value::Int(3),
        Value::UInt(4),
        Value::Int(5),
        Value::Decimal(Decimal::from_i128(678, 2)),
        Value::Double(1.5),
        Value::Double(2.5),
        Value::bytes("abc"),
        Value::bytes("de"),
        Value::Date(date),
        Value::Time(Time::from_parts(false, 10, 11, 12, 123_000)),
        Value::DateTime(noon),
        Value::DateTime(noon),
        Value::UInt(2020),
        Value::UInt(5),
        Value::UInt(2),
        Value::bytes("text"),
        Value::bytes("blob"),
        Value::bytes("vb"),
    ];
    let columns = types().into_iter().zip(values).map(|(ty, value)| {
        let scale = if ty.physical() == Physical::Decimal { ty.decimals } else { 0 };
        let mut column = Column::new(ty.physical(), scale, 1);
        column.push(&value);
        Arc::new(column)
    });
    Batch::new(columns.collect(), 1)
}
