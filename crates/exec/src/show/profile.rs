//! SHOW PROFILE: a query over `information_schema.PROFILING` with the requested columns.
//!
//! Must not measure anything: the server fills the table.

use selkie_sql::ast::{ExprKind, Limit, Literal};

use super::query::Shape;

/// Columns by the keyword that requests them.
const COLUMNS: &[(&str, &[(&str, &str)])] = &[
    ("CPU", &[("CPU_user", "CPU_USER"), ("CPU_system", "CPU_SYSTEM")]),
    (
        "CONTEXT SWITCHES",
        &[
            ("Context_voluntary", "CONTEXT_VOLUNTARY"),
            ("Context_involuntary", "CONTEXT_INVOLUNTARY"),
        ],
    ),
    ("BLOCK IO", &[("Block_ops_in", "BLOCK_OPS_IN"), ("Block_ops_out", "BLOCK_OPS_OUT")]),
    ("IPC", &[("Messages_sent", "MESSAGES_SENT"), ("Messages_received", "MESSAGES_RECEIVED")]),
    (
        "PAGE FAULTS",
        &[("Page_faults_major", "PAGE_FAULTS_MAJOR"), ("Page_faults_minor", "PAGE_FAULTS_MINOR")],
    ),
    ("SWAPS", &[("Swaps", "SWAPS")]),
    (
        "SOURCE",
        &[
            ("Source_function", "SOURCE_FUNCTION"),
            ("Source_file", "SOURCE_FILE"),
            ("Source_line", "SOURCE_LINE"),
        ],
    ),
];

/// The query over `PROFILING`; without a number it shows the last statement.
pub(super) fn shape(types: &[&str], query: Option<u64>, limit: Option<&Limit>) -> Shape {
    let mut columns = vec![("Status", "STATE"), ("Duration", "DURATION")];
    for (word, more) in COLUMNS {
        if types.contains(word) || types.contains(&"ALL") {
            columns.extend_from_slice(more);
        }
    }
    let mut condition = match query {
        Some(number) => format!("QUERY_ID = {number}"),
        None => "QUERY_ID = (SELECT MAX(QUERY_ID) FROM information_schema.PROFILING)".to_owned(),
    };
    if let Some(limit) = limit {
        // Stages are numbered from 2.
        let first = 2 + number(limit.offset.as_ref()).unwrap_or(0);
        let count = number(limit.count.as_ref()).unwrap_or(u64::MAX >> 1);
        let end = first.saturating_add(count);
        condition.push_str(&format!(" AND SEQ >= {first} AND SEQ < {end}"));
    }
    Shape::new("PROFILING", &columns).filtered(condition).ordered("SEQ")
}

fn number(expr: Option<&selkie_sql::ast::Expr>) -> Option<u64> {
    match expr?.kind {
        ExprKind::Literal(Literal::Int(n)) => Some(n),
        _ => None,
    }
}
