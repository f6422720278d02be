//! The query EXPLAIN EXTENDED leaves as a note: names qualified, `*` spelled out.

use selkie_sql::{UnparseOptions, ast, unparse_numbered};

use crate::define::Qualifier;
use crate::planner::PlanContext;

/// The text of a query as it was understood.
pub fn query_text(query: &ast::Query, context: &PlanContext<'_>) -> String {
    let mut query = query.clone();
    Qualifier::new(context.tables, context.settings.schema, context.text).query(&mut query, true);
    let charset = context.types.collation_connection.charset();
    unparse_numbered(&query, &UnparseOptions { charset: charset.name() })
}
