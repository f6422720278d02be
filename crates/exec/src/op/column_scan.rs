//! Reads a whole table by its column groups, where the session allows it and the table has some.
//!
//! Must give what [`super::table_scan`] gives: the same rows in the same order. It counts the rows
//! that were read by groups like rows.

use std::sync::Arc;

use selkie_engine::{ColumnSpec, EngineResult, GroupShape, IndexKind, LockMode};
use selkie_plan::physical::{Access, TableScan as Plan};
use selkie_types::{Batch, SqlResult};

use super::examined::examine;
use super::table_scan::key_read;
use super::{BoxOperator, Operator, Rows};
use crate::run::scan::{
    Ahead, BlockRows, ColumnParts, Decoder, Encoded, Fold, LaneRows, Piece, Read,
};
use crate::run::{Env, OpenTable};
use crate::state::column_keeper::COLUMNS_FROM;
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
    let index = read_by_key(plan);
    let error = |e| from_engine(e, &plan.table.def);
    if !may_have_groups(env, open, allowed).map_err(error)? {
        return Ok(Err(decoder));
    }
    let spec = ColumnSpec { columns: plan.columns.clone(), fixed_only: decoder.is_fixed_only() };
    let parts = ColumnParts::open(open, env.rt.control, spec).map_err(error)?;
    // Compat: a scan of the table itself is no read of an index.
    bump(&env.counters().handler_read_first, index.is_some().into());
    let lanes = match allowed == UseColumns::Force || open.handle.table.rows() >= LANES_FROM {
        true => env.rt.session.frame.settings.queries.lanes,
        false => 1,
    };
    Ok(Ok(Box::new(ColumnScan {
        env,
        plan,
        decoder,
        parts,
        lanes,
        encoded: None,
        ahead: None,
        seen: Seen {
            open,
            index,
            key_read: key_read(plan),
            rows: 0,
            is_free: !env.rt.plan.changes_rows() && !open.trx.has_changes(),
        },
        by_rows: 0,
    })))
}

/// Bytes that a statement must still be allowed, so that lanes read ahead for it: what they have
/// read counts as its memory, and the rows of long texts are many bytes.
const ROOM_FOR_LANES: i64 = 128 << 20;

/// Rows after which a scan tells that it reads much, each time.
const MANY: u64 = 1 << 16;

/// Rows of a table from which on lanes help to read it.
const LANES_FROM: u64 = 100_000;

/// Whether nothing but the rows in key order is asked for.
fn is_plain(env: Env<'_>, plan: &Plan) -> bool {
    let one_by_one = env.rt.examined.is_limited() || env.rt.row_by_row() || plan.reader.stops;
    let is_whole = match &plan.access {
        Access::Full { reverse } => !reverse,
        Access::Index(_) => read_by_key(plan).is_some(),
        Access::Union(_) | Access::Text(_) => false,
    };
    is_whole
        && plan.lock.mode == LockMode::None
        && plan.parts.is_none()
        && plan.computed.is_empty()
        && !(plan.row_keys || plan.reader.updates || one_by_one)
}

/// The clustered index, if the plan reads the whole of it for the order of its keys.
fn read_by_key(plan: &Plan) -> Option<usize> {
    let Access::Index(access) = &plan.access else { return None };
    let is_whole = plan.table.def.indexes[access.index].kind == IndexKind::Primary
        && access.ranges.is_empty()
        && access.ends().is_none()
        && !access.reverse;
    is_whole.then_some(access.index)
}

/// Whether the table has groups, or should have some: then the scan tells what it reads as rows.
fn may_have_groups(env: Env<'_>, open: &OpenTable<'_>, allowed: UseColumns) -> EngineResult<bool> {
    let Some(source) = open.handle.table.columns() else { return Ok(false) };
    if allowed == UseColumns::Force && source.state().groups == 0 {
        source.build_columns(Some(open.trx), env.rt.control, small_groups(open))?;
    }
    Ok(source.state().groups > 0 || open.handle.table.rows() >= COLUMNS_FROM)
}

