//! Start of a server from its settings until it accepts connections, and its stop.
//!
//! Must not parse options.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::data_dir::DataDir;
use super::{open_files, tls};
use crate::accounts::{Acl, AclStore};
use crate::backend::SessionFactory;
use crate::binlog;
use crate::events;
use crate::net::{Acceptors, Endpoints, Listeners, bind_all};
use crate::options::Settings;
use crate::performance::{Performance, Sizes, derive_sizes};
use crate::replica::{self, Riders};
use crate::scheduler;
use crate::server::Server;
use crate::variables::{Globals, VarValue, registry};

/// Time that sessions have to end when the server stops.
const GRACE: Duration = Duration::from_secs(10);

/// Opens the backend over a locked data directory.
pub type OpenBackend<B> =
    dyn Fn(&Settings, &Path, &Arc<AclStore>, &Riders) -> Result<Arc<B>, String>;

/// Input of a start.
pub struct Start<'a, B> {
    /// Variables after all options.
    pub settings: Settings,
    /// Opens the backend.
    pub backend: &'a OpenBackend<B>,
}

/// A server that takes connections.
#[derive(Debug)]
pub struct Running {
    /// The server.
    pub server: Arc<Server>,
    acceptors: Acceptors,
    extra: Option<Acceptors>,
    pid_file: Option<PathBuf>,
    data_dir: DataDir,
}

/// Starts a server; the error is a sentence for the log.
pub fn start<B: SessionFactory>(start: Start<'_, B>) -> Result<Running, String> {
    let mut settings = start.settings;
    let data_dir = DataDir::open(Path::new(text(&settings, "datadir").as_str()))?;
    let path = data_dir.path().to_owned();
    derive(&mut settings, &path);
    let tls = tls::set_up(&mut settings, &path)?;
    let accounts = Arc::new(AclStore::new(Acl::initial(&text(&settings, "hostname"))));
    let endpoints = |accounts: &AclStore| endpoints(&settings, accounts, &path);
    let binlog = binlog::set_up(&settings, &path)?;
    let riders = Riders { binlog, applied: Arc::default() };
    let backend = (start.backend)(&settings, &path, &accounts, &riders)?;
    let endpoints = endpoints(&accounts);
    let skip_name_resolve = number(&settings, "skip_name_resolve") != 0;
    let pid_file = PathBuf::from(text(&settings, "pid_file"));
    let port_wait = settings.port_wait;
    let connections = replica::set_up(&settings);
    let performance = (number(&settings, "performance_schema") != 0)
        .then(|| Performance::new(Sizes::of(&settings), &settings.measured));
    let globals = Globals::new(settings.values);
    crate::memory::apply(&globals);
    crate::memory::note_start();
    let server = Server::new(globals, accounts, Arc::clone(&backend) as _, path);
    let server = server.with_tls(tls).with_riders(riders).with_replica(connections);
    let server = Arc::new(server);
    if let Some(performance) = performance {
        server.sessions.measure(performance);
    }
    let listeners = bind_in_time(&endpoints, port_wait)?;
    if let Some(bound) = listeners.addresses().first() {
        server.globals.set(definition("port").id, VarValue::Uint(bound.port().into()));
    }
    replica::begin(&server);
    let thread_error = |e| format!("Can't create a thread: {e}");
    let door = scheduler::main_door(&server, &backend).map_err(thread_error)?;
    let acceptors = listeners.run(skip_name_resolve, &door).map_err(thread_error)?;
    let extra = match endpoints.extra() {
        Some(extra) => {
            let listeners = bind_all(&extra)?;
            let door = scheduler::extra_door(&server, &backend);
            Some(listeners.run(skip_name_resolve, &door).map_err(thread_error)?)
        }
        None => None,
    };
    events::begin(&server);
    let pid_file = write_pid(&pid_file);
    announce(&server, &endpoints);
    Ok(Running { server, acceptors, extra, pid_file, data_dir })
}

