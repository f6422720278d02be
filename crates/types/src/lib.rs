//! Values, decimal, temporal, charsets and collations, row and key encodings, error catalogue

pub mod charset;
pub mod decimal;
pub mod error;
pub mod number;
pub mod sql_mode;
pub mod temporal;

pub use charset::{Charset, CollationId};
pub use decimal::Decimal;
pub use error::{Condition, ErrorDef, Level, Severity, SqlError, SqlResult};
pub use sql_mode::SqlMode;
pub use temporal::{Date, DateTime, Time};
