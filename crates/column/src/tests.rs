//! Round trips over all kinds, and damage at any byte.
//!
//! Values are compared bit by bit: a NaN must stay the NaN it was.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use selkie_types::{Column, ColumnData, Date, DateTime, Decimal, Physical, Time, Value};

use crate::bits::{Numbers, pack, packed_bytes, unpack};
use crate::{Aim, BLOCK_ROWS, Encoding, Segment, encode_for};

fn column(physical: Physical, values: &[Value]) -> Column {
    let mut column = Column::new(physical, 2, values.len());
    values.iter().for_each(|value| column.push(value));
    column
}

/// The same value, bit by bit.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Double(one), Value::Double(other)) => one.to_bits() == other.to_bits(),
        _ => one == other,
    }
}

fn decoded(segment: &Segment) -> Vec<Value> {
    let mut values = Vec::new();
    for block in 0..segment.blocks() {
        let column = segment.decode(block).expect("a whole segment");
        assert_eq!(column.len(), segment.rows_of(block));
        assert_eq!(column.physical(), segment.physical());
        values.extend((0..column.len()).map(|row| column.value(row)));
    }
    values
}

fn aim() -> impl Strategy<Value = Aim> {
    prop_oneof![Just(Aim::Speed), Just(Aim::Size)]
}

fn assert_round_trip(physical: Physical, values: &[Value]) -> Segment {
    assert_round_trip_for(physical, values, Aim::Speed)
}

fn assert_round_trip_for(physical: Physical, values: &[Value], aim: Aim) -> Segment {
    let segment = encode_for(&column(physical, values), aim);
    let found = decoded(&segment);
    assert_eq!(found.len(), values.len());
    let differs = found.iter().zip(values).position(|(found, value)| !same(found, value));
    assert_eq!(differs.map(|row| (&found[row], &values[row])), None, "{:?}", segment.encoding());
    segment
}

fn decimal(unscaled: i128) -> Value {
    Value::Decimal(Decimal::new(unscaled.into(), 2))
}

/// Words, of which some come often, with any bytes between them.
fn text(number: i64) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in number.to_le_bytes().into_iter().take(1 + number as u8 as usize % 9) {
        text.extend_from_slice(
            ["special ", "requests", "haggle, ", "\0\0", ""][byte as usize % 5].as_bytes(),
        );
        text.push(byte);
    }
    text
}

/// A value of a kind from a number; `spread` says how far values lie from each other.
fn value(physical: Physical, number: i64, spread: u8) -> Value {
    let near = number.checked_shr(u32::from(spread)).unwrap_or(0);
    match physical {
        Physical::Int => Value::Int(near),
        Physical::UInt => Value::UInt(near as u64),
        Physical::Double => Value::Double(f64::from_bits(near as u64)),
        Physical::Decimal if spread == 0 => decimal(i128::from(number) << 40),
        Physical::Decimal => decimal(i128::from(near) * 100),
        Physical::Date => Value::Date(Date(near as u32)),
        Physical::Time => Value::Time(Time(near)),
        Physical::DateTime => Value::DateTime(DateTime(near)),
        Physical::Bytes if spread < 8 => Value::bytes(text(number)),
        Physical::Bytes if spread < 32 => Value::bytes(vec![number as u8; (number as usize) % 90]),
        Physical::Bytes => Value::bytes(format!("entry {}", near as u8 % 7)),
    }
}

fn physical() -> impl Strategy<Value = Physical> {
    prop_oneof![
        Just(Physical::Int),
        Just(Physical::UInt),
        Just(Physical::Double),
        Just(Physical::Decimal),
        Just(Physical::Date),
        Just(Physical::Time),
        Just(Physical::DateTime),
        Just(Physical::Bytes),
    ]
}

