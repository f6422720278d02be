//! Conditions over the encoded rows of a block: a condition on one column with a dictionary is
//! evaluated once for each of its entries, and values are decoded only for rows that are left.
//!
//! Must give what the conditions give row by row. Whoever sees a condition raise a warning or fail
//! here evaluates the block again in the usual way, which has the right order of warnings.

use std::sync::Arc;

use selkie_column::{Codes, Segment};
use selkie_expr::{EvalContext, Expr};
use selkie_types::{Batch, Bitmap, Column, ColumnData, Physical, SqlResult};

use super::columns::Block;
use super::conjunct::{Conjunct, conjuncts};
use crate::run::key_filter::{KeyFilter, kept};

/// A column of which less than this part of the rows is left is decoded for these rows only.
const SPARSE: usize = 4;
/// Rows after which a filter of keys must have proved useful.
const TRIAL: u64 = 16 * 1024;

/// Results of a scan from the blocks before.
#[derive(Default)]
pub(crate) struct Encoded {
    /// The scan's conditions.
    conjuncts: Option<Arc<[Conjunct]>>,
    /// Truth of each of them by entry of a dictionary.
    truths: Vec<Option<Truth>>,
    keys: Vec<KeyTest>,
}

/// Truth of a condition for each entry of a dictionary and, at the end, for NULL. `None`: it cannot
/// be evaluated so.
struct Truth {
    segment: Arc<Segment>,
    of: Option<Vec<bool>>,
}

struct KeyTest {
    /// Position of the key among the scan's columns.
    at: usize,
    filter: Arc<KeyFilter>,
    tested: u64,
    passed: u64,
}

impl KeyTest {
    /// Whether the filter drops enough rows to be worth its time.
    fn is_useful(&self) -> bool {
        self.tested < TRIAL || self.passed * 20 < self.tested * 17
    }
}

impl Encoded {
    /// Adds a filter of the column at a position among the scan's.
    pub(crate) fn add_filter(&mut self, at: usize, filter: KeyFilter) {
        let filter = Arc::new(filter);
        self.keys.push(KeyTest { at, filter, tested: 0, passed: 0 });
    }

    /// One with the same filters and no results, for another thread.
    pub(super) fn afresh(&self) -> Self {
        let test =
            |key: &KeyTest| KeyTest { filter: key.filter.clone(), tested: 0, passed: 0, ..*key };
        let keys = self.keys.iter().map(test).collect();
        Self { conjuncts: self.conjuncts.clone(), truths: Vec::new(), keys }
    }

    /// The rows of an untouched block that pass, with the columns in `given` of those read, `width`
    /// in number. `None`: evaluate in the usual way.
    pub(super) fn batch(
        &mut self,
        eval: &EvalContext<'_>,
        conditions: &[Expr],
        (given, width): (impl Iterator<Item = usize>, usize),
        block: &Block<'_>,
    ) -> SqlResult<Option<Batch>> {
        if conditions.is_empty() && self.excludes(block) {
            return Ok(Some(Batch::new(Vec::new(), 0)));
        }
        let mut reader = Reader::new(block, width);
        let attempt = eval.attempt();
        let Ok(left) = self.rows_left(eval, conditions, &mut reader) else {
            eval.undo(&attempt);
            return Ok(None);
        };
        if left.is_none() {
            return Ok(Some(Batch::new(Vec::new(), 0)));
        }
        let mut columns = Vec::with_capacity(width);
        for column in given {
            columns.push(reader.column(column, &left)?);
        }
        Ok(Some(Batch::new(columns, left.rows().map_or(block.len(), <[u32]>::len))))
    }

    /// Whether no row of a block can pass the filters of keys.
    fn excludes(&self, block: &Block<'_>) -> bool {
        let excludes = |key: &KeyTest| block.zone(key.at).is_some_and(|z| !key.filter.overlaps(z));
        self.keys.iter().any(excludes)
    }

