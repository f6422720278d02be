//! The engine's status counters, under MariaDB's names.
//!
//! Must not report names that nothing counts: the server shows those as zero itself.

use super::shared::Shared;
use crate::disk::DiskTraffic;
use crate::ids::PAGE_SIZE;
use crate::sync::atomic::{AtomicU64, Ordering};

type Report<'a> = &'a mut dyn FnMut(&str, u64);

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Shared {
    pub(super) fn report_status(&self, report: Report<'_>) {
        self.report_pool(report);
        self.report_log(report);
        self.report_transactions(report);
        self.report_undo(report);
        self.report_columns(report);
        if let Some(traffic) = self.storage.disk().traffic() {
            report_traffic(traffic, report);
        }
    }

    fn report_pool(&self, report: Report<'_>) {
        let (pool, page) = (self.storage.pool(), PAGE_SIZE as u64);
        let (total, free) = (pool.capacity() as u64, pool.free_frames() as u64);
        let (data, dirty) = (total.saturating_sub(free), pool.dirty_pages() as u64);
        let reads = load(&pool.reads);
        let counters = [
            ("Innodb_page_size", page),
            ("Innodb_buffer_pool_pages_total", total),
            ("Innodb_buffer_pool_pages_free", free),
            ("Innodb_buffer_pool_pages_data", data),
            ("Innodb_buffer_pool_bytes_data", data * page),
            ("Innodb_buffer_pool_pages_dirty", dirty),
            ("Innodb_buffer_pool_bytes_dirty", dirty * page),
            ("Innodb_buffer_pool_pages_flushed", pool.pages_written()),
            ("Innodb_buffer_pool_reads", reads),
            ("Innodb_buffer_pool_read_ahead", pool.read_ahead_pages()),
            ("Innodb_buffer_pool_read_requests", pool.requests.sum()),
            ("Innodb_buffer_pool_write_requests", pool.changes.sum()),
            ("Innodb_buffer_pool_wait_free", load(&pool.waits_for_frames)),
            ("Innodb_pages_created", load(&pool.created)),
            ("Innodb_pages_read", reads + pool.read_ahead_pages()),
            ("Innodb_pages_written", pool.pages_written()),
        ];
        counters.into_iter().for_each(|(name, value)| report(name, value));
    }

    fn report_log(&self, report: Report<'_>) {
        let (storage, log) = (&self.storage, self.storage.log());
        let counters = [
            ("Innodb_checkpoint_age", storage.log_age()),
            ("Innodb_checkpoint_max_age", storage.log_budget()),
            ("Innodb_lsn_current", log.tail().0),
            ("Innodb_lsn_flushed", log.durable().0),
            ("Innodb_lsn_last_checkpoint", storage.checkpoint_lsn().0),
            ("Innodb_os_log_fsyncs", load(&log.syncs)),
            ("Binlog_group_commits", log.rider_flushes()),
            ("Innodb_log_write_requests", log.groups.sum()),
            ("Innodb_log_waits", load(&log.waits)),
        ];
        counters.into_iter().for_each(|(name, value)| report(name, value));
    }

    fn report_transactions(&self, report: Report<'_>) {
        let (waits, deadlocks) = self.locks.counters();
        let times = &self.wait_times;
        let (time, ended) = (load(&times.micros) / 1000, load(&times.ended));
        let counters = [
            ("Innodb_history_list_length", self.purge.len() as u64),
            ("Innodb_max_trx_id", self.next_trx()),
            ("Innodb_num_open_files", self.storage.disk().open_files() as u64),
            ("Innodb_deadlocks", deadlocks),
            ("Innodb_row_lock_waits", waits),
            ("Innodb_row_lock_time", time),
            ("Innodb_row_lock_time_avg", time.checked_div(ended).unwrap_or(0)),
            ("Innodb_row_lock_time_max", load(&times.longest) / 1000),
            ("Innodb_row_lock_timeouts", load(&times.timeouts)),
            ("Innodb_row_lock_current_waits", self.locks.waiting() as u64),
            ("Innodb_current_row_locks", self.locks.len() as u64),
            ("Innodb_rows_read", self.counters.read.sum()),
            ("Innodb_rows_inserted", self.counters.inserted.sum()),
            ("Innodb_rows_updated", self.counters.updated.sum()),
            ("Innodb_rows_deleted", self.counters.deleted.sum()),
        ];
        counters.into_iter().for_each(|(name, value)| report(name, value));
    }
}

impl Shared {
    fn report_undo(&self, report: Report<'_>) {
        let (undo, store) = (&self.undo, &self.undo.store);
        let counters = [
            ("Selkie_undo_segments", undo.len() as u64),
            ("Selkie_undo_memory_bytes", undo.memory() as u64),
            ("Selkie_undo_pruned_versions", load(&undo.pruned)),
            ("Selkie_undo_removed_segments", load(&undo.removed)),
            ("Selkie_undo_spilled_segments", load(&undo.spilled)),
            ("Selkie_undo_stored_bytes", load(&store.bytes)),
            ("Selkie_undo_store_written", load(&store.written)),
            ("Selkie_undo_store_reads", load(&store.reads)),
            ("Selkie_unfinished_segments", self.losers.len() as u64),
            ("Selkie_prepared_transactions", self.prepared.len() as u64),
        ];
        counters.into_iter().for_each(|(name, value)| report(name, value));
    }
}

impl Shared {
    fn report_columns(&self, report: Report<'_>) {
        let columns = &self.counters.columns;
        let counters = [
            ("Selkie_columns_built", load(&columns.built)),
            ("Selkie_columns_bytes", load(&columns.bytes)),
            ("Selkie_columns_compressed", load(&columns.compressed)),
            ("Selkie_columns_filled", load(&columns.filled)),
            ("Selkie_columns_groups", load(&columns.groups)),
            ("Selkie_columns_patches", load(&columns.patches)),
            ("Selkie_columns_rows_read", load(&columns.read)),
        ];
        counters.into_iter().for_each(|(name, value)| report(name, value));
    }
}

fn report_traffic(traffic: &DiskTraffic, report: Report<'_>) {
    let DiskTraffic { data, log, doublewrite } = traffic;
    let pages = load(&doublewrite.written_bytes) / PAGE_SIZE as u64;
    let counters = [
        ("Innodb_data_reads", load(&data.reads)),
        ("Innodb_data_read", load(&data.read_bytes)),
        ("Innodb_data_writes", load(&data.writes)),
        ("Innodb_data_written", load(&data.written_bytes)),
        ("Innodb_data_fsyncs", load(&data.syncs) + load(&doublewrite.syncs) + load(&log.syncs)),
        ("Innodb_data_pending_reads", load(&data.pending_reads)),
        ("Innodb_data_pending_writes", load(&data.pending_writes)),
        ("Innodb_data_pending_fsyncs", load(&data.pending_syncs) + load(&log.pending_syncs)),
        ("Innodb_log_writes", load(&log.writes)),
        ("Innodb_os_log_written", load(&log.written_bytes)),
        ("Innodb_os_log_pending_writes", load(&log.pending_writes)),
        ("Innodb_dblwr_writes", load(&doublewrite.writes)),
        ("Innodb_dblwr_pages_written", pages),
    ];
    counters.into_iter().for_each(|(name, value)| report(name, value));
}
