//! Values, decimal, temporal, charsets and collations, row and key encodings, error catalogue.
//!
//! # What it is
//! The definition of an SQL value: its forms in memory and on disk, its order, its limits and
//! errors.
//!
//! # Words
//! *Physical kind*: how values lie in memory, one of eight ([`Physical`]). *Column*: the values of
//! one column over a batch of rows. *Key bytes*: an encoding whose byte order is the value order.
//!
//! # Not here
//! No I/O, no clock, no global state, no knowledge of tables or statements.

#![forbid(unsafe_code)]

pub mod address;
mod batch;
pub mod charset;
mod column;
pub mod decimal;
pub mod error;
mod filename;
mod fixed_binary;
pub mod geometry;
pub mod key;
mod locale;
pub mod number;
pub mod pace;
mod privileges;
mod row;
pub mod sql_mode;
mod sql_type;
pub mod stack;
pub mod temporal;
mod text;
mod type_name;
mod value;

pub use batch::{BATCH_ROWS, Batch};
pub use charset::{Charset, CollationId};
pub use column::{Bitmap, BytesColumn, Column, ColumnData, DecimalColumn, DecimalValues, NULL_ROW};
pub use decimal::Decimal;
pub use error::{Condition, ErrorDef, Level, Severity, SqlError, SqlResult};
pub use filename::filename;
pub use fixed_binary::FixedBinary;
pub use geometry::{Geometry, GeometryKind};
pub use locale::Locale;
pub use privileges::Privileges;
pub use row::{
    ByteRows, FLAG_WIDE, RowColumn, RowCorrupt, RowDraft, RowLayout, RowSource, RowVersion,
};
pub use sql_mode::SqlMode;
pub use sql_type::{JsonRole, NOT_FIXED_DECIMALS, Physical, SqlType, TypeKind, decimal_width};
pub use temporal::{Date, DateTime, Time};
pub use text::{bit_text, write_value};
pub use type_name::quote_string;
pub use value::Value;
