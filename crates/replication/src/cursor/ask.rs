//! The wishes of a reader: those of its command, and those of its user variables.
//!
//! Must not read variables or packets; the server does.

use crate::codec::Checksum;
use crate::gtid::Position;

/// Kinds of events that a reader knows. A larger number knows all that a smaller one does.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability(pub u64);

impl Capability {
    /// ANNOTATE_ROWS events.
    pub const ANNOTATE: Self = Self(1);
    /// Places at which no event begins, as events were left out.
    pub const HOLES: Self = Self(2);
    /// BINLOG_CHECKPOINT events.
    pub const CHECKPOINT: Self = Self(3);
    /// GTID and GTID_LIST events.
    pub const GTID: Self = Self(4);
}

/// Whether a reader wants the statements of rows.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Annotations {
    /// ANNOTATE_ROWS events are sent.
    Wanted,
    /// They are not.
    #[default]
    Unwanted,
}

/// Whether a reader wants events that their session marked with `skip_replication`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum MarkedEvents {
    /// They are sent.
    #[default]
    Wanted,
    /// They are not.
    Unwanted,
}

/// Groups that a reader has, and those it wants.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The last group of each domain that it has.
    pub position: Position,
    /// Whether a number that is missing in the log is an error.
    pub is_strict: bool,
    /// Whether it may have groups that come here later, from another primary.
    pub ignores_duplicates: bool,
    /// The last groups that it wants, if it does not want all.
    pub until: Option<Position>,
}

/// Place at which a reader wants to begin.
#[derive(Clone, Debug)]
pub enum Start {
    /// An offset in a file; an empty name is the first file.
    At {
        /// Name of the file.
        name: String,
        /// Offset of an event.
        offset: u64,
    },
    /// Behind groups.
    Behind(Known),
}

/// All that a reader said.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Place at which it wants to begin.
    pub start: Start,
    /// Whether it wants the statements of rows.
    pub annotations: Annotations,
    /// Whether it wants marked events.
    pub marked: MarkedEvents,
    /// Kinds of events that it knows.
    pub capability: Capability,
    /// Checksum of the first event made for it. None if it knows nothing of checksums.
    pub checksum: Option<Checksum>,
}