/// Binds the addresses; another program may leave one of them within `wait`.
fn bind_in_time(endpoints: &Endpoints, wait: Duration) -> Result<Listeners, String> {
    let deadline = Instant::now() + wait;
    loop {
        match bind_all(endpoints) {
            Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(100)),
            bound => return bound,
        }
    }
}

fn definition(name: &str) -> &'static crate::variables::VarDef {
    registry().find(name).expect("a variable of the table")
}

fn text(settings: &Settings, name: &str) -> String {
    settings.get(definition(name)).as_str().to_owned()
}

pub(super) fn number(settings: &Settings, name: &str) -> u64 {
    settings.get(definition(name)).as_u64()
}

/// Derives values from the data directory and from other values.
fn derive(settings: &mut Settings, data_dir: &Path) {
    let with_slash = format!("{}/", data_dir.display());
    settings.derive("datadir", VarValue::text(with_slash));
    if text(settings, "socket").is_empty() {
        let socket = data_dir.join("selkie.sock");
        settings.derive("socket", VarValue::text(socket.to_string_lossy()));
    }
    if text(settings, "pid_file").is_empty() {
        let base = settings.binlog.base.clone();
        let name = format!("{}.pid", base.unwrap_or_else(|| text(settings, "hostname")));
        settings.derive("pid_file", VarValue::text(data_dir.join(name).to_string_lossy()));
    }
    if !settings.is_given("bind_address") {
        // Compat: MariaDB listens on all addresses by default. Here a new server has a root account
        // without a password, so the default is loopback.
        settings.derive("bind_address", VarValue::text("127.0.0.1"));
    }
    for name in ["basedir", "character_sets_dir", "plugin_dir"] {
        let directory = text(settings, name);
        if !directory.is_empty() && !directory.ends_with('/') {
            settings.derive(name, VarValue::text(directory + "/"));
        }
    }
    // Compat: `innodb_force_recovery` of 6 also shows as `innodb_read_only`.
    if number(settings, "innodb_force_recovery") >= 6 {
        settings.derive("innodb_read_only", VarValue::Uint(1));
    }
    // Compat: without accounts nobody has the definers' privileges.
    if number(settings, "skip_grant_tables") != 0 {
        settings.derive("event_scheduler", VarValue::Enum(events::DISABLED));
    }
    if !settings.is_given("report_port") {
        let port = VarValue::Uint(number(settings, "port"));
        settings.derive("report_port", port);
    }
    let engine = text(settings, "default_storage_engine");
    settings.derive("storage_engine", VarValue::text(engine));
    open_files::share(settings);
    if number(settings, "performance_schema") != 0 {
        derive_sizes(settings);
    }
    derive_charsets(settings);
    derive_skipped_errors(settings);
    binlog::derive_names(settings, data_dir);
}

/// Compat: the numbers of `slave_skip_errors` are shown in their order.
fn derive_skipped_errors(settings: &mut Settings) {
    let list = text(settings, "slave_skip_errors");
    let numbers = list.split(',').map(|number| number.trim().parse::<u16>());
    if let Ok(mut numbers) = numbers.collect::<Result<Vec<_>, _>>() {
        numbers.sort_unstable();
        numbers.dedup();
        let shown: Vec<String> = numbers.iter().map(u16::to_string).collect();
        settings.derive("slave_skip_errors", VarValue::text(shown.join(",")));
    }
}

/// `--character-set-server` alone also sets the collation; `--collation-server` alone the character
/// set.
fn derive_charsets(settings: &mut Settings) {
    use selkie_types::{Charset, CollationId};
    let charset = Charset::from_name(&text(settings, "character_set_server"));
    let collation = CollationId::from_name(&text(settings, "collation_server"));
    let (Some(charset), Some(mut collation)) = (charset, collation) else { return };
    if settings.is_given("character_set_server") && collation.charset() != charset {
        collation = charset.default_collation();
    }
    let name = VarValue::text(collation.charset().name());
    for variable in [
        "character_set_server",
        "character_set_database",
        "character_set_client",
        "character_set_connection",
        "character_set_results",
    ] {
        settings.derive(variable, name.clone());
    }
    for variable in ["collation_server", "collation_database", "collation_connection"] {
        settings.derive(variable, VarValue::text(collation.name()));
    }
}

