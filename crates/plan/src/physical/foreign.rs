//! Foreign keys a statement has to keep, with their tables and columns resolved.

use std::sync::Arc;

use selkie_catalog::{ForeignKey, TableInfo};
use selkie_engine::TableId;

use super::RowRules;

/// A foreign key between two tables.
#[derive(Clone, Debug)]
pub struct ForeignLink {
    /// The referencing table.
    pub child: Arc<TableInfo>,
    /// The key among `child.foreign_keys`.
    pub at: usize,
    /// Its columns in the child.
    pub child_columns: Vec<usize>,
    /// The columns whose change writes the child's index entry anew, which is when the key is
    /// checked again: those of the index and of the clustered key.
    pub entry_columns: Vec<usize>,
    /// The child's index that begins with them; without one nothing is found there.
    pub child_index: Option<usize>,
    /// The referenced table; without one, or without its columns or index, no row has a parent.
    pub parent: Option<ForeignParent>,
}

/// The referenced side of a [`ForeignLink`].
#[derive(Clone, Debug)]
pub struct ForeignParent {
    /// The table.
    pub table: Arc<TableInfo>,
    /// The referenced columns.
    pub columns: Vec<usize>,
    /// The index that begins with them.
    pub index: usize,
}

impl ForeignLink {
    /// The definition.
    pub fn key(&self) -> &ForeignKey {
        &self.child.foreign_keys[self.at]
    }

    /// Whether the table refers to itself.
    pub fn is_own(&self) -> bool {
        self.parent.as_ref().is_some_and(|p| p.table.def.id == self.child.def.id)
    }

    /// The constraint as errors show it.
    pub fn text(&self) -> String {
        self.key().in_error(self.child.schema(), self.child.name())
    }
}

/// A table whose rows the statement changes, directly or by cascades, and its foreign keys.
#[derive(Clone, Debug)]
pub struct ForeignTable {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Its keys to parents, in the order of their names.
    pub parents: Vec<ForeignLink>,
    /// Keys of children to it, in the order of their names.
    pub children: Vec<ForeignLink>,
    /// Its generated columns, for rows changed by cascades.
    pub rules: RowRules,
}

/// The foreign keys around all tables a statement changes. Empty if none has any, or if
/// `foreign_key_checks` is off.
#[derive(Clone, Debug, Default)]
pub struct ForeignTables {
    /// Each table once.
    pub tables: Vec<ForeignTable>,
}

impl ForeignTables {
    /// The foreign keys of a table.
    pub fn of(&self, id: TableId) -> Option<&ForeignTable> {
        self.tables.iter().find(|t| t.table.def.id == id)
    }

    /// Every table that is read or changed for the sake of foreign keys, and whether it is changed.
    pub fn touched(&self) -> impl Iterator<Item = (&Arc<TableInfo>, bool)> {
        let links = self.tables.iter().flat_map(|t| t.parents.iter().chain(&t.children));
        let read = links.flat_map(|link| {
            link.parent.iter().map(|p| &p.table).chain([&link.child]).map(|t| (t, false))
        });
        self.tables.iter().map(|t| (&t.table, true)).chain(read)
    }
}
