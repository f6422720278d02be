//! The binary log of a running server: its begin, its end, and all changes that are not groups.
//!
//! Must not change files itself. Every change is a rider of the engine's log; the files follow when
//! it is durable.

use std::fmt;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::{Mutex, MutexGuard};
use selkie_engine::{Engine, EngineError, EngineResult, Lsn, RiderFiles};
use selkie_replication::DatabaseFilter;
use selkie_replication::gtid::BinlogState;
use selkie_replication::log::{BinaryLog, Control, FileNumber, LogFiles, Place, Settings};
use selkie_replication::replica::MOST_NOTE;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::files::DiskLogFiles;
use super::rider::{ControlRider, Riding, engine_error};
use super::writer::Writer;
use crate::admin::Notes;
use crate::dumps::{Readers, Served};
use crate::semi_sync::SemiSync;

/// Bytes waiting for the files beyond which sessions write too.
const MOST_PENDING: u64 = 16 << 20;

/// The largest number RESET MASTER TO gives. Compat: MariaDB's limit, but there a larger number
/// closes the log.
const LARGEST_NUMBER: u64 = 0x7fff_ffff;

/// The binary log.
pub(crate) struct Binlog {
    log: Arc<BinaryLog>,
    files: Arc<DiskLogFiles>,
    /// The databases that are logged.
    pub(crate) filter: DatabaseFilter,
    /// `gtid_strict_mode`.
    pub(crate) strict: Arc<AtomicBool>,
    /// The engine whose log carries the groups, once it is open.
    engine: OnceLock<Arc<dyn Engine>>,
    /// Held by who changes the set of files.
    admin: Mutex<()>,
    /// Age at which files go; none for never.
    expiry: Mutex<Option<Duration>>,
    writer: Writer,
    /// Those to whom the log is sent.
    pub(crate) readers: Readers,
    pub(super) served: Served,
    /// Waits for replicas.
    pub(crate) semi: SemiSync,
}

impl fmt::Debug for Binlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binlog").field("files", &self.files).finish_non_exhaustive()
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as u32)
}

impl Binlog {
    /// A log over these files, before the engine has given back what belongs into them.
    pub(super) fn new(
        files: DiskLogFiles,
        version: &str,
        settings: Settings,
        filter: DatabaseFilter,
    ) -> Self {
        let files = Arc::new(files);
        let log = BinaryLog::new(Arc::clone(&files) as Arc<dyn LogFiles>, version, settings);
        Self {
            log: Arc::new(log),
            files,
            filter,
            strict: Arc::default(),
            engine: OnceLock::new(),
            admin: Mutex::new(()),
            expiry: Mutex::new(None),
            writer: Writer::default(),
            readers: Readers::default(),
            served: Served::default(),
            semi: SemiSync::default(),
        }
    }

    /// The log that sessions write to.
    pub(crate) fn log(&self) -> &Arc<BinaryLog> {
        &self.log
    }

    /// The files by their names and times.
    pub(crate) fn files(&self) -> &DiskLogFiles {
        &self.files
    }

    /// The owner of riders' bytes, for the engine that is to be opened.
    pub(crate) fn rider_files(&self) -> Arc<dyn RiderFiles> {
        let names = self.files.names();
        let name = format!("{}{}", names.prefix, names.base);
        Arc::new(Riding::new(Arc::clone(&self.log), name))
    }

    /// Begins the log's part of a server's life: a new file. `engine` has given back all that was
    /// in its log.
    pub(crate) fn begin(self: &Arc<Self>, engine: &Arc<dyn Engine>) -> Result<(), String> {
        // The server starts once, so no engine is set yet.
        let _ = self.engine.set(Arc::clone(engine));
        // A replica's note may stand before a record.
        self.log.set_most_record(engine.most_rider_bytes().saturating_sub(MOST_NOTE));
        let begun = self.append(self.log.begin_life(now()));
        begun.map_err(|error| format!("Can't begin the binary log: {error}"))?;
        self.expire();
        self.writer.start(self).map_err(|error| format!("Can't create a thread: {error}"))
    }

    /// Ends the log's part of a server's life: nothing is logged after it.
    pub(crate) fn end(&self) {
        let _admin = self.admin.lock();
        self.writer.stop();
        if let Err(error) = self.append(self.log.stop(now())) {
            tracing::error!("The end of the binary log could not be written: {error}");
        }
    }

