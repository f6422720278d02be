//! Listening sockets and the threads that accept on them.
//!
//! Must not talk to clients: an accepted stream is passed on at once.
//!
//! Accepting in the pool's threads was rejected. It saved two switches of threads for each
//! connection (50 us of CPU instead of 70). But on an idle machine of two cores, the threads of a
//! single client and of the server stayed on different cores, and each statement woke the other
//! core: pages of 39 statements took 1.6 times the CPU and twice the time.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use selkie_types::stack;

use super::address::{Peer, is_local_only};
use super::transport::Transport;

/// Bound sockets.
#[derive(Debug, Default)]
pub struct Listeners {
    tcp: Vec<TcpListener>,
    unix: Option<(UnixListener, PathBuf)>,
}

/// Addresses and sockets to listen on.
#[derive(Clone, Debug)]
pub(crate) struct Endpoints {
    /// Addresses, separated by commas; empty or `*` means all addresses.
    pub(crate) addresses: String,
    /// Port; `None` means no TCP.
    pub(crate) port: Option<u16>,
    /// A second port with its own threads and limit, for when the first one is blocked or full.
    pub(crate) extra_port: Option<u16>,
    /// Path of the Unix socket.
    pub(crate) socket: Option<PathBuf>,
    /// The name of an account without a password; if there is one, TCP must be on loopback only.
    pub(crate) open_account: Option<String>,
}

impl Endpoints {
    /// The endpoints of the extra port, if there is one.
    pub(crate) fn extra(&self) -> Option<Self> {
        let port = Some(self.extra_port?);
        Some(Self { port, socket: None, extra_port: None, ..self.clone() })
    }
}

/// Binds all sockets; the error is a sentence for the log.
pub(crate) fn bind_all(at: &Endpoints) -> Result<Listeners, String> {
    let mut listeners = Listeners::default();
    if let Some(port) = at.port {
        for address in resolve(&at.addresses, port)? {
            refuse_open(address.ip(), at.open_account.as_deref())?;
            let listener = TcpListener::bind(address).map_err(|e| bind_failed(address, &e))?;
            listeners.tcp.push(listener);
        }
    }
    if let Some(path) = &at.socket {
        listeners.unix = Some((bind_unix(path)?, path.clone()));
    }
    Ok(listeners)
}

/// Binds one TCP address; for tests and tools.
pub fn bind(address: SocketAddr) -> io::Result<Listeners> {
    Ok(Listeners { tcp: vec![TcpListener::bind(address)?], unix: None })
}

fn resolve(addresses: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let mut found = Vec::new();
    for name in addresses.split(',').map(str::trim) {
        if name.is_empty() || name == "*" {
            found.push(SocketAddr::from(([0u16; 8], port)));
            continue;
        }
        let resolved = (name, port).to_socket_addrs();
        let mut resolved = resolved
            .map_err(|e| format!("Can't start server: cannot resolve hostname '{name}': {e}"))?;
        found.extend(resolved.next());
    }
    Ok(found)
}

fn refuse_open(address: IpAddr, open_account: Option<&str>) -> Result<(), String> {
    match open_account {
        Some(account) if !is_local_only(address) => Err(format!(
            "Can't start server: account {account} has no password, so only loopback addresses \
             may be bound, not '{address}'. Set a password or use --bind-address=127.0.0.1"
        )),
        _ => Ok(()),
    }
}

fn bind_failed(address: SocketAddr, error: &io::Error) -> String {
    let mut text = format!(
        "Can't start server: Bind on TCP/IP port. Got error: {}: {error}",
        error.raw_os_error().unwrap_or(0)
    );
    if error.kind() == io::ErrorKind::AddrInUse {
        text.push_str(&format!(
            "\nDo you already have another server running on port: {} ?",
            address.port()
        ));
    }
    text
}

/// Compat: a socket file without a listener is replaced.
fn bind_unix(path: &Path) -> Result<UnixListener, String> {
    if UnixStream::connect(path).is_ok() {
        return Err(format!(
            "Can't start server: Another process is listening on the Unix socket {}",
            path.display()
        ));
    }
    let _ = std::fs::remove_file(path);
    let listener = UnixListener::bind(path)
        .map_err(|e| format!("Can't start server : Bind on unix socket {}: {e}", path.display()))?;
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    let _ = std::fs::set_permissions(path, everybody);
    Ok(listener)
}

