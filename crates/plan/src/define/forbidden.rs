//! Forbidden parts of expressions in definitions, by clause and by whether the value is stored.
//! Knows names only; must never look at tables.

use selkie_sql::ast::{self, Expr, ExprKind, FunctionCall};

use super::expressions::{Place, text};
use crate::bind::Clause;

/// Functions that depend on the time or the session, or vary by themselves. They are forbidden
/// where values are stored.
const VARYING: &[&str] = &[
    "connection_id",
    "curdate",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "curtime",
    "database",
    "dayname",
    "from_unixtime",
    "localtime",
    "localtimestamp",
    "monthname",
    "natural_sort_key",
    "now",
    "rand",
    "schema",
    "session_user",
    "sys_guid",
    "sysdate",
    "system_user",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "uuid",
    "uuid_short",
    "version",
];

/// Functions that vary with a session setting unless an argument gives it, with the position of
/// that argument.
const VARYING_WITHOUT: &[(&str, usize)] = &[("date_format", 2), ("unix_timestamp", 0), ("week", 1)];

/// Functions forbidden in all definitions.
const NEVER: &[&str] = &[
    "benchmark",
    "found_rows",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "load_file",
    "master_gtid_wait",
    "master_pos_wait",
    "name_const",
    "release_all_locks",
    "release_lock",
    "row_count",
    "rownum",
    "sleep",
];

/// Functions allowed in DEFAULT only.
const DEFAULT_ONLY: &[&str] = &["random_bytes"];

const AGGREGATES: &[&str] = &[
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "count",
    "json_arrayagg",
    "json_objectagg",
    "max",
    "min",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
];

/// The part of a node that is forbidden in its place, as shown in the message.
pub(super) fn forbidden(expr: &Expr, place: &Place<'_>) -> Option<String> {
    let default = matches!(place.clause, Clause::Default);
    match &expr.kind {
        ExprKind::Subquery(_)
        | ExprKind::Exists(_)
        | ExprKind::InSubquery { .. }
        | ExprKind::Quantified { .. } => Some("select ...".into()),
        ExprKind::Param(_) => Some("?".into()),
        ExprKind::UserVar(name) | ExprKind::AssignUserVar { name, .. } if place.kept => {
            Some(format!("@{name}"))
        }
        ExprKind::SystemVar(variable) if place.kept => {
            Some(format!("@@{}", variable.name.value.to_ascii_lowercase()))
        }
        // The week depends on `default_week_format`.
        ExprKind::Extract { unit: ast::IntervalUnit::Week, .. } if place.kept => {
            Some("extract()".into())
        }
        ExprKind::GroupConcat(_) => Some("group_concat()".into()),
        ExprKind::Match { .. } => Some("match ... against()".into()),
        ExprKind::Values(_) => Some("value()".into()),
        ExprKind::NextValue(_) if !default => Some("nextval()".into()),
        ExprKind::PreviousValue(_) if !default => Some("lastval()".into()),
        ExprKind::SetValue { .. } if !default => Some("setval()".into()),
        ExprKind::Call(call) => is_forbidden_call(call, place).then(|| function_name(call)),
        _ => None,
    }
}

fn is_forbidden_call(call: &FunctionCall, place: &Place<'_>) -> bool {
    let named = |list: &[&str]| list.iter().any(|name| call.name.is(name));
    let without = |(name, at): &(&str, usize)| call.name.is(name) && call.args.len() <= *at;
    let default = matches!(place.clause, Clause::Default);
    call.over.is_some()
        || named(AGGREGATES)
        || named(NEVER)
        || (!default && named(DEFAULT_ONLY))
        || (place.kept && (named(VARYING) || VARYING_WITHOUT.iter().any(without)))
}

/// Canonical name of a function, with empty parentheses.
fn function_name(call: &FunctionCall) -> String {
    let bare = FunctionCall { args: Vec::new(), over: None, ..call.clone() };
    let expr = Expr { kind: ExprKind::Call(Box::new(bare)), span: ast::Span::default() };
    let shown = text(&expr);
    format!("{}()", shown.split('(').next().unwrap_or_default())
}
