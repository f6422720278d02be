//! Reads column groups: which region can be read by its group, and the rows of touched keys.
//!
//! The view is fixed before the directory is taken (C4), and everything is resolved by that view.

use super::cursor::NativeCursor;
use super::handle::{NativeTable, own_trx};
use super::lookup::Point;
use crate::btree::Hint;
use crate::columns::{Directory, Group};
use crate::sync::atomic::Ordering;
use crate::trx::{NativeTrx, ViewSpec};
use selkie_column::Segment;
use selkie_engine::{
    Bound, ColumnReader, ColumnSource, ColumnSpec, ColumnState, Cursor, EngineResult, EngineTrx,
    GroupShape, GroupView, Isolation, PartRows, RowSet, Scan, StatementContext,
};
use std::sync::Arc;

/// A read of columns in progress.
struct NativeReader<'a> {
    table: &'a NativeTable,
    trx: &'a NativeTrx,
    context: &'a dyn StatementContext,
    view: ViewSpec,
    directory: Arc<Directory>,
    spec: ColumnSpec,
}

impl ColumnSource for NativeTable {
    fn state(&self) -> ColumnState {
        self.files.columns.directory().state()
    }

    fn wanted(&self) -> u64 {
        self.files.columns.wanted()
    }

    fn want(&self, columns: u64) {
        self.files.columns.want(columns);
    }

    fn open_columns<'a>(
        &'a self,
        trx: &'a dyn EngineTrx,
        context: &'a dyn StatementContext,
        spec: ColumnSpec,
    ) -> EngineResult<Box<dyn ColumnReader<'a> + 'a>> {
        let trx = own_trx(trx)?;
        let view = self.view_of(trx)?.spec();
        self.files.columns.want_all(&spec.columns);
        let directory = self.files.columns.directory();
        Ok(Box::new(NativeReader { table: self, trx, context, view, directory, spec }))
    }

    fn build_columns(
        &self,
        trx: Option<&dyn EngineTrx>,
        context: &dyn StatementContext,
        shape: GroupShape,
    ) -> EngineResult<u64> {
        self.build_groups(trx.map(own_trx).transpose()?, context, shape)
    }
}

impl NativeReader<'_> {
    fn view_of(&self, group: &Arc<Group>) -> Option<GroupView> {
        let built = group.built()?;
        let is_older = self.view.snapshot.is_some_and(|snapshot| snapshot < built.at);
        if is_older || group.version != self.table.def.layout.version() {
            return None;
        }
        let segment = |at: &usize| built.segments.get(*at);
        let segments: Option<Vec<Arc<Segment>>> = self.spec.columns.iter().map(segment).collect();
        let segments = segments?;
        let Some(touched) = group.take_touched(&built.keys) else {
            self.table.files.columns.remove(group);
            return None;
        };
        Some(GroupView { rows: built.keys.len(), touched, segments })
    }
}

impl<'a> ColumnReader<'a> for NativeReader<'a> {
    fn parts(&self) -> usize {
        self.directory.regions().len()
    }

    fn group(&self, part: usize) -> Option<GroupView> {
        self.view_of(self.directory.regions().get(part)?.group.as_ref()?)
    }

    fn patches(
        &self,
        view: &GroupView,
        (from, to): (u32, u32),
        out: &mut RowSet,
        at: &mut Vec<u32>,
    ) -> EngineResult<()> {
        self.context.check_killed()?;
        let touched = view.touched(from, to);
        let seen = self.view.view(&self.table.shared.undo);
        let (scan, mut hint) = (Scan::default(), Hint::default());
        for key in touched {
            match self.table.point(&seen, &scan, &mut hint, &key.key, out)? {
                Point::Row => {}
                Point::Long(value) => {
                    self.table.whole_row(&value, out.rows.buffer())?;
                    out.rows.end_row();
                }
                Point::Nothing | Point::Prefix => continue,
            }
            at.push(key.at);
        }
        let live = |at: &u32| !view.touched.is_dead(*at);
        let rows = match touched.is_empty() {
            true => (to - from) as usize,
            false => (from..to).filter(live).count(),
        };
        self.table.shared.counters.read.add((rows + at.len()) as u64);
        let columns = &self.table.shared.counters.columns;
        columns.read.fetch_add(rows as u64, Ordering::Relaxed);
        columns.patches.fetch_add(touched.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn rows(&self, part: usize) -> EngineResult<Box<dyn Cursor + 'a>> {
        let scan = part_scan(&self.directory, part, &self.spec);
        let view = self.view.view(&self.table.shared.undo);
        Ok(Box::new(NativeCursor::of_view(self.table, self.trx, self.context, &scan, Some(view))))
    }

    fn rows_when_built(&self, part: usize) -> Option<u32> {
        let region = self.directory.regions().get(part)?;
        Some(region.group.as_ref()?.built()?.keys.len())
    }

    fn part_rows(&self) -> EngineResult<Arc<dyn PartRows>> {
        let NativeTable { shared, files, def, .. } = self.table;
        Ok(Arc::new(NativeParts {
            table: NativeTable::new(shared.clone(), files.clone(), def.clone())?,
            trx: NativeTrx::new(shared.clone(), Isolation::ReadUncommitted),
            view: self.view,
            directory: self.directory.clone(),
            spec: self.spec.clone(),
        }))
    }
}

/// The parts of a table through the view of a reader.
struct NativeParts {
    table: NativeTable,
    /// It changes nothing and locks nothing: the view is the reader's.
    trx: NativeTrx,
    view: ViewSpec,
    directory: Arc<Directory>,
    spec: ColumnSpec,
}

impl PartRows for NativeParts {
    fn rows<'a>(
        &'a self,
        part: usize,
        context: &'a dyn StatementContext,
    ) -> EngineResult<Box<dyn Cursor + 'a>> {
        let scan = part_scan(&self.directory, part, &self.spec);
        let view = self.view.view(&self.table.shared.undo);
        Ok(Box::new(NativeCursor::of_view(&self.table, &self.trx, context, &scan, Some(view))))
    }
}

/// The scan of the rows of a part.
fn part_scan(directory: &Directory, part: usize, spec: &ColumnSpec) -> Scan {
    let bound = |key: &[u8]| key.into();
    let lower = directory.regions().get(part).map(|region| bound(&region.lower));
    let upper = directory.upper(part).map(bound);
    Scan {
        lower: lower.map_or(Bound::Unbounded, Bound::Included),
        upper: upper.map_or(Bound::Unbounded, Bound::Excluded),
        fixed_only: spec.fixed_only,
        ..Scan::default()
    }
}
