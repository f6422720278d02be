//! The executor: operators over column batches, DML, DDL.
//!
//! # What it is
//! A parsed statement and a session in; rows to a [`ResultSink`] and an [`Outcome`] out. Plans are
//! run by operators that pull batches from each other and from engine cursors.
//!
//! # Words
//! *Runtime*: one execution of a plan. *Build side*: the input of a join that is kept in memory.
//! *Key number*: equal keys share one, see `op::hash_table`.
//!
//! # Invariants
//! - EXEC-1 A statement that fails leaves no change of its own (engines that roll back).
//! - EXEC-2 What an operator keeps is counted against the statement's memory.
//! - EXEC-3 Every operator looks at the kill flag at least once a batch.
//!
//! # Not here
//! No packets, no authentication, no concrete engine.

#![forbid(unsafe_code)]

mod admin;
pub mod bulk;
pub mod control;
mod ddl;
mod dml;
pub mod error;
mod explain;
mod extension;
mod file_format;
pub mod gate;
mod generations;
mod guard;
mod handler;
mod help;
mod instance;
mod into;
mod kill;
mod load;
pub mod metadata;
mod op;
mod patience;
mod plan_space;
mod planning;
mod prepared;
mod program;
mod query;
mod required;
mod robust;
mod rows_out;
mod run;
mod scan;
mod sequence;
pub mod session;
mod show;
mod sink;
mod statement;
mod stored;
mod subquery;
mod system;
mod text_plans;
mod transaction;
mod xa;

pub use generations::Generations;
pub use guard::guarded;
pub use instance::{Engines, Instance, SystemRequest, SystemTable, TableHandle};
pub use kill::{KillFlag, Killed};
pub use patience::Patience;
pub use prepared::{Prepared, execute_prepared, prepare, prepare_shared, prepare_statement};
pub use required::is_update;
pub use session::Session;
pub use sink::{NullSink, OutParameter, Outcome, ResultSink};
pub use statement::{execute_statement, execute_text};
pub use system::register_system_tables;
pub use text_plans::{TextLookup, TextPlan, find_text_plan, keep_text_plan};
pub use transaction::{Mark, Transaction, Unsettled};
pub use xa::{Branches, recover_branches};
