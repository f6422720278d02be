//! Crash tests of the whole storage layer on the simulated disk. After every crash, at every step,
//! the recovered pages must be exactly those after some mini-transaction, not older than the last
//! acknowledged one.

use super::testing::{Model, Workload, check, open, process, quiet_process_ends};
use crate::disk::sim::{Rng, SimDisk};
use crate::error::StorageError;
use crate::ids::PAGE_SIZE;
use std::time::{Duration, Instant};

/// Opens, possibly with a few crashes on the way, and checks the result.
fn recover(
    disk: &SimDisk,
    model: &mut Model,
    rng: &mut Rng,
    crashes: u64,
) -> std::sync::Arc<super::Storage> {
    for _ in 0..crashes {
        disk.crash_after(1 + rng.below(30));
        if let Some(Ok(_)) = process(|| open(disk)) {
            break;
        }
        disk.crash();
    }
    disk.kill_process();
    let (storage, seen) = open(disk).unwrap_or_else(|e| panic!("recovery failed: {e}"));
    check(&storage, &seen, model);
    storage
}

/// One history: a database with several lives, each ended by a crash at a random step.
fn history(seed: u64, lives: u64) {
    let (disk, mut rng) = (SimDisk::new(seed), Rng::new(seed ^ 0xABCD));
    let mut model = Model::default();
    for life in 0..lives {
        let crashes = rng.below(3);
        let storage = recover(&disk, &mut model, &mut rng, crashes);
        let mut load = Workload::new(storage, &mut model, rng.next());
        disk.crash_after(1 + rng.below(if life == 0 { 60 } else { 300 }));
        let _ = process(|| -> crate::error::Result<()> {
            if load.model.history.is_empty() {
                load.prepare()?;
            }
            (0..400).try_for_each(|_| load.step())
        });
        drop(load);
        if rng.chance(20) { disk.kill_process() } else { disk.crash() }
    }
    recover(&disk, &mut model, &mut rng, 0);
}

/// Runs `body` with increasing seeds until the time is used up.
fn for_a_while(time: Duration, mut body: impl FnMut(u64)) {
    quiet_process_ends();
    let start = Instant::now();
    let first = std::env::var("SELKIE_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let time = std::env::var("SELKIE_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .map_or(time, Duration::from_secs);
    let mut seed: u64 = first;
    while seed < first + 5 || start.elapsed() < time {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(seed)));
        if let Err(payload) = outcome {
            eprintln!("failing seed: {seed}");
            std::panic::resume_unwind(payload);
        }
        seed += 1;
    }
}

#[test]
fn random_crashes_lose_nothing_acknowledged() {
    for_a_while(Duration::from_millis(800), |seed| history(seed, 5));
}

#[test]
fn a_crash_at_every_step_of_one_history() {
    quiet_process_ends();
    for at in (1..).step_by(7) {
        let (disk, mut rng, mut model) = (SimDisk::new(at), Rng::new(at), Model::default());
        disk.crash_after(at);
        let done = process(|| -> crate::error::Result<()> {
            let (storage, _) = open(&disk)?;
            let mut load = Workload::new(storage, &mut model, 77);
            load.prepare()?;
            (0..60).try_for_each(|_| load.step())
        });
        disk.crash();
        recover(&disk, &mut model, &mut rng, 1);
        if matches!(done, Some(Ok(()))) {
            return;
        }
    }
}

#[test]
fn space_that_a_start_finds_is_durable_before_it_is_promised() {
    let pages = 64;
    for seed in 1..30 {
        let (disk, mut model) = (SimDisk::new(seed), Model::default());
        let (storage, _) = open(&disk).expect("new database");
        let mut load = Workload::new(storage.clone(), &mut model, seed);
        load.prepare().expect("prepared");
        let file = load.model.home().file;
        storage.sharp_checkpoint().expect("checkpoint");
        // The process is killed between the growth of a file and its sync.
        let handle = storage.pool().handle(file).expect("handle");
        handle.allocate(pages * PAGE_SIZE as u64).expect("space");
        drop((load, storage));
        disk.kill_process();
        let (storage, _) = open(&disk).expect("recovered");
        let promised = storage.space().reserve(&storage, file, 50).expect("reserved");
        assert_eq!(storage.space().usage(file).expect("usage").pages, pages as u32);
        drop(promised);
        drop(storage);
        disk.crash();
        let left = disk.length(&crate::space::data_file_name(file));
        assert!(left >= Some(pages * PAGE_SIZE as u64), "seed {seed}: {left:?} bytes are left");
    }
}

#[test]
fn an_io_error_ends_the_process_and_recovery_finds_everything() {
    for_a_while(Duration::from_millis(300), |seed| {
        let (disk, mut rng, mut model) = (SimDisk::new(seed), Rng::new(seed), Model::default());
        let (storage, _) = open(&disk).expect("new database");
        let mut load = Workload::new(storage, &mut model, seed);
        load.prepare().expect("prepared");
        disk.fail_after(1 + rng.below(150));
        // An error that cannot lose data is reported; any other ends the process.
        let _ = process(|| (0..200).try_for_each(|_| load.step()));
        drop(load);
        disk.crash();
        recover(&disk, &mut model, &mut rng, 0);
    });
}

