//! The session over a real engine, with events as a primary makes them.
//!
//! Must not need a primary or relay files.

mod contexts;
mod groups;
mod loads;
mod statements;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use selkie_exec::ResultSink;
use selkie_plan::physical::OutputColumn;
use selkie_protocol::Capabilities;
use selkie_replication::codec::{GtidEvent, Query, StatusVar, StatusVars, Xid, flags2};
use selkie_replication::replica::{FilterRule, Note, Place, ReplicaFilter};
use selkie_replication::{Event, EventKind, Gtid, Header};
use selkie_types::{Batch, SqlResult, SqlType};

use super::super::open::open_backend;
use crate::accounts::{AccessControl, AccountName, Acl, AclStore, Identity};
use crate::backend::{BackendSession, Failed, ReplicaScope, ReplicaSession, SessionFactory};
use crate::binlog;
use crate::net::Closer;
use crate::options::{Sources, apply};
use crate::replica::Riders;
use crate::server::Server;
use crate::session::Shared;
use crate::sessions::{Door, SessionHandle};
use crate::variables::{Globals, VarValue, registry, startup_values};

/// Seconds at which all statements of the primary begin.
const WHEN: u32 = 1_700_000_000;
/// Server of the events.
const PRIMARY: u32 = 7;

/// A server in a directory of its own.
struct Life {
    directory: PathBuf,
    server: Arc<Server>,
    client: Box<dyn FnMut(&str) -> String>,
    replica: Box<dyn ReplicaSession>,
    seq: u64,
}

/// The differences between statements of a primary.
#[derive(Clone, Copy)]
struct Said<'a> {
    vars: &'a [StatusVar<'a>],
    schema: &'a str,
    thread: u32,
    error: u16,
    flags: u16,
}

const PLAIN: Said<'static> = Said { vars: &[], schema: "d", thread: 5, error: 0, flags: 0 };

/// Collects rows as text.
#[derive(Default)]
struct Rows {
    types: Vec<SqlType>,
    text: String,
}

impl ResultSink for Rows {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()> {
        self.types = columns.iter().map(|column| column.ty.clone()).collect();
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        for row in 0..batch.rows() {
            let shown = self.types.iter().enumerate().map(|(at, ty)| {
                let value = batch.value(at, row);
                if value.is_null() {
                    return "NULL".to_owned();
                }
                selkie_expr::text::display(&value, ty)
            });
            let line = shown.collect::<Vec<_>>().join(",");
            self.text += if self.text.is_empty() { "" } else { ";" };
            self.text += &line;
        }
        Ok(())
    }
}

fn run(session: &mut impl BackendSession, text: &str) -> String {
    let mut rows = Rows::default();
    let step = session.parse(text.as_bytes(), false, None);
    let ended = step.and_then(|step| session.query(step.statement, text.as_bytes(), &mut rows));
    match ended {
        Ok(_) => rows.text,
        Err(error) => format!("{}: {}", error.code(), error.message()),
    }
}

impl Life {
    fn begin(options: &[&str]) -> Self {
        Self::filtered(options, ReplicaFilter::default())
    }

    fn filtered(options: &[&str], filter: ReplicaFilter) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("selkie-replica-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let mut settings = apply(startup_values(), &Sources { options }).unwrap();
        binlog::derive_names(&mut settings, &directory);
        let accounts = Arc::new(AclStore::new(Acl::initial("localhost")));
        let log = binlog::set_up(&settings, &directory).unwrap();
        let riders = Riders { binlog: log, applied: Arc::default() };
        let backend = open_backend(&settings, &directory, &accounts, &riders).unwrap();
        let globals = Globals::new(settings.values);
        let server = Server::new(globals, accounts, Arc::clone(&backend) as _, directory.clone());
        let server = Arc::new(server.with_riders(riders));
        let mut client = backend.open(&Arc::new(shared_of_root(&server)));
        let replica = server
            .backend
            .replica_session(
                &server,
                Arc::new(ReplicaScope::new(Arc::new(filter), Arc::default())),
                "Slave_SQL",
            )
            .unwrap();
        let client = Box::new(move |text: &str| run(&mut client, text));
        let mut life = Self { directory, server, client, replica, seq: 0 };
        life.ask("SET sql_log_bin = 0");
        life.ask("CREATE DATABASE d");
        life.ask("CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200))");
        life
    }

