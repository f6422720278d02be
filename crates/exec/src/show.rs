//! SHOW and DESCRIBE.
//!
//! Most are queries over `information_schema`, written out as SQL and run like any other, so that
//! LIKE and WHERE, types and names of columns follow from one place. A few have rows of their own.
//! What only the server knows it answers itself before it comes here.

mod profile;
mod program;
mod query;
mod quoting;
mod rows;
mod sequence;
mod view;

pub(crate) use query::{describe_query, show_query};
pub(crate) use rows::{ShownRows, show_rows};
