//! The schema `sys`: functions and procedures, views over statements, its settings and its version.
//! Other tables of it are views in MariaDB and empty here.
//!
//! Must not store anything: routines and views are added to the definitions at each start.

use std::sync::Arc;
use std::time::SystemTime;

use selkie_exec::session::{Account, Session};
use selkie_exec::{Instance, SystemRequest, SystemTable, add_unstored};
use selkie_types::{SqlMode, SqlResult, Value};

use super::account_tables::Unattended;
use super::system::arrange;
use crate::accounts::SYSTEM_ACCOUNT;
use crate::tables::{Row, text, utc};
use crate::variables::VERSION;

/// The routines, each behind a line of dashes and without the words that all have.
const ROUTINES: &str = include_str!("../../data/sys_routines.sql");

/// The views.
const VIEWS: &str = include_str!("../../data/sys_views.sql");

/// Rows of `sys_config`: names and values.
const CONFIG: &[(&str, Option<&str>)] = &[
    ("diagnostics.allow_i_s_tables", Some("OFF")),
    ("diagnostics.include_raw", Some("OFF")),
    ("ps_thread_trx_info.max_length", Some("65535")),
    ("statement_performance_analyzer.limit", Some("100")),
    ("statement_performance_analyzer.view", None),
    ("statement_truncate_len", Some("64")),
];

/// Version of the schema that MariaDB 10.11 has.
const SYS_VERSION: &str = "1.5.1";

/// Adds routines and views to the definitions. One that cannot be made, because a user has changed
/// what it needs, is missing; the server starts all the same.
pub(super) fn add(instance: &Instance) {
    let mut session = Session::new(0, Account::default(), Arc::new(Unattended::new()));
    session.frame.settings.expressions.sql_mode = SqlMode::from_bits(0).unwrap_or_default();
    let (user, host) = SYSTEM_ACCOUNT;
    for routine in ROUTINES.split("\n----\n").skip(1) {
        let routine = routine.trim_end().replacen("\nCOMMENT", "\nSQL SECURITY INVOKER COMMENT", 1);
        let text = format!("CREATE DEFINER=`{user}`@`{host}` {routine}");
        try_to_add(instance, &mut session, &text);
    }
    for view in VIEWS.split("\n----\n").skip(1) {
        let security = "SQL SECURITY INVOKER";
        let text = format!("CREATE DEFINER=`{user}`@`{host}` {security} VIEW {}", view.trim_end());
        try_to_add(instance, &mut session, &text);
    }
}

fn try_to_add(instance: &Instance, session: &mut Session, text: &str) {
    if let Err(error) = add_unstored(instance, session, text.as_bytes()) {
        let beginning = text.lines().next().unwrap_or_default();
        tracing::warn!("The schema sys is not complete: {error} in {beginning}");
    }
}

/// Registers the tables.
pub(super) fn register(instance: &Instance) {
    let begun = SystemTime::now();
    instance.add_system_table("sys.sys_config", Arc::new(Table { rows: config, begun }));
    instance.add_system_table("sys.version", Arc::new(Table { rows: version, begun }));
}

struct Table {
    rows: fn(SystemTime) -> Vec<Row>,
    begun: SystemTime,
}

impl SystemTable for Table {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let rows = (self.rows)(self.begun);
        rows.into_iter().try_for_each(|row| emit(&arrange(request.table, row)))
    }
}

fn config(begun: SystemTime) -> Vec<Row> {
    let row = |(name, value): &(&str, Option<&str>)| -> Row {
        vec![
            ("variable", text(name)),
            ("value", value.map_or(Value::Null, text)),
            ("set_time", utc(begun)),
        ]
    };
    CONFIG.iter().map(row).collect()
}

fn version(_: SystemTime) -> Vec<Row> {
    vec![vec![("sys_version", text(SYS_VERSION)), ("mysql_version", text(VERSION))]]
}
