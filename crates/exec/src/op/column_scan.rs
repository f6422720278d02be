//! Reads a whole table by its column groups, where the session allows it and the table has some.
//!
//! Must give what [`super::table_scan`] gives: the same rows in the same order. It counts the rows
//! that were read by groups like rows.

use selkie_engine::{ColumnSpec, EngineResult, GroupShape, LockMode};
use selkie_plan::physical::{Access, TableScan as Plan};
use selkie_types::{Batch, SqlResult};

use super::examined::examine;
use super::{BoxOperator, Operator};
use crate::run::scan::{ColumnParts, Decoder, Piece};
use crate::run::{Env, OpenTable};
use crate::state::error::from_engine;
use crate::state::session::{UseColumns, bump};

/// Opens a scan by columns, unless it has to read rows.
pub(super) fn open<'r>(
    env: Env<'r>,
    open: &'r OpenTable<'r>,
    plan: &'r Plan,
    decoder: Decoder<'r>,
) -> SqlResult<Result<BoxOperator<'r>, Decoder<'r>>> {
    let allowed = env.rt.session.frame.settings.queries.columns;
    if allowed == UseColumns::Off || !is_plain(env, plan) {
        return Ok(Err(decoder));
    }
    let error = |e| from_engine(e, &plan.table.def);
    if !has_groups(env, open, allowed).map_err(error)? {
        return Ok(Err(decoder));
    }
    let spec = ColumnSpec { columns: plan.columns.clone(), fixed_only: decoder.is_fixed_only() };
    let parts = ColumnParts::open(open, env.rt.control, spec).map_err(error)?;
    bump(&env.counters().handler_read_first, 1);
    Ok(Ok(Box::new(ColumnScan { env, plan, decoder, parts, seen: 0 })))
}

/// Whether nothing but the rows in key order is asked for.
fn is_plain(env: Env<'_>, plan: &Plan) -> bool {
    let one_by_one = env.rt.examined.is_limited() || env.rt.row_by_row || plan.row_goal;
    matches!(plan.access, Access::Full { reverse: false })
        && plan.lock.mode == LockMode::None
        && plan.parts.is_none()
        && plan.computed.is_empty()
        && !(plan.row_keys || plan.feeds_update || one_by_one)
}

fn has_groups(env: Env<'_>, open: &OpenTable<'_>, allowed: UseColumns) -> EngineResult<bool> {
    let Some(source) = open.handle.table.columns() else { return Ok(false) };
    if allowed == UseColumns::Force && source.state().groups == 0 {
        source.build_columns(Some(open.trx), env.rt.control, small_groups(open))?;
    }
    Ok(source.state().groups > 0)
}

/// Groups for tests: any table has some, and a large one has many.
fn small_groups(open: &OpenTable<'_>) -> GroupShape {
    let rows = open.handle.table.statistics().rows / 64;
    GroupShape { rows: rows.clamp(64, GroupShape::USUAL.rows.into()) as u32, least: 1 }
}

struct ColumnScan<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    decoder: Decoder<'r>,
    parts: ColumnParts<'r>,
    /// Rows read so far.
    seen: u64,
}

impl Operator for ColumnScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            self.env.check()?;
            let piece = self.parts.next().map_err(|e| from_engine(e, &self.plan.table.def))?;
            let Some(piece) = piece else {
                // Compat: the end of a table counts as a read.
                bump(&self.env.counters().handler_read_rnd_next, 1);
                return Ok(None);
            };
            let rows = match &piece {
                Piece::Block(block) => block.len(),
                Piece::Rows(set) => set.count(),
            };
            let counters = self.env.counters();
            self.env.count_read(rows);
            bump(&counters.handler_read_rnd_next, rows as u64);
            examine(self.env, rows)?;
            self.env.eval.set_row(self.seen + 1);
            self.seen += rows as u64;
            let decoded = match &piece {
                Piece::Block(block) => self.decoder.decode_block(self.env.eval, block)?,
                Piece::Rows(set) => {
                    self.decoder.decode(self.env.eval, set)?.map(|(batch, _)| batch)
                }
            };
            if decoded.is_some() {
                return Ok(decoded);
            }
        }
    }
}
