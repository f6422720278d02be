//! Events as text, in the form of `mariadb-binlog -vv --base64-output=decode-rows`.
//!
//! Must not decode events; what is shown is their values.

mod context;
mod number;
mod printer;
mod rows;
mod small;
mod text;

pub use printer::Printer;