    /// The answer of a client's session.
    fn ask(&mut self, text: &str) -> String {
        (self.client)(text)
    }

    fn set_global(&self, name: &str, value: VarValue) {
        self.server.globals.set(registry().find(name).unwrap().id, value);
    }

    fn header(kind: EventKind) -> Header {
        Header::new(kind, WHEN, PRIMARY)
    }

    /// Begins the next group.
    fn begin_group(&mut self, flags: u8) {
        self.seq += 1;
        let gtid = Gtid { domain: 0, server: PRIMARY, seq: self.seq };
        self.replica.begin(Some(gtid), flags, &Self::header(EventKind::GTID)).unwrap();
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Failed> {
        self.replica.apply(&Self::header(event.kind()), event)
    }

    fn query(&mut self, said: &Said<'_>, text: &[u8]) -> Result<(), Failed> {
        let mut status = Vec::new();
        said.vars.iter().for_each(|var| var.encode(&mut status));
        let query = Query {
            thread_id: said.thread,
            exec_time: 0,
            error_code: said.error,
            status: StatusVars(&status),
            database: said.schema.as_bytes(),
            text,
        };
        let header = Header { flags: said.flags, ..Self::header(EventKind::QUERY) };
        self.replica.apply(&header, &Event::Query(query))
    }

    fn end_group(&mut self) -> Result<(), Failed> {
        let gtid = Some(Gtid { domain: 0, server: PRIMARY, seq: self.seq });
        let end = Place { file: "binlog.000001".to_owned(), offset: self.seq };
        self.replica.end(Note::Group { connection: String::new(), gtid, end }.into())
    }

    /// A transaction of one statement.
    fn one(&mut self, said: &Said<'_>, text: &str) -> Result<(), Failed> {
        self.bytes(said, text.as_bytes())
    }

    fn bytes(&mut self, said: &Said<'_>, text: &[u8]) -> Result<(), Failed> {
        self.begin_group(GtidEvent::TRANSACTIONAL);
        let done = self
            .query(said, text)
            .and_then(|()| self.event(&Event::Xid(Xid(1))))
            .and_then(|()| self.end_group());
        done.inspect_err(|_| self.replica.give_up())
    }

    /// A group of one statement.
    fn alone(&mut self, said: &Said<'_>, text: &str) -> Result<(), Failed> {
        self.begin_group(GtidEvent::STANDALONE | GtidEvent::DDL);
        let done = self.query(said, text.as_bytes()).and_then(|()| self.end_group());
        done.inspect_err(|_| self.replica.give_up())
    }

    /// The value that an expression has in a statement.
    fn value(&mut self, said: &Said<'_>, expression: &str) -> String {
        self.one(said, &format!("INSERT INTO d.t (v) VALUES ({expression})")).unwrap();
        self.ask("SELECT v FROM d.t ORDER BY id DESC LIMIT 1")
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.server.backend.shutdown();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn shared_of_root(server: &Arc<Server>) -> Shared {
    let id = server.sessions.next_id();
    let handle = SessionHandle::new(id, "localhost".to_owned(), Closer::default(), Door::Main);
    let identity = Identity {
        user: "root".to_owned(),
        host: "localhost".to_owned(),
        ip: String::new(),
        account: AccountName::new("root", "localhost"),
        role: None,
        used_password: false,
        proxy: None,
    };
    let access = AccessControl::new(Arc::clone(&server.accounts), identity, true);
    Shared::new(Arc::clone(server), Arc::new(handle), access, Capabilities::NONE)
}
