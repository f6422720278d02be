//! Events of the binary log: bytes in, values out, and the reverse.
//!
//! Must not look into the values of rows; `images` does.

mod checksum;
mod compress;
mod event;
mod format;
mod frame;
mod gtid_event;
mod header;
mod kind;
mod load;
mod metadata;
mod query;
mod rows;
mod small;
mod status;
mod table_map;
mod user_var;

pub use checksum::Checksum;
pub use compress::{pack, unpack};
pub use event::Event;
pub use format::Format;
pub use frame::Frame;
pub use gtid_event::{GtidEvent, GtidExtra, GtidListEvent};
pub use header::{HEADER_BYTES, Header, flags};
pub use kind::EventKind;
pub use load::{ExecuteLoad, LoadBlock};
pub use metadata::{OptionalField, OptionalFields, field};
pub use query::Query;
pub use rows::{Change, Rows, RowsVersion, row_flags};
pub use small::{Incident, Intvar, Rand, Rotate, StartEncryption, XaPrepare, Xid};
pub use status::{StatusVar, StatusVars, flags2};
pub use table_map::TableMap;
pub use user_var::{UserValue, UserVar};
