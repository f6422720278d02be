//! Joins by looking left rows up in an index, a batch of keys at a time. A left row with NULL in a
//! key that is not null-safe is not looked up. The engine locks found rows as the plan says.

use selkie_engine::{RowSet, Scan};
use selkie_plan::physical::IndexJoin as Plan;
use selkie_types::{BATCH_ROWS, Batch, ByteRows, SqlResult};
use std::borrow::Cow;

use super::examined::examine;
use super::join_match::{Matcher, Progress, Shape, Unmatched};
use super::{BoxOperator, Operator, open as open_node};
use crate::run::scan::{Decoder, keys_of, parts_read};
use crate::run::{Env, OpenTable};
use crate::state::column_keeper::COLUMNS_FROM;
use crate::state::error::from_engine;
use crate::state::session::bump;

/// Keys looked up at a time when each may match many rows.
const KEYS: usize = 256;

/// Part of a table's rows from which on a join reads much of it.
const PART_READ: u64 = 32;

/// A left batch being joined.
struct Probing {
    left: Batch,
    /// Left row and key, for each left row that can match.
    keys: Vec<(u32, Vec<u8>)>,
    at: usize,
    progress: Progress,
}

/// The operator.
pub(super) struct IndexJoin<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    open: &'r OpenTable<'r>,
    left: BoxOperator<'r>,
    decoder: Decoder<'r>,
    matcher: Matcher<'r>,
    scan: Scan,
    probing: Option<Probing>,
    set: RowSet,
    /// Rows found so far.
    found: u64,
}

impl<'r> IndexJoin<'r> {
    pub(super) fn open(env: Env<'r>, plan: &'r Plan) -> SqlResult<Self> {
        let lookup = &plan.lookup;
        let open = env.rt.table(&lookup.table)?;
        let decoder = decoder(open, plan)
            .with_filter(&lookup.filter, &[])
            .with_keys(lookup.row_keys)
            .with_padding(env.eval);
        let scan = Scan {
            index: Some(lookup.index),
            covering: lookup.covering,
            entry_locks: lookup.entry_locks,
            fixed_only: decoder.is_fixed_only(),
            want_keys: decoder.wants_keys(),
            lock: lookup.lock.mode,
            wait: lookup.lock.wait,
            parts: parts_read(env.eval, open, lookup.parts.as_deref())?,
            ..Scan::default()
        };
        Ok(Self {
            env,
            plan,
            open,
            left: open_node(env, &plan.left)?,
            decoder,
            matcher: Matcher::new(shape_of(plan)),
            scan,
            probing: None,
            set: RowSet::default(),
            found: 0,
        })
    }

    /// Tells that much of a table was read row by row: a scan of column groups, if it had some,
    /// may be cheaper.
    fn note_rows(&mut self) {
        let found = std::mem::take(&mut self.found);
        let rows = self.open.handle.table.rows();
        if rows >= COLUMNS_FROM && found >= rows / PART_READ {
            self.env.rt.instance.upkeep.columns.note(&self.plan.lookup.table, found, false);
        }
    }

    fn start(&self, left: Batch) -> SqlResult<Probing> {
        let lookup = &self.plan.lookup;
        let codec = &self.open.handle.codecs[lookup.index];
        // Compat: conversions of values to keys raise no warnings; warnings come only from found
        // rows.
        let mark = self.env.eval.conditions.borrow().mark();
        let columns: SqlResult<Vec<_>> =
            lookup.keys.iter().map(|e| e.eval(self.env.eval, &left)).collect();
        let columns = columns?;
        self.env.eval.conditions.borrow_mut().forget_since(mark);
        if let Some(cell) = self.env.cell {
            cell.looked_up(left.rows());
        }
        let mut keys = Vec::with_capacity(left.rows());
        for row in 0..left.rows() {
            let values = columns.iter().zip(&lookup.null_safe);
            let values = values.map(|(c, safe)| (c.value(row), *safe));
            if let Some(found) = keys_of(self.env.eval, codec, values, &lookup.keys) {
                keys.push((row as u32, found.first));
                keys.extend(found.more.into_iter().map(|key| (row as u32, key)));
            }
        }
        let progress = Progress::new(left.rows());
        Ok(Probing { left, keys, at: 0, progress })
    }

