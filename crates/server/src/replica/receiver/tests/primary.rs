//! A primary for tests: it answers what a replica says, and sends events as a script wants.
//!
//! Must not decide what is right: it writes down what it was asked.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use selkie_protocol::packet::{Ok as OkPacket, put_eof, put_err, put_ok};
use selkie_protocol::writer::put_lenenc_bytes;
use selkie_protocol::{Capabilities, FrameReader, Greeting, Login, Output, Status};
use selkie_types::SqlError;

/// The course of a connection behind the login.
#[derive(Clone)]
pub(super) enum Script {
    /// The login is refused.
    Refuse(SqlError),
    /// After a request for the log, these events are sent, and then this happens.
    Send(Vec<Vec<u8>>, Then),
}

/// End of a script.
#[derive(Clone)]
pub(super) enum Then {
    Wait,
    HangUp,
    Fail(SqlError),
}

/// The primary.
pub(super) struct Primary {
    pub(super) port: u16,
    /// Its commands, one text for each; "-" for each connection.
    pub(super) heard: Arc<Mutex<Vec<String>>>,
}

impl Primary {
    /// A primary with this number. The last script holds for all later connections.
    pub(super) fn start(server_id: u32, scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&heard);
        std::thread::spawn(move || {
            for (at, stream) in listener.incoming().enumerate() {
                told.lock().push("-".to_owned());
                let script = scripts[at.min(scripts.len() - 1)].clone();
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                let (frames, out) = (FrameReader::new(1 << 20), Output::new(0));
                let told = Arc::clone(&told);
                let served = Served { stream, frames, out, server_id, told };
                std::thread::spawn(move || served.serve(&script));
            }
        });
        Self { port, heard }
    }

    pub(super) fn heard(&self) -> Vec<String> {
        self.heard.lock().clone()
    }
}

/// A connection to the primary.
struct Served {
    stream: TcpStream,
    frames: FrameReader,
    out: Output,
    server_id: u32,
    told: Arc<Mutex<Vec<String>>>,
}

impl Served {
    fn packet(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(packet) = self.frames.next_packet().unwrap() {
                return Some(packet.to_vec());
            }
            let mut bytes = [0; 4096];
            let length = self.stream.read(&mut bytes).ok().filter(|length| *length > 0)?;
            self.frames.feed(&bytes[..length]);
        }
    }

    fn flush(&mut self) -> Option<()> {
        self.stream.write_all(self.out.bytes()).ok()?;
        self.out.clear();
        Some(())
    }

    fn ok(&mut self) -> Option<()> {
        self.out.packet(|b| put_ok(b, &OkPacket::default(), Capabilities::NONE, false));
        self.flush()
    }

    fn fail(&mut self, error: &SqlError) -> Option<()> {
        self.out.packet(|b| put_err(b, error, Capabilities::PROTOCOL_41));
        self.flush()
    }

    /// A row of texts.
    fn row(&mut self, values: &[&str]) -> Option<()> {
        self.out.packet(|b| b.push(values.len() as u8));
        for _ in values {
            self.out.packet(|b| put_lenenc_bytes(b, b"def"));
        }
        self.out.packet(|b| put_eof(b, 0, Status(0)));
        self.out.packet(|b| values.iter().for_each(|value| put_lenenc_bytes(b, value.as_bytes())));
        self.out.packet(|b| put_eof(b, 0, Status(0)));
        self.flush()
    }

    fn serve(mut self, script: &Script) -> Option<()> {
        let greeting = Greeting {
            version: "5.5.5-10.11.19-MariaDB".to_owned(),
            connection_id: 1,
            scramble: *b"01234567890123456789",
            capabilities: Capabilities(0xffff_f7fe),
            collation: 45,
            status: Status(2),
            plugin: "mysql_native_password".to_owned(),
        };
        self.out.packet(|b| greeting.encode(b));
        self.flush()?;
        self.frames.set_sequence(1);
        let login = Login::decode(&self.packet()?).unwrap();
        assert_eq!(login.user, b"repl");
        self.out.set_sequence(2);
        let Script::Send(events, then) = script else {
            let Script::Refuse(error) = script else { return None };
            return self.fail(error);
        };
        self.ok()?;
        loop {
            self.frames.set_sequence(0);
            let command = self.packet()?;
            self.out.set_sequence(1);
            let (kind, payload) = command.split_first()?;
            let text = String::from_utf8_lossy(payload).into_owned();
            let id = self.server_id.to_string();
            match kind {
                3 => {
                    self.told.lock().push(text.clone());
                    match &*text {
                        "SELECT UNIX_TIMESTAMP()" => self.row(&["1000000000"]),
                        "SHOW VARIABLES LIKE 'SERVER_ID'" => self.row(&["server_id", &id]),
                        "SELECT @master_binlog_checksum" => self.row(&["CRC32"]),
                        "SELECT @@GLOBAL.gtid_domain_id" => self.row(&["0"]),
                        _ if text.starts_with("SELECT binlog_gtid_pos") => self.row(&["0-1-7"]),
                        _ => self.ok(),
                    }?;
                }
                0x15 => {
                    self.told.lock().push("REGISTER".to_owned());
                    self.ok()?;
                }
                0x12 => {
                    let at = u32::from_le_bytes(payload[..4].try_into().unwrap());
                    let flags = payload[4];
                    let name = String::from_utf8_lossy(&payload[10..]);
                    self.told.lock().push(format!("DUMP {at} {flags} '{name}'"));
                    return self.send(events, then);
                }
                _ => return None,
            }
        }
    }

    fn send(&mut self, events: &[Vec<u8>], then: &Then) -> Option<()> {
        for event in events {
            self.out.packet(|b| {
                b.push(0);
                b.extend_from_slice(event);
            });
        }
        self.flush()?;
        match then {
            Then::Wait => drop(self.packet()),
            Then::HangUp => drop(self.stream.shutdown(Shutdown::Both)),
            Then::Fail(error) => self.fail(error)?,
        }
        Some(())
    }
}
