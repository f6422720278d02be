//! The answer to one command: result sets as they come, then OK, EOF or ERR.
//!
//! Invariant: sent bytes cannot be taken back. An error after the head of a result set is sent as a
//! packet behind it.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;

use selkie_exec::{Killed, OutParameter, Outcome, ResultSink};
use selkie_plan::physical::OutputColumn;
use selkie_protocol::field_type::flags;
use selkie_protocol::packet::{
    self, ColumnDef, put_column_count, put_eof, put_err_text, put_local_infile, put_ok,
};
use selkie_protocol::stmt::put_prepared;
use selkie_protocol::{Capabilities, FieldType, Output, Status};
use selkie_types::error::catalogue::*;
use selkie_types::{Batch, Charset, CollationId, SqlError, SqlResult};

use super::cursor::Cursor;
use super::head::{Head, Setting};
use super::metadata::column_def;
use super::rows::{put_binary_row, put_text_row};
use super::shared::Shared;
use super::timeouts::Patience;
use crate::backend::SessionStatus;
use crate::net::Wire;
use crate::status::counter;

/// Size of the output at which it is sent to the client.
const FLUSH_AT: usize = 32 * 1024;

/// Protocol of the rows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum RowForm {
    /// Text protocol.
    Text,
    /// Binary protocol.
    Binary,
    /// Binary protocol; the rows are kept until they are fetched.
    Cursor,
}

/// Writes the answer to one command.
pub(super) struct Reply<'a> {
    pub(super) shared: &'a Shared,
    pub(super) wire: &'a mut Wire,
    pub(super) out: &'a mut Output,
    form: RowForm,
    in_result: bool,
    more: bool,
    /// Flags for the packets of this result, in addition to the session's.
    extra: Status,
    /// The head of this statement's last execution, which the client still has.
    pub(super) known: Option<Arc<Head>>,
    /// The head of this result.
    pub(super) head: Option<Arc<Head>>,
    /// The rows of a cursor.
    pub(super) cursor: Option<Cursor>,
    /// Flags of the session before the statement.
    pub(super) status: SessionStatus,
    rows: u64,
    /// The copy of the rows, if they are to be kept.
    copy: Option<RowCopy>,
}

/// A copy of the packets of rows.
struct RowCopy {
    packets: Vec<u8>,
    limit: usize,
}

impl<'a> Reply<'a> {
    /// An answer whose rows have `form`.
    pub(super) fn new(
        shared: &'a Shared,
        wire: &'a mut Wire,
        out: &'a mut Output,
        form: RowForm,
        status: SessionStatus,
    ) -> Self {
        Self {
            shared,
            wire,
            out,
            form,
            in_result: false,
            more: false,
            extra: Status::NONE,
            known: None,
            head: None,
            cursor: None,
            status,
            rows: 0,
            copy: None,
        }
    }

    fn caps(&self) -> Capabilities {
        self.shared.capabilities()
    }

    /// Sets whether another statement follows this one.
    pub(super) fn expect_more(&mut self, more: bool) {
        self.more = more;
        self.extra.set(Status::MORE_RESULTS, more);
    }

    /// Ends the answer to one statement.
    pub(super) fn finish(&mut self, outcome: &Outcome, status: SessionStatus) {
        self.status = status;
        self.extra.set(Status::MORE_RESULTS, self.more);
        if self.cursor.is_some() {
            return;
        }
        if outcome.result_set || self.in_result {
            self.end_rows();
        } else {
            self.put_ok(outcome, false);
        }
        self.in_result = false;
        self.rows = 0;
    }

    /// Ends the answer with an error.
    pub(super) fn fail(&mut self, error: &SqlError) {
        self.cursor = None;
        self.in_result = false;
        self.out.abandon();
        self.shared.drop_changes();
        let caps = self.caps();
        let message = message_in(error.message(), results_charset(self.shared));
        self.out.packet(|b| put_err_text(b, error, &message, caps));
    }

    /// An OK packet without a statement.
    pub(super) fn plain_ok(&mut self, status: SessionStatus) {
        self.status = status;
        self.put_ok(&Outcome::default(), false);
    }