    /// Looks the next keys up.
    fn look_up(&mut self, probing: &mut Probing) -> SqlResult<Option<Batch>> {
        let step = match self.plan.lookup.unique {
            _ if self.env.rt.examined.is_limited() => 1,
            true => BATCH_ROWS,
            false => KEYS,
        };
        let from = probing.at;
        let to = (from + step).min(probing.keys.len());
        probing.at = to;
        let mut keys = ByteRows::with_capacity(to - from);
        probing.keys[from..to].iter().for_each(|(_, key)| keys.push(key));
        self.set.clear();
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        table
            .lookup(self.open.trx, control, &self.scan, &keys, &mut self.set)
            .map_err(|e| from_engine(e, &self.plan.lookup.table.def))?;
        bump(&self.env.counters().handler_read_key, keys.len() as u64);
        self.found += self.set.found_by.len() as u64;
        self.env.count_read(self.open, self.scan.index, self.set.found_by.len());
        if self.plan.lookup.shown.answers {
            bump(&self.env.counters().rows_answering, self.set.found_by.len() as u64);
        }
        // Each key counts as one row, as does each row found in a non-unique index.
        let more = if self.plan.lookup.unique { 0 } else { self.set.found_by.len() };
        examine(self.env, keys.len() + more)?;
        let Some((right, numbers)) = self.decoder.decode(self.env.eval, &self.set)? else {
            return Ok(None);
        };
        let left_row = |found: u32| probing.keys[from + found as usize].0;
        let pairs: Vec<u32> = match numbers {
            None => self.set.found_by.iter().map(|&f| left_row(f)).collect(),
            Some(rows) => rows.iter().map(|&r| left_row(self.set.found_by[r as usize])).collect(),
        };
        let right = |at: usize| right.column(at).clone();
        let left = &probing.left;
        let complete = probing.keys.get(to).map_or(left.rows(), |(row, _)| *row as usize);
        self.matcher.pairs(self.env.eval, left, &pairs, complete, &right, &mut probing.progress)
    }
}

fn shape_of(plan: &Plan) -> Shape<'_> {
    Shape {
        kind: plan.kind,
        residual: Cow::Borrowed(&plan.residual),
        output: Cow::Borrowed(&plan.output),
        left_width: plan.left.columns.len(),
        right_types: right_types(plan),
        unmatched: Unmatched::InOrder,
        numbered: false,
    }
}

fn right_types(plan: &Plan) -> Vec<selkie_plan::physical::ColumnType> {
    let columns = &plan.lookup.table.def.columns;
    let mut types: Vec<_> = plan
        .lookup
        .columns
        .iter()
        .map(|&at| selkie_plan::physical::ColumnType { ty: columns[at].ty.clone(), nullable: true })
        .collect();
    if plan.lookup.row_keys {
        let ty = selkie_types::SqlType::varchar(0, selkie_types::CollationId::BINARY);
        types.push(selkie_plan::physical::ColumnType { ty, nullable: true });
    }
    types
}

fn decoder<'r>(open: &'r OpenTable<'r>, plan: &'r Plan) -> Decoder<'r> {
    let lookup = &plan.lookup;
    let decoder = match lookup.covering {
        true => {
            let codecs = &open.handle.codecs;
            Decoder::of_entries(&lookup.table, codecs, lookup.index, &lookup.columns)
        }
        false => Decoder::new(&lookup.table, &lookup.columns),
    };
    decoder.with_computed(&lookup.computed, &lookup.columns)
}

impl Operator for IndexJoin<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            self.env.check()?;
            let Some(mut probing) = self.probing.take() else {
                let Some(left) = self.left.next()? else {
                    self.note_rows();
                    return Ok(None);
                };
                self.probing = Some(self.start(left)?);
                continue;
            };
            let output = if probing.at < probing.keys.len() {
                let output = self.look_up(&mut probing)?;
                self.probing = Some(probing);
                output
            } else {
                self.matcher.finish(&probing.left, &probing.progress)
            };
            if output.is_some() {
                return Ok(output);
            }
        }
    }
}
