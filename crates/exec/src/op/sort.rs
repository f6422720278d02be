//! Sorts all rows. Keeps all rows in memory and sorts their positions by byte keys
//! ([`super::sort_key`]), or first by the heads of the keys ([`super::sort_head`]). Equal keys keep
//! the input order.

use selkie_plan::physical::{Access, Operator as Op, PlanNode, Sort as Plan, SortKey};
use selkie_types::{BATCH_ROWS, Batch, ByteRows, Physical, SqlResult, SqlType};

use super::distinct::Distinct;
use super::examined::unsorted;
use super::sort_head::{Equals, Heads, are_useful};
use super::sort_key::{put_columns, put_keys, sorted};
use super::{BoxOperator, Operator, RowBuffer, open as open_node, sliced};
use crate::run::Env;
use crate::state::session::bump;

/// Sorted rows, given batch by batch.
pub(super) struct SortedRows {
    pub(super) rows: RowBuffer,
    pub(super) order: Vec<u32>,
    pub(super) given: usize,
}

impl SortedRows {
    pub(super) fn next(&mut self) -> Option<Batch> {
        let to = (self.given + self.rows.at_once(BATCH_ROWS)).min(self.order.len());
        if self.given >= to {
            return None;
        }
        let rows = &self.order[self.given..to];
        self.given = to;
        Some(Batch::new(self.rows.gather(rows), rows.len()))
    }
}

/// The operator.
pub(super) struct Sort<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    keys: &'r [SortKey],
    equals: Equals,
    /// Whether the rows are those of a range of an index.
    by_range: bool,
    sorted: Option<SortedRows>,
}

pub(super) fn open<'r>(env: Env<'r>, plan: &'r Plan) -> SqlResult<BoxOperator<'r>> {
    let (input, equals) = match &plan.input.operator {
        Op::Distinct(input) if tells_rows_apart(env, &plan.keys, &plan.input) => {
            let distinct = Distinct::before_sort(env, open_node(env, input)?, &plan.input);
            (Box::new(distinct) as BoxOperator<'r>, Equals::Dropped)
        }
        _ => {
            let keys = plan.keys.iter().map(|key| &key.expr);
            (sliced::for_values(open_node(env, &plan.input)?, keys), Equals::Kept)
        }
    };
    let by_range = reads_range(&plan.input);
    Ok(Box::new(Sort { env, input, keys: &plan.keys, equals, by_range, sorted: None }))
}

/// Whether the rows of a node are those of a range of an index, for a status counter.
pub(super) fn reads_range(node: &PlanNode) -> bool {
    match &node.operator {
        Op::Filter { input, .. } | Op::Project { input, .. } => reads_range(input),
        Op::TableScan(scan) => match &scan.access {
            Access::Index(range) => !range.ranges.is_empty(),
            Access::Union(_) => true,
            Access::Full { .. } | Access::Text(_) => false,
        },
        _ => false,
    }
}

/// Whether two rows have equal keys exactly if the rows are equal.
fn tells_rows_apart(env: Env<'_>, keys: &[SortKey], rows: &PlanNode) -> bool {
    let most = env.rt.session.frame.settings.queries.max_sort_length;
    let is_key = |at: usize| keys.iter().any(|key| key.expr.as_column() == Some(at));
    let mut columns = rows.columns.iter().enumerate();
    keys.iter().all(|key| key.expr.as_column().is_some())
        && columns.all(|(at, column)| is_key(at) && is_exact(&column.ty, most))
}

/// Whether a key holds the whole value and equal values have equal keys; `most` is the longest
/// string key in bytes.
fn is_exact(ty: &SqlType, most: usize) -> bool {
    // A key has two bytes for most characters; the room is for the length of a binary string.
    const ROOM: usize = 4;
    match ty.physical() {
        Physical::Bytes => ty.length as usize * 2 + ROOM <= most,
        // Negative and positive zero are equal but differ in their keys.
        Physical::Double => false,
        _ => true,
    }
}

impl Sort<'_> {
    fn sort(&mut self) -> SqlResult<SortedRows> {
        let most = self.env.rt.session.frame.settings.queries.max_sort_length;
        match are_useful(self.keys, most) {
            true => self.sort_by_heads(),
            false => self.sort_by_keys(),
        }
    }

    fn sort_by_heads(&mut self) -> SqlResult<SortedRows> {
        let keys = self.keys;
        let mut heads = Heads::default();
        let rows = self.collect(|batch| {
            heads.put(keys, batch);
            Ok(())
        })?;
        let places = self.keys.iter().filter_map(|key| key.expr.as_column());
        let places: Vec<usize> = places.collect();
        let order = heads.order(self.equals, |some| {
            let columns = places.iter().map(|&at| rows.gather_column(at, some)).collect();
            let mut keys = ByteRows::default();
            put_columns(self.env, self.keys, columns, some.len(), &mut keys)?;
            Ok(keys)
        })?;
        Ok(SortedRows { rows, order, given: 0 })
    }

    fn sort_by_keys(&mut self) -> SqlResult<SortedRows> {
        let (env, by) = (self.env, self.keys);
        let mut keys = ByteRows::default();
        let rows = self.collect(|batch| {
            put_keys(env, by, batch, &mut keys)?;
            Ok(())
        })?;
        let order = self.equals.left(sorted(&keys)?, &keys);
        Ok(SortedRows { rows, order, given: 0 })
    }

    /// Reads all rows; `put` makes their keys.
    fn collect(&mut self, mut put: impl FnMut(&Batch) -> SqlResult<()>) -> SqlResult<RowBuffer> {
        let mut rows = RowBuffer::default();
        while let Some(batch) = self.input.next()? {
            put(&batch)?;
            rows.append(&batch)?;
            self.env.check()?;
        }
        let counters = self.env.counters();
        bump(&counters.sort_rows, rows.len() as u64);
        if let Some(cell) = self.env.cell {
            cell.read(rows.len());
            cell.kept(rows.memory());
        }
        bump(if self.by_range { &counters.sort_range } else { &counters.sort_scan }, 1);
        Ok(rows)
    }
}

impl Operator for Sort<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let mut sorted = match self.sorted.take() {
            Some(sorted) => sorted,
            None => self.sort().map_err(unsorted)?,
        };
        let batch = sorted.next();
        self.sorted = Some(sorted);
        Ok(batch)
    }
}
