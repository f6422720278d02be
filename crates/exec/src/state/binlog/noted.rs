//! A note of what a replica has applied, on its way into a commit.
//!
//! Must not know what the note says: it goes with the commit of what it is about.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selkie_engine::{EngineResult, EngineTrx, Lsn, Refusal, Rider};
use selkie_replication::replica::{Entry, Tracker};

/// A note that rides with a commit. One commit takes it.
#[derive(Debug)]
pub(crate) struct Noted {
    tracker: Arc<Tracker>,
    entry: Entry,
    is_taken: AtomicBool,
}

impl Noted {
    pub(crate) fn new(tracker: Arc<Tracker>, entry: Entry) -> Self {
        Self { tracker, entry, is_taken: AtomicBool::new(false) }
    }

    /// Whether a commit has the note.
    pub(crate) fn is_taken(&self) -> bool {
        self.is_taken.load(Ordering::Acquire)
    }

    /// Tells others that the note's commit is visible.
    pub(crate) fn publish(&self) {
        self.tracker.publish(&self.entry);
    }

    /// Calls `commit` with a rider that has the note before the bytes of `rest`.
    pub(crate) fn ride<'a, T>(
        &'a self,
        rest: Option<&'a mut dyn Rider>,
        commit: impl FnOnce(&mut dyn Rider) -> EngineResult<T>,
    ) -> EngineResult<T> {
        commit(&mut NoteRider { noted: self, rest, bytes: Vec::new() })
    }
}

/// Commits a transaction that is not logged, with a note if there is one.
pub(crate) fn commit_with_note(
    trx: Box<dyn EngineTrx>,
    note: Option<&Noted>,
) -> EngineResult<Option<Lsn>> {
    match note {
        Some(noted) => noted.ride(None, |rider| trx.commit(Some(rider))),
        None => trx.commit(None),
    }
}

struct NoteRider<'a> {
    noted: &'a Noted,
    rest: Option<&'a mut dyn Rider>,
    bytes: Vec<u8>,
}

impl Rider for NoteRider<'_> {
    fn place(&mut self) -> Result<usize, Refusal> {
        let behind = self.rest.as_mut().map_or(Ok(0), |rest| rest.place())?;
        // Nothing can be refused any more.
        self.bytes = self.noted.tracker.place(&self.noted.entry);
        self.noted.is_taken.store(true, Ordering::Release);
        Ok(self.bytes.len() + behind)
    }

    fn make_room(&mut self) -> EngineResult<()> {
        self.rest.as_mut().map_or(Ok(()), |rest| rest.make_room())
    }

    fn fill(&mut self, lsn: Lsn, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes);
        if let Some(rest) = &mut self.rest {
            rest.fill(lsn, out);
        }
    }
}
