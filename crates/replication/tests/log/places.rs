//! Places of groups and of other riders, seen in the files they lead to.
//!
//! Must read files with the crate's own reader, which checks every place and checksum.

use selkie_replication::codec::{Checksum, GtidEvent, flags};
use selkie_replication::file::Events;
use selkie_replication::gtid::{BinlogState, OutOfOrder};
use selkie_replication::log::{Cache, CacheError, GroupHead, Place, Refused};
use selkie_replication::{Event, Gtid};

use crate::engine::{Failed, begun, commit, fill_cache, head, query};

/// Names of a file's events; all must be readable.
fn kinds(bytes: &[u8]) -> Vec<&'static str> {
    Events::new(bytes).map(|event| event.unwrap().event.kind().name()).collect()
}

fn gtid(seq: u64) -> Gtid {
    Gtid { domain: 0, server: 1, seq }
}

#[test]
fn a_group_comes_into_a_file_at_its_place() {
    for checksum in [Checksum::None, Checksum::Crc32] {
        let (files, mut engine, log) = begun(checksum);
        let first = log.end();
        let mut cache = log.cache();
        fill_cache(&mut cache, &[10, 20]);
        let mut group = log.group(head(0, None), &mut cache);
        let lsn = engine.ride(&files, &mut group).unwrap();
        assert_eq!(group.gtid(), gtid(1));
        let end = group.end();
        assert_eq!((log.end(), log.end_lsn()), (end, lsn));
        let sum = checksum.bytes() as u64;
        assert_eq!(end.offset - first.offset, 38 + sum + cache.len());
        assert!(log.pending_bytes() > 0);
        log.write_upto(lsn - 1).unwrap();
        assert_eq!(log.written(), first);
        engine.write_all(&log).unwrap();
        assert_eq!((log.written(), log.pending_bytes()), (end, 0));
        let bytes = &files.all()[&1];
        assert_eq!(bytes.len() as u64, end.offset);
        let all = ["Format_desc", "Gtid_list", "Binlog_checkpoint", "Gtid", "Write_rows_v1"];
        assert_eq!(kinds(bytes), [&all[..], &["Query", "Xid"]].concat());
        let events: Vec<_> = Events::new(bytes).map(Result::unwrap).collect();
        assert_eq!((events[0].offset, events[1].offset), (4, 256));
        assert!(events[0].frame.header.has(flags::IN_USE));
        assert!(events[3].frame.header.has(flags::SUPPRESS_USE));
        assert_eq!(log.binlog_gtid_pos(end).unwrap(), Some([gtid(1)].into_iter().collect()));
        for (offset, found) in [(4, true), (first.offset, true), (first.offset + 1, false)] {
            let state = log.binlog_gtid_pos(Place { file: 1, offset }).unwrap();
            assert_eq!(state, found.then(BinlogState::default));
        }
        assert_eq!(log.binlog_gtid_pos(end_plus(end, 1)).unwrap(), None);
    }
}

fn end_plus(end: Place, bytes: u64) -> Place {
    Place { offset: end.offset + bytes, ..end }
}

#[test]
fn a_scan_goes_on_with_what_is_written_later() {
    let (files, mut engine, log) = begun(Checksum::Crc32);
    commit((&files, &mut engine), &log, &[200_000, 10]).unwrap();
    let first = log.end();
    engine.write_all(&log).unwrap();
    let mut scan = log.scan(1).unwrap();
    let mut offsets = Vec::new();
    while let Some(placed) = scan.next_event().unwrap() {
        offsets.push(placed.offset);
    }
    assert_eq!((offsets.len(), scan.offset()), (7, first.offset));
    commit((&files, &mut engine), &log, &[10]).unwrap();
    engine.write_all(&log).unwrap();
    assert!(scan.next_event().unwrap().is_none());
    scan.extend(log.written_end(1).unwrap());
    assert_eq!(scan.next_event().unwrap().unwrap().offset, first.offset);
    for offset in [offsets[5], offsets[3], offsets[6]] {
        scan.skip_to(offset);
        assert_eq!(scan.next_event().unwrap().unwrap().offset, offset);
    }
    scan.skip_to(offsets[3] + 1);
    assert!(scan.next_event().is_err());
    assert!(log.scan(2).is_none());
}

