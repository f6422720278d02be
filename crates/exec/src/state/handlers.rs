//! Tables that a session has opened by HANDLER, and its position in each. Must not read rows.
//! [`crate::handler`] opens and reads them.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_types::charset::identifier_eq;

use super::metadata::LockTicket;
use crate::Instance;

/// Open handlers of a session.
#[derive(Debug, Default)]
pub(crate) struct Handlers(pub(crate) Vec<Handler>);

#[derive(Debug)]
pub(crate) struct Handler {
    /// Name or alias by which it is read.
    pub(crate) name: Box<str>,
    pub(crate) schema: Box<str>,
    pub(crate) table: Box<str>,
    /// `None` after the table was given up.
    pub(crate) open: Option<Open>,
}

#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) table: Arc<TableInfo>,
    /// Metadata lock against DDL of other sessions; `None` for a temporary table.
    pub(crate) lock: Option<LockTicket>,
    /// Position at which the last READ stopped.
    pub(crate) place: Option<Place>,
}

/// A position in an order of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Position of the key that gives the order; `None` for stored order.
    pub(crate) index: Option<usize>,
    pub(crate) point: Point,
}

/// A point in an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    /// Before all rows.
    Start,
    /// After all rows.
    End,
    /// On the row with this key.
    Row(Vec<u8>),
    /// Before the first key with this prefix; the search found none.
    Before(Vec<u8>),
}

impl Handlers {
    /// Whether the session has no handler.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|h| identifier_eq(&h.name, name))
    }

    pub(crate) fn forget_table(&mut self, schema: &str, table: &str) {
        self.0.retain(|h| *h.schema != *schema || *h.table != *table);
    }

    /// Gives up the lock and position of a table, or of all for `None`; temporary tables stay.
    pub(crate) fn give_up(&mut self, table: Option<(&str, &str)>) {
        let named = |h: &Handler| table.is_none_or(|name| name == (&*h.schema, &*h.table));
        let shared = |h: &Handler| h.open.as_ref().is_some_and(|open| open.lock.is_some());
        self.0.iter_mut().filter(|h| named(h) && shared(h)).for_each(|h| h.open = None);
    }

    /// Gives up the tables whose locks other sessions wait for.
    pub(crate) fn give_way(&mut self, instance: &Instance) {
        for handler in &mut self.0 {
            let lock = handler.open.as_ref().and_then(|open| open.lock.as_ref());
            if lock.is_some_and(|lock| instance.locks.is_awaited(lock)) {
                handler.open = None;
            }
        }
    }
}
