//! Extent of the rollback that an error causes: statement, transaction or connection.
//! A list of the few numbers that end more than the statement.

use super::catalogue::*;

/// Extent of the rollback that an error causes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Only the statement is undone; the transaction continues.
    Statement,
    /// The whole transaction is rolled back.
    Transaction,
    /// The connection ends.
    Connection,
}

impl Severity {
    /// The severity of an error number.
    pub fn of(code: u16) -> Self {
        const DEADLOCK: u16 = ER_LOCK_DEADLOCK.code;
        const LOCK_TABLE_FULL: u16 = ER_LOCK_TABLE_FULL.code;
        const ROLLBACK_ERROR: u16 = ER_ERROR_DURING_ROLLBACK.code;
        const COMMIT_ERROR: u16 = ER_ERROR_DURING_COMMIT.code;
        const CHECKREAD: u16 = ER_CHECKREAD.code;
        const KILLED: u16 = ER_CONNECTION_KILLED.code;
        const SHUTDOWN: u16 = ER_SERVER_SHUTDOWN.code;
        const NORMAL_SHUTDOWN: u16 = ER_NORMAL_SHUTDOWN.code;
        const HANDSHAKE: u16 = ER_HANDSHAKE_ERROR.code;
        const ABORTING: u16 = ER_NEW_ABORTING_CONNECTION.code;
        const UNORDERED: u16 = ER_NET_PACKETS_OUT_OF_ORDER.code;
        const READ_ERROR: u16 = ER_NET_READ_ERROR.code;
        const READ_INTERRUPTED: u16 = ER_NET_READ_INTERRUPTED.code;
        const WRITE_ERROR: u16 = ER_NET_ERROR_ON_WRITE.code;
        const WRITE_INTERRUPTED: u16 = ER_NET_WRITE_INTERRUPTED.code;
        const TOO_LARGE: u16 = ER_NET_PACKET_TOO_LARGE.code;
        match code {
            DEADLOCK | LOCK_TABLE_FULL | ROLLBACK_ERROR | COMMIT_ERROR | CHECKREAD => {
                Self::Transaction
            }
            KILLED | SHUTDOWN | NORMAL_SHUTDOWN | HANDSHAKE | ABORTING | UNORDERED | READ_ERROR
            | READ_INTERRUPTED | WRITE_ERROR | WRITE_INTERRUPTED | TOO_LARGE => Self::Connection,
            _ => Self::Statement,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels() {
        assert_eq!(Severity::of(ER_DUP_ENTRY.code), Severity::Statement);
        assert_eq!(Severity::of(ER_LOCK_WAIT_TIMEOUT.code), Severity::Statement);
        assert_eq!(Severity::of(ER_LOCK_DEADLOCK.code), Severity::Transaction);
        assert_eq!(Severity::of(ER_CONNECTION_KILLED.code), Severity::Connection);
    }
}
