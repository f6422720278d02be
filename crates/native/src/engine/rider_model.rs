//! Riders for tests: the owner of one file that holds the bytes of all riders one after the other,
//! with the discipline of a real owner. It writes only what is durable in the log, and syncs at
//! checkpoints. What the file must hold is checked by the callers.

use crate::disk::{Access, Disk, File};
use crate::page::get_u64;
use crate::sync::Mutex;
use selkie_engine::{EngineError, EngineResult, Lsn, Refusal, Rider, RiderFiles};
use selkie_types::SqlError;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// The file's name.
pub(crate) const NAME: &str = "riders";
/// Room is made in steps of this many bytes.
const STEP: u64 = 16 << 10;
/// Bytes before a payload in the file: its length.
const HEAD: usize = 4;

/// A rider that has its place and is not in the file yet.
struct Placed {
    at: u64,
    /// Known from `fill` on, as the bytes are.
    lsn: Option<u64>,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct State {
    file: Option<Arc<dyn File>>,
    /// End of the last place given.
    end: u64,
    /// Length of the file.
    room: u64,
    /// End of the part that is in the file.
    written: u64,
    /// In order of places.
    queue: VecDeque<Placed>,
    /// LSN of the last rider written.
    last: u64,
}

/// The owner.
pub(crate) struct RiderLog {
    disk: Arc<dyn Disk>,
    state: Mutex<State>,
}

impl RiderLog {
    pub(crate) fn new(disk: Arc<dyn Disk>) -> Arc<RiderLog> {
        Arc::new(RiderLog { disk, state: Mutex::default() })
    }

    /// A rider with this payload.
    pub(crate) fn rider(&self, payload: &[u8]) -> TestRider<'_> {
        TestRider { log: self, payload: payload.to_vec(), at: 0, refuses: false }
    }

    /// A rider that refuses its commit.
    pub(crate) fn refusing(&self) -> TestRider<'_> {
        TestRider { refuses: true, ..self.rider(b"refused") }
    }

    /// Writes the riders up to `lsn`, which is durable.
    pub(crate) fn write_upto(&self, lsn: Lsn) {
        self.write(&mut self.state.lock(), lsn);
    }

    fn write(&self, state: &mut State, upto: Lsn) {
        let State { file: Some(file), queue, written, last, .. } = state else { return };
        while let Some(next) = queue.pop_front_if(|next| next.lsn.is_some_and(|l| l <= upto.0)) {
            let lsn = next.lsn.unwrap_or(0);
            assert!(lsn > *last, "the order of places is not that of commits");
            assert_eq!(next.at, *written, "a place was left out");
            self.must(file.write_at(&next.bytes, next.at));
            (*last, *written) = (lsn, next.at + next.bytes.len() as u64);
        }
    }

    /// A failed write or sync ends the process.
    fn must<T>(&self, result: io::Result<T>) -> T {
        result.unwrap_or_else(|e| self.disk.fatal(&format!("the riders' file: {e}")))
    }

    /// The payloads in the file, as far as it is written.
    pub(crate) fn contents(&self) -> Vec<Vec<u8>> {
        let state = self.state.lock();
        let mut bytes = vec![0; state.written as usize];
        if let Some(file) = &state.file {
            file.read_at(&mut bytes, 0).expect("the file is that long");
        }
        let (mut rest, mut out) = (&bytes[..], Vec::new());
        while let Some((head, more)) = rest.split_first_chunk::<HEAD>() {
            let len = (u32::from_le_bytes(*head) as usize).min(more.len());
            out.push(more[..len].to_vec());
            rest = &more[len..];
        }
        out
    }
}

impl RiderFiles for RiderLog {
    fn checkpoint(&self, upto: Lsn) -> EngineResult<Vec<u8>> {
        let mut state = self.state.lock();
        self.write(&mut state, upto);
        let due = |placed: &Placed| placed.lsn.is_some_and(|lsn| lsn <= upto.0);
        assert!(!state.queue.iter().any(due), "a rider below the checkpoint is not filled");
        if let Some(file) = &state.file {
            self.must(file.sync());
        }
        // The state knows riders too that are not in the file yet.
        Ok([state.written.to_le_bytes(), state.end.to_le_bytes()].concat())
    }

    fn restore(&self, bytes: &[u8]) -> EngineResult<()> {
        let (written, end) = (get_u64(bytes, 0), get_u64(bytes, 8));
        let exists = self.disk.list()?.iter().any(|name| name == NAME);
        assert!(exists || written == 0, "the riders' file is lost");
        let file = if exists {
            self.disk.open(NAME, Access::Buffered)?
        } else {
            self.disk.create(NAME, Access::Buffered)?
        };
        self.disk.sync_dir()?;
        let room = file.len()?;
        assert!(room >= written, "synced bytes of riders are lost");
        *self.state.lock() = State { file: Some(file), end, room, written, ..State::default() };
        Ok(())
    }

    fn replay(&self, lsn: Lsn, bytes: &[u8]) -> EngineResult<()> {
        let mut state = self.state.lock();
        let at = get_u64(bytes, 0);
        assert!(lsn.0 > state.last, "riders came back in another order");
        // The first one may be in the file already.
        let follows = if state.last == 0 { at <= state.written } else { at == state.written };
        assert!(follows, "a rider is missing before {at}");
        if state.last == 0 {
            state.end = state.end.max(state.written);
        }
        let file = state.file.clone().ok_or(io::Error::from(io::ErrorKind::NotFound))?;
        file.write_at(&bytes[8..], at)?;
        (state.last, state.written) = (lsn.0, at + bytes.len() as u64 - 8);
        Ok(())
    }

    fn replayed(&self) -> EngineResult<()> {
        let mut state = self.state.lock();
        let State { end, written, room, .. } = &mut *state;
        assert!(*written >= *end, "the checkpoint knew a rider that the log has lost");
        (*end, *room) = (*written, (*room).max(*written));
        Ok(())
    }
}

/// A rider with a payload.
pub(crate) struct TestRider<'l> {
    log: &'l RiderLog,
    payload: Vec<u8>,
    at: u64,
    refuses: bool,
}

impl TestRider<'_> {
    fn len(&self) -> usize {
        HEAD + self.payload.len()
    }
}

impl Rider for TestRider<'_> {
    fn place(&mut self) -> Result<usize, Refusal> {
        let mut state = self.log.state.lock();
        let end = state.end + self.len() as u64;
        if end > state.room {
            return Err(Refusal::NoRoom);
        }
        if self.refuses {
            let error = SqlError::not_supported("this commit");
            return Err(Refusal::Error(Box::new(error)));
        }
        self.at = std::mem::replace(&mut state.end, end);
        state.queue.push_back(Placed { at: self.at, lsn: None, bytes: Vec::new() });
        Ok(8 + self.len())
    }

    fn make_room(&mut self) -> EngineResult<()> {
        let mut state = self.log.state.lock();
        let Some(file) = state.file.clone() else { return Err(EngineError::ReadOnly) };
        let room = (state.end + self.len() as u64).next_multiple_of(STEP);
        file.allocate(room)?;
        self.log.must(file.sync());
        state.room = state.room.max(room);
        Ok(())
    }

    fn fill(&mut self, lsn: Lsn, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.at.to_le_bytes());
        let start = out.len();
        out.extend_from_slice(&(self.payload.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.payload);
        let mut state = self.log.state.lock();
        let placed = state.queue.iter_mut().find(|placed| placed.at == self.at);
        let placed = placed.expect("the rider has a place");
        (placed.lsn, placed.bytes) = (Some(lsn.0), out[start..].to_vec());
    }
}
