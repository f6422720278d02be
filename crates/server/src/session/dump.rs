//! A session that sends the binary log: COM_REGISTER_SLAVE, COM_BINLOG_DUMP, and what follows.
//!
//! A dump has a thread of its own, which ends with it, and the connection with both. Must not hold
//! a lock while it sends or waits (DUMP-2).

use std::sync::Arc;
use std::time::{Duration, Instant};

use selkie_exec::Killed;
use selkie_protocol::DecodeError;
use selkie_protocol::packet::put_err;
use selkie_protocol::replica::{BinlogDump, RegisterSlave};
use selkie_replication::cursor::{Dump, MarkedEvents, Reason, Refusal, Start, Step};
use selkie_replication::log::Place;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::acks::{Acks, head, put};
use super::dispatch::{Next, Session, malformed};
use crate::accounts::Privileges;
use crate::backend::BackendSession;
use crate::binlog::Binlog;
use crate::dumps::{Haste, Reader, Wishes, Woken, wishes};
use crate::query_log::log_general;
use crate::variables::ids;

/// Bytes that are sent together.
const BATCH: usize = 128 << 10;
/// Events that are read before the dump looks whether it is killed.
const EVENTS: usize = 4096;
/// Longest wait between two looks at the log.
const LOOK: Duration = Duration::from_millis(100);

/// States in the process list.
const SENDING: &str = "Sending binlog event to slave";
const WRITING: &str = "Writing to net";
const WAITING: &str = "Master has sent all binlog to slave; waiting for more updates";

/// The name of a client's host, without its port.
fn own_host(host: &str) -> &[u8] {
    host.rsplit_once(':').map_or(host, |(name, _)| name).as_bytes()
}

/// End of a dump.
enum End {
    /// The client is told that there is no more.
    Over,
    /// The client is told why.
    Refused(SqlError),
    /// The client cannot be told anything.
    Gone,
}

impl From<Refusal> for End {
    fn from(refusal: Refusal) -> Self {
        let def = match refusal.reason {
            Reason::Replaced => &ER_SLAVE_SAME_ID,
            _ => &ER_MASTER_FATAL_ERROR_READING_BINLOG,
        };
        Self::Refused(SqlError::with_message(def, refusal.to_string()))
    }
}

impl From<SqlError> for End {
    fn from(error: SqlError) -> Self {
        Self::Refused(error)
    }
}

impl<S: BackendSession> Session<S> {
    /// COM_REGISTER_SLAVE.
    pub(super) fn register_replica(&mut self, payload: &[u8]) -> SqlResult<()> {
        let access = self.shared.access.lock();
        if !access.has_global(Privileges::REPLICATION_SLAVE) {
            // Compat: unlike a dump, this is refused as a login would be.
            return Err(access.denied_login());
        }
        drop(access);
        let said = RegisterSlave::decode(payload).map_err(|error| match error {
            DecodeError::Truncated(field) | DecodeError::Invalid(field)
                if field.starts_with("report") && field != "report-port" =>
            {
                let text = format!("Failed to register slave: too long '{field}'");
                SqlError::with_message(&ER_UNKNOWN_ERROR, text)
            }
            other => malformed(other),
        })?;
        let text = format!("Host: '{}'  Port: '{}'", String::from_utf8_lossy(said.host), said.port);
        log_general(&self.shared, "Register Slave", text.as_bytes());
        let server = &self.shared.server;
        let own = server.globals.get(ids().server_id).as_u64() as u32;
        let replica = match said.host.is_empty() {
            // Compat: a replica that reports no name is known by its client's.
            true => RegisterSlave { host: own_host(&self.shared.handle.host), ..said },
            false => said,
        };
        server.logs.replicas.register(&replica, self.shared.handle.id, own);
        Ok(())
    }

