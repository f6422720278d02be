//! `IN` and `NOT IN` as joins, with a result that may be NULL.
//!
//! The first key pair is the IN comparison. The other pairs and the residual select the right rows
//! that a left row is compared with.

use std::sync::Arc;

use selkie_plan::physical::{HashJoin as Plan, JoinKey, JoinKind};
use selkie_types::{Batch, Bitmap, Column, SqlResult};

use super::hash_join::shape_of;
use super::hash_table::{KeyKind, KeyTable, NOT_FOUND};
use super::join_match::Matcher;
use super::probe::{BuildTable, Pairs, key_columns};
use super::{BoxOperator, Operator, open as open_node};
use crate::run::Env;

/// Key number of NULL on either side.
const NULL_ID: u32 = u32::MAX - 1;

struct Built {
    /// Right rows by their correlation keys.
    table: BuildTable,
    /// Numbers of the right side's IN keys.
    keys: KeyTable,
    /// IN key number of each right row.
    ids: Vec<u32>,
}

/// The operator.
pub(super) struct NullAware<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    correlation: &'r [JoinKey],
    left: BoxOperator<'r>,
    built: Option<Built>,
    matcher: Matcher<'r>,
}

/// Passes batches on and collects the IN keys of rows without NULL in a correlation key.
struct KeyCollector<'a, 'r> {
    env: Env<'r>,
    plan: &'r Plan,
    input: BoxOperator<'r>,
    keys: &'a mut KeyTable,
    ids: &'a mut Vec<u32>,
}

impl Operator for KeyCollector<'_, '_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let Some(batch) = self.input.next()? else { return Ok(None) };
        let (eval, keys) = (self.env.eval, &self.plan.keys);
        let columns = key_columns(eval, keys.iter().map(|k| &k.right), &batch)?;
        let passes = |row: usize| {
            columns.iter().zip(keys).skip(1).all(|(c, k)| k.null_safe || !c.is_null(row))
        };
        let rows: Vec<u32> = (0..batch.rows() as u32).filter(|&r| passes(r as usize)).collect();
        let key = Arc::new(columns[0].gather(&rows));
        let start = self.ids.len();
        self.keys.assign(std::slice::from_ref(&key), rows.len(), self.ids, &mut Vec::new())?;
        (0..rows.len()).filter(|&r| key.is_null(r)).for_each(|r| self.ids[start + r] = NULL_ID);
        Ok(Some(batch))
    }
}

impl<'r> NullAware<'r> {
    pub(super) fn open(env: Env<'r>, plan: &'r Plan) -> SqlResult<Self> {
        let left = open_node(env, &plan.left)?;
        let matcher = Matcher::new(shape_of(env, plan));
        let correlation = &plan.keys[1..];
        Ok(Self { env, plan, correlation, left, built: None, matcher })
    }

    fn build(&mut self) -> SqlResult<Built> {
        let (env, plan) = (self.env, self.plan);
        let mut keys = KeyTable::new(vec![KeyKind::of_join(&plan.keys[0])]);
        let mut ids = Vec::new();
        let input = open_node(env, &plan.right)?;
        let mut right = KeyCollector { env, plan, input, keys: &mut keys, ids: &mut ids };
        let types = &plan.right.columns;
        let by = self.correlation;
        let table = BuildTable::build(env, &mut right, types, by, |k| &k.right)?;
        Ok(Built { table, keys, ids })
    }

    /// IN key number of each left row, [`NOT_FOUND`] if no right row has it.
    fn left_ids(&self, built: &Built, left: &Batch) -> SqlResult<Vec<u32>> {
        let column = self.plan.keys[0].left.eval(self.env.eval, left)?;
        let mut ids = Vec::with_capacity(left.rows());
        built.keys.find(std::slice::from_ref(&column), left.rows(), &mut ids);
        (0..left.rows()).filter(|&row| column.is_null(row)).for_each(|row| ids[row] = NULL_ID);
        Ok(ids)
    }

    /// For each left row: whether a right row is equal, and whether the comparison with one is
    /// NULL.
    fn truth(&self, built: &Built, left: &Batch) -> SqlResult<(Bitmap, Bitmap)> {
        let ids = self.left_ids(built, left)?;
        if self.correlation.is_empty() && self.plan.residual.is_empty() {
            return Ok(uncorrelated(built, &ids));
        }
        let keys = self.correlation.iter().map(|k| &k.left);
        let columns: Vec<Arc<Column>> = key_columns(self.env.eval, keys, left)?;
        let safe: Vec<bool> = self.correlation.iter().map(|k| k.null_safe).collect();
        let found = built.table.find(&columns, &safe, left.rows());
        let mut pairs = Pairs::new(found, left, &built.table);
        let (mut yes, mut maybe) = (Bitmap::zeros(left.rows()), Bitmap::zeros(left.rows()));
        let (mut probe, mut build) = (Vec::new(), Vec::new());
        while pairs.next(&built.table, &mut probe, &mut build) {
            let left_column = |at: usize| Arc::new(left.column(at).gather(&probe));
            let right = |at: usize| built.table.rows.gather_column(at, &build);
            let keep = self.matcher.keep(self.env.eval, probe.len(), &left_column, &right)?;
            for (at, (&l, &r)) in probe.iter().zip(&build).enumerate() {
                if keep.as_ref().is_some_and(|keep| !keep.get(at)) {
                    continue;
                }
                let (a, b) = (ids[l as usize], built.ids[r as usize]);
                if a == NULL_ID || b == NULL_ID {
                    maybe.set(l as usize, true);
                } else if a == b {
                    yes.set(l as usize, true);
                }
            }
        }
        Ok((yes, maybe))
    }
}

/// The same when every left row is compared with all right rows.
fn uncorrelated(built: &Built, ids: &[u32]) -> (Bitmap, Bitmap) {
    let any = !built.ids.is_empty();
    let any_null = built.ids.contains(&NULL_ID);
    let yes = ids.iter().map(|&id| id != NOT_FOUND && id != NULL_ID).collect();
    let maybe = ids.iter().map(|&id| any_null || (any && id == NULL_ID)).collect();
    (yes, maybe)
}

impl Operator for NullAware<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let built = match self.built.take() {
            Some(built) => built,
            None => self.build()?,
        };
        let mut output = None;
        while output.is_none() {
            self.env.check()?;
            let Some(left) = self.left.next()? else { break };
            let (yes, maybe) = self.truth(&built, &left)?;
            output = match self.plan.kind {
                JoinKind::NullAwareMark => {
                    let rows = 0..left.rows();
                    let marks = rows.clone().map(|row| yes.get(row).into()).collect();
                    let known = rows.map(|row| yes.get(row) || !maybe.get(row)).collect();
                    Some(self.matcher.with_marks(&left, marks, Some(known)))
                }
                _ => {
                    let out: Vec<u32> = (0..left.rows() as u32)
                        .filter(|&row| !yes.get(row as usize) && !maybe.get(row as usize))
                        .collect();
                    self.matcher.left_rows(&left, &out)
                }
            };
        }
        self.built = Some(built);
        Ok(output)
    }
}
