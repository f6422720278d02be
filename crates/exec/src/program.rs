//! Stored programs: procedures, functions, triggers and anonymous blocks, run step by step.
//!
//! A body is parsed once per session into a tree of steps ([`compile`]) and walked by a [`machine`].
//! Its statements are planned like prepared ones; local variables are their parameters. A procedure
//! runs in the session that calls it. A function or trigger runs while a statement does, which
//! holds the session: it gets a session of its own that shares the transaction and gives back what
//! it changed ([`sub`]).
//!
//! Must not know packets, or what a statement does.

mod call;
mod compile;
mod cursor;
mod frame;
mod function;
mod handlers;
mod machine;
mod output;
mod rows;
mod signal;
mod sub;
mod trigger;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_types::{SqlType, Value};

pub(crate) use call::{call_statement, compound, schema_collation};
pub(crate) use compile::{check_body, check_trigger, resolve_type};
pub(crate) use function::call_function;
pub(crate) use signal::{get_diagnostics, signal};
pub(crate) use sub::absorb;
pub(crate) use trigger::Triggers;

use crate::Session;
use compile::Compiled;

/// Which program it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ProgramKey {
    /// Schema and lower-case name.
    Procedure(Box<str>, Box<str>),
    /// Schema and lower-case name.
    Function(Box<str>, Box<str>),
    /// Schema and name.
    Trigger(Box<str>, Box<str>),
    /// An anonymous block.
    Block,
}

/// A table by schema and name.
type TableKey = (Box<str>, Box<str>);

/// What a session knows of programs.
#[derive(Default)]
pub(crate) struct ProgramState {
    /// Programs the session has parsed.
    cache: Arc<Mutex<HashMap<ProgramKey, Arc<Compiled>>>>,
    /// Programs being run, outermost first.
    active: Vec<ProgramKey>,
    /// The session functions and triggers of the running statement use.
    sub: RefCell<Option<Box<Session>>>,
    /// Tables used by the statements around, which a function or trigger may not change.
    in_use: Vec<TableKey>,
    /// Rows changed by the statements of the running CALL.
    affected: u64,
    /// Statements of SQL PREPARE that are being run.
    pub(crate) executing: Vec<Arc<crate::query::prepared::Prepared>>,
    /// The row of a `SELECT ... INTO` local variables.
    into: RefCell<Vec<(Value, SqlType)>>,
    /// How many fields the row variable has that takes them, if it is one.
    pub(crate) into_row: Cell<Option<usize>>,
}

impl ProgramState {
    /// Keeps a value of `SELECT ... INTO` for the program's variables.
    pub(crate) fn keep_into(&self, value: Value, ty: SqlType) {
        self.into.borrow_mut().push((value, ty));
    }

    /// Whether a function or trigger around uses a table.
    pub(crate) fn is_in_use(&self, schema: &str, table: &str) -> bool {
        self.in_use.iter().any(|(s, t)| **s == *schema && **t == *table)
    }
}
