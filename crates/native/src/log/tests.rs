//! Tests of the whole log: parallel committers, wrapping and recycling, and damage to its tail.
//!
//! The disk is simulated, so a torn or flipped byte is made at an exact place.

use super::{Log, LogReader, Segments};
use crate::disk::Disk;
use crate::disk::sim::{Rng, SimDisk};
use crate::ids::Lsn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const SEGMENT: u64 = 64 << 10;

fn new_log(disk: &SimDisk, ring: usize) -> Log {
    let segments = Segments::open(Arc::new(disk.clone()), SEGMENT).expect("segments");
    Log::new(segments, Lsn(4096), 1, ring).expect("log")
}

/// Payloads of all groups from the start, and the end of the log.
fn read_back(disk: &SimDisk) -> (Vec<Vec<u8>>, Lsn) {
    let segments = Segments::open(Arc::new(disk.clone()), SEGMENT).expect("segments");
    let mut reader = LogReader::new(&segments, Lsn(4096), 1, 1).expect("reader");
    let mut groups = Vec::new();
    while let Some(group) = reader.next_group().expect("no I/O error") {
        assert!(group.start < group.end);
        groups.push(group.payload.to_vec());
    }
    (groups, reader.position())
}

#[test]
fn parallel_committers_lose_nothing_they_waited_for() {
    const THREADS: u64 = 6;
    let disk = SimDisk::new(1);
    let log = new_log(&disk, 64 << 10);
    let acked: Vec<AtomicU64> = (0..THREADS).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for t in 0..THREADS {
            let (log, acked) = (&log, &acked);
            scope.spawn(move || {
                let mut rng = Rng::new(t);
                for n in 1..=400u64 {
                    let mut payload = t.to_le_bytes().to_vec();
                    payload.extend_from_slice(&n.to_le_bytes());
                    payload.resize(16 + rng.below(900) as usize, t as u8);
                    let lsn = log.append(&payload);
                    if rng.chance(40) {
                        log.flush_upto(lsn);
                        assert!(log.durable() >= lsn);
                        acked[t as usize].store(n, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    disk.crash();
    let (groups, _) = read_back(&disk);
    let mut last = [0u64; THREADS as usize];
    for group in groups {
        let word = |at: usize| u64::from_le_bytes(group[at..at + 8].try_into().expect("8 bytes"));
        let (t, n) = (word(0) as usize, word(8));
        assert_eq!(n, last[t] + 1, "thread {t} out of order");
        assert!(group[16..].iter().all(|b| *b == t as u8));
        last[t] = n;
    }
    for (t, acked) in acked.iter().enumerate() {
        assert!(last[t] >= acked.load(Ordering::SeqCst), "thread {t} lost an acknowledged group");
    }
}

#[test]
fn modes_decide_what_a_commit_waits_for() {
    let disk = SimDisk::new(2);
    let log = new_log(&disk, 64 << 10);
    log.set_mode(super::FlushMode::EverySecond);
    let first = log.append(b"a");
    log.settle_commit(first);
    assert!(log.written() < first);
    log.set_mode(super::FlushMode::WriteAtCommit);
    log.settle_commit(first);
    assert!(log.written() >= first && log.durable() < first);
    log.set_mode(super::FlushMode::AtCommit);
    let second = log.append(b"b");
    log.settle_commit(second);
    assert!(log.durable() >= second);
    disk.crash();
    assert_eq!(read_back(&disk).0, [b"a".to_vec(), b"b".to_vec()]);
}

#[test]
fn riders_are_synced_in_every_mode_if_they_have_to_be() {
    let disk = SimDisk::new(2);
    let log = new_log(&disk, 64 << 10);
    log.set_mode(super::FlushMode::EverySecond);
    let with_rider = || {
        let reserved = log.reserve_in_order(|| Ok::<_, ()>(4)).expect("placed");
        log.fill(&reserved, b"abcd", crc32c::crc32c(b"abcd"));
        reserved.end
    };
    let first = with_rider();
    log.settle_commit(first);
    assert!(log.durable() < first && log.is_settled(first));
    log.sync_riders_each(1);
    assert!(!log.is_settled(first));
    let second = with_rider();
    log.settle_commit(second);
    assert!(log.durable() >= second);
    let without = log.append(b"efgh");
    assert!(log.durable() < without && log.is_settled(without));
}

#[test]
fn recycled_segments_do_not_resurrect_old_groups() {
    let disk = SimDisk::new(3);
    let log = new_log(&disk, 64 << 10);
    for n in 0..600u64 {
        let lsn = log.append(&[n as u8; 700]);
        log.flush_upto(lsn);
        if n % 50 == 49 {
            log.segments().recycle(log.durable(), 4).expect("recycled");
        }
    }
    let names = disk.list().expect("list");
    assert!(names.len() <= 5, "segments pile up: {names:?}");
    let end = log.tail();
    let segments = Segments::open(Arc::new(disk.clone()), SEGMENT).expect("segments");
    let mut reader = LogReader::new(&segments, end, 1, 1).expect("reader");
    assert!(reader.next_group().expect("no I/O error").is_none());
}

/// A disk with a short log, its groups, and its end.
fn short_log() -> (SimDisk, Vec<Vec<u8>>, Lsn) {
    let disk = SimDisk::new(4);
    let log = new_log(&disk, 64 << 10);
    for n in 0..12u8 {
        let lsn = log.append(&vec![n; 100 + 150 * n as usize]);
        if n % 3 == 0 {
            log.flush_upto(lsn);
        }
    }
    log.flush_all();
    let (groups, end) = read_back(&disk);
    assert_eq!(groups.len(), 12);
    (disk, groups, end)
}

#[test]
fn any_flipped_byte_ends_the_log_before_it() {
    let (disk, groups, end) = short_log();
    // LSN 4096 lies behind the segment header, at the file's byte 8192.
    for at in (4096..end.0).step_by(13) {
        let damaged = disk.fork(at);
        damaged.flip("log.0000000000", 4096 + at, (at % 8) as u8);
        let (found, stop) = read_back(&damaged);
        assert_eq!(found, groups[..found.len()], "flip at {at}");
        // A flip in the zeros of padding changes nothing; any other is noticed at its group.
        assert!(found.len() == groups.len() || stop.0 <= at, "flip at {at} read past at {stop}");
    }
}

#[test]
fn any_cut_ends_the_log_before_it() {
    let (disk, groups, end) = short_log();
    for at in (4096..end.0).step_by(211) {
        let damaged = disk.fork(at);
        damaged.truncate("log.0000000000", 4096 + at);
        let (found, stop) = read_back(&damaged);
        assert_eq!(found, groups[..found.len()]);
        assert!(stop.0 <= at, "read past the cut at {at}");
    }
}

#[test]
fn groups_larger_than_a_segment_come_back() {
    let disk = SimDisk::new(5);
    let log = new_log(&disk, 1 << 20);
    let large = vec![7u8; 200_000];
    log.append(b"before");
    log.append(&large);
    log.append(b"after");
    log.flush_all();
    assert_eq!(read_back(&disk).0, [b"before".to_vec(), large, b"after".to_vec()]);
}
