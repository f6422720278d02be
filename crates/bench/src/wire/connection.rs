//! A connection that waits for its answers, for set-up and reports. Load sessions use it for the
//! login, then only its socket, without waiting.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use super::auth::{Greeting, proof};
use super::packet::{LONGEST, Reader, begin_packet, end_packet, read_packet};
use super::response::{Outcome, Scanner};
use super::rows::{Answer, ServerError, column_name, text_row};
use crate::error::{Failure, Result};

/// Address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// Over TCP.
    Tcp(SocketAddr),
    /// Over a socket file.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    fn open(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, Duration::from_secs(10))?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
            Address::Unix(path) => Ok(Self::Unix(UnixStream::connect(path)?)),
        }
    }

    fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nonblocking(true),
            Self::Unix(stream) => stream.set_nonblocking(true),
        }
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
            Self::Unix(stream) => stream.set_read_timeout(timeout),
        }
    }
}

impl Read for &Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => { stream }.read(bytes),
            Socket::Unix(stream) => { stream }.read(bytes),
        }
    }
}

impl Write for &Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => { stream }.write(bytes),
            Socket::Unix(stream) => { stream }.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        { &*self }.read(bytes)
    }
}

/// LONG_PASSWORD, CONNECT_WITH_DB, LOCAL_FILES, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION,
/// MULTI_RESULTS, PLUGIN_AUTH.
const CAPABILITIES: u32 = 0x1 | 0x8 | 0x80 | 0x200 | 0x2000 | 0x8000 | 0x2_0000 | 0x8_0000;
/// utf8mb4_general_ci.
const CHARSET: u8 = 45;
const COM_QUIT: u8 = 1;
const COM_QUERY: u8 = 3;
const COM_STMT_PREPARE: u8 = 0x16;
/// First byte of a request for the content of a file.
const LOCAL_INFILE: u8 = 0xFB;

/// A prepared statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prepared {
    /// Its number within this connection.
    pub(crate) id: u32,
}

/// A connection that is logged in.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: BufReader<Socket>,
    version: String,
    payload: Vec<u8>,
    out: Vec<u8>,
}

impl Connection {
    /// Connects and logs in.
    pub(crate) fn open(
        address: &Address,
        user: &str,
        password: &str,
        database: &str,
    ) -> Result<Self> {
        let socket = Socket::open(address).map_err(|e| Failure::connect(address, &e))?;
        let mut connection = Self {
            socket: BufReader::with_capacity(1 << 16, socket),
            version: String::new(),
            payload: Vec::new(),
            out: Vec::new(),
        };
        connection.log_in(user, password, database).map_err(|e| e.at(address))?;
        Ok(connection)
    }

