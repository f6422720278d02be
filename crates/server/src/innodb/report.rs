//! SHOW ENGINE INNODB STATUS: the sections and lines that monitoring tools read.
//!
//! Must not invent figures: a figure without a counterpart here is zero or left out.

use std::fmt::Write;

use selkie_engine::{LockDetail, TransactionInfo, TransactionPhase};
use selkie_types::SqlResult;

use super::Asked;
use super::buffer::hit_rate;
use super::look::Look;
use super::monitor::{Rates, Sample};
use super::sections;
use super::transactions::session_of;
use crate::accounts::Privileges;
use crate::time::local_datetime;
use crate::variables::ids;

/// The whole report.
pub(crate) fn status_report(asked: &Asked<'_>) -> SqlResult<String> {
    let shared = asked.shared;
    shared.access.lock().check_global(Privileges::PROCESS)?;
    let server = &shared.server;
    let rates = server.innodb.sample(Sample::of(&server.gauges()));
    let now = local_datetime(std::time::SystemTime::now());
    let mut out = String::from("\n");
    rule(&mut out, '=', 37);
    let _ = writeln!(out, "{now} 0x{:x} INNODB MONITOR OUTPUT", shared.handle.id);
    rule(&mut out, '=', 37);
    let seconds = rates.seconds as u64;
    let _ = writeln!(out, "Per second averages calculated from the last {seconds} seconds");
    heading(&mut out, "BACKGROUND THREAD");
    background(&mut out, &rates);
    heading(&mut out, "SEMAPHORES");
    if let Some(text) = server.innodb.foreign_key_error() {
        heading(&mut out, "LATEST FOREIGN KEY ERROR");
        out.push_str(&text);
    }
    if let Some(text) = server.innodb.deadlock() {
        heading(&mut out, "LATEST DETECTED DEADLOCK");
        out.push_str(&text);
    }
    heading(&mut out, "TRANSACTIONS");
    let views = transactions(&mut out, asked, &rates);
    heading(&mut out, "FILE I/O");
    file_io(&mut out, &rates);
    heading(&mut out, "LOG");
    log(&mut out, &rates);
    heading(&mut out, "BUFFER POOL AND MEMORY");
    buffer_pool(&mut out, &rates);
    heading(&mut out, "ROW OPERATIONS");
    row_operations(&mut out, &rates, views);
    rule(&mut out, '-', 28);
    out.push_str("END OF INNODB MONITOR OUTPUT\n");
    rule(&mut out, '=', 28);
    Ok(out)
}

fn rule(out: &mut String, mark: char, width: usize) {
    out.extend(std::iter::repeat_n(mark, width));
    out.push('\n');
}

fn heading(out: &mut String, title: &str) {
    rule(out, '-', title.len());
    out.push_str(title);
    out.push('\n');
    rule(out, '-', title.len());
}

fn background(out: &mut String, rates: &Rates) {
    let (active, idle) =
        (rates.get("master_thread_active_loops"), rates.get("master_thread_idle_loops"));
    let syncs = rates.get("background_log_sync");
    let _ = writeln!(
        out,
        "srv_master_thread loops: {active} srv_active, 0 srv_shutdown, {idle} srv_idle\n\
         srv_master_thread log flush and writes: {syncs}"
    );
}

/// Writes the section; returns the number of open snapshots.
fn transactions(out: &mut String, asked: &Asked<'_>, rates: &Rates) -> usize {
    let all_locks = asked.shared.server.globals.get(ids().innodb_status_output_locks).as_bool();
    let detail = if all_locks { LockDetail::All } else { LockDetail::Waits };
    let look = Look::new(asked.instance, detail);
    let _ = writeln!(
        out,
        "Trx id counter {}\nPurge done for trx's n:o < {} undo n:o < 0 state: running but idle\n\
         History list length {}\nLIST OF TRANSACTIONS FOR EACH SESSION:",
        rates.get("max_trx_id"),
        look.found.transactions.first().map_or(rates.get("max_trx_id"), |oldest| oldest.id),
        rates.get("history_list_length"),
    );
    for trx in look.found.transactions.iter().rev() {
        transaction(out, asked, &look, trx, all_locks);
    }
    look.found.transactions.iter().filter(|trx| trx.has_snapshot).count()
}

