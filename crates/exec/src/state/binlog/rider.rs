//! Groups on their way into the log: with a commit of an engine that carries riders, or alone.
//!
//! Must not choose numbers and places: the log does, under the engine's order lock.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::noted::Noted;
use super::session_log::{Target, cache_error, write_error};
use selkie_engine::{
    Engine, EngineError, EngineResult, EngineTrx, Lsn, Refusal, Rider, Xid as BranchName,
};
use selkie_replication::codec::{Event, GtidEvent, Query, StatusVars, XaPrepare, Xid, flags};
use selkie_replication::log::{BinaryLog, Cache, Group, GroupHead, Place, Refused};
use selkie_replication::{DatabaseFilter, Gtid};
use selkie_types::SqlError;
use selkie_types::error::catalogue::{
    ER_GTID_OPEN_TABLE_FAILED, ER_GTID_STRICT_OUT_OF_ORDER, ER_TRANS_CACHE_FULL,
};

/// The binary log of a server, with the engine whose log carries it.
pub struct Binlog {
    /// The log.
    pub log: Arc<BinaryLog>,
    /// The engine that carries groups without a transaction of their own.
    pub engine: Arc<dyn Engine>,
    /// Whether changes in a schema are logged: `binlog_do_db` and `binlog_ignore_db`.
    pub filter: DatabaseFilter,
    /// `gtid_strict_mode`.
    strict: Arc<AtomicBool>,
    /// The last number of a transaction.
    xids: AtomicU64,
}

/// A group that is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    /// Its number.
    pub(crate) gtid: Gtid,
    /// The place behind it.
    pub(crate) end: Place,
    /// Its length.
    pub(crate) bytes: u64,
}

/// Values of a session that a group's header has.
#[derive(Clone, Debug)]
pub struct GroupHeadline {
    /// Seconds since 1970.
    pub timestamp: u32,
    /// `server_id`.
    pub server_id: u32,
    /// `gtid_domain_id`.
    pub domain: u32,
    /// `gtid_seq_no`, if it was set for the next group.
    pub seq: Option<u64>,
    /// `gtid_strict_mode`.
    pub is_strict: bool,
    /// Replicas may apply the group beside others: not `skip_parallel_replication`.
    pub is_parallel: bool,
    /// Flags that the headers of all events have.
    pub header: u16,
    /// Number of the connection.
    pub thread: u32,
    /// The default schema.
    pub(crate) schema: Option<Arc<str>>,
    /// The note of a replica that has applied the group.
    pub(crate) note: Option<Arc<Noted>>,
}

/// Ends of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupEnd<'x> {
    /// A transaction.
    Xid,
    /// Changes that no transaction can undo.
    Commit,
    /// A transaction that was rolled back, some of whose changes stand.
    Rollback,
    /// A new table and its rows.
    Filled {
        /// Its engine has transactions.
        is_transactional: bool,
    },
    /// One event, which changes definitions or accounts.
    Definition,
    /// A branch that waits for its outcome.
    XaPrepare(&'x BranchName),
    /// One event, which commits a prepared branch.
    XaCommit(&'x BranchName),
    /// One event, which rolls a prepared branch back.
    XaRollback(&'x BranchName),
}

impl<'x> GroupEnd<'x> {
    fn flags(self) -> u8 {
        match self {
            Self::Xid => GtidEvent::TRANSACTIONAL,
            Self::Commit | Self::Rollback => 0,
            // A replica must not try it beside earlier groups, since it cannot undo the table.
            Self::Filled { .. } => GtidEvent::DDL,
            Self::Definition => GtidEvent::STANDALONE | GtidEvent::DDL,
            Self::XaPrepare(_) => GtidEvent::PREPARED_XA | GtidEvent::TRANSACTIONAL,
            Self::XaCommit(_) | Self::XaRollback(_) => {
                GtidEvent::COMPLETED_XA | GtidEvent::TRANSACTIONAL | GtidEvent::STANDALONE
            }
        }
    }

    fn branch(self) -> Option<&'x BranchName> {
        match self {
            Self::XaPrepare(xid) | Self::XaCommit(xid) | Self::XaRollback(xid) => Some(xid),
            Self::Xid | Self::Commit | Self::Rollback => None,
            Self::Filled { .. } | Self::Definition => None,
        }
    }
}

/// A branch's name in a statement. Compat: as MariaDB logs it.
fn in_statement(xid: &BranchName) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("X'{}',X'{}',{}", hex(&xid.gtrid), hex(&xid.bqual), xid.format)
}