    /// COM_BINLOG_DUMP: the dump itself begins when the session has a thread of its own.
    pub(super) fn ask_for_dump(&mut self, payload: &[u8]) -> Next {
        match self.wishes(payload) {
            Ok(wishes) => {
                self.dump = Some(Box::new(wishes));
                Next::Dump
            }
            Err(error) => {
                self.answer(Err(error));
                Next::Continue
            }
        }
    }

    fn wishes(&mut self, payload: &[u8]) -> SqlResult<Wishes> {
        self.shared.access.lock().check_global(Privileges::REPLICATION_SLAVE)?;
        let said = BinlogDump::decode(payload).map_err(malformed)?;
        let name = String::from_utf8_lossy(said.file);
        let text = format!("Log: '{name}'  Pos: {}", said.offset);
        log_general(&self.shared, "Binlog Dump", text.as_bytes());
        let fatal = |text| SqlError::with_message(&ER_MASTER_FATAL_ERROR_READING_BINLOG, text);
        if self.shared.server.binlog().is_none() {
            return Err(fatal("Binary log is not open"));
        }
        let mut wishes = wishes(&said, &|name| self.backend.user_variable(name))?;
        if self.shared.var(ids().skip_replication).as_bool() {
            wishes.ask.marked = MarkedEvents::Unwanted;
        }
        Ok(wishes)
    }

    /// Whether the session has to go on as a dump.
    pub(super) fn wants_dump(&self) -> bool {
        self.dump.is_some()
    }

    /// Sends the log until the client, a kill or the server ends it. The connection is over then.
    pub(super) fn run_dump(&mut self) {
        let Some(wishes) = self.dump.take() else { return };
        let _charged = selkie_meter::attach(self.shared.handle.kill.account());
        let server = Arc::clone(&self.shared.server);
        let Some(binlog) = server.binlog() else { return };
        let end = match binlog.readers.enter(wishes.server_id, &self.shared.handle) {
            Ok(entered) => self.read_log(binlog, &wishes, &entered.reader),
            Err(error) => SqlError::internal(error.to_string()).into(),
        };
        self.tell_end(end);
        self.ended = true;
    }

    fn tell_end(&mut self, end: End) {
        let caps = self.shared.capabilities();
        match end {
            End::Over => self.out.packet(|b| b.extend_from_slice(&[0xfe, 0, 0, 0, 0])),
            End::Refused(error) => {
                tracing::warn!(connection = self.shared.handle.id, "{}", error.message());
                self.out.packet(|b| put_err(b, &error, caps));
            }
            End::Gone => return,
        }
        // A client that does not read is not waited for.
        let _ = self.wire.flush_now(&mut self.out);
        self.count_bytes();
    }

    fn read_log(&mut self, binlog: &Binlog, wishes: &Wishes, reader: &Arc<Reader>) -> End {
        let waker = Arc::clone(&reader.bell).into();
        let handle = Arc::clone(&self.shared.handle);
        let _wakes = handle.kill.wakes(waker);
        let mut sending = Sending {
            age: binlog.readers.age(),
            acks: wishes.acknowledges.then(|| Acks::new(binlog, wishes.server_id)),
            session: self,
            binlog,
            wishes,
            reader,
            last_sent: Instant::now(),
        };
        match sending.run() {
            Ok(()) => End::Over,
            Err(end) => end,
        }
    }
}

/// A dump under way.
struct Sending<'s, S: BackendSession> {
    session: &'s mut Session<S>,
    binlog: &'s Binlog,
    wishes: &'s Wishes,
    reader: &'s Arc<Reader>,
    /// Age of the log that is read.
    age: u64,
    last_sent: Instant,
    /// Acknowledgements, if the reader sends any.
    acks: Option<Acks<'s>>,
}