/// Groups for tests: any table has some, and a large one has many.
fn small_groups(open: &OpenTable<'_>) -> GroupShape {
    let rows = open.handle.table.statistics().rows / 64;
    GroupShape { rows: rows.clamp(64, GroupShape::USUAL.rows.into()) as u32, least: 1 }
}

/// A step of the scan.
enum Step {
    Rows(Rows),
    /// No row passed.
    Nothing,
    End,
}

impl From<Option<Batch>> for Step {
    fn from(batch: Option<Batch>) -> Self {
        batch.map_or(Step::Nothing, |batch| Step::Rows(Rows::Given(batch)))
    }
}

/// Rows that were read.
struct Seen<'r> {
    open: &'r OpenTable<'r>,
    /// The clustered index, if the table is read for the order of its keys.
    index: Option<usize>,
    /// The index whose use the scan counts as.
    key_read: Option<usize>,
    rows: u64,
    /// Whether the statement changes nothing, and no change of its transaction makes others wait.
    is_free: bool,
}

struct ColumnScan<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    decoder: Decoder<'r>,
    parts: ColumnParts<'r>,
    /// Threads that may read.
    lanes: usize,
    /// `None` before the first row: joins above have filled their filters when it is asked for.
    encoded: Option<Encoded>,
    /// The blocks that lanes read, if they do.
    ahead: Option<Ahead<'r>>,
    seen: Seen<'r>,
    /// Those of them that were not in groups.
    by_rows: u64,
}

/// The filters that the joins above have filled.
fn filters(env: Env<'_>, plan: &Plan) -> Encoded {
    let mut encoded = Encoded::default();
    for filter in &plan.filters {
        if let Some(keys) = env.rt.filter(filter.slot) {
            encoded.add_filter(filter.column, keys);
        }
    }
    encoded
}

impl Seen<'_> {
    /// Counts rows that are read next.
    fn add(&mut self, env: Env<'_>, rows: usize) -> SqlResult<()> {
        let counters = env.counters();
        env.count_read(self.open, self.index.or(self.key_read), rows);
        let counter = match self.index.is_some() {
            true => &counters.handler_read_next,
            false => &counters.handler_read_rnd_next,
        };
        bump(counter, rows as u64);
        examine(env, rows)?;
        env.eval.set_row(self.rows + 1);
        let before = self.rows;
        self.rows += rows as u64;
        if before / MANY != self.rows / MANY && self.is_free {
            selkie_engine::reading_much();
        }
        Ok(())
    }
}

impl<'r> ColumnScan<'r> {
    /// Prepares what needs the filters of the joins above.
    fn begin(&mut self, fold: Option<&Arc<dyn Fold>>) {
        if self.encoded.is_some() {
            return;
        }
        let (env, encoded) = (self.env, filters(self.env, self.plan));
        let pool = &env.rt.instance.upkeep.lanes;
        let has_room = selkie_meter::left() > ROOM_FOR_LANES;
        if self.lanes > 1 && pool.threads() > 0 && has_room {
            let scan = self.decoder.for_lanes(env.eval, &encoded);
            let scan = scan.map(|scan| scan.folded_by(fold.cloned()).with_rows(self.lane_rows()));
            self.ahead = scan.map(|scan| Ahead::new(pool, self.lanes, scan));
        }
        self.encoded = Some(encoded);
    }

    /// The rows of the parts that lanes must read without groups, if there are such parts.
    fn lane_rows(&self) -> Option<LaneRows> {
        if !self.parts.has_rows_for_lanes() {
            return None;
        }
        let Plan { table, columns, filter_columns, .. } = self.plan;
        // Without it, this thread reads them, and finds what is wrong.
        let parts = self.parts.part_rows().ok()?;
        Some(LaneRows::new(parts, table, columns, filter_columns))
    }

