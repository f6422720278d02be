//! Events as seen on a real server, byte for byte, and the values they stand for.
//!
//! Expected bytes must not come from this crate's encoder: it could have the decoder's error too.

use selkie_replication::codec::{
    Change, Checksum, GtidEvent, GtidExtra, HEADER_BYTES, Incident, Intvar, Rand, Rotate, Rows,
    RowsVersion, StatusVar, StatusVars, UserValue, XaPrepare, Xid, flags, row_flags,
};
use selkie_replication::images::{
    Column, ColumnKind, Images, Shape, TimeValue, Value, columns, put_decimal, read_decimal,
};
use selkie_replication::{Event, EventKind, Format, Frame, Gtid, Header};
use selkie_types::Decimal;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.chars().filter(|c| !c.is_whitespace()).collect();
    let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// The format without checksums, which the examples do not have.
fn format() -> Format {
    Format::new("10.11.19-MariaDB-0+deb12u1-log", 0x6b04_2f4f, Checksum::None)
}

/// An event of a type with a body.
fn event(kind: EventKind, body: &[u8]) -> Vec<u8> {
    let mut header = Header::new(kind, 0x6553_f100, 1);
    header.event_length = (HEADER_BYTES + body.len()) as u32;
    let mut out = Vec::new();
    header.encode(&mut out);
    out.extend_from_slice(body);
    out
}

/// Checks that a body is decoded as an event, and that the event is encoded as that body.
fn is(kind: EventKind, body: &[u8], expected: Event<'_>) {
    let whole = event(kind, body);
    let frame = Frame::split(&whole, &format()).unwrap();
    assert_eq!(Event::decode(&frame, &format()).unwrap(), expected);
    let mut again = Vec::new();
    expected.encode(&frame.header, &format(), &mut again);
    assert_eq!(again, whole);
}

#[test]
fn format_description() {
    let mut format = format();
    format.checksum = Checksum::Crc32;
    let header =
        Header { end_log_pos: 256, ..Header::new(EventKind::FORMAT_DESCRIPTION, 0x6b04_2f4f, 1) };
    let mut out = Vec::new();
    Event::FormatDescription(format.clone()).encode(&header, &format, &mut out);
    assert_eq!(out.len(), 252);
    assert_eq!(out[..21], bytes("4f2f046b 0f 01000000 fc000000 00010000 0000 0400"));
    let lengths = bytes(
        "38 0d 00 08 00 12 00 04 04 04 04 12 00 00 e4 00 04 1a 08 00 00 00 08 08 08 02 00 00 00
         0a 0a 0a 00 00 00 00 00 00 0a 0a 0a",
    );
    assert_eq!(out[19 + 57..][..lengths.len()], lengths);
    assert_eq!(out[19 + 57 + 159..][..13], bytes("00 04 13 04 00 0d 08 08 08 0a 0a 0a 01"));
    let frame = Frame::split(&out, &format).unwrap();
    frame.verify().unwrap();
    assert_eq!(Event::decode(&frame, &format).unwrap(), Event::FormatDescription(format.clone()));
    assert_eq!(format.version_text(), "10.11.19-MariaDB-0+deb12u1-log");
}

#[test]
fn the_flag_of_an_open_file_is_not_in_its_checksum() {
    let format = Format::new("10.11.19-MariaDB", 1, Checksum::Crc32);
    let encode = |flags| {
        let mut out = Vec::new();
        let header = Header { flags, ..Header::new(EventKind::FORMAT_DESCRIPTION, 1, 1) };
        Event::FormatDescription(format.clone()).encode(&header, &format, &mut out);
        Frame::split(&out, &format).unwrap().verify().unwrap();
        out
    };
    let (open, closed) = (encode(flags::IN_USE), encode(0));
    assert_eq!(open[19..], closed[19..]);
}

#[test]
fn old_servers_have_no_checksums() {
    let checks = |version: &str| {
        let mut body = Vec::new();
        Format::new(version, 1, Checksum::None).encode(&mut body);
        body.extend([0; 4]);
        Format::decode(&body).unwrap().knows_checksums
    };
    let known = ["5.6.1-log", "10.0.1-MariaDB", "5.3.2-MariaDB", "8.0.30", "11.8.2-MariaDB-log"];
    assert!(known.iter().all(|version| checks(version)));
    assert!(["5.5.60", "5.6.0", "5.2.9-MariaDB", "nonsense"].iter().all(|v| !checks(v)));
}

