//! Full-text searches as access paths, and conditions over ranks, which are tested after the rows
//! are read.

use selkie_engine::LockMode;
use selkie_expr::{CompareOp, Expr, ExprKind, SearchId};
use selkie_types::Value;

use super::access::Path;
use super::bounds::Bounds;
use super::{Builder, Order};
use crate::cost;
use crate::logical::RelationInfo;

impl Builder<'_> {
    /// The path by the first condition that is a search with an index. Rows come in the order of
    /// their ranks.
    ///
    /// Compat: this path is preferred to all others.
    pub(super) fn text_path(&self, info: &RelationInfo, conditions: &[Expr]) -> Option<Path> {
        if self.columns.searches.is_empty() || info.lock != LockMode::None {
            return None;
        }
        let indexed = |id: &SearchId| {
            self.columns.searches.get(id.0 as usize).is_some_and(|search| search.index.is_some())
        };
        let ranked = conditions.iter().filter(|c| is_ranked(info, c));
        let search = ranked.filter_map(search_of).find(indexed)?;
        Some(Path {
            index: None,
            bounds: Bounds::default(),
            union: Vec::new(),
            covering: false,
            entry_locks: false,
            reverse: false,
            order: Order::none(),
            rows: 1.0,
            examined: 1.0,
            cost: cost::lookups(1.0, 1.0, true),
            unique: false,
            groups: None,
            text: Some(search),
        })
    }
}

/// Whether a condition needs the keys of the rows of `info`.
pub(super) fn is_ranked(info: &RelationInfo, condition: &Expr) -> bool {
    let Some(key) = info.row_key else { return false };
    condition.any(&mut |e| e.as_column() == Some(key))
}

/// The search that a condition can be found by: it is false for rows of rank 0.
fn search_of(condition: &Expr) -> Option<SearchId> {
    match &condition.kind {
        ExprKind::Match(found) => Some(found.search),
        ExprKind::Compare(compare) => {
            let (found, limit, op) = match (&compare.left.kind, &compare.right.kind) {
                (ExprKind::Match(found), _) => (found, &compare.right, compare.op),
                (_, ExprKind::Match(found)) => (found, &compare.left, mirrored(compare.op)?),
                _ => return None,
            };
            let limit = match limit.as_literal()? {
                Value::Double(limit) => *limit,
                Value::Int(limit) => *limit as f64,
                _ => return None,
            };
            let excludes = match op {
                CompareOp::Gt => limit >= 0.0,
                CompareOp::Ge => limit > 0.0,
                _ => false,
            };
            excludes.then_some(found.search)
        }
        _ => None,
    }
}

fn mirrored(op: CompareOp) -> Option<CompareOp> {
    match op {
        CompareOp::Lt => Some(CompareOp::Gt),
        CompareOp::Le => Some(CompareOp::Ge),
        _ => None,
    }
}
