//! Commands that a client sends after login.
//!
//! Must not execute anything. EXECUTE, CHANGE_USER and bulk commands keep their payload as bytes;
//! `stmt` and `login` decode it.

use crate::error::{DecodeError, DecodeResult};
use crate::reader::Reader;

/// A command and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// End of the connection.
    Quit,
    /// Change the default database.
    InitDb(&'a [u8]),
    /// Statement text.
    Query(&'a [u8]),
    /// Columns of a table: table name and column pattern.
    FieldList(&'a [u8], &'a [u8]),
    /// Create a database (obsolete).
    CreateDb(&'a [u8]),
    /// Drop a database (obsolete).
    DropDb(&'a [u8]),
    /// Flush caches: option bits.
    Refresh(u8),
    /// Stop the server: level.
    Shutdown(u8),
    /// A line of statistics of the server.
    Statistics,
    /// The process list.
    ProcessInfo,
    /// Kill a connection.
    ProcessKill(u32),
    /// Dump debug information.
    Debug,
    /// Check that the server is alive.
    Ping,
    /// Log in again.
    ChangeUser(&'a [u8]),
    /// Stream binlog events.
    BinlogDump(&'a [u8]),
    /// Registration of a replica.
    RegisterSlave(&'a [u8]),
    /// Prepare a statement.
    StmtPrepare(&'a [u8]),
    /// Execute a prepared statement.
    StmtExecute(&'a [u8]),
    /// A piece of a parameter: statement, parameter, bytes.
    StmtSendLongData(u32, u16, &'a [u8]),
    /// Close a prepared statement.
    StmtClose(u32),
    /// Reset a prepared statement.
    StmtReset(u32),
    /// Switch multi-statements on (0) or off (1).
    SetOption(u16),
    /// Fetch rows of a cursor: statement, count.
    StmtFetch(u32, u32),
    /// Reset the session.
    ResetConnection,
    /// Execute a prepared statement with many rows of parameters.
    StmtBulkExecute(&'a [u8]),
    /// A command that only the server itself may send; clients get "unknown command".
    Internal(u8),
}

impl<'a> Command<'a> {
    /// Reads a command packet.
    pub fn decode(payload: &'a [u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        let byte = r.u8("command")?;
        Ok(match byte {
            0x01 => Self::Quit,
            0x02 => Self::InitDb(r.take_rest()),
            0x03 => Self::Query(r.take_rest()),
            0x04 => Self::FieldList(r.nul_bytes("table name")?, trim_nul(r.take_rest())),
            0x05 => Self::CreateDb(r.take_rest()),
            0x06 => Self::DropDb(r.take_rest()),
            0x07 => Self::Refresh(r.u8("refresh options")?),
            0x08 => Self::Shutdown(r.u8("shutdown level").unwrap_or(0)),
            0x09 => Self::Statistics,
            0x0a => Self::ProcessInfo,
            0x0c => Self::ProcessKill(r.u32("connection id")?),
            0x0d => Self::Debug,
            0x0e => Self::Ping,
            0x11 => Self::ChangeUser(r.take_rest()),
            0x12 => Self::BinlogDump(r.take_rest()),
            0x15 => Self::RegisterSlave(r.take_rest()),
            0x16 => Self::StmtPrepare(r.take_rest()),
            0x17 => Self::StmtExecute(r.take_rest()),
            0x18 => Self::StmtSendLongData(
                r.u32("statement id")?,
                r.u16("parameter number")?,
                r.take_rest(),
            ),
            0x19 => Self::StmtClose(r.u32("statement id")?),
            0x1a => Self::StmtReset(r.u32("statement id")?),
            0x1b => Self::SetOption(r.u16("option")?),
            0x1c => Self::StmtFetch(r.u32("statement id")?, r.u32("row count")?),
            0x1f => Self::ResetConnection,
            0xfa => Self::StmtBulkExecute(r.take_rest()),
            0x00 | 0x0b | 0x0f | 0x10 | 0x13 | 0x14 | 0x1d | 0x1e => Self::Internal(byte),
            other => return Err(DecodeError::UnknownCommand(other)),
        })
    }

    /// The text in the Command column of the process list.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Quit => "Quit",
            Self::InitDb(_) => "Init DB",
            Self::Query(_) => "Query",
            Self::FieldList(..) => "Field List",
            Self::CreateDb(_) => "Create DB",
            Self::DropDb(_) => "Drop DB",
            Self::Refresh(_) => "Refresh",
            Self::Shutdown(_) => "Shutdown",
            Self::Statistics => "Statistics",
            Self::ProcessInfo => "Processlist",
            Self::ProcessKill(_) => "Kill",
            Self::Debug => "Debug",
            Self::Ping => "Ping",
            Self::ChangeUser(_) => "Change user",
            Self::BinlogDump(_) => "Binlog Dump",
            Self::RegisterSlave(_) => "Register Slave",
            Self::StmtPrepare(_) => "Prepare",
            Self::StmtExecute(_) => "Execute",
            Self::StmtSendLongData(..) => "Long Data",
            Self::StmtClose(_) => "Close stmt",
            Self::StmtReset(_) => "Reset stmt",
            Self::SetOption(_) => "Set option",
            Self::StmtFetch(..) => "Fetch",
            Self::ResetConnection => "Reset connection",
            Self::StmtBulkExecute(_) => "Bulk_execute",
            Self::Internal(_) => "Error",
        }
    }
}

fn trim_nul(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(&[0]).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn samples() {
        assert_eq!(Command::decode(b"\x03select 1"), Ok(Command::Query(b"select 1")));
        assert_eq!(Command::decode(b"\x04t\0%"), Ok(Command::FieldList(b"t", b"%")));
        assert_eq!(Command::decode(b"\x0c\x01"), Err(DecodeError::Truncated("connection id")));
        assert_eq!(Command::decode(b"\x77"), Err(DecodeError::UnknownCommand(0x77)));
        assert_eq!(Command::decode(b""), Err(DecodeError::Truncated("command")));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Command::decode(&bytes).map(|c| c.name());
        }
    }
}