impl Binlog {
    /// The log `log`, whose groups ride in the log of `engine`.
    pub fn new(
        log: Arc<BinaryLog>,
        engine: Arc<dyn Engine>,
        filter: DatabaseFilter,
        strict: Arc<AtomicBool>,
    ) -> Self {
        Self { log, engine, filter, strict, xids: AtomicU64::new(0) }
    }

    pub(super) fn is_strict(&self) -> bool {
        self.strict.load(Ordering::Relaxed)
    }

    /// A number for the next transaction, unique since the server's start.
    pub(super) fn next_xid(&self) -> u64 {
        self.xids.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Ends the events of `cache` as a group and hands it to `commit` as a rider. Returns what was
    /// logged if the commit succeeded.
    fn ride<T>(
        &self,
        cache: &mut Cache,
        head: &GroupHeadline,
        end: GroupEnd<'_>,
        commit: impl FnOnce(&mut dyn Rider) -> EngineResult<T>,
    ) -> EngineResult<(T, Logged)> {
        self.terminate(cache, head, end)?;
        let parallel = if head.is_parallel { GtidEvent::ALLOW_PARALLEL } else { 0 };
        let group_head = GroupHead {
            timestamp: head.timestamp,
            server_id: head.server_id,
            domain: head.domain,
            seq: head.seq,
            flags: end.flags() | parallel,
            header: head.header,
            xa: end.branch().map(|x| (x.format, x.gtrid.to_vec(), x.bqual.to_vec())),
            strict: head.is_strict,
        };
        let mut rider = GroupRider { group: self.log.group(group_head, cache), bytes: 0 };
        let result = match &head.note {
            Some(noted) => noted.ride(Some(&mut rider), commit)?,
            None => commit(&mut rider)?,
        };
        let GroupRider { group, bytes } = rider;
        Ok((result, Logged { gtid: group.gtid(), end: group.end(), bytes: bytes as u64 }))
    }

    /// Appends the events of `cache` as a group of its own.
    pub(crate) fn append(
        &self,
        cache: &mut Cache,
        head: &GroupHeadline,
        end: GroupEnd<'_>,
    ) -> EngineResult<(Lsn, Logged)> {
        self.ride(cache, head, end, |rider| self.engine.append(rider))
    }

    /// Commits a transaction with a group, or appends the group if its engine carries no riders.
    pub(crate) fn commit(
        &self,
        engine: &dyn Engine,
        trx: Box<dyn EngineTrx>,
        group: (&mut Cache, &GroupHeadline, GroupEnd<'_>),
    ) -> EngineResult<(Option<Lsn>, Logged)> {
        let (cache, head, end) = group;
        if engine.carries_riders() {
            return self.ride(cache, head, end, |rider| trx.commit(Some(rider)));
        }
        trx.commit(None)?;
        let (lsn, logged) = self.append(cache, head, end)?;
        self.engine.wait_durable(lsn)?;
        Ok((None, logged))
    }

    /// Adds the events that end a group.
    fn terminate(
        &self,
        cache: &mut Cache,
        head: &GroupHeadline,
        end: GroupEnd<'_>,
    ) -> EngineResult<()> {
        let mut add = |event: &Event<'_>, flags| {
            let added = cache.add(event, head.timestamp, head.server_id, flags | head.header);
            let target = match end {
                GroupEnd::Commit => Target::Immediate,
                _ => Target::Transaction,
            };
            added.map_err(|error| refused(cache_error(error, target)))
        };
        let text = match end {
            GroupEnd::Xid | GroupEnd::Definition | GroupEnd::Filled { is_transactional: true } => {
                None
            }
            GroupEnd::Commit | GroupEnd::Filled { is_transactional: false } => {
                Some("COMMIT".to_owned())
            }
            GroupEnd::Rollback => Some("ROLLBACK".to_owned()),
            GroupEnd::XaCommit(xid) => Some(format!("XA COMMIT {}", in_statement(xid))),
            GroupEnd::XaRollback(xid) => Some(format!("XA ROLLBACK {}", in_statement(xid))),
            GroupEnd::XaPrepare(xid) => Some(format!("XA END {}", in_statement(xid))),
        };
        if let Some(text) = text {
            add(&Event::Query(plain(head, &text)), flags::SUPPRESS_USE)?;
        }
        match end {
            GroupEnd::Xid | GroupEnd::Filled { is_transactional: true } => {
                add(&Event::Xid(Xid(self.next_xid())), 0)
            }
            GroupEnd::XaPrepare(xid) => {
                let (gtrid, bqual) = (&xid.gtrid, &xid.bqual);
                add(
                    &Event::XaPrepare(XaPrepare { one_phase: 0, format: xid.format, gtrid, bqual }),
                    0,
                )
            }
            _ => Ok(()),
        }
    }

    /// Prepares a branch with a group. Riders are what makes a prepared branch durable, so an
    /// engine that keeps branches carries them.
    pub(crate) fn prepare(
        &self,
        engine: &dyn Engine,
        trx: &dyn EngineTrx,
        (xid, cache, head): (&BranchName, &mut Cache, &GroupHeadline),
    ) -> EngineResult<(Option<Lsn>, Logged)> {
        if !engine.carries_riders() {
            return Err(EngineError::Unsupported("a branch in the binary log"));
        }
        self.ride(cache, head, GroupEnd::XaPrepare(xid), |rider| trx.prepare(xid, Some(rider)))
    }
}

/// A statement that depends on no settings.
pub(super) fn plain<'q>(head: &'q GroupHeadline, text: &'q str) -> Query<'q> {
    let (status, text) = (StatusVars(&[]), text.as_bytes());
    let database = head.schema.as_deref().unwrap_or_default().as_bytes();
    Query { thread_id: head.thread, exec_time: 0, error_code: 0, status, database, text }
}

fn refused(error: SqlError) -> EngineError {
    EngineError::Refused(Box::new(error))
}

fn refusal(refused: Refused) -> Refusal {
    let error = match refused {
        Refused::NoRoom => return Refusal::NoRoom,
        Refused::OutOfOrder(wrong) => {
            let (new, old) = (wrong.gtid, wrong.existing);
            let numbers: [&dyn std::fmt::Display; 6] =
                [&new.domain, &new.server, &new.seq, &old.domain, &old.server, &old.seq];
            SqlError::new(&ER_GTID_STRICT_OUT_OF_ORDER, &numbers)
        }
        Refused::SequenceEnd => SqlError::new(&ER_GTID_OPEN_TABLE_FAILED, &[]),
        Refused::TooLarge => SqlError::new(&ER_TRANS_CACHE_FULL, &[]),
    };
    Refusal::Error(Box::new(error))
}

struct GroupRider<'a> {
    group: Group<'a>,
    /// Bytes that it will append.
    bytes: usize,
}

impl Rider for GroupRider<'_> {
    fn place(&mut self) -> Result<usize, Refusal> {
        self.bytes = self.group.place().map_err(refusal)?;
        Ok(self.bytes)
    }

    fn make_room(&mut self) -> EngineResult<()> {
        self.group.make_room().map_err(from_files)
    }

    fn fill(&mut self, lsn: Lsn, out: &mut Vec<u8>) {
        self.group.fill(lsn.0, out);
    }
}

/// Error of the files.
fn from_files(error: io::Error) -> EngineError {
    refused(write_error(&error))
}
