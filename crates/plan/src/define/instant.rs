//! Effect of column changes on stored rows: whether rows may stay in storage, and if so whether
//! they must be read under an earlier list of columns.

use selkie_catalog::{ColumnInfo, DefaultValue, PartitionMethod, TableInfo};
use selkie_engine::{IndexDef, IndexPart};
use selkie_types::charset::identifier_eq;
use selkie_types::{SqlType, TypeKind};

use super::alter::ColumnSource;

/// Fate of stored rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredRows {
    /// They fit the new columns.
    Fit,
    /// They belong to an earlier version of the columns.
    Earlier,
    /// They must be rewritten.
    Rewritten,
}

/// Fate of the rows of `old` under new columns and indexes.
pub(super) fn stored_rows(
    old: &TableInfo,
    columns: &[ColumnInfo],
    sources: &[ColumnSource],
    indexes: &[IndexDef],
) -> StoredRows {
    let pairs = || columns.iter().zip(sources).enumerate();
    if !same_primary(old, sources, indexes.first())
        || !pairs().all(|(at, (column, source))| may_stay(old, column, *source, at, indexes))
    {
        return StoredRows::Rewritten;
    }
    let same = columns.len() == old.columns.len()
        && pairs().all(|(at, (column, source))| {
            let before = old.columns.get(at);
            let kept = |c: &ColumnInfo| {
                c.nullable == column.nullable && c.ty.collation == column.ty.collation
            };
            *source == ColumnSource::Old(at) && before.is_some_and(kept)
        });
    if same { StoredRows::Fit } else { StoredRows::Earlier }
}

/// Whether rows may stay as far as the column at `at` is concerned.
fn may_stay(
    old: &TableInfo,
    column: &ColumnInfo,
    source: ColumnSource,
    at: usize,
    indexes: &[IndexDef],
) -> bool {
    let uses = |indexes: &[IndexDef], at: usize| {
        indexes.iter().any(|index| index.parts.iter().any(|part| part.column == at))
    };
    let is_virtual = column.generated.as_ref().is_some_and(|g| !g.stored);
    let ColumnSource::Old(was) = source else {
        let kept = column.generated.is_some() && (!is_virtual || uses(indexes, at));
        let computed = kept || matches!(column.default, DefaultValue::Expression(_));
        return !computed && !column.auto_increment;
    };
    // Rows hold the values of a virtual column only if an index has the column.
    if is_virtual && uses(indexes, at) && old.is_computed(was) {
        return false;
    }
    let before = &old.columns[was];
    // Key encodings of nullable and NOT NULL columns differ.
    let nullable = column.nullable == before.nullable
        || (column.nullable && !uses(indexes, at) && !uses(&old.def.indexes, was));
    nullable
        && column.auto_increment == before.auto_increment
        && column.compressed == before.compressed
        && (same_storage(&before.ty, &column.ty)
            || recollates(old, was, column) && !uses(indexes, at))
}

/// Whether a column changes its collation and nothing else, and nothing stored depends on that.
pub(super) fn recollates(old: &TableInfo, was: usize, column: &ColumnInfo) -> bool {
    let before = &old.columns[was];
    let (from, to) = (before.ty.collation, column.ty.collation);
    let stores = |column: &ColumnInfo| column.generated.as_ref().is_some_and(|g| g.stored);
    let indexed = |part: &IndexPart| part.column == was;
    let divides = |method: &PartitionMethod| {
        method.columns.iter().any(|name| identifier_eq(name, &before.name))
    };
    let is_text = before.ty.is_string() && !before.ty.is_binary_string();
    is_text
        && !column.ty.is_binary_string()
        && from.charset() == to.charset()
        && text_fits(&before.ty, &column.ty)
        && !old.columns.iter().any(stores)
        && !old.def.indexes.iter().any(|index| index.parts.iter().any(indexed))
        && !old.fulltext.iter().any(|index| index.def.parts.iter().any(indexed))
        && !old.partitions.as_ref().is_some_and(|partitions| {
            divides(&partitions.method) || partitions.sub.as_ref().is_some_and(divides)
        })
}

fn text_fits(old: &SqlType, new: &SqlType) -> bool {
    match old.kind {
        _ if old.kind != new.kind => false,
        TypeKind::VarChar => new.length >= old.length,
        TypeKind::Enum | TypeKind::Set => false,
        _ => new.length == old.length,
    }
}

/// Whether every value of type `old` has the same stored form under type `new`.
pub(super) fn same_storage(old: &SqlType, new: &SqlType) -> bool {
    if old == new {
        return true;
    }
    if old.kind != new.kind || old.collation != new.collation || old.unsigned != new.unsigned {
        return false;
    }
    match old.kind {
        // The length of an integer type is a display width.
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt => true,
        TypeKind::VarChar => new.length >= old.length,
        TypeKind::Enum | TypeKind::Set => {
            let (old_members, new_members) = (old.members.as_deref(), new.members.as_deref());
            let begins = new_members.unwrap_or(&[]).starts_with(old_members.unwrap_or(&[]));
            begins && old.fixed_width() == new.fixed_width()
        }
        _ => false,
    }
}

/// Whether the primary keys of stored rows stay the same.
pub(super) fn same_primary(
    old: &TableInfo,
    sources: &[ColumnSource],
    first: Option<&IndexDef>,
) -> bool {
    let is_primary = |index: &&IndexDef| index.kind.is_primary();
    let before = old.def.indexes.first().filter(is_primary);
    let (before, after) = match (before, first.filter(is_primary)) {
        (Some(before), Some(after)) => (before, after),
        (before, after) => return before.is_none() && after.is_none(),
    };
    before.kind == after.kind
        && before.parts.len() == after.parts.len()
        && before.parts.iter().zip(&after.parts).all(|(old, new)| {
            sources.get(new.column) == Some(&ColumnSource::Old(old.column))
                && old.prefix == new.prefix
                && old.descending == new.descending
        })
}
