//! The query EXPLAIN EXTENDED leaves as a note: names qualified, `*` spelled out, constants put for
//! columns that equal them.

use selkie_sql::{UnparseOptions, ast, unparse_numbered};
use selkie_types::Condition;

use super::constants::propagate;
use crate::define::Qualifier;
use crate::planner::PlanContext;

/// The text of a query that begins at `now_micros` as it was understood, and the warnings of the
/// constants that were computed for it.
pub fn query_text(
    query: &ast::Query,
    context: &PlanContext<'_>,
    now_micros: i64,
) -> (String, Vec<Condition>) {
    let mut query = query.clone();
    Qualifier::new(context.tables, context.settings.schema, context.text).query(&mut query, true);
    let conditions = propagate(&mut query, context, now_micros);
    let charset = context.types.collation_connection.charset();
    (unparse_numbered(&query, &UnparseOptions { charset: charset.name() }), conditions)
}
