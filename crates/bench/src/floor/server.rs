//! The epoll loop of the floor server.
//!
//! One thread. Must not block on a client: one that does not read its answers is dropped.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{Timespec, epoll};

use super::answers::Answers;
use crate::error::{Failure, Result};
use crate::stop;

/// Key of the listener in epoll.
const LISTENER: u64 = 0;
/// Maximum delay until Ctrl-C is noticed.
const NAP: Duration = Duration::from_millis(200);

struct Client {
    stream: TcpStream,
    /// The start of an incomplete packet.
    partial: Vec<u8>,
}

/// Serves on a port of the loopback interface until Ctrl-C.
pub(crate) fn serve(port: u16) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))
        .map_err(|e| Failure::said(format!("cannot listen at 127.0.0.1:{port}: {e}")))?;
    listener.set_nonblocking(true)?;
    println!("listening at {}", listener.local_addr()?);
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(io::Error::from)?;
    watch(&epoll, &listener, LISTENER)?;
    let (answers, mut clients, mut next) = (Answers::new(), BTreeMap::new(), LISTENER);
    let (mut events, mut input, mut output) =
        (Vec::with_capacity(1024), vec![0; 1 << 16], Vec::new());
    let nap = Timespec { tv_sec: 0, tv_nsec: NAP.subsec_nanos().into() };
    while !stop::requested() {
        events.clear();
        // An interrupted wait counts as a short one.
        let _ = epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), Some(&nap));
        for event in &events {
            let key = event.data.u64();
            if key == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    next += 1;
                    stream.set_nodelay(true)?;
                    stream.set_nonblocking(true)?;
                    watch(&epoll, &stream, next)?;
                    if stream.write_all(&answers.greeting).is_ok() {
                        clients.insert(next, Client { stream, partial: Vec::new() });
                    }
                }
            } else if let Some(client) = clients.get_mut(&key)
                && talk(client, &answers, &mut input, &mut output).is_none()
            {
                clients.remove(&key);
            }
        }
    }
    Ok(())
}

fn watch(epoll: impl AsFd, socket: impl AsFd, key: u64) -> Result<()> {
    let data = epoll::EventData::new_u64(key);
    Ok(epoll::add(epoll, socket, data, epoll::EventFlags::IN).map_err(io::Error::from)?)
}

/// Reads the bytes that have arrived and answers them; `None` if the client has gone.
fn talk(
    client: &mut Client,
    answers: &Answers,
    input: &mut [u8],
    output: &mut Vec<u8>,
) -> Option<()> {
    let read = match client.stream.read(input) {
        Ok(0) => return None,
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Some(()),
        Err(_) => return None,
    };
    output.clear();
    let mut whole;
    let mut bytes = &input[..read];
    if !client.partial.is_empty() {
        whole = std::mem::take(&mut client.partial);
        whole.extend_from_slice(bytes);
        bytes = &whole;
    }
    while let Some((header, rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let Some((payload, rest)) = rest.split_at_checked(length) else { break };
        answers.answer(header[3], payload, output)?;
        bytes = rest;
    }
    client.partial = bytes.to_vec();
    client.stream.write_all(output).ok()
}
