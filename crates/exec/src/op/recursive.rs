//! The rounds of recursive common tables. A round runs the recursive part over the rows of the
//! round before ([`WorkScan`](super::common::WorkScan)); UNION DISTINCT drops rows seen before. The
//! rounds end when one gives no row, or at `max_recursive_iterations` with a warning.

use std::sync::Arc;

use selkie_expr::store::{Given, StoreMode, StoreTarget, convert_for_column};
use selkie_plan::physical::{ColumnType, RecursivePart, RecursiveUnion};
use selkie_types::error::catalogue::ER_QUERY_RESULT_INCOMPLETE;
use selkie_types::{Batch, Column, ColumnData, Physical, SqlResult, SqlType, TypeKind};

use super::common::drain;
use super::{BoxOperator, DistinctSet, Operator, open};
use crate::run::Env;
use crate::run::stored_rows::StoredRows;

/// One table of the recursion, and its rows seen so far.
struct Part<'r> {
    plan: &'r RecursivePart,
    /// Rows seen, if duplicates are dropped.
    seen: Option<DistinctSet>,
    /// Number of rows so far.
    rows: u64,
}

impl<'r> Part<'r> {
    fn new(plan: &'r RecursivePart) -> Self {
        let seen = plan.key.as_ref().map(|key| {
            let columns = &plan.anchor.columns;
            let types: Vec<ColumnType> = match key.is_empty() {
                true => columns.clone(),
                false => key.iter().map(|at| columns[*at].clone()).collect(),
            };
            DistinctSet::new(&types)
        });
        Self { plan, seen, rows: 0 }
    }

    /// The new rows of a batch.
    fn keep_new(&mut self, env: Env<'_>, batch: Batch) -> SqlResult<Option<Batch>> {
        let batch = self.stored(env, batch)?;
        let kept = match &mut self.seen {
            None => Some(batch),
            Some(seen) => {
                let key = self.plan.key.as_deref().unwrap_or_default();
                let new = match key.is_empty() {
                    true => seen.insert(&batch)?,
                    false => {
                        let columns = key.iter().map(|at| batch.column(*at).clone()).collect();
                        seen.insert(&Batch::new(columns, batch.rows()))?
                    }
                };
                (!new.is_empty()).then(|| batch.gather(&new))
            }
        };
        self.rows += kept.as_ref().map_or(0, |batch| batch.rows() as u64);
        Ok(kept)
    }

    /// Converts rows to the anchor's types. Compat: MariaDB stores rows in a temporary table of
    /// these types.
    fn stored(&self, env: Env<'_>, batch: Batch) -> SqlResult<Batch> {
        let mut columns = None;
        for (at, column) in self.plan.anchor.columns.iter().enumerate() {
            let values = batch.column(at);
            if fits(values, &column.ty) {
                continue;
            }
            let name = self.plan.names.get(at).map_or("", |name| name);
            let target = StoreTarget {
                ty: &column.ty,
                schema: "",
                table: "",
                column: name,
                given: Given::Computed,
            };
            let mode = match env.eval.types.sql_mode.is_strict() {
                true => StoreMode::Strict,
                false => StoreMode::Lenient,
            };
            let from = widest(&column.ty);
            let stored = convert_for_column(values, &from, &target, mode, self.rows + 1, env.eval)?;
            columns.get_or_insert_with(|| batch.columns().to_vec())[at] = stored;
        }
        Ok(match columns {
            Some(columns) => Batch::new(columns, batch.rows()),
            None => batch,
        })
    }
}

/// Whether a column of type `ty` can hold all values; they are of the same family.
fn fits(values: &Column, ty: &SqlType) -> bool {
    match values.data() {
        ColumnData::Bytes(_) if matches!(ty.kind, TypeKind::Char | TypeKind::VarChar) => {
            let charset = ty.collation.charset();
            let is_short = |row: usize| charset.char_count(values.bytes(row)) <= ty.length as usize;
            (0..values.len()).all(|row| values.is_null(row) || is_short(row))
        }
        ColumnData::Int(v) if ty.is_integer() => {
            let bits = 8 * ty.fixed_width().unwrap_or(8) as u32;
            v.iter().all(|v| *v >> (bits - 1) == *v >> 63)
        }
        ColumnData::UInt(v) if ty.is_integer() => {
            let bits = 8 * ty.fixed_width().unwrap_or(8) as u32;
            v.iter().all(|v| v.checked_shr(bits).unwrap_or(0) == 0)
        }
        ColumnData::Decimal(v) => {
            (0..v.len()).all(|row| v.get(row).fits(ty.length.min(65) as u8, ty.decimals))
        }
        _ => true,
    }
}

