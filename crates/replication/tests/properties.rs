//! Properties of any bytes and any values: a decoder gives a value or an error (REPL-1), and an
//! encoded value is decoded as the same value.
//!
//! Must not need a server: changed bytes come from the corpus or from the strategies below.

mod common;

use common::corpus;
use proptest::prelude::*;
use selkie_replication::codec::{
    Checksum, OptionalField, OptionalFields, StatusVar, StatusVars, field, pack, unpack,
};
use selkie_replication::file::Events;
use selkie_replication::gtid::Position;
use selkie_replication::images::{
    Column, ColumnKind, DateTimeValue, DateValue, Images, Shape, TimeValue, TimestampValue, Value,
    columns, read_decimal,
};
use selkie_replication::show::Printer;
use selkie_replication::{Event, EventKind, Format, Frame, Gtid, Header};

fn format(checksum: Checksum) -> Format {
    Format::new("10.11.19-MariaDB", 1, checksum)
}

/// An event of any type with any body.
fn framed(kind: u8, body: &[u8], format: &Format) -> Vec<u8> {
    let mut out = Vec::new();
    Event::Unknown(EventKind(kind), body).encode(
        &Header::new(EventKind(kind), 1, 1),
        format,
        &mut out,
    );
    out
}

/// Types of events; most of them are known types.
fn kinds() -> impl Strategy<Value = u8> {
    let known = prop::sample::select((2..=42u8).chain(160..=168).collect::<Vec<_>>());
    prop_oneof![9 => known, 1 => any::<u8>()]
}

/// Checks that a decodable event is encoded and decoded as the same event.
fn stays(bytes: &[u8], format: &Format) {
    let Ok(frame) = Frame::split(bytes, format) else { return };
    let Ok(event) = Event::decode(&frame, format) else { return };
    let mut again = Vec::new();
    event.encode(&frame.header, format, &mut again);
    let frame = Frame::split(&again, format).unwrap();
    frame.verify().unwrap();
    assert_eq!(Event::decode(&frame, format).unwrap(), event);
}

