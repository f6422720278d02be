//! SHOW of tables of `information_schema` that plugins of MariaDB provide.
//!
//! Must not know where the rows come from.

use super::query::Shape;

/// A table with the columns that its SHOW has.
type Shown = (&'static str, &'static [&'static str]);

const SHOWN: &[Shown] = &[
    ("CLIENT_STATISTICS", &["CLIENT"]),
    ("INDEX_STATISTICS", &["TABLE_SCHEMA", "TABLE_NAME", "INDEX_NAME", "ROWS_READ"]),
    (
        "TABLE_STATISTICS",
        &["TABLE_SCHEMA", "TABLE_NAME", "ROWS_READ", "ROWS_CHANGED", "ROWS_CHANGED_X_INDEXES"],
    ),
    ("USER_STATISTICS", &["USER"]),
    ("USER_VARIABLES", &["VARIABLE_NAME", "VARIABLE_VALUE"]),
];

/// Columns of the statistics of users and clients after the first.
const OF_SESSIONS: &[&str] = &[
    "TOTAL_CONNECTIONS",
    "CONCURRENT_CONNECTIONS",
    "CONNECTED_TIME",
    "BUSY_TIME",
    "CPU_TIME",
    "BYTES_RECEIVED",
    "BYTES_SENT",
    "BINLOG_BYTES_WRITTEN",
    "ROWS_READ",
    "ROWS_SENT",
    "ROWS_DELETED",
    "ROWS_INSERTED",
    "ROWS_UPDATED",
    "SELECT_COMMANDS",
    "UPDATE_COMMANDS",
    "OTHER_COMMANDS",
    "COMMIT_TRANSACTIONS",
    "ROLLBACK_TRANSACTIONS",
    "DENIED_CONNECTIONS",
    "LOST_CONNECTIONS",
    "ACCESS_DENIED",
    "EMPTY_QUERIES",
    "TOTAL_SSL_CONNECTIONS",
    "MAX_STATEMENT_TIME_EXCEEDED",
];

/// The query of `SHOW name`; `None` if there is no such table.
pub(super) fn shape(name: &str) -> Option<Shape> {
    let (table, first) = SHOWN.iter().find(|(table, _)| table.eq_ignore_ascii_case(name))?;
    let more = if first.len() == 1 { OF_SESSIONS } else { &[] };
    let columns: Vec<(String, &'static str)> =
        first.iter().chain(more).map(|column| (heading(column), *column)).collect();
    let columns: Vec<(&str, &'static str)> = columns.iter().map(|(h, c)| (&**h, *c)).collect();
    Some(Shape::new(table, &columns))
}

/// The name of a column in a SHOW.
fn heading(column: &str) -> String {
    match column {
        "ROWS_CHANGED_X_INDEXES" => return "Rows_changed_x_#indexes".to_owned(),
        "VARIABLE_VALUE" => return "Value".to_owned(),
        _ => {}
    }
    let (first, rest) = column.split_at(1);
    format!("{first}{}", rest.to_ascii_lowercase())
}
