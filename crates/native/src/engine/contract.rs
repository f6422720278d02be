//! The contract's engine: its methods, start and stop of its threads.
//!
//! Must stop its threads before the storage is closed.

use super::open::{open_on, real_disk, start_purger, start_rollback, undo_losers};
use super::options::{FlushAtCommit, NativeOptions};
use super::personality::PERSONALITY;
use super::shared::Shared;
use crate::disk::Disk;
use crate::ids;
use crate::lock::CycleObserver;
use crate::sync::Mutex;
use crate::sync::atomic::Ordering;
use crate::table::{NativeTable, own_trx};
use crate::trx::{NativeTrx, append_rider, purge_step, take_prepared};
use selkie_engine::{
    Capabilities, Engine, EngineObserver, EngineResult, EngineTrx, IndexId, Inspection, Isolation,
    LockDetail, Lsn, Personality, PreparedTrx, Rider, StatementContext, Table, TableDef, TableId,
};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The transactional engine. Its name is InnoDB.
pub struct NativeEngine {
    shared: Arc<Shared>,
    purger: Mutex<Option<JoinHandle<()>>>,
    rollback: Mutex<Option<JoinHandle<()>>>,
}

impl NativeEngine {
    /// Opens the database in `dir`, or creates it. Recovers it if it was not closed cleanly.
    pub fn open(dir: &Path, options: &NativeOptions) -> EngineResult<Self> {
        Self::open_on(real_disk(dir, options)?, options)
    }

    /// As `open`, on any disk.
    pub(crate) fn open_on(disk: Arc<dyn Disk>, options: &NativeOptions) -> EngineResult<Self> {
        let shared = open_on(disk, options)?;
        if !options.background && !shared.storage.rests_rollback() {
            undo_losers(&shared)?;
        }
        Ok(Self::start(shared, options))
    }

    /// As `open_on`, but leaves the losers to `undo_losers_step`.
    #[cfg(test)]
    pub(super) fn open_unfinished(
        disk: Arc<dyn Disk>,
        options: &NativeOptions,
    ) -> EngineResult<Self> {
        Ok(Self::start(open_on(disk, options)?, options))
    }

    #[cfg(test)]
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn start(shared: Arc<Shared>, options: &NativeOptions) -> Self {
        let purger = if options.background { start_purger(&shared) } else { None };
        let rollback = if options.background { start_rollback(&shared) } else { None };
        Self { shared, purger: Mutex::new(purger), rollback: Mutex::new(rollback) }
    }

    /// Changes `innodb_flush_log_at_trx_commit`.
    pub fn set_flush_at_commit(&self, mode: FlushAtCommit) {
        self.shared.storage.log().set_mode(mode.into());
    }

    fn stop_threads(&self) {
        self.shared.losers.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.rollback.lock().take() {
            let _ = thread.join();
        }
        self.stop_purger();
    }

    fn stop_purger(&self) {
        let Some(thread) = self.purger.lock().take() else { return };
        self.shared.purger.stop.store(true, Ordering::Release);
        self.shared.purger.runs.store(false, Ordering::Release);
        self.shared.purger.wake();
        let _ = thread.join();
    }
}

impl Drop for NativeEngine {
    fn drop(&mut self) {
        self.stop_threads();
        self.shared.storage.stop_background();
    }
}

