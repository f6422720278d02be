//! Name resolution, logical plan, statistics, cost, physical plan.
//!
//! # What it is
//! Input: a statement, the definitions it names, statistics and settings. Output: a
//! [`physical::Plan`], or a new definition for DDL ([`define`]). A pure function: it uses no clock
//! and no globals, and reads no table rows.
//!
//! # Words
//! *Column number*: identifies a column within a statement, in every expression. *Slot*: holds a
//! value of an outer block for a subplan. *Leaf*: an input of a join before the joins are ordered.
//!
//! # Invariants
//! - PLAN-1 A plan holds nothing that changes between executions, so it can run again with other
//!   parameters.
//! - PLAN-2 Equal inputs give equal plans, independent of hash seeds.
//!
//! # Not here
//! No execution: DDL is defined here but carried out elsewhere. No plans for statements without a
//! query (SHOW, SET).

#![forbid(unsafe_code)]

mod bind;
mod build;
mod cost;
pub mod define;
mod estimate;
pub mod explain;
mod fold;
mod logical;
mod parse;
pub mod partition;
pub mod physical;
mod planner;
mod rewrite;
pub mod safety;
mod settings;
mod star;
mod updatable;

pub use bind::{AUTO_IS_NULL_VALUE, HandlerRead, HandlerSyntax};
pub use build::reads_of;
pub use estimate::{Assumption, Given};
pub use planner::{
    BoundConstant, PlanContext, RowsChange, RowsPlan, bind_constant, bind_noted, handler_read,
    is_planned, late_into, plan, rows_plan, shown_functions, shown_parameters, shown_values,
};
pub use settings::{
    DerivedSwitches, Environment, JoinSwitches, Listed, NoEnvironment, Permissions, PlanVariables,
    Settings, StatTables, StatisticsSource, StoredFunction, StoredStatistics, Unrestricted,
};
pub use updatable::{Updatability, updatability};