    /// The rows of a block for which all conditions hold and whose keys may have a match; the
    /// reader keeps the columns that were decoded for it. `Err(())`: evaluate in the usual way.
    fn rows_left(
        &mut self,
        eval: &EvalContext<'_>,
        conditions: &[Expr],
        reader: &mut Reader<'_>,
    ) -> Result<Left, ()> {
        let all = self.conjuncts.get_or_insert_with(|| conjuncts(conditions).into()).clone();
        self.truths.resize_with(all.len(), || None);
        let mark = eval.conditions.borrow().mark();
        let mut left = Left::All;
        for (at, conjunct) in all.iter().enumerate() {
            if conjunct.is_implied && !reader.is_quick(&conjunct.columns) {
                continue;
            }
            let passed = self.condition(eval, (at, conjunct), reader, left);
            if eval.conditions.borrow_mut().forget_since(mark) {
                return Err(());
            }
            left = passed.map_err(drop)?;
            if left.is_none() {
                return Ok(left);
            }
        }
        left = left.listed();
        for key in self.keys.iter_mut().filter(|key| key.is_useful()) {
            let column = reader.column(key.at, &left).map_err(drop)?;
            let mut rows = left.into_rows(reader.block.len());
            key.tested += rows.len() as u64;
            key.filter.retain(&column, &mut rows);
            key.passed += rows.len() as u64;
            left = Left::Rows(rows);
        }
        Ok(left)
    }

    /// The rows of `left` for which a condition holds.
    fn condition(
        &mut self,
        eval: &EvalContext<'_>,
        (at, conjunct): (usize, &Conjunct),
        reader: &mut Reader<'_>,
        left: Left,
    ) -> SqlResult<Left> {
        let Conjunct { condition, columns, .. } = conjunct;
        if let [column] = columns[..] {
            if let Some(truth) = self.truth(eval, (at, condition), reader, column)
                && let Some(codes) = reader.codes(column)?
            {
                let (of_values, of_null) = truth.split_at(truth.len() - 1);
                let holds = |row: usize| match &codes.valid {
                    Some(valid) if !valid.get(row) => of_null[0],
                    _ => of_values[codes.of[row] as usize],
                };
                return Ok(match left.listed() {
                    Left::Rows(rows) => Left::Rows(kept(&rows, |_, row| holds(row as usize))),
                    Left::All | Left::Marked(_) => {
                        Left::Marked(Bitmap::from_fn(codes.of.len(), holds))
                    }
                });
            }
            if conjunct.is_instant && reader.suits_whole(column, &left) {
                let batch = reader.batch(columns, &Left::All)?;
                return Ok(left.and(condition.eval_filter(eval, &batch)?));
            }
        }
        let left = left.listed();
        let batch = reader.batch(columns, &left)?;
        let truth = condition.eval_filter(eval, &batch)?;
        Ok(match left {
            Left::Rows(rows) => {
                let passed = truth.positions();
                Left::Rows(passed.into_iter().map(|row| rows[row as usize]).collect())
            }
            Left::All | Left::Marked(_) => Left::All.and(truth),
        })
    }

    /// The truth of a condition by the entries of its column's dictionary.
    fn truth(
        &mut self,
        eval: &EvalContext<'_>,
        (at, condition): (usize, &Expr),
        reader: &Reader<'_>,
        column: usize,
    ) -> Option<&[bool]> {
        let segment = reader.block.segment(column);
        let is_known = |truth: &Truth| Arc::ptr_eq(&truth.segment, segment);
        if !self.truths[at].as_ref().is_some_and(is_known) {
            let of = truth_by_entry(eval, condition, (column, reader.width), segment);
            self.truths[at] = Some(Truth { segment: segment.clone(), of });
        }
        self.truths[at].as_ref()?.of.as_deref()
    }
}

/// Evaluates a condition for each entry of a dictionary and for NULL. An entry may belong to rows
/// that an earlier condition drops, so a condition that raises anything is not evaluated so.
fn truth_by_entry(
    eval: &EvalContext<'_>,
    condition: &Expr,
    (column, width): (usize, usize),
    segment: &Segment,
) -> Option<Vec<bool>> {
    let entries = segment.entries()?;
    let is_pure = condition.is_deterministic()
        && !condition.has_side_effects()
        && !condition.has_subquery()
        && entries.len() * 2 <= segment.rows();
    if !is_pure {
        return None;
    }
    let mut values = Column::from_data(ColumnData::Bytes((**entries).clone()), None);
    values.push_null();
    let rows = values.len();
    let nothing = Arc::new(Column::nulls(Physical::Int, 0, rows));
    let mut columns = vec![nothing; width];
    columns[column] = Arc::new(values);
    let mark = eval.conditions.borrow().mark();
    let truth = condition.eval_filter(eval, &Batch::new(columns, rows));
    let raised = eval.conditions.borrow_mut().forget_since(mark);
    let truth = truth.ok().filter(|_| !raised)?;
    Some((0..rows).map(|entry| truth.get(entry)).collect())
}

