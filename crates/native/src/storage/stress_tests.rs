//! Many threads on few frames, with the evictor, the flusher and the log thread running: tests of
//! latches, eviction and group commit against each other. Every page has an internal rule that a
//! torn or lost change would break.

use super::testing::{PutOp, Seen, StepCounter, process, quiet_process_ends, small_options};
use super::{Storage, StorageOptions};
use crate::disk::Disk;
use crate::disk::sim::{Rng, SimDisk};
use crate::ids::{FileId, PageId};
use crate::mtr::Mtr;
use crate::page::get_u64;
use crate::pool::Restart;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const PAGES: u32 = 60;
/// Positions of the two copies of a page's counter, equal while no thread writes.
const LEFT: usize = 200;
const RIGHT: usize = 16_000;

fn open(disk: Arc<dyn Disk>, background: bool) -> Arc<Storage> {
    let options = StorageOptions { background, ..small_options() };
    let mut seen = Seen::default();
    let storage = Storage::open_on(disk, options, Box::new(PutOp), &mut seen).expect("opened");
    storage.set_participant(Arc::new(StepCounter(AtomicU64::new(0))));
    storage.start_background();
    storage
}

fn create_pages(storage: &Arc<Storage>) -> FileId {
    let file = storage.space().create_file(storage).expect("file");
    let mut reserved = storage.space().reserve(storage, file, PAGES).expect("space");
    for _ in 0..PAGES {
        let mut mtr = Mtr::begin(storage).expect("begun");
        let page = storage.space().alloc(&mut mtr, &mut reserved, None).expect("page");
        assert!(page.0 < PAGES + 2, "first fit");
        mtr.create(PageId { file, page }, 4).expect("created");
        mtr.commit();
    }
    file
}

fn random_page(file: FileId, rng: &mut Rng) -> PageId {
    PageId::new(file, 2 + rng.below(u64::from(PAGES)) as u32)
}

/// Adds one to a page's counter.
fn increment(storage: &Storage, id: PageId) -> crate::ids::Lsn {
    let mut mtr = Mtr::begin(storage).expect("begun");
    let slot = mtr.exclusive(id).expect("latched");
    let value = get_u64(mtr.page(slot), LEFT);
    assert_eq!(value, get_u64(mtr.page(slot), RIGHT));
    mtr.write(slot, LEFT, &(value + 1).to_le_bytes());
    mtr.write(slot, RIGHT, &(value + 1).to_le_bytes());
    mtr.commit()
}

fn read_optimistically(storage: &Storage, id: PageId) -> Result<(), Restart> {
    let Some(guard) = storage.pool().optimistic(id).expect("file") else { return Ok(()) };
    let (mut left, mut right) = ([0; 8], [0; 8]);
    guard.copy(LEFT, &mut left)?;
    guard.copy(RIGHT, &mut right)?;
    guard.validate()?;
    assert_eq!(left, right, "a validated read of {id} was torn");
    Ok(())
}

fn read_latched(storage: &Storage, id: PageId) {
    let page = storage.pool().shared(id).expect("latched");
    assert_eq!(get_u64(&page[..], LEFT), get_u64(&page[..], RIGHT));
}

fn sum(storage: &Storage, file: FileId) -> u64 {
    (2..PAGES + 2)
        .map(|n| get_u64(&storage.pool().shared(PageId::new(file, n)).expect("page")[..], LEFT))
        .sum()
}

