//! A group: its number, how it begins, and how it ends.
//!
//! Must not run statements. COMMIT and ROLLBACK of the primary take place at the group's end, so
//! that the note is part of them.

use selkie_engine::Xid;
use selkie_exec::{Session, prepare_transaction_as};
use selkie_replication::codec::{GtidEvent, XaPrepare, flags as header_flags};
use selkie_replication::{Gtid, Header};
use selkie_types::SqlResult;

use super::super::session::ExecutorSession;
use super::options::Options;
use super::statement::Deferred;
use crate::variables::{VarValue, ids};

/// Whether a statement only begins or ends a transaction, or marks a place in it.
pub(super) fn is_bracket(text: &[u8]) -> bool {
    matches!(text, b"BEGIN" | b"COMMIT") || text.starts_with(b"SAVEPOINT ")
}

/// The group that is being applied.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Its number, if the primary gives numbers.
    gtid: Option<Gtid>,
    flags: u8,
    /// Server of its first event.
    server_id: u32,
    /// Whether its events are marked by `skip_replication`.
    is_skipped: bool,
    is_begun: bool,
    /// Whether it is a transaction: what changes before its end is not committed.
    is_transaction: bool,
    ending: Ending,
    /// The statement that runs at the end.
    pub(super) deferred: Option<Deferred>,
}

/// The end of a group.
#[derive(Debug, Default)]
enum Ending {
    #[default]
    Commit,
    Rollback,
    /// XA PREPARE.
    Prepare(Xid),
}

impl Group {
    pub(super) fn new(gtid: Option<Gtid>, flags: u8, header: &Header) -> Self {
        let is_transaction = gtid.is_some() && flags & GtidEvent::STANDALONE == 0;
        Self {
            gtid,
            flags,
            server_id: header.server_id,
            is_skipped: header.has(header_flags::SKIP_REPLICATION),
            is_begun: true,
            is_transaction,
            ..Self::default()
        }
    }

    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }

    pub(super) fn is_transaction(&self) -> bool {
        self.is_transaction
    }

    /// Whether a single statement may be all of it.
    pub(super) fn is_alone(&self) -> bool {
        !self.is_transaction
    }

    /// Gives the group's number to what is logged again.
    pub(super) fn number(&self, inner: &mut ExecutorSession, options: &Options) {
        if !options.is_logged {
            // Events tell which server made them.
            let id = VarValue::Uint(self.server_id.into());
            inner.shared.vars.lock().set(ids().server_id, id);
            inner.session.frame.settings.binlog.server_id = self.server_id;
            return;
        }
        inner.refresh();
        let globals = &inner.shared.server.globals;
        let domain = match self.gtid {
            Some(gtid) => u64::from(gtid.domain),
            None => globals.get(ids().gtid_domain_id).as_u64(),
        };
        let seq = self.gtid.map_or(0, |gtid| gtid.seq);
        let is_parallel = self.flags & GtidEvent::ALLOW_PARALLEL != 0;
        {
            // Variables, for statements that make all settings anew.
            let mut vars = inner.shared.vars.lock();
            vars.set(ids().gtid_domain_id, VarValue::Uint(domain));
            vars.set(ids().server_id, VarValue::Uint(self.server_id.into()));
            vars.set(ids().gtid_seq_no, VarValue::Uint(seq));
            vars.set(ids().skip_parallel_replication, VarValue::Bool(!is_parallel));
            vars.set(ids().skip_replication, VarValue::Bool(self.is_skipped));
        }
        let binlog = &mut inner.session.frame.settings.binlog;
        binlog.domain_id = domain as u32;
        binlog.server_id = self.server_id;
        binlog.seq_no = Some(seq).filter(|seq| *seq > 0);
        binlog.is_parallel = is_parallel;
        binlog.header = if self.is_skipped { header_flags::SKIP_REPLICATION } else { 0 };
    }

    /// Opens the group's transaction.
    pub(super) fn begin_transaction(&mut self, inner: &mut ExecutorSession) {
        inner.refresh();
        self.is_transaction = true;
        let Session { transaction, frame, .. } = &mut inner.session;
        if !transaction.is_open() {
            transaction.begin(&frame.settings, Some(false));
        }
    }

    /// Opens it again if a statement has committed implicitly.
    pub(super) fn begin_again(&mut self, inner: &mut ExecutorSession) {
        if self.is_transaction && !inner.session.in_transaction() {
            self.begin_transaction(inner);
        }
    }

    pub(super) fn end_by_commit(&mut self) {
        self.ending = Ending::Commit;
    }

    pub(super) fn end_by_rollback(&mut self) {
        self.ending = Ending::Rollback;
    }

    pub(super) fn end_by_prepare(&mut self, prepare: &XaPrepare<'_>) {
        self.ending = match prepare.one_phase {
            0 => Ending::Prepare(Xid {
                gtrid: prepare.gtrid.into(),
                bqual: prepare.bqual.into(),
                format: prepare.format,
            }),
            _ => Ending::Commit,
        };
    }

    /// Ends the open transaction.
    pub(super) fn end(&mut self, inner: &mut ExecutorSession) -> SqlResult<()> {
        match std::mem::take(&mut self.ending) {
            Ending::Commit => inner.session.commit(),
            Ending::Rollback => {
                inner.session.transaction.keep_immediate()?;
                inner.session.rollback()
            }
            Ending::Prepare(xid) => {
                prepare_transaction_as(&inner.instance, &mut inner.session, &xid)
            }
        }
    }
}
