//! A hash join that builds from the left side and streams the right one, for a left side that is
//! the cheaper one to keep. Pairs come in the order of the right rows; left rows of semi, anti and
//! left joins come when the right side has ended.

use std::sync::Arc;

use selkie_plan::physical::{HashJoin as Plan, JoinKind};
use selkie_types::{BATCH_ROWS, Batch, Bitmap, SqlResult};

use super::hash_join::{build_side, shape_of};
use super::join_match::{Matcher, Shape};
use super::key_sorter::{SortedRows, without_last};
use super::lane_join::{self, LaneJoin, Laned, Step};
use super::overflow::{InOrder, Parts, number_at, numbers};
use super::probe::{Build, BuildTable, Pairs, forget_filters, key_columns, key_columns_again};
use super::prober::joined_pairs;
use super::spread::{PartRows, Spread, numbered, put_numbered};
use super::{BoxOperator, Operator, Rows, open as open_node, sliced};
use crate::run::Env;
use crate::run::scan::Fold;
use crate::run::stored_rows::{Replay, Storing};
use crate::state::session::bump;

/// Left rows, and which of them have a match.
struct Built {
    table: Arc<BuildTable>,
    matched: Bitmap,
}

/// The operator.
pub(super) struct BuildLeft<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    built: Option<Built>,
    right: BoxOperator<'r>,
    right_batch: Option<(Batch, Pairs)>,
    matcher: Matcher<'r>,
    null_safe: Vec<bool>,
    /// Left row to give next, once the right side has ended.
    rest: Option<usize>,
    /// Left rows with NULL in a key; outer and anti joins give them at the end.
    unmatchable: Option<Replay>,
    /// Whether the rows of both sides have numbers behind them, which come behind the output.
    numbered: bool,
    /// The output but for unmatchable rows, if the table did not fit into memory.
    spread: Option<SortedRows<'r>>,
    lanes: Laned,
}

/// Passes batches on, and keeps the rows that the table leaves out because of NULL in a key.
struct NullKeeper<'a, 'r> {
    env: Env<'r>,
    plan: &'r Plan,
    input: BoxOperator<'r>,
    kept: &'a mut Storing<'r>,
}

impl Operator for NullKeeper<'_, '_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let Some(batch) = self.input.next()? else { return Ok(None) };
        let columns = key_columns(self.env.eval, self.plan.keys.iter().map(|k| &k.left), &batch)?;
        let is_left_out = |row: &u32| {
            let keys = columns.iter().zip(&self.plan.keys);
            keys.into_iter().any(|(c, k)| !k.null_safe && c.is_null(*row as usize))
        };
        let rows: Vec<u32> = (0..batch.rows() as u32).filter(is_left_out).collect();
        if !rows.is_empty() {
            self.kept.push(batch.gather(&rows))?;
        }
        Ok(Some(batch))
    }
}

impl<'r> BuildLeft<'r> {
    pub(super) fn open(env: Env<'r>, plan: &'r Plan) -> SqlResult<Self> {
        forget_filters(env, &plan.fills);
        let right_keys = plan.keys.iter().map(|k| &k.right);
        Ok(Self {
            env,
            plan,
            built: None,
            right: sliced::for_values(open_node(env, &plan.right)?, right_keys),
            right_batch: None,
            matcher: Matcher::new(shape_of(env, plan)),
            null_safe: plan.keys.iter().map(|k| k.null_safe).collect(),
            rest: None,
            unmatchable: None,
            numbered: false,
            spread: None,
            lanes: Laned::default(),
        })
    }

    /// A join of rows with numbers, of which none has NULL in a key.
    fn of_part(env: Env<'r>, plan: &'r Plan, table: BuildTable, right: BoxOperator<'r>) -> Self {
        let matched = Bitmap::zeros(table.rows.len());
        Self {
            env,
            plan,
            built: Some(Built { table: Arc::new(table), matched }),
            right,
            right_batch: None,
            matcher: Matcher::new(Shape { numbered: true, ..shape_of(env, plan) }),
            null_safe: plan.keys.iter().map(|k| k.null_safe).collect(),
            rest: None,
            unmatchable: None,
            numbered: true,
            spread: None,
            lanes: Laned::default(),
        }
    }

