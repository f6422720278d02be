//! Foreign keys of rows that change: children have parents, and what happens to children.
//!
//! # Words
//! *Parent*: the row referred to; *child*: a row that refers. *Level*: how many cascades led here.
//!
//! # Invariants
//! - FK-1 Checks read the newest version of rows under a lock kept to the end of the transaction,
//!   never the snapshot: a parent found cannot go, a child not found cannot come.
//! - FK-2 Keys are kept row by row in the order rows change, as InnoDB does: a row may refer to
//!   rows changed before it by its statement, not to later ones. Rows are taken together only
//!   where that makes no difference.
//! - FK-3 A failure leaves changes half done; the caller undoes its statement or row.

mod cascade;
mod change;
mod link;

use std::sync::Arc;

use selkie_engine::TableId;
use selkie_plan::physical::{ForeignLink, ForeignTable};
use selkie_types::error::catalogue::{
    ER_GET_ERRMSG, ER_NO_REFERENCED_ROW_2, ER_ROW_IS_REFERENCED_2,
};
use selkie_types::{Column, SqlError, SqlResult};

use crate::run::{Env, OpenTable};

pub(super) use change::Rows;

/// Cascades one inside the other. Compat: MariaDB's limit of 15 counts the statement's own change.
const MOST_LEVELS: usize = 14;

/// The foreign keys around one table whose rows change.
#[derive(Clone, Copy)]
pub(super) struct ForeignKeys<'r> {
    env: Env<'r>,
    keys: &'r ForeignTable,
    open: &'r OpenTable<'r>,
}

/// Origin of a change.
#[derive(Clone, Default)]
struct Chain {
    level: usize,
    /// Tables whose rows are being updated.
    updated: Vec<TableId>,
}

impl<'r> ForeignKeys<'r> {
    /// The foreign keys of table `id`; `None` if the statement need not look at any.
    pub(super) fn of(env: Env<'r>, id: TableId) -> SqlResult<Option<Self>> {
        match env.rt.plan.foreign.of(id) {
            None => Ok(None),
            Some(keys) => {
                let open = env.rt.table(&keys.table)?;
                Ok(Some(Self { env, keys, open }))
            }
        }
    }

    /// Whether rows that go or change may be referred to.
    pub(super) fn has_children(&self) -> bool {
        !self.keys.children.is_empty()
    }

    /// Whether what becomes of a row may take the parents of the next: they are in the same table,
    /// or cascades reach them.
    pub(super) fn may_lose_parents(&self) -> bool {
        self.has_children() || self.keys.parents.iter().any(ForeignLink::is_own)
    }

    /// The first key of each row that has no parent: row and key, in the order of rows. `rows` are
    /// about to be inserted in this order; one may refer to itself or to those before it.
    pub(super) fn orphans(
        &self,
        columns: &[Arc<Column>],
        rows: std::ops::Range<usize>,
    ) -> SqlResult<Vec<(usize, &'r ForeignLink)>> {
        let mut out: Vec<(usize, &ForeignLink)> = Vec::new();
        for link in &self.keys.parents {
            let mut missing = self.without_parent(link, columns, rows.clone())?;
            missing.retain(|row| !self.is_history(columns, *row));
            if link.is_own() && !missing.is_empty() {
                self.drop_own_parents(link, columns, &rows, &mut missing);
            }
            out.extend(missing.into_iter().map(|row| (row, link)));
        }
        out.sort_by_key(|(row, _)| *row);
        out.dedup_by_key(|(row, _)| *row);
        Ok(out)
    }

    /// Whether a row is one of history: it refers to nothing, and nothing refers to it.
    fn is_history(&self, columns: &[Arc<Column>], row: usize) -> bool {
        let current = self.keys.table.def.current.as_ref();
        current.is_some_and(|(column, end)| columns[*column].value(row) != *end)
    }

    /// 1452 for a row without parent.
    pub(super) fn orphan_error(link: &ForeignLink) -> SqlError {
        SqlError::new(&ER_NO_REFERENCED_ROW_2, &[&link.text()])
    }
}

/// Whether a row failed for the sake of a foreign key, which IGNORE forgives.
pub(super) fn is_foreign(error: &SqlError) -> bool {
    [ER_NO_REFERENCED_ROW_2.code, ER_ROW_IS_REFERENCED_2.code].contains(&error.code())
}

/// Whether DELETE IGNORE leaves a row that failed: for the sake of a foreign key, or because its
/// cascades are too deep. Compat: UPDATE IGNORE and REPLACE fail for the latter.
pub(super) fn may_stay(error: &SqlError) -> bool {
    is_foreign(error) || error.is(&ER_GET_ERRMSG)
}