/// Decodes the inner parts of an event, which must not panic.
fn look_inside(event: &Event<'_>) {
    match event {
        Event::Query(query) | Event::QueryCompressed(query) => {
            query.status.iter().for_each(drop);
            let _ = unpack(query.text, 1 << 20);
        }
        Event::TableMap(map) => {
            let _ = columns(map);
            for found in map.optional.iter().flatten() {
                let _ = (found.numbers(), found.texts(), found.text_lists());
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn any_bytes_are_an_event_or_none(kind in kinds(), body: Vec<u8>, crc: bool) {
        let format = format(if crc { Checksum::Crc32 } else { Checksum::None });
        let bytes = framed(kind, &body, &format);
        stays(&bytes, &format);
        if let Ok(frame) = Frame::split(&bytes, &format)
            && let Ok(event) = Event::decode(&frame, &format)
        {
            look_inside(&event);
        }
    }

    #[test]
    fn changed_events_are_an_event_or_none(
        file in any::<prop::sample::Index>(),
        event in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let files = corpus();
        let file = file.get(&files);
        let events: Vec<_> = Events::new(&file.log).map(|placed| placed.unwrap()).collect();
        let mut bytes = event.get(&events).frame.bytes().to_vec();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        let length = (bytes.len() as u32).to_le_bytes();
        bytes[9..13].copy_from_slice(&length);
        stays(&bytes, &format(Checksum::Crc32));
    }

    #[test]
    fn changed_files_are_shown_to_some_end(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let files = corpus();
        let mut log = file.get(&files).log.clone();
        for (at, byte) in &changes {
            let at = at.index(log.len());
            log[at] = *byte;
        }
        let (mut printer, mut text) = (Printer::new(), Vec::new());
        for placed in Events::new(&log).flatten() {
            let _ = printer.put(&placed, &mut text);
        }
    }

    #[test]
    fn any_bytes_are_status_variables_or_none(bytes: Vec<u8>) {
        let mut again = Vec::new();
        let found: Vec<_> = StatusVars(&bytes).iter().collect();
        let whole = found.iter().all(Result::is_ok);
        found.iter().flatten().for_each(|found| found.encode(&mut again));
        prop_assert!(!whole || again == bytes);
    }

    #[test]
    fn blocks_are_unpacked_as_they_were(plain: Vec<u8>, byte: u8, length in 0..70_000usize) {
        for plain in [plain, vec![byte; length]] {
            let mut block = Vec::new();
            pack(&plain, &mut block);
            prop_assert_eq!(&unpack(&block, plain.len()).unwrap(), &plain);
        }
    }

    #[test]
    fn any_bytes_are_a_block_or_none(bytes: Vec<u8>) {
        let _ = unpack(&bytes, 1 << 20);
    }

    #[test]
    fn optional_metadata_is_read_as_it_was(
        bits: Vec<bool>,
        numbers: Vec<u64>,
        texts: Vec<Vec<u8>>,
        lists: Vec<Vec<Vec<u8>>>,
    ) {
        fn borrow(texts: &[Vec<u8>]) -> Vec<&[u8]> { texts.iter().map(Vec::as_slice).collect() }
        let lists: Vec<_> = lists.iter().map(|list| borrow(list)).collect();
        let fields = [
            (field::SIGNEDNESS, OptionalField::of_bits(&bits)),
            (field::COLUMN_CHARSET, OptionalField::of_numbers(&numbers)),
            (field::COLUMN_NAME, OptionalField::of_texts(&borrow(&texts))),
            (field::ENUM_STR_VALUE, OptionalField::of_text_lists(&lists)),
        ];
        let mut all = Vec::new();
        fields.iter().for_each(|(kind, bytes)| OptionalField { kind: *kind, bytes }.encode(&mut all));
        let find = |kind| OptionalFields(&all).find(kind).unwrap().unwrap();
        prop_assert_eq!(find(field::SIGNEDNESS).bits(bits.len()).collect::<Vec<_>>(), bits);
        prop_assert_eq!(find(field::COLUMN_CHARSET).numbers().unwrap(), numbers);
        prop_assert_eq!(find(field::COLUMN_NAME).texts().unwrap(), borrow(&texts));
        prop_assert_eq!(find(field::ENUM_STR_VALUE).text_lists().unwrap(), lists);
        prop_assert_eq!(OptionalFields(&all).find(field::VISIBILITY), Ok(None));
    }

    #[test]
    fn numbers_of_groups_are_read_as_they_are_written(gtids: Vec<(u32, u32, u64)>) {
        let gtids = gtids.iter().map(|&(domain, server, seq)| Gtid { domain, server, seq });
        let position: Position = gtids.collect();
        prop_assert_eq!(position.to_string().parse::<Position>().unwrap(), position.clone());
        for gtid in position.gtids() {
            prop_assert_eq!(gtid.to_string().parse(), Ok(gtid));
        }
    }
}

/// All types of columns, with each length that has a form of its own.
fn column_kinds() -> impl Strategy<Value = ColumnKind> {
    use ColumnKind::*;
    let plain = vec![
        Tiny,
        Small,
        Medium,
        Int,
        Big,
        Year,
        Float,
        Double,
        Date,
        OldTime,
        OldDateTime,
        OldTimestamp,
    ];
    let decimal = (1..=65u8).prop_flat_map(|precision| {
        (0..=precision.min(38)).prop_map(move |scale| Decimal(precision, scale))
    });
    prop_oneof![
        4 => prop::sample::select(plain),
        2 => decimal,
        1 => (1..=64u16).prop_map(Bit),
        1 => (0..=6u8).prop_map(Time),
        1 => (0..=6u8).prop_map(DateTime),
        1 => (0..=6u8).prop_map(Timestamp),
        1 => (0..=1023u16).prop_map(Char),
        1 => any::<u16>().prop_map(Varchar),
        1 => (1..=4u8).prop_map(Blob),
        1 => (1..=4u8).prop_map(Geometry),
        1 => (1..=4u8).prop_map(Json),
        1 => (1..=2u8).prop_map(Enum),
        1 => (1..=8u8).prop_map(Set),
    ]
}

fn cut(micros: u32, digits: u8) -> u32 {
    let unit = 10u32.pow(6 - u32::from(digits));
    micros % 1_000_000 / unit * unit
}

/// A value of a type, from any bits and bytes.
fn value<'a>(kind: ColumnKind, bits: u64, bytes: &'a [u8]) -> Value<'a> {
    let signed = |width: u32| Value::Int((bits as i64) << (64 - width) >> (64 - width));
    let at = |shift: u32, below: u64| bits.rotate_right(shift) % below;
    let micros = |digits| cut(bits as u32, digits);
    let date =
        DateValue { year: at(3, 10_000) as u16, month: at(5, 13) as u8, day: at(9, 32) as u8 };
    let time = |digits| TimeValue {
        is_negative: bits & 1 == 1 && !bits.is_multiple_of(839),
        hours: (bits % 839) as u16,
        minutes: at(7, 60) as u8,
        seconds: at(13, 60) as u8,
        micros: micros(digits),
    };
    let datetime = |digits| DateTimeValue {
        date,
        hour: at(11, 24) as u8,
        minute: at(17, 60) as u8,
        second: at(23, 60) as u8,
        micros: micros(digits),
    };
    let timestamp = |digits| TimestampValue { seconds: bits as u32, micros: micros(digits) };
    match kind {
        ColumnKind::Tiny => signed(8),
        ColumnKind::Small => signed(16),
        ColumnKind::Medium => signed(24),
        ColumnKind::Int => signed(32),
        ColumnKind::Big => signed(64),
        ColumnKind::Year if bits.is_multiple_of(256) => Value::Year(0),
        ColumnKind::Year => Value::Year(1900 + (bits % 256) as u16),
        ColumnKind::Float => Value::Float(f32::from_bits(bits as u32)),
        ColumnKind::Double => Value::Double(f64::from_bits(bits)),
        ColumnKind::Decimal(precision, scale) => {
            let most = 10u64.pow(u32::from(precision.min(18)));
            let number = i128::from(bits % most);
            let signed = if bits & 1 == 0 { number } else { -number };
            Value::Decimal(selkie_types::Decimal::from_i128(signed, scale))
        }
        ColumnKind::Bit(count) => Value::Bits(&bytes[..usize::from(count.div_ceil(8))]),
        ColumnKind::Date => Value::Date(date),
        ColumnKind::Time(digits) => Value::Time(time(digits)),
        ColumnKind::DateTime(digits) => Value::DateTime(datetime(digits)),
        ColumnKind::Timestamp(digits) => Value::Timestamp(timestamp(digits)),
        ColumnKind::OldTime => Value::Time(time(0)),
        ColumnKind::OldDateTime => Value::DateTime(datetime(0)),
        ColumnKind::OldTimestamp => Value::Timestamp(timestamp(0)),
        ColumnKind::Enum(1) => Value::Enum(bits as u16 & 0xff),
        ColumnKind::Enum(_) => Value::Enum(bits as u16),
        ColumnKind::Set(width) => Value::Set(bits & (u64::MAX >> (64 - 8 * u32::from(width)))),
        ColumnKind::Char(most) | ColumnKind::Varchar(most) => {
            Value::Bytes(&bytes[..bytes.len().min(usize::from(most))])
        }
        ColumnKind::Blob(1) | ColumnKind::Geometry(1) | ColumnKind::Json(1) => {
            Value::Bytes(&bytes[..bytes.len().min(255)])
        }
        _ => Value::Bytes(bytes),
    }
}

proptest! {
    #[test]
    fn images_are_read_as_they_were_written(
        kinds in prop::collection::vec((column_kinds(), any::<bool>()), 1..40),
        rows in prop::collection::vec((any::<u64>(), any::<u64>()), 1..4),
        bytes in prop::collection::vec(any::<u8>(), 8..600),
    ) {
        let columns: Vec<Column> =
            kinds.iter().map(|(kind, _)| Column { kind: *kind, is_nullable: true }).collect();
        let mut present = vec![0u8; kinds.len().div_ceil(8)];
        kinds.iter().enumerate().for_each(|(at, (_, is))| present[at / 8] |= u8::from(*is) << (at % 8));
        let shape = Shape::new(&columns, &present).unwrap();
        let mut images = Vec::new();
        let mut written = Vec::new();
        for (bits, nulls) in rows {
            let values: Vec<Value<'_>> = shape.columns().iter().enumerate().map(|(at, (_, column))| {
                let is_null = nulls >> (at % 64) & 1 == 1;
                let bits = bits.wrapping_mul(2 * at as u64 + 1);
                if is_null { Value::Null } else { value(column.kind, bits, &bytes) }
            }).collect();
            prop_assert!(shape.put(&values, &mut images));
            written.push(values);
        }
        let mut reader = Images::new(&images);
        let mut found = Vec::new();
        if shape.columns().is_empty() {
            prop_assert!(reader.next(&shape, &mut found).is_err());
            return Ok(());
        }
        for values in &written {
            reader.next(&shape, &mut found).unwrap();
            prop_assert_eq!(&found, values);
        }
        prop_assert!(reader.is_empty());
    }

    #[test]
    fn any_bytes_are_images_or_none(
        kinds in prop::collection::vec(column_kinds(), 1..10),
        bytes: Vec<u8>,
    ) {
        let columns: Vec<Column> =
            kinds.iter().map(|kind| Column { kind: *kind, is_nullable: true }).collect();
        let shape = Shape::new(&columns, &vec![0xff; kinds.len().div_ceil(8)]).unwrap();
        let (mut reader, mut values) = (Images::new(&bytes), Vec::new());
        while !reader.is_empty() && reader.next(&shape, &mut values).is_ok() {
            let mut image = Vec::new();
            prop_assert!(shape.put(&values, &mut image));
            let mut again = Vec::new();
            Images::new(&image).next(&shape, &mut again).unwrap();
            prop_assert_eq!(&again, &values);
        }
    }

    #[test]
    fn any_bytes_are_types_or_none(types: Vec<u8>, metadata: Vec<u8>, nullable: Vec<u8>) {
        use selkie_replication::codec::TableMap;
        let map = TableMap {
            table_id: 1,
            flags: 0,
            database: b"d",
            table: b"t",
            types: &types,
            metadata: &metadata,
            nullable: &nullable,
            optional: OptionalFields(&[]),
        };
        let _ = columns(&map);
    }

    #[test]
    fn any_bytes_are_a_decimal_or_none(bytes: Vec<u8>, precision in 1..=65u8, scale in 0..=38u8) {
        let _ = read_decimal(&bytes, precision, scale.min(precision));
    }
}