#[test]
fn gtid() {
    let flags = GtidEvent::TRANSACTIONAL | GtidEvent::ALLOW_PARALLEL;
    let body = bytes("0300000000000000 00000000 0c 000000000000");
    is(EventKind::GTID, &body, Event::Gtid(GtidEvent::new(3, 0, flags)));
    let committed =
        GtidEvent { commit_id: 0xdeeb, ..GtidEvent::new(7, 0, flags | GtidEvent::GROUP_COMMIT_ID) };
    let body = bytes("0700000000000000 00000000 0e ebde000000000000");
    assert_eq!(event(EventKind::GTID, &body).len() + 4, 44);
    is(EventKind::GTID, &body, Event::Gtid(committed));
}

#[test]
fn gtid_of_a_branch_and_of_an_alter_in_two_phases() {
    let extra = |flags, engines, start| Some(GtidExtra { flags, engines, start, rest: &[] });
    let prepare = GtidEvent {
        xa_format: 7,
        gtrid: b"gt",
        bqual: b"bq",
        extra: extra(GtidExtra::MULTI_ENGINE, 0xff, 0),
        ..GtidEvent::new(14, 0, 0x4c)
    };
    let body = bytes("0e00000000000000 00000000 4c 07000000 02 02 6774 6271 01 ff");
    is(EventKind::GTID, &body, Event::Gtid(prepare));
    let start =
        GtidEvent { extra: extra(GtidExtra::START_ALTER, 0, 0), ..GtidEvent::new(0x6a, 0, 0x29) };
    let body = bytes("6a00000000000000 00000000 29 02 0000000000");
    is(EventKind::GTID, &body, Event::Gtid(start));
    let commit = GtidEvent {
        extra: extra(GtidExtra::COMMIT_ALTER, 0, 0x6a),
        ..GtidEvent::new(0x6b, 0, 0x29)
    };
    let body = bytes("6b00000000000000 00000000 29 04 6a00000000000000");
    is(EventKind::GTID, &body, Event::Gtid(commit));
}

#[test]
fn gtid_list() {
    use selkie_replication::codec::GtidListEvent;
    let empty = GtidListEvent { flags: 0, gtids: Vec::new() };
    is(EventKind::GTID_LIST, &bytes("00000000 0000"), Event::GtidList(empty));
    let gtids = vec![Gtid { domain: 1, server: 2, seq: 3 }];
    let list = GtidListEvent { flags: GtidListEvent::IGNORED, gtids };
    let body = bytes("01000020 01000000 02000000 0300000000000000");
    is(EventKind::GTID_LIST, &body, Event::GtidList(list));
}

#[test]
fn annotate_checkpoint_rotate_xid_stop_heartbeat() {
    let text = b"INSERT INTO t VALUES (1,'abc',7)";
    is(EventKind::ANNOTATE_ROWS, text, Event::AnnotateRows(text));
    let name = b"binlog.000001";
    let body = [&bytes("0d000000")[..], name].concat();
    is(EventKind::BINLOG_CHECKPOINT, &body, Event::BinlogCheckpoint(name));
    let file = b"binlog.000002";
    let body = [&bytes("0400000000000000")[..], file].concat();
    is(EventKind::ROTATE, &body, Event::Rotate(Rotate { position: 4, file }));
    is(EventKind::XID, &bytes("0b00000000000000"), Event::Xid(Xid(11)));
    is(EventKind::STOP, b"", Event::Stop);
    is(EventKind::HEARTBEAT, name, Event::Heartbeat(name));
}

#[test]
fn table_map() {
    let body = bytes("120000000000 0100 01 64 00 01 74 00 03 03 0f 03 02 5000 06");
    let whole = event(EventKind::TABLE_MAP, &body);
    let decoded = Event::decode(&Frame::split(&whole, &format()).unwrap(), &format()).unwrap();
    let Event::TableMap(map) = decoded else { panic!("{decoded:?}") };
    assert_eq!((map.table_id, map.flags, map.database, map.table), (18, 1, &b"d"[..], &b"t"[..]));
    assert_eq!(columns(&map).unwrap(), table());
    is(EventKind::TABLE_MAP, &body, Event::TableMap(map));
}

