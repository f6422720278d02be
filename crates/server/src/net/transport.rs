//! A byte stream to one client: TCP or a Unix socket, TLS and compression on top of them.
//!
//! Must not know packets.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags};

use super::tls::Negotiated;

/// A blocking byte stream with timeouts.
pub trait Transport: Send {
    /// Reads what has arrived, at least one byte; 0 is the end.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize>;
    /// Writes everything.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Reads what has arrived; `WouldBlock` if nothing has.
    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<usize>;
    /// Writes what goes without waiting; `WouldBlock` if nothing does. What was not written comes
    /// again, in front of whatever is written next.
    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// The socket.
    fn socket(&self) -> BorrowedFd<'_>;
    /// How long a read may wait.
    fn set_read_timeout(&mut self, timeout: Duration) -> io::Result<()>;
    /// How long a write may wait.
    fn set_write_timeout(&mut self, timeout: Duration) -> io::Result<()>;
    /// Whether nobody can listen in: TLS, or a Unix socket.
    fn is_secure(&self) -> bool;
    /// What was agreed on, if this is TLS.
    fn tls(&self) -> Option<&Arc<Negotiated>> {
        None
    }
    /// Begins to compress; `arrived` was read before and is compressed already. Only for streams
    /// that can.
    fn compress(&mut self, _arrived: &[u8]) {}
    /// A new command begins, or has `begun` to arrive. Only streams that compress want to know.
    fn begin_command(&mut self, _begun: bool) {}
    /// A way to end the stream from another thread.
    fn closer(&self) -> io::Result<Closer>;
}

fn receive_now(socket: impl AsFd, buf: &mut [u8]) -> io::Result<usize> {
    let (_, arrived) = rustix::net::recv(socket, buf, RecvFlags::DONTWAIT)?;
    Ok(arrived)
}

fn send_now(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
}

/// Zero would mean "no timeout" to the system; the smallest timeout is meant.
fn some(timeout: Duration) -> Option<Duration> {
    Some(timeout.max(Duration::from_millis(1)))
}

impl Transport for TcpStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Read::read(self, buf)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(self, bytes)
    }

    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        receive_now(&*self, buf)
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send_now(&*self, bytes)
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn set_read_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        TcpStream::set_read_timeout(self, some(timeout))
    }

    fn set_write_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        TcpStream::set_write_timeout(self, some(timeout))
    }

    fn is_secure(&self) -> bool {
        false
    }

    fn closer(&self) -> io::Result<Closer> {
        Ok(Closer(Some(Arc::new(Socket::Tcp(self.try_clone()?)))))
    }
}

impl Transport for UnixStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Read::read(self, buf)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(self, bytes)
    }

    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        receive_now(&*self, buf)
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send_now(&*self, bytes)
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn set_read_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        UnixStream::set_read_timeout(self, some(timeout))
    }

    fn set_write_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        UnixStream::set_write_timeout(self, some(timeout))
    }

    fn is_secure(&self) -> bool {
        true
    }

    fn closer(&self) -> io::Result<Closer> {
        Ok(Closer(Some(Arc::new(Socket::Unix(self.try_clone()?)))))
    }
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Ends a stream from another thread.
#[derive(Clone, Debug, Default)]
pub struct Closer(Option<Arc<Socket>>);

impl Closer {
    /// Makes a read that waits return as if the client had gone. Answers can still be written.
    pub fn interrupt(&self) {
        // The stream may be gone already, which is what was wanted.
        let _ = match self.0.as_deref() {
            Some(Socket::Tcp(s)) => s.shutdown(Shutdown::Read),
            Some(Socket::Unix(s)) => s.shutdown(Shutdown::Read),
            None => Ok(()),
        };
    }
}