#[test]
fn status_variables_are_read_as_they_were_written() {
    let all = [
        StatusVar::Flags2(7),
        StatusVar::SqlMode(1 << 40),
        StatusVar::CatalogNul(b"std"),
        StatusVar::AutoIncrement(3, 2),
        StatusVar::Charset(45, 46, 33),
        StatusVar::TimeZone(b"+03:00"),
        StatusVar::Catalog(b"std"),
        StatusVar::LcTimeNames(4),
        StatusVar::CollationDatabase(46),
        StatusVar::TableMapForUpdate(3),
        StatusVar::Other(10, &[1, 2, 3, 4]),
        StatusVar::Invoker(b"root", b"localhost"),
        StatusVar::Other(12, b"\x02d\0e\0"),
        StatusVar::Other(12, &[254]),
        StatusVar::Other(13, &[1, 2, 3]),
        StatusVar::Other(16, &[1]),
        StatusVar::Other(17, &[0; 8]),
        StatusVar::Other(18, &[45, 0]),
        StatusVar::HrNow(123_456),
        StatusVar::Xid(9),
        StatusVar::GtidFlags3(2, None),
        StatusVar::GtidFlags3(4, Some(8)),
        StatusVar::Unknown(77, b"all the rest"),
    ];
    let mut bytes = Vec::new();
    all.iter().for_each(|var| var.encode(&mut bytes));
    let found: Vec<_> = StatusVars(&bytes).iter().map(|found| found.unwrap()).collect();
    assert_eq!(found, all);
}
