//! Reasons why a reader gets no events, or no further ones, in MariaDB's words.
//!
//! Must not choose numbers of errors: the server does.

use std::fmt;

use crate::gtid::Gtid;

/// Reason why a dump ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The log has no file of the name.
    NoFile,
    /// No event begins at the offset.
    Impossible,
    /// The log has no file behind the last one that was read.
    NoNextFile,
    /// The events have checksums, which the reader does not know.
    Checksums,
    /// An event is damaged in its beginning, or in what has no checksum.
    Bogus,
    /// An event is damaged.
    Damaged,
    /// The file ends inside an event.
    Torn,
    /// The file cannot be read.
    Unreadable,
    /// The groups that the reader has are older than the first file.
    TooOld,
    /// The log does not have the group.
    Unknown(Gtid),
    /// The log does not have the group, but later ones.
    Diverged(Gtid),
    /// The log has groups on both sides of the number.
    Hole(Gtid),
    /// A GTID event cannot be replaced by one that an old reader knows.
    Irreplaceable,
    /// An event is too short to be replaced.
    TooShort,
    /// Another reader with the same number came.
    Replaced,
}

/// Places that the text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// File and offset at which the reader wanted to begin.
    pub(super) first: (String, u64),
    /// File of the last event.
    pub(super) file: String,
    /// Offset of the last event.
    pub(super) event: u64,
    /// End of what was read.
    pub(super) end: u64,
}

/// The end of a dump, as the reader is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub reason: Reason,
    pub(super) spot: Option<Box<Spot>>,
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Self { reason, spot: None }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first: (first, offset), file, event, end } = self;
        write!(
            f,
            "; the first event '{first}' at {offset}, the last event read from '{file}' at \
             {event}, the last byte read from '{file}' at {end}."
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = "Error: connecting slave requested to start from GTID";
        match self {
            Self::NoFile => {
                write!(f, "Could not find first log file name in binary log index file")
            }
            Self::Impossible => {
                write!(f, "Client requested master to start replication from impossible position")
            }
            Self::NoNextFile => write!(f, "could not find next log"),
            Self::Checksums => write!(
                f,
                "Slave can not handle replication events with the checksum that master is \
                 configured to log"
            ),
            Self::Bogus => write!(f, "bogus data in log event"),
            Self::Damaged => write!(f, "event read from binlog did not pass crc check"),
            Self::Torn => write!(
                f,
                "binlog truncated in the middle of event; consider out of disk space on master"
            ),
            Self::Unreadable => write!(f, "I/O error reading log event"),
            Self::TooOld => write!(
                f,
                "Could not find GTID state requested by slave in any binlog files. Probably the \
                 slave state is too old and required binlog files have been purged."
            ),
            Self::Unknown(gtid) => write!(f, "{asked} {gtid}, which is not in the master's binlog"),
            Self::Diverged(gtid) => write!(
                f,
                "{asked} {gtid}, which is not in the master's binlog. Since the master's binlog \
                 contains GTIDs with higher sequence numbers, it probably means that the slave has \
                 diverged due to executing extra erroneous transactions"
            ),
            Self::Hole(gtid) => write!(
                f,
                "The binlog on the master is missing the GTID {gtid} requested by the slave (even \
                 though both a prior and a subsequent sequence number does exist), and GTID strict \
                 mode is enabled"
            ),
            Self::Irreplaceable => write!(
                f,
                "Failed to replace GTID event with backwards-compatible event: corrupt event."
            ),
            Self::Replaced => {
                write!(f, "A slave with the same server_uuid/server_id is already connected")
            }
            Self::TooShort => write!(
                f,
                "Failed to replace binlog checkpoint or gtid list event with dummy: too small \
                 event."
            ),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)?;
        self.spot.iter().try_for_each(|spot| spot.fmt(f))
    }
}

impl std::error::Error for Refusal {}
