//! Caches in memory and beyond it: any changes leave the same events as a plain list has.
//!
//! Must not look into a cache: its events are read from the file they lead to.

use proptest::prelude::*;
use selkie_replication::EventKind;
use selkie_replication::codec::{Checksum, row_flags};
use selkie_replication::file::Events;
use selkie_replication::log::{Cache, CacheMark};

use crate::engine::{begun, head, query, rows};

#[derive(Clone, Debug)]
enum Step {
    Query(usize),
    Rows(usize),
    /// A rows event whose images come one by one.
    Slow(usize),
    /// The last event, if it has rows, gets more images.
    Extend(usize),
    EndStatement,
    Mark,
    Cut(usize),
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..300usize).prop_map(Step::Query),
        4 => (0..300usize).prop_map(Step::Rows),
        2 => (0..300usize).prop_map(Step::Slow),
        3 => (0..300usize).prop_map(Step::Extend),
        2 => Just(Step::EndStatement),
        2 => Just(Step::Mark),
        1 => (0..4usize).prop_map(Step::Cut),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 0..40)
}

/// An event as the model has it: the type, the bytes that differ, the flags of rows.
type Seen = (EventKind, Vec<u8>, u16);

/// A cache and the list of its events.
struct Model {
    cache: Cache,
    events: Vec<Seen>,
    marks: Vec<(CacheMark, Vec<Seen>)>,
}

impl Model {
    fn take(&mut self, at: usize, step: &Step) {
        let bytes = |size: usize| vec![at as u8; size];
        match step {
            Step::Query(size) => {
                self.cache.add(&query(&bytes(*size)), 1, 1, 0).unwrap();
                self.events.push((EventKind::QUERY, bytes(*size), 0));
            }
            Step::Rows(size) => {
                self.cache.add(&rows(&bytes(*size)), 1, 1, 0).unwrap();
                self.events.push((EventKind::WRITE_ROWS_V1, bytes(*size), 0));
            }
            Step::Slow(size) => {
                self.cache.begin_event(EventKind::WRITE_ROWS_V1, 1, 1, 0);
                self.cache.buffer().extend([18, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
                for byte in bytes(*size) {
                    self.cache.buffer().push(byte);
                }
                self.cache.end_event().unwrap();
                self.events.push((EventKind::WRITE_ROWS_V1, bytes(*size), 0));
            }
            Step::Extend(size) => {
                // False takes the bytes back.
                let is_taken = size % 5 != 0;
                if let Some((EventKind::WRITE_ROWS_V1, images, _)) = self.events.last_mut() {
                    let append = |out: &mut Vec<u8>| {
                        out.extend(bytes(*size));
                        Ok::<_, ()>(is_taken)
                    };
                    self.cache.extend_last_event(append).unwrap();
                    images.extend(bytes(if is_taken { *size } else { 0 }));
                }
            }
            Step::EndStatement => {
                // As a session does it, directly behind the rows.
                if let Some((EventKind::WRITE_ROWS_V1, _, flags)) = self.events.last_mut() {
                    assert!(self.cache.flag_last_rows(row_flags::STMT_END));
                    *flags = row_flags::STMT_END;
                }
            }
            Step::Mark => self.marks.push((self.cache.mark(), self.events.clone())),
            Step::Cut(back) => {
                let Some(at) = self.marks.len().checked_sub(back + 1) else { return };
                let (mark, events) = self.marks[at].clone();
                self.cache.cut(&mark).unwrap();
                self.events = events;
                self.marks.truncate(at + 1);
                assert_eq!(self.cache.mark(), mark);
                // The flag may have come behind the mark.
                if let Some((EventKind::WRITE_ROWS_V1, _, flags)) = self.events.last_mut() {
                    assert!(self.cache.unflag_last_rows(row_flags::STMT_END));
                    *flags = 0;
                }
            }
            Step::Clear => {
                self.cache.clear();
                assert!(self.cache.is_empty() && !self.cache.used_disk());
                self.events.clear();
                self.marks.clear();
            }
        }
    }
}

/// The model's view of a file's last group.
fn seen(bytes: &[u8]) -> Vec<Seen> {
    let view = |bytes: &[u8]| bytes.to_vec();
    let mut seen = Vec::new();
    for event in Events::new(bytes).map(Result::unwrap) {
        match event.event {
            selkie_replication::Event::Query(query) => {
                seen.push((EventKind::QUERY, view(query.text), 0));
            }
            selkie_replication::Event::Rows(rows) => {
                seen.push((EventKind::WRITE_ROWS_V1, view(rows.images), rows.flags));
            }
            _ => {}
        }
    }
    seen
}

proptest! {
    #[test]
    fn a_cache_is_a_list_of_events(steps in steps(), spill_at in 1..2000usize, crc: bool) {
        let checksum = if crc { Checksum::Crc32 } else { Checksum::None };
        let (files, mut engine, log) = begun(checksum);
        let mut cache = log.cache();
        cache.set_limits(spill_at, u64::MAX);
        let mut model = Model { cache, events: Vec::new(), marks: Vec::new() };
        for (at, step) in steps.iter().enumerate() {
            model.take(at, step);
        }
        let length = model.cache.len();
        let before = log.end();
        let mut group = log.group(head(0, None), &mut model.cache);
        engine.ride(&files, &mut group).unwrap();
        let first = 38 + checksum.bytes() as u64;
        prop_assert_eq!(group.end().offset, before.offset + first + length);
        engine.write_all(&log).unwrap();
        prop_assert_eq!(seen(&files.all()[&1]), model.events);
        drop(model.cache);
        // A checkpoint that follows one with the group needs its group file no more.
        engine.checkpoint(&log).unwrap();
        engine.checkpoint(&log).unwrap();
        prop_assert!(files.groups().is_empty());
    }
}