/// `id INT PRIMARY KEY, a VARCHAR(20) CHARACTER SET utf8mb4, b INT UNSIGNED`.
fn table() -> Vec<Column> {
    let column = |kind, is_nullable| Column { kind, is_nullable };
    vec![
        column(ColumnKind::Int, false),
        column(ColumnKind::Varchar(80), true),
        column(ColumnKind::Int, true),
    ]
}

fn rows<'a>(
    change: Change,
    present: &'a [u8],
    present_after: &'a [u8],
    images: &'a [u8],
) -> Rows<'a> {
    Rows {
        change,
        version: RowsVersion::V1,
        table_id: 18,
        flags: row_flags::STMT_END,
        extra: &[],
        columns: 3,
        present,
        present_after,
        images,
    }
}

/// Checks that images are decoded as these values, and the values encoded as these images.
fn has(present: u8, images: &[u8], expected: &[&[Value<'_>]]) {
    let shape = Shape::new(&table(), &[present]).unwrap();
    let (mut reader, mut again) = (Images::new(images), Vec::new());
    for values in expected {
        let mut found = Vec::new();
        reader.next(&shape, &mut found).unwrap();
        assert_eq!(&found, values);
        assert!(shape.put(values, &mut again));
    }
    assert!(reader.is_empty());
    assert_eq!(again, images);
}

#[test]
fn rows_written_and_updated() {
    let row = |b| [Value::Int(1), Value::Bytes(b"abc"), Value::Int(b)];
    let images = bytes("f8 01000000 03 616263 07000000");
    let body = [&bytes("120000000000 0100 03 07")[..], &images].concat();
    let written = rows(Change::Write, &[7], &[], &images);
    is(EventKind::WRITE_ROWS_V1, &body, Event::Rows(written));
    has(7, &images, &[&row(7)]);
    let images = bytes("f8 01000000 03 616263 07000000 f8 01000000 03 616263 08000000");
    let body = [&bytes("120000000000 0100 03 07 07")[..], &images].concat();
    let updated = rows(Change::Update, &[7], &[7], &images);
    is(EventKind::UPDATE_ROWS_V1, &body, Event::Rows(updated));
    has(7, &images, &[&row(7), &row(8)]);
    let images = bytes("fe 01000000 fe 09000000");
    let body = [&bytes("120000000000 0100 03 01 04")[..], &images].concat();
    let minimal = rows(Change::Update, &[1], &[4], &images);
    is(EventKind::UPDATE_ROWS_V1, &body, Event::Rows(minimal));
    has(1, &images[..5], &[&[Value::Int(1)]]);
    has(4, &images[5..], &[&[Value::Int(9)]]);
}

#[test]
fn query() {
    let status =
        bytes("00 00000001 01 0000205400000000 06 03 737464 04 2100 2100 0800 81 0900000000000000");
    let body = [&bytes("06000000 4f3eb005 01 0000 2300")[..], &status, b"d\0CREATE TABLE t (...)"]
        .concat();
    let query = selkie_replication::codec::Query {
        thread_id: 6,
        exec_time: 0x05b0_3e4f,
        error_code: 0,
        status: StatusVars(&status),
        database: b"d",
        text: b"CREATE TABLE t (...)",
    };
    is(EventKind::QUERY, &body, Event::Query(query));
    let vars: Vec<_> = StatusVars(&status).iter().map(|found| found.unwrap()).collect();
    let expected = [
        StatusVar::Flags2(0x0100_0000),
        StatusVar::SqlMode(0x5420_0000),
        StatusVar::Catalog(b"std"),
        StatusVar::Charset(33, 33, 8),
        StatusVar::Xid(9),
    ];
    assert_eq!(vars, expected);
}

#[test]
fn variables_of_statements() {
    let intvar = Intvar { which: Intvar::INSERT_ID, value: 5 };
    is(EventKind::INTVAR, &bytes("02 0500000000000000"), Event::Intvar(intvar));
    let rand = Rand { seed1: 0x11b7_efba, seed2: 0x04e4_9a36 };
    is(EventKind::RAND, &bytes("baefb711 00000000 369ae404 00000000"), Event::Rand(rand));
    let value = UserValue { kind: UserValue::STRING, collation: 33, bytes: b"v", flags: &[] };
    let variable =
        selkie_replication::codec::UserVar { name: b"u", value: Some(value), behind_null: &[] };
    let body = bytes("01000000 75 00 00 21000000 01000000 76");
    is(EventKind::USER_VAR, &body, Event::UserVar(variable));
}

#[test]
fn load_data() {
    use selkie_replication::codec::{ExecuteLoad, LoadBlock, Query};
    let block = b"1\t2023-01-01\n";
    let body = [&bytes("01000000")[..], block].concat();
    is(EventKind::BEGIN_LOAD_QUERY, &body, Event::BeginLoadQuery(LoadBlock { file_id: 1, block }));
    is(EventKind::APPEND_BLOCK, &body, Event::AppendBlock(LoadBlock { file_id: 1, block }));
    is(EventKind::DELETE_FILE, &bytes("01000000"), Event::DeleteFile(1));
    let status = bytes("00 00000001");
    let post = bytes("0b000000 333fb005 01 0000 0500 01000000 09000000 39000000 01");
    let text = b"LOAD DATA LOCAL INFILE";
    let body = [&post[..], &status, b"d\0", text].concat();
    let query = Query {
        thread_id: 11,
        exec_time: 0x05b0_3f33,
        error_code: 0,
        status: StatusVars(&status),
        database: b"d",
        text,
    };
    let load = ExecuteLoad { query, file_id: 1, name_start: 9, name_end: 0x39, duplicates: 1 };
    is(EventKind::EXECUTE_LOAD_QUERY, &body, Event::ExecuteLoadQuery(load));
}

#[test]
fn rare_events() {
    let prepare = XaPrepare { one_phase: 0, format: 7, gtrid: b"gt", bqual: b"bq" };
    let body = bytes("00 07000000 02000000 02000000 6774 6271");
    is(EventKind::XA_PREPARE, &body, Event::XaPrepare(prepare));
    let incident = Incident { incident: 1, message: b"lost" };
    is(EventKind::INCIDENT, &bytes("0100 04 6c6f7374"), Event::Incident(incident));
    let body = bytes("01 02000000 000102030405060708090a0b");
    let start = selkie_replication::codec::StartEncryption {
        scheme: 1,
        key_version: 2,
        nonce: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    };
    is(EventKind::START_ENCRYPTION, &body, Event::StartEncryption(start));
    let unknown = EventKind(171);
    is(unknown, b"anything", Event::Unknown(unknown, b"anything"));
    let rows = Rows { version: RowsVersion::V2, ..rows(Change::Write, &[7], &[], b"rows") };
    let body = [&bytes("120000000000 0100 0200 03 07")[..], b"rows"].concat();
    is(EventKind::WRITE_ROWS, &body, Event::Rows(rows));
}

#[test]
fn values() {
    let decimal = bytes("7fffcfc6e57a");
    let number = read_decimal(&decimal, 12, 4).unwrap();
    assert_eq!((number.unscaled().as_i128(), number.scale()), (-123_456_789, 4));
    let mut again = Vec::new();
    assert!(put_decimal(number, 12, 4, &mut again));
    assert_eq!(again, decimal);
    assert!(!put_decimal(Decimal::from_i128(1_000_000_000, 0), 12, 4, &mut again));
    let time = TimeValue { is_negative: true, hours: 1, minutes: 2, seconds: 3, micros: 456_000 };
    let column = Column { kind: ColumnKind::Time(3), is_nullable: false };
    let shape = Shape::new(&[column], &[1]).unwrap();
    let image = bytes("fe 7fef7cee30");
    let mut found = Vec::new();
    Images::new(&image).next(&shape, &mut found).unwrap();
    assert_eq!(found, [Value::Time(time)]);
    let mut again = Vec::new();
    assert!(shape.put(&found, &mut again));
    assert_eq!(again, image);
}
