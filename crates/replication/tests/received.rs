//! Stored rows that become images and rows again are what they were, and any bytes that come as
//! images give a row or an error.
//!
//! Must not need a server.

use proptest::prelude::*;
use selkie_replication::images::{
    Column, ColumnKind, Images, Place, ReceivedRows, Shape, StoredRows, kind_of,
};
use selkie_types::temporal::{Date, DateTime, Time};
use selkie_types::{
    CollationId, Decimal, FixedBinary, RowDraft, RowLayout, SqlType, TypeKind, Value,
};

const UTF8: CollationId = CollationId::UTF8MB4_GENERAL_CI;

fn text(kind: TypeKind, length: u32, collation: CollationId) -> SqlType {
    SqlType { collation, ..SqlType::new(kind, length, 0) }
}

fn named(kind: TypeKind, members: usize) -> SqlType {
    let members: Vec<Box<str>> = (0..members).map(|at| format!("m{at}").into()).collect();
    SqlType { members: Some(members.into()), ..text(kind, 1, UTF8) }
}

/// Every type that a column may have.
fn types() -> Vec<SqlType> {
    use TypeKind::*;
    let mut types: Vec<SqlType> = [TinyInt, SmallInt, MediumInt, Int, BigInt]
        .iter()
        .flat_map(|kind| [false, true].map(|unsigned| (*kind, unsigned)))
        .map(|(kind, unsigned)| SqlType { unsigned, ..SqlType::new(kind, 11, 0) })
        .collect();
    types.extend([Float, Double, Year, Date].map(|kind| SqlType::new(kind, 4, 0)));
    types.extend([1, 7, 8, 9, 31, 64].map(|bits| SqlType::new(Bit, bits, 0)));
    types.extend(
        [(1, 0), (5, 5), (12, 4), (18, 0), (30, 10), (65, 38)].map(|(p, s)| SqlType::decimal(p, s)),
    );
    for kind in [Time, DateTime, Timestamp] {
        types.extend((0..=6).map(|digits| SqlType::new(kind, 26, digits)));
    }
    for collation in [UTF8, CollationId::BINARY] {
        types.extend([Char, VarChar].map(|kind| text(kind, 12, collation)));
        types.push(text(VarChar, 300, collation));
        types.extend([TinyText, Text, MediumText, LongText].map(|kind| text(kind, 0, collation)));
    }
    types.extend([named(Enum, 3), named(Enum, 300), named(Set, 3), named(Set, 20), named(Set, 64)]);
    types.extend(
        [FixedBinary::Inet4, FixedBinary::Inet6, FixedBinary::Uuid].map(SqlType::of_fixed_binary),
    );
    types
}

