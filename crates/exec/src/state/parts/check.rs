//! Maintenance of single leaves: checks of their storage and of their rows' places. Nothing is
//! repaired here: a misplaced row is only told.

use selkie_engine::{EngineError, EngineResult, EngineTrx, RowSet, Scan, StatementContext, Table};
use selkie_types::error::catalogue::ER_ROW_DOES_NOT_MATCH_PARTITION;
use selkie_types::{BATCH_ROWS, ByteRows, SqlError};

use super::PartSet;

type Run<'a> = (&'a dyn EngineTrx, &'a dyn StatementContext);

impl PartSet {
    /// Faults of some leaves.
    pub(crate) fn check_leaves(
        &self,
        run: Run<'_>,
        leaves: impl IntoIterator<Item = usize>,
    ) -> EngineResult<Vec<String>> {
        let mut faults = Vec::new();
        for at in leaves {
            let leaf = self.leaf(at)?;
            faults.extend(leaf.check(run.0, run.1)?);
            if self.first_misplaced(run, &**leaf, at)?.is_some() {
                faults.push("Found a misplaced row".into());
            }
        }
        Ok(faults)
    }

    /// Frees space of some leaves; returns its bytes.
    pub(crate) fn reclaim_leaves(
        &self,
        context: &dyn StatementContext,
        leaves: impl IntoIterator<Item = usize>,
    ) -> EngineResult<u64> {
        let mut freed = 0;
        for at in leaves {
            freed += self.leaf(at)?.reclaim(context)?;
        }
        Ok(freed)
    }

    /// Fails at a row of another table that does not belong to a leaf.
    pub(crate) fn check_fits(
        &self,
        run: Run<'_>,
        table: &dyn Table,
        at: usize,
    ) -> EngineResult<()> {
        match self.first_misplaced(run, table, at)? {
            Some(error) => Err(EngineError::Refused(Box::new(error))),
            None => self.check_table_overlaps(run, table, at),
        }
    }

    /// The error of the first row of a table that does not belong to a leaf.
    fn first_misplaced(
        &self,
        (trx, context): Run<'_>,
        table: &dyn Table,
        at: usize,
    ) -> EngineResult<Option<SqlError>> {
        let mut cursor = table.scan(trx, context, &Scan::default())?;
        let mut set = RowSet::default();
        while cursor.next_batch(&mut set, BATCH_ROWS)? {
            context.check_killed()?;
            if let Some(error) = self.misplaced_in(&set.rows, at)? {
                return Ok(Some(error));
            }
            set.clear();
        }
        Ok(None)
    }

    fn misplaced_in(&self, rows: &ByteRows, at: usize) -> EngineResult<Option<SqlError>> {
        let wrong = |route: Result<usize, SqlError>| match route {
            Ok(leaf) if self.router.may_be_in(leaf, at) => None,
            Ok(_) => Some(SqlError::new(&ER_ROW_DOES_NOT_MATCH_PARTITION, &[])),
            Err(error) => Some(error),
        };
        Ok(self.route(rows)?.into_iter().find_map(wrong))
    }
}
