//! Subqueries that expressions evaluate. Data only. A subquery is a subplan only if the rewrites
//! made no join of it.

use std::sync::Arc;

use selkie_catalog::TableInfo;

use super::PlanNode;

/// A subquery evaluated from an expression ([`selkie_expr::Subquery`]). The expression defines the
/// use of its rows and the slots to fill before it runs.
#[derive(Clone, Debug)]
pub struct SubPlan {
    /// Source of its rows.
    pub root: PlanNode,
    /// Slots on which its rows depend, including those filled by outer blocks. Unless `volatile`,
    /// the rows stay the same while these values stay the same.
    pub slots: Vec<usize>,
    /// The columns of outer tables that fill these slots, for EXPLAIN; `None` for other values.
    pub filled_by: Vec<Option<OuterColumn>>,
    /// It has side effects or changing functions (RAND, user variables), so it runs for every row.
    pub volatile: bool,
    /// Position of its unit in [`super::Told::units`].
    pub unit: usize,
}

/// A column of a table in an outer block.
#[derive(Clone, Debug)]
pub struct OuterColumn {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Its alias.
    pub alias: Box<str>,
    /// Position of the column in it.
    pub column: usize,
}
