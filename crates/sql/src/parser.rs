//! Recursive descent over the lexer's tokens, one token of lookahead. One file per statement
//! family.
//!
//! Invariant: every recursion of the grammar passes through [`Parser::nested`], and every tree
//! grows in height only where [`Parser::grow`] counts, so neither parsing nor walking a tree can
//! overflow a stack.

mod account;
mod admin;
mod aggregate;
mod alter;
mod call;
mod column;
mod core;
mod create;
mod data_type;
mod drop;
mod dynamic;
mod event;
mod explain;
mod expr;
mod from;
mod function;
mod grant;
mod handler;
mod ident;
mod index;
mod insert;
mod interval;
mod into;
mod json_table;
mod limit;
mod literal;
mod load;
pub(crate) mod oracle;
mod partition;
mod partition_def;
mod predicate;
mod prepare;
mod primary;
mod program;
mod query;
mod replication;
mod routine;
mod select;
mod sequence;
mod server;
mod set;
mod show;
mod show_create;
mod show_server;
mod signal;
mod statement;
mod stored;
mod table_option;
mod transaction;
mod unsupported;
mod update;
mod variable;
mod view;
mod window;
mod xa;

pub(crate) use core::Parser;

use selkie_types::SqlResult;

/// Result of every parsing function.
type PResult<T> = SqlResult<T>;