fn transaction(
    out: &mut String,
    asked: &Asked<'_>,
    look: &Look<'_>,
    trx: &TransactionInfo,
    all_locks: bool,
) {
    let session = session_of(asked.shared, trx);
    sections::transaction(out, "---", trx, session.as_deref());
    if trx.phase == TransactionPhase::LockWait {
        let waited = trx.wait_started.and_then(|at| at.elapsed().ok()).unwrap_or_default();
        let micros = waited.as_micros();
        let _ =
            writeln!(out, "------- TRX HAS BEEN WAITING {micros} us FOR THIS LOCK TO BE GRANTED:");
        if let Some(lock) = look.requested(trx) {
            sections::lock(out, &look.tables, lock);
        }
        out.push_str("------------------\n");
    }
    if all_locks {
        let own = look.found.locks.iter().filter(|lock| lock.transaction == trx.id);
        own.for_each(|lock| sections::lock(out, &look.tables, lock));
    }
}

fn file_io(out: &mut String, rates: &Rates) {
    let mean = rates.grown("data_read").checked_div(rates.grown("data_reads")).unwrap_or(0);
    let _ = writeln!(
        out,
        "Pending flushes (fsync): {}\n{} OS file reads, {} OS file writes, {} OS fsyncs\n\
         {:.2} reads/s, {mean} avg bytes/read, {:.2} writes/s, {:.2} fsyncs/s",
        rates.get("data_pending_fsyncs"),
        rates.get("data_reads"),
        rates.get("data_writes"),
        rates.get("data_fsyncs"),
        rates.rate("data_reads"),
        rates.rate("data_writes"),
        rates.rate("data_fsyncs"),
    );
}

fn log(out: &mut String, rates: &Rates) {
    let checkpoint = rates.get("lsn_last_checkpoint");
    let _ = writeln!(
        out,
        "Log sequence number {}\nLog flushed up to   {}\nPages flushed up to {checkpoint}\n\
         Last checkpoint at  {checkpoint}",
        rates.get("lsn_current"),
        rates.get("lsn_flushed"),
    );
}

fn buffer_pool(out: &mut String, rates: &Rates) {
    let get = |name| rates.get(name);
    let (data, dirty) = (get("buffer_pool_pages_data"), get("buffer_pool_pages_dirty"));
    let (total, free) = (get("buffer_pool_pages_total"), get("buffer_pool_pages_free"));
    let percent = dirty as f64 * 100.0 / (free + data).max(1) as f64;
    let _ = writeln!(
        out,
        "Total large memory allocated {}\nDictionary memory allocated {}\nBuffer pool size   {total}\n\
         Free buffers       {free}\nDatabase pages     {data}\nOld database pages {}\n\
         Modified db pages  {dirty}\nPercent of dirty pages(LRU & free pages): {percent:.3}\n\
         Max dirty pages percent: 90.000\nPending reads {}\nPending writes: LRU 0, flush list 0\n\
         Pages made young 0, not young 0\n0.00 youngs/s, 0.00 non-youngs/s",
        total * get("page_size"),
        get("mem_dictionary"),
        get("buffer_pool_pages_old"),
        get("data_pending_reads"),
    );
    let _ = writeln!(
        out,
        "Pages read {}, created {}, written {}\n{:.2} reads/s, {:.2} creates/s, {:.2} writes/s",
        get("pages_read"),
        get("pages_created"),
        get("pages_written"),
        rates.rate("pages_read"),
        rates.rate("pages_created"),
        rates.rate("pages_written"),
    );
    let requests = rates.grown("buffer_pool_read_requests");
    match requests {
        0 => out.push_str("No buffer pool page gets since the last printout\n"),
        _ => {
            let hits = hit_rate(requests, rates.grown("buffer_pool_reads"));
            let _ = writeln!(
                out,
                "Buffer pool hit rate {hits} / 1000, young-making rate 0 / 1000 not 0 / 1000"
            );
        }
    }
    let _ = writeln!(
        out,
        "Pages read ahead {:.2}/s, evicted without access {:.2}/s, Random read ahead 0.00/s\n\
         LRU len: {data}, unzip_LRU len: 0\nI/O sum[0]:cur[0], unzip sum[0]:cur[0]",
        rates.rate("buffer_pool_read_ahead"),
        rates.rate("buffer_pool_read_ahead_evicted"),
    );
}

/// Compat: MariaDB 10.11 does not print the row counts any more. Tools for InnoDB's report read
/// them, and skip lines they do not know.
fn row_operations(out: &mut String, rates: &Rates, views: usize) {
    let _ = writeln!(
        out,
        "{views} read views open inside InnoDB\n\
         Number of rows inserted {}, updated {}, deleted {}, read {}\n\
         {:.2} inserts/s, {:.2} updates/s, {:.2} deletes/s, {:.2} reads/s\nstate: sleeping",
        rates.get("rows_inserted"),
        rates.get("rows_updated"),
        rates.get("rows_deleted"),
        rates.get("rows_read"),
        rates.rate("rows_inserted"),
        rates.rate("rows_updated"),
        rates.rate("rows_deleted"),
        rates.rate("rows_read"),
    );
}
