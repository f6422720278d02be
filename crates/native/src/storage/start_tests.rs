//! Starts with files that are missing, zeroed, truncated, or older than the others. No acknowledged
//! change may be lost silently: either all are there, or the start is refused with the name of the
//! faulty file.

use super::testing::{Model, Workload, check, open, process, quiet_process_ends};
use crate::disk::Disk;
use crate::disk::sim::SimDisk;
use crate::error::StorageError;

/// A database that was killed in its third life, and copies of it at earlier moments, oldest first.
fn database(seed: u64) -> (SimDisk, Model, Vec<SimDisk>) {
    let (disk, mut model, mut before) = (SimDisk::new(seed), Model::default(), Vec::new());
    for life in 0..3 {
        let (storage, seen) = open(&disk).expect("opened");
        check(&storage, &seen, &mut model);
        before.push(disk.fork(seed));
        let mut load = Workload::new(storage.clone(), &mut model, seed + life);
        if load.model.history.is_empty() {
            load.prepare().expect("prepared");
        }
        for part in 0..2 {
            (0..60).for_each(|_| load.step().expect("step"));
            load.write_and_ack().expect("step");
            if part == 0 && seed.is_multiple_of(2) {
                storage.sharp_checkpoint().expect("checkpoint");
            }
            before.push(disk.fork(seed));
        }
        drop(load);
        match life {
            0 => storage.shutdown().expect("shut down"),
            _ => drop(process(|| drop(storage))),
        }
        disk.kill_process();
    }
    (disk, model, before)
}

/// Opens after damage: either everything acknowledged is there, or the error names one of `names`.
fn told_or_harmless(disk: &SimDisk, model: &Model, damage: &str) -> bool {
    let opened = process(|| match open(disk) {
        Ok((storage, seen)) => {
            let mut copy = Model { history: model.history.clone(), acked: model.acked };
            check(&storage, &seen, &mut copy);
            None
        }
        Err(error) => Some(error),
    });
    match opened.flatten() {
        None => false,
        Some(StorageError::Corrupt { page: None, detail }) => {
            let named = ["control", "log", "snapshot.", "undo"].iter().any(|n| detail.contains(n));
            assert!(named, "{damage}: nothing is named by: {detail}");
            true
        }
        Some(error) => panic!("{damage}: {error}"),
    }
}

fn file_names(disk: &SimDisk) -> Vec<String> {
    let names = disk.list().expect("names").into_iter();
    names.filter(|name| !name.starts_with("data.")).collect()
}

#[test]
fn files_that_are_missing_zeroed_or_cut_short_are_refused_by_name() {
    quiet_process_ends();
    let mut refused = 0;
    for seed in 1..4 {
        let (disk, model, _) = database(seed);
        for name in file_names(&disk) {
            let len = disk.length(&name).expect("a file");
            for (kind, at) in [(0, 0), (1, 0), (1, 4096), (2, 0), (3, len / 2), (3, 100)] {
                let fork = disk.fork(seed);
                match kind {
                    0 => fork.take_over(&name, &SimDisk::new(1)),
                    1 => fork.zero(&name, at..at + 4096),
                    2 => fork.zero(&name, 0..len),
                    _ => fork.truncate(&name, at.min(len)),
                }
                // A crash may leave zeros in the log at the place of its last flush.
                if !(name.starts_with("log.") && (kind, at) == (1, 4096)) {
                    let damage = format!("seed {seed}, {name}: {kind} at {at}");
                    refused += usize::from(told_or_harmless(&fork, &model, &damage));
                }
            }
        }
    }
    assert!(refused > 10, "{refused} refused");
}

#[test]
fn files_that_are_older_than_the_rest_are_refused_by_name() {
    quiet_process_ends();
    let mut refused = 0;
    for seed in 1..4 {
        let (disk, model, before) = database(seed);
        for (n, old) in before[..before.len() - 1].iter().enumerate() {
            for name in file_names(&disk) {
                // An older log segment is noticed only if a checkpoint or a page tells of a later
                // position.
                if name.starts_with("log.") && n + 3 > before.len() {
                    continue;
                }
                let fork = disk.fork(seed);
                fork.take_over(&name, old);
                let damage = format!("seed {seed}, {name} of moment {n}");
                refused += usize::from(told_or_harmless(&fork, &model, &damage));
            }
        }
    }
    assert!(refused > 10, "{refused} refused");
}

/// Several files of one kind, or all files but the data, from an older moment.
#[test]
fn files_lost_together_are_refused_by_name() {
    quiet_process_ends();
    for seed in 1..4 {
        let (disk, model, before) = database(seed);
        for prefix in ["log.", "snapshot.", "control", ""] {
            let fork = disk.fork(seed);
            for name in file_names(&disk).into_iter().filter(|name| name.starts_with(prefix)) {
                fork.take_over(&name, &SimDisk::new(1));
            }
            let damage = format!("seed {seed}, all of {prefix}");
            let told = told_or_harmless(&fork, &model, &damage);
            assert!(told || prefix == "snapshot.", "{damage}: not noticed");
        }
        let fork = disk.fork(seed);
        fork.take_over("control", &before[0]);
        fork.take_over("snapshot.0", &before[0]);
        fork.take_over("snapshot.1", &before[0]);
        told_or_harmless(&fork, &model, "control and snapshots of the first life");
    }
}

/// The slot of the newest record is zeroed. The record before is used as long as nothing depends on
/// the newest.
#[test]
fn a_torn_newest_record_is_passed_over_only_while_nothing_depends_on_it() {
    quiet_process_ends();
    for seed in 1..5 {
        let (disk, model, _) = database(seed);
        for slot in [0, 4096] {
            let fork = disk.fork(seed);
            fork.zero("control", slot..slot + 4096);
            told_or_harmless(&fork, &model, &format!("seed {seed}, slot at {slot}"));
        }
        // A start interrupted while it writes its own record: the record before still works.
        for at in (1..40).step_by(3) {
            let fork = disk.fork(seed);
            fork.crash_after(at);
            let _ = process(|| open(&fork).map(drop));
            fork.crash();
            let mut copy = Model { history: model.history.clone(), acked: model.acked };
            let (storage, seen) = open(&fork).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            check(&storage, &seen, &mut copy);
        }
    }
}