    /// Sends an EOF packet, also to clients that prefer OK.
    pub(super) fn plain_eof(&mut self, status: SessionStatus) {
        let flags = status.flags;
        self.out.packet(|b| put_eof(b, 0, flags));
    }

    fn put_ok(&mut self, outcome: &Outcome, as_end: bool) {
        let changes = self.shared.take_changes();
        let (caps, info) = (self.caps(), outcome.info());
        let ok = packet::Ok {
            affected_rows: outcome.affected,
            last_insert_id: outcome.insert_id,
            status: self.status.flags | self.extra,
            warnings: self.status.warnings,
            info: info.as_bytes(),
            changes: changes.bytes(),
        };
        self.out.packet(|b| put_ok(b, &ok, caps, as_end));
    }

    /// Ends definitions or rows with EOF, or with OK for clients that prefer it.
    fn end_rows(&mut self) {
        self.shared.handle.counters.add(counter().rows_sent, self.rows);
        if self.caps().has(Capabilities::DEPRECATE_EOF) {
            return self.put_ok(&Outcome::default(), true);
        }
        let (warnings, flags) = (self.status.warnings, self.status.flags | self.extra);
        self.out.packet(|b| put_eof(b, warnings, flags));
    }

    /// Begins a result set. `planned` are its columns if they belong to a plan.
    fn begin_result(&mut self, columns: &[OutputColumn], planned: Option<&Arc<[OutputColumn]>>) {
        self.in_result = true;
        self.rows = 0;
        let setting = Setting {
            results: self.shared.habits().announced,
            caps: self.caps(),
            sequence: self.out.sequence().wrapping_add(1),
        };
        let head = match (&self.known, planned) {
            (Some(known), Some(planned)) if known.is_of(planned, &setting) => known.clone(),
            (_, Some(planned)) => Head::of_plan(planned, setting),
            (_, None) => Arc::new(Head::new(columns, None, setting)),
        };
        match self.form {
            RowForm::Cursor => self.cursor = Some(Cursor::new(head.clone())),
            _ => self.put_head(&head, Status::NONE),
        }
        if let Some(copy) = &mut self.copy {
            // Compat: the definitions of columns count too.
            copy.limit = copy.limit.saturating_sub(head.definitions.len());
        }
        self.head = Some(head);
    }

    /// Writes the column count, the definitions and, for older clients, their EOF.
    fn put_head(&mut self, head: &Head, flags: Status) {
        let caps = self.caps();
        let cacheable = caps.has(Capabilities::CACHE_METADATA) && self.form != RowForm::Text;
        let known = cacheable && self.known.as_ref().is_some_and(|known| known.is_same(head));
        self.out.packet(|b| put_column_count(b, head.encoders.len(), caps, !known));
        if !known {
            self.out.append(&head.definitions);
        }
        if !caps.has(Capabilities::DEPRECATE_EOF) {
            let flags = self.status.flags | self.extra | flags;
            self.out.packet(|b| put_eof(b, 0, flags));
        }
    }

    /// Writes the definitions and returns the cursor, if the statement opened one.
    pub(super) fn open_cursor(&mut self, status: SessionStatus) -> Option<Cursor> {
        let cursor = self.cursor.take()?;
        self.status = status;
        self.put_head(&cursor.head, Status::CURSOR_EXISTS);
        Some(cursor)
    }

    /// Fails after a kill: rows that are computed after it are not sent.
    fn check_killed(&self) -> SqlResult<()> {
        match self.shared.handle.kill.get() {
            Killed::No => Ok(()),
            Killed::Query => Err(SqlError::interrupted()),
            Killed::Connection => Err(SqlError::new(&ER_CONNECTION_KILLED, &[])),
        }
    }

    /// Copies the row whose packets begin behind `begin` bytes of the output.
    #[inline]
    fn copy_row(&mut self, begin: usize) {
        let Some(copy) = &mut self.copy else { return };
        let row = &self.out.bytes()[begin..];
        match copy.packets.len() + row.len() <= copy.limit {
            true => copy.packets.extend_from_slice(row),
            false => self.copy = None,
        }
    }

