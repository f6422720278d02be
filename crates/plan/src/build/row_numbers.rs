//! Numbers of rows (`ROWNUM()`), and the bound that conditions set to them. Rows are counted in
//! the order in which the input gives them, which is no order that the statement asks for.

use selkie_expr::{CompareOp, Expr, ExprKind};
use selkie_types::Value;

use super::{Builder, Built, Goal};
use crate::cost;
use crate::logical::{ColumnId, ColumnSet, RowNumberNode};
use crate::physical::{Operator, PlanNode, RowNumbers};

impl Builder<'_> {
    pub(super) fn row_numbers(&mut self, node: &RowNumberNode, required: &ColumnSet) -> Built {
        let mut below = required.clone();
        node.conditions.iter().for_each(|e| below.add_expr(e));
        below.subtract(&[node.column].into_iter().collect());
        let most = node.conditions.iter().find_map(|e| number_bound(e, node.column));
        let count = most.as_ref().and_then(|(_, e)| match e.as_literal() {
            Some(Value::Int(n)) => Some(*n as f64),
            Some(Value::UInt(n)) => Some(*n as f64),
            _ => None,
        });
        let goal = Goal { order: None, limit: count };
        let input = self.build(&node.input, &below, goal);
        let rows = count.map_or(input.node.rows, |count| input.node.rows.min(count));
        let cost = input.node.cost + input.node.rows * cost::FILTER_PROBE;
        let Built { node: below, mut layout, order } = input;
        let mut columns = below.columns.clone();
        layout.push(node.column);
        columns.push(self.column_type(node.column));
        let conditions = node.conditions.iter().map(|e| super::place(e, &layout)).collect();
        let shown = required.contains(node.column);
        let numbers = RowNumbers { input: below, conditions, most, shown };
        let operator = Operator::RowNumbers(Box::new(numbers));
        Built { node: PlanNode::new(operator, columns, rows, cost), layout, order }
    }
}

/// The bound that a condition sets to row numbers, which are in `column`: a relation and a value
/// that is the same for all rows.
fn number_bound(condition: &Expr, column: ColumnId) -> Option<(CompareOp, Expr)> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    let is_number = |e: &Expr| e.as_column() == Some(column);
    let (op, value) = match (is_number(&compare.left), is_number(&compare.right)) {
        (true, false) => (compare.op, &compare.right),
        (false, true) => (compare.op.swapped(), &compare.left),
        _ => return None,
    };
    let bounds = matches!(op, CompareOp::Eq | CompareOp::Lt | CompareOp::Le);
    (bounds && value.ty.is_integer() && value.is_constant()).then(|| (op, value.clone()))
}
