//! Foreign keys that a statement must check, with tables and columns resolved to positions. A
//! missing parent table is kept too: every row without a parent is then an error.

use std::sync::Arc;

use selkie_catalog::{ForeignKey, TableInfo};
use selkie_engine::TableId;

use super::RowRules;

/// A foreign key between two tables.
#[derive(Clone, Debug)]
pub struct ForeignLink {
    /// The referencing table.
    pub child: Arc<TableInfo>,
    /// Position of the key in `child.foreign_keys`.
    pub at: usize,
    /// Columns of the key in the child.
    pub child_columns: Vec<usize>,
    /// Columns of the child's index and of the clustered key. A change of one of them writes a new
    /// index entry, and then the key is checked again.
    pub entry_columns: Vec<usize>,
    /// The child's index that begins with `child_columns`; without it no child rows are found.
    pub child_index: Option<usize>,
    /// The referenced side; `None` if the table, its columns or an index is missing. Then no row
    /// has a parent.
    pub parent: Option<ForeignParent>,
}

/// The referenced side of a [`ForeignLink`].
#[derive(Clone, Debug)]
pub struct ForeignParent {
    /// The table.
    pub table: Arc<TableInfo>,
    /// The referenced columns.
    pub columns: Vec<usize>,
    /// The index that begins with `columns`.
    pub index: usize,
}

impl ForeignLink {
    /// The definition.
    pub fn key(&self) -> &ForeignKey {
        &self.child.foreign_keys[self.at]
    }

    /// Whether the key refers to its own table.
    pub fn is_own(&self) -> bool {
        self.parent.as_ref().is_some_and(|p| p.table.def.id == self.child.def.id)
    }

    /// The constraint as error messages show it.
    pub fn text(&self) -> String {
        self.key().in_error(self.child.schema(), self.child.name())
    }
}

/// A table whose rows the statement changes, directly or by cascades, with its foreign keys.
#[derive(Clone, Debug)]
pub struct ForeignTable {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Foreign keys of the table, ordered by name.
    pub parents: Vec<ForeignLink>,
    /// Foreign keys of other tables that refer to it, ordered by name.
    pub children: Vec<ForeignLink>,
    /// Generated columns of the table, for rows changed by cascades.
    pub rules: RowRules,
}

/// The foreign keys of all changed tables. Empty if there are none or if `foreign_key_checks` is
/// off.
#[derive(Clone, Debug, Default)]
pub struct ForeignTables {
    /// The tables, each once.
    pub tables: Vec<ForeignTable>,
}

impl ForeignTables {
    /// The foreign keys of a table.
    pub fn of(&self, id: TableId) -> Option<&ForeignTable> {
        self.tables.iter().find(|t| t.table.def.id == id)
    }

    /// Every table read or changed because of foreign keys, and whether it is changed.
    pub fn touched(&self) -> impl Iterator<Item = (&Arc<TableInfo>, bool)> {
        let links = self.tables.iter().flat_map(|t| t.parents.iter().chain(&t.children));
        let read = links.flat_map(|link| {
            link.parent.iter().map(|p| &p.table).chain([&link.child]).map(|t| (t, false))
        });
        self.tables.iter().map(|t| (&t.table, true)).chain(read)
    }
}
