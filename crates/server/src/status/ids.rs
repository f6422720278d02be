//! Identities of the counters that the server itself counts.
//!
//! Must list a counter only if code counts it.

use std::sync::LazyLock;

use super::list::{StatusId, find_status};

macro_rules! ids {
    ($($field:ident = $name:literal;)*) => {
        /// Identities of the counters the server counts.
        #[derive(Debug)]
        pub struct CounterIds {
            $(#[doc = concat!("`", $name, "`")] pub $field: StatusId,)*
        }
        static IDS: LazyLock<CounterIds> = LazyLock::new(|| CounterIds {
            $($field: find_status($name).expect("listed in the table"),)*
        });
    };
}

ids! {
    aborted_clients = "Aborted_clients";
    aborted_connects = "Aborted_connects";
    aborted_connects_preauth = "Aborted_connects_preauth";
    access_denied_errors = "Access_denied_errors";
    busy_time = "Busy_time";
    bytes_received = "Bytes_received";
    bytes_sent = "Bytes_sent";
    com_admin_commands = "Com_admin_commands";
    com_change_db = "Com_change_db";
    com_select = "Com_select";
    com_stmt_close = "Com_stmt_close";
    com_stmt_execute = "Com_stmt_execute";
    com_stmt_fetch = "Com_stmt_fetch";
    com_stmt_prepare = "Com_stmt_prepare";
    com_stmt_reset = "Com_stmt_reset";
    com_stmt_send_long_data = "Com_stmt_send_long_data";
    connection_errors_accept = "Connection_errors_accept";
    connection_errors_internal = "Connection_errors_internal";
    connection_errors_max_connections = "Connection_errors_max_connections";
    connections = "Connections";
    cpu_time = "Cpu_time";
    empty_queries = "Empty_queries";
    max_statement_time_exceeded = "Max_statement_time_exceeded";
    max_used_connections = "Max_used_connections";
    prepared_stmt_count = "Prepared_stmt_count";
    queries = "Queries";
    query_time = "Query_time";
    questions = "Questions";
    rows_sent = "Rows_sent";
    slow_queries = "Slow_queries";
    threads_created = "Threads_created";
}

/// Identities of the counters the server counts.
pub fn counter() -> &'static CounterIds {
    &IDS
}