fn endpoints(settings: &Settings, accounts: &AclStore, data_dir: &Path) -> Endpoints {
    let networking = number(settings, "skip_networking") == 0;
    let port = number(settings, "port") as u16;
    let unprotected = number(settings, "skip_grant_tables") != 0;
    let open = accounts.current().open_account().map(|a| a.name.quoted());
    let open_account = if unprotected { Some("of any name".to_owned()) } else { open };
    Endpoints {
        addresses: text(settings, "bind_address"),
        port: networking.then_some(port),
        extra_port: Some(number(settings, "extra_port") as u16).filter(|p| networking && *p != 0),
        socket: Some(data_dir.join(text(settings, "socket"))),
        open_account,
    }
}

fn write_pid(path: &Path) -> Option<PathBuf> {
    match std::fs::write(path, format!("{}\n", std::process::id())) {
        Ok(()) => Some(path.to_owned()),
        Err(e) => {
            tracing::error!("Can't write pid file '{}': {e}", path.display());
            None
        }
    }
}

fn announce(server: &Server, endpoints: &Endpoints) {
    use crate::variables::{VERSION, VERSION_COMMENT};
    let port = endpoints.port.unwrap_or(0);
    let socket = endpoints.socket.as_deref().unwrap_or(Path::new(""));
    if endpoints.port.is_some() {
        let ip = &endpoints.addresses;
        tracing::info!("Server socket created on IP: '{ip}', port: '{port}'.");
    }
    tracing::info!(
        "selkie: ready for connections.\nVersion: '{VERSION}'  socket: '{}'  port: {port}  {VERSION_COMMENT}",
        socket.display()
    );
    if let Some(account) = server.accounts.current().open_account() {
        tracing::warn!(
            "Account {} has no password; only clients on this machine can connect",
            account.name.quoted()
        );
    }
}

impl Running {
    /// Command line with which a client can connect.
    pub fn how_to_connect(&self) -> String {
        use crate::variables::ids;
        let globals = &self.server.globals;
        let socket = globals.get(ids().socket);
        if globals.get(ids().skip_networking).as_bool() {
            return format!("mariadb -uroot --socket={}", socket.as_str());
        }
        let address = globals.get(ids().bind_address);
        let port = globals.get(ids().port).as_u64();
        format!(
            "mariadb -h{} -P{port} -uroot    (or --socket={})",
            address.as_str(),
            socket.as_str()
        )
    }

    /// The bound TCP addresses.
    pub fn addresses(&self) -> Vec<std::net::SocketAddr> {
        self.acceptors.addresses().to_vec()
    }

    /// Ends all sessions and stops the server.
    pub fn stop(self) {
        self.server.stop();
        self.acceptors.stop();
        self.extra.into_iter().for_each(Acceptors::stop);
        replica::end(&self.server);
        events::end(&self.server);
        for session in self.server.sessions.list() {
            session.kill_connection();
        }
        let deadline = Instant::now() + GRACE;
        while self.server.sessions.count() > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        for session in self.server.sessions.list() {
            tracing::warn!("Thread {} (user : '{}') did not exit", session.id, session.user());
        }
        if let Some(pool) = self.server.pool() {
            pool.stop();
        }
        if let Some(binlog) = self.server.binlog() {
            binlog.end();
        }
        self.server.backend.shutdown();
        if let Some(path) = &self.pid_file {
            let _ = std::fs::remove_file(path);
        }
        tracing::info!("selkie: Shutdown complete");
        drop(self.data_dir);
    }
}