    /// The rows of the next block or stretch that lanes may read, if that is what comes next.
    fn next_ahead(&mut self) -> SqlResult<Option<Step>> {
        let Some(ahead) = &mut self.ahead else { return Ok(None) };
        if !ahead.is_within() {
            ahead.fill(&mut self.parts).map_err(|e| from_engine(e, &self.plan.table.def))?;
        }
        let (at, rows) = match ahead.next(|| self.env.check())? {
            None => return Ok(None),
            Some(Read::Folded { number, read, rows, by_rows }) => {
                self.by_rows += if by_rows { read as u64 } else { 0 };
                self.seen.add(self.env, read)?;
                return Ok(Some(Step::Rows(Rows::Folded { number, rows })));
            }
            Some(Read::Rows(read, passed)) => {
                self.by_rows += read as u64;
                self.seen.add(self.env, read)?;
                return Ok(Some(passed.into()));
            }
            Some(Read::Again(part)) => {
                let begun = self.parts.read_again(part);
                begun.map_err(|e| from_engine(e, &self.plan.table.def))?;
                return Ok(Some(Step::Nothing));
            }
            Some(Read::Block(at, rows)) => (at, rows),
        };
        let Some(encoded) = &mut self.encoded else { return Ok(None) };
        let (env, decoder, seen) = (self.env, &self.decoder, &mut self.seen);
        let given = ahead.with_block(at, |block| {
            seen.add(env, block.len())?;
            match rows {
                BlockRows::None => Ok(None),
                BlockRows::Some(batch) => Ok(Some(batch)),
                BlockRows::Again => decoder.decode_block(env.eval, block, encoded),
            }
        });
        Ok(Some(given.transpose()?.flatten().into()))
    }

    /// The rows of a part that a lane has failed to read; `None` after the last ones.
    fn next_again(&mut self) -> SqlResult<Option<Step>> {
        let piece = self.parts.next_again().map_err(|e| from_engine(e, &self.plan.table.def))?;
        let Some(Piece::Rows(set)) = piece else { return Ok(None) };
        self.by_rows += set.count() as u64;
        self.seen.add(self.env, set.count())?;
        Ok(Some(self.decoder.decode(self.env.eval, set)?.map(|(batch, _)| batch).into()))
    }

    /// The rows of the next piece that this thread reads.
    fn next_piece(&mut self) -> SqlResult<Step> {
        let piece = self.parts.next().map_err(|e| from_engine(e, &self.plan.table.def))?;
        let Some(piece) = piece else {
            self.note_rows();
            // Compat: the end of a table counts as a read.
            bump(&self.env.counters().handler_read_rnd_next, self.seen.index.is_none().into());
            return Ok(Step::End);
        };
        let rows = match &piece {
            Piece::Block(block) => block.len(),
            Piece::Rows(set) => {
                self.by_rows += set.count() as u64;
                set.count()
            }
        };
        self.seen.add(self.env, rows)?;
        let decoded = match &piece {
            Piece::Block(block) => {
                let encoded = self.encoded.get_or_insert_with(|| filters(self.env, self.plan));
                self.decoder.decode_block(self.env.eval, block, encoded)?
            }
            Piece::Rows(set) => self.decoder.decode(self.env.eval, set)?.map(|(batch, _)| batch),
        };
        Ok(decoded.into())
    }

    fn next_rows(&mut self) -> SqlResult<Option<Rows>> {
        loop {
            self.env.check()?;
            let step = match self.next_again()? {
                Some(step) => step,
                None => match self.next_ahead()? {
                    Some(step) => step,
                    None => self.next_piece()?,
                },
            };
            match step {
                Step::Rows(rows) => return Ok(Some(rows)),
                Step::Nothing => {}
                Step::End => return Ok(None),
            }
        }
    }

    /// Notes what was not read by groups.
    fn note_rows(&mut self) {
        let Plan { table, filter, columns, .. } = self.plan;
        let is_copy = filter.is_empty() && columns.len() == table.columns.len();
        let rows = std::mem::take(&mut self.by_rows);
        self.env.rt.instance.upkeep.columns.note(table, rows, is_copy);
    }
}

impl Operator for ColumnScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        self.begin(None);
        Rows::given(self.next_rows()?)
    }

    fn takes_folds(&self) -> bool {
        self.lanes > 1 && self.env.rt.instance.upkeep.lanes.threads() > 0
    }

    fn next_for(&mut self, fold: &Arc<dyn Fold>) -> SqlResult<Option<Rows>> {
        self.begin(Some(fold));
        self.next_rows()
    }
}