impl<S: BackendSession> Sending<'_, S> {
    fn run(&mut self) -> Result<(), End> {
        let (found, mut upto) = self.binlog.found(self.server_id(), self.applied())?;
        let (out, head) = (&mut self.session.out, head(self.wishes));
        let mut send = |event: &[u8]| put(out, head, event);
        let begun = Dump::begin(&found, &self.wishes.ask, &mut send);
        let mut dump = begun.map_err(|refusal| self.before(refusal))?;
        self.tell_begin(dump.place());
        if !self.wishes.has_end() {
            self.acks.iter().for_each(|acks| acks.begin(dump.place()));
        }
        loop {
            self.reader.at(dump.file());
            let step = self.fill(&mut dump, upto)?;
            self.send(&dump)?;
            if self.acks.as_ref().is_some_and(Acks::is_asked) {
                self.listen()?;
            }
            match step {
                Step::Ended => return Ok(()),
                Step::Went => self.check_kill(&dump)?,
                Step::CaughtUp => match self.more(&dump, upto)? {
                    Some(end) => upto = end,
                    None => return Ok(()),
                },
            }
        }
    }

    /// Tells the error log of a dump that begins.
    fn tell_begin(&self, at: Place) {
        let server = &self.session.shared.server;
        if server.globals.get(ids().log_warnings).as_u64() <= 1 {
            return;
        }
        let (is_by_gtid, position) = match &self.wishes.ask.start {
            Start::Behind(known) => (1, known.position.to_string()),
            Start::At { .. } => (0, String::new()),
        };
        tracing::info!(
            "Start binlog_dump to slave_server({}), pos({}, {}), using_gtid({is_by_gtid}), \
             gtid('{position}')",
            self.wishes.server_id,
            self.binlog.files().names().file(at.file),
            at.offset,
        );
    }

    /// The end of a dump that has not begun; events made before it are sent.
    fn before(&mut self, refusal: Refusal) -> End {
        match self.flush() {
            Ok(()) => refusal.into(),
            Err(end) => end,
        }
    }

    /// Puts events into the buffer until it is full, a file is over, or there is no more.
    fn fill(&mut self, dump: &mut Dump<'_>, upto: Place) -> Result<Step, End> {
        let (out, head) = (&mut self.session.out, head(self.wishes));
        let file = dump.file();
        for _ in 0..EVENTS {
            if out.len() >= BATCH || dump.file() != file {
                break;
            }
            let before = out.len();
            let step = dump.step(upto, &mut |event| put(out, head, event));
            self.acks.iter_mut().for_each(|acks| acks.note(dump.passed(), before));
            match step {
                Ok(Step::Went) => {}
                Ok(step) => return Ok(step),
                Err(refusal) => {
                    self.check(dump)?;
                    return Err(self.before(refusal));
                }
            }
        }
        Ok(Step::Went)
    }

    /// Sends what is in the buffer, unless the log has begun anew: then it may be another log's. A
    /// reader that has got nothing for too long gets a heartbeat.
    fn send(&mut self, dump: &Dump<'_>) -> Result<(), End> {
        self.check(dump)?;
        if self.session.out.is_empty() && self.until_heartbeat() == Some(Duration::ZERO) {
            put(&mut self.session.out, head(self.wishes), &dump.heartbeat());
        }
        self.acks.iter_mut().for_each(|acks| acks.ask(&mut self.session.out));
        if !self.session.out.is_empty() {
            self.session.shared.handle.set_state(SENDING);
            self.flush()?;
            self.last_sent = Instant::now();
        }
        Ok(())
    }

    /// Ends the dump if the log has begun anew.
    fn check(&mut self, dump: &Dump<'_>) -> Result<(), End> {
        if self.binlog.readers.age() == self.age {
            return Ok(());
        }
        let sequence = self.session.out.sequence();
        self.session.out.clear();
        self.session.out.set_sequence(sequence);
        Err(dump.refusal(Reason::NoNextFile).into())
    }

    /// Writes the buffer, and waits as long as the client reads at all.
    fn flush(&mut self) -> Result<(), End> {
        let (mut sent, mut since) = (0, Instant::now());
        loop {
            let session = &mut *self.session;
            let rest = session.out.bytes().get(sent..).filter(|rest| !rest.is_empty());
            let Some(rest) = rest else { break };
            match session.wire.send_now(rest) {
                Ok(0) => {}
                Ok(count) => {
                    (sent, since) = (sent + count, Instant::now());
                    continue;
                }
                Err(_) => return Err(End::Gone),
            }
            session.shared.handle.set_state(WRITING);
            let is_asked = self.acks.as_ref().is_some_and(Acks::is_asked);
            self.reader.bell.wait_to_write(session.wire.socket(), LOOK);
            let is_killed = session.shared.handle.kill.get() != Killed::No;
            let is_over = is_killed || session.shared.server.is_stopping();
            if is_over || since.elapsed() > session.patience.write {
                // A part of a packet may be on its way: nothing can follow it.
                return Err(End::Gone);
            }
            if is_asked {
                // A reader that waits until its answers are read would not read on.
                self.listen()?;
            }
        }
        self.session.out.clear();
        self.session.count_bytes();
        Ok(())
    }

    /// Waits for more of the log than `upto`; none if the dump is over.
    fn more(&mut self, dump: &Dump<'_>, upto: Place) -> Result<Option<Place>, End> {
        loop {
            self.check(dump)?;
            self.check_kill(dump)?;
            self.reader.bell.doze();
            if self.binlog.log().end() != upto {
                let is_awaited = self.acks.is_some() && self.binlog.semi.is_enabled();
                let haste = if is_awaited { Haste::Awaited } else { Haste::None };
                let end = self.binlog.served(upto, haste)?;
                if end > upto {
                    return Ok(Some(end));
                }
            }
            if self.wishes.ends_with_log() {
                return Ok(None);
            }
            self.wait(dump)?;
        }
    }

    /// Time until a heartbeat is due; none if the reader wants none.
    fn until_heartbeat(&self) -> Option<Duration> {
        self.wishes.heartbeat.map(|period| period.saturating_sub(self.last_sent.elapsed()))
    }

    /// Waits a while for the log or the client, and sends a heartbeat if it is time for one.
    fn wait(&mut self, dump: &Dump<'_>) -> Result<(), End> {
        self.send(dump)?;
        self.session.shared.handle.set_state(WAITING);
        let at_most = self.until_heartbeat().unwrap_or(LOOK).min(LOOK);
        let socket = self.session.wire.socket();
        if self.reader.bell.wait(socket, at_most) == Woken::Client {
            self.listen()?;
        }
        Ok(())
    }

    /// Takes what the client has sent. Compat: commands are ignored while the log is sent, and so
    /// are packets that should be acknowledgements.
    fn listen(&mut self) -> Result<(), End> {
        let mut packet = Vec::new();
        loop {
            packet.clear();
            self.session.wire.begin_command();
            match self.session.wire.packet_now(&mut packet) {
                Ok(true) if packet.first() != Some(&1) => {
                    self.acks.iter_mut().for_each(|acks| acks.take(&packet));
                }
                Ok(false) => return Ok(()),
                // A kill makes the client look as if it had gone.
                Err(_) if self.is_killed() => return Ok(()),
                Ok(true) | Err(_) => return Err(End::Gone),
            }
        }
    }

    fn is_killed(&self) -> bool {
        self.session.shared.handle.kill.get() != Killed::No
    }

    fn check_kill(&self, dump: &Dump<'_>) -> Result<(), End> {
        if !self.is_killed() {
            return Ok(());
        }
        Err(match self.reader.is_replaced() {
            true => dump.refusal(Reason::Replaced).into(),
            false => End::Over,
        })
    }

    fn server_id(&self) -> u32 {
        self.session.shared.server.globals.get(ids().server_id).as_u64() as u32
    }

    /// The groups that this server has applied as a replica.
    fn applied(&self) -> selkie_replication::gtid::Position {
        let applied = self.session.shared.server.applied().state();
        applied.gtids().clone()
    }
}
