//! Listening sockets, and accepting on them: by threads of their own or by the thread pool's.
//!
//! Must not talk to clients: an accepted stream is passed on at once.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::RwLock;
use selkie_types::stack;

use super::address::{Peer, is_local_only};
use super::transport::Transport;
use crate::thread_pool::{Door, ThreadPool};

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
/// Its number is that of the pool's group that accepted it, 0 without a pool.
pub(crate) type Accepted = Arc<dyn Fn(Box<dyn Transport>, Peer, usize) + Send + Sync>;

/// A listening socket.
#[derive(Debug)]
enum Socket {
    Tcp { listener: TcpListener, skip_name_resolve: bool },
    Unix(UnixListener),
}

impl Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp { listener, .. } => listener.as_fd(),
            Self::Unix(listener) => listener.as_fd(),
        }
    }

    /// Waits for a client, unless the socket does not block.
    fn accept(&self) -> io::Result<(Box<dyn Transport>, Peer)> {
        match self {
            Self::Tcp { listener, skip_name_resolve } => {
                let (stream, address) = listener.accept()?;
                Ok((Box::new(Arc::new(stream)), Peer::tcp(address, *skip_name_resolve)))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                let credentials = rustix::net::sockopt::socket_peercred(&stream);
                let user = credentials.ok().map(|c| c.uid.as_raw());
                Ok((Box::new(Arc::new(stream)), Peer::unix(user)))
            }
        }
    }

    /// Ends every wait for clients, also if nobody can connect any more: a socket's file may be
    /// gone.
    fn shut(&self) {
        let _ = rustix::net::shutdown(self.as_fd(), rustix::net::Shutdown::Both);
    }
}

/// A socket whose clients a thread of its own or the pool's threads accept.
struct Entrance {
    socket: Socket,
    accepted: Accepted,
    /// Whether it is closed. Locked while a client is accepted.
    closed: RwLock<bool>,
}

impl Entrance {
    /// Accepts a client for the group `near`; false if there is none or no more are accepted.
    fn admit(&self, near: usize) -> io::Result<bool> {
        let arrived = self.socket.accept();
        let closed = self.closed.read();
        if *closed {
            return Err(io::ErrorKind::NotConnected.into());
        }
        match arrived {
            Ok((transport, peer)) => (self.accepted)(transport, peer, near),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => {
                log(&e);
                return Err(e);
            }
        }
        Ok(true)
    }

    /// Accepts clients until the entrance is closed.
    fn run(&self) {
        while !*self.closed.read() {
            if self.admit(0).is_err() && !*self.closed.read() {
                // For example there are no free descriptors: an immediate retry would only use CPU.
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }

    /// Closes the entrance, after the client that is being accepted.
    fn close(&self) {
        *self.closed.write() = true;
        self.socket.shut();
    }
}

/// Clients that a thread of the pool accepts before it serves others.
const AT_ONCE: usize = 64;

impl Door for Entrance {
    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn accept(&self, near: usize) -> io::Result<()> {
        for _ in 0..AT_ONCE {
            if !self.admit(near)? {
                break;
            }
        }
        Ok(())
    }

    fn is_closed(&self) -> bool {
        *self.closed.read()
    }
}

/// Sockets that accept connections until they are stopped.
pub(crate) struct Acceptors {
    entrances: Vec<Arc<Entrance>>,
    threads: Vec<JoinHandle<()>>,
    addresses: Vec<SocketAddr>,
    /// The file of the Unix socket and its identity.
    file: Option<(PathBuf, Option<FileId>)>,
}

impl std::fmt::Debug for Acceptors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Acceptors").field("addresses", &self.addresses).finish_non_exhaustive()
    }
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

    /// Accepts connections: by the threads of `pool` if there is one, else by a thread for each
    /// socket.
    pub(crate) fn run(
        self,
        skip_name_resolve: bool,
        accepted: &Accepted,
        pool: Option<&ThreadPool>,
    ) -> io::Result<Acceptors> {
        let addresses = self.addresses();
        let file = self.unix.as_ref().map(|(_, path)| (path.clone(), identity(path)));
        let tcp = self.tcp.into_iter();
        let tcp = tcp.map(|listener| Socket::Tcp { listener, skip_name_resolve });
        let unix = self.unix.map(|(listener, _)| Socket::Unix(listener));
        let (mut entrances, mut threads) = (Vec::new(), Vec::new());
        for socket in tcp.chain(unix) {
            if let Socket::Tcp { listener, .. } = &socket {
                // Accepted sockets inherit it, so that it costs no call for each.
                rustix::net::sockopt::set_tcp_nodelay(listener, true)?;
            }
            rustix::io::ioctl_fionbio(socket.as_fd(), pool.is_some())?;
            let (accepted, closed) = (Arc::clone(accepted), RwLock::new(false));
            let entrance = Arc::new(Entrance { socket, accepted, closed });
            entrances.push(Arc::clone(&entrance));
            match pool {
                Some(pool) => pool.watch(entrance),
                None => threads.push(spawn(move || entrance.run())?),
            }
        }
        Ok(Acceptors { entrances, threads, addresses, file })
    }
}

fn spawn(body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("accept".to_owned()).stack_size(stack::SIZE).spawn(body)
}

/// Compat: one error of 256 is logged.
fn log(error: &io::Error) {
    static ERRORS: AtomicU32 = AtomicU32::new(0);
    if ERRORS.fetch_add(1, Ordering::Relaxed) & 255 == 0 {
        tracing::error!("Error in accept: {error}");
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
        self.entrances.iter().for_each(|entrance| entrance.close());
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
