//! Statements of a replica: CHANGE MASTER, START SLAVE, STOP SLAVE.
//! A connection without a name is the session's `default_master_connection`.

use super::{Literal, StringLiteral};

/// `CHANGE MASTER ['name'] TO options [FOR CHANNEL 'name']`.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeMaster {
    /// Name of the connection.
    pub name: Option<StringLiteral>,
    /// The options in their order; one that comes again replaces the earlier one, lists are joined.
    pub options: Vec<MasterOption>,
}

/// An option of CHANGE MASTER.
#[derive(Clone, Debug, PartialEq)]
pub enum MasterOption {
    /// An option whose value is a text.
    Text(MasterText, StringLiteral),
    /// An option whose value is a number.
    Number(MasterNumber, u64),
    /// `MASTER_HEARTBEAT_PERIOD`, in seconds.
    HeartbeatPeriod(Literal),
    /// `MASTER_USE_GTID`.
    UseGtid(UseGtid),
    /// `IGNORE_SERVER_IDS`, `DO_DOMAIN_IDS`, `IGNORE_DOMAIN_IDS`.
    Numbers(MasterList, Vec<u64>),
}

/// Options of CHANGE MASTER with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the SQL words without MASTER_
pub enum MasterText {
    Host,
    User,
    Password,
    LogFile,
    RelayLogFile,
    SslCa,
    SslCapath,
    SslCert,
    SslCipher,
    SslKey,
    SslCrl,
    SslCrlpath,
}

/// Options of CHANGE MASTER with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the SQL words without MASTER_
pub enum MasterNumber {
    Port,
    ConnectRetry,
    Delay,
    LogPos,
    RelayLogPos,
    Ssl,
    SslVerifyServerCert,
    DemoteToSlave,
}

/// Options of CHANGE MASTER with a list of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the SQL words
pub enum MasterList {
    IgnoreServerIds,
    DoDomainIds,
    IgnoreDomainIds,
}

/// Value of `MASTER_USE_GTID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseGtid {
    /// `NO`.
    No,
    /// `CURRENT_POS`.
    CurrentPos,
    /// `SLAVE_POS`, `REPLICA_POS`.
    SlavePos,
}

/// `START | STOP {SLAVE ['name'] | ALL SLAVES}`.
#[derive(Clone, Debug, PartialEq)]
pub struct StartStopSlave {
    /// `START`, not `STOP`.
    pub start: bool,
    /// The connections.
    pub which: Slaves,
    /// `IO_THREAD`; without either word both threads are meant.
    pub io_thread: bool,
    /// `SQL_THREAD`.
    pub sql_thread: bool,
    /// `UNTIL`.
    pub until: Option<SlaveUntil>,
}

/// Connections of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Slaves {
    /// `ALL SLAVES`.
    All,
    /// `SLAVE ['name']`.
    One(Option<StringLiteral>),
}

/// `UNTIL` of START SLAVE.
#[derive(Clone, Debug, PartialEq)]
pub enum SlaveUntil {
    /// `MASTER_LOG_FILE = 'file', MASTER_LOG_POS = n`.
    Master(StringLiteral, u64),
    /// `RELAY_LOG_FILE = 'file', RELAY_LOG_POS = n`.
    Relay(StringLiteral, u64),
    /// `MASTER_GTID_POS = 'list'`.
    Gtid(StringLiteral),
}