    /// Version that the server reports.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Sets the maximum time for an answer; a longer one is an error.
    pub(crate) fn set_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        Ok(self.socket.get_ref().set_timeout(timeout)?)
    }

    /// Makes the socket non-blocking, for [`Connection::read_now`] and [`Connection::write_now`].
    pub(crate) fn stop_waiting(&self) -> Result<()> {
        Ok(self.socket.get_ref().set_nonblocking()?)
    }

    /// Reads the bytes that are there, without the buffer.
    pub(crate) fn read_now(&self, bytes: &mut [u8]) -> io::Result<usize> {
        { self.socket.get_ref() }.read(bytes)
    }

    /// Writes as much as possible without waiting.
    pub(crate) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        { self.socket.get_ref() }.write(bytes)
    }

    /// The socket, for polling.
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        match self.socket.get_ref() {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }

    /// Runs a statement.
    pub(crate) fn query(&mut self, text: &str) -> Result<Answer> {
        self.load(text, &mut |_| Ok(false))
    }

    /// Runs statements, one after the other.
    pub(crate) fn run(&mut self, statements: &[&str]) -> Result<()> {
        statements.iter().try_for_each(|text| self.query(text).map(drop))
    }

    /// Runs a `LOAD DATA LOCAL`. When the server requests the file, `content` appends the next
    /// piece to the buffer; false means it was the last.
    pub(crate) fn load(
        &mut self,
        text: &str,
        content: &mut dyn FnMut(&mut Vec<u8>) -> Result<bool>,
    ) -> Result<Answer> {
        self.command(COM_QUERY, text.as_bytes())?;
        self.read()?;
        if self.payload.first() == Some(&LOCAL_INFILE) {
            self.send_file(content)?;
            self.read()?;
        }
        self.answer()
    }

    /// Sends a command that has an answer, and finds the end of the answer.
    pub(crate) fn exchange(&mut self, command: u8, argument: &[u8]) -> Result<Outcome> {
        self.tell(command, argument)?;
        let mut scanner = Scanner::default();
        loop {
            let bytes = self.socket.fill_buf()?;
            if bytes.is_empty() {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            let outcome = scanner.feed(bytes).map_err(|_| Failure::malformed())?;
            let read = bytes.len();
            self.socket.consume(read);
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    /// Sends a command that has no answer.
    pub(crate) fn tell(&mut self, command: u8, argument: &[u8]) -> Result<()> {
        self.command(command, argument)
    }

    /// Ends the connection: waits until the server has closed it.
    pub(crate) fn leave(mut self) -> Result<()> {
        self.command(COM_QUIT, &[])?;
        match self.socket.fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => Err(Failure::malformed()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Prepares a statement.
    pub(crate) fn prepare(&mut self, text: &str) -> Result<Prepared> {
        self.command(COM_STMT_PREPARE, text.as_bytes())?;
        self.read()?;
        self.check()?;
        let mut reader = Reader(self.payload.get(1..).unwrap_or_default());
        let malformed = || Failure::malformed();
        let id = reader.fixed(4).ok_or_else(malformed)? as u32;
        let columns = reader.fixed(2).ok_or_else(malformed)?;
        let parameters = reader.fixed(2).ok_or_else(malformed)?;
        for definitions in [parameters, columns] {
            for _ in 0..if definitions > 0 { definitions + 1 } else { 0 } {
                self.read()?;
            }
        }
        Ok(Prepared { id })
    }

    fn log_in(&mut self, user: &str, password: &str, database: &str) -> Result<()> {
        self.read()?;
        self.check()?;
        let greeting = Greeting::parse(&self.payload).ok_or_else(Failure::malformed)?;
        self.version.clone_from(&greeting.version);
        let answer = proof(&greeting.plugin, password, &greeting.salt).unwrap_or_default();
        let start = self.begin();
        self.out.extend_from_slice(&CAPABILITIES.to_le_bytes());
        self.out.extend_from_slice(&(1u32 << 30).to_le_bytes());
        self.out.push(CHARSET);
        self.out.extend_from_slice(&[0; 23]);
        self.out.extend_from_slice(user.as_bytes());
        self.out.push(0);
        self.out.push(answer.len() as u8);
        self.out.extend_from_slice(&answer);
        self.out.extend_from_slice(database.as_bytes());
        self.out.push(0);
        self.out.extend_from_slice(greeting.plugin.as_bytes());
        self.out.push(0);
        self.send(start, 1)?;
        self.prove(password)
    }

    /// Answers the server's requests until the login succeeds.
    fn prove(&mut self, password: &str) -> Result<()> {
        loop {
            let sequence = self.read()?;
            self.check()?;
            match self.payload.first() {
                Some(0) => return Ok(()),
                Some(0xFE) => {
                    let mut reader = Reader(&self.payload[1..]);
                    let plugin = String::from_utf8_lossy(reader.until_zero()).into_owned();
                    let salt = reader.until_zero().to_vec();
                    let answer = proof(&plugin, password, &salt)
                        .ok_or_else(|| Failure::unsupported(&format!("login by {plugin}")))?;
                    let start = self.begin();
                    self.out.extend_from_slice(&answer);
                    self.send(start, sequence + 1)?;
                }
                // The fast proof was correct; the server's OK follows.
                Some(1) if self.payload.get(1) == Some(&3) => {}
                Some(1) => return Err(Failure::unsupported("a login that needs TLS")),
                _ => return Err(Failure::malformed()),
            }
        }
    }

    fn begin(&mut self) -> usize {
        self.out.clear();
        begin_packet(&mut self.out)
    }

    fn send(&mut self, start: usize, sequence: u8) -> Result<()> {
        end_packet(&mut self.out, start, sequence);
        { self.socket.get_ref() }.write_all(&self.out)?;
        Ok(())
    }

    fn command(&mut self, command: u8, argument: &[u8]) -> Result<()> {
        if argument.len() + 1 >= LONGEST {
            return Err(Failure::unsupported("a command of 16 MiB"));
        }
        let start = self.begin();
        self.out.push(command);
        self.out.extend_from_slice(argument);
        self.send(start, 0)
    }

    fn read(&mut self) -> Result<u8> {
        Ok(read_packet(&mut self.socket, &mut self.payload)?)
    }

    /// Fails if the packet that was read is an error.
    fn check(&self) -> Result<()> {
        match self.payload.first() {
            Some(0xFF) => {
                Err(ServerError::parse(&self.payload)
                    .map_or_else(Failure::malformed, Failure::Server))
            }
            _ => Ok(()),
        }
    }

    fn send_file(&mut self, content: &mut dyn FnMut(&mut Vec<u8>) -> Result<bool>) -> Result<()> {
        let mut sequence = 2u8;
        loop {
            let start = self.begin();
            let more = content(&mut self.out)?;
            if self.out.len() > start {
                self.send(start, sequence)?;
                sequence = sequence.wrapping_add(1);
            }
            if !more {
                let start = self.begin();
                return self.send(start, sequence);
            }
        }
    }

    /// Reads the rest of an answer after its first packet. Of several results, returns the last.
    fn answer(&mut self) -> Result<Answer> {
        loop {
            self.check()?;
            if self.payload.first() == Some(&0) {
                return Ok(Answer::default());
            }
            let columns = Reader(&self.payload).length_encoded().ok_or_else(Failure::malformed)?;
            let (answer, more) = self.result_set(columns)?;
            if !more {
                return Ok(answer);
            }
            self.read()?;
        }
    }

    fn result_set(&mut self, columns: u64) -> Result<(Answer, bool)> {
        let mut answer = Answer::default();
        for _ in 0..columns {
            self.read()?;
            answer.columns.push(column_name(&self.payload).ok_or_else(Failure::malformed)?);
        }
        self.read()?;
        loop {
            self.read()?;
            self.check()?;
            if self.payload.first() == Some(&0xFE) && self.payload.len() < 9 {
                return Ok((answer, self.payload.get(3).is_some_and(|status| status & 8 != 0)));
            }
            answer.rows.push(text_row(&self.payload).ok_or_else(Failure::malformed)?);
        }
    }
}
