//! The state of this server as a replica, and the owner of all riders in the engine's log: notes of
//! that state, and behind them the binary log's records.
//!
//! Must not interpret records of the binary log.

use std::fmt;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use selkie_engine::{Engine, EngineError, EngineResult, Lsn, Refusal, Rider, RiderFiles};
use selkie_exec::error::from_engine_commit;
use selkie_replication::replica::{Applied, Entry, Note, Tracker};
use selkie_types::error::catalogue::ER_WRONG_ARGUMENTS;
use selkie_types::{SqlError, SqlResult};

use crate::binlog::{Binlog, engine_error};

/// Owners of the bytes that the engine's log carries beside its own records.
#[derive(Clone)]
pub struct Riders {
    /// The binary log, if there is one.
    pub(crate) binlog: Option<Arc<Binlog>>,
    /// The state as a replica.
    pub(crate) applied: Arc<AppliedState>,
}

impl Riders {
    /// The owner of all riders, for the engine that is to be opened.
    pub(crate) fn owner(&self) -> Arc<dyn RiderFiles> {
        Arc::new(Owner {
            tracker: Arc::clone(&self.applied.tracker),
            binlog: self.binlog.as_ref().map(|binlog| binlog.rider_files()),
            kept: Mutex::default(),
        })
    }
}

/// The state of this server as a replica.
#[derive(Default)]
pub(crate) struct AppliedState {
    tracker: Arc<Tracker>,
    /// The engine whose log carries the notes, once it is open.
    engine: OnceLock<Arc<dyn Engine>>,
}

impl fmt::Debug for AppliedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppliedState").field("tracker", &self.tracker).finish_non_exhaustive()
    }
}

impl AppliedState {
    /// Takes the engine, which has given back all notes in its log.
    pub(crate) fn begin(&self, engine: &Arc<dyn Engine>) {
        // The server starts once, so no engine is set yet.
        let _ = self.engine.set(Arc::clone(engine));
    }

    /// The state, for commits that change it.
    pub(crate) fn tracker(&self) -> &Arc<Tracker> {
        &self.tracker
    }

    /// A copy of the state.
    pub(crate) fn state(&self) -> Applied {
        self.tracker.applied()
    }

    /// Makes a change that belongs to no commit, durably.
    pub(crate) fn note(&self, note: &Note) -> SqlResult<()> {
        let lsn = self.append(&note.clone().into()).map_err(from_engine_commit)?;
        let engine = self.engine().map_err(from_engine_commit)?;
        engine.wait_durable(lsn).map_err(from_engine_commit)
    }

    /// Makes a change that belongs to no commit. It is durable with the next commit that is.
    pub(crate) fn note_later(&self, entry: &Entry) -> SqlResult<()> {
        self.append(entry).map(drop).map_err(from_engine_commit)
    }

    /// Shows each session that waits for a row with each one it waits for.
    pub(crate) fn row_waits(&self, show: &mut dyn FnMut(u64, u64)) {
        if let Some(engine) = self.engine.get() {
            engine.row_waits(show);
        }
    }

    fn append(&self, entry: &Entry) -> EngineResult<Lsn> {
        let mut bytes = Vec::new();
        entry.note().encode(&mut bytes);
        if bytes.len() > usize::from(u16::MAX) {
            let error = SqlError::new(&ER_WRONG_ARGUMENTS, &[&"SET"]);
            return Err(EngineError::Refused(Box::new(error)));
        }
        let mut rider = NoteAlone { tracker: &self.tracker, entry, bytes: Vec::new() };
        let lsn = self.engine()?.append(&mut rider)?;
        self.tracker.publish(entry);
        Ok(lsn)
    }

    fn engine(&self) -> EngineResult<&Arc<dyn Engine>> {
        self.engine.get().ok_or(EngineError::Unsupported("a note before the engine is open"))
    }
}

/// A note without a commit.
struct NoteAlone<'a> {
    tracker: &'a Tracker,
    entry: &'a Entry,
    bytes: Vec<u8>,
}

impl Rider for NoteAlone<'_> {
    fn place(&mut self) -> Result<usize, Refusal> {
        self.bytes = self.tracker.place(self.entry);
        Ok(self.bytes.len())
    }

    fn make_room(&mut self) -> EngineResult<()> {
        Ok(())
    }

    fn fill(&mut self, _: Lsn, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes);
    }
}

/// The owner of all riders.
struct Owner {
    tracker: Arc<Tracker>,
    binlog: Option<Arc<dyn RiderFiles>>,
    /// The binary log's saved state, which a life without the log keeps for a later one with it.
    kept: Mutex<Vec<u8>>,
}

impl RiderFiles for Owner {
    fn checkpoint(&self, upto: Lsn) -> EngineResult<Vec<u8>> {
        let rest = match &self.binlog {
            Some(binlog) => binlog.checkpoint(upto)?,
            None => self.kept.lock().clone(),
        };
        Ok(self.tracker.save(&rest))
    }

    fn restore(&self, state: &[u8]) -> EngineResult<()> {
        let rest = self.tracker.restore(state).map_err(engine_error)?;
        match &self.binlog {
            Some(binlog) => binlog.restore(rest),
            None => {
                rest.clone_into(&mut self.kept.lock());
                Ok(())
            }
        }
    }

    fn replay(&self, lsn: Lsn, bytes: &[u8]) -> EngineResult<()> {
        let rest = self.tracker.replay(bytes).map_err(engine_error)?;
        match &self.binlog {
            _ if rest.is_empty() => Ok(()),
            Some(binlog) => binlog.replay(lsn, rest),
            None => Err(EngineError::Corrupt(format!(
                "the log from {} on has bytes of the binary log that its files may lack: start \
                 once with the binary log",
                lsn.0
            ))),
        }
    }

    fn replayed(&self) -> EngineResult<()> {
        self.binlog.as_ref().map_or(Ok(()), |binlog| binlog.replayed())
    }
}
