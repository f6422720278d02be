//! The syntax tree: the parts of a statement in the user's order, with no name resolved.
//!
//! The tree is owned and cloneable, so that prepared statements and views can keep it. The tree
//! knows no catalog: a name is the text the user wrote. Spans point into the parsed statement text.

mod account;
mod admin;
mod alter;
mod ddl;
mod dml;
mod event;
mod expr;
mod literal;
mod name;
mod partition;
mod program;
mod replication;
mod select;
mod server;
mod session;
mod show;
mod statement;
mod types;
mod visit;
pub(crate) mod walk;

pub use account::*;
pub use admin::*;
pub use alter::*;
pub use ddl::*;
pub use dml::*;
pub use event::*;
pub use expr::*;
pub use literal::*;
pub use name::*;
pub use partition::*;
pub use program::*;
pub use replication::*;
pub use select::*;
pub use server::*;
pub use session::*;
pub use show::*;
pub use statement::*;
pub use types::*;
pub use walk::Mention;
