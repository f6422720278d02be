//! Sorts all rows by byte keys ([`super::key_sorter`]), or first by the heads of the keys
//! ([`super::sort_head`]) if all rows fit into memory. Equal keys keep the input order.

use selkie_expr::{Expr, ExprKind, SubqueryId};
use selkie_plan::physical::{Access, Operator as Op, PlanNode, Sort as Plan, SortKey};
use selkie_types::{Batch, ByteRows, Physical, SqlResult, SqlType};

use super::distinct::Distinct;
use super::examined::unsorted;
use super::key_sorter::{KeySorter, SortedRows};
use super::sort_head::{Equals, Heads, are_useful};
use super::sort_key::{put_columns, put_keys};
use super::{BoxOperator, Operator, RowBuffer, open as open_node, sliced};
use crate::run::Env;
use crate::run::spill::is_full;
use crate::state::session::bump;

/// The operator.
pub(super) struct Sort<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    keys: &'r [SortKey],
    equals: Equals,
    /// Whether the rows are those of a range of an index.
    by_range: bool,
    /// See [`keeps_values`].
    keeps: bool,
    sorted: Option<SortedRows<'r>>,
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
    let keeps = keeps_values(env, &plan.keys);
    Ok(Box::new(Sort { env, input, keys: &plan.keys, equals, by_range, keeps, sorted: None }))
}

/// Whether rows are sorted by values of expensive subqueries that differ from row to row. Compat:
/// MariaDB keeps the rows with these values in a table; here the sort keeps them, and they count as
/// if read from one.
pub(super) fn keeps_values(env: Env<'_>, keys: &[SortKey]) -> bool {
    let is_kept = |e: &Expr| {
        matches!(&e.kind, ExprKind::Subquery(s)
            if !(s.args.is_empty() && s.operands.is_empty()) && is_expensive(env, s.id))
    };
    keys.iter().any(|key| key.expr.any(&mut |e| is_kept(e)))
}

/// Whether a subquery is expected to read more rows than `expensive_subquery_limit`.
fn is_expensive(env: Env<'_>, id: SubqueryId) -> bool {
    let Some(plan) = env.rt.plan.subplans.get(id.0 as usize) else { return false };
    let mut rows = 0.0;
    plan.root.visit(&mut |node| {
        if let Op::TableScan(scan) = &node.operator {
            rows += scan.examined;
        }
    });
    rows > env.rt.session.frame.settings.queries.expensive_subquery_rows as f64
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

impl<'r> Sort<'r> {
    fn sort(&mut self) -> SqlResult<SortedRows<'r>> {
        let most = self.env.rt.session.frame.settings.queries.max_sort_length;
        let sorted = match are_useful(self.keys, most) {
            true => self.sort_by_heads()?,
            false => self.sort_by_keys(self.sorter())?,
        };
        let counters = self.env.counters();
        bump(if self.by_range { &counters.sort_range } else { &counters.sort_scan }, 1);
        Ok(sorted)
    }

    fn sorter(&self) -> KeySorter<'r> {
        KeySorter::new(self.env, self.equals)
    }

    /// Sorts by heads as long as all rows fit into memory.
    fn sort_by_heads(&mut self) -> SqlResult<SortedRows<'r>> {
        let ceiling = self.env.rt.session.frame.settings.queries.ceilings.sort;
        let (mut heads, mut rows) = (Heads::default(), RowBuffer::default());
        while let Some(batch) = self.input.next()? {
            heads.put(self.keys, &batch);
            rows.append(&batch)?;
            self.env.check()?;
            if is_full(self.env.rt, rows.memory() + heads.memory(), ceiling) {
                drop(heads);
                let (env, by, mut sorter) = (self.env, self.keys, self.sorter());
                rows.each(|batch| sorter.put(batch, |batch, keys| put_keys(env, by, batch, keys)))?;
                drop(rows);
                return self.sort_by_keys(sorter);
            }
        }
        self.tell(rows.len(), rows.memory());
        let places = self.keys.iter().filter_map(|key| key.expr.as_column());
        let places: Vec<usize> = places.collect();
        let order = heads.order(self.equals, |some| {
            let columns = places.iter().map(|&at| rows.gather_column(at, some)).collect();
            let mut keys = ByteRows::default();
            put_columns(self.env, self.keys, columns, some.len(), &mut keys)?;
            Ok(keys)
        })?;
        Ok(SortedRows::kept(rows, order))
    }

    /// Sorts the rows of the input and those that the sorter has.
    fn sort_by_keys(&mut self, mut sorter: KeySorter<'r>) -> SqlResult<SortedRows<'r>> {
        let (env, by) = (self.env, self.keys);
        while let Some(batch) = self.input.next()? {
            sorter.put(&batch, |batch, keys| put_keys(env, by, batch, keys))?;
        }
        self.tell(sorter.len(), sorter.most());
        Ok(SortedRows::of(sorter.finish()?))
    }

    fn tell(&self, rows: usize, memory: usize) {
        let counters = self.env.counters();
        bump(&counters.sort_rows, rows as u64);
        if self.keeps {
            bump(&counters.rows_tmp_read, rows as u64);
        }
        if let Some(cell) = self.env.cell {
            cell.read(rows);
            cell.kept(memory);
        }
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
        batch
    }
}