#[test]
fn an_xa_branch_is_in_the_gtid_event() {
    let (files, mut engine, log) = begun(Checksum::Crc32);
    let mut cache = log.cache();
    fill_cache(&mut cache, &[5]);
    let xa = Some((7, b"global".to_vec(), b"branch".to_vec()));
    let flags = GtidEvent::PREPARED_XA | GtidEvent::TRANSACTIONAL;
    let mut group = log.group(GroupHead { xa, flags, ..head(3, None) }, &mut cache);
    engine.ride(&files, &mut group).unwrap();
    engine.write_all(&log).unwrap();
    let bytes = &files.all()[&1];
    let found = Events::new(bytes).map(Result::unwrap).find_map(|event| match event.event {
        Event::Gtid(gtid) => Some((gtid.xa_format, gtid.gtrid.to_vec(), gtid.bqual.to_vec())),
        _ => None,
    });
    assert_eq!(found, Some((7, b"global".to_vec(), b"branch".to_vec())));
    kinds(bytes);
}

#[test]
fn strict_mode_refuses_before_anything_is_taken() {
    let (files, mut engine, log) = begun(Checksum::Crc32);
    let mut cache = log.cache();
    fill_cache(&mut cache, &[1]);
    engine.ride(&files, &mut log.group(head(0, Some(5)), &mut cache)).unwrap();
    let before = log.end();
    let refused = engine.ride(&files, &mut log.group(head(0, Some(5)), &mut cache));
    let order = OutOfOrder { gtid: gtid(5), existing: gtid(5) };
    let Err(Failed::Refused(Refused::OutOfOrder(found))) = refused else { panic!("{refused:?}") };
    assert_eq!((found, log.end()), (order, before));
    let loose = GroupHead { strict: false, ..head(0, Some(2)) };
    engine.ride(&files, &mut log.group(loose, &mut cache)).unwrap();
    engine.ride(&files, &mut log.group(head(0, None), &mut cache)).unwrap();
    assert_eq!(log.gtid_state().last(0), Some(gtid(6)));
    let last = GroupHead { strict: false, ..head(0, Some(u64::MAX)) };
    engine.ride(&files, &mut log.group(last, &mut cache)).unwrap();
    let end = engine.ride(&files, &mut log.group(head(0, None), &mut cache));
    assert!(matches!(end, Err(Failed::Refused(Refused::SequenceEnd))));
}

#[test]
fn a_full_disk_refuses_the_group_and_keeps_the_log() {
    let (files, mut engine, log) = begun(Checksum::Crc32);
    engine.write_all(&log).unwrap();
    files.set_full(true);
    let before = log.end();
    let big = 2 << 20;
    assert!(matches!(commit((&files, &mut engine), &log, &[big]), Err(Failed::Io(_))));
    assert!(matches!(engine.ride(&files, &mut log.rotation(1)), Err(Failed::Io(_))));
    assert_eq!((log.end(), files.all().len()), (before, 1));
    files.set_full(false);
    commit((&files, &mut engine), &log, &[big]).unwrap();
    engine.write_all(&log).unwrap();
    kinds(&files.all()[&1]);
}

