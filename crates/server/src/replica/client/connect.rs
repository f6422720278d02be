//! A TCP connection to a primary, which a stop ends while it is made.
//!
//! Must not block for longer than a look at the stop takes.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with, sockopt};

use super::{ClientError, cr};

/// Time between two looks at the stop.
const LOOK: Duration = Duration::from_millis(100);

/// Connects to a host within `longest`, unless `stop` says so.
pub(super) fn connect(
    host: &str,
    port: u16,
    longest: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<TcpStream, ClientError> {
    let deadline = Instant::now() + longest;
    let addresses = resolve(host, port, deadline, stop)?;
    let mut last = None;
    for address in addresses {
        match connect_to(address, deadline, stop) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Some(error),
        }
    }
    let error = last.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into());
    Err(ClientError::local(
        cr::CONNECT,
        format!("Can't connect to server on '{host}' {}", shown(&error)),
    ))
}

/// An error of the system as MariaDB shows it.
fn shown(error: &io::Error) -> String {
    let number = error.raw_os_error().unwrap_or(match error.kind() {
        io::ErrorKind::TimedOut => Errno::TIMEDOUT.raw_os_error(),
        _ => 0,
    });
    let text = match number {
        0 => error.to_string(),
        number => io::Error::from_raw_os_error(number).to_string(),
    };
    let text = text.split(" (os error").next().unwrap_or_default();
    format!("({number} \"{text}\")")
}

/// The addresses of a host. The system's search cannot be ended, so another thread waits for it.
fn resolve(
    host: &str,
    port: u16,
    deadline: Instant,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<SocketAddr>, ClientError> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let unknown = |number: i32| {
        ClientError::local(cr::UNKNOWN_HOST, format!("Unknown server host '{host}' ({number})"))
    };
    let (found, finds) = mpsc::channel();
    let name = host.to_owned();
    let search = move || {
        let addresses = (&*name, port).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        // Nobody waits any more after a stop.
        let _ = found.send(addresses);
    };
    let thread = std::thread::Builder::new().name("resolve".to_owned());
    thread.spawn(search).map_err(|_| unknown(-11))?;
    loop {
        match finds.recv_timeout(LOOK) {
            Ok(Ok(addresses)) if !addresses.is_empty() => return Ok(addresses),
            Ok(_) | Err(mpsc::RecvTimeoutError::Disconnected) => return Err(unknown(-2)),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if stop() || Instant::now() >= deadline {
            return Err(unknown(-3));
        }
    }
}

fn connect_to(
    address: SocketAddr,
    deadline: Instant,
    stop: &dyn Fn() -> bool,
) -> io::Result<TcpStream> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS | Errno::INTR) => loop {
            if stop() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let mut fds = [PollFd::new(&socket, PollFlags::OUT)];
            let timeout = Timespec::try_from(LOOK).ok();
            match poll(&mut fds, timeout.as_ref()) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
        },
        Err(error) => return Err(error.into()),
    }
    sockopt::socket_error(&socket)??;
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const LONGEST: Duration = Duration::from_secs(10);

    #[test]
    fn errors_are_mariadbs() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(connect("127.0.0.1", port, LONGEST, &|| false).is_ok());
        assert!(connect("localhost", port, LONGEST, &|| false).is_ok());
        drop(listener);
        let error = connect("127.0.0.1", port, LONGEST, &|| false).unwrap_err();
        let text = "Can't connect to server on '127.0.0.1' (111 \"Connection refused\")";
        assert_eq!((error.code(), error.message()), (2003, text));
    }

    #[test]
    fn a_stop_ends_it() {
        // Nobody answers there.
        let begin = Instant::now();
        let error = connect("192.0.2.1", 9, LONGEST, &|| begin.elapsed() > LOOK).unwrap_err();
        assert!(begin.elapsed() < Duration::from_secs(2));
        assert_eq!(error.code(), 2003);
    }
}
