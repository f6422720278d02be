//! The state of a replica, as its threads share it: with the notes that have a place, and with
//! those whose commits are visible.
//!
//! Must not hold its lock over I/O: notes take their place under the engine's order lock.

use std::io;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use crate::replica::flight::Entry;
use crate::replica::note::{Applied, Note};

/// First byte of a rider that begins with a note. No record of the binary log begins so.
const MARK: u8 = 0x80;
/// Mark of a saved state; a state without it is the binary log's alone.
const STATE: &[u8; 3] = b"RP1";
/// Bytes that a note may have, with its head.
pub const MOST_NOTE: usize = 2 << 10;

/// The state of a replica.
#[derive(Debug, Default)]
pub struct Tracker {
    /// With every note that has a place in the engine's log.
    placed: Mutex<Applied>,
    /// With every note whose commit is visible.
    visible: Mutex<Applied>,
    changed: Condvar,
}

impl Tracker {
    /// The groups and places that are applied and visible.
    pub fn applied(&self) -> Applied {
        self.visible.lock().clone()
    }

    /// Looks at what is applied and visible.
    pub fn look<R>(&self, look: impl FnOnce(&Applied) -> R) -> R {
        look(&self.visible.lock())
    }

    /// Takes a note that is part of a commit, in the order of commits. Returns its bytes, which
    /// stand before the rest of the rider.
    pub fn place(&self, entry: &Entry) -> Vec<u8> {
        let note = &entry.placed();
        self.placed.lock().apply(note);
        let mut out = vec![MARK, 0, 0];
        note.encode(&mut out);
        let length = (out.len() - 3) as u16;
        out.splice(1..3, length.to_le_bytes());
        out
    }

    /// The commit of a note is visible.
    pub fn publish(&self, entry: &Entry) {
        // The lock comes first, so that places are told in their order.
        let mut visible = self.visible.lock();
        visible.apply(&entry.visible());
        drop(visible);
        self.changed.notify_all();
    }

    /// Waits until `is_reached` says so, or until `deadline`. Returns what it says then.
    pub fn wait_until(&self, deadline: Instant, is_reached: impl Fn(&Applied) -> bool) -> bool {
        let mut visible = self.visible.lock();
        while !is_reached(&visible) {
            if self.changed.wait_until(&mut visible, deadline).timed_out() {
                return is_reached(&visible);
            }
        }
        true
    }

    /// The state for a checkpoint; `rest` belongs to the binary log.
    pub fn save(&self, rest: &[u8]) -> Vec<u8> {
        let state = self.placed.lock().encode();
        let length = (state.len() as u32).to_le_bytes();
        [STATE.as_slice(), &length, &state, rest].concat()
    }

    /// At start: takes a saved state, and returns the rest.
    pub fn restore<'a>(&self, saved: &'a [u8]) -> io::Result<&'a [u8]> {
        let (state, rest) = match saved.strip_prefix(STATE) {
            Some(behind) => {
                let split = behind.split_first_chunk().and_then(|(length, rest)| {
                    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
                });
                let (state, rest) = split.ok_or_else(damaged)?;
                (Applied::decode(state).map_err(|_| damaged())?, rest)
            }
            None => (Applied::default(), saved),
        };
        self.visible.lock().clone_from(&state);
        *self.placed.lock() = state;
        Ok(rest)
    }

    /// At start, after [`Tracker::restore`]: takes the note of the next rider, and returns the
    /// rest.
    pub fn replay<'a>(&self, rider: &'a [u8]) -> io::Result<&'a [u8]> {
        let Some((&MARK, behind)) = rider.split_first() else { return Ok(rider) };
        let split = behind.split_first_chunk().and_then(|(length, rest)| {
            rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))
        });
        let (note, rest) = split.ok_or_else(damaged)?;
        let note = Note::decode(note).map_err(|_| damaged())?;
        self.placed.lock().apply(&note);
        self.visible.lock().apply(&note);
        Ok(rest)
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the state of the replica is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gtid::Gtid;
    use crate::replica::Place;

    fn group(seq: u64) -> Entry {
        Entry::from(Note::Group {
            connection: "a".to_owned(),
            gtid: Some(Gtid { domain: 0, server: 1, seq }),
            end: Place { file: "binlog.000001".to_owned(), offset: seq * 100 },
        })
    }

    #[test]
    fn a_start_brings_back_what_was_placed() {
        let before = Tracker::default();
        before.place(&group(1));
        let saved = before.save(b"BL1 and more");
        let rider = [&before.place(&group(2))[..], &[0, 1, 2]].concat();

        let after = Tracker::default();
        assert_eq!(after.restore(&saved).unwrap(), b"BL1 and more");
        assert_eq!(after.applied().gtids().to_string(), "0-1-1");
        assert_eq!(after.replay(&rider).unwrap(), [0, 1, 2]);
        assert_eq!(after.replay(&[4, 5]).unwrap(), [4, 5]);
        assert_eq!(after.applied(), *before.placed.lock());
        for end in 1..rider.len() - 3 {
            assert!(after.replay(&rider[..end]).is_err());
        }
        for end in 3..saved.len() - 12 {
            assert!(after.restore(&saved[..end]).is_err());
        }
        assert_eq!(Tracker::default().restore(b"BL1x").unwrap(), b"BL1x");
    }

    #[test]
    fn a_place_is_told_once_its_commit_is_visible() {
        let tracker = Tracker::default();
        tracker.place(&group(1));
        assert!(tracker.applied().gtids().is_empty());
        let reached = |applied: &Applied| !applied.gtids().is_empty();
        assert!(!tracker.wait_until(Instant::now(), reached));
        tracker.publish(&group(1));
        assert!(tracker.wait_until(Instant::now(), reached));
    }
}
