//! Opens a data directory: the engine, the dictionary, the accounts, and the backend over them.
//!
//! Called at start, before connections are accepted. An error here is the reason to refuse the
//! start.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use selkie_catalog::{Catalog, Dictionary, Event};
use selkie_engine::{Engine, EngineObserver};
use selkie_exec::session::{Account, NoHooks, Session};
use selkie_exec::{FilePlaces, Instance, NullSink, TemporaryFiles, execute_text};
use selkie_native::{FlushAtCommit, NativeEngine, NativeOptions};
use selkie_types::{SqlResult, stack};

use super::account_tables::AccountTables;
use super::engines::engines;
use super::events::{self, SchedulerSession};
use super::log_tables::LogTables;
use super::replica::Replica;
use super::session::ExecutorSession;
use super::sys_schema;
use super::system::{Registered, register};
use crate::accounts::AclStore;
use crate::backend::{Backend, EventSession, ReplicaScope, ReplicaSession, SessionFactory, Uses};
use crate::binlog::Binlog;
use crate::innodb::DeadlockWatcher;
use crate::options::Settings;
use crate::query_log::{GeneralEntry, SlowEntry};
use crate::replica::Riders;
use crate::server::Server;
use crate::session::Shared;
use crate::status::Gauges;
use crate::thread_pool::BACKGROUND;
use crate::variables::registry;

/// The lowest `innodb_force_recovery` that makes tables read-only.
const READ_ONLY_FROM: u64 = 5;