#[test]
fn a_full_disk_is_an_error_and_not_an_end() {
    for_a_while(Duration::from_millis(300), |seed| {
        let (disk, mut rng, mut model) = (SimDisk::new(seed), Rng::new(seed), Model::default());
        let (storage, _) = open(&disk).expect("new database");
        let mut load = Workload::new(storage, &mut model, seed);
        load.prepare().expect("prepared");
        disk.set_capacity(Some(disk.used() + rng.below(2 << 20)));
        let mut refused = 0;
        for _ in 0..400 {
            match process(|| load.step()).expect("a full disk must not end the process") {
                Ok(()) => {}
                Err(StorageError::DiskFull) => refused += 1,
                Err(e) => panic!("unexpected: {e}"),
            }
        }
        disk.set_capacity(None);
        (0..20).for_each(|_| load.step().expect("there is room again"));
        drop(load);
        disk.crash();
        recover(&disk, &mut model, &mut rng, 0);
        let _ = refused;
    });
}

#[test]
fn clean_shutdown_leaves_nothing_to_redo() {
    let (disk, mut model) = (SimDisk::new(3), Model::default());
    let (storage, _) = open(&disk).expect("new database");
    let mut load = Workload::new(storage.clone(), &mut model, 3);
    load.prepare().expect("prepared");
    (0..300).for_each(|_| load.step().expect("step"));
    drop(load);
    storage.shutdown().expect("shut down");
    drop(storage);
    disk.crash();
    let (storage, seen) = open(&disk).expect("reopened");
    assert_eq!(storage.redone_groups, 0);
    check(&storage, &seen, &mut model);
}

#[test]
fn flipped_bits_in_data_are_noticed() {
    let (disk, mut model) = (SimDisk::new(4), Model::default());
    let (storage, _) = open(&disk).expect("new database");
    let mut load = Workload::new(storage.clone(), &mut model, 4);
    load.prepare().expect("prepared");
    (0..300).for_each(|_| load.step().expect("step"));
    drop(load);
    storage.shutdown().expect("shut down");
    let pages: Vec<_> = model.history.last().expect("steps").pages.keys().copied().collect();
    for (n, id) in pages.into_iter().filter(|id| id.page.0 > 1).enumerate() {
        let fork = disk.fork(9);
        fork.flip(
            &crate::space::data_file_name(id.file),
            id.byte_offset() + 40 + 97 * n as u64 % 16000,
            3,
        );
        // A copy in the doublewrite file may repair the page; then it must be the right copy.
        let Ok((storage, seen)) = open(&fork) else { continue };
        match storage.pool().shared(id) {
            Err(StorageError::Corrupt { page: Some(page), .. }) => assert_eq!(page, id),
            Err(e) => panic!("unexpected: {e}"),
            Ok(page) => {
                drop(page);
                let mut copy = Model { history: model.history.clone(), acked: model.acked };
                check(&storage, &seen, &mut copy);
            }
        }
    }
}

/// A database with acknowledged steps in a log of many blocks, and no checkpoint after them.
fn logged_database() -> (SimDisk, Model, u64) {
    let (disk, mut model) = (SimDisk::new(21), Model::default());
    let (storage, _) = open(&disk).expect("new database");
    let mut load = Workload::new(storage.clone(), &mut model, 21);
    load.prepare().expect("prepared");
    storage.sharp_checkpoint().expect("checkpoint");
    (0..12).for_each(|_| load.write_and_ack().expect("step"));
    drop(load);
    (disk, model, storage.checkpoint_lsn().0)
}

#[test]
fn damage_in_the_acknowledged_log_is_refused() {
    let (disk, model, start) = logged_database();
    let mut refused = 0;
    for n in 0..10 {
        let fork = disk.fork(n);
        // Position `p` of the first segment is byte `p + 4096` of its file.
        let at = start.next_multiple_of(4096) + n * 4096 + 10 + n * 3;
        assert!(at < 60 << 10, "outside the first segment");
        fork.flip("log.0000000000", at + 4096, (n % 8) as u8);
        match open(&fork) {
            Err(StorageError::Corrupt { .. }) => refused += 1,
            Err(e) => panic!("unexpected: {e}"),
            Ok((storage, seen)) => {
                // The bit was in padding zeros.
                let mut copy = Model { history: model.history.clone(), acked: model.acked };
                check(&storage, &seen, &mut copy);
            }
        }
    }
    assert!(refused > 5);
}

#[test]
fn damage_in_control_and_snapshot_is_refused_or_harmless() {
    let (disk, model, _) = logged_database();
    let targets = (0..8192u64).step_by(if cfg!(debug_assertions) { 8 } else { 1 });
    let targets = targets.filter(|at| at % 4096 < 96).map(|at| ("control", at));
    for (n, (file, at)) in targets.chain([("snapshot.1", 3)]).enumerate() {
        let fork = disk.fork(n as u64);
        fork.flip(file, at, (n % 8) as u8);
        if let Ok((storage, seen)) = open(&fork) {
            let mut copy = Model { history: model.history.clone(), acked: model.acked };
            check(&storage, &seen, &mut copy);
        }
    }
}
