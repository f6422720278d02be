//! Tests with damaged bytes from disk: every decoder gets random bytes, and real ones with a byte
//! changed or the end cut off. The result must be an error or an end, never a panic, and a page
//! with a wrong checksum is never accepted. `SELKIE_ROUNDS` sets the number of rounds.

use crate::decoders;
use crate::disk::sim::{Rng, SimDisk};
use crate::disk::{Access, Disk};
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::log::{Record, RecordWriter};
use crate::page;
use crate::recovery::RecoveryVisitor;
use crate::storage::testing::{process, quiet_process_ends};
use crate::trx::{Kind, Recovered, RowRecord, TrxRecord};
use crate::{NativeEngine, NativeOptions};
use selkie_engine::testing::{NoContext, item_row, items, rows_of};
use selkie_engine::{Engine, Isolation};
use std::sync::Arc;

fn rounds() -> u64 {
    std::env::var("SELKIE_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2000)
}

/// Random bytes, or `real` with damage.
fn damaged(rng: &mut Rng, real: &[u8]) -> Vec<u8> {
    if rng.chance(20) {
        return (0..rng.below(200)).map(|_| rng.next() as u8).collect();
    }
    let mut bytes = real.to_vec();
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(bytes.len() as u64) as usize;
        bytes[at] = [0, 1, 0x7F, 0x80, 0xFF, rng.next() as u8][rng.below(6) as usize];
    }
    if rng.chance(30) {
        bytes.truncate(rng.below(bytes.len() as u64) as usize);
    }
    bytes
}

fn each_damaged(real: &[u8], mut decode: impl FnMut(&[u8])) {
    let mut rng = Rng::new(real.len() as u64);
    decode(real);
    (0..rounds()).for_each(|_| decode(&damaged(&mut rng, real)));
    for len in 0..real.len().min(3000) {
        decode(&real[..len]);
    }
}

fn row_record() -> Vec<u8> {
    let mut out = Vec::new();
    let record = RowRecord {
        ver: 77 << 16,
        kind: Kind::Update,
        file: FileId(3),
        auto: Some(9),
        key: b"a key",
        before: b"before before",
        undone: false,
        pruned: false,
    };
    record.encode(&mut out);
    out
}

#[test]
fn log_records() {
    let (a, b) = (PageId::new(FileId(1), 7), PageId::new(FileId(2), 7));
    let mut writer = RecordWriter::default();
    let row = row_record();
    for record in [
        Record::Init { page: a, kind: 4 },
        Record::Write { page: a, offset: 100, bytes: b"abc" },
        Record::Op { page: b, op: 9, payload: b"payload" },
        Record::Row(&row),
        Record::FileCreated(FileId(5)),
    ] {
        writer.push(record);
    }
    each_damaged(writer.bytes(), |bytes| {
        decoders::log(bytes);
    });
}

#[test]
fn row_and_transaction_records() {
    each_damaged(&row_record(), decoders::log);
    let files = vec![FileId(4), FileId(5)];
    let record =
        TrxRecord::Committed { seqs: vec![1, 2, 3], created: files.clone(), dropped: files };
    each_damaged(&record.encode(), decoders::log);
}

/// A checkpointed database with some rows, also long ones, and a transaction that has not ended.
fn database() -> SimDisk {
    let disk = SimDisk::new(9);
    let options = NativeOptions {
        buffer_pool_bytes: 64 * PAGE_SIZE,
        background: false,
        ..NativeOptions::default()
    };
    let engine = NativeEngine::open_on(Arc::new(disk.clone()), &options).unwrap();
    let def = items(1);
    let insert = |ids: std::ops::Range<i64>| {
        let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
        if ids.start == 0 {
            engine.create_table(&*trx, &def).unwrap();
        }
        let length = |id: i64| if id % 50 == 0 { 40_000 } else { 200 };
        let row = |id: i64| item_row(&def, id, Some(id), id % 7, &"x".repeat(length(id)));
        let rows: Vec<_> = ids.map(row).collect();
        let table = engine.open_table(&def).unwrap();
        table.insert(&*trx, &NoContext::default(), &rows_of(&rows)).unwrap();
        trx
    };
    insert(0..600).commit(None).unwrap();
    let open = insert(1000..1020);
    engine.checkpoint(true).unwrap();
    disk.power_off();
    let _ = process(|| drop(open));
    let _ = process(|| drop(engine));
    disk.kill_process();
    disk
}

fn content(disk: &SimDisk, name: &str) -> Vec<u8> {
    let mut bytes = vec![0; disk.length(name).unwrap() as usize];
    disk.open(name, Access::Buffered).unwrap().read_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn pages_and_nodes() {
    quiet_process_ends();
    let disk = database();
    let mut rng = Rng::new(5);
    let names = disk.list().unwrap();
    let pages: Vec<Vec<u8>> = names
        .iter()
        .filter(|name| name.starts_with("data."))
        .flat_map(|name| {
            content(&disk, name).chunks_exact(PAGE_SIZE).map(Vec::from).collect::<Vec<_>>()
        })
        .filter(|page| page::checksum_ok(page) && page::claimed_id(page).is_some())
        .collect();
    assert!(pages.len() > 10, "{} pages", pages.len());
    for _ in 0..rounds() {
        let page = &pages[rng.below(pages.len() as u64) as usize];
        let id = page::claimed_id(page).unwrap();
        assert!(page::verify(page, id).is_ok());
        let mut bad = page.clone();
        for _ in 0..1 + rng.below(4) {
            // Damage to headers and slots has the worst effects.
            let area = if rng.chance(60) { 200 } else { PAGE_SIZE as u64 };
            bad[rng.below(area) as usize] ^= 1 << rng.below(8);
        }
        if bad != *page {
            assert!(page::verify(&bad, id).is_err(), "{id} was accepted with a wrong checksum");
        }
        // Damage that happened before the checksum was made.
        decoders::node(&bad, &rng.next().to_be_bytes());
    }
}

#[test]
fn undo_snapshots() {
    quiet_process_ends();
    let disk = database();
    let names = disk.list().unwrap();
    let snapshots: Vec<Vec<u8>> = names
        .iter()
        .filter(|name| name.starts_with("snapshot."))
        .map(|name| content(&disk, name))
        .map(|mut bytes| {
            let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
            bytes.truncate((end + 64).min(20_000));
            bytes
        })
        .filter(|bytes| Recovered::default().snapshot(bytes).is_ok() && bytes.len() > 100)
        .collect();
    assert!(!snapshots.is_empty(), "no undo snapshot among {names:?}");
    for real in snapshots {
        each_damaged(&real, decoders::undo_snapshot);
    }
}

#[test]
fn rows() {
    let def = items(1);
    let real = item_row(&def, 7, None, 3, &"name".repeat(20));
    each_damaged(&real, |bytes| {
        for column in 0..def.columns.len() {
            let _ = def.layout.value(bytes, column);
        }
    });
}
