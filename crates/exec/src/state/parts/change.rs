//! Changes of rows of a table in parts. What is stored when a row fails is the same as for one
//! table: the rows before it.

use std::ops::Range;

use selkie_engine::{EngineError, EngineResult, EngineTrx, InsertInfo, StatementContext};
use selkie_types::{ByteRows, SqlError, Value};

use super::{PREFIX, PartSet, split};

type Run<'a> = (&'a dyn EngineTrx, &'a dyn StatementContext);

impl PartSet {
    /// Inserts rows into their leaves.
    pub(super) fn insert_rows(&self, run: Run<'_>, rows: &ByteRows) -> EngineResult<InsertInfo> {
        let routes = self.route(rows)?;
        let good = routes.iter().position(Result::is_err).unwrap_or(rows.len());
        let leaves: Vec<usize> =
            routes.iter().map_while(|route| route.as_ref().ok().copied()).collect();
        self.insert_routed(run, rows, &leaves)?;
        self.follow(rows, 0..good)?;
        match routes.into_iter().nth(good) {
            Some(Err(error)) => Err(misplaced(good, error)),
            _ => Ok(InsertInfo { rows: good as u64 }),
        }
    }

    /// Inserts the first rows, one for each of `leaves`.
    fn insert_routed(&self, run: Run<'_>, rows: &ByteRows, leaves: &[usize]) -> EngineResult<()> {
        if self.spreads_periods() {
            return self.insert_compared(run, rows, leaves);
        }
        if runs(leaves).count() <= 1 || !self.engine.capabilities().undoes_rows {
            return self.insert_in_order(run, rows, leaves);
        }
        let mark = run.0.savepoint()?;
        match self.insert_by_leaf(run, rows, leaves) {
            // Only in their own order is it known which rows come before the one that fails.
            Err(EngineError::DuplicateKey { .. }) => {
                run.0.rollback_to(mark)?;
                self.insert_in_order(run, rows, leaves)
            }
            other => other,
        }
    }

    /// Inserts rows one by one, each compared with those of other leaves.
    fn insert_compared(&self, run: Run<'_>, rows: &ByteRows, leaves: &[usize]) -> EngineResult<()> {
        for (row, leaf) in leaves.iter().enumerate() {
            let mark = run.0.savepoint()?;
            let inserted = self.leaf(*leaf)?.insert(run.0, run.1, &slice(rows, row..row + 1));
            inserted.map_err(|error| in_leaf(error, *leaf, row))?;
            let compared = self.check_overlaps(run, (rows.get(row), row), *leaf);
            if let Err(error @ EngineError::DuplicateKey { .. }) = compared {
                run.0.rollback_to(mark)?;
                self.follow(rows, 0..row)?;
                return Err(error);
            }
            compared?;
        }
        Ok(())
    }

    fn insert_by_leaf(&self, run: Run<'_>, rows: &ByteRows, leaves: &[usize]) -> EngineResult<()> {
        let mut order: Vec<usize> = (0..leaves.len()).collect();
        order.sort_by_key(|row| leaves[*row]);
        let mut from = 0;
        while from < order.len() {
            let leaf = leaves[order[from]];
            let same = order[from..].iter().take_while(|row| leaves[**row] == leaf).count();
            let mut own = ByteRows::with_capacity(same);
            order[from..from + same].iter().for_each(|row| own.push(rows.get(*row)));
            self.leaf(leaf)?.insert(run.0, run.1, &own)?;
            from += same;
        }
        Ok(())
    }