    fn flush_if_full(&mut self) -> SqlResult<()> {
        if self.out.len() < FLUSH_AT {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> SqlResult<()> {
        self.wire.flush(self.out).map_err(|e| write_error(&e))
    }
}

/// Column definitions outside of a result set.
pub(super) struct Definitions {
    caps: Capabilities,
    results: Option<CollationId>,
}

impl Definitions {
    pub(super) fn new(shared: &Shared) -> Self {
        Self { caps: shared.capabilities(), results: shared.habits().announced }
    }

    /// Writes the answer to PREPARE.
    pub(super) fn put_prepared(
        &self,
        out: &mut Output,
        id: u32,
        columns: &[OutputColumn],
        parameters: usize,
        status: SessionStatus,
    ) {
        let warnings = status.warnings;
        out.packet(|b| put_prepared(b, id, columns.len(), parameters, warnings));
        for _ in 0..parameters {
            out.packet(|b| PARAMETER.encode(b, self.caps));
        }
        self.put_end(out, parameters > 0, status);
        for column in columns {
            out.packet(|b| column_def(column, self.results).encode(b, self.caps));
        }
        self.put_end(out, !columns.is_empty(), status);
    }

    /// Writes the answer to FIELD_LIST: each definition is followed by a default, always NULL.
    pub(super) fn put_field_list(
        &self,
        out: &mut Output,
        columns: &[OutputColumn],
        status: SessionStatus,
    ) {
        for column in columns {
            out.packet(|b| {
                column_def(column, self.results).encode(b, self.caps);
                b.push(0xfb);
            });
        }
        out.packet(|b| put_eof(b, 0, status.flags));
    }

    fn put_end(&self, out: &mut Output, any: bool, status: SessionStatus) {
        if any && !self.caps.has(Capabilities::DEPRECATE_EOF) {
            out.packet(|b| put_eof(b, 0, status.flags));
        }
    }
}

/// Definition of a parameter that is not bound yet.
const PARAMETER: ColumnDef<'_> = ColumnDef {
    schema: "",
    table: "",
    org_table: "",
    name: "?",
    org_name: "",
    collation: 63,
    length: 0,
    field_type: FieldType::Null,
    flags: flags::BINARY,
    decimals: 0,
    type_name: "",
    format_name: "",
    names: None,
};

/// Error 1160 or 1161.
fn write_error(e: &io::Error) -> SqlError {
    match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            SqlError::new(&ER_NET_WRITE_INTERRUPTED, &[])
        }
        _ => SqlError::new(&ER_NET_ERROR_ON_WRITE, &[]),
    }
}

/// The character set of results; `None` leaves strings unchanged.
pub(super) fn results_charset(shared: &Shared) -> Option<Charset> {
    shared.habits().results
}

/// Mark of the binary form of rows, see [`text_form`].
const BINARY_FORM: u64 = 1 << 32;

/// Number of the form of rows in the text protocol: that of the character set of results.
pub(crate) fn text_form(shared: &Shared) -> u64 {
    results_charset(shared).map_or(0, |charset| charset as u64 + 1)
}

