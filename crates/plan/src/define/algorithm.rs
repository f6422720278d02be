//! `ALGORITHM` and `LOCK` of ALTER TABLE: an error where MariaDB cannot make the change that way.
//! Compat: the checks follow MariaDB's algorithms, whatever this server does with the rows.

use selkie_catalog::{ColumnInfo, TableInfo, TableKind, is_transaction_bound};
use selkie_engine::{IndexDef, Personality};
use selkie_sql::ast::{AlterAlgorithm, AlterLock};
use selkie_types::error::catalogue::{
    ER_ALTER_OPERATION_NOT_SUPPORTED, ER_ALTER_OPERATION_NOT_SUPPORTED_REASON,
};
use selkie_types::{SqlError, SqlResult};

use super::alter::ColumnSource;
use super::instant::{StoredRows, recollates, same_storage};

const TYPE: &str = "Cannot change column type";
const NO_KEY: &str = "Dropping a primary key is not allowed without also adding a new primary key";
const COUNTER: &str = "Adding an auto-increment column requires a lock";
const COPY: &str = "COPY algorithm requires a lock";
const FULLTEXT: &str = "Fulltext index creation requires a lock";
const FOREIGN: &str = "Adding foreign keys needs foreign_key_checks=OFF";

const VERSIONED: &str = "Not implemented for system-versioned operations";

/// The properties of a change that decide its algorithm.
pub(super) struct Work<'a> {
    pub(super) old: &'a TableInfo,
    /// The new engine.
    pub(super) engine: &'static Personality,
    pub(super) columns: &'a [ColumnInfo],
    pub(super) sources: &'a [ColumnSource],
    pub(super) indexes: &'a [IndexDef],
    pub(super) rows: StoredRows,
    /// Indexes are built over existing rows.
    pub(super) adds_index: bool,
    /// The table gets a FULLTEXT index.
    pub(super) adds_text: bool,
    pub(super) drops_index: bool,
    /// The table gets a new CHECK, or ORDER BY for its rows. Compat: a CHECK of a column does not
    /// count.
    pub(super) needs_copy: bool,
    /// The table gets an index without overlaps.
    pub(super) orders_periods: bool,
    /// There are new foreign keys, against which rows are checked.
    pub(super) adds_foreign: bool,
    /// The table is renamed, and nothing else changes.
    pub(super) only_renames: bool,
}