/// Rows of a block that are left.
pub(super) enum Left {
    All,
    /// Those whose bits are set.
    Marked(Bitmap),
    /// Their numbers, rising.
    Rows(Vec<u32>),
}

impl Left {
    pub(super) fn is_none(&self) -> bool {
        match self {
            Self::All => false,
            Self::Marked(rows) => rows.words().iter().all(|word| *word == 0),
            Self::Rows(rows) => rows.is_empty(),
        }
    }

    /// The same without [`Self::Marked`].
    fn listed(self) -> Self {
        match self {
            Self::Marked(rows) => match rows.count_ones() == rows.len() {
                true => Self::All,
                false => Self::Rows(rows.positions()),
            },
            listed => listed,
        }
    }

    /// Those of the rows whose bits are set, too.
    fn and(self, set: Bitmap) -> Self {
        match self {
            Self::All => Self::Marked(set),
            Self::Marked(rows) => Self::Marked(rows.and(&set)),
            Self::Rows(rows) => Self::Rows(kept(&rows, |_, row| set.get(row as usize))),
        }
    }

    /// Number of the rows, which are some of `count`.
    fn count(&self, count: usize) -> usize {
        match self {
            Self::All => count,
            Self::Marked(rows) => rows.count_ones(),
            Self::Rows(rows) => rows.len(),
        }
    }

    pub(super) fn rows(&self) -> Option<&[u32]> {
        match self {
            Self::All | Self::Marked(_) => None,
            Self::Rows(rows) => Some(rows),
        }
    }

    fn into_rows(self, count: usize) -> Vec<u32> {
        match self {
            Self::All => (0..count as u32).collect(),
            Self::Marked(rows) => rows.positions(),
            Self::Rows(rows) => rows,
        }
    }
}

/// Decodes the columns of one block that nothing has touched, each at most once as a whole.
pub(super) struct Reader<'b> {
    block: &'b Block<'b>,
    /// Number of the scan's columns.
    width: usize,
    whole: Vec<Option<Arc<Column>>>,
}

impl<'b> Reader<'b> {
    pub(super) fn new(block: &'b Block<'b>, width: usize) -> Self {
        Self { block, width, whole: vec![None; width] }
    }

    /// Whether a condition that follows from others is worth its time: on a column of numbers, or
    /// of entries of a dictionary.
    fn is_quick(&self, columns: &[usize]) -> bool {
        let segment = |at: usize| self.block.segment(at);
        let is_quick = |at: usize| {
            segment(at).entries().is_some() || segment(at).physical() != Physical::Bytes
        };
        columns.iter().all(|at| is_quick(*at))
    }

    /// Whether a column will be decoded as a whole for the rows that are left, or has been.
    fn suits_whole(&self, at: usize, left: &Left) -> bool {
        let count = self.block.len();
        self.whole[at].is_some() || left.count(count) * SPARSE >= count
    }

    /// A column for the rows that are left, which are listed.
    pub(super) fn column(&mut self, at: usize, left: &Left) -> SqlResult<Arc<Column>> {
        let is_sparse = |rows: &&[u32]| rows.len() * SPARSE < self.block.len();
        if let Some(rows) = left.rows().filter(is_sparse)
            && self.whole[at].is_none()
        {
            return Ok(Arc::new(self.block.selected(at, rows)?));
        }
        let whole = match &self.whole[at] {
            Some(whole) => whole.clone(),
            None => {
                let whole = Arc::new(self.block.whole(at)?);
                self.whole[at] = Some(whole.clone());
                whole
            }
        };
        Ok(match left.rows() {
            None => whole,
            Some(rows) => Arc::new(whole.gather(rows)),
        })
    }

    /// The rows that are left, which are listed, with these columns; the others are NULL
    /// placeholders.
    fn batch(&mut self, columns: &[usize], left: &Left) -> SqlResult<Batch> {
        let rows = left.rows().map_or(self.block.len(), <[u32]>::len);
        let nothing = Arc::new(Column::nulls(Physical::Int, 0, rows));
        let mut batch = vec![nothing; self.width];
        for &at in columns {
            batch[at] = self.column(at, left)?;
        }
        Ok(Batch::new(batch, rows))
    }

    fn codes(&self, at: usize) -> SqlResult<Option<Codes>> {
        self.block.codes(at)
    }
}
