//! Keys of GROUP BY that the primary key of their table decides, if it is among the keys: they are
//! not compared, but taken from the first row of each group.
//!
//! A row of an outer join without a match has NULL in the primary key and in all columns of its
//! table. Must leave alone columns that an operator has made anew, such as keys under ROLLUP, which
//! are NULL in some rows; tables whose primary key several rows may have, which are those read with
//! their history; and primary keys of prefixes: equal texts may have unequal prefixes.

use selkie_expr::TypeContext;
use selkie_expr::aggregate::{Aggregate, AggregateKind};

use super::Builder;
use crate::logical::{AggregateNode, ColumnSet, Columns, RelationId};

impl Builder<'_> {
    /// Moves the keys that others decide to the aggregates, or drops them if nobody reads them.
    pub(super) fn without_dependent_keys(
        &self,
        mut node: AggregateNode,
        required: &ColumnSet,
    ) -> AggregateNode {
        let dependent = dependent(self.columns, &node);
        let mut at = 0;
        let moved: Vec<_> = node
            .groups
            .extract_if(.., |_| {
                at += 1;
                dependent[at - 1]
            })
            .collect();
        for (id, key) in moved.into_iter().filter(|(id, _)| required.contains(*id)) {
            let types = TypeContext::default();
            match Aggregate::new(AggregateKind::AnyValue, false, vec![key.clone()], &types) {
                Ok(call) => node.aggregates.push((id, call)),
                Err(_) => node.groups.push((id, key)),
            }
        }
        node
    }
}

/// For each key, whether other keys decide it.
fn dependent(columns: &Columns, node: &AggregateNode) -> Vec<bool> {
    let origin = |key: usize| {
        let id = node.groups[key].1.as_column()?;
        let own = |of: &(RelationId, usize)| columns.relations[of.0].first + of.1 == id;
        columns.get(id).origin.filter(own)
    };
    let origins: Vec<Option<(RelationId, usize)>> = (0..node.groups.len()).map(origin).collect();
    let is_decided = |of: &Option<(RelationId, usize)>| {
        let Some((relation, column)) = *of else { return false };
        let info = &columns.relations[relation];
        let Some(primary) = info.table.def.primary() else { return false };
        let has = |column: usize| origins.contains(&Some((relation, column)));
        !info.is_historical
            && primary
                .parts
                .iter()
                .all(|part| part.prefix.is_none() && part.column != column && has(part.column))
    };
    match node.rollup {
        true => vec![false; origins.len()],
        false => origins.iter().map(is_decided).collect(),
    }
}
