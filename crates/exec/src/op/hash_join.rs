//! Hash joins: one side is built into a table in memory, the other probes it. This one builds from
//! the right side; [`build_left`](super::build_left) and [`null_aware`](super::null_aware) are the
//! other forms.

use selkie_plan::physical::{HashJoin as Plan, JoinKind};
use selkie_types::{Batch, SqlResult};

use super::hash_table::NOT_FOUND;
use super::join_match::{Matcher, Progress, Shape, Unmatched};
use super::null_aware::NullAware;
use super::probe::{BuildTable, Pairs, forget_filters, key_columns};
use super::{BoxOperator, Operator, open as open_node, sliced};
use crate::run::Env;

pub(super) fn open<'r>(env: Env<'r>, plan: &'r Plan) -> SqlResult<BoxOperator<'r>> {
    if matches!(plan.kind, JoinKind::NullAwareAnti | JoinKind::NullAwareMark) {
        return Ok(Box::new(NullAware::open(env, plan)?));
    }
    if builds_left(env, plan) {
        return Ok(Box::new(super::build_left::BuildLeft::open(env, plan)?));
    }
    Ok(Box::new(HashJoin::open(env, plan)?))
}

/// Whether the table is built from the left side. Unmatched left rows come in their order only if
/// that side probes.
fn builds_left(env: Env<'_>, plan: &Plan) -> bool {
    plan.build_left && (plan.kind != JoinKind::Left || env.buffers_outer_joins())
}

/// The parts of the plan that the matcher needs.
pub(super) fn shape_of<'r>(env: Env<'_>, plan: &'r Plan) -> Shape<'r> {
    Shape {
        kind: plan.kind,
        residual: &plan.residual,
        output: &plan.output,
        left_width: plan.left.columns.len(),
        right_types: plan.right.columns.clone(),
        unmatched: Unmatched::of(env, plan.buffered),
    }
}

/// A left batch whose pairs are being given.
struct Probing {
    left: Batch,
    pairs: Pairs,
    progress: Progress,
}

/// The operator that builds from the right side and probes with the left.
struct HashJoin<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    left: BoxOperator<'r>,
    table: Option<BuildTable>,
    matcher: Matcher<'r>,
    null_safe: Vec<bool>,
    probing: Option<Probing>,
}

impl<'r> HashJoin<'r> {
    fn open(env: Env<'r>, plan: &'r Plan) -> SqlResult<Self> {
        forget_filters(env, &plan.fills);
        Ok(Self {
            env,
            plan,
            left: sliced::for_values(
                open_node(env, &plan.left)?,
                plan.keys.iter().map(|k| &k.left),
            ),
            table: None,
            matcher: Matcher::new(env, shape_of(env, plan)),
            null_safe: plan.keys.iter().map(|k| k.null_safe).collect(),
            probing: None,
        })
    }

    fn build(&mut self) -> SqlResult<BuildTable> {
        let plan = self.plan;
        let right = open_node(self.env, &plan.right)?;
        let mut right = sliced::for_values(right, plan.keys.iter().map(|k| &k.right));
        let types = &plan.right.columns;
        let table = BuildTable::build(self.env.eval, &mut *right, types, &plan.keys, |k| &k.right)?;
        // The filters of the plan are for the other side's keys if it builds from the left.
        if !plan.build_left {
            table.fill(self.env, &plan.fills);
        }
        Ok(table)
    }

    /// Output without making pairs, if the keys alone decide or each left row has one match at
    /// most.
    fn direct(&self, table: &BuildTable, left: &Batch, ids: &[u32]) -> Option<Option<Batch>> {
        if self.matcher.keys_suffice() {
            let matched = ids.iter().map(|&id| id != NOT_FOUND).collect();
            return Some(self.matcher.finish(left, &Progress::of(matched)));
        }
        let simple = self.plan.kind == JoinKind::Left && self.plan.residual.is_empty();
        if simple && table.is_unique() && table.rows.at_once(ids.len()) == ids.len() {
            let left_column = |at: usize| left.column(at).clone();
            let right = |at: usize| table.rows.gather_column(at, ids);
            return Some(Some(self.matcher.joined(ids.len(), None, &left_column, &right)));
        }
        None
    }

    /// Starts with the next left batch; gives output if that needs no pairs.
    fn advance(&mut self, table: &BuildTable) -> SqlResult<Option<Option<Batch>>> {
        self.env.check()?;
        let Some(left) = self.left.next()? else { return Ok(None) };
        let columns = key_columns(self.env.eval, self.plan.keys.iter().map(|k| &k.left), &left)?;
        let ids = table.find(&columns, &self.null_safe, left.rows());
        if let Some(output) = self.direct(table, &left, &ids) {
            return Ok(Some(output));
        }
        let progress = Progress::new(left.rows());
        let pairs = Pairs::new(ids, &left, table);
        self.probing = Some(Probing { left, pairs, progress });
        Ok(Some(None))
    }

    fn pairs(&mut self, table: &BuildTable, mut probing: Probing) -> SqlResult<Option<Batch>> {
        let (mut probe, mut build) = (Vec::new(), Vec::new());
        if !probing.pairs.next(table, &mut probe, &mut build) {
            return Ok(self.matcher.finish(&probing.left, &probing.progress));
        }
        let right = |at: usize| table.rows.gather_column(at, &build);
        let (left, complete) = (&probing.left, probing.pairs.complete());
        let out = self.matcher.pairs(left, &probe, complete, &right, &mut probing.progress)?;
        self.probing = Some(probing);
        Ok(out)
    }

    fn run(&mut self, table: &BuildTable) -> SqlResult<Option<Batch>> {
        let nothing = table.rows.len() == 0;
        if nothing && matches!(self.plan.kind, JoinKind::Inner | JoinKind::Semi) {
            return Ok(None);
        }
        loop {
            let output = match self.probing.take() {
                Some(probing) => self.pairs(table, probing)?,
                None => match self.advance(table)? {
                    None => return Ok(None),
                    Some(output) => output,
                },
            };
            if output.is_some() {
                return Ok(output);
            }
        }
    }
}

impl Operator for HashJoin<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let table = match self.table.take() {
            Some(table) => table,
            None => self.build()?,
        };
        let result = self.run(&table);
        self.table = Some(table);
        result
    }
}
