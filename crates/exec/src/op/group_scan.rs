//! Reads the ends of the groups of an index: one descent per group in place of a step per entry.
//! For plans that need only the least and the greatest value after a prefix of the index; MariaDB
//! calls it a loose index scan.

use std::vec::IntoIter;

use selkie_engine::{Bound, Cursor, IndexCodec, IndexDef, Kept, RowSet, Scan};
use selkie_plan::physical::{GroupEnds, TableScan as Plan};
use selkie_types::key::NOT_NULL;
use selkie_types::{BATCH_ROWS, Batch, SqlResult};

use super::Operator;
use super::buffers::{self, Buffers};
use super::examined::examine;
use crate::run::scan::{Decoder, Range};
use crate::run::{Env, OpenTable};
use crate::state::error::{corrupt, from_engine};
use crate::state::session::bump;

/// Groups in the first batch; a statement that needs few groups does not pay for many.
const FIRST_GROUPS: usize = 16;

pub(super) struct GroupScan<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    open: &'r OpenTable<'r>,
    decoder: Decoder<'r>,
    index: usize,
    groups: GroupEnds,
    /// Whether index entries are read in place of rows.
    covering: bool,
    forward: Box<dyn Cursor + 'r>,
    backward: Option<Box<dyn Cursor + 'r>>,
    ranges: IntoIter<Range>,
    /// Remaining part of the current range.
    rest: Option<(Bound, Bound)>,
    buffers: Kept<Buffers>,
    /// First entry of a group of which only the last entry is wanted.
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
        (mut scan, groups): (Scan, GroupEnds),
        ranges: Vec<Range>,
    ) -> SqlResult<Self> {
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
        Ok(Self {
            env,
            plan,
            open,
            decoder,
            index,
            groups,
            covering,
            forward,
            backward,
            ranges: ranges.into_iter(),
            rest: None,
            buffers: buffers::take(),
            unwanted: RowSet::default(),
            group: Vec::new(),
            batch_groups: if env.rt.examined.is_limited() { 1 } else { FIRST_GROUPS },
        })
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
            if self.seek(false, lower, upper.clone())? {
                let next_is_null = self.note_group()?;
                self.read_ends(next_is_null)?;
                self.rest = Some((Bound::Excluded(self.group.as_slice().into()), upper));
                return Ok(true);
            }
        }
    }

    /// Reads the first entry between two bounds, or the last one; false if there is none.
    fn seek(&mut self, backward: bool, lower: Bound, upper: Bound) -> SqlResult<bool> {
        let cursor = match &mut self.backward {
            Some(cursor) if backward => cursor,
            _ => &mut self.forward,
        };
        let out = match !backward && self.groups.is_last_only() {
            true => &mut self.unwanted,
            false => &mut self.buffers.set,
        };
        bump(&self.env.counters().handler_read_key, 1);
        let found = cursor.restart(lower, upper).and_then(|()| cursor.next_batch(out, 1));
        found.map_err(|e| from_engine(e, &self.plan.table.def))
    }

    fn codec(&self) -> &'r IndexCodec {
        let open = self.open;
        &open.handle.codecs[self.index]
    }

    /// Stores the key prefix of the entry read last; returns whether the next key part is NULL.
    fn note_group(&mut self) -> SqlResult<bool> {
        let def = &self.plan.table.def;
        let set = if self.groups.is_last_only() { &self.unwanted } else { &self.buffers.set };
        let (rows, layout) = match self.covering {
            true => (&set.entries, self.codec().entry_layout()),
            false => (&set.rows, &def.layout),
        };
        let row = rows.get(rows.len() - 1);
        self.group.clear();
        let parts = self.groups.parts;
        let codec = self.codec();
        codec
            .prefix_of_row(row, (layout, self.covering), parts, &mut self.group)
            .map_err(|e| from_engine(e, def))?;
        // The clustered key after the index parts has no NULL.
        let next = self.plan_index().parts.get(parts);
        let place = next.map(|part| if self.covering { parts } else { part.column });
        place.map_or(Ok(false), |place| layout.is_null(row, place).map_err(corrupt))
    }

    fn plan_index(&self) -> &'r IndexDef {
        &self.plan.table.def.indexes[self.index]
    }

    fn read_ends(&mut self, next_is_null: bool) -> SqlResult<()> {
        let whole = || Bound::Included(self.group.as_slice().into());
        let (first, last) = (whole(), whole());
        if self.groups.first && next_is_null {
            let values = [&self.group[..], &[NOT_NULL]].concat();
            self.seek(false, Bound::Included(values.into()), last.clone())?;
        }
        if self.groups.last {
            self.seek(true, first, last)?;
        }
        Ok(())
    }
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
