//! Keys without overlaps whose rows may lie in several leaves: each leaf's index sees its own rows
//! only, so a row that is stored is compared with those of the other leaves.
//!
//! A row is stored first and compared then, under locks at every isolation level: of two
//! transactions that store rows which overlap, at least one meets the other's row and waits for it.

use selkie_engine::{
    Bound, EngineError, EngineResult, EngineTrx, IndexCodec, IndexDef, LockMode, PeriodKey, RowSet,
    Scan, StatementContext, Table,
};
use selkie_plan::partition::{Dimension, Router};
use selkie_types::ByteRows;

use super::{PREFIX, PartSet};

type Run<'a> = (&'a dyn EngineTrx, &'a dyn StatementContext);

/// Whether rows of equal keys may lie in several leaves.
pub(super) fn is_spread(router: &Router, index: &IndexDef) -> bool {
    let in_key = |column: &usize| index.own_parts().iter().any(|part| part.column == *column);
    let dimensions = [Dimension::Partitions, Dimension::Subpartitions];
    index.without_overlaps
        && !dimensions.iter().all(|dimension| router.columns_of(*dimension).iter().all(in_key))
}

impl PartSet {
    /// Whether stored rows must be compared with those of other leaves.
    pub(super) fn spreads_periods(&self) -> bool {
        !self.spread.is_empty()
    }

    /// Fails if a row that a leaf stores, number `number` of its batch, overlaps one of another
    /// leaf.
    pub(super) fn check_overlaps(
        &self,
        run: Run<'_>,
        (row, number): (&[u8], usize),
        leaf: usize,
    ) -> EngineResult<()> {
        for index in &self.spread {
            let codec = &self.codecs[*index];
            let mut key = Vec::new();
            let any_null = codec.key_of_row(&self.def.layout, row, &mut key)?;
            let Some(own) = codec.period(&key).filter(|_| !any_null) else { continue };
            for other in (0..self.leaves.len()).filter(|other| *other != leaf) {
                let table = &**self.leaf(other)?;
                if let Some(found) = self.rival_in(run, table, (*index, codec), &own)? {
                    let mut existing = Vec::with_capacity(PREFIX + found.len());
                    existing.extend_from_slice(&(other as u16).to_be_bytes());
                    existing.extend_from_slice(&found);
                    let (index, existing) = (*index, existing.into());
                    return Err(EngineError::DuplicateKey { index, row: number, existing });
                }
            }
        }
        Ok(())
    }

    /// The clustered key of a row of a leaf that overlaps a period.
    fn rival_in(
        &self,
        (trx, context): Run<'_>,
        table: &dyn Table,
        (index, codec): (usize, &IndexCodec),
        own: &PeriodKey<'_>,
    ) -> EngineResult<Option<Box<[u8]>>> {
        let scan = Scan {
            index: Some(index),
            lower: Bound::Included(own.rivals().start.into()),
            upper: Bound::Included(own.head.into()),
            lock: LockMode::Shared,
            want_keys: true,
            ..Scan::default()
        };
        let mut cursor = table.scan(trx, context, &scan)?;
        let (mut set, mut key) = (RowSet::default(), Vec::new());
        // One at a time: rows behind the search stay unlocked.
        while cursor.next_batch(&mut set, 1)? {
            for (row, place) in set.rows.iter().zip(set.keys.iter()) {
                key.clear();
                codec.key_of_row(&self.def.layout, row, &mut key)?;
                let Some(other) = own.sibling(&key) else { continue };
                if other.excludes(own) {
                    return Ok(Some(place.into()));
                }
                if other.ends_search(own.end) {
                    return Ok(None);
                }
            }
            set.clear();
        }
        Ok(None)
    }

    /// Fails at a row of another table that overlaps one of a leaf other than the one it comes to.
    pub(super) fn check_table_overlaps(
        &self,
        run: Run<'_>,
        table: &dyn Table,
        leaf: usize,
    ) -> EngineResult<()> {
        if !self.spreads_periods() {
            return Ok(());
        }
        let mut cursor = table.scan(run.0, run.1, &Scan::default())?;
        let mut set = RowSet::default();
        while cursor.next_batch(&mut set, selkie_types::BATCH_ROWS)? {
            run.1.check_killed()?;
            let rows: &ByteRows = &set.rows;
            rows.iter().try_for_each(|row| self.check_overlaps(run, (row, 0), leaf))?;
            set.clear();
        }
        Ok(())
    }
}