/// Handler of an accepted stream.
pub(crate) type Accepted = Arc<dyn Fn(Box<dyn Transport>, Peer) + Send + Sync>;

/// Threads that accept connections until they are stopped.
#[derive(Debug)]
pub(crate) struct Acceptors {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    addresses: Vec<SocketAddr>,
    /// The sockets, to end the threads' waits.
    sockets: Vec<OwnedFd>,
    /// The file of the Unix socket and its identity.
    file: Option<(PathBuf, Option<FileId>)>,
}

/// Device and inode of a file.
type FileId = (u64, u64);

fn identity(path: &Path) -> Option<FileId> {
    let found = std::fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

impl Listeners {
    /// The bound TCP addresses.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.tcp.iter().filter_map(|l| l.local_addr().ok()).collect()
    }

    /// Starts the threads that accept connections.
    pub(crate) fn run(self, skip_name_resolve: bool, accepted: &Accepted) -> io::Result<Acceptors> {
        let addresses = self.addresses();
        let stop = Arc::new(AtomicBool::new(false));
        let (mut threads, mut sockets) = (Vec::new(), Vec::new());
        for listener in self.tcp {
            sockets.push(OwnedFd::from(listener.try_clone()?));
            let (stop, accepted) = (Arc::clone(&stop), Arc::clone(accepted));
            threads.push(spawn("accept-tcp", move || {
                accept_tcp(&listener, skip_name_resolve, &stop, &accepted);
            })?);
        }
        let mut file = None;
        if let Some((listener, path)) = self.unix {
            sockets.push(OwnedFd::from(listener.try_clone()?));
            let (stop, accepted) = (Arc::clone(&stop), Arc::clone(accepted));
            threads.push(spawn("accept-unix", move || accept_unix(&listener, &stop, &accepted))?);
            let id = identity(&path);
            file = Some((path, id));
        }
        Ok(Acceptors { stop, threads, addresses, sockets, file })
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(stack::SIZE).spawn(body)
}

fn accept_tcp(l: &TcpListener, skip_name_resolve: bool, stop: &AtomicBool, accepted: &Accepted) {
    loop {
        let stream = l.accept();
        if stop.load(Ordering::Acquire) {
            return;
        }
        match stream {
            Ok((stream, address)) => {
                let _ = stream.set_nodelay(true);
                accepted(Box::new(Arc::new(stream)), Peer::tcp(address, skip_name_resolve));
            }
            Err(e) => pause_after(&e),
        }
    }
}

fn accept_unix(l: &UnixListener, stop: &AtomicBool, accepted: &Accepted) {
    loop {
        let stream = l.accept();
        if stop.load(Ordering::Acquire) {
            return;
        }
        match stream {
            Ok((stream, _)) => {
                let credentials = rustix::net::sockopt::socket_peercred(&stream);
                let user = credentials.ok().map(|c| c.uid.as_raw());
                accepted(Box::new(Arc::new(stream)), Peer::unix(user));
            }
            Err(e) => pause_after(&e),
        }
    }
}

/// Waits a moment, for example if there are no free descriptors: an immediate retry would only use
/// CPU. Compat: one error of 256 is logged.
fn pause_after(error: &io::Error) {
    static ERRORS: AtomicU32 = AtomicU32::new(0);
    if error.kind() != io::ErrorKind::Interrupted {
        if ERRORS.fetch_add(1, Ordering::Relaxed) & 255 == 0 {
            tracing::error!("Error in accept: {error}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

impl Acceptors {
    /// The TCP addresses.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Stops accepting, waits for the threads and removes the socket file, unless it has become
    /// another server's.
    pub(crate) fn stop(self) {
        self.stop.store(true, Ordering::Release);
        // Ends every accept(), also if nobody can connect any more: a socket's file may be gone.
        for socket in &self.sockets {
            let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
        }
        if let Some((path, id)) = &self.file
            && identity(path) == *id
        {
            let _ = std::fs::remove_file(path);
        }
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}