fn values() -> impl Strategy<Value = (Physical, Vec<Value>)> {
    let rows = prop_oneof![1..40usize, 1000..1050usize, 2000..2100usize];
    let present = prop_oneof![Just(0.99999), Just(0.9), Just(0.02)];
    (physical(), rows, present, 0..64u8).prop_flat_map(|(physical, rows, present, spread)| {
        vec(weighted(present, any::<i64>()), rows).prop_map(move |numbers| {
            let value = |n: Option<i64>| n.map_or(Value::Null, |n| value(physical, n, spread));
            (physical, numbers.into_iter().map(value).collect())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn values_of_all_kinds_round_trip((physical, values) in values(), aim in aim()) {
        let segment = assert_round_trip_for(physical, &values, aim);
        let again = Segment::read(segment.bytes().into()).expect("the same bytes");
        prop_assert_eq!(again.encoding(), segment.encoding());
        for block in 0..segment.blocks() {
            let Some(zone) = segment.zone(block) else { continue };
            let column = segment.decode(block).expect("a whole segment");
            let ColumnData::Int(numbers) = column.data() else { continue };
            for (row, number) in numbers.iter().enumerate().filter(|(row, _)| !column.is_null(*row)) {
                prop_assert!(zone.least <= *number && *number <= zone.greatest, "row {}", row);
            }
        }
    }

    #[test]
    fn selected_rows_are_those_of_the_block(
        (physical, values) in values(),
        (step, from) in (1..600usize, 0..600usize),
        aim in aim(),
    ) {
        let segment = encode_for(&column(physical, &values), aim);
        for block in 0..segment.blocks() {
            let whole = segment.decode(block).expect("a whole segment");
            let rows: Vec<u32> = (from as u32..whole.len() as u32).step_by(step).collect();
            let selected = segment.decode_selected(block, &rows).expect("a whole segment");
            prop_assert_eq!(selected.len(), rows.len());
            for (at, row) in rows.iter().enumerate() {
                prop_assert!(same(&selected.value(at), &whole.value(*row as usize)));
            }
            let Some(codes) = segment.codes(block).expect("a whole segment") else { continue };
            let entries = segment.entries().expect("codes have entries");
            for (row, code) in codes.of.iter().enumerate() {
                let is_null = codes.valid.as_ref().is_some_and(|valid| !valid.get(row));
                prop_assert_eq!(is_null, whole.is_null(row));
                prop_assert!(is_null || entries.get(*code as usize) == whole.bytes(row));
            }
            prop_assert!(segment.decode_selected(block, &[1024]).is_err());
        }
    }

    #[test]
    fn damaged_segments_are_errors_or_values(
        (physical, values) in values(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
        aim in aim(),
    ) {
        let segment = encode_for(&column(physical, &values), aim);
        let mut bytes = segment.bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(read) = Segment::read(bytes.clone().into()) {
            for block in 0..read.blocks().min(8) {
                drop(read.decode(block));
                drop(read.codes(block));
                drop(read.decode_selected(block, &[0, 7, 500]));
                drop(read.decode_selected(block, &(0..900).collect::<Vec<u32>>()));
            }
        }
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(Segment::read(segment.bytes()[..bytes.len()].into()).is_err());
    }

    #[test]
    fn numbers_of_every_width_are_packed(width in 0..=64u8, seed in any::<u64>()) {
        let mask = if width == 0 { 0 } else { u64::MAX >> (64 - u32::from(width)) };
        let mut numbers = [0; BLOCK_ROWS];
        let mut state = seed | 1;
        numbers.iter_mut().for_each(|number| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(seed);
            *number = state.rotate_left(17) & mask;
        });
        let mut bytes = Vec::new();
        pack(&numbers, width, &mut bytes);
        prop_assert_eq!(bytes.len(), packed_bytes(width));
        for rows in [0, 1, 16, 500, BLOCK_ROWS] {
            let found = unpack(&bytes, (width, rows), |number| number);
            prop_assert_eq!(found.as_deref(), Ok(&numbers[..rows]));
        }
        let single = Numbers::new(&bytes, width);
        for (at, number) in numbers.iter().enumerate() {
            prop_assert_eq!(single.get(at), Ok(*number));
        }
        let cut = &bytes[usize::from(width > 0)..];
        let cut = unpack(cut, (width, BLOCK_ROWS), |number| number);
        prop_assert!(width == 0 || cut.is_err());
    }
}

#[test]
fn the_encoding_follows_the_values() {
    let ints = |of: fn(i64) -> i64| (0..3000).map(|at| Value::Int(of(at))).collect::<Vec<_>>();
    let encoding = |physical, values: &[Value]| assert_round_trip(physical, values).encoding();
    assert_eq!(encoding(Physical::Int, &ints(|_| 7)), Encoding::Constant);
    assert_eq!(encoding(Physical::Int, &vec![Value::Null; 3000]), Encoding::Constant);
    assert_eq!(encoding(Physical::Int, &ints(|at| at)), Encoding::Packed);
    assert_eq!(
        encoding(Physical::Int, &[Value::Int(i64::MIN), Value::Int(i64::MAX)]),
        Encoding::Packed
    );
    let doubles = [f64::NAN, -0.0, 0.0, f64::INFINITY].map(Value::Double);
    assert_eq!(encoding(Physical::Double, &doubles), Encoding::Real);
    assert_eq!(encoding(Physical::Decimal, &[decimal(1 << 100), decimal(-5)]), Encoding::Wide);
    assert_eq!(encoding(Physical::Decimal, &[decimal(1 << 60), decimal(-5)]), Encoding::Packed);
    let texts =
        |of: fn(usize) -> String| (0..3000).map(|at| Value::bytes(of(at))).collect::<Vec<_>>();
    let modes = texts(|at| ["MAIL", "SHIP", "TRUCK"][at % 3].repeat(3));
    assert_eq!(encoding(Physical::Bytes, &modes), Encoding::Dictionary);
    assert_eq!(encoding(Physical::Bytes, &texts(|at| format!("{at}"))), Encoding::Plain);
    assert_eq!(encoding(Physical::Bytes, &texts(|_| String::new())), Encoding::Constant);
}

#[test]
fn long_strings_are_compressed_for_size() {
    let words = ["furiously ", "special ", "requests ", "haggle ", "blithely "];
    let word = |at: usize| words[at.wrapping_mul(0x9e37_79b9) >> 7 & 3];
    let text = |at: usize| (0..5).map(|n| word(at * 7 + n)).collect::<String>() + &at.to_string();
    let texts: Vec<Value> = (0..3000).map(|at| Value::bytes(text(at))).collect();
    let plain = assert_round_trip(Physical::Bytes, &texts);
    let small = assert_round_trip_for(Physical::Bytes, &texts, Aim::Size);
    assert_eq!((plain.encoding(), small.encoding()), (Encoding::Plain, Encoding::Fsst));
    assert!(small.memory() * 2 < plain.memory(), "{} {}", small.memory(), plain.memory());
    let numbers: Vec<Value> = (0..3000).map(|at| Value::bytes(at.to_string())).collect();
    let short = assert_round_trip_for(Physical::Bytes, &numbers, Aim::Size);
    assert_eq!(short.encoding(), Encoding::Plain);
    // No sequence of bytes comes twice.
    let random = |at: u64| (0..4).map(move |n| (at * 4 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let random = |at| random(at).flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
    let random: Vec<Value> = (0..3000).map(|at| Value::bytes(random(at))).collect();
    let random = assert_round_trip_for(Physical::Bytes, &random, Aim::Size);
    assert_eq!(random.encoding(), Encoding::Plain);
}

#[test]
fn whole_amounts_take_few_bits() {
    let amounts: Vec<Value> = (0..1024).map(|at| decimal(100 * (at % 50 + 1))).collect();
    let segment = assert_round_trip(Physical::Decimal, &amounts);
    assert_eq!(segment.bytes().len(), 8 + 25 + packed_bytes(6));
}