    /// Waits until nobody changes the set of files, and keeps others from it.
    pub(super) fn lock_files(&self) -> MutexGuard<'_, ()> {
        self.admin.lock()
    }

    pub(super) fn engine(&self) -> EngineResult<&Arc<dyn Engine>> {
        self.engine.get().ok_or(EngineError::Unsupported("the binary log before its begin"))
    }

    /// Makes a change part of the engine's log, and of the files once it is durable.
    fn append(&self, change: Control<'_>) -> EngineResult<()> {
        self.engine()?.append(&mut ControlRider(change))?;
        let written = self.write_all();
        self.readers.ring();
        written
    }

    /// Makes everything that has a place durable, and writes it into the files.
    fn write_all(&self) -> EngineResult<()> {
        self.write_upto(Lsn(self.log.end_lsn()))
    }

    fn write_upto(&self, lsn: Lsn) -> EngineResult<()> {
        self.engine()?.wait_synced(lsn)?;
        self.log.write_upto(lsn.0).map_err(engine_error)
    }

    /// Writes everything that has a place into the files, once it is as safe as the server promises
    /// of commits. A loss of power may take it from the files again, together with the commits.
    pub(super) fn write_settled(&self) -> EngineResult<()> {
        let (engine, lsn) = (self.engine()?, Lsn(self.log.end_lsn()));
        engine.wait_durable(lsn)?;
        engine.wait_written(lsn)?;
        let written = match engine.is_synced(lsn) {
            true => self.log.write_upto(lsn.0),
            false => self.log.write_ahead(lsn.0),
        };
        written.map_err(engine_error)
    }

    /// End and groups of the log. Nobody can lose them any more, and the files have them.
    pub(super) fn told(&self) -> SqlResult<(Place, BinlogState)> {
        let (end, state, lsn) = self.log.snapshot();
        let written = self.write_upto(Lsn(lsn));
        written.map(|()| (end, state)).map_err(|error| self.statement_error(error))
    }

    /// The files and their lengths. Nobody can lose them any more, and the files have them.
    pub(super) fn told_files(&self) -> SqlResult<Vec<(FileNumber, u64)>> {
        let files = self.log.files();
        self.write_all().map(|()| files).map_err(|error| self.statement_error(error))
    }

    /// After a statement: wakes the writer, helps it if it is behind, and begins a new file if the
    /// current one is full.
    pub(crate) fn after_statement(&self) {
        self.readers.ring();
        let pending = self.log.pending_bytes();
        if pending == 0 {
            return;
        }
        self.writer.wake();
        let helped = if pending > MOST_PENDING { self.write_settled() } else { Ok(()) };
        if let Err(error) = helped {
            tracing::error!("The binary log's files could not be written: {error}");
        }
        if self.log.wants_rotation() {
            self.rotate_if_full();
        }
    }

    fn rotate_if_full(&self) {
        let admin = self.admin.lock();
        if self.log.wants_rotation()
            && let Err(error) = self.rotate_under(&admin, now())
        {
            tracing::error!("The binary log could not begin a new file: {error}");
        }
    }

    /// FLUSH BINARY LOGS: a new file, whose first events are of second `at`.
    pub(crate) fn rotate(&self, at: u32) -> SqlResult<()> {
        let admin = self.admin.lock();
        self.rotate_under(&admin, at).map_err(|error| self.statement_error(error))
    }

    fn rotate_under(&self, _admin: &MutexGuard<'_, ()>, at: u32) -> EngineResult<()> {
        self.append(self.log.rotation(at))?;
        self.expire();
        Ok(())
    }

    /// `binlog_checksum`: events of the next file have it, which begins now.
    pub(crate) fn set_checksum(
        &self,
        checksum: selkie_replication::codec::Checksum,
    ) -> SqlResult<()> {
        let admin = self.admin.lock();
        self.log.change_settings(|settings| settings.checksum = checksum);
        self.rotate_under(&admin, now()).map_err(|error| self.statement_error(error))
    }

    /// Another size at which files end.
    pub(crate) fn set_max_size(&self, bytes: u64) {
        self.log.change_settings(|settings| settings.max_size = bytes);
    }

    /// Another number of this server.
    pub(crate) fn set_server_id(&self, id: u32) {
        self.log.change_settings(|settings| settings.server_id = id);
    }

    /// Another age at which files go; zero for never.
    pub(crate) fn set_expiry(&self, seconds: u64) {
        *self.expiry.lock() = (seconds > 0).then(|| Duration::from_secs(seconds));
    }

    /// RESET MASTER [TO n]: the log is one new file, whose first events are of second `at`.
    pub(crate) fn reset(&self, to: Option<u64>, at: u32) -> SqlResult<()> {
        let number = match to.unwrap_or(1) {
            0 => 1,
            number @ 1..LARGEST_NUMBER => number as FileNumber,
            _ => {
                let base = &self.files.names().shown_base;
                return Err(SqlError::new(&ER_NO_UNIQUE_LOGFILE, &[base]));
            }
        };
        let _admin = self.admin.lock();
        self.reset_to(number, BinlogState::default(), at)
    }

    fn reset_to(&self, number: FileNumber, state: BinlogState, at: u32) -> SqlResult<()> {
        // The files get the numbers of others: who reads those must not read these.
        self.readers.end_all();
        let change = self.log.reset_with(number, state, at);
        let done = self.append(change);
        self.served.forget();
        self.semi.begin_anew();
        self.readers.end_all();
        done.map_err(|error| self.statement_error(error))
    }

    /// SET GLOBAL gtid_binlog_state: the log, which must be empty, begins with a state.
    pub(crate) fn begin_with(&self, state: BinlogState) -> SqlResult<()> {
        let _admin = self.admin.lock();
        if self.log.gtid_state().gtids().next().is_some() {
            return Err(SqlError::new(&ER_BINLOG_MUST_BE_EMPTY, &[]));
        }
        self.reset_to(1, state, now())
    }

    /// Gives the state of the log to `change`; if that returns another one, it becomes the log's,
    /// and a new file begins with it.
    pub(super) fn change_state(
        &self,
        change: impl FnOnce(BinlogState) -> SqlResult<Option<BinlogState>>,
    ) -> SqlResult<()> {
        let admin = self.admin.lock();
        self.write_all().map_err(|error| self.statement_error(error))?;
        let Some(state) = change(self.log.gtid_state())? else { return Ok(()) };
        let set = self.append(self.log.set_state(state));
        let set = set.and_then(|()| self.rotate_under(&admin, now()));
        set.map_err(|error| self.statement_error(error))
    }

    /// Removes the files before the one called `name`.
    pub(crate) fn purge_to(&self, name: &str, notes: &mut Notes) -> SqlResult<()> {
        let _admin = self.admin.lock();
        let lowest = self.log.purge_to(name);
        let lowest = lowest.ok_or_else(|| SqlError::new(&ER_UNKNOWN_TARGET_BINLOG, &[]))?;
        let (lowest, condition) = self.unread_below(lowest);
        notes.extend(condition);
        self.keep_from(lowest).map_err(|error| self.statement_error(error))
    }

    /// Removes the files before the first one that was changed at `time`, or later.
    pub(crate) fn purge_before(&self, time: u64, notes: &mut Notes) -> SqlResult<()> {
        let _admin = self.admin.lock();
        self.remove_before(time, notes).map_err(|error| self.statement_error(error))
    }

    fn remove_before(&self, time: u64, notes: &mut Notes) -> EngineResult<()> {
        let changed = |file| {
            let changed = self.files.changed(file).ok()?.duration_since(UNIX_EPOCH);
            changed.ok().map(|since| since.as_secs())
        };
        match self.log.purge_before(time, changed) {
            Some(lowest) => {
                let (lowest, condition) = self.unread_below(lowest);
                notes.extend(condition);
                self.keep_from(lowest)
            }
            None => Ok(()),
        }
    }

    fn keep_from(&self, lowest: FileNumber) -> EngineResult<()> {
        if self.log.files().first().is_none_or(|(first, _)| *first >= lowest) {
            return Ok(());
        }
        self.append(self.log.purged(lowest))?;
        self.log.remove_purged().map_err(engine_error)
    }

    /// Removes files that are too old. Files that cannot be removed now are removed later.
    fn expire(&self) {
        let Some(age) = *self.expiry.lock() else { return };
        let Some(time) = SystemTime::now().checked_sub(age) else { return };
        let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if let Err(error) = self.remove_before(seconds, &mut Notes::new()) {
            tracing::error!("Old files of the binary log could not be removed: {error}");
        }
    }

    /// A failure of the log as a statement's error.
    pub(super) fn statement_error(&self, error: EngineError) -> SqlError {
        match error {
            EngineError::Refused(error) => *error,
            EngineError::DiskFull => self.write_error(rustix::io::Errno::NOSPC.raw_os_error()),
            EngineError::Io(error) => self.io_error(&error),
            other => SqlError::internal(other.to_string()),
        }
    }

    /// A failure of the file system as a statement's error.
    pub(super) fn io_error(&self, error: &io::Error) -> SqlError {
        self.write_error(error.raw_os_error().unwrap_or_default())
    }

    fn write_error(&self, code: i32) -> SqlError {
        SqlError::new(&ER_ERROR_ON_WRITE, &[&self.files.names().shown_base, &code])
    }
}
