//! Events: statements that the server runs at given times.
//!
//! Must not know when a schedule's next time is.

use super::{AccountName, Expr, IntervalUnit, Program, Span, TableName};

/// `CREATE EVENT`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateEvent {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `DEFINER =`; absent for the current user.
    pub definer: Option<AccountName>,
    /// Its name.
    pub name: TableName,
    /// `ON SCHEDULE`.
    pub schedule: Schedule,
    /// The clauses behind the schedule.
    pub options: EventOptions,
    /// `DO`.
    pub body: EventBody,
    /// Offset of EVENT in the text.
    pub start: u32,
}

/// `ALTER EVENT`; what is `None` stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterEvent {
    /// `DEFINER =`; absent for the current user.
    pub definer: Option<AccountName>,
    /// Its name.
    pub name: TableName,
    /// `ON SCHEDULE`.
    pub schedule: Option<Schedule>,
    /// `RENAME TO`.
    pub rename: Option<TableName>,
    /// The other clauses.
    pub options: EventOptions,
    /// `DO`.
    pub body: Option<EventBody>,
}

/// Clauses that may be left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventOptions {
    /// `ON COMPLETION PRESERVE` is true, `NOT PRESERVE` false.
    pub preserve: Option<bool>,
    /// `ENABLE` and the like.
    pub status: Option<EventStatus>,
    /// `COMMENT`.
    pub comment: Option<Box<str>>,
}

/// Whether an event runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventStatus {
    /// `ENABLE`.
    Enabled,
    /// `DISABLE`.
    Disabled,
    /// `DISABLE ON SLAVE`.
    DisabledOnSlave,
}

/// The times of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// `AT time`.
    At(Expr),
    /// `EVERY amount unit`.
    Every {
        /// The amount.
        amount: Expr,
        /// Its unit.
        unit: IntervalUnit,
        /// `STARTS`.
        starts: Option<Expr>,
        /// `ENDS`.
        ends: Option<Expr>,
    },
}

/// The statement of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventBody {
    /// Its steps and variables.
    pub program: Program,
    /// Its text.
    pub span: Span,
}