#[test]
fn files_rotate_stop_and_reset() {
    let (files, mut engine, log) = begun(Checksum::Crc32);
    assert!(!log.wants_rotation());
    commit((&files, &mut engine), &log, &[4000]).unwrap();
    assert!(log.wants_rotation());
    engine.ride(&files, &mut log.rotation(200)).unwrap();
    commit((&files, &mut engine), &log, &[10]).unwrap();
    engine.write_all(&log).unwrap();
    let all = files.all();
    assert_eq!(files.index(), [1, 2]);
    assert_eq!(*kinds(&all[&1]).last().unwrap(), "Rotate");
    let first = Events::new(&all[&1]).next().unwrap().unwrap();
    assert!(!first.frame.header.has(flags::IN_USE));
    assert!(Events::new(&all[&2]).next().unwrap().unwrap().frame.header.has(flags::IN_USE));
    let place = Place { file: 2, offset: 4 };
    assert_eq!(log.binlog_gtid_pos(place).unwrap(), Some([gtid(1)].into_iter().collect()));
    let lengths = |(file, bytes): (&u32, &Vec<u8>)| (*file, bytes.len() as u64);
    assert_eq!(log.files(), all.iter().map(lengths).collect::<Vec<_>>());

    assert_eq!(log.purge_to("binlog.000002"), Some(2));
    assert_eq!(log.purge_to("binlog.000003"), None);
    assert_eq!(log.purge_before(50, |file| Some(u64::from(file) * 10)), Some(2));
    assert_eq!(log.purge_before(10, |file| Some(u64::from(file) * 10)), Some(1));
    engine.ride(&files, &mut log.purged(9)).unwrap();
    engine.write_all(&log).unwrap();
    assert_eq!((files.index(), files.all().len()), (vec![2], 2));
    log.remove_purged().unwrap();
    assert_eq!(files.all().into_keys().collect::<Vec<_>>(), [2]);

    engine.ride(&files, &mut log.reset(1, 300)).unwrap();
    assert_eq!((log.end().file, log.gtid_state()), (1, BinlogState::default()));
    // Nothing of the reset is in files yet, but groups and files go on.
    commit((&files, &mut engine), &log, &[10]).unwrap();
    engine.ride(&files, &mut log.rotation(400)).unwrap();
    commit((&files, &mut engine), &log, &[10]).unwrap();
    assert_eq!(files.all().into_keys().collect::<Vec<_>>(), [2]);
    engine.write_all(&log).unwrap();
    engine.ride(&files, &mut log.stop(500)).unwrap();
    engine.write_all(&log).unwrap();
    assert_eq!(files.index(), [1, 2]);
    assert_eq!(*kinds(&files.all()[&2]).last().unwrap(), "Stop");
    assert!(matches!(commit((&files, &mut engine), &log, &[10]), Err(Failed::Io(_))));
}

#[test]
fn a_new_checksum_comes_with_the_next_file() {
    for (old, new) in [(Checksum::Crc32, Checksum::None), (Checksum::None, Checksum::Crc32)] {
        let (files, mut engine, log) = begun(old);
        let mut caches = [log.cache(), log.cache()];
        caches[1].set_limits(100, u64::MAX);
        caches.iter_mut().for_each(|cache| fill_cache(cache, &[50, 60, 70]));
        log.change_settings(|settings| settings.checksum = new);
        assert_eq!(log.checksum(), old);
        engine.ride(&files, &mut log.rotation(200)).unwrap();
        assert_eq!(log.checksum(), new);
        for cache in &mut caches {
            engine.ride(&files, &mut log.group(head(0, None), cache)).unwrap();
        }
        engine.write_all(&log).unwrap();
        let all = files.all();
        assert_eq!(kinds(&all[&2]).len(), 3 + 2 * 5);
        kinds(&all[&1]);
    }
}

#[test]
fn a_cache_has_a_largest_size() {
    let (_, _, log) = begun(Checksum::Crc32);
    let mut cache = log.cache();
    cache.set_limits(1 << 20, 300);
    cache.add(&query(&[b'x'; 100]), 1, 1, 0).unwrap();
    let length = cache.len();
    let refused = cache.add(&query(&[b'x'; 200]), 1, 1, 0);
    assert!(matches!(refused, Err(CacheError::TooLarge)));
    assert_eq!(cache.len(), length);
}

#[test]
fn a_record_is_not_larger_than_a_rider_may_be() {
    let (files, mut engine, log) = begun(Checksum::Crc32);
    log.set_most_record(10_000);
    let mut cache = log.cache();
    cache.set_limits(1 << 20, u64::MAX);
    for size in [8_000, 8_900, 9_100, 50_000] {
        cache.clear();
        cache.add(&query(&vec![b'x'; size]), 1, 1, 0).unwrap();
        engine.ride(&files, &mut log.group(head(0, None), &mut cache)).unwrap();
        assert!(engine.log.last().unwrap().bytes.len() <= 10_000);
    }
    let mut cache = Cache::new(Checksum::Crc32);
    cache.add(&query(&[b'x'; 10_000]), 1, 1, 0).unwrap();
    let refused = engine.ride(&files, &mut log.group(head(0, None), &mut cache));
    assert!(matches!(refused, Err(Failed::Refused(Refused::TooLarge))));
    engine.write_all(&log).unwrap();
    assert_eq!(kinds(&files.all()[&1]).len(), 3 + 4 * 2);
}
