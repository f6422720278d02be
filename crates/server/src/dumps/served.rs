//! The end of what readers get: places are told to one reader after the other, and each time the
//! engine's log is made durable up to the place first.
//!
//! Must not flush for a single reader what others have flushed. Must not flush more often than
//! every few milliseconds, unless sessions wait for the reader: with
//! `innodb_flush_log_at_trx_commit=1` those who commit do it.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use selkie_engine::{Engine, EngineResult, Lsn};
use selkie_replication::log::{BinaryLog, Place};

use crate::binlog::engine_error;

/// Shortest time between two flushes that only readers need.
const PAUSE: Duration = Duration::from_millis(5);
/// Whether somebody waits for what a reader gets.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Haste {
    /// Nobody: the reader may be behind by some milliseconds.
    None,
    /// Sessions wait for the reader's acknowledgement.
    Awaited,
}

/// Time between two looks whether somebody else has flushed.
const LOOK: Duration = Duration::from_micros(500);

/// The end as the last reader has got it.
#[derive(Debug, Default)]
pub(crate) struct Served(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    end: Place,
    flushed: Option<Instant>,
}

impl Served {
    /// Forgets the end: the log has begun anew.
    pub(crate) fn forget(&self) {
        self.0.lock().end = Place::default();
    }

    /// The end of the log, durable and in the files. The end that another reader has got will do
    /// if it `suffices`.
    pub(crate) fn end(
        &self,
        log: &BinaryLog,
        engine: &dyn Engine,
        haste: Haste,
        suffices: impl Fn(Place) -> bool,
    ) -> EngineResult<Place> {
        let mut last = self.0.lock();
        if suffices(last.end) && last.end <= log.end() {
            return Ok(last.end);
        }
        let (end, _, lsn) = log.snapshot();
        let lsn = Lsn(lsn);
        let allowed = last.flushed.map(|at| at + PAUSE);
        while haste == Haste::None
            && !engine.is_synced(lsn)
            && allowed.is_some_and(|at| Instant::now() < at)
        {
            std::thread::sleep(LOOK);
        }
        if !engine.is_synced(lsn) {
            engine.wait_synced(lsn)?;
            last.flushed = Some(Instant::now());
        }
        log.write_upto(lsn.0).map_err(engine_error)?;
        last.end = end;
        Ok(end)
    }
}
