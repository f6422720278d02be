//! Stored programs of a session: the parsed ones, the running ones, and the values they pass to
//! each other.
//!
//! Must not run them: that is done by [`crate::program`].

use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_catalog::{ProgramContext, Routine, TableInfo, TableKind, Trigger};
use selkie_sql::ast::{DataType, ParameterMode, Program, Span, TableFactor, TableName, Variable};
use selkie_types::{Charset, CollationId, SqlError, SqlMode, SqlResult, SqlType, Value};

use crate::Session;
use crate::state::prepared::Prepared;
use crate::state::session::TextCharsets;
use crate::state::terms::Terms;

/// The kind and name of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ProgramKey {
    /// Schema and lower-case name.
    Procedure(Arc<str>, Arc<str>),
    /// Schema and lower-case name.
    Function(Arc<str>, Arc<str>),
    /// Schema and name.
    Trigger(Arc<str>, Arc<str>),
    /// Schema and name.
    Event(Arc<str>, Arc<str>),
    /// An anonymous block.
    Block,
}

impl ProgramKey {
    /// Schema and name of the package that the program is a part of.
    pub(crate) fn package(&self) -> Option<(&str, &str)> {
        match self {
            Self::Procedure(schema, name) | Self::Function(schema, name) => {
                Some((schema, name.split_once('.')?.0))
            }
            _ => None,
        }
    }
}

/// A variable with a single value.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub(crate) name: Box<str>,
    pub(crate) ty: SqlType,
    pub(crate) value: Value,
}

impl Scalar {
    /// Keeps a new value. Compat: one that failed makes the variable NULL, as a handler of the
    /// error sees.
    pub(crate) fn keep(&mut self, value: SqlResult<Value>) -> SqlResult<()> {
        self.value = Value::Null;
        self.value = value?;
        Ok(())
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// Not declared yet, or a row whose cursor is not open yet.
    Unknown,
    Scalar(Scalar),
    Row(Vec<Scalar>),
}

/// The variables of a package, which last as long as the session.
pub(crate) struct PackageState {
    pub(crate) variables: Vec<Variable>,
    pub(crate) slots: Mutex<Vec<Slot>>,
}

/// A package that a session has parsed.
pub(crate) struct CompiledPackage {
    /// Its body, by whose address it is found.
    pub(crate) body: Arc<Routine>,
    /// Declares the variables and runs the block of the package.
    pub(crate) start: Arc<Compiled>,
    pub(crate) members: Vec<Arc<Compiled>>,
    /// Whether `start` has run.
    pub(crate) is_started: Mutex<bool>,
    /// The version of all routines. Compat: a change of any ends the variables of a package.
    pub(crate) routines_version: u64,
}

/// Programs that a session has parsed.
#[derive(Default)]
pub(crate) struct CompiledPrograms {
    /// By address of the definition, which the program keeps alive; so a lookup needs no name.
    by_origin: HashMap<usize, Arc<Compiled>>,
    /// By schema and name.
    packages: HashMap<(Box<str>, Box<str>), Arc<CompiledPackage>>,
}

impl CompiledPrograms {
    /// The package compiled from a body, if no routine was changed since or it runs.
    pub(crate) fn package(
        &self,
        body: &Arc<Routine>,
        version: u64,
        active: &[ProgramKey],
    ) -> Option<Arc<CompiledPackage>> {
        let key = ((*body.schema).into(), body.name.to_lowercase().into());
        let found = self.packages.get(&key).filter(|package| Arc::ptr_eq(&package.body, body))?;
        let name: &str = &key.1;
        let runs = active.iter().any(|key| key.package() == Some((&body.schema, name)));
        (runs || found.routines_version == version).then(|| found.clone())
    }

    /// Stores a package, in place of an earlier one.
    pub(crate) fn keep_package(&mut self, package: Arc<CompiledPackage>) {
        let body = &package.body;
        let key = ((*body.schema).into(), body.name.to_lowercase().into());
        self.packages.insert(key, package);
    }

    /// Finds the program compiled from a definition.
    pub(crate) fn get<T>(&self, definition: &Arc<T>) -> Option<Arc<Compiled>> {
        self.by_origin.get(&Arc::as_ptr(definition).addr()).cloned()
    }

