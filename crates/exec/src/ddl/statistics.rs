//! Engine-independent statistics after changes of definitions: rows follow renamed tables, columns
//! and indexes, and go with dropped ones.
//!
//! Must not fail a statement: the definition has been changed, and statistics are only hints.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, TableInfo};
use selkie_engine::{IndexDef, IndexPart, Personality};
use selkie_types::SqlResult;

use super::Ddl;
use crate::query::now_micros;
use crate::state::kept_statistics;
use crate::state::persistent::{ColumnRow, IndexRow, Rows, StatTables};

/// Rows of a table after a change of its definition.
pub(super) struct Followed {
    from: (String, String),
    to: (String, String),
    rows: Rows,
}

fn name_of(table: &TableInfo) -> (String, String) {
    (table.schema().to_owned(), table.name().to_owned())
}

impl Ddl<'_> {
    /// The rows of `old` as they fit `new`, whose `persistent` is set to them. Nothing if there
    /// are none.
    pub(super) fn follow_statistics(
        &self,
        old: &TableInfo,
        new: &mut TableInfo,
        renamed: &[(String, String)],
    ) -> Option<Followed> {
        new.persistent = None;
        if name_of(old) != name_of(new) {
            let now = now_micros(self.session);
            kept_statistics::follow(self.instance, self.control, (old, new), now);
        }
        old.persistent.as_ref()?;
        let read = || -> SqlResult<Rows> {
            let tables = StatTables::open(self.instance, self.control)?;
            tables.rows(self.instance, (old.schema(), old.name()))
        };
        let rows = read().inspect_err(|e| tracing::warn!("statistics are not kept: {e}")).ok()?;
        let rows = fitting(rows, old, new, renamed);
        new.persistent = rows.statistics(new).map(Arc::new);
        Some(Followed { from: name_of(old), to: name_of(new), rows })
    }

    /// Stores the rows of changed tables.
    pub(super) fn store_statistics(&self, followed: impl IntoIterator<Item = Followed>) {
        for one in followed {
            let to = ((&*one.to.0, &*one.to.1), &one.rows);
            self.replace_statistics((&one.from.0, &one.from.1), Some(to));
        }
    }

    /// Removes the rows of dropped tables.
    pub(super) fn forget_statistics<'t>(
        &self,
        dropped: impl IntoIterator<Item = &'t Arc<TableInfo>>,
    ) {
        for table in dropped {
            kept_statistics::forget(self.instance, self.control, table);
            self.instance.uses().forget(table.schema(), table.name());
            if table.persistent.is_some() {
                self.replace_statistics((table.schema(), table.name()), None);
            }
        }
    }

    fn replace_statistics(&self, from: (&str, &str), to: Option<((&str, &str), &Rows)>) {
        let done = StatTables::open(self.instance, self.control)
            .and_then(|tables| tables.replace(self.instance, from, to));
        if let Err(error) = done {
            tracing::warn!("statistics of {}.{} are not kept: {error}", from.0, from.1);
        }
    }
}

/// The rows that still hold. Compat: those of a column go if its type changes, and with them all of
/// each index over it, also those of the columns before it. If only the primary key behind an index
/// has the column, those of the index without it stay.
fn fitting(mut rows: Rows, old: &TableInfo, new: &TableInfo, renamed: &[(String, String)]) -> Rows {
    let new_name = |name: &str| {
        let changed = renamed.iter().find(|(from, _)| from.eq_ignore_ascii_case(name));
        changed.map_or_else(|| name.to_owned(), |(_, to)| to.clone())
    };
    let fits = |name: &str| {
        let now = new_name(name);
        let before = old.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name));
        let after = new.columns.iter().find(|c| c.name.eq_ignore_ascii_case(&now));
        matches!((before, after), (Some(a), Some(b)) if holds_alike(old.engine, a, b))
    };
    rows.columns.retain_mut(|row: &mut ColumnRow| {
        let kept = fits(&row.name);
        row.name = new_name(&row.name);
        kept
    });
    rows.indexes.retain_mut(|row: &mut IndexRow| {
        let of_name = |index: &&IndexDef| index.name.eq_ignore_ascii_case(&row.name);
        let Some(before) = old.def.indexes.iter().find(of_name) else { return false };
        let Some(after) = new.def.indexes.iter().find(|index| index.id == before.id) else {
            return false;
        };
        let parts = |table: &TableInfo, index: &IndexDef| -> Vec<String> {
            let parts = index.parts.iter().chain(table.def.parts_behind(index));
            let names = parts.map(|part| table.columns[part.column].name.to_string());
            names.take(row.arity as usize).collect()
        };
        let (earlier, later) = (parts(old, before), parts(new, after));
        let fit = |part: &IndexPart| fits(&old.columns[part.column].name);
        let goes_on = row.arity > before.parts.len() as u64;
        let are_fit =
            before.parts.iter().all(fit) && (!goes_on || old.def.parts_behind(before).all(fit));
        let same = earlier.len() as u64 == row.arity
            && earlier.iter().map(|name| new_name(name)).eq(later)
            && are_fit;
        row.name = after.name.to_string();
        same
    });
    rows
}

/// Whether values of one column are as those of another: a text may get longer. Compat: not in an
/// engine that changes nothing in place.
fn holds_alike(engine: &Personality, a: &ColumnInfo, b: &ColumnInfo) -> bool {
    let may_grow = engine.statements.in_place && a.ty.kind == selkie_types::TypeKind::VarChar;
    let longer = may_grow && a.ty.length <= b.ty.length;
    let length = if longer { b.ty.length } else { a.ty.length };
    selkie_types::SqlType { length, ..a.ty.clone() } == b.ty
}
