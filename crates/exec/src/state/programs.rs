//! The stored programs of a session: those it has parsed, those that run, and the values they pass to each
//! other.
//!
//! Must not run them: that is the affair of [`crate::program`].

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_catalog::{Routine, Trigger};
use selkie_sql::ast::{ParameterMode, Program, Span, VariableType};
use selkie_types::{CollationId, SqlType, Value};

use crate::Session;
use crate::state::prepared::Prepared;

/// The kind and name of a program.
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

/// The stored programs of one session.
#[derive(Default)]
pub(crate) struct ProgramState {
    /// Programs the session has parsed.
    pub(crate) cache: Arc<Mutex<HashMap<ProgramKey, Arc<Compiled>>>>,
    /// Programs being run, outermost first.
    pub(crate) active: Vec<ProgramKey>,
    /// The session functions and triggers of the running statement use.
    pub(crate) sub: RefCell<Option<Box<Session>>>,
    /// Tables used by the statements around, which a function or trigger may not change.
    pub(crate) in_use: Vec<TableKey>,
    /// Rows changed by the statements of the running CALL.
    pub(crate) affected: u64,
    /// Statements of SQL PREPARE that are being run.
    pub(crate) executing: Vec<Arc<Prepared>>,
    /// The row of a `SELECT ... INTO` local variables.
    pub(crate) into: RefCell<Vec<(Value, SqlType)>>,
    /// The number of fields of the row variable that takes these values, if one does.
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

/// The definition a program was compiled from.
pub(crate) enum Origin {
    Routine(Arc<Routine>),
    Trigger(Arc<Trigger>),
    /// An anonymous block.
    Statement,
}

/// A program ready to be run by one session.
pub(crate) struct Compiled {
    pub(crate) key: ProgramKey,
    /// `schema.name`, for messages.
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) text: Arc<[u8]>,
    pub(crate) body: Program,
    /// Ways of the parameters, which are the first variables.
    pub(crate) modes: Vec<ParameterMode>,
    /// The type a function returns.
    pub(crate) returns: Option<VariableType>,
    /// Default collation of its string variables.
    pub(crate) collation: CollationId,
    pub(crate) statements: Mutex<HashMap<Span, Arc<Prepared>>>,
}
