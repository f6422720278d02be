//! Adapters between the engine's log, which carries bytes, and the binary log, which knows what
//! they are.
//!
//! Must not decide when something is appended, and must not read what it passes on.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selkie_engine::{EngineError, EngineResult, Lsn, Refusal, Rider, RiderFiles};
use selkie_replication::gtid::OutOfOrder;
use selkie_replication::log::{BinaryLog, Control, Refused};
use selkie_types::SqlError;
use selkie_types::error::catalogue::*;

/// Mark of the state that a checkpoint keeps; the length of the log's name follows.
const MARK: &[u8; 3] = b"BL1";

/// The binary log as the owner of what riders bring.
pub(super) struct Riding {
    pub(super) log: Arc<BinaryLog>,
    /// The log's name: a state belongs to the files of this name.
    pub(super) name: String,
    /// Whether the state found is another log's.
    is_other: AtomicBool,
}

impl Riding {
    pub(super) fn new(log: Arc<BinaryLog>, name: String) -> Self {
        Self { log, name, is_other: AtomicBool::new(false) }
    }
}

impl RiderFiles for Riding {
    fn checkpoint(&self, upto: Lsn) -> EngineResult<Vec<u8>> {
        let state = self.log.checkpoint(upto.0).map_err(engine_error)?;
        let name = self.name.as_bytes();
        let length = (name.len() as u32).to_le_bytes();
        Ok([MARK.as_slice(), &length, name, &state].concat())
    }

    fn restore(&self, saved: &[u8]) -> EngineResult<()> {
        let damaged = || EngineError::Corrupt("the binary log's saved state is damaged".to_owned());
        let state = match saved.is_empty() {
            true => saved,
            false => {
                let (name, state) = split(saved).ok_or_else(damaged)?;
                let is_other = name != self.name.as_bytes();
                self.is_other.store(is_other, Ordering::Relaxed);
                if is_other { &[] } else { state }
            }
        };
        self.log.restore(state).map_err(engine_error)
    }

    fn replay(&self, lsn: Lsn, bytes: &[u8]) -> EngineResult<()> {
        if self.is_other.load(Ordering::Relaxed) {
            return Err(EngineError::Corrupt(
                "the binary log had another name and was not closed; start once with that name"
                    .to_owned(),
            ));
        }
        self.log.replay(lsn.0, bytes).map_err(engine_error)
    }

    fn replayed(&self) -> EngineResult<()> {
        self.log.replayed().map_err(engine_error)
    }
}

/// Name and state of what a checkpoint kept.
fn split(saved: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = saved.strip_prefix(MARK)?.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// The rider of a change that has no group.
pub(super) struct ControlRider<'a>(pub(super) Control<'a>);

impl Rider for ControlRider<'_> {
    fn place(&mut self) -> Result<usize, Refusal> {
        self.0.place().map_err(|refused| match refused {
            Refused::NoRoom => Refusal::NoRoom,
            other => Refusal::Error(Box::new(refused_error(&other))),
        })
    }

    fn make_room(&mut self) -> EngineResult<()> {
        self.0.make_room().map_err(engine_error)
    }

    fn fill(&mut self, lsn: Lsn, out: &mut Vec<u8>) {
        self.0.fill(lsn.0, out);
    }
}

/// The statement's error for a rider that gets no place.
fn refused_error(refused: &Refused) -> SqlError {
    match refused {
        Refused::OutOfOrder(order) => out_of_order(order),
        Refused::TooLarge => SqlError::new(&ER_TRANS_CACHE_FULL, &[]),
        Refused::NoRoom | Refused::SequenceEnd => SqlError::internal(refused.to_string()),
    }
}

/// Error 1950.
pub(crate) fn out_of_order(order: &OutOfOrder) -> SqlError {
    let OutOfOrder { gtid, existing } = order;
    SqlError::new(
        &ER_GTID_STRICT_OUT_OF_ORDER,
        &[&gtid.domain, &gtid.server, &gtid.seq, &existing.domain, &existing.server, &existing.seq],
    )
}

/// An error of the log's files as the engine reports it.
pub(crate) fn engine_error(error: io::Error) -> EngineError {
    match error.kind() {
        io::ErrorKind::StorageFull => EngineError::DiskFull,
        io::ErrorKind::InvalidData => EngineError::Corrupt(error.to_string()),
        _ => EngineError::Io(error),
    }
}
