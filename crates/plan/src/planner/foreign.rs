//! Foreign keys that a change of rows concerns, through all tables that cascades reach. Each table
//! is visited again only while its changes grow, so cycles of foreign keys end.

use std::sync::Arc;

use selkie_catalog::{ForeignKeyAction, TableInfo, TableKind};
use selkie_engine::TableId;
use selkie_types::SqlResult;

use super::PlanContext;
use crate::bind::Binder;
use crate::physical::{ForeignLink, ForeignParent, ForeignTable, ForeignTables, RowRules};

/// Changes of a statement to the rows of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// Rows are inserted.
    pub inserted: bool,
    /// Rows are deleted.
    pub deleted: bool,
    /// Columns with new values.
    pub updated: Vec<usize>,
}

impl Changes {
    /// Adds `more`; returns whether anything changed.
    fn grow(&mut self, more: &Self) -> bool {
        let before = (self.inserted, self.deleted, self.updated.len());
        self.inserted |= more.inserted;
        self.deleted |= more.deleted;
        let new = more.updated.iter().filter(|c| !self.updated.contains(c)).copied();
        let new: Vec<usize> = new.collect();
        self.updated.extend(new);
        before != (self.inserted, self.deleted, self.updated.len())
    }
}

/// Foreign keys to check for the given changes.
pub(super) fn foreign_tables(
    targets: Vec<(Arc<TableInfo>, Changes)>,
    context: &PlanContext<'_>,
) -> SqlResult<ForeignTables> {
    let mut out = ForeignTables::default();
    if !context.settings.variables.foreign_key_checks {
        return Ok(out);
    }
    let mut known: Vec<(TableId, Changes)> = Vec::new();
    // The last value: whether a cascade reached the table.
    let mut pending: Vec<_> =
        targets.into_iter().map(|(table, changes)| (table, changes, false)).collect();
    while let Some((table, more, reached)) = pending.pop() {
        let id = table.def.id;
        let missing = reached && out.of(id).is_none();
        let at = known.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
            known.push((id, Changes::default()));
            known.len() - 1
        });
        let changes = &mut known[at].1;
        if !changes.grow(&more) && !missing {
            continue;
        }
        let parents = parents(&table, changes, context);
        let children = children(&table, changes, context);
        if parents.is_empty() && children.is_empty() && !reached {
            continue;
        }
        let cascades = children.iter().filter_map(|link| cascaded(link, changes));
        pending.extend(cascades.map(|(table, changes)| (table, changes, true)));
        let rules = rules(&table, context)?;
        out.tables.retain(|t| t.table.def.id != id);
        out.tables.push(ForeignTable { table, parents, children, rules });
    }
    for table in &mut out.tables {
        table.parents.sort_by(|a, b| a.key().name.cmp(&b.key().name));
        table.children.sort_by_key(|l| (l.child.schema().to_owned(), l.key().name.clone()));
    }
    Ok(out)
}

/// Changes that a cascade makes to the child when rows of the parent change.
fn cascaded(link: &ForeignLink, changes: &Changes) -> Option<(Arc<TableInfo>, Changes)> {
    let key = link.key();
    let deleted = changes.deleted && key.on_delete == ForeignKeyAction::Cascade;
    let updates = (changes.deleted && key.on_delete == ForeignKeyAction::SetNull)
        || (!changes.updated.is_empty() && !key.on_update.refuses());
    let updated = match updates {
        true => with_generated(&link.child, link.child_columns.clone()),
        false => Vec::new(),
    };
    let changes = Changes { inserted: false, deleted, updated };
    (deleted || updates).then(|| (link.child.clone(), changes))
}

/// `columns` with the generated columns, which may depend on them.
pub(super) fn with_generated(table: &TableInfo, mut columns: Vec<usize>) -> Vec<usize> {
    let generated = table.columns.iter().enumerate().filter(|(_, c)| c.generated.is_some());
    columns.extend(generated.map(|(at, _)| at));
    columns
}

fn parents(
    table: &Arc<TableInfo>,
    changes: &Changes,
    context: &PlanContext<'_>,
) -> Vec<ForeignLink> {
    let concerned = |link: &ForeignLink| {
        changes.inserted || link.entry_columns.iter().any(|c| changes.updated.contains(c))
    };
    (0..table.foreign_keys.len())
        .filter_map(|at| link(table, at, context))
        .filter(concerned)
        .collect()
}

fn children(
    table: &Arc<TableInfo>,
    changes: &Changes,
    context: &PlanContext<'_>,
) -> Vec<ForeignLink> {
    // A temporary table hides a table that others refer to, but is itself never referenced.
    if table.kind == TableKind::Temporary || (!changes.deleted && changes.updated.is_empty()) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for child in context.tables.snapshot.children(table.schema(), table.name()) {
        for (at, key) in child.foreign_keys.iter().enumerate() {
            if !key.refers_to(table.schema(), table.name()) {
                continue;
            }
            let Some(link) = link(child, at, context) else { continue };
            let changed = |p: &ForeignParent| p.columns.iter().any(|c| changes.updated.contains(c));
            if link.parent.as_ref().is_some_and(|p| changes.deleted || changed(p)) {
                out.push(link);
            }
        }
    }
    out
}

fn link(child: &Arc<TableInfo>, at: usize, context: &PlanContext<'_>) -> Option<ForeignLink> {
    let key = &child.foreign_keys[at];
    let child_columns = child.column_positions(&key.columns)?;
    let found = match key.refers_to(child.schema(), child.name()) {
        true => Some(child),
        false => context.tables.snapshot.table(&key.referenced_schema, &key.referenced_table),
    };
    let parent = found.filter(|t| t.def.id != TableId(0)).and_then(|table| {
        let columns = table.column_positions(&key.referenced_columns)?;
        let index = table.index_over(&columns)?;
        Some(ForeignParent { table: table.clone(), columns, index })
    });
    let child_index = child.index_over(&child_columns);
    let mut entry_columns = child_columns.clone();
    let index = child_index.map(|at| &child.def.indexes[at]);
    for part in index.into_iter().chain(child.def.primary()).flat_map(|index| &index.parts) {
        if !entry_columns.contains(&part.column) {
            entry_columns.push(part.column);
        }
    }
    let child = child.clone();
    Some(ForeignLink { child, at, child_columns, entry_columns, child_index, parent })
}

fn rules(table: &TableInfo, context: &PlanContext<'_>) -> SqlResult<RowRules> {
    if table.columns.iter().all(|c| c.generated.is_none()) {
        return Ok(RowRules::default());
    }
    let names = context.names();
    let rules =
        Binder::new(names, context.settings, context.types, 0).row_rules(table, &|_| false)?;
    Ok(RowRules { checks: Vec::new(), ..rules })
}
