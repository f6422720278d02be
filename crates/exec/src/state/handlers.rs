//! The tables that a session has opened by HANDLER, and where it stands in them. Must not read
//! rows.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_types::charset::identifier_eq;

use super::metadata::LockTicket;
use crate::Instance;

/// The tables a session has opened.
#[derive(Debug, Default)]
pub(crate) struct Handlers(pub(crate) Vec<Handler>);

#[derive(Debug)]
pub(crate) struct Handler {
    /// The name it is read by.
    pub(crate) name: Box<str>,
    pub(crate) schema: Box<str>,
    pub(crate) table: Box<str>,
    /// `None` once the table was given up.
    pub(crate) open: Option<Open>,
}

#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) table: Arc<TableInfo>,
    /// Keeps others from changing the definition; a temporary table has no others.
    pub(crate) lock: Option<LockTicket>,
    /// The place at which the last READ stopped.
    pub(crate) place: Option<Place>,
}

/// A place in an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The key whose order it is, by position; `None` that of the rows.
    pub(crate) index: Option<usize>,
    pub(crate) point: Point,
}

/// A point in an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    /// Before everything.
    Start,
    /// Behind everything.
    End,
    /// On the row with this key.
    Row(Vec<u8>),
    /// Before all that begin with this key, of which there was nothing.
    Before(Vec<u8>),
}

impl Handlers {
    /// Whether none is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|h| identifier_eq(&h.name, name))
    }

    pub(crate) fn forget_table(&mut self, schema: &str, table: &str) {
        self.0.retain(|h| *h.schema != *schema || *h.table != *table);
    }

    /// Gives up a table, all if it is `None`; temporary ones stay.
    pub(crate) fn give_up(&mut self, table: Option<(&str, &str)>) {
        let named = |h: &Handler| table.is_none_or(|name| name == (&*h.schema, &*h.table));
        let shared = |h: &Handler| h.open.as_ref().is_some_and(|open| open.lock.is_some());
        self.0.iter_mut().filter(|h| named(h) && shared(h)).for_each(|h| h.open = None);
    }

    /// Gives up the tables that others wait for.
    pub(crate) fn give_way(&mut self, instance: &Instance) {
        for handler in &mut self.0 {
            let lock = handler.open.as_ref().and_then(|open| open.lock.as_ref());
            if lock.is_some_and(|lock| instance.locks.is_awaited(lock)) {
                handler.open = None;
            }
        }
    }
}
