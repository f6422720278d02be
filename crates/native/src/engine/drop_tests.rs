//! Deletion of files beside those that change trees without a lock on the table: the rollback of
//! losers, and the cleanup.

use super::contract::NativeEngine;
use super::options::NativeOptions;
use crate::disk::sim::SimDisk;
use crate::ids::PAGE_SIZE;
use crate::storage::testing::{process, quiet_process_ends};
use crate::trx::undo_losers_step;
use selkie_engine::testing::{NoContext, item_row, items, rows_of};
use selkie_engine::{Engine, EngineResult, Isolation};
use std::sync::Arc;
use std::time::Duration;

fn open(disk: &SimDisk) -> NativeEngine {
    let options = NativeOptions {
        buffer_pool_bytes: 256 * PAGE_SIZE,
        log_capacity_bytes: 16 << 20,
        log_buffer_bytes: 512 << 10,
        log_segment_bytes: 1 << 20,
        background: false,
        ..NativeOptions::default()
    };
    NativeEngine::open_unfinished(Arc::new(disk.clone()), &options).unwrap()
}

fn create(engine: &NativeEngine) {
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    engine.create_table(&*trx, &items(1)).unwrap();
    let lsn = trx.commit(None).unwrap();
    lsn.map_or(Ok(()), |lsn| engine.wait_durable(lsn)).unwrap();
}

#[test]
fn a_file_stays_while_its_tree_is_changed() {
    let engine = open(&SimDisk::new(1));
    create(&engine);
    let shared = engine.shared();
    let file = shared.all_tables()[0].clustered.file;
    let kept = shared.keep_tree(file).expect("the table is there");
    std::thread::scope(|scope| {
        let deletion = scope.spawn(|| engine.retain_tables(&[]));
        while shared.tree(file).is_some() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(50));
        assert!(!deletion.is_finished());
        assert!(shared.storage.space().usage(file).is_ok());
        drop(kept);
        deletion.join().unwrap().unwrap();
    });
    assert!(shared.keep_tree(file).is_none());
    assert!(shared.storage.space().usage(file).is_err());
}

/// A directory whose losers have inserted many rows: their rollback empties and merges pages.
fn with_losers(seed: u64) -> SimDisk {
    let disk = SimDisk::new(seed);
    let engine = open(&disk);
    create(&engine);
    let def = items(1);
    let table = engine.open_table(&def).unwrap();
    for session in 0i64..4 {
        let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
        let name = "x".repeat(400);
        let row = |n: i64| item_row(&def, 1000 * session + n, Some(1000 * session + n), 1, &name);
        let rows: Vec<_> = (0..500).map(row).collect();
        table.insert(&*trx, &NoContext::default(), &rows_of(&rows)).unwrap();
        // The process ends before it is dropped.
        let _ = std::mem::ManuallyDrop::new(trx);
    }
    engine.checkpoint(true).unwrap();
    disk.power_off();
    let _ = process(|| drop((table, engine)));
    disk.kill_process();
    disk
}

#[test]
fn a_table_may_be_dropped_while_its_losers_are_rolled_back() {
    quiet_process_ends();
    for seed in 0..12 {
        let disk = with_losers(seed);
        let engine = open(&disk);
        let shared = engine.shared();
        assert!(shared.losers.len() >= 4, "the table is not full of losers");
        let undo = || -> EngineResult<()> {
            while undo_losers_step(shared)? {}
            Ok(())
        };
        std::thread::scope(|scope| {
            let rollback = scope.spawn(|| process(undo));
            // The first records have been rolled back, and more will be for some milliseconds.
            std::thread::sleep(Duration::from_micros(300 * seed));
            engine.retain_tables(&[]).unwrap();
            rollback.join().unwrap().expect("the process lives").unwrap();
        });
        assert_eq!(shared.losers.len(), 0);
    }
}
