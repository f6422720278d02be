//! The prepared statements of one session.
//!
//! Must not outlive the session: each counts towards `max_prepared_stmt_count`.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use selkie_engine::{Moment, count_of};
use selkie_exec::session::PreparedTicket;
use selkie_protocol::stmt::ParamType;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::cursor::Cursor;
use super::head::Head;
use super::reply::RowForm;
use super::runner::Asked;
use super::shared::Shared;

/// A prepared statement; `P` is the backend's form of it.
pub(super) struct Prepared<P> {
    /// Whether it has one result set, with known columns.
    pub(super) has_columns: bool,
    pub(super) body: P,
    pub(super) _ticket: PreparedTicket,
    pub(super) parameters: usize,
    pub(super) text: Arc<str>,
    /// Types of the last bound parameters.
    pub(super) types: Vec<ParamType>,
    /// Parameters that were sent in pieces.
    pub(super) long_data: BTreeMap<usize, Vec<u8>>,
    /// The error of a piece that could not be kept; the next execution reports it.
    pub(super) long_error: Option<SqlError>,
    /// Head of the last result.
    pub(super) known: Option<Arc<Head>>,
    pub(super) cursor: Option<Cursor>,
}

impl<P> Prepared<P> {
    /// Shows the statement in the process list and returns the request to run it.
    pub(super) fn asked(&self, shared: &Shared, form: RowForm, begun: Moment) -> Asked<'_> {
        let (command, id) = ("Execute", shared.server.sessions.next_query_id());
        shared.handle.begin(command, Some(Arc::clone(&self.text)), id, begun);
        Asked { command, text: self.text.as_bytes(), form, begun, known: None }
    }
}

/// All prepared statements of a session.
pub(super) struct Statements<P> {
    list: HashMap<u32, Prepared<P>>,
    last: u32,
}

impl<P> Statements<P> {
    pub(super) fn new() -> Self {
        Self { list: HashMap::new(), last: 0 }
    }

    /// Stores a statement and returns its number.
    pub(super) fn add(&mut self, prepared: Prepared<P>) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.list.insert(self.last, prepared);
        self.last
    }

    /// Reports the memory of the statement that was prepared last.
    pub(super) fn memory(&self, note: &mut dyn FnMut(usize, usize)) {
        if let Some(last) = self.list.get(&self.last) {
            note(std::ptr::from_ref(last).addr(), size_of::<Prepared<P>>());
            note(last.types.as_ptr().addr(), size_of_val(&*last.types));
            let (address, bytes) = count_of(&last.text);
            note(address, bytes);
        }
    }

    /// The statement of this number; fails (1243) if there is none. `u32::MAX` is the last one
    /// prepared.
    pub(super) fn get(&mut self, id: u32, command: &str) -> SqlResult<&mut Prepared<P>> {
        let id = if id == u32::MAX { self.last } else { id };
        self.list
            .get_mut(&id)
            .ok_or_else(|| SqlError::new(&ER_UNKNOWN_STMT_HANDLER, &[&id.to_string(), &command]))
    }

    /// The statement of this number, if there is one.
    pub(super) fn find(&mut self, id: u32) -> Option<&mut Prepared<P>> {
        self.list.get_mut(&id)
    }

    pub(super) fn close(&mut self, id: u32) {
        self.list.remove(&id);
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
    }
}