    /// Stores a program, in place of one compiled from an earlier definition.
    pub(crate) fn keep(&mut self, program: Arc<Compiled>) {
        self.by_origin.retain(|_, other| other.key != program.key);
        if let Some(address) = program.origin.address() {
            self.by_origin.insert(address, program);
        }
    }
}

/// The value of an OUT parameter of a function.
pub(crate) struct Out {
    /// The placeholder of the variable that takes it.
    pub(crate) slot: usize,
    pub(crate) value: (Value, SqlType),
    /// The error if the variable cannot be assigned.
    pub(crate) refusal: SqlError,
}

/// A table or view that the functions and triggers of a statement may use.
pub(crate) struct ReachedTable {
    pub(crate) table: Arc<TableInfo>,
    /// The name that it is used by.
    pub(crate) alias: Box<str>,
    pub(crate) is_changed: bool,
}

/// The stored programs of one session.
#[derive(Default)]
pub(crate) struct ProgramState {
    /// Programs being run, outermost first.
    pub(crate) active: Vec<ProgramKey>,
    /// The session in which functions and triggers of the running statement run.
    pub(crate) sub: RefCell<Option<Box<Session>>>,
    /// Tables that the functions and triggers of the running statement may use.
    pub(crate) reached: Vec<ReachedTable>,
    /// The catalog version that was last searched for tables that are locked as a whole, and
    /// whether it has any.
    pub(crate) whole_tables: Cell<Option<(u64, bool)>>,
    /// Tables used by the calling statements, which a function or trigger may not change.
    pub(crate) in_use: Vec<Arc<TableInfo>>,
    /// Rows changed by the statements of the running CALL.
    pub(crate) affected: u64,
    /// Statements of SQL PREPARE that are running.
    pub(crate) executing: Vec<Arc<Prepared>>,
    /// The programs that the running statement is in.
    pub(crate) nesting: Nesting,
    /// Row of a `SELECT ... INTO` local variables.
    pub(crate) into: RefCell<Vec<(Value, SqlType)>>,
    /// Whether the running statement is one whose functions may have OUT parameters.
    pub(crate) takes_outs: Cell<bool>,
    /// Values of OUT parameters of functions, for the variables behind placeholders.
    pub(crate) outs: RefCell<Vec<Out>>,
    /// Number of fields of the row variable that takes these values, if one does.
    pub(crate) into_row: Cell<Option<usize>>,
}

/// The programs that the running statement is in. Code that catches a panic of a program restores
/// this (GUARD-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nesting {
    /// Number of programs that run, each within the one before.
    pub(crate) depth: usize,
    /// Placeholders of statements are variables of the program that runs.
    pub(crate) has_variables: bool,
}

impl ProgramState {
    /// Keeps a value of `SELECT ... INTO` for the program's variables.
    pub(crate) fn keep_into(&self, value: Value, ty: SqlType) {
        self.into.borrow_mut().push((value, ty));
    }

    /// Whether functions gave values for variables behind placeholders.
    pub(crate) fn has_outs(&self) -> bool {
        !self.outs.borrow().is_empty()
    }

    /// Sets the tables that must not be changed within a statement that uses `tables`, which itself
    /// runs within `around`.
    pub(crate) fn use_within(&mut self, around: &Self, tables: &[Arc<TableInfo>]) {
        let all = around.in_use.iter().chain(tables);
        // A trigger runs with the same tables for each row, which then need no new list.
        if !self.in_use.iter().map(Arc::as_ptr).eq(all.clone().map(Arc::as_ptr)) {
            self.in_use = all.cloned().collect();
        }
    }

    /// Whether a calling statement uses the table. A temporary table is not the table whose name it
    /// has, nor one that had its name before.
    pub(crate) fn is_in_use(&self, table: &TableInfo) -> bool {
        let is_own = |table: &TableInfo| table.kind == TableKind::Temporary;
        self.in_use.iter().any(|used| match is_own(used) || is_own(table) {
            true => used.def.id == table.def.id,
            false => used.schema() == table.schema() && used.name() == table.name(),
        })
    }
}

