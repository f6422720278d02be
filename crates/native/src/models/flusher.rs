//! Model of eviction, the flusher and checkpoints: changes that redo from the checkpoint would not
//! repeat are in the files after any crash (I4, I7, I9).

use super::pages::{Change, FILE, Pages, id};
use super::{Body, Explore, run};
use crate::checkpoint::{CheckpointParticipant, CheckpointRecord, Checkpointer, Control};
use crate::disk::{Access, Disk};
use crate::error::Result;
use crate::ids::{Lsn, PAGE_SIZE};
use crate::log::BLOCK;
use crate::page;
use crate::recovery::repair_torn_pages;
use crate::sync::set_steps;
use hashbrown::HashMap;
use std::sync::Arc;

struct NoUndo;

impl CheckpointParticipant for NoUndo {
    fn snapshot(&self, _: Lsn) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn snapshot_len(&self) -> usize {
        0
    }
}

fn checkpointer(pages: &Pages) -> Checkpointer {
    set_steps(false);
    let control = Control::create(Arc::new(pages.disk.clone())).expect("control file");
    let record = CheckpointRecord {
        seq: 1,
        lsn: Lsn(BLOCK),
        durable: Lsn(BLOCK),
        epoch_at_lsn: 1,
        epoch: 1,
        next_file: 2,
        snapshot_file: 0,
        snapshot_len: 0,
        snapshot_crc: 0,
        segment_size: 64 << 10,
    };
    let checkpointer = Checkpointer::new(control, record, Lsn(BLOCK));
    checkpointer.set_participant(Arc::new(NoUndo));
    set_steps(true);
    checkpointer
}

/// Checks that every change before `lsn` is in the files as recovery would find them.
fn check_files(pages: &Pages, lsn: Lsn) {
    let disk = pages.disk.survivor();
    let file = disk.open("data.1", Access::Direct).expect("file");
    let handles = HashMap::from_iter([(FILE, file.clone())]);
    repair_torn_pages(&disk, &handles, lsn, Lsn(u64::MAX)).expect("repaired");
    let changes = pages.changes.lock().clone();
    for Change { page, end, .. } in changes.into_iter().filter(|change| change.start < lsn) {
        let mut bytes = vec![0; PAGE_SIZE];
        file.read_at(&mut bytes, id(page).byte_offset()).expect("read");
        page::verify(&bytes, id(page)).expect("whole");
        assert!(page::page_lsn(&bytes) >= end, "page {page} lacks {end}, checkpoint at {lsn}");
    }
}

fn bodies(pages: &Arc<Pages>) -> Vec<Body<()>> {
    let (writer, evictor, flusher) = (pages.clone(), pages.clone(), pages.clone());
    let checkpointer = checkpointer(pages);
    vec![
        Box::new(move || [0, 1, 0, 1].into_iter().for_each(|page| writer.change(page))),
        Box::new(move || (0..3).for_each(|_| evictor.pool.evict_some())),
        Box::new(move || {
            for _ in 0..3 {
                flusher.pool.write_older_than(flusher.log.tail(), 2);
                if checkpointer.run(&flusher.log, &flusher.pool).expect("a checkpoint") {
                    check_files(&flusher, checkpointer.lsn());
                }
            }
        }),
    ]
}

#[test]
fn a_checkpoint_needs_no_change_before_it() {
    Explore::schedules(150).run(|| {
        let pages = Pages::new(3, 3);
        run(bodies(&pages));
        pages.check_end();
    });
}

/// A page that is being written counts neither as clean nor as written for a checkpoint.
#[test]
fn a_checkpoint_waits_for_a_page_under_way() {
    Explore::schedules(400).run(|| {
        let pages = Pages::new(2, 1);
        pages.change(0);
        pages.log.flush_all();
        let (writer, checker) = (pages.clone(), pages.clone());
        let checkpointer = checkpointer(&pages);
        run::<()>(vec![
            Box::new(move || {
                writer.pool.write_older_than(writer.log.tail(), 2);
            }),
            Box::new(move || {
                if checkpointer.run(&checker.log, &checker.pool).expect("a checkpoint") {
                    check_files(&checker, checkpointer.lsn());
                }
            }),
        ]);
        pages.check_end();
    });
}