impl Engine for NativeEngine {
    fn personality(&self) -> &'static Personality {
        &PERSONALITY
    }

    fn own_files(&self) -> &'static [&'static str] {
        &crate::disk::OWN_FILES
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { durable: true, row_versions: true, grows_indexes: true, undoes_rows: true }
    }

    fn begin(&self, isolation: Isolation, read_only: bool) -> EngineResult<Box<dyn EngineTrx>> {
        let trx = NativeTrx::new(self.shared.clone(), isolation);
        trx.state().notes.set_read_only(read_only);
        Ok(Box::new(trx))
    }

    fn create_table(&self, trx: &dyn EngineTrx, def: &TableDef) -> EngineResult<()> {
        self.shared.check_writable()?;
        self.shared.create_table(own_trx(trx)?, def)
    }

    fn drop_table(&self, trx: &dyn EngineTrx, id: TableId) -> EngineResult<()> {
        self.shared.check_writable()?;
        self.shared.drop_table(own_trx(trx)?, id)
    }

    fn create_index(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        self.shared.check_writable()?;
        self.shared.build_index(own_trx(trx)?, context, def, position)
    }

    fn start_index(
        &self,
        trx: &dyn EngineTrx,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        self.shared.check_writable()?;
        self.shared.start_index(own_trx(trx)?, def, position)
    }

    fn fill_index(
        &self,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        self.shared.fill_index(context, def, position)
    }

    fn index_published(&self, table: TableId, index: IndexId) {
        self.shared.index_published(table, index);
    }

    fn create_text_index(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        self.shared.check_writable()?;
        self.shared.build_text(own_trx(trx)?, context, def, position)
    }

    fn drop_index(&self, trx: &dyn EngineTrx, table: TableId, index: IndexId) -> EngineResult<()> {
        self.shared.check_writable()?;
        self.shared.drop_index(own_trx(trx)?, table, index)
    }

    fn open_table(&self, def: &Arc<TableDef>) -> EngineResult<Arc<dyn Table>> {
        let files = self.shared.table_files(def.id)?;
        Ok(Arc::new(NativeTable::new(self.shared.clone(), files, def.clone())?))
    }

    fn table_published(&self, id: TableId) {
        if let Ok(files) = self.shared.table_files(id) {
            files.publish(self.shared.snapshots.now(self.shared.storage.log()));
        }
    }

    fn table_exists(&self, id: TableId) -> bool {
        self.shared.table_files(id).is_ok()
    }

    fn retain_tables(&self, known: &[TableId]) -> EngineResult<()> {
        self.shared.retain_tables(known)
    }

    fn wait_durable(&self, lsn: Lsn) -> EngineResult<()> {
        self.shared.storage.log().settle_commit(ids::Lsn(lsn.0));
        Ok(())
    }

    fn is_durable(&self, lsn: Lsn) -> bool {
        self.shared.storage.log().is_settled(ids::Lsn(lsn.0))
    }

    fn wait_written(&self, lsn: Lsn) -> EngineResult<()> {
        self.shared.storage.log().write_upto(ids::Lsn(lsn.0));
        Ok(())
    }

    fn is_written(&self, lsn: Lsn) -> bool {
        self.shared.storage.log().written() >= ids::Lsn(lsn.0)
    }

    fn wait_synced(&self, lsn: Lsn) -> EngineResult<()> {
        self.shared.storage.log().flush_upto(ids::Lsn(lsn.0));
        Ok(())
    }

    fn is_synced(&self, lsn: Lsn) -> bool {
        self.shared.storage.log().durable() >= ids::Lsn(lsn.0)
    }

    fn take_prepared(&self) -> EngineResult<Vec<PreparedTrx>> {
        Ok(take_prepared(&self.shared))
    }

    fn carries_riders(&self) -> bool {
        self.shared.riders.are_taken()
    }

    fn most_rider_bytes(&self) -> usize {
        self.shared.storage.log().most_rider_bytes()
    }

    fn append(&self, rider: &mut dyn Rider) -> EngineResult<Lsn> {
        append_rider(&self.shared, rider)
    }

    fn checkpoint(&self, sharp: bool) -> EngineResult<()> {
        let storage = &self.shared.storage;
        match sharp {
            true => storage.sharp_checkpoint()?,
            false => drop(storage.checkpoint()?),
        }
        Ok(())
    }

    fn has_tables(&self) -> bool {
        !self.shared.tables.read().is_empty()
    }

    fn shutdown(&self) -> EngineResult<()> {
        self.stop_threads();
        if !self.shared.storage.rests_purge() {
            while purge_step(&self.shared)? {}
            self.shared.storage.log().flush_all();
            self.shared.delete_dropped()?;
        }
        self.shared.storage.shutdown()?;
        Ok(())
    }

    fn set_variable(&self, name: &str, value: u64) -> u64 {
        let pool = self.shared.storage.pool();
        match name {
            "innodb_flush_log_at_trx_commit" => {
                self.set_flush_at_commit(FlushAtCommit::of_setting(value));
                value
            }
            "sync_binlog" => {
                self.shared.storage.log().sync_riders_each(value);
                value
            }
            "innodb_read_only" => {
                let rescues = self.shared.storage.has_log();
                self.shared.refuses.read_only.store(value != 0, Ordering::Relaxed);
                self.shared.refuses.rescues.store(value != 0 && rescues, Ordering::Relaxed);
                value
            }
            "selkie_column_memory" => {
                self.shared.counters.columns.limit.store(value, Ordering::Relaxed);
                value
            }
            "innodb_buffer_pool_size" => {
                (pool.resize(value as usize / ids::PAGE_SIZE) * ids::PAGE_SIZE) as u64
            }
            _ => value,
        }
    }

    fn inspect(&self, detail: LockDetail) -> Inspection {
        let transactions = self.shared.running.all().iter().map(|state| state.info()).collect();
        let (mut locks, waits) =
            self.shared.locks.inspect(detail, &|file| self.shared.place_of(file));
        if detail == LockDetail::Waits {
            locks.iter_mut().for_each(|lock| self.shared.find_record(lock));
        }
        Inspection { transactions, locks, waits }
    }

    fn row_waits(&self, show: &mut dyn FnMut(u64, u64)) {
        self.shared.locks.session_waits(show);
    }

    fn observe(&self, observer: Arc<dyn EngineObserver>) {
        let weak = Arc::downgrade(&self.shared);
        let waits = Arc::clone(&observer);
        let cycles: CycleObserver = Box::new(move |parties, victim| {
            let Some(shared) = weak.upgrade() else { return };
            let place = |file| shared.place_of(file);
            if let Some(deadlock) = shared.locks.describe_cycle(parties, victim, &place) {
                observer.deadlock(&deadlock);
            }
        });
        self.shared.locks.observe(cycles, Box::new(move |session| waits.row_wait(session)));
    }

    fn status(&self, report: &mut dyn FnMut(&str, u64)) {
        self.shared.report_status(report);
    }
}
