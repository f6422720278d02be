//! Reads the ends of the groups of an index: one descent per group in place of a step per entry.
//! For plans that need only the least and the greatest value after a prefix of the index, of all
//! entries of a group or of those within ranges of the parts behind; MariaDB calls it a loose index
//! scan. Must not give an entry outside these ranges.

use std::vec::IntoIter;

use selkie_engine::{Bound, Cursor, IndexCodec, IndexDef, Kept, RowSet, Scan};
use selkie_plan::physical::{GroupEnds, TableScan as Plan};
use selkie_types::key::NOT_NULL;
use selkie_types::{BATCH_ROWS, Batch, ByteRows, RowLayout, SqlResult};

use super::buffers::{self, Buffers};
use super::examined::examine;
use super::{BoxOperator, Operator, source};
use crate::run::scan::{Decoder, Range, ranges_of};
use crate::run::{Env, OpenTable};
use crate::state::error::{corrupt, from_engine};
use crate::state::session::bump;

/// Groups in the first batch; a statement that needs few groups does not pay for many.
const FIRST_GROUPS: usize = 16;

/// A range of the parts behind those of a group, as keys behind the group's.
struct Within {
    range: Range,
    /// Number of parts with one value.
    equal: usize,
}

/// The part of each group that is read.
struct Groups<'r> {
    ends: &'r GroupEnds,
    /// The ranges of the parts behind a group's, if only some of its entries count.
    within: Option<Vec<Within>>,
}

pub(super) struct GroupScan<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    open: &'r OpenTable<'r>,
    decoder: Decoder<'r>,
    index: usize,
    groups: Groups<'r>,
    /// Whether index entries are read in place of rows.
    covering: bool,
    forward: Box<dyn Cursor + 'r>,
    backward: Option<Box<dyn Cursor + 'r>>,
    ranges: IntoIter<Range>,
    /// Remaining part of the current range.
    rest: Option<(Bound, Bound)>,
    buffers: Kept<Buffers>,
    /// First entry of a group, if it need not be wanted.
    unwanted: RowSet,
    /// Key prefix of the current group.
    group: Vec<u8>,
    batch_groups: usize,
}

