//! Subqueries that expressions evaluate. Data only.

use super::PlanNode;

/// A subquery evaluated from an expression ([`selkie_expr::Subquery`]), which says what is made of
/// its rows and which slots it fills before it runs.
#[derive(Clone, Debug)]
pub struct SubPlan {
    /// Its rows.
    pub root: PlanNode,
    /// Slots its rows depend on, also those filled by blocks further out. While their values stay
    /// the same the rows stay the same, unless `volatile`.
    pub slots: Vec<usize>,
    /// Has side effects or changing functions (RAND, user variables): run it for every row.
    pub volatile: bool,
}