/// A value that a column of the type can hold, made of random numbers.
fn value(ty: &SqlType, random: u64, bytes: &[u8]) -> Value {
    let unit = 10u32.pow(6 - u32::from(ty.decimals.min(6)));
    let micros = (random >> 40) as u32 % 1_000_000 / unit * unit;
    let part = |shift: u32, count: u64| (random >> shift) % count;
    let (hour, minute, second) = (part(3, 24) as u32, part(9, 60) as u32, part(17, 60) as u32);
    let date = Date::from_parts(part(5, 10_000) as u32, part(11, 13) as u32, part(23, 32) as u32);
    let members = ty.members.as_ref().map_or(0, |members| members.len()) as u64;
    let low = |bits: u32| random & u64::MAX.checked_shr(64 - bits).unwrap_or_default();
    match ty.kind {
        TypeKind::Year => Value::UInt(match random % 256 {
            0 => 0,
            year => 1900 + year,
        }),
        TypeKind::Enum => Value::UInt(random % (members + 1)),
        TypeKind::Set => Value::UInt(low(members as u32)),
        TypeKind::Bit => Value::UInt(low(ty.length)),
        TypeKind::Float => Value::Double(f64::from((random as i32) as f32 / 7.0)),
        TypeKind::Double => Value::Double(random as i64 as f64 / 7.0),
        TypeKind::Decimal => {
            let most = ethnum::I256::from(10).pow(ty.length);
            let wide = ethnum::I256::from(random as i64) * ethnum::I256::from(i128::MAX);
            Value::Decimal(Decimal::new(wide % most, ty.decimals))
        }
        TypeKind::Date => Value::Date(date),
        TypeKind::Time => Value::Time(Time::from_parts(
            random % 2 == 1,
            part(3, 839) as u32,
            minute,
            second,
            micros,
        )),
        TypeKind::DateTime => {
            Value::DateTime(DateTime::from_parts(date, hour, minute, second, micros))
        }
        TypeKind::Timestamp => Value::DateTime(match random % 9 {
            0 => DateTime::ZERO,
            _ => DateTime::from_unix_micros(
                (part(8, i32::MAX as u64) as i64 + 1) * 1_000_000 + i64::from(micros),
            )
            .unwrap(),
        }),
        TypeKind::Inet4 | TypeKind::Inet6 | TypeKind::Uuid => {
            let kind = FixedBinary::of(ty.kind).unwrap();
            let mut whole = bytes.to_vec();
            whole.resize(kind.width(), 0);
            Value::Bytes(kind.of_bytes(&whole).unwrap())
        }
        TypeKind::Char | TypeKind::VarChar if ty.collation == CollationId::BINARY => {
            let mut whole = bytes[..bytes.len().min(ty.length as usize)].to_vec();
            if ty.kind == TypeKind::Char {
                whole.resize(ty.length as usize, 0);
            }
            Value::Bytes(whole.into())
        }
        TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText | TypeKind::LongText
            if ty.collation == CollationId::BINARY =>
        {
            Value::bytes(bytes)
        }
        TypeKind::Char | TypeKind::VarChar => {
            let text = String::from_utf8_lossy(bytes);
            let text: String = text.chars().take(ty.length as usize).collect();
            let kept = if ty.kind == TypeKind::Char { text.trim_end_matches(' ') } else { &text };
            Value::bytes(kept)
        }
        TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText | TypeKind::LongText => {
            Value::bytes(String::from_utf8_lossy(bytes).as_bytes())
        }
        _ if ty.unsigned => Value::UInt(low(8 * ty.fixed_width().unwrap() as u32)),
        _ => {
            let unused = 64 - 8 * ty.fixed_width().unwrap() as u32;
            Value::Int((random as i64) << unused >> unused)
        }
    }
}

fn layout(types: &[SqlType]) -> RowLayout {
    RowLayout::new(types.iter().enumerate().map(|(at, ty)| (ty, !at.is_multiple_of(3))))
}

fn shape(types: &[SqlType], present: &[u8]) -> Shape {
    let column = |ty| Column { kind: kind_of(ty), is_nullable: true };
    Shape::new(&types.iter().map(column).collect::<Vec<_>>(), present).unwrap()
}

fn all(columns: usize) -> Vec<u8> {
    let mut bits = vec![0xff; columns.div_ceil(8)];
    if !columns.is_multiple_of(8) {
        *bits.last_mut().unwrap() = (1 << (columns % 8)) - 1;
    }
    bits
}

/// The row that an image gives, begun with `from`.
fn received(
    layout: &RowLayout,
    rows: &ReceivedRows,
    image: &[u8],
    from: &[u8],
) -> Result<Vec<u8>, selkie_replication::DecodeError> {
    let (mut draft, mut out) = (RowDraft::default(), Vec::new());
    draft.begin(layout, from).unwrap();
    let mut images = Images::new(image);
    rows.read(&mut images, layout, &mut draft, &mut Vec::new(), &mut Vec::new())?;
    assert!(images.is_empty());
    draft.finish(layout, &mut out);
    Ok(out)
}

