//! The recorder: a proxy between an application and a server, which writes each connection's
//! commands to a recording when the connection ends.
//!
//! Answers pass unchanged; of the greeting only the capabilities for TLS, compression and LOCAL
//! INFILE are taken away, because with them commands could not be read.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::recording::{Command, Page, print};
use crate::error::{Failure, Result};
use crate::stop;
use crate::wire::{Login, hide_capabilities};

/// Maximum delay until Ctrl-C is noticed.
const NAP: Duration = Duration::from_millis(200);
/// LOCAL_FILES, SSL and COMPRESS.
const HIDDEN: u32 = 0x80 | 0x800 | 0x20;
/// The number with which a client means the statement it has prepared last.
const LAST: u32 = u32::MAX;

/// Proxies connections to `server` and records them, until Ctrl-C.
pub(crate) fn record(port: u16, server: &str, out: &Path) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))
        .map_err(|e| Failure::said(format!("cannot listen at 127.0.0.1:{port}: {e}")))?;
    listener.set_nonblocking(true)?;
    let file = File::create(out).map_err(|e| Failure::said(format!("{}: {e}", out.display())))?;
    let file = Mutex::new(Recording { file, begun: false });
    println!("listening at {}", listener.local_addr()?);
    thread::scope(|scope| {
        while !stop::requested() {
            match listener.accept() {
                Ok((client, _)) => {
                    let file = &file;
                    scope.spawn(move || {
                        if let Err(error) = serve(client, server, file) {
                            eprintln!("a connection ended: {error}");
                        }
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(&[&listener])?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    })
}

struct Recording {
    file: File,
    begun: bool,
}

impl Recording {
    fn add(&mut self, page: &Page) -> io::Result<()> {
        let mut text = String::new();
        print(page, &mut text);
        let from = match self.begun {
            true => text.find('\n').map_or(0, |end| end + 1),
            false => 0,
        };
        self.begun = true;
        self.file.write_all(&text.as_bytes()[from..])
    }
}

/// Tells for each socket whether there is something to read; waits a short time for it.
fn wait(sockets: &[&dyn AsFd]) -> io::Result<Vec<bool>> {
    let mut polled: Vec<PollFd<'_>> =
        sockets.iter().map(|s| PollFd::from_borrowed_fd(s.as_fd(), PollFlags::IN)).collect();
    let nap = Timespec { tv_sec: 0, tv_nsec: NAP.subsec_nanos().into() };
    match poll(&mut polled, Some(&nap)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(polled.iter().map(|p| !p.revents().is_empty()).collect())
}

fn serve(client: TcpStream, server: &str, file: &Mutex<Recording>) -> Result<()> {
    client.set_nonblocking(false)?;
    client.set_nodelay(true)?;
    let server = TcpStream::connect(server)
        .map_err(|e| Failure::said(format!("cannot connect to {server}: {e}")))?;
    server.set_nodelay(true)?;
    let mut listener = Listener::default();
    let relayed = relay(&client, &server, &mut listener);
    if let Some(page) = listener.page {
        file.lock().add(&page)?;
    }
    relayed
}

/// Passes bytes in both directions until one side ends.
fn relay(mut client: &TcpStream, mut server: &TcpStream, listener: &mut Listener) -> Result<()> {
    let mut bytes = vec![0; 1 << 16];
    let (mut asked, mut answered) = (Packets::default(), Packets::default());
    while !stop::requested() {
        let ready = wait(&[&client, &server])?;
        if ready[0] {
            let read = client.read(&mut bytes)?;
            if read == 0 {
                return Ok(());
            }
            asked.feed(&bytes[..read], |sequence, payload| listener.client(sequence, payload));
            server.write_all(&bytes[..read])?;
        }
        if ready[1] {
            let read = server.read(&mut bytes)?;
            if read == 0 {
                return Ok(());
            }
            match listener.greeted {
                true => {
                    answered.feed(&bytes[..read], |_, payload| listener.server(payload));
                    client.write_all(&bytes[..read])?;
                }
                false => answered.feed_all(&bytes[..read], |packet| {
                    listener.greeted = true;
                    hide_capabilities(&mut packet[4..], HIDDEN);
                    client.write_all(packet)
                })?,
            }
        }
    }
    Ok(())
}

/// Packets of one direction, which may arrive in any pieces.
#[derive(Default)]
struct Packets {
    partial: Vec<u8>,
    /// The start of a payload that continues in the next packet.
    long: Option<(u8, Vec<u8>)>,
}

impl Packets {
    fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(u8, &[u8])) {
        const LONGEST: usize = 0xFF_FFFF;
        self.partial.extend_from_slice(bytes);
        let mut at = 0;
        while let Some(length) = length(&self.partial[at..]) {
            let sequence = self.partial[at + 3];
            let payload = &self.partial[at + 4..at + 4 + length];
            match &mut self.long {
                Some((_, start)) => start.extend_from_slice(payload),
                None if length == LONGEST => self.long = Some((sequence, payload.to_vec())),
                None => take(sequence, payload),
            }
            if length < LONGEST
                && let Some((sequence, whole)) = self.long.take()
            {
                take(sequence, &whole);
            }
            at += 4 + length;
        }
        self.partial.drain(..at);
    }

    /// Gives out whole packets to be changed.
    fn feed_all(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.partial.extend_from_slice(bytes);
        while let Some(length) = length(&self.partial) {
            let rest = self.partial.split_off(4 + length);
            take(&mut self.partial)?;
            self.partial = rest;
        }
        Ok(())
    }
}

/// Length of the payload of a complete packet.
fn length(bytes: &[u8]) -> Option<usize> {
    let header = bytes.first_chunk::<4>()?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    (bytes.len() >= 4 + length).then_some(length)
}

/// State of one recorded connection.
#[derive(Default)]
struct Listener {
    greeted: bool,
    /// None before the login.
    page: Option<Page>,
    prepared: Prepared,
}

/// The prepared statements of a connection.
#[derive(Default)]
struct Prepared {
    /// The server's numbers of them; none for those that failed.
    numbers: Vec<Option<u32>>,
    /// The next answer is that to a PREPARE.
    awaited: bool,
}

impl Listener {
    fn client(&mut self, sequence: u8, payload: &[u8]) {
        let Some(page) = &mut self.page else {
            self.page = Login::parse(payload)
                .map(|login| Page { database: login.database, commands: Vec::new() });
            return;
        };
        // Only commands begin with 0: other packets belong to the login.
        let Some((&code, argument)) = payload.split_first().filter(|_| sequence == 0) else {
            return;
        };
        let number = || self.prepared.number(argument);
        let rest = || argument.get(4..).unwrap_or_default().to_vec();
        let command = match code {
            // Quit.
            1 => None,
            2 => Some(Command::Use(argument.to_vec())),
            3 => Some(Command::Query(argument.to_vec())),
            0x0E => Some(Command::Ping),
            0x16 => Some(Command::Prepare(argument.to_vec())),
            0x17 => number().map(|number| {
                let mut rest = rest();
                // Without a cursor: the rows of one would have to be fetched.
                rest.iter_mut().take(1).for_each(|flags| *flags = 0);
                Command::Execute(number, rest)
            }),
            0x18 => number().map(|number| Command::LongData(number, rest())),
            0x19 => number().map(Command::Close),
            0x1A => number().map(Command::Reset),
            0x1F => Some(Command::ResetConnection),
            _ => {
                eprintln!("not recorded: a command {code:#04x}");
                None
            }
        };
        self.prepared.awaited |= code == 0x16;
        page.commands.extend(command);
    }

    fn server(&mut self, payload: &[u8]) {
        if std::mem::take(&mut self.prepared.awaited) {
            let id = payload.first_chunk::<5>().filter(|start| start[0] == 0);
            self.prepared.numbers.push(id.map(|s| u32::from_le_bytes([s[1], s[2], s[3], s[4]])));
        }
    }
}

impl Prepared {
    /// The number in the recording of the statement that an argument begins with.
    fn number(&self, argument: &[u8]) -> Option<u32> {
        let id = u32::from_le_bytes(*argument.first_chunk::<4>()?);
        let number = match id {
            LAST => self.numbers.len() + usize::from(self.awaited),
            _ => self.numbers.iter().rposition(|one| *one == Some(id))? + 1,
        };
        u32::try_from(number).ok().filter(|number| *number > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::end_packet;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = vec![0; 4];
        out.extend_from_slice(payload);
        end_packet(&mut out, 4, sequence);
        out
    }

    #[test]
    fn packets_arrive_in_any_pieces() {
        let bytes = [packet(0, b"\x03SELECT 1"), packet(1, b"x")].concat();
        for cut in 0..bytes.len() {
            let (mut packets, mut seen) = (Packets::default(), Vec::new());
            for piece in [&bytes[..cut], &bytes[cut..]] {
                packets.feed(piece, |sequence, payload| seen.push((sequence, payload.to_vec())));
            }
            assert_eq!(seen, [(0, b"\x03SELECT 1".to_vec()), (1, b"x".to_vec())]);
        }
    }

    #[test]
    fn prepared_statements_get_numbers_of_their_own() {
        let mut listener = Listener { page: Some(Page::default()), ..Listener::default() };
        listener.client(0, b"\x16SELECT ?");
        listener.server(&[0, 77, 0, 0, 0, 1, 0]);
        listener.server(&[3]);
        listener.client(0, &[0x17, 77, 0, 0, 0, 1, 1, 0, 0, 0]);
        listener.client(0, &[0x17, 78, 0, 0, 0, 0, 1, 0, 0, 0]);
        listener.client(2, b"\x03not a command");
        listener.client(0, &[0x19, 77, 0, 0, 0]);
        let commands = listener.page.unwrap().commands;
        assert_eq!(
            commands,
            [
                Command::Prepare(b"SELECT ?".to_vec()),
                Command::Execute(1, vec![0, 1, 0, 0, 0]),
                Command::Close(1)
            ]
        );
    }
}