    /// Reads the left side. If it does not fit into memory, makes the whole output but for the
    /// unmatchable rows.
    fn build(&mut self) -> SqlResult<()> {
        let (env, plan) = (self.env, self.plan);
        let mut unmatchable = Storing::new(env.rt);
        let keys = plan.keys.iter().map(|k| &k.left);
        let input = sliced::for_values(open_node(env, &plan.left)?, keys);
        let mut left = NullKeeper { env, plan, input, kept: &mut unmatchable };
        let types = &plan.left.columns;
        let built = build_side(env, plan, &mut left, types, |k| &k.left, 0)?;
        self.unmatchable = Some(Replay::new(Arc::new(unmatchable.end()?)));
        match built {
            Build::Kept(table) => {
                table.fill(env, &plan.fills);
                let matched = Bitmap::zeros(table.rows.len());
                self.built = Some(Built { table: Arc::from(table), matched });
            }
            Build::Spread(left) => {
                bump(&env.counters().created_tmp_disk_tables, 1);
                let right = Spread::begin(env, &plan.keys, |k| &k.right, 0)?;
                let right = right.read(&mut *self.right)?;
                let mut all = InOrder::new(env);
                join_parts(env, plan, left, right, &mut all)?;
                self.spread = Some(all.finish()?);
            }
        }
        Ok(())
    }

    /// Starts with a right batch.
    fn begin(&mut self, built: &Built, batch: Batch) -> SqlResult<()> {
        let keys = self.plan.keys.iter().map(|k| &k.right);
        let columns = match self.numbered {
            true => key_columns_again(self.env.eval, keys, &batch)?,
            false => key_columns(self.env.eval, keys, &batch)?,
        };
        let ids = built.table.find(&columns, &self.null_safe, batch.rows());
        let pairs = Pairs::new(ids, &batch, &built.table);
        self.right_batch = Some((batch, pairs));
        Ok(())
    }

    /// Marks left rows matched by the next pairs, and gives the pairs if the join kind does.
    fn pairs(&mut self, built: &mut Built) -> SqlResult<Option<Batch>> {
        let Some((right, pairs)) = &mut self.right_batch else { return Ok(None) };
        let (mut probe, mut build) = (Vec::new(), Vec::new());
        if !pairs.next(&built.table, &mut probe, &mut build) {
            self.right_batch = None;
            return Ok(None);
        }
        if build.is_empty() {
            return Ok(None);
        }
        if self.matcher.keys_suffice() {
            build.iter().for_each(|&row| built.matched.set(row as usize, true));
            return Ok(None);
        }
        let (eval, wanted) = (self.env.eval, self.plan.kind.keeps_right());
        let (probe, pairs) = ((&*right, &probe[..]), (&build[..], wanted));
        let (keep, mut output) = joined_pairs(eval, &self.matcher, &built.table, probe, pairs)?;
        if self.numbered {
            // Pairs come in the order of the right rows.
            let numbers = right.column(self.plan.right.columns.len()).gather(probe.1);
            let numbers = match &keep {
                Some(keep) => Arc::new(numbers.filter(keep)),
                None => Arc::new(numbers),
            };
            output = output.map(|batch| {
                let numbers = Batch::new(vec![numbers], batch.rows());
                without_last(batch).zip(&numbers)
            });
        }
        let keep = keep.unwrap_or_else(|| Bitmap::ones(build.len()));
        keep.iter_ones().for_each(|pair| built.matched.set(build[pair] as usize, true));
        Ok(output)
    }

    /// Left rows given at the end: rows with a match for semi joins, rows without one for others.
    fn rest(&mut self, built: &Built) -> Option<Batch> {
        if self.plan.kind == JoinKind::Inner {
            return None;
        }
        let at = self.rest.get_or_insert(0);
        let wanted = self.plan.kind == JoinKind::Semi;
        while *at < built.table.rows.len() {
            let count = built.table.rows.at_once(BATCH_ROWS);
            let to = (*at + count).min(built.table.rows.len());
            let rows: Vec<u32> = (*at as u32..to as u32)
                .filter(|&r| built.matched.get(r as usize) == wanted)
                .collect();
            *at = to;
            let left = Batch::new(built.table.rows.gather(&rows), rows.len());
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            if let Some(batch) = self.matcher.left_rows(&left, &all) {
                return Some(if self.numbered { behind_pairs(batch) } else { batch });
            }
        }
        None
    }