proptest! {
    #[test]
    fn a_row_stays_the_same(
        randoms in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..40), 0..5u8), 90),
        chosen in prop::collection::vec(any::<u8>(), 12),
    ) {
        let types = types();
        let layout = layout(&types);
        let is_nullable = |at: usize| !at.is_multiple_of(3);
        let of = |(at, ty): (usize, &SqlType)| {
            let (random, bytes, null) = &randoms[at];
            if *null == 0 && is_nullable(at) { Value::Null } else { value(ty, *random, bytes) }
        };
        let values: Vec<Value> = types.iter().enumerate().map(of).collect();
        let mut row = Vec::new();
        layout.encode_values(&values, &mut row);
        let mut empty = Vec::new();
        let zeros: Vec<Value> = types.iter().map(|ty| value(ty, 0, &[])).collect();
        layout.encode_values(&zeros, &mut empty);
        // All columns: the row itself comes back, whatever it began with.
        let present = all(types.len());
        let rows = ReceivedRows::new(&shape(&types, &present), &layout, Place::Column).unwrap();
        let mut image = Vec::new();
        StoredRows::new(&layout, &present).put(&layout, &row, &mut image).unwrap();
        prop_assert_eq!(received(&layout, &rows, &image, &empty).unwrap(), row.clone());
        // Some columns: the others are as the row that it began with.
        let some: Vec<u8> = present.iter().zip(&chosen).map(|(all, some)| all & some).collect();
        if some.iter().any(|byte| *byte != 0) {
            let shape = shape(&types, &some);
            let rows = ReceivedRows::new(&shape, &layout, Place::Column).unwrap();
            let mut image = Vec::new();
            StoredRows::new(&layout, &some).put(&layout, &row, &mut image).unwrap();
            prop_assert_eq!(received(&layout, &rows, &image, &row).unwrap(), row.clone());
            let merged = received(&layout, &rows, &image, &empty).unwrap();
            for at in 0..types.len() {
                let is_present = some[at / 8] & (1 << (at % 8)) != 0;
                let expected = if is_present { &row } else { &empty };
                prop_assert_eq!(layout.value(&merged, at).unwrap(), layout.value(expected, at).unwrap());
            }
        }
    }

    #[test]
    fn any_bytes_give_a_row_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..2000), at in any::<prop::sample::Index>()) {
        let types = types();
        let ty = at.get(&types).clone();
        let layout = RowLayout::new([(&ty, true)].into_iter());
        let shape = shape(std::slice::from_ref(&ty), &[1]);
        let rows = ReceivedRows::new(&shape, &layout, Place::Column).unwrap();
        let mut empty = Vec::new();
        layout.encode_values(&[Value::Null], &mut empty);
        let mut draft = RowDraft::default();
        draft.begin(&layout, &empty).unwrap();
        let mut images = Images::new(&bytes);
        while !images.is_empty() {
            let read = rows.read(&mut images, &layout, &mut draft, &mut Vec::new(), &mut Vec::new());
            if read.is_err() {
                break;
            }
            let mut row = Vec::new();
            draft.finish(&layout, &mut row);
            // A column can hold all that was taken: it is the same again.
            let mut image = Vec::new();
            StoredRows::new(&layout, &[1]).put(&layout, &row, &mut image).unwrap();
            prop_assert_eq!(received(&layout, &rows, &image, &empty).unwrap(), row);
        }
    }
}

#[test]
fn types_that_differ_are_refused() {
    let types = [SqlType::int()];
    let (layout, column) = (layout(&types), |kind| Column { kind, is_nullable: true });
    for kind in [ColumnKind::Big, ColumnKind::Varchar(4), ColumnKind::Json(4)] {
        let shape = Shape::new(&[column(kind)], &[1]).unwrap();
        assert!(ReceivedRows::new(&shape, &layout, Place::Column).is_err());
        assert!(ReceivedRows::new(&shape, &layout, |_| Place::Converted).is_ok());
    }
}
