//! ORDER BY with LIMIT: keeps only the best rows in memory and drops the others. Rows with equal
//! keys must come in input order, as from a sort.

use selkie_plan::physical::TopN as Plan;
use selkie_types::{Batch, ByteRows, SqlResult};

use super::examined::unsorted;
use super::key_sorter::{KeySorter, SortedRows};
use super::limit::row_count;
use super::sort::{keeps_values, reads_range};
use super::sort_head::Equals;
use super::sort_key::{put_keys, sorted};
use super::{BoxOperator, Operator, RowBuffer, open as open_node, sliced, source};
use crate::run::Env;
use crate::run::spill::is_full;
use crate::state::session::bump;

/// Rows collected beyond the wanted ones before the worst are dropped.
const SLACK: usize = 4096;

pub(super) fn open<'r>(env: Env<'r>, plan: &'r Plan) -> SqlResult<BoxOperator<'r>> {
    let limit = row_count(env, Some(&plan.limit))?.unwrap_or(u64::MAX);
    let offset = row_count(env, plan.offset.as_ref())?.unwrap_or(0);
    if limit == 0 && !plan.counted {
        return Ok(Box::new(source::Empty));
    }
    let wanted = usize::try_from(limit.saturating_add(offset)).unwrap_or(usize::MAX);
    let skip = usize::try_from(offset).unwrap_or(usize::MAX);
    let keys = plan.keys.iter().map(|key| &key.expr);
    let input = sliced::for_values(open_node(env, &plan.input)?, keys);
    Ok(Box::new(Top { env, plan, input, wanted, skip, sorted: None }))
}

struct Top<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    input: BoxOperator<'r>,
    wanted: usize,
    skip: usize,
    sorted: Option<SortedRows<'r>>,
}

/// The best rows so far.
#[derive(Default)]
struct Best {
    rows: RowBuffer,
    keys: ByteRows,
    /// Key of the worst wanted row; a row that is not less cannot be wanted.
    limit: Option<Box<[u8]>>,
}

impl Best {
    fn add(&mut self, batch: &Batch, keys: &ByteRows) -> SqlResult<()> {
        let Some(limit) = &self.limit else {
            self.keys.append(keys);
            return self.rows.append(batch);
        };
        let better: Vec<u32> =
            (0..batch.rows() as u32).filter(|&row| keys.get(row as usize) < &**limit).collect();
        if better.is_empty() {
            return Ok(());
        }
        better.iter().for_each(|&row| self.keys.push(keys.get(row as usize)));
        self.rows.append(&batch.gather(&better))
    }

    fn cut(&mut self, wanted: usize) -> SqlResult<()> {
        let mut order = sorted(&self.keys)?;
        order.truncate(wanted);
        let mut keys = ByteRows::with_capacity(order.len());
        order.iter().for_each(|&row| keys.push(self.keys.get(row as usize)));
        self.limit = order.last().map(|&row| self.keys.get(row as usize).into());
        let kept = Batch::new(self.rows.gather(&order), order.len());
        self.rows = RowBuffer::default();
        self.keys = keys;
        self.rows.append(&kept)
    }
}

impl<'r> Top<'r> {
    fn sort(&mut self) -> SqlResult<SortedRows<'r>> {
        let ceiling = self.env.rt.session.frame.settings.queries.ceilings.sort;
        let mut best = Best::default();
        let mut keys = ByteRows::default();
        let mut seen = 0;
        while let Some(batch) = self.input.next()? {
            seen += batch.rows() as u64;
            keys.clear();
            put_keys(self.env, &self.plan.keys, &batch, &mut keys)?;
            best.add(&batch, &keys)?;
            if best.keys.len() > self.wanted.saturating_mul(2).saturating_add(SLACK) {
                best.cut(self.wanted)?;
            }
            self.env.check()?;
            if is_full(self.env.rt, best.rows.memory() + best.keys.memory(), ceiling) {
                return self.sort_in_runs(best, seen);
            }
        }
        let rows = best.keys.len().min(self.wanted);
        self.tell(seen, rows, best.rows.memory());
        bump(&self.env.counters().sort_priority_queue_sorts, 1);
        let mut order = sorted(&best.keys)?;
        order.truncate(self.wanted);
        Ok(SortedRows::kept(best.rows, order).part(self.skip, usize::MAX))
    }

    /// Sorts the best rows so far, which do not fit into memory, and the rest of the input.
    fn sort_in_runs(&mut self, best: Best, mut seen: u64) -> SqlResult<SortedRows<'r>> {
        let (env, by) = (self.env, &self.plan.keys);
        let mut sorter = KeySorter::new(env, Equals::Kept);
        sorter.begin(&best.rows, &best.keys)?;
        drop(best);
        while let Some(batch) = self.input.next()? {
            seen += batch.rows() as u64;
            sorter.put(&batch, |batch, keys| put_keys(env, by, batch, keys))?;
        }
        self.tell(seen, sorter.len(), sorter.most());
        let sorted = SortedRows::of(sorter.finish()?);
        Ok(sorted.part(self.skip, self.wanted.saturating_sub(self.skip)))
    }

    fn tell(&self, seen: u64, sorted: usize, memory: usize) {
        if self.plan.counted {
            self.env.rt.found.set(seen);
        }
        let counters = self.env.counters();
        bump(&counters.sort_rows, sorted as u64);
        if keeps_values(self.env, &self.plan.keys) {
            bump(&counters.rows_tmp_read, seen);
        }
        let by_range = reads_range(&self.plan.input);
        bump(if by_range { &counters.sort_range } else { &counters.sort_scan }, 1);
        if let Some(cell) = self.env.cell {
            cell.read(seen as usize);
            cell.kept(memory);
        }
    }
}

impl Operator for Top<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let mut sorted = match self.sorted.take() {
            Some(sorted) => sorted,
            None => self.sort().map_err(unsorted)?,
        };
        let batch = sorted.next();
        self.sorted = Some(sorted);
        batch
    }
}