#[test]
fn sixteen_frames_serve_many_threads() {
    const WRITERS: u64 = 3;
    const EACH: u64 = 700;
    let disk = SimDisk::new(8);
    let storage = open(Arc::new(disk.clone()), true);
    let file = create_pages(&storage);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for t in 0..2 {
            let (storage, done) = (&storage, &done);
            scope.spawn(move || {
                let mut rng = Rng::new(100 + t);
                while !done.load(Ordering::Relaxed) {
                    let _ = read_optimistically(storage, random_page(file, &mut rng));
                    read_latched(storage, random_page(file, &mut rng));
                }
            });
        }
        let writers: Vec<_> = (0..WRITERS)
            .map(|t| {
                let storage = &storage;
                scope.spawn(move || {
                    let mut rng = Rng::new(t);
                    for n in 0..EACH {
                        let lsn = increment(storage, random_page(file, &mut rng));
                        if n % 20 == 0 {
                            storage.log().flush_upto(lsn);
                        }
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|w| w.join().expect("writer"));
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(sum(&storage, file), WRITERS * EACH);
    storage.log().flush_all();
    assert!(storage.pool().pages_written() > 0 && storage.pool().reads.load(Ordering::Relaxed) > 0);
    storage.stop_background();
    drop(storage);
    disk.crash();
    assert_eq!(sum(&open(Arc::new(disk), false), file), WRITERS * EACH);
}

#[test]
fn a_pool_is_resized_under_load() {
    let disk = SimDisk::new(21);
    let storage = open(Arc::new(disk.clone()), true);
    let file = create_pages(&storage);
    let done = AtomicBool::new(false);
    let increments = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for t in 0..3 {
            let (storage, done, increments) = (&storage, &done, &increments);
            scope.spawn(move || {
                let mut rng = Rng::new(t);
                while !done.load(Ordering::Relaxed) {
                    increment(storage, random_page(file, &mut rng));
                    increments.fetch_add(1, Ordering::Relaxed);
                    read_latched(storage, random_page(file, &mut rng));
                }
            });
        }
        for frames in [64, 20, 128, 16, 40, 33, 16, 64] {
            assert_eq!(storage.pool().resize(frames), frames);
            assert_eq!(storage.pool().capacity(), frames);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(sum(&storage, file), increments.load(Ordering::Relaxed));
    storage.log().flush_all();
    storage.stop_background();
    drop(storage);
    disk.crash();
    let sum = sum(&open(Arc::new(disk), false), file);
    assert_eq!(sum, increments.load(Ordering::Relaxed));
}

#[test]
fn a_crash_under_load_keeps_every_acknowledged_increment() {
    quiet_process_ends();
    for seed in 0..6 {
        let disk = SimDisk::new(seed);
        let storage = open(Arc::new(disk.clone()), false);
        let file = create_pages(&storage);
        storage.log().flush_all();
        disk.crash_after(20 + 60 * seed);
        let (acked, issued) = (AtomicU64::new(0), AtomicU64::new(0));
        let _ = process(|| {
            let mut rng = Rng::new(seed);
            loop {
                issued.fetch_add(1, Ordering::SeqCst);
                let lsn = increment(&storage, random_page(file, &mut rng));
                if rng.chance(10) {
                    let so_far = issued.load(Ordering::SeqCst);
                    storage.log().flush_upto(lsn);
                    acked.store(so_far, Ordering::SeqCst);
                }
            }
        });
        drop(storage);
        disk.crash();
        let total = sum(&open(Arc::new(disk), false), file);
        let (acked, issued) = (acked.into_inner(), issued.into_inner());
        assert!((acked..=issued).contains(&total), "{total} of {acked}..={issued}");
    }
}

#[test]
fn the_log_stays_within_its_budget() {
    let disk = SimDisk::new(12);
    let storage = open(Arc::new(disk.clone()), true);
    let file = create_pages(&storage);
    let mut rng = Rng::new(5);
    let budget = storage.options.log_budget_bytes;
    for _ in 0..3_000 {
        let mut mtr = Mtr::begin(&storage).expect("begun");
        let slot = mtr.exclusive(random_page(file, &mut rng)).expect("latched");
        mtr.write(slot, 300, &[1; 600]);
        mtr.commit();
        assert!(storage.log_age() <= budget + (64 << 10), "the log outgrew its budget");
    }
    assert!(storage.checkpoints() > 2);
    assert!(storage.log().segments().bytes_on_disk() <= 2 * budget);
    storage.shutdown().expect("shut down");
}

fn real_disk(dir: &std::path::Path) -> Arc<dyn Disk> {
    Arc::new(crate::disk::RealDisk::new(dir).expect("directory"))
}

#[test]
fn a_real_directory_survives_reopening() {
    let dir = std::env::temp_dir().join(format!("selkie-storage-{}", std::process::id()));
    let options = StorageOptions { background: true, ..small_options() };
    let mut totals = Vec::new();
    let mut file = None;
    for life in 0..3u64 {
        let storage = Storage::open_on(
            real_disk(&dir),
            options.clone(),
            Box::new(PutOp),
            &mut Seen::default(),
        )
        .expect("opened");
        storage.set_participant(Arc::new(StepCounter(AtomicU64::new(0))));
        storage.start_background();
        let file = *file.get_or_insert_with(|| create_pages(&storage));
        totals.push(sum(&storage, file));
        let mut rng = Rng::new(life);
        let lsn = (0..300).map(|_| increment(&storage, random_page(file, &mut rng))).last();
        storage.log().flush_upto(lsn.expect("increments"));
        if life == 0 {
            storage.shutdown().expect("shut down");
        } else {
            storage.stop_background();
        }
    }
    std::fs::remove_dir_all(dir).expect("removed");
    assert_eq!(totals, [0, 300, 600]);
}

/// A measurement, not a check: `cargo test --release -p selkie-native hit_path -- --nocapture`.
#[test]
fn hit_path_is_short() {
    let disk = SimDisk::new(9);
    let options = StorageOptions {
        pool_bytes: 64 << 20,
        log_buffer_bytes: 16 << 20,
        segment_bytes: 4 << 20,
        log_budget_bytes: 1 << 30,
        ..small_options()
    };
    let storage = Storage::open_on(Arc::new(disk), options, Box::new(PutOp), &mut Seen::default())
        .expect("opened");
    let file = create_pages(&storage);
    let ids: Vec<PageId> = (2..PAGES + 2).map(|n| PageId::new(file, n)).collect();
    let rounds: u32 = if cfg!(debug_assertions) { 5_000 } else { 100_000 };
    let measure = |name: &str, body: &dyn Fn(PageId) -> u64| {
        let start = std::time::Instant::now();
        let sum = (0..rounds).map(|n| body(ids[n as usize % ids.len()])).fold(0, u64::wrapping_add);
        std::hint::black_box(sum);
        println!("{name}: {} ns", start.elapsed().as_nanos() / u128::from(rounds));
    };
    let pool = storage.pool();
    measure("shared latch", &|id| u64::from(pool.shared(id).expect("hit")[LEFT]));
    measure("exclusive latch", &|id| u64::from(pool.exclusive(id).expect("hit")[LEFT]));
    measure("optimistic read", &|id| {
        let guard = pool.optimistic(id).expect("file").expect("hit");
        let value = u64::from(guard.u32_at(LEFT).expect("in bounds"));
        guard.validate().map(|()| value).expect("quiet")
    });
    measure("mini-transaction", &|id| increment(&storage, id).0);
}

fn start_with_16_mebibytes(disk: &SimDisk) -> Arc<Storage> {
    let options = StorageOptions { pool_bytes: 16 << 20, background: true, ..small_options() };
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let storage = Storage::open_on(disk, options, Box::new(PutOp), &mut Seen::default());
    let storage = storage.expect("opened");
    storage.set_participant(Arc::new(StepCounter(AtomicU64::new(0))));
    storage.start_background();
    storage
}

/// Creates a file whose pages from 2 on contain their numbers, and shuts down cleanly.
fn create_leaves(disk: &SimDisk, leaves: u32) -> FileId {
    let storage = start_with_16_mebibytes(disk);
    let file = storage.space().create_file(&storage).expect("file");
    for n in 2..leaves {
        let mut mtr = Mtr::begin(&storage).expect("begun");
        let slot = mtr.create(PageId::new(file, n), 4).expect("created");
        mtr.write(slot, LEFT, &u64::from(n).to_le_bytes());
        mtr.commit();
    }
    storage.shutdown().expect("shut down");
    file
}

#[test]
fn a_scan_does_not_push_out_what_is_used() {
    const LEAVES: u32 = 5_000;
    const HOT: u32 = 500;
    let disk = SimDisk::new(16);
    let file = create_leaves(&disk, LEAVES);
    let storage = start_with_16_mebibytes(&disk);
    // Backwards, so that it does not look like a scan.
    let touch = |n: u32| drop(storage.pool().shared(PageId::new(file, n)).expect("page"));
    let read = || storage.pool().reads.load(Ordering::Relaxed);
    (2..HOT).rev().for_each(touch);
    for n in HOT..LEAVES {
        touch(n);
        if n % 50 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    let before = read();
    (2..HOT).rev().for_each(touch);
    let lost = read() - before;
    assert!(lost < u64::from(HOT) / 5, "{lost} of {HOT} pages had to be read again");
    storage.stop_background();
}

#[test]
fn recovery_reads_ahead_of_redo() {
    const LEAVES: u32 = 3_000;
    let disk = SimDisk::new(17);
    let file = create_leaves(&disk, LEAVES);
    let storage = start_with_16_mebibytes(&disk);
    for n in (2..LEAVES).rev() {
        let mut mtr = Mtr::begin(&storage).expect("begun");
        let slot = mtr.exclusive(PageId::new(file, n)).expect("latched");
        mtr.write(slot, RIGHT, &u64::from(n).to_le_bytes());
        mtr.commit();
    }
    storage.log().flush_all();
    storage.stop_background();
    drop(storage);
    disk.crash();
    let storage = start_with_16_mebibytes(&disk);
    assert!(storage.redone_groups > 0);
    for n in 2..LEAVES {
        let page = storage.pool().shared(PageId::new(file, n)).expect("page");
        assert_eq!(get_u64(&page[..], LEFT), u64::from(n));
        assert_eq!(get_u64(&page[..], RIGHT), u64::from(n));
    }
    storage.stop_background();
}

#[test]
fn a_cold_scan_is_read_ahead() {
    const LEAVES: u32 = 600;
    let disk = SimDisk::new(15);
    let file = create_leaves(&disk, LEAVES);
    let storage = start_with_16_mebibytes(&disk);
    for n in 2..LEAVES {
        let page = storage.pool().shared(PageId::new(file, n)).expect("page");
        assert_eq!(get_u64(&page[..], LEFT), u64::from(n));
        // The simulated disk answers at once; a real one would give the readers time.
        std::thread::sleep(std::time::Duration::from_micros(100));
    }
    assert!(storage.pool().read_ahead_pages() > u64::from(LEAVES) / 20, "no read-ahead happened");
    storage.stop_background();
}