impl<'r> GroupScan<'r> {
    pub(super) fn open(
        env: Env<'r>,
        open: &'r OpenTable<'r>,
        plan: &'r Plan,
        decoder: Decoder<'r>,
        (mut scan, groups): (Scan, &'r GroupEnds),
        ranges: Vec<Range>,
    ) -> SqlResult<BoxOperator<'r>> {
        let within = within_groups(env, plan, scan.index.unwrap_or(0), groups)?;
        if within.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Box::new(source::Empty));
        }
        let index = scan.index.unwrap_or(0);
        let covering = scan.covering;
        // The parts of the group may follow the fixed parts.
        scan.fixed_only = false;
        let (table, control) = (&open.handle.table, env.rt.control);
        let start = |scan: &Scan| {
            let cursor = table.scan(open.trx, control, scan);
            cursor.map_err(|e| from_engine(e, &plan.table.def))
        };
        let forward = start(&scan)?;
        scan.reverse = true;
        let backward = if groups.last { Some(start(&scan)?) } else { None };
        Ok(Box::new(Self {
            env,
            plan,
            open,
            decoder,
            index,
            groups: Groups { ends: groups, within },
            covering,
            forward,
            backward,
            ranges: ranges.into_iter(),
            rest: None,
            buffers: buffers::take(),
            unwanted: RowSet::default(),
            group: Vec::new(),
            batch_groups: if env.rt.examined.is_limited() { 1 } else { FIRST_GROUPS },
        }))
    }

    /// Whether the entry that tells a group may be one that does not count.
    fn skips_first(&self) -> bool {
        self.groups.within.is_some() || self.groups.ends.is_last_only()
    }

    /// Reads the next group; false if there is none.
    fn read_group(&mut self) -> SqlResult<bool> {
        loop {
            let (lower, upper) = match self.rest.take() {
                Some(rest) => rest,
                None => match self.ranges.next() {
                    Some(range) => range.bounds(),
                    None => return Ok(false),
                },
            };
            self.unwanted.clear();
            let told = if self.skips_first() { To::Unwanted } else { To::Batch };
            if self.seek(false, (lower, upper.clone()), told)? {
                self.note_group()?;
                match self.groups.within.take() {
                    None => self.read_ends()?,
                    Some(within) => {
                        self.read_within_any(&within)?;
                        self.groups.within = Some(within);
                    }
                }
                self.rest = Some((Bound::Excluded(self.group.as_slice().into()), upper));
                return Ok(true);
            }
        }
    }

    /// Reads the first entry between two bounds, or the last one; false if there is none.
    fn seek(&mut self, backward: bool, (lower, upper): (Bound, Bound), to: To) -> SqlResult<bool> {
        let cursor = match &mut self.backward {
            Some(cursor) if backward => cursor,
            _ => &mut self.forward,
        };
        let out = match to {
            To::Unwanted => &mut self.unwanted,
            To::Batch => &mut self.buffers.set,
        };
        bump(&self.env.counters().handler_read_key, 1);
        let found = cursor.restart(lower, upper).and_then(|()| cursor.next_batch(out, 1));
        found.map_err(|e| from_engine(e, &self.plan.table.def))
    }

    fn codec(&self) -> &'r IndexCodec {
        let open = self.open;
        &open.handle.codecs[self.index]
    }

    /// Stores the key prefix of the entry that tells a group.
    fn note_group(&mut self) -> SqlResult<()> {
        let mut group = std::mem::take(&mut self.group);
        group.clear();
        let set = if self.skips_first() { &self.unwanted } else { &self.buffers.set };
        let (rows, layout) = self.entries(set);
        let row = rows.get(rows.len() - 1);
        let parts = self.groups.ends.parts;
        self.codec()
            .prefix_of_row(row, (layout, self.covering), parts, &mut group)
            .map_err(|e| from_engine(e, &self.plan.table.def))?;
        self.group = group;
        Ok(())
    }

    fn entries<'s>(&'s self, set: &'s RowSet) -> (&'s ByteRows, &'s RowLayout) {
        match self.covering {
            true => (&set.entries, self.codec().entry_layout()),
            false => (&set.rows, &self.plan.table.def.layout),
        }
    }

    /// Whether a key part of the entry read last is NULL. The clustered key after the index parts
    /// has no NULL.
    fn is_null(&self, part: usize) -> SqlResult<bool> {
        let (rows, layout) = self.entries(&self.buffers.set);
        let row = rows.get(rows.len() - 1);
        let place = self.plan_index().parts.get(part);
        let place = place.map(|at| if self.covering { part } else { at.column });
        place.map_or(Ok(false), |place| layout.is_null(row, place).map_err(corrupt))
    }

    fn plan_index(&self) -> &'r IndexDef {
        &self.plan.table.def.indexes[self.index]
    }

    fn read_ends(&mut self) -> SqlResult<()> {
        let whole = || Bound::Included(self.group.as_slice().into());
        let (first, last) = (whole(), whole());
        if self.groups.ends.first && self.is_null(self.groups.ends.parts)? {
            let values = [&self.group[..], &[NOT_NULL]].concat();
            let bounds = (Bound::Included(values.into()), last.clone());
            self.seek(false, bounds, To::Batch)?;
        }
        if self.groups.ends.last {
            self.seek(true, (first, last), To::Batch)?;
        }
        Ok(())
    }

    /// Reads the ends of the entries of the group that are within some of the ranges.
    fn read_within_any(&mut self, within: &[Within]) -> SqlResult<()> {
        let before = self.buffers.set.count();
        for one in within {
            self.read_within(one)?;
            if self.groups.ends.is_one() && self.buffers.set.count() > before {
                break;
            }
        }
        Ok(())
    }

    /// Reads the ends of the entries of the group that are within a range.
    fn read_within(&mut self, within: &Within) -> SqlResult<()> {
        let (start, end) = within.range.ends();
        let start = [&self.group[..], start].concat();
        let upper = match end {
            Some(end) => Bound::Excluded([&self.group[..], &end].concat().into()),
            None => Bound::Included(self.group.as_slice().into()),
        };
        let bounds = |start: &[u8]| (Bound::Included(start.into()), upper.clone());
        if !self.groups.ends.is_last_only() {
            let found = self.seek(false, bounds(&start), To::Batch)?;
            if !found {
                return Ok(());
            }
            let ends = self.groups.ends;
            let is_open = within.range.is_prefix && within.equal == ends.gap;
            if ends.first && is_open && self.is_null(ends.parts + ends.gap)? {
                self.seek(false, bounds(&[&start[..], &[NOT_NULL]].concat()), To::Batch)?;
            }
        }
        if self.groups.ends.last {
            self.seek(true, bounds(&start), To::Batch)?;
        }
        Ok(())
    }
}

/// The place of an entry that is read.
#[derive(Clone, Copy)]
enum To {
    /// Among the rows given.
    Batch,
    Unwanted,
}

/// The ranges of the parts behind those of a group; `None` if all entries of a group count.
fn within_groups(
    env: Env<'_>,
    plan: &Plan,
    index: usize,
    groups: &GroupEnds,
) -> SqlResult<Option<Vec<Within>>> {
    if groups.within.is_empty() {
        return Ok(None);
    }
    let def = &plan.table.def;
    let parts = def.indexes[index].parts[groups.parts..].to_vec();
    let codec = IndexCodec::new(def, &IndexDef { parts, ..def.indexes[index].clone() });
    let mut all = Vec::new();
    for range in &groups.within {
        let equal = range.equal.len();
        let found = ranges_of(env.eval, &codec, std::slice::from_ref(range))?;
        all.extend(found.into_iter().map(|range| Within { range, equal }));
    }
    Ok(Some(all))
}

impl Operator for GroupScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            self.env.check()?;
            self.buffers.set.clear();
            let mut groups = 0;
            while groups < self.batch_groups && self.read_group()? {
                groups += 1;
            }
            if groups == 0 {
                return Ok(None);
            }
            if self.batch_groups > 1 {
                self.batch_groups = (self.batch_groups * 4).min(BATCH_ROWS / 2);
            }
            let set = &self.buffers.set;
            self.env.count_read(self.open, Some(self.index), set.count());
            examine(self.env, set.count())?;
            if let Some((batch, _)) = self.decoder.decode(self.env.eval, set)? {
                return Ok(Some(batch));
            }
        }
    }
}
