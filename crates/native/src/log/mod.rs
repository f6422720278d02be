//! The write-ahead log: one stream of groups; a group holds all changes of one mini-transaction.
//! LSN order is commit order and page order. `record` and `group` are the formats, `buffer` is the
//! ring that committers copy into, `order` the lock of commits with a rider, `flush` makes the log
//! durable, `segment` owns the files, `reader` finds the end after a crash. The log does not know
//! the meaning of records.

mod buffer;
mod flush;
mod group;
mod order;
mod reader;
mod record;
mod segment;

pub(crate) use buffer::{Log, Reserved};
pub(crate) use flush::FlushMode;
pub(crate) use group::BLOCK;
#[cfg(test)]
pub(crate) use group::GROUP_HEADER_LEN;
pub(crate) use order::assert_no_order_lock;
pub(crate) use reader::{Group, LogReader};
pub(crate) use record::{Record, RecordReader, RecordWriter};
#[cfg(test)]
pub(crate) use segment::SEGMENT_HEADER_LEN;
pub(crate) use segment::Segments;

#[cfg(test)]
mod tests;