/// The definition a program was compiled from.
pub(crate) enum Origin {
    Routine(Arc<Routine>),
    Trigger(Arc<Trigger>),
    /// The body of a package.
    Package(Arc<Routine>),
    /// An anonymous block.
    Statement,
}

impl Origin {
    fn address(&self) -> Option<usize> {
        match self {
            Self::Routine(routine) => Some(Arc::as_ptr(routine).addr()),
            Self::Trigger(trigger) => Some(Arc::as_ptr(trigger).addr()),
            Self::Package(_) | Self::Statement => None,
        }
    }
}

/// Session settings of a program while it runs.
pub(crate) struct ProgramSetting {
    /// The default database.
    pub(crate) schema: Arc<str>,
    /// Account as `user@host`; `None` for the caller's.
    pub(crate) definer: Option<Arc<str>>,
    /// `sql_mode` when it was created; `None` if it has unknown bits.
    pub(crate) sql_mode: Option<SqlMode>,
    /// The client's character set and the connection's collation when it was created.
    pub(crate) charsets: TextCharsets,
}

impl ProgramSetting {
    pub(crate) fn new(schema: &str, context: &ProgramContext, invoker: bool) -> Self {
        Self {
            schema: schema.into(),
            definer: (!invoker).then(|| (*context.definer).into()),
            sql_mode: SqlMode::from_bits(context.sql_mode).ok(),
            charsets: (
                Charset::from_name(&context.client_charset).unwrap_or(Charset::Utf8mb4),
                CollationId::from_name(&context.connection_collation)
                    .unwrap_or(CollationId::UTF8MB4_GENERAL_CI),
            ),
        }
    }
}

/// Reach of a program beyond the row it runs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// It reads its row and assigns to it, and does nothing else that is seen from outside.
    Row,
    /// Besides, it changes user variables and tables it names, and reads no others.
    Apart,
    /// Nothing is known of it.
    Anywhere,
}

/// Names in the text of a program.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Tables and views.
    pub(crate) tables: Vec<TouchedTable>,
    /// Functions: schema if it is written, and name.
    pub(crate) functions: Vec<(Option<Box<str>>, Box<str>)>,
    /// Procedures that are called.
    pub(crate) procedures: Vec<(Option<Box<str>>, Box<str>)>,
}

/// A table or view in the text of a program.
#[derive(Debug)]
pub(crate) struct TouchedTable {
    pub(crate) name: TableName,
    pub(crate) alias: Option<Box<str>>,
    /// Events of its triggers that may fire: none if it is read.
    pub(crate) events: &'static [&'static str],
}

impl TouchedTable {
    pub(crate) fn new(factor: &TableFactor, events: &'static [&'static str]) -> Self {
        let alias = factor.alias.as_ref().map(|alias| alias.value.clone());
        Self { name: factor.name.clone(), alias, events }
    }
}

/// A program compiled for one session.
pub(crate) struct Compiled {
    pub(crate) key: ProgramKey,
    /// `schema.name`, for messages.
    pub(crate) name: String,
    pub(crate) origin: Origin,
    /// Schema and account it runs with; `None` for a block, which runs like the calling statement.
    pub(crate) setting: Option<ProgramSetting>,
    pub(crate) text: Arc<[u8]>,
    pub(crate) body: Program,
    /// Modes of the parameters, which are the first variables.
    pub(crate) modes: Vec<ParameterMode>,
    /// The variables of the package that it is a part of.
    pub(crate) shared: Option<Arc<PackageState>>,
    /// The type a function returns.
    pub(crate) returns: Option<DataType>,
    /// Default collation of its string variables.
    pub(crate) collation: CollationId,
    pub(crate) statements: Mutex<HashMap<Span, Arc<Prepared>>>,
    pub(crate) terms: Terms,
    pub(crate) reach: Reach,
    /// The tables it changes, if it reaches no farther than [`Reach::Apart`].
    pub(crate) changes: Vec<TableName>,
    /// The names in its text, once they were asked for.
    pub(crate) touched: OnceLock<Touched>,
}
