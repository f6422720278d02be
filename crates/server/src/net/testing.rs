//! Helpers for tests of streams: two connected sockets with small buffers, and reads like the
//! pool's.
//!
//! Small buffers make partial reads and writes common, which the tests of TLS and compression need.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::transport::Transport;

/// Time an end waits for the other one.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Two sockets that are connected.
pub(super) fn sockets() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let far = listener.accept().unwrap().0;
    for socket in [&near, &far] {
        rustix::net::sockopt::set_socket_send_buffer_size(socket, 4096).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_nodelay(true).unwrap();
    }
    (near, far)
}

/// Bytes without repetition, which do not compress.
pub(super) fn noise(length: usize) -> Vec<u8> {
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Waits until the socket of a stream is ready.
pub(super) fn wait(stream: &dyn Transport, for_what: PollFlags) {
    let socket = stream.socket();
    let patience = Timespec::try_from(PATIENCE).unwrap();
    let ready = poll(&mut [PollFd::from_borrowed_fd(socket, for_what)], Some(&patience)).unwrap();
    assert_eq!(ready, 1, "the socket has nothing more");
}

/// Reads like a connection of the pool: until a read fills less than its buffer, then waits for the
/// socket.
pub(super) fn read_as_polled(stream: &mut dyn Transport, got: &mut Vec<u8>, room: usize) {
    let mut buf = vec![0; room];
    loop {
        match stream.read_now(&mut buf) {
            Ok(0) => panic!("the end"),
            Ok(n) => {
                got.extend_from_slice(&buf[..n]);
                if n < room {
                    return;
                }
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
            Err(e) => panic!("{e}"),
        }
    }
}
