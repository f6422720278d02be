//! State that statements work on: the session, the instance that all sessions share, the
//! transaction, and the locks and gates where statements wait.
//!
//! The lowest layer of the executor: must not know how plans run or what a statement means.

pub(crate) mod around;
pub mod binlog;
pub(crate) mod branches;
pub(crate) mod bulk;
pub(crate) mod column_keeper;
pub(crate) mod columns;
pub mod computed;
pub mod control;
pub mod error;
pub(crate) mod files;
pub mod gate;
pub(crate) mod generations;
pub(crate) mod guard;
pub(crate) mod handlers;
pub(crate) mod instance;
pub(crate) mod kept_results;
pub(crate) mod kept_statistics;
pub(crate) mod kill;
pub(crate) mod lanes;
pub(crate) mod live;
pub(crate) mod maintained;
pub mod metadata;
pub(crate) mod own_table;
pub(crate) mod own_transaction;
pub(crate) mod packages;
pub(crate) mod parts;
pub(crate) mod patience;
pub(crate) mod persistent;
pub(crate) mod plan_key;
pub(crate) mod plan_space;
pub(crate) mod prepared;
pub(crate) mod programs;
pub(crate) mod progress;
pub(crate) mod registry;
pub(crate) mod sequences;
pub mod session;
pub(crate) mod sink;
pub(crate) mod tally;
pub(crate) mod temporary;
pub(crate) mod terms;
pub(crate) mod transaction;
pub(crate) mod uses;
