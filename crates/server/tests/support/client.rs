//! A client that sends and receives raw packets.
//!
//! Must not interpret answers beyond their end: tests compare bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use selkie_protocol::auth::native;
use selkie_protocol::{FrameReader, Greeting, Output};

pub(crate) const CAPS: u32 = 0x00bf_a285 | 0x3_0000;

/// One connection.
pub(crate) struct Client {
    stream: TcpStream,
    reader: FrameReader,
    pub(crate) greeting: Greeting,
}

impl Client {
    /// Connects and reads the greeting.
    pub(crate) fn greeted(address: SocketAddr) -> Result<Self, Vec<u8>> {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut reader = FrameReader::new(1 << 30);
        let mut stream = stream;
        let packet = read(&mut stream, &mut reader).unwrap_or_default();
        match Greeting::decode(&packet) {
            Ok(greeting) => Ok(Self { stream, reader, greeting }),
            Err(_) => Err(packet),
        }
    }

    /// Connects and logs in; also returns the answer to the login.
    pub(crate) fn login(
        address: SocketAddr,
        user: &str,
        password: &str,
        caps: u32,
    ) -> (Self, Vec<u8>) {
        let mut this = Self::greeted(address).expect("a greeting");
        let auth = native::answer(password.as_bytes(), &this.greeting.scramble);
        let mut p = Vec::new();
        p.extend_from_slice(&caps.to_le_bytes());
        p.extend_from_slice(&(1u32 << 24).to_le_bytes());
        p.push(45);
        p.extend_from_slice(&[0; 23]);
        p.extend_from_slice(user.as_bytes());
        p.push(0);
        p.push(auth.len() as u8);
        p.extend_from_slice(&auth);
        p.extend_from_slice(b"mysql_native_password\0\0");
        this.send(&p, 1);
        let answer = this.receive();
        (this, answer)
    }

    /// A session of root.
    pub(crate) fn root(address: SocketAddr) -> Self {
        let (this, answer) = Self::login(address, "root", "", CAPS);
        assert_eq!(answer.first(), Some(&0), "{answer:?}");
        this
    }

    /// Sends one packet.
    pub(crate) fn send(&mut self, payload: &[u8], sequence: u8) {
        let mut out = Output::new(sequence);
        out.packet(|b| b.extend_from_slice(payload));
        // If the server has already closed the connection, the next read shows it.
        let _ = self.stream.write_all(out.bytes());
        self.reader.set_sequence(out.sequence());
    }

    /// Sends bytes that are not a packet.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// The next packet; empty at the end of the stream.
    pub(crate) fn receive(&mut self) -> Vec<u8> {
        read(&mut self.stream, &mut self.reader).unwrap_or_default()
    }

    /// Sends a command and returns its first answer.
    pub(crate) fn command(&mut self, payload: &[u8]) -> Vec<u8> {
        self.send(payload, 0);
        self.receive()
    }

    /// Sends a statement and returns all packets up to the end of its last result.
    pub(crate) fn query(&mut self, text: &str) -> Vec<Vec<u8>> {
        self.send(&[&[3], text.as_bytes()].concat(), 0);
        self.answer()
    }

    /// All packets of an answer, up to the end of its last result.
    pub(crate) fn answer(&mut self) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        // Number of ends (of definitions, of rows) in the current result.
        let mut ends = 0;
        let mut fresh = true;
        loop {
            let packet = self.receive();
            let is_eof = packet.first() == Some(&0xfe) && packet.len() < 9;
            let is_ok = packet.first() == Some(&0) && fresh;
            let over = packet.is_empty() || packet.first() == Some(&0xff);
            ends += usize::from(is_eof);
            fresh = is_ok || ends == 2;
            let more = match (is_ok, is_eof) {
                (true, _) => packet.get(3).is_some_and(|s| s & 8 != 0),
                (_, true) => ends < 2 || packet[3] & 8 != 0,
                _ => true,
            };
            ends = if fresh { 0 } else { ends };
            all.push(packet);
            if over || !more {
                return all;
            }
        }
    }
}

fn read(stream: &mut TcpStream, reader: &mut FrameReader) -> Option<Vec<u8>> {
    loop {
        if let Some(packet) = reader.next_packet().ok()? {
            return Some(packet.to_vec());
        }
        match stream.read(reader.space(4096)) {
            Ok(0) | Err(_) => return None,
            Ok(n) => reader.filled(n),
        }
    }
}