    /// Left rows with NULL in a key, at the very end.
    fn next_unmatchable(&mut self) -> SqlResult<Option<Batch>> {
        if matches!(self.plan.kind, JoinKind::Inner | JoinKind::Semi) {
            return Ok(None);
        }
        let Some(rows) = &mut self.unmatchable else { return Ok(None) };
        let Some(left) = rows.next()? else { return Ok(None) };
        let all: Vec<u32> = (0..left.rows() as u32).collect();
        Ok(self.matcher.left_rows(&left, &all))
    }

    fn run(&mut self, built: &mut Built) -> SqlResult<Option<Rows>> {
        while self.rest.is_none() {
            if self.right_batch.is_none() {
                self.env.check()?;
                match self.lanes.next(&mut *self.right)? {
                    None => {
                        self.lanes.add_matched(&mut built.matched);
                        break;
                    }
                    Some(Step::Probe(batch)) => self.begin(built, batch)?,
                    Some(Step::Output(rows)) => return Ok(Some(rows)),
                }
            }
            if let Some(output) = self.pairs(built)? {
                return Ok(Some(Rows::Given(output)));
            }
        }
        Ok(self.rest(built).map(Rows::Given))
    }

    /// Whether lanes may probe with the rows of the right side.
    fn uses_lanes(&self) -> bool {
        self.right.takes_folds() && lane_join::may_probe(self.plan, true)
    }

    /// The next output for an operator that may fold it.
    fn next_rows(&mut self, then: Option<&Arc<dyn Fold>>) -> SqlResult<Option<Rows>> {
        if self.built.is_none() && self.spread.is_none() {
            self.build()?;
            if let Some(built) = self.built.as_ref().filter(|_| self.uses_lanes()) {
                let (shape, table) = (shape_of(self.env, self.plan), built.table.clone());
                let then = then.filter(|_| self.takes_folds()).cloned();
                self.lanes.begin(LaneJoin::of_right(self.plan, shape, table, then));
            }
        }
        let output = match (&mut self.spread, self.built.take()) {
            (Some(rows), _) => rows.next()?.map(Rows::Given),
            (None, Some(mut built)) => {
                let output = self.run(&mut built);
                self.built = Some(built);
                output?
            }
            (None, None) => None,
        };
        match output {
            Some(output) => Ok(Some(output)),
            None => Ok(self.next_unmatchable()?.map(Rows::Given)),
        }
    }
}

/// Numbers of rows that come behind all pairs.
const BEHIND: u64 = 1 << 63;

/// The rows with numbers that bring them behind all pairs.
fn behind_pairs(batch: Batch) -> Batch {
    let own = batch.columns().last().cloned();
    let number = |row| own.as_ref().map_or(0, |numbers| number_at(numbers, row)) | BEHIND;
    let numbers = Batch::new(vec![numbers((0..batch.rows()).map(number))], batch.rows());
    without_last(batch).zip(&numbers)
}

/// Joins each left part with its right part.
fn join_parts<'r>(
    env: Env<'r>,
    plan: &'r Plan,
    left: Parts,
    right: Parts,
    all: &mut InOrder<'r>,
) -> SqlResult<()> {
    let (level, types) = (left.level, numbered(&plan.left.columns));
    for (left, right) in left.parts.into_iter().zip(right.parts) {
        if left.is_empty() {
            continue;
        }
        let mut left = PartRows::new(left);
        let mut right = PartRows::new(right);
        match build_side(env, plan, &mut left, &types, |k| &k.left, level)? {
            Build::Kept(table) => {
                let mut join = BuildLeft::of_part(env, plan, *table, Box::new(right));
                while let Some(batch) = join.next()? {
                    put_numbered(batch, all)?;
                }
            }
            Build::Spread(left) => {
                let spread = Spread::begin(env, &plan.keys, |k| &k.right, level)?;
                join_parts(env, plan, left, spread.read(&mut right)?, all)?;
            }
        }
    }
    Ok(())
}

impl Operator for BuildLeft<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        Rows::given(self.next_rows(None)?)
    }

    fn takes_folds(&self) -> bool {
        // Rows that are given at the end are folded by no lane.
        self.uses_lanes() && !lane_join::marks(self.plan.kind)
    }

    fn next_for(&mut self, fold: &Arc<dyn Fold>) -> SqlResult<Option<Rows>> {
        self.next_rows(Some(fold))
    }
}
