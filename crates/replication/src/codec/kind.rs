//! Types of events: their numbers, and their names in `SHOW BINLOG EVENTS`.
//!
//! Must not know the contents of events.

/// The type of an event. Every byte is a type; bodies of unnamed types are kept as bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKind(pub u8);

impl EventKind {
    /// A statement.
    pub const QUERY: Self = Self(2);
    /// The server ended.
    pub const STOP: Self = Self(3);
    /// The next file.
    pub const ROTATE: Self = Self(4);
    /// A value of LAST_INSERT_ID or of an AUTO_INCREMENT column.
    pub const INTVAR: Self = Self(5);
    /// A further part of a file for LOAD DATA.
    pub const APPEND_BLOCK: Self = Self(9);
    /// A file whose LOAD DATA did not take place.
    pub const DELETE_FILE: Self = Self(11);
    /// Seeds of RAND.
    pub const RAND: Self = Self(13);
    /// A user variable.
    pub const USER_VAR: Self = Self(14);
    /// The format of the events behind it.
    pub const FORMAT_DESCRIPTION: Self = Self(15);
    /// A commit.
    pub const XID: Self = Self(16);
    /// The first part of a file for LOAD DATA.
    pub const BEGIN_LOAD_QUERY: Self = Self(17);
    /// A LOAD DATA statement.
    pub const EXECUTE_LOAD_QUERY: Self = Self(18);
    /// A table and its columns.
    pub const TABLE_MAP: Self = Self(19);
    /// Rows inserted.
    pub const WRITE_ROWS_V1: Self = Self(23);
    /// Rows updated.
    pub const UPDATE_ROWS_V1: Self = Self(24);
    /// Rows deleted.
    pub const DELETE_ROWS_V1: Self = Self(25);
    /// An incident on the primary.
    pub const INCIDENT: Self = Self(26);
    /// The primary is alive but has no event.
    pub const HEARTBEAT: Self = Self(27);
    /// An event to ignore.
    pub const IGNORABLE: Self = Self(28);
    /// The statement of rows, as MySQL writes it.
    pub const ROWS_QUERY: Self = Self(29);
    /// Rows inserted, as MySQL writes them.
    pub const WRITE_ROWS: Self = Self(30);
    /// Rows updated, as MySQL writes them.
    pub const UPDATE_ROWS: Self = Self(31);
    /// Rows deleted, as MySQL writes them.
    pub const DELETE_ROWS: Self = Self(32);
    /// The number of a MySQL group.
    pub const MYSQL_GTID: Self = Self(33);
    /// A MySQL group without a number.
    pub const ANONYMOUS_GTID: Self = Self(34);
    /// MySQL groups in the files before.
    pub const PREVIOUS_GTIDS: Self = Self(35);
    /// Certification data of MySQL's group replication.
    pub const TRANSACTION_CONTEXT: Self = Self(36);
    /// A change of the members in MySQL's group replication.
    pub const VIEW_CHANGE: Self = Self(37);
    /// A prepared XA branch.
    pub const XA_PREPARE: Self = Self(38);
    /// Rows with values updated in part, as MySQL writes them.
    pub const PARTIAL_UPDATE_ROWS: Self = Self(39);
    /// A compressed transaction of MySQL.
    pub const TRANSACTION_PAYLOAD: Self = Self(40);
    /// MySQL's second form of [`Self::HEARTBEAT`].
    pub const HEARTBEAT_V2: Self = Self(41);
    /// The number of a MySQL group, with a tag.
    pub const GTID_TAGGED: Self = Self(42);
    /// The statement of the rows behind it.
    pub const ANNOTATE_ROWS: Self = Self(160);
    /// The oldest file that recovery needs.
    pub const BINLOG_CHECKPOINT: Self = Self(161);
    /// The number of a group.
    pub const GTID: Self = Self(162);
    /// The last groups before the file.
    pub const GTID_LIST: Self = Self(163);
    /// The events behind it are encrypted.
    pub const START_ENCRYPTION: Self = Self(164);
    /// A statement, compressed.
    pub const QUERY_COMPRESSED: Self = Self(165);
    /// Rows inserted, compressed.
    pub const WRITE_ROWS_COMPRESSED_V1: Self = Self(166);
    /// Rows updated, compressed.
    pub const UPDATE_ROWS_COMPRESSED_V1: Self = Self(167);
    /// Rows deleted, compressed.
    pub const DELETE_ROWS_COMPRESSED_V1: Self = Self(168);
}

/// Names by number.
const NAMES: &[(EventKind, &str)] = &[
    (EventKind::QUERY, "Query"),
    (EventKind::STOP, "Stop"),
    (EventKind::ROTATE, "Rotate"),
    (EventKind::INTVAR, "Intvar"),
    (EventKind::APPEND_BLOCK, "Append_block"),
    (EventKind::DELETE_FILE, "Delete_file"),
    (EventKind::RAND, "RAND"),
    (EventKind::USER_VAR, "User var"),
    (EventKind::FORMAT_DESCRIPTION, "Format_desc"),
    (EventKind::XID, "Xid"),
    (EventKind::BEGIN_LOAD_QUERY, "Begin_load_query"),
    (EventKind::EXECUTE_LOAD_QUERY, "Execute_load_query"),
    (EventKind::TABLE_MAP, "Table_map"),
    (EventKind::WRITE_ROWS_V1, "Write_rows_v1"),
    (EventKind::UPDATE_ROWS_V1, "Update_rows_v1"),
    (EventKind::DELETE_ROWS_V1, "Delete_rows_v1"),
    (EventKind::INCIDENT, "Incident"),
    (EventKind::HEARTBEAT, "Heartbeat"),
    (EventKind::IGNORABLE, "Ignorable"),
    (EventKind::ROWS_QUERY, "Rows_query"),
    (EventKind::WRITE_ROWS, "Write_rows"),
    (EventKind::UPDATE_ROWS, "Update_rows"),
    (EventKind::DELETE_ROWS, "Delete_rows"),
    (EventKind::MYSQL_GTID, "Gtid"),
    (EventKind::ANONYMOUS_GTID, "Anonymous_Gtid"),
    (EventKind::PREVIOUS_GTIDS, "Previous_gtids"),
    (EventKind::TRANSACTION_CONTEXT, "Transaction_context"),
    (EventKind::VIEW_CHANGE, "View_change"),
    (EventKind::XA_PREPARE, "XA_prepare"),
    (EventKind::PARTIAL_UPDATE_ROWS, "Update_rows_partial"),
    (EventKind::TRANSACTION_PAYLOAD, "Transaction_payload"),
    (EventKind::HEARTBEAT_V2, "Heartbeat"),
    (EventKind::GTID_TAGGED, "Gtid_tagged"),
    (EventKind::ANNOTATE_ROWS, "Annotate_rows"),
    (EventKind::BINLOG_CHECKPOINT, "Binlog_checkpoint"),
    (EventKind::GTID, "Gtid"),
    (EventKind::GTID_LIST, "Gtid_list"),
    (EventKind::START_ENCRYPTION, "Start_encryption"),
    (EventKind::QUERY_COMPRESSED, "Query_compressed"),
    (EventKind::WRITE_ROWS_COMPRESSED_V1, "Write_rows_compressed_v1"),
    (EventKind::UPDATE_ROWS_COMPRESSED_V1, "Update_rows_compressed_v1"),
    (EventKind::DELETE_ROWS_COMPRESSED_V1, "Delete_rows_compressed_v1"),
];

impl EventKind {
    /// The type's name in `SHOW BINLOG EVENTS`.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("Unknown", |(_, name)| name)
    }
}