/// The executor as the backend of a server.
struct ExecutorBackend {
    instance: Arc<Instance>,
    sessions: Registered,
    logs: LogTables,
    /// The thread that builds column groups.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Opens the data directory; the error is a sentence for the log.
pub(crate) fn open_backend(
    settings: &Settings,
    data_dir: &Path,
    accounts: &Arc<AclStore>,
    riders: &Riders,
) -> Result<Arc<impl SessionFactory + use<>>, String> {
    let binlog = riders.binlog.as_ref();
    let temporary = Arc::new(temporary_files(settings));
    let options = native_options(settings, riders, &temporary);
    let native = NativeEngine::open(data_dir, &options).map_err(|e| format!("InnoDB: {e}"))?;
    let native: Arc<dyn Engine> = Arc::new(native);
    native.set_variable("sync_binlog", number(settings, "sync_binlog"));
    let columns = crate::memory::of_columns(number(settings, "selkie_column_memory"));
    native.set_variable("selkie_column_memory", columns);
    riders.applied.begin(&native);
    if let Some(binlog) = binlog {
        binlog.begin(&native)?;
        binlog.log().note_seen(riders.applied.state().gtids().gtids());
    }
    let engines = engines(&native);
    let named = |name: &str| engines.personality(name);
    let (dictionary, mut snapshot) =
        Dictionary::open(Arc::clone(&native), &named).map_err(|e| e.to_string())?;
    for plugin in &settings.without {
        snapshot.remove_table("information_schema", &plugin.to_ascii_uppercase());
    }
    let mut instance = Instance::new(Catalog::new(snapshot), dictionary, engines);
    instance.places = FilePlaces::new(data_dir.to_owned(), secure_directory(settings));
    instance.temporary = temporary;
    instance.binlog = binlog.map(|binlog| logged_by(binlog, &native));
    selkie_exec::register_system_tables(&instance);
    let sessions = Registered::default();
    register(&instance, &sessions);
    sys_schema::register(&instance);
    // Before any lock is taken: those of prepared branches count as changes to come.
    instance.results.set_limit(number(settings, "query_cache_limit") as usize);
    instance.results.set_size(number(settings, "query_cache_size") as usize);
    if let kind @ 1.. = number(settings, "query_cache_type") {
        instance.results.set_type(kind);
    }
    instance.uses().switch(number(settings, "userstat") != 0);
    selkie_exec::recover_branches(&instance)
        .map_err(|e| format!("Can't recover prepared transactions: {e}"))?;
    let instance = Arc::new(instance);
    let watcher = DeadlockWatcher::new(Arc::downgrade(&instance), Arc::clone(&sessions));
    let watcher: Arc<dyn EngineObserver> = Arc::new(watcher);
    instance.engines.iter().for_each(|engine| engine.observe(Arc::clone(&watcher)));
    create_system_schema(&instance, settings)
        .map_err(|e| format!("Can't create the database mysql: {e}"))?;
    selkie_exec::load_statistics(&instance)
        .map_err(|e| format!("Can't read the statistics of tables: {e}"))?;
    AccountTables::open(&instance)
        .and_then(|tables| tables.attach(accounts))
        .map_err(|e| format!("Can't open the privilege tables: {e}"))?;
    sys_schema::add(&instance);
    let logs = LogTables::open(&instance).map_err(|e| format!("Can't open the log tables: {e}"))?;
    let force = number(settings, "innodb_force_recovery");
    if force > 0 {
        tracing::warn!("InnoDB: innodb_force_recovery={force}: unreadable data is skipped");
    }
    if force >= READ_ONLY_FROM {
        native.set_variable("innodb_read_only", 1);
    }
    if force == 0 && number(settings, "selkie_columns") > 0 {
        instance.upkeep.columns.list_in(data_dir.join("column_groups.list"));
    }
    let threads = start_threads(&instance, number(settings, "selkie_lanes"))
        .map_err(|e| format!("Can't create a thread: {e}"))?;
    Ok(Arc::new(ExecutorBackend { instance, sessions, logs, threads: Mutex::new(threads) }))
}

/// Starts the thread that builds column groups, and the lanes of statements that may use `lanes`
/// threads. Where cores are scarce, both are behind the threads of sessions.
fn start_threads(instance: &Arc<Instance>, lanes: u64) -> std::io::Result<Vec<JoinHandle<()>>> {
    let columns = start_thread(instance, ("columns", 15), selkie_exec::build_wanted_columns)?;
    let lanes =
        (1..lanes).map(|_| start_thread(instance, ("lane", BACKGROUND), selkie_exec::serve_lane));
    std::iter::once(Ok(columns)).chain(lanes).collect()
}

fn start_thread(
    instance: &Arc<Instance>,
    (name, nice): (&str, i32),
    serve: fn(&Instance),
) -> std::io::Result<JoinHandle<()>> {
    let instance = Arc::clone(instance);
    let run = move || {
        // Compat: Linux sets it for the calling thread alone.
        let _ = rustix::process::setpriority_process(None, nice);
        serve(&instance);
    };
    std::thread::Builder::new().name(name.to_owned()).stack_size(stack::SIZE).spawn(run)
}

/// The binary log as the executor uses it: its groups ride in the log of `engine`.
fn logged_by(binlog: &Arc<Binlog>, engine: &Arc<dyn Engine>) -> Arc<selkie_exec::binlog::Binlog> {
    let (log, engine) = (Arc::clone(binlog.log()), Arc::clone(engine));
    let strict = Arc::clone(&binlog.strict);
    Arc::new(selkie_exec::binlog::Binlog::new(log, engine, binlog.filter.clone(), strict))
}

/// The directory in which statements may read and write files. Compat: an empty name means no
/// limit.
fn secure_directory(settings: &Settings) -> Option<PathBuf> {
    let directory = registry().find("secure_file_priv").map(|def| settings.get(def).as_str())?;
    (!directory.is_empty()).then(|| PathBuf::from(directory))
}

fn temporary_files(settings: &Settings) -> TemporaryFiles {
    let directories = registry().find("tmpdir").map(|def| settings.get(def));
    TemporaryFiles::of(directories.as_ref().map_or("", |list| list.as_str()))
}

/// Creates the schema `mysql` with the default character set of new schemas.
fn create_system_schema(instance: &Instance, settings: &Settings) -> selkie_types::SqlResult<()> {
    let word = |name: &str| registry().find(name).map(|def| settings.get(def).as_str().to_owned());
    let mut text = "CREATE DATABASE IF NOT EXISTS mysql".to_owned();
    if let (Some(charset), Some(collation)) =
        (word("character_set_server"), word("collation_server"))
    {
        text += &format!(" CHARACTER SET {charset} COLLATE {collation}");
    }
    let mut session = Session::new(0, Account::default(), Arc::new(NoHooks));
    execute_text(instance, &mut session, text.as_bytes(), &mut NullSink).map(drop)
}

/// `selkie inspect`: prints the content of a data directory or a binary log without a server.
pub fn inspect(arguments: &[String]) -> std::process::ExitCode {
    let out = &mut std::io::stdout().lock();
    match arguments {
        [what, file] if what == "binlog" => crate::inspect_binlog::run(file, out).into(),
        arguments => selkie_native::inspect(arguments, out).into(),
    }
}

fn number(settings: &Settings, name: &str) -> u64 {
    registry().find(name).map_or(0, |d| settings.get(d).as_u64())
}

fn native_options(
    settings: &Settings,
    riders: &Riders,
    temporary: &Arc<TemporaryFiles>,
) -> NativeOptions {
    let temporary = Arc::clone(temporary);
    NativeOptions {
        rider_files: Some(riders.owner()),
        temporary: Arc::new(move || temporary.file()),
        buffer_pool_bytes: number(settings, "innodb_buffer_pool_size") as usize,
        log_capacity_bytes: number(settings, "innodb_log_file_size"),
        log_buffer_bytes: number(settings, "innodb_log_buffer_size") as usize,
        undo_memory_bytes: number(settings, "selkie_undo_memory") as usize,
        flush_at_commit: FlushAtCommit::of_setting(number(
            settings,
            "innodb_flush_log_at_trx_commit",
        )),
        open_files: number(settings, "innodb_open_files") as usize,
        doublewrite: number(settings, "innodb_doublewrite") != 0,
        force_recovery: number(settings, "innodb_force_recovery") as u8,
        ..NativeOptions::default()
    }
}

impl SessionFactory for ExecutorBackend {
    type Session = ExecutorSession;

