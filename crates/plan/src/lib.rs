//! Name resolution, logical plan, statistics, cost, physical plan.
//!
//! # What it is
//! A statement, the definitions it names, statistics and settings in; a [`physical::Plan`] out. A
//! pure function: no data is read, no clock, no globals.
//!
//! # Words
//! *Column number*: names a column within a statement, wherever it is read. *Slot*: where a subplan
//! finds a value of an outer block. *Leaf*: an input of a join before the joins are ordered.
//!
//! # Invariants
//! - PLAN-1 A plan holds nothing that changes between executions; it runs again with other
//!   parameters.
//! - PLAN-2 Equal inputs give equal plans, whatever the hash seeds.
//!
//! # Not here
//! No execution, no statements without a query (DDL, SHOW, SET).

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
pub mod physical;
mod planner;
mod rewrite;
mod settings;
mod star;
mod updatable;

pub use bind::{HandlerRead, HandlerSyntax};
pub use planner::{PlanContext, bind_constant, handler_read, is_planned, late_into, plan};
pub use settings::{
    Environment, NoEnvironment, Permissions, PlanVariables, Settings, StatisticsSource,
    StoredFunction, StoredStatistics, Unrestricted,
};
pub use updatable::{Updatability, updatability};