    fn insert_in_order(&self, run: Run<'_>, rows: &ByteRows, leaves: &[usize]) -> EngineResult<()> {
        for (leaf, part) in runs(leaves) {
            let part_rows = slice(rows, part.clone());
            let inserted = self.leaf(leaf)?.insert(run.0, run.1, &part_rows);
            if let Err(error) = inserted {
                let error = in_leaf(error, leaf, part.start);
                let stored = match &error {
                    EngineError::DuplicateKey { row, .. } => *row,
                    _ => part.start,
                };
                self.follow(rows, 0..stored)?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Makes the counter follow the values of rows that were stored.
    fn follow(&self, rows: &ByteRows, stored: Range<usize>) -> EngineResult<()> {
        let Some(column) = self.def.auto_increment else { return Ok(()) };
        let mut highest = 0;
        for row in stored {
            let value = match self.def.layout.value(rows.get(row), column)? {
                Value::Int(v) => u64::try_from(v).unwrap_or(0),
                Value::UInt(v) => v,
                Value::Double(v) => v as u64,
                _ => 0,
            };
            highest = highest.max(value);
        }
        if highest > 0 {
            self.counter.follow(highest);
        }
        Ok(())
    }

    /// Updates rows; those that belong to another leaf then move.
    pub(super) fn update_rows(
        &self,
        run: Run<'_>,
        at: &ByteRows,
        new: &ByteRows,
        mut before: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        let routes = self.route(new)?;
        let mut changed = 0;
        let mut from = 0;
        while from < at.len() {
            let (old, _) = split(at.get(from))?;
            let target = match &routes[from] {
                Ok(leaf) => *leaf,
                Err(error) => return Err(misplaced(from, error.clone())),
            };
            if target != old {
                let before = before.as_deref_mut();
                changed += self.move_row(run, (at, new), from, (old, target), before)?;
                from += 1;
                continue;
            }
            let mut to = from + 1;
            while to < at.len()
                && !self.spreads_periods()
                && split(at.get(to))?.0 == old
                && matches!(&routes[to], Ok(leaf) if *leaf == old)
            {
                to += 1;
            }
            let (keys, rows) = (own_keys(at, from..to)?, slice(new, from..to));
            let leaf = self.leaf(old)?;
            let mark = if self.spreads_periods() { Some(run.0.savepoint()?) } else { None };
            let updated = leaf
                .update(run.0, run.1, &keys, &rows, before.as_deref_mut())
                .map_err(|error| in_leaf(error, old, from))?;
            if let Some(mark) = mark.filter(|_| updated > 0) {
                self.check_changed(run, (new, from), old, mark)?;
            }
            changed += updated;
            from = to;
        }
        self.follow(new, 0..new.len())?;
        Ok(changed)
    }

    /// Moves a row from one leaf to another.
    fn move_row(
        &self,
        (trx, context): Run<'_>,
        (at, new): (&ByteRows, &ByteRows),
        row: usize,
        (old, target): (usize, usize),
        before: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        let mark = trx.savepoint()?;
        let keys = own_keys(at, row..row + 1)?;
        if !self.engine.capabilities().undoes_rows && !self.spreads_periods() {
            // The row stays where it is if the other leaf refuses it.
            let inserted = self.leaf(target)?.insert(trx, context, &slice(new, row..row + 1));
            inserted.map_err(|error| in_leaf(error, target, row))?;
            return self.leaf(old)?.delete(trx, context, &keys, before);
        }
        if self.leaf(old)?.delete(trx, context, &keys, before)? == 0 {
            return Ok(0);
        }
        let inserted = self.leaf(target)?.insert(trx, context, &slice(new, row..row + 1));
        match inserted {
            Ok(_) if self.spreads_periods() => {
                self.check_changed((trx, context), (new, row), target, mark).map(|()| 1)
            }
            Ok(_) => Ok(1),
            Err(error @ EngineError::DuplicateKey { .. }) => {
                trx.rollback_to(mark)?;
                Err(in_leaf(error, target, row))
            }
            Err(error) => Err(error),
        }
    }

    /// Compares a row that a leaf now has with those of other leaves; undoes what was done since
    /// `mark` if it overlaps one.
    fn check_changed(
        &self,
        run: Run<'_>,
        (new, row): (&ByteRows, usize),
        leaf: usize,
        mark: u64,
    ) -> EngineResult<()> {
        let compared = self.check_overlaps(run, (new.get(row), row), leaf);
        if matches!(compared, Err(EngineError::DuplicateKey { .. })) {
            run.0.rollback_to(mark)?;
        }
        compared
    }

    /// Deletes rows.
    pub(super) fn delete_rows(
        &self,
        run: Run<'_>,
        at: &ByteRows,
        mut before: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        let leaves: EngineResult<Vec<usize>> = at.iter().map(|key| Ok(split(key)?.0)).collect();
        let mut deleted = 0;
        for (leaf, part) in runs(&leaves?) {
            let keys = own_keys(at, part)?;
            deleted += self.leaf(leaf)?.delete(run.0, run.1, &keys, before.as_deref_mut())?;
        }
        Ok(deleted)
    }
}

/// Stretches of equal leaves.
fn runs(leaves: &[usize]) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let leaf = *leaves.get(from)?;
        let same = leaves[from..].iter().take_while(|other| **other == leaf).count();
        from += same;
        Some((leaf, from - same..from))
    })
}

fn slice(rows: &ByteRows, part: Range<usize>) -> ByteRows {
    let mut out = ByteRows::with_capacity(part.len());
    part.for_each(|row| out.push(rows.get(row)));
    out
}

/// The row keys as their leaf knows them.
fn own_keys(at: &ByteRows, part: Range<usize>) -> EngineResult<ByteRows> {
    let mut out = ByteRows::with_capacity(part.len());
    for row in part {
        out.push(split(at.get(row))?.1);
    }
    Ok(out)
}

fn misplaced(row: usize, error: SqlError) -> EngineError {
    EngineError::Misplaced { row, error: Box::new(error) }
}

/// The error of a leaf, whose batch began with row `first`.
pub(super) fn in_leaf(error: EngineError, leaf: usize, first: usize) -> EngineError {
    match error {
        EngineError::DuplicateKey { index, row, existing } => {
            let mut key = Vec::with_capacity(PREFIX + existing.len());
            key.extend_from_slice(&(leaf as u16).to_be_bytes());
            key.extend_from_slice(&existing);
            EngineError::DuplicateKey { index, row: first + row, existing: key.into() }
        }
        other => other,
    }
}