    fn open(&self, shared: &Arc<Shared>) -> ExecutorSession {
        let (instance, sessions) = (Arc::clone(&self.instance), Arc::clone(&self.sessions));
        ExecutorSession::new(instance, Arc::clone(shared), sessions)
    }
}

impl Backend for ExecutorBackend {
    fn status(&self, gauges: &mut Gauges) {
        let open = self.instance.open_tables().to_string();
        gauges.insert("open_tables".to_owned(), open.clone());
        gauges.insert("open_table_definitions".to_owned(), open);
        let counts = self.instance.results.counts();
        for (name, value) in [
            ("qcache_free_blocks", counts.free_blocks),
            ("qcache_free_memory", counts.free_memory),
            ("qcache_hits", counts.hits),
            ("qcache_inserts", counts.inserts),
            ("qcache_lowmem_prunes", counts.lowmem_prunes),
            ("qcache_not_cached", counts.not_cached),
            ("qcache_queries_in_cache", counts.queries_in_cache),
            ("qcache_total_blocks", counts.total_blocks),
        ] {
            gauges.insert(name.to_owned(), value.to_string());
        }
        for engine in self.instance.engines.iter() {
            engine.status(&mut |name, value| {
                gauges.insert(name.to_ascii_lowercase(), value.to_string());
            });
        }
    }

    fn set_variable(&self, name: &str, value: u64) -> u64 {
        let results = &self.instance.results;
        match name {
            "query_cache_limit" => results.set_limit(value as usize),
            "query_cache_size" => return results.set_size(value as usize) as u64,
            "query_cache_type" => results.set_type(value),
            "userstat" => self.instance.uses().switch(value != 0),
            _ => {}
        }
        let engines = self.instance.engines.iter();
        engines.fold(value, |value, engine| engine.set_variable(name, value))
    }

    fn forget_results(&self) {
        self.instance.results.clear();
    }

    fn check_loadable(&self, table: &str, columns: usize) -> SqlResult<()> {
        selkie_exec::check_loadable(&self.instance, table, columns)
    }

    fn forget_uses(&self, of: Uses) {
        match of {
            Uses::Tables => self.instance.uses().forget_tables(),
            Uses::Indexes => self.instance.uses().forget_indexes(),
        }
    }

    fn reset_result_counts(&self) {
        self.instance.results.reset_counts();
    }

    fn log_general(&self, entry: &GeneralEntry) {
        self.logs.general(entry);
    }

    fn log_slow(&self, entry: &SlowEntry) {
        self.logs.slow(entry);
    }

    fn replica_session(
        &self,
        server: &Arc<Server>,
        scope: Arc<ReplicaScope>,
        command: &'static str,
    ) -> SqlResult<Box<dyn ReplicaSession>> {
        Ok(Box::new(Replica::open((&self.instance, &self.sessions), server, scope, command)))
    }

    fn event_session(&self, server: &Arc<Server>) -> SqlResult<Box<dyn EventSession>> {
        Ok(Box::new(SchedulerSession::open(&self.instance, &self.sessions, server)))
    }

    fn run_event(&self, server: &Arc<Server>, event: &Event) {
        events::run(&self.instance, &self.sessions, server, event);
    }

    fn shutdown(&self) {
        self.instance.upkeep.columns.stop();
        self.instance.upkeep.lanes.stop();
        for thread in self.threads.lock().drain(..) {
            let _ = thread.join();
        }
        for engine in self.instance.engines.iter() {
            if let Err(error) = engine.shutdown() {
                tracing::error!("{}: {error}", engine.name());
            }
        }
    }
}
