//! The receiver against a primary of the test, and against a real one if the environment names it.
//!
//! Must not need the applier: relay files are read here.

mod primary;

use std::path::PathBuf;
use std::time::Instant;

use selkie_replication::codec::{
    Checksum, Event, Format, GtidEvent, GtidListEvent, Query, Rotate, StatusVars, Xid, flags,
};
use selkie_replication::gtid::Position;
use selkie_replication::replica::{Note, Place};
use selkie_replication::{EventKind, Header};

use self::primary::{Primary, Script, Then};
use super::*;
use crate::accounts::{Acl, AclStore};
use crate::backend::Backend;
use crate::replica::connection::{Until, UsingGtid};
use crate::replica::relay::{RelayLog, relay_names};
use crate::variables::{Globals, VarValue, registry, startup_values};

/// Longest wait for what a thread does.
const PATIENCE: Duration = Duration::from_secs(20);

struct NoBackend;

impl Backend for NoBackend {}

/// A replica with a directory that goes with its test.
struct Replica {
    directory: PathBuf,
    server: Arc<Server>,
    connection: Arc<Connection>,
    relay: RelayLog,
}

impl Replica {
    fn new(name: &str, port: u16, using_gtid: UsingGtid) -> Self {
        let directory =
            std::env::temp_dir().join(format!("selkie-recv-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let globals = Globals::new(startup_values());
        let set = |name: &str, value| globals.set(registry().find(name).unwrap().id, value);
        set("server_id", VarValue::Uint(2));
        set("report_port", VarValue::Uint(3307));
        let accounts = Arc::new(AclStore::new(Acl::initial("localhost")));
        let server =
            Arc::new(Server::new(globals, accounts, Arc::new(NoBackend), directory.clone()));
        let applied = gtids("0-1-7").gtids().collect();
        server.applied().tracker().publish(&Note::Position(applied).into());
        let config = Config {
            host: "127.0.0.1".to_owned(),
            user: "repl".to_owned(),
            password: "geheim".to_owned(),
            port,
            connect_retry: Duration::from_millis(50),
            retry_count: 10,
            heartbeat: Duration::from_secs(30),
            ssl: false,
            ssl_ca: String::new(),
            ssl_capath: String::new(),
            ssl_cert: String::new(),
            ssl_key: String::new(),
            ssl_cipher: String::new(),
            ssl_crl: String::new(),
            ssl_crlpath: String::new(),
            ssl_verify: false,
            delay: 0,
            using_gtid,
            ignore_server_ids: Vec::new(),
            do_domains: Vec::new(),
            ignore_domains: Vec::new(),
        };
        let progress = Progress {
            applied: Place { file: "binlog.000003".to_owned(), offset: 500 },
            ..Progress::default()
        };
        let connection =
            Connection::new("", config, selkie_replication::replica::ReplicaFilter::default(), 0);
        *connection.progress.lock() = progress;
        let open =
            || RelayLog::open(relay_names(&server, ""), relay_settings(&server, &connection));
        let relay = connection.open_relay(open).unwrap();
        let connection = Arc::new(connection);
        Self { directory, server, connection, relay }
    }

    fn start(&self) {
        start(&self.server, &self.connection, self.relay.clone()).unwrap();
    }

    fn progress(&self) -> Progress {
        self.connection.progress.lock().clone()
    }

    /// Waits until the progress is as wanted.
    fn wait(&self, is_there: impl Fn(&Progress) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_there(&self.progress()) {
            assert!(Instant::now() < deadline, "{:?}", self.progress());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn stop(&self) {
        let begin = Instant::now();
        self.connection.receiver.ask_to_stop();
        assert!(self.connection.receiver.wait_ended(PATIENCE));
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        assert_eq!(self.progress().receiver, ReceiverState::Stopped);
        assert_eq!(self.server.sessions.count(), 0);
    }

    /// Events that an applier reads.
    fn read(&self) -> Vec<Vec<u8>> {
        let mut reader = self.relay.reader();
        std::iter::from_fn(|| reader.next(Duration::ZERO).unwrap()).collect()
    }

    /// Numbers of the groups that an applier reads.
    fn groups(&self) -> Vec<u64> {
        let read = self.read();
        let of_kind = |event: &&Vec<u8>| event[4] == EventKind::GTID.0;
        let seq = |event: &Vec<u8>| u64::from_le_bytes(event[19..27].try_into().unwrap());
        read.iter().filter(of_kind).map(seq).collect()
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.connection.receiver.ask_to_stop();
        self.connection.receiver.wait_ended(PATIENCE);
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// A binary log that is written.
struct Log {
    format: Format,
    end: u64,
}

impl Log {
    fn new() -> Self {
        Self { format: Format::new("10.11.19-MariaDB", 7, Checksum::Crc32), end: 4 }
    }

    fn event(&mut self, event: &Event<'_>, server: u32) -> Vec<u8> {
        let mut header = Header::new(event.kind(), 9, server);
        let mut out = Vec::new();
        event.encode(&header, &self.format, &mut out);
        self.end += out.len() as u64;
        header.end_log_pos = self.end as u32;
        out.clear();
        event.encode(&header, &self.format, &mut out);
        out
    }

    fn begin(&mut self) -> Vec<Vec<u8>> {
        let mut header = Header::new(EventKind::ROTATE, 0, 1);
        header.flags = flags::ARTIFICIAL;
        let rotate = Event::Rotate(Rotate { position: 4, file: b"binlog.000003" });
        let mut out = Vec::new();
        rotate.encode(&header, &self.format, &mut out);
        let format = Event::FormatDescription(self.format.clone());
        vec![out, self.event(&format, 1)]
    }

    fn group(&mut self, seq: u64, server: u32) -> Vec<Vec<u8>> {
        self.group_of(seq, server, "INSERT INTO t VALUES (1)")
    }

    fn group_of(&mut self, seq: u64, server: u32, text: &str) -> Vec<Vec<u8>> {
        let query = Query {
            thread_id: 1,
            exec_time: 0,
            error_code: 0,
            status: StatusVars(&[]),
            database: b"d",
            text: text.as_bytes(),
        };
        vec![
            self.event(&Event::Gtid(GtidEvent::new(seq, 0, 0)), server),
            self.event(&Event::Query(query), server),
            self.event(&Event::Xid(Xid(seq)), server),
        ]
    }
}

fn gtids(text: &str) -> Position {
    text.parse().unwrap()
}

const BEGINNING: [&str; 6] = [
    "SELECT UNIX_TIMESTAMP()",
    "SHOW VARIABLES LIKE 'SERVER_ID'",
    "SET @master_heartbeat_period= 30000000000",
    "SET @master_binlog_checksum= @@global.binlog_checksum",
    "SELECT @master_binlog_checksum",
    "SET @mariadb_slave_capability=4",
];

#[test]
fn the_dialogue_is_mariadbs() {
    let mut log = Log::new();
    let mut events = log.begin();
    events.extend(log.group(8, 1));
    let primary = Primary::start(1, vec![Script::Send(events.clone(), Then::Wait)]);
    let replica = Replica::new("dialogue", primary.port, UsingGtid::SlavePos);
    replica.connection.progress.lock().until = Until::Gtid(gtids("0-1-9"));
    replica.start();
    replica.wait(|progress| progress.received_gtids == gtids("0-1-8"));
    let mut expected = vec!["-"];
    expected.extend(BEGINNING);
    expected.extend([
        "SELECT @@GLOBAL.gtid_domain_id",
        "SET @slave_connect_state='0-1-7'",
        "SET @slave_gtid_strict_mode=0",
        "SET @slave_gtid_ignore_duplicates=0",
        "SET @slave_until_gtid='0-1-9'",
        "REGISTER",
        "DUMP 4 2 ''",
    ]);
    assert_eq!(primary.heard(), expected);
    assert_eq!(replica.read(), events);
    replica.wait(|progress| progress.receiver_state == state::WAITING);
    let progress = replica.progress();
    assert_eq!(progress.receiver, ReceiverState::Connected);
    assert_eq!((progress.primary_id, progress.receiver_error.clone()), (1, None));
    assert!(progress.clock_difference < 0);
    let place = Place { file: "binlog.000003".to_owned(), offset: log.end };
    assert_eq!(progress.received, place);
    let session = replica.server.sessions.list().remove(0);
    let activity = session.activity();
    assert_eq!((session.user(), activity.command), ("system user".to_owned(), "Slave_IO"));
    assert_eq!(activity.state, "Waiting for master to send event");
    assert_eq!(session.id, replica.connection.receiver.session.load(Ordering::Relaxed));
    replica.stop();
    // Within a life it goes on behind what it has.
    replica.connection.progress.lock().until = Until::None;
    replica.start();
    replica.wait(|progress| progress.receiver == ReceiverState::Connected);
    assert!(primary.heard().contains(&"SET @slave_connect_state='0-1-8'".to_owned()));
    // A kill of its session stops it.
    let session = replica.server.sessions.list().remove(0);
    session.kill_connection();
    assert!(replica.connection.receiver.wait_ended(Duration::from_secs(1)));
}

#[test]
fn a_place_is_asked_for() {
    let mut log = Log::new();
    let mut events = log.begin();
    events.extend(log.group(8, 1));
    let primary = Primary::start(1, vec![Script::Send(events, Then::Wait)]);
    let replica = Replica::new("place", primary.port, UsingGtid::No);
    replica.start();
    replica.wait(|progress| progress.received_gtids == gtids("0-1-8"));
    let heard = primary.heard();
    let expected = ["SELECT binlog_gtid_pos('binlog.000003',500)", "REGISTER"];
    assert_eq!(heard[1 + BEGINNING.len()..][..2], expected);
    assert_eq!(heard.last().unwrap(), "DUMP 500 2 'binlog.000003'");
    replica.stop();
    replica.start();
    replica.wait(|progress| progress.receiver == ReceiverState::Connected);
    let expected = format!("DUMP {} 2 'binlog.000003'", log.end);
    assert_eq!(primary.heard().last(), Some(&expected));
    replica.stop();
}

#[test]
fn a_group_that_is_cut_off_comes_again() {
    let mut log = Log::new();
    let mut first = log.begin();
    first.extend(log.group(8, 1));
    let begun = log.group_of(9, 1, &"x".repeat(300_000));
    first.extend(begun[..2].iter().cloned());
    let mut second = Log::new().begin();
    second.extend(begun);
    second.extend(log.group(10, 1));
    let scripts = vec![Script::Send(first, Then::HangUp), Script::Send(second, Then::Wait)];
    let primary = Primary::start(1, scripts);
    let replica = Replica::new("cut", primary.port, UsingGtid::SlavePos);
    replica.start();
    replica.wait(|progress| progress.received_gtids == gtids("0-1-10"));
    assert!(primary.heard().contains(&"SET @slave_connect_state='0-1-8'".to_owned()));
    assert_eq!(replica.groups(), [8, 9, 10]);
    assert_eq!(replica.progress().received.offset, log.end);
    replica.stop();
    assert_eq!(replica.groups(), [8, 9, 10]);
}

#[test]
fn own_groups_are_passed_over() {
    let mut log = Log::new();
    let mut events = log.begin();
    for (seq, server) in [(8, 1), (9, 2), (10, 2), (11, 1), (12, 3)] {
        events.extend(log.group(seq, server));
    }
    let primary = Primary::start(1, vec![Script::Send(events, Then::Wait)]);
    let replica = Replica::new("own", primary.port, UsingGtid::SlavePos);
    replica.connection.config.lock().ignore_server_ids = vec![3];
    replica.start();
    replica.wait(|progress| progress.received.offset == log.end);
    assert_eq!(replica.groups(), [8, 11]);
    assert_eq!(replica.progress().received_gtids, gtids("0-3-12"));
    // The applier hears of it in order.
    let format = Format::new("", 0, Checksum::Crc32);
    let lists: Vec<(usize, String)> = replica
        .read()
        .iter()
        .enumerate()
        .filter_map(|(at, event)| {
            let frame = selkie_replication::Frame::split(event, &format).unwrap();
            match Event::decode(&frame, &format).unwrap() {
                Event::GtidList(list) => {
                    assert_eq!(list.flags, GtidListEvent::IGNORED);
                    Some((at, list.gtids.iter().map(ToString::to_string).collect()))
                }
                _ => None,
            }
        })
        .collect();
    assert_eq!(lists, [(6, "0-2-10".to_owned()), (11, "0-3-12".to_owned())]);
    let mut reader = replica.relay.reader();
    while reader.next(Duration::ZERO).unwrap().is_some() {}
    assert_eq!(reader.course().place().offset, log.end);
    replica.stop();
}

#[test]
fn a_file_of_the_primary_begins_a_relay_file() {
    let mut log = Log::new();
    let mut events = log.begin();
    events.extend(log.group(8, 1));
    let mut second = Log::new();
    events.extend(second.begin());
    events.extend(second.group(9, 1));
    let primary = Primary::start(1, vec![Script::Send(events.clone(), Then::Wait)]);
    let replica = Replica::new("files", primary.port, UsingGtid::SlavePos);
    replica.start();
    replica.wait(|progress| progress.received_gtids == gtids("0-1-9"));
    assert_eq!(replica.read(), events);
    assert_eq!(replica.relay.files().len(), 3);
    replica.stop();
}

#[test]
fn errors_are_mariadbs() {
    let refused = SqlError::raw(1045, *b"28000", "Access denied for user 'repl'".to_owned());
    let primary = Primary::start(1, vec![Script::Refuse(refused)]);
    let replica = Replica::new("refused", primary.port, UsingGtid::SlavePos);
    replica.connection.config.lock().connect_retry = Duration::from_secs(60);
    replica.start();
    replica.wait(|progress| progress.receiver_error.is_some());
    let error = replica.progress().receiver_error.unwrap();
    let text = format!(
        "error connecting to master 'repl@127.0.0.1:{}' - retry-time: 60  maximum-retries: 10  \
         message: Access denied for user 'repl'",
        primary.port
    );
    assert_eq!((error.code(), error.message()), (1045, &*text));
    assert_eq!(replica.progress().receiver, ReceiverState::Connecting);
    replica.stop();
    // The count of attempts has an end.
    replica.connection.config.lock().connect_retry = Duration::from_millis(1);
    replica.connection.config.lock().retry_count = 3;
    let before = primary.heard().len();
    replica.start();
    assert!(replica.connection.receiver.wait_ended(PATIENCE));
    assert_eq!(primary.heard().len(), before + 3);

    let events = vec![Script::Send(
        Log::new().begin(),
        Then::Fail(SqlError::raw(1236, *b"HY000", "Could not find it".to_owned())),
    )];
    let primary = Primary::start(1, events);
    let replica = Replica::new("fatal", primary.port, UsingGtid::SlavePos);
    replica.start();
    assert!(replica.connection.receiver.wait_ended(PATIENCE));
    let error = replica.progress().receiver_error.unwrap();
    let text = "Got fatal error 1236 from master when reading data from binary log: 'Could not \
                find it'";
    assert_eq!((error.code(), error.message()), (1236, text));
    assert_eq!(replica.progress().receiver, ReceiverState::Stopped);

    let primary = Primary::start(2, vec![Script::Send(Vec::new(), Then::Wait)]);
    let replica = Replica::new("equal", primary.port, UsingGtid::SlavePos);
    replica.start();
    assert!(replica.connection.receiver.wait_ended(PATIENCE));
    let error = replica.progress().receiver_error.unwrap();
    assert_eq!(error.code(), 1593);
    assert!(error.message().starts_with("Fatal error: The slave I/O thread stops because master"));
}

#[test]
fn damaged_events_stop_it() {
    let mut log = Log::new();
    let mut events = log.begin();
    events.extend(log.group(8, 1));
    let last = events.len() - 1;
    events[last][20] ^= 4;
    let primary = Primary::start(1, vec![Script::Send(events.clone(), Then::Wait)]);
    let replica = Replica::new("damaged", primary.port, UsingGtid::SlavePos);
    replica.start();
    assert!(replica.connection.receiver.wait_ended(PATIENCE));
    assert_eq!(replica.progress().receiver_error.unwrap().code(), 1743);
    assert_eq!(replica.progress().received_gtids, gtids("0-1-7"));
    assert!(replica.groups().is_empty());
    events[last].truncate(10);
    let primary = Primary::start(1, vec![Script::Send(events, Then::Wait)]);
    let replica = Replica::new("short", primary.port, UsingGtid::SlavePos);
    replica.start();
    assert!(replica.connection.receiver.wait_ended(PATIENCE));
    let error = replica.progress().receiver_error.unwrap();
    let text = "Relay log write failure: could not queue event from master";
    assert_eq!((error.code(), error.message()), (1595, text));
}

/// With a running MariaDB that has groups, as `SELKIE_PRIMARY=port:user:password[:tls[:ca]]` says.
#[test]
fn a_real_primary_is_received_from() {
    let Ok(told) = std::env::var("SELKIE_PRIMARY") else { return };
    let parts: Vec<&str> = told.split(':').collect();
    let [port, user, password, rest @ ..] = &parts[..] else { panic!("{told}") };
    for using in [UsingGtid::SlavePos, UsingGtid::No] {
        let replica = Replica::new("real", port.parse().unwrap(), using);
        {
            let mut config = replica.connection.config.lock();
            (config.user, config.password) = ((*user).to_owned(), (*password).to_owned());
            config.heartbeat = Duration::from_millis(300);
            config.ssl = !rest.is_empty();
            if let Some(ca) = rest.get(1) {
                config.ssl_ca = (*ca).to_owned();
                config.ssl_verify = true;
            }
            let set = |name: &str, value| {
                replica.server.globals.set(registry().find(name).unwrap().id, value);
            };
            set("server_id", VarValue::Uint(77));
            set("gtid_slave_pos", VarValue::text(""));
            set("max_relay_log_size", VarValue::Uint(4096));
        }
        replica.connection.progress.lock().applied = Place::default();
        replica.start();
        replica.wait(|progress| progress.received_heartbeats > 1);
        let progress = replica.progress();
        let groups = replica.groups();
        println!("{using:?}: {:?} {}", progress.received, progress.received_gtids);
        println!("{} groups, files {:?}", groups.len(), replica.relay.files());
        assert!(!groups.is_empty());
        for (name, _) in replica.relay.files() {
            let path = replica.directory.join(name);
            let printed = std::process::Command::new("mariadb-binlog")
                .args(["--no-defaults", "--verify-binlog-checksum", "-vv"])
                .arg(&path)
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&printed.stderr);
            assert!(printed.status.success() && errors.is_empty(), "{path:?}: {errors}");
        }
        replica.stop();
    }
}
