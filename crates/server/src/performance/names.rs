//! Names of the events that are measured, and the numbers under which sessions count them.
//!
//! Must list only events that can occur here.

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::status::{StatusId, find_status, status_list};

/// Statements of SQL, by the ends of their names `statement/sql/...`.
const SQL: &str = "select create_table create_index alter_table update insert insert_select delete \
    truncate drop_table drop_index show_databases show_tables show_fields show_keys show_variables \
    show_status show_engine_status show_processlist show_grants show_create_user show_charsets \
    show_collations show_create_db show_create_table show_triggers load set_option lock_tables \
    unlock_tables grant change_db create_db drop_db alter_db repair replace replace_select analyze \
    rollback rollback_to_savepoint commit savepoint release_savepoint start_slave stop_slave \
    start_all_slaves stop_all_slaves begin change_master rename_table reset purge show_binlogs \
    show_open_tables ha_open ha_close ha_read show_slave_hosts delete_multi update_multi \
    show_binlog_events do show_warnings empty_query show_errors show_storage_engines \
    show_privileges help create_user drop_user rename_user revoke revoke_all checksum \
    create_procedure create_function call_procedure drop_procedure alter_procedure alter_function \
    drop_function show_generic show_slave_status show_binlog_status prepare_sql execute_sql \
    dealloc_sql create_view drop_view create_trigger drop_trigger xa_start xa_end xa_prepare \
    xa_commit xa_rollback xa_recover install_plugin show_plugins create_event alter_event \
    drop_event show_events flush kill check optimize signal resignal show_relaylog_events \
    get_diagnostics alter_user compound_sql shutdown create_role drop_role grant_role revoke_role \
    drop_server create_sequence drop_sequence alter_sequence create_package create_package_body \
    drop_package drop_package_body execute_immediate binlog backup backup_lock error";

/// Commands of the protocol, by the ends of their names `statement/com/...`. Those that run a
/// text count as its statement.
const COMMANDS: &[&str] = &[
    "Quit",
    "Init DB",
    "Field List",
    "Create DB",
    "Drop DB",
    "Refresh",
    "Shutdown",
    "Statistics",
    "Debug",
    "Ping",
    "Change user",
    "Binlog Dump",
    "Register Slave",
    "Prepare",
    "Execute",
    "Bulk_execute",
    "Long Data",
    "Close stmt",
    "Reset stmt",
    "Set option",
    "Fetch",
    "Reset connection",
    "Error",
];

/// Number of an event's name.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(pub(super) u16);

struct Names {
    all: Vec<String>,
    by_command: HashMap<&'static str, Name>,
    /// The name for each status variable that counts a kind of statement.
    by_counter: Vec<Name>,
    error: Name,
    empty: Name,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let sql: Vec<&'static str> = SQL.split_ascii_whitespace().collect();
    let mut all: Vec<String> = sql.iter().map(|name| format!("statement/sql/{name}")).collect();
    let place = |name: &str| sql.iter().position(|n| *n == name).map(|at| Name(at as u16));
    let error = place("error").expect("in the list");
    let empty = place("empty_query").expect("in the list");
    let mut by_counter = vec![error; status_list().len()];
    for (com, name) in
        [("create_temporary_table", "create_table"), ("drop_temporary_table", "drop_table")]
            .into_iter()
            .chain(sql.iter().map(|name| (*name, *name)))
    {
        let counter = find_status(&format!("Com_{com}"));
        if let (Some(StatusId(at)), Some(name)) = (counter, place(name)) {
            by_counter[usize::from(at)] = name;
        }
    }
    let mut by_command = HashMap::new();
    for name in COMMANDS {
        by_command.insert(*name, Name(all.len() as u16));
        all.push(format!("statement/com/{name}"));
    }
    Names { all, by_command, by_counter, error, empty }
});

/// Instruments of other things, which are off at the start.
const OTHERS: [&str; 1] = ["wait/lock/metadata/sql/mdl"];

/// All instruments, by their numbers: statements first.
pub(super) fn instruments() -> impl Iterator<Item = &'static str> {
    statements().iter().map(String::as_str).chain(OTHERS)
}

/// The instrument of metadata locks.
pub(super) fn metadata_locks() -> Name {
    Name(statements().len() as u16)
}

/// All names of statements, by their numbers.
pub(super) fn statements() -> &'static [String] {
    &NAMES.all
}

impl Name {
    /// A command of the protocol. A text counts as an error until its statement is known.
    pub(super) fn of_command(command: &str) -> Self {
        match command {
            "Query" => NAMES.error,
            command => NAMES.by_command.get(command).copied().unwrap_or(NAMES.error),
        }
    }

    /// A statement that a status variable counts.
    pub(super) fn of_counter(counter: StatusId) -> Self {
        NAMES.by_counter.get(usize::from(counter.0)).copied().unwrap_or(NAMES.error)
    }

    /// A text with nothing but comments.
    pub(super) fn of_nothing() -> Self {
        NAMES.empty
    }

    /// The name.
    pub(super) fn text(self) -> &'static str {
        NAMES.all.get(usize::from(self.0)).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_names() {
        let name = |counter| Name::of_counter(find_status(counter).unwrap()).text();
        assert_eq!(name("Com_select"), "statement/sql/select");
        assert_eq!(name("Com_create_temporary_table"), "statement/sql/create_table");
        assert_eq!(Name::of_command("Ping").text(), "statement/com/Ping");
        assert_eq!(Name::of_command("Query").text(), "statement/sql/error");
    }
}
