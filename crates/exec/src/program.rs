//! Stored programs: procedures, functions, triggers and anonymous blocks, run step by step.
//!
//! A body is parsed once per session into a tree of steps ([`compile`]) and walked by a
//! [`machine`]. Its statements are planned like prepared ones; local variables are their
//! parameters. A procedure runs in the session that calls it. A function or trigger runs while a
//! statement does, which holds the session: it gets a session of its own that shares the
//! transaction and gives back what it changed ([`sub`]).
//!
//! Must not know packets, or what a statement does.

mod call;
mod compile;
mod cursor;
mod event;
mod frame;
mod function;
mod group;
mod handlers;
mod machine;
mod output;
mod package;
mod reach;
mod reached;
mod rows;
mod signal;
mod sub;
mod together;
mod touched;
mod trigger;

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::{GroupOfRows, StoredCall};
use selkie_plan::physical::Plan;
use selkie_types::{SqlResult, Value};

use crate::query::execution::Scope;
use crate::state::around::{Around, Programs, Triggers};
use crate::state::programs::ReachedTable;
use crate::{Instance, Session};

pub(crate) use call::{call_statement, compound, schema_collation};
pub(crate) use compile::{check_body, check_trigger, check_types, resolve_type};
pub(crate) use event::run_event;
pub(crate) use reached::of_locks as reached_by_locks;
pub(crate) use signal::{get_diagnostics, signal};

/// Runs the functions and triggers of statements.
pub(crate) struct StoredPrograms;

impl Programs for StoredPrograms {
    fn call(&self, around: Around<'_>, call: &StoredCall, args: Vec<Value>) -> SqlResult<Value> {
        function::call_function(around, call, args)
    }

    fn group(&self, around: Around<'_>, call: &StoredCall, group: GroupOfRows) -> SqlResult<Value> {
        group::call_aggregate(around, call, group)
    }

    fn reached(&self, instance: &Instance, session: &Session, plan: &Plan) -> Vec<ReachedTable> {
        reached::of_plan(Scope { instance, session }, plan)
    }

    fn triggers<'r>(
        &self,
        around: Around<'r>,
        table: &'r Arc<TableInfo>,
        event: &str,
    ) -> SqlResult<Option<Box<dyn Triggers + 'r>>> {
        trigger::of_table(around, table, event)
    }
}
