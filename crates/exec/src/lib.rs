//! The executor: operators over column batches, DML, DDL.
//!
//! # What it is
//! Input: a parsed statement and a session. Output: rows to a [`ResultSink`], and an [`Outcome`].
//! Operators run a plan by pulling batches from each other and from engine cursors.
//!
//! # Layers
//! `state` < `run` < `op` < `dml` < `query` < everything else; `tidy` checks it. Statements and
//! programs run each other; the layers below them know programs only by the traits of
//! `state::around`.
//!
//! # Words
//! *Execution*: one statement's instance, session, limits, text, values and sink. *Scope*: instance
//! and session for reading. *Runtime*: one run of a plan. *Build side*: the input of a join that is
//! kept in memory. *Key number*: a number that equal keys share, see `op::hash_table`.
//!
//! # Invariants
//! - EXEC-1 A failed statement leaves none of its changes (in engines that roll back).
//! - EXEC-2 Rows that an operator keeps are counted against the statement's memory.
//! - EXEC-3 Every operator checks the kill flag at least once a batch, or pulls a batch from an
//!   operator that does.
//!
//! # Not here
//! No packets, no authentication, no concrete engine.

#![forbid(unsafe_code)]

mod admin;
pub mod apply;
pub mod bulk;
mod ddl;
mod dml;
pub mod event;
mod explain;
mod extension;
mod handler;
mod help;
mod load;
mod op;
mod program;
mod query;
mod required;
mod run;
mod show;
mod state;
mod statement;
mod system;

pub use admin::columns::build_wanted_columns;
pub use ddl::add_unstored;
pub use explain::{LiveAsked, kept_lines, show_live};
pub use query::results::{find_result, send_result};
pub use query::text_plans::{Repeated, TextLookup, TextPlan, find_text_plan, keep_text_plan};
pub use required::is_update;
pub use state::branches::{Branches, recover_branches};
pub use state::files::FilePlaces;
pub use state::generations::Generations;
pub use state::guard::guarded;
pub use state::instance::{Engines, Instance, SystemRequest, SystemTable, TableHandle};
pub use state::kept_results::{KeptResult, KeptResults, ResultCounts};
pub use state::kill::{KillFlag, Killed};
pub use state::lanes::serve_lane;
pub use state::live::LivePlans;
pub use state::own_table::check_loadable;
pub use state::patience::{CLIENT_CHECK, Patience};
pub use state::persistent::load_statistics;
pub use state::prepared::Prepared;
pub use state::registry::is_transaction_registry;
pub use state::session::Session;
pub use state::sink::{NullSink, OutParameter, Outcome, ResultSink, RowCounts, Told};
pub use state::temporary::TemporaryFiles;
pub use state::transaction::{Mark, Transaction, Unsettled};
pub use state::uses::{IndexUse, TableUse, TableUses};
pub use state::{binlog, computed, control, error, gate, metadata, session};
pub use statement::prepared::{execute_prepared, prepare, prepare_shared, prepare_statement};
pub use statement::{execute_statement, execute_text, prepare_transaction_as};
pub use system::register_system_tables;

impl Instance {
    /// An instance over `engines`; one of them stores `dictionary`.
    pub fn new(
        catalog: selkie_catalog::Catalog,
        dictionary: selkie_catalog::Dictionary,
        engines: Engines,
    ) -> Self {
        Self::with_programs(catalog, dictionary, engines, &program::StoredPrograms)
    }
}
