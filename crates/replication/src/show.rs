//! Events as text, in the form of `mariadb-binlog -vv --base64-output=decode-rows`, and in that of
//! `SHOW BINLOG EVENTS`.
//!
//! Must not decode events; what is shown is their values.

mod context;
mod info;
mod number;
mod printer;
mod rows;
mod small;
mod text;

pub use info::info;
pub use printer::Printer;
