//! A byte stream to one client: TCP or a Unix socket, TLS and compression on top of them.
//!
//! Must not know packets.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use super::tls::Negotiated;

/// A blocking byte stream with timeouts.
pub trait Transport: Send {
    /// Reads the bytes that have arrived, at least one; 0 is the end.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize>;
    /// Writes all bytes.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Reads the bytes that have arrived; `WouldBlock` if there are none.
    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<usize>;
    /// Writes as much as possible without waiting; `WouldBlock` if that is nothing. The caller
    /// passes the rest again, in front of new bytes.
    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// The socket.
    fn socket(&self) -> BorrowedFd<'_>;
    /// Sets the longest wait of a read.
    fn set_read_timeout(&mut self, timeout: Duration) -> io::Result<()>;
    /// Sets the longest wait of a write.
    fn set_write_timeout(&mut self, timeout: Duration) -> io::Result<()>;
    /// Whether nobody can read along: TLS, or a Unix socket.
    fn is_secure(&self) -> bool;
    /// Parameters of TLS, if the stream uses it.
    fn tls(&self) -> Option<&Arc<Negotiated>> {
        None
    }
    /// Starts compression. `arrived` are compressed bytes that were read before. Only for streams
    /// that support it.
    fn compress(&mut self, _arrived: &[u8]) {}
    /// Tells that a new command begins; `begun`: some of it has arrived. Only compressed streams
    /// use it.
    fn begin_command(&mut self, _begun: bool) {}
    /// A handle that ends the stream from another thread.
    fn closer(&self) -> Closer;
}

fn receive_now(socket: impl AsFd, buf: &mut [u8]) -> io::Result<usize> {
    let (_, arrived) = rustix::net::recv(socket, buf, RecvFlags::DONTWAIT)?;
    Ok(arrived)
}

fn send_now(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
}

/// A timeout for the system, where zero means "no timeout": zero becomes the smallest timeout.
fn some(timeout: Duration) -> Option<Duration> {
    Some(timeout.max(Duration::from_millis(1)))
}

/// The two kinds of sockets have equal methods, which no trait of `std` names. The stream is shared
/// with its [`Closer`]: a duplicate of the descriptor would cost each connection two system calls.
macro_rules! transport {
    ($stream:ty, $socket:path, secure: $secure:literal) => {
        impl Transport for Arc<$stream> {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                Read::read(&mut &**self, buf)
            }

            fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
                Write::write_all(&mut &**self, bytes)
            }

            fn read_now(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                receive_now(&**self, buf)
            }

            fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
                send_now(&**self, bytes)
            }

            fn socket(&self) -> BorrowedFd<'_> {
                (**self).as_fd()
            }

            fn set_read_timeout(&mut self, timeout: Duration) -> io::Result<()> {
                <$stream>::set_read_timeout(self, some(timeout))
            }

            fn set_write_timeout(&mut self, timeout: Duration) -> io::Result<()> {
                <$stream>::set_write_timeout(self, some(timeout))
            }

            fn is_secure(&self) -> bool {
                $secure
            }

            fn closer(&self) -> Closer {
                Closer(Some($socket(Arc::clone(self))))
            }
        }
    };
}

transport!(TcpStream, Socket::Tcp, secure: false);
// Compat: a local socket counts as secure, as in MariaDB.
transport!(UnixStream, Socket::Unix, secure: true);

#[derive(Clone, Debug)]
enum Socket {
    Tcp(Arc<TcpStream>),
    Unix(Arc<UnixStream>),
}

/// A handle that ends a stream from another thread.
#[derive(Clone, Debug, Default)]
pub struct Closer(Option<Socket>);

impl Closer {
    /// Whether the client has closed the stream and everything it sent was read.
    pub fn is_closed(&self) -> bool {
        let peek = |socket: BorrowedFd<'_>| {
            rustix::net::recv(socket, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT)
        };
        let Some(arrived) = self.socket().map(peek) else { return false };
        match arrived {
            Ok((_, bytes)) => bytes == 0,
            Err(Errno::WOULDBLOCK | Errno::INTR) => false,
            Err(_) => true,
        }
    }

    /// The socket, if there is one.
    pub(crate) fn socket(&self) -> Option<BorrowedFd<'_>> {
        match &self.0 {
            Some(Socket::Tcp(s)) => Some(s.as_fd()),
            Some(Socket::Unix(s)) => Some(s.as_fd()),
            None => None,
        }
    }

    /// Makes a waiting read return as if the client had gone. Answers can still be written.
    pub fn interrupt(&self) {
        // The stream may be closed already, which is the goal.
        let _ = match &self.0 {
            Some(Socket::Tcp(s)) => s.shutdown(Shutdown::Read),
            Some(Socket::Unix(s)) => s.shutdown(Shutdown::Read),
            None => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::testing::sockets;
    use super::*;

    #[test]
    fn a_closed_stream_is_told_from_a_silent_one_and_from_one_with_data() {
        let (mut near, far) = sockets();
        let far = Arc::new(far);
        let closer = far.closer();
        assert!(!closer.is_closed());
        near.write_all(b"x").unwrap();
        drop(near);
        let mut byte = [0; 1];
        while (&mut &*far).read(&mut byte).unwrap() > 0 {}
        assert!(closer.is_closed());
        assert!(!Closer::default().is_closed());
    }
}