/// The widest type of the family of `ty`.
fn widest(ty: &SqlType) -> SqlType {
    match ty.physical() {
        Physical::Int => SqlType::bigint(),
        Physical::UInt => SqlType::bigint_unsigned(),
        Physical::Decimal => SqlType::decimal(65, ty.decimals),
        _ => SqlType { length: u32::MAX, ..ty.clone() },
    }
}

/// The operator. A single table's rows are given as they come; mutually recursive tables are
/// computed first.
pub(super) struct Recursive<'r> {
    env: Env<'r>,
    parts: Vec<Part<'r>>,
    current: Option<BoxOperator<'r>>,
    round: u64,
    /// New rows of the current round.
    fresh: Vec<Batch>,
    /// Remaining rows of the first of several tables.
    computed: Option<std::vec::IntoIter<Batch>>,
}

impl<'r> Recursive<'r> {
    pub(super) fn new(env: Env<'r>, plan: &'r RecursiveUnion) -> Self {
        let parts = plan.parts.iter().map(Part::new).collect();
        Self { env, parts, current: None, round: 0, fresh: Vec::new(), computed: None }
    }

    /// Whether another round is allowed; warns if the limit is reached.
    fn may_go_on(&self) -> bool {
        let most = self.env.rt.session.frame.settings.queries.max_recursive_iterations;
        if self.round <= most {
            return true;
        }
        self.env.eval.warn(&ER_QUERY_RESULT_INCOMPLETE, &[&"max_recursive_iterations =", &most]);
        false
    }

    /// Starts the next round over the rows of the last round; false if there are none.
    fn next_round(&mut self) -> SqlResult<bool> {
        let part = self.parts[0].plan;
        if self.round == 0 {
            self.current = Some(open(self.env, &part.anchor)?);
            self.round = 1;
            return Ok(true);
        }
        let Some(step) = &part.step else { return Ok(false) };
        if self.fresh.is_empty() || !self.may_go_on() {
            return Ok(false);
        }
        let rows = Arc::new(StoredRows::of(std::mem::take(&mut self.fresh)));
        self.env.rt.commons.round.borrow_mut()[part.common_table] = Some(rows);
        self.current = Some(open(self.env, step)?);
        self.round += 1;
        Ok(true)
    }

    fn next_single(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            self.env.check()?;
            let Some(op) = &mut self.current else {
                if !self.next_round()? {
                    return Ok(None);
                }
                continue;
            };
            let Some(batch) = op.next()? else {
                self.current = None;
                continue;
            };
            if let Some(batch) = self.parts[0].keep_new(self.env, batch)? {
                self.fresh.push(batch.clone());
                return Ok(Some(batch));
            }
        }
    }

    /// Computes all tables. Returns the rows of the first and stores the rows of the others for
    /// their readers.
    fn compute(&mut self) -> SqlResult<Vec<Batch>> {
        let mut all: Vec<Vec<Batch>> = vec![Vec::new(); self.parts.len()];
        loop {
            let mut any = false;
            let mut fresh = Vec::with_capacity(self.parts.len());
            for (part, all) in self.parts.iter_mut().zip(&mut all) {
                let plan =
                    if self.round == 0 { Some(&part.plan.anchor) } else { part.plan.step.as_ref() };
                let mut new = Vec::new();
                if let Some(plan) = plan {
                    for batch in drain(&mut *open(self.env, plan)?)? {
                        new.extend(part.keep_new(self.env, batch)?);
                    }
                }
                any |= !new.is_empty();
                all.extend(new.iter().cloned());
                fresh.push(new);
            }
            self.round += 1;
            self.env.check()?;
            if !any || !self.may_go_on() {
                break;
            }
            for (part, rows) in self.parts.iter().zip(fresh) {
                self.env.rt.commons.round.borrow_mut()[part.plan.common_table] =
                    Some(Arc::new(StoredRows::of(rows)));
            }
        }
        let mut all = all.into_iter();
        let first = all.next().unwrap_or_default();
        for (part, rows) in self.parts.iter().skip(1).zip(all) {
            self.env.rt.commons.rows.borrow_mut()[part.plan.common_table] =
                Some(Arc::new(StoredRows::of(rows)));
        }
        Ok(first)
    }
}

impl Operator for Recursive<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        if self.parts.len() == 1 {
            return self.next_single();
        }
        let mut computed = match self.computed.take() {
            Some(computed) => computed,
            None => self.compute()?.into_iter(),
        };
        let next = computed.next();
        self.computed = Some(computed);
        Ok(next)
    }
}