impl Work<'_> {
    /// An error (1845 or 1846) unless the change can be made with the requested algorithm and lock.
    pub(super) fn check(&self, algorithm: AlterAlgorithm, lock: AlterLock) -> SqlResult<()> {
        self.check_algorithm(algorithm)?;
        if lock == AlterLock::None && self.old.kind != TableKind::Temporary {
            self.check_unlocked(algorithm)?;
        }
        Ok(())
    }

    /// Whether MariaDB copies the rows itself. Then it counts them and checks their constraints.
    pub(super) fn copies_rows(&self, algorithm: AlterAlgorithm) -> bool {
        if self.only_renames {
            return false;
        }
        let temporary = self.old.kind == TableKind::Temporary;
        algorithm == AlterAlgorithm::Copy
            || temporary
            || self.needs_copy
            || self.orders_periods
            || self.changes_engine()
            || (!self.is_in_place() && self.copies())
            || self.unkeys()
            || self.retypes()
            || self.computes_stored()
            || self.adds_text_to_versions()
    }

    /// Compat: a table that is versioned gets a FULLTEXT index by a copy of its rows.
    fn adds_text_to_versions(&self) -> bool {
        self.adds_text && self.old.system_time().is_some()
    }

    fn check_algorithm(&self, algorithm: AlterAlgorithm) -> SqlResult<()> {
        use AlterAlgorithm as A;
        let asked = match algorithm {
            A::Default | A::Copy => return Ok(()),
            A::Inplace => "ALGORITHM=INPLACE",
            A::Nocopy => "ALGORITHM=NOCOPY",
            A::Instant => "ALGORITHM=INSTANT",
        };
        let instead = "ALGORITHM=COPY";
        let temporary = self.old.kind == TableKind::Temporary;
        if temporary && algorithm == A::Inplace && !self.only_renames {
            return Err(unsupported(asked, instead));
        }
        if !temporary && !self.is_in_place() {
            return if self.copies() { Err(unsupported(asked, instead)) } else { Ok(()) };
        }
        if self.retypes() {
            return Err(because(asked, TYPE, instead));
        }
        if self.computes_stored() || self.needs_copy {
            return Err(unsupported(asked, instead));
        }
        if self.adds_text_to_versions() {
            return Err(because(asked, VERSIONED, instead));
        }
        if self.orders_periods {
            return Err(because(asked, "ADD INDEX", instead));
        }
        if self.unkeys() {
            return Err(because(asked, NO_KEY, instead));
        }
        if self.rows == StoredRows::Rewritten && algorithm != A::Inplace {
            return Err(unsupported(asked, "ALGORITHM=INPLACE"));
        }
        match algorithm {
            A::Instant if self.adds_index || self.adds_text => {
                Err(because(asked, "ADD INDEX", "ALGORITHM=NOCOPY"))
            }
            A::Instant if self.drops_index => Err(because(asked, "DROP INDEX", "ALGORITHM=NOCOPY")),
            _ => Ok(()),
        }
    }

    /// LOCK=NONE is an error where MariaDB blocks changes of rows while it copies rows or builds an
    /// index.
    fn check_unlocked(&self, algorithm: AlterAlgorithm) -> SqlResult<()> {
        let counter = |(column, source): (&ColumnInfo, &ColumnSource)| {
            column.auto_increment && *source == ColumnSource::Default
        };
        if !self.is_in_place() {
            let copies = self.copies() || algorithm == AlterAlgorithm::Copy;
            return if copies { Err(unsupported("LOCK=NONE", "LOCK=SHARED")) } else { Ok(()) };
        }
        let reason = if algorithm == AlterAlgorithm::Copy {
            COPY
        } else if self.retypes() {
            TYPE
        } else if self.computes_stored() || self.needs_copy {
            return Err(unsupported("LOCK=NONE", "LOCK=SHARED"));
        } else if self.adds_text_to_versions() {
            VERSIONED
        } else if self.unkeys() {
            NO_KEY
        } else if self.columns.iter().zip(self.sources).any(counter) {
            COUNTER
        } else if self.adds_foreign {
            FOREIGN
        } else if self.changes_engine() || self.rows == StoredRows::Rewritten {
            COPY
        } else if self.adds_text {
            FULLTEXT
        } else if self.adds_index && (self.orders_periods || !self.only_adds_indexes()) {
            "ADD INDEX"
        } else {
            return Ok(());
        };
        Err(because("LOCK=NONE", reason, "LOCK=SHARED"))
    }

    /// Whether indexes are built while others change rows.
    fn only_adds_indexes(&self) -> bool {
        self.rows == StoredRows::Fit && !self.drops_index && self.old.partitions.is_none()
    }

    fn retypes(&self) -> bool {
        self.columns.iter().zip(self.sources).any(|(column, source)| match source {
            ColumnSource::Old(at) => {
                let old = &self.old.columns[*at];
                let fits = same_storage(&old.ty, &column.ty) || recollates(self.old, *at, column);
                let is_stored = |c: &ColumnInfo| {
                    c.generated.as_ref().is_some_and(|g| g.stored) && !c.system.is_bound()
                };
                !fits || old.compressed != column.compressed || is_stored(old) != is_stored(column)
            }
            ColumnSource::Default => false,
        })
    }

    /// Whether stored generated columns must be computed: they are new, have a new expression, or
    /// another column changes.
    fn computes_stored(&self) -> bool {
        let pairs = || self.columns.iter().zip(self.sources);
        let changes = |(column, source): (&ColumnInfo, &ColumnSource)| match source {
            ColumnSource::Old(at) => self.old.columns[*at].nullable != column.nullable,
            ColumnSource::Default => false,
        };
        let computed = |(column, source): (&ColumnInfo, &ColumnSource)| match source {
            ColumnSource::Old(at) => self.old.columns[*at].generated != column.generated,
            ColumnSource::Default => true,
        };
        let is_stored = |column: &ColumnInfo| {
            column.generated.as_ref().is_some_and(|g| g.stored) && !is_transaction_bound(column)
        };
        let mut stored = pairs().filter(|(column, _)| is_stored(column));
        stored.any(|pair| computed(pair) || pairs().any(changes))
    }

    fn changes_engine(&self) -> bool {
        !std::ptr::eq(self.old.engine, self.engine)
    }

    /// Whether the engine changes tables without a copy of their rows.
    fn is_in_place(&self) -> bool {
        self.old.engine.statements.in_place
    }

    /// Whether an engine that changes nothing in place would copy the table.
    fn copies(&self) -> bool {
        let same = |(column, source): (&ColumnInfo, &ColumnSource)| match source {
            ColumnSource::Old(at) => self.old.columns[*at].ty == column.ty,
            ColumnSource::Default => false,
        };
        self.rows != StoredRows::Fit
            || self.adds_index
            || self.adds_text
            || self.drops_index
            || !self.columns.iter().zip(self.sources).all(same)
    }

    fn unkeys(&self) -> bool {
        let never_null = |index: &IndexDef| {
            index.is_unique()
                && index
                    .parts
                    .iter()
                    .all(|p| p.prefix.is_none() && !self.columns[p.column].nullable)
        };
        let keyed = |index: &IndexDef| index.kind.is_primary() || never_null(index);
        self.old.def.has_primary() && !self.indexes.iter().any(keyed)
    }
}

fn unsupported(asked: &str, instead: &str) -> SqlError {
    SqlError::new(&ER_ALTER_OPERATION_NOT_SUPPORTED, &[&asked, &instead])
}

fn because(asked: &str, reason: &str, instead: &str) -> SqlError {
    SqlError::new(&ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, &[&asked, &reason, &instead])
}