impl ResultSink for Reply<'_> {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()> {
        self.begin_result(columns, None);
        Ok(())
    }

    fn planned_columns(&mut self, columns: &Arc<[OutputColumn]>) -> SqlResult<()> {
        self.begin_result(columns, Some(columns));
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        self.check_killed()?;
        self.rows += batch.rows() as u64;
        if let Some(cursor) = &mut self.cursor {
            cursor.push(batch.clone());
            return Ok(());
        }
        let Some(head) = self.head.clone() else { return Ok(()) };
        for row in 0..batch.rows() {
            let begin = self.out.len();
            match self.form {
                RowForm::Text => put_text_row(self.out, &head.encoders, batch, row),
                _ => put_binary_row(self.out, &head.encoders, batch, row),
            }
            self.copy_row(begin);
            self.flush_if_full()?;
        }
        Ok(())
    }

    fn form(&self) -> Option<u64> {
        match self.form {
            RowForm::Text => Some(text_form(self.shared)),
            RowForm::Binary => Some(BINARY_FORM | text_form(self.shared)),
            RowForm::Cursor => None,
        }
    }

    fn keep_rows(&mut self, limit: usize) {
        self.copy = Some(RowCopy { packets: Vec::new(), limit });
    }

    fn kept_rows(&mut self) -> Option<Vec<u8>> {
        self.copy.take().map(|copy| copy.packets)
    }

    fn send_again(&mut self, rows: &[u8], count: u64) -> SqlResult<()> {
        self.check_killed()?;
        self.rows += count;
        // As many as one flush takes, so that a kill ends a long result.
        let mut rest = rows;
        while !rest.is_empty() {
            rest = self.out.append_frames(rest, FLUSH_AT);
            self.flush_if_full()?;
            self.check_killed()?;
        }
        Ok(())
    }

    fn end(&mut self) -> SqlResult<()> {
        self.extra.set(Status::MORE_RESULTS, true);
        self.end_rows();
        self.in_result = false;
        Ok(())
    }

    fn takes_parameter(&self, _number: usize) -> bool {
        true
    }

    fn out_parameters(&mut self, parameters: Vec<OutParameter>) -> SqlResult<()> {
        // Compat: a client that can read only one result set gets no values of OUT parameters.
        if !self.caps().has(Capabilities::PS_MULTI_RESULTS) {
            return Ok(());
        }
        self.extra.set(Status::MORE_RESULTS, true);
        self.extra.set(Status::PS_OUT_PARAMS, true);
        let (columns, row) = OutParameter::one_row(parameters);
        self.columns(&columns)?;
        self.batch(&row)?;
        self.end()?;
        self.extra.set(Status::PS_OUT_PARAMS, false);
        Ok(())
    }

    fn local_infile(&mut self, file: &str) -> SqlResult<Box<dyn Read + '_>> {
        if !self.caps().has(Capabilities::LOCAL_FILES) {
            return Err(SqlError::new(&ER_NOT_ALLOWED_COMMAND, &[]));
        }
        self.out.packet(|b| put_local_infile(b, file.as_bytes()));
        self.flush()?;
        self.wire.set_sequence(self.out.sequence());
        Ok(Box::new(LocalFile { reply: self, packet: Vec::new(), at: 0, ended: false }))
    }
}

/// The content of a client's file: packets until an empty one.
struct LocalFile<'r, 'a> {
    reply: &'r mut Reply<'a>,
    packet: Vec<u8>,
    at: usize,
    ended: bool,
}

impl LocalFile<'_, '_> {
    fn next_packet(&mut self) -> io::Result<()> {
        let timeout = Patience::of(self.reply.shared).read;
        let packet = self.reply.wire.read_packet(timeout);
        self.packet = packet.map_err(|e| io::Error::other(format!("{e:?}")))?;
        self.reply.out.set_sequence(self.reply.wire.sequence());
        self.at = 0;
        self.ended = self.packet.is_empty();
        Ok(())
    }
}

impl Read for LocalFile<'_, '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.packet.len() && !self.ended {
            self.next_packet()?;
        }
        let rest = &self.packet[self.at.min(self.packet.len())..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}

impl Drop for LocalFile<'_, '_> {
    /// Reads the rest: the client sends its whole file even if nobody needs it any more.
    fn drop(&mut self) {
        while !self.ended && self.next_packet().is_ok() {}
    }
}

/// An error's text in the client's character set. Compat: a character outside of that set is shown
/// by its number in hexadecimal.
fn message_in(message: &str, results: Option<Charset>) -> Cow<'_, [u8]> {
    let charset = match results {
        Some(charset) if charset != Charset::Binary && !message.is_ascii() => charset,
        _ => return Cow::Borrowed(message.as_bytes()),
    };
    let mut out = Vec::with_capacity(message.len());
    for c in message.chars() {
        if !charset.encode(u32::from(c), &mut out) {
            out.extend_from_slice(format!("\\{:04X}", u32::from(c)).as_bytes());
        }
    }
    Cow::Owned(out)
}
