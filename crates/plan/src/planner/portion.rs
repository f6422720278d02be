//! Plans of `FOR PORTION OF`: the limits over source rows, and the insertion of what is cut off.
//!
//! A source must give no row that the statement itself inserts.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::Expr;
use selkie_expr::store::Given;

use super::Draft;
use crate::bind::BoundPortion;
use crate::build::place;
use crate::logical::{ColumnId, Logical};
use crate::physical::{
    ColumnType, Insert, InsertMode, InsertValue, Operator, PlanNode, Portion, RowRules,
};

/// Lets the source compute the expressions that contain subqueries.
pub(super) fn computed_by_source(
    source: Logical,
    exprs: Vec<&mut Expr>,
    draft: &mut Draft,
) -> Logical {
    let mut computed = Vec::new();
    for expr in exprs.into_iter().filter(|e| e.has_subquery()) {
        let id = draft.columns.add(expr.ty.clone(), expr.nullable);
        let column = draft.columns.expr(id);
        computed.push((id, std::mem::replace(expr, column)));
    }
    if computed.is_empty() {
        return source;
    }
    let mut columns: Vec<(ColumnId, Expr)> =
        source.columns(&draft.columns).iter().map(|id| (id, draft.columns.expr(id))).collect();
    columns.extend(computed);
    Logical::Project { input: Box::new(source), columns }
}

/// Whether a source could meet rows that are inserted meanwhile.
pub(super) fn may_meet(source: &PlanNode) -> bool {
    !matches!(source.operator, Operator::Empty)
}

/// The events of triggers that a statement sets off.
pub(super) fn events<P>(event: &'static str, portion: Option<P>) -> Vec<&'static str> {
    std::iter::once(event).chain(portion.map(|_| "INSERT")).collect()
}

/// Adds the columns that a portion reads to those of the source.
pub(super) fn add_columns(portion: &BoundPortion, ids: &mut Vec<ColumnId>) {
    let read = portion.exprs().into_iter().flat_map(Expr::columns);
    for id in read {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
}

/// The portion over a source with columns `layout`.
pub(super) fn planned(
    portion: &BoundPortion,
    table: &Arc<TableInfo>,
    layout: &[ColumnId],
    parts: Option<&Arc<[u16]>>,
) -> Box<Portion> {
    let [from, to, cuts_start, cuts_end] = portion.exprs().map(|e| place(e, layout));
    Box::new(Portion {
        start: portion.period.start,
        end: portion.period.end,
        from,
        to,
        cuts_start,
        cuts_end,
        insert: insert(table, portion.rules.clone(), parts.cloned()),
        renumbers: renumbers(table),
        ignore: portion.ignore,
    })
}

fn insert(table: &Arc<TableInfo>, rules: RowRules, parts: Option<Arc<[u16]>>) -> Insert {
    let columns = table.columns.iter();
    let values = columns.clone().enumerate().map(|(at, column)| match column.generated {
        Some(_) => InsertValue::Generated(None),
        None => InsertValue::Source(at, Given::Column),
    });
    let values = values.collect();
    let types = columns.map(|c| ColumnType { ty: c.ty.clone(), nullable: true }).collect();
    Insert {
        table: Arc::clone(table),
        source: PlanNode::new(Operator::OneRow, types, 1.0, 0.0),
        is_query: false,
        values,
        own: Vec::new(),
        default_flags: vec![None; table.columns.len()],
        mode: InsertMode::Insert,
        on_duplicate: None,
        rules,
        parts,
        view: None,
        returning: Vec::new(),
        on_update_now: Vec::new(),
    }
}

/// Whether parts of a row get new automatic values.
///
/// Compat: not if the first key that begins with the column is one without overlaps.
fn renumbers(table: &TableInfo) -> bool {
    let Some(auto) = table.def.auto_increment else { return false };
    let at = |most: usize| {
        let mut indexes = table.def.indexes.iter();
        indexes.find(|index| index.parts.iter().take(most).any(|part| part.column == auto))
    };
    at(1).or_else(|| at(usize::MAX)).is_some_and(|index| !index.without_overlaps)
}
