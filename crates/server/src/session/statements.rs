//! The prepared statements of one session.
//!
//! Must not outlive the session: they are counted against `max_prepared_stmt_count`.

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

/// One prepared statement; `P` is the backend's form of it.
pub(super) struct Prepared<P> {
    /// It gives one result set, whose columns are known.
    pub(super) has_columns: bool,
    pub(super) body: P,
    pub(super) _ticket: PreparedTicket,
    pub(super) parameters: usize,
    pub(super) text: Arc<str>,
    /// Types bound last.
    pub(super) types: Vec<ParamType>,
    /// Parameters sent in pieces.
    pub(super) long_data: BTreeMap<usize, Vec<u8>>,
    /// Why a piece could not be kept; told at the next execution.
    pub(super) long_error: Option<SqlError>,
    /// How the last result was described.
    pub(super) known: Option<Arc<Head>>,
    pub(super) cursor: Option<Cursor>,
}

impl<P> Prepared<P> {
    /// Shows the statement to others and asks for it to be run.
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

    /// Keeps a statement and gives it a number.
    pub(super) fn add(&mut self, prepared: Prepared<P>) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.list.insert(self.last, prepared);
        self.last
    }

    /// Tells where the statement prepared last lies.
    pub(super) fn memory(&self, note: &mut dyn FnMut(usize, usize)) {
        if let Some(last) = self.list.get(&self.last) {
            note(std::ptr::from_ref(last).addr(), size_of::<Prepared<P>>());
            note(last.types.as_ptr().addr(), size_of_val(&*last.types));
            let (address, bytes) = count_of(&last.text);
            note(address, bytes);
        }
    }

    /// The statement of this number, or 1243; `u32::MAX` is the last one prepared.
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
