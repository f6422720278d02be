//! SHOW and DESCRIBE.
//!
//! Most of them become queries over `information_schema`, written as SQL and run like any other, so
//! that LIKE and WHERE, column types and names follow from one place. A few build their own rows.
//! The server answers statements about its own state before they get here.

mod generic;
mod profile;
mod program;
mod query;
mod quoting;
mod rows;
mod sequence;
mod view;

pub(crate) use query::{describe_query, show_query};
pub(crate) use rows::{ShownRows, show_rows, view_fault};
