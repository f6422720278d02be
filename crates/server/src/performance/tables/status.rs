//! Status variables, without those that count kinds of statements: the summaries of statements
//! show them.

use super::Pseudo;
use crate::session::Shared;
use crate::status::shown_statuses;
use crate::tables::{self, Row, text};

pub(super) fn global(shared: &Shared) -> Vec<Row> {
    named(tables::rows("GLOBAL_STATUS", shared, &|_| None, &|_| Ok(None)).unwrap_or_default())
}

pub(super) fn session(shared: &Shared, pseudo: Pseudo<'_>) -> Vec<Row> {
    named(tables::rows("SESSION_STATUS", shared, pseudo, &|_| Ok(None)).unwrap_or_default())
}

/// Compat: variables that tables about replication show are left out too.
const OF_REPLICAS: [&str; 4] = [
    "Slave_heartbeat_period",
    "Slave_received_heartbeats",
    "Slave_retried_transactions",
    "Slave_running",
];

/// Beginning of the names of variables that count kinds of statements.
const OF_STATEMENTS: &str = "Com_";

fn is_shown(name: &str) -> bool {
    !name.starts_with(OF_STATEMENTS) && !OF_REPLICAS.contains(&name)
}

/// The rows in the same order, with the names as SHOW STATUS spells them.
fn named(rows: Vec<Row>) -> Vec<Row> {
    let names = shown_statuses().iter().map(|def| def.name);
    let shown = names.zip(rows).filter(|(name, _)| is_shown(name));
    let row = |(name, row): (&str, Row)| {
        let value = row.into_iter().find(|(column, _)| *column == "VARIABLE_VALUE");
        [("VARIABLE_NAME", text(name))].into_iter().chain(value).collect()
    };
    shown.map(row).collect()
}
