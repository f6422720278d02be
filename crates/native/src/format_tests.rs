//! Checks `docs/format.md` against the code: every number of its tables is generated from the
//! constants in use. A change of format must change the document, and the format version with it.

use crate::ids::{FileId, Lsn, PAGE_SIZE, PageId};
use crate::log::{BLOCK, GROUP_HEADER_LEN, Record, RecordWriter, SEGMENT_HEADER_LEN};
use crate::page::*;
use crate::recovery::RecoveryVisitor;
use crate::space::{EXTENT, FILE_META_OFFSET, REGION_PAGES};
use crate::trx::{FORMAT, FORMAT_WITHOUT_RIDERS, FORMAT_WITHOUT_RUNS, Recovered};

const DOCUMENT: &str = include_str!("../../../docs/format.md");

fn expect(line: String) {
    assert!(DOCUMENT.contains(&line), "docs/format.md does not say: {line}");
}

fn field(offset: usize, size: usize, text: &str) {
    expect(format!("| {offset} | {size} | {text}"));
}

#[test]
fn page_header_is_as_documented() {
    field(OFF_CRC, OFF_VERSION - OFF_CRC, "crc32c of bytes 4 to the end");
    field(OFF_VERSION, OFF_TYPE - OFF_VERSION, &format!("format version, {FORMAT_VERSION}"));
    field(OFF_TYPE, OFF_LEVEL - OFF_TYPE, "page type");
    field(OFF_LEVEL, OFF_LSN - OFF_LEVEL, "level in the tree");
    field(OFF_LSN, OFF_FILE - OFF_LSN, "LSN of the last change");
    field(OFF_FILE, OFF_PAGE - OFF_FILE, "id of the file");
    field(OFF_PAGE, OFF_INDEX - OFF_PAGE, "number of the page");
    field(OFF_INDEX, OFF_MAX_VER - OFF_INDEX, "index id");
    field(OFF_MAX_VER, OFF_COUNT - OFF_MAX_VER, "newest version sequence");
    field(OFF_COUNT, OFF_TYPE_SPECIFIC - OFF_COUNT, "number of entries");
    field(OFF_TYPE_SPECIFIC, HEADER_LEN - OFF_TYPE_SPECIFIC, "defined by the page type");
    field(HEADER_LEN, PAGE_SIZE - HEADER_LEN, "body");
    expect(format!("pages of {PAGE_SIZE} bytes"));
    for (kind, name) in [
        (PageType::FileHeader, "file header"),
        (PageType::SpaceMap, "space map"),
        (PageType::BtreeInner, "inner node of a B+tree"),
        (PageType::BtreeLeaf, "leaf of a B+tree"),
        (PageType::Blob, "part of a long column value"),
    ] {
        expect(format!("| {} | {name} |", kind as u8));
    }
}

#[test]
fn a_page_has_these_bytes() {
    let mut page = vec![0; PAGE_SIZE];
    init(&mut page, PageId::new(FileId(0x0102), 0x0304), PageType::BtreeLeaf as u8);
    set_page_lsn(&mut page, Lsn(0x1122_3344_5566));
    seal(&mut page);
    let expected: [u8; 24] = [
        0xD8, 0x73, 0xF0, 0x7B, 1, 0, 4, 0, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 0, 2, 1, 0, 0,
        4, 3, 0, 0,
    ];
    assert_eq!(page[..24], expected);
}

#[test]
fn space_and_log_are_as_documented() {
    expect(format!("A region is {REGION_PAGES} pages"));
    expect(format!("An extent is {EXTENT} pages"));
    field(FILE_META_OFFSET, PAGE_SIZE - FILE_META_OFFSET, "for the owner of the file");
    assert_eq!((BLOCK, SEGMENT_HEADER_LEN), (4096, 4096));
    expect(format!("one block ({BLOCK} bytes)"));
    expect(format!("| {GROUP_HEADER_LEN} | len | payload: records |"));
}

#[test]
fn records_have_these_bytes() {
    let page = PageId::new(FileId(5), 9);
    let mut writer = RecordWriter::default();
    for record in [
        Record::Init { page, kind: 4 },
        Record::Write { page, offset: 100, bytes: b"ab" },
        Record::Op { page, op: 3, payload: b"x" },
        Record::Row(b"r"),
        Record::Trx(b"t"),
        Record::FileCreated(FileId(6)),
        Record::FileDropped(FileId(7)),
        Record::Rider(b"b"),
    ] {
        writer.push(record);
    }
    let mut expected = vec![1, 5, 0, 0, 0, 9, 0, 0, 0, 4];
    expected.extend_from_slice(&[0x82, 100, 0, 2, 0, b'a', b'b']);
    expected.extend_from_slice(&[0x83, 3, 1, 0, b'x']);
    expected.extend_from_slice(&[4, 1, 0, 0, 0, b'r', 5, 1, 0, 0, 0, b't']);
    expected.extend_from_slice(&[6, 6, 0, 0, 0, 7, 7, 0, 0, 0, 8, 1, 0, 0, 0, b'b']);
    assert_eq!(writer.bytes(), expected);
    expect("| 8 | rider | length u32, bytes |".to_owned());
}

#[test]
fn snapshots_of_earlier_formats_are_read() {
    // Next sequence 9, six empty lists, and the state of the riders' owner.
    let mut bytes = [&[FORMAT, 9][..], &[0; 7 + 6 * 4], &[3, 0, 0, 0], b"abc"].concat();
    expect(format!("The undo snapshot beside a checkpoint: format {FORMAT} (1 byte)"));
    let load = |bytes: &[u8]| {
        let mut recovered = Recovered::default();
        recovered.snapshot(bytes).map(|()| (recovered.next_seq, recovered.riders.found().to_vec()))
    };
    assert_eq!(load(&bytes).expect("read"), (9, b"abc".to_vec()));
    assert!(load(&bytes[..bytes.len() - 1]).is_err(), "the state is cut short");
    bytes.truncate(bytes.len() - 7);
    assert!(load(&bytes).is_err(), "the state is missing");
    for earlier in [FORMAT_WITHOUT_RIDERS, FORMAT_WITHOUT_RUNS] {
        bytes[0] = earlier;
        assert_eq!(load(&bytes).expect("read"), (9, Vec::new()), "format {earlier}");
    }
    bytes[0] = FORMAT_WITHOUT_RUNS - 1;
    assert!(load(&bytes).is_err());
}
