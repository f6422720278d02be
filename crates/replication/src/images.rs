//! Row images: which columns they have, and the values of those.
//!
//! Must not know events around the images, or what a server stores.

mod column;
mod decimal;
mod received;
mod row;
mod selection;
mod stored;
mod temporal;
mod value;

pub use column::{Column, ColumnKind, columns};
pub use decimal::{decimal_bytes, put_decimal, read_decimal};
pub use received::{Place, ReceivedRows, date, datetime, is_same, time, timestamp};
pub use row::{Images, Shape};
pub use selection::{ColumnFacts, RowImage};
pub use stored::{StoredRows, kind_of};
pub use temporal::{DateTimeValue, DateValue, TimeValue, TimestampValue};
pub use value::Value;
