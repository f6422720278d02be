//! Batched lookups: a whole clustered key is one visit of one leaf, any other key a short scan.
//!
//! Locking and covering lookups always scan.

use super::cursor::NativeCursor;
use super::handle::NativeTable;
use super::value;
use crate::btree::{Hint, Node, Seek};
use crate::trx::{NativeTrx, Resolved, View};
use selkie_engine::{EngineError, EngineResult, LockMode, RowSet, Scan, StatementContext};
use selkie_types::ByteRows;

/// Result of a search for a clustered key in one leaf.
pub(super) enum Point {
    /// The row; it was put out.
    Row,
    /// A row that continues in a chain, or has an earlier format: its value.
    Long(Vec<u8>),
    /// There is no such row.
    Nothing,
    /// The key is only a prefix of keys.
    Prefix,
}

impl NativeTable {
    pub(super) fn look_up(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        scan: &Scan,
        keys: &ByteRows,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        let points =
            self.secondary_of(scan).is_none() && scan.lock == LockMode::None && !scan.covering;
        let mut view = points.then(|| self.view_of(trx)).transpose()?;
        let mut hint = Hint::default();
        let mut cursor = None;
        for (number, key) in keys.iter().enumerate() {
            let found = match &view {
                Some(view) => self.point(view, scan, &mut hint, key, out)?,
                None => Point::Prefix,
            };
            match found {
                Point::Row => self.shared.counters.read.add(1),
                Point::Nothing => {}
                Point::Long(value) => {
                    self.searcher(&mut cursor, trx, context, scan)?.put(key, &value, out)?;
                }
                Point::Prefix => {
                    // The other keys are most likely prefixes too. A scan finds whole keys as well.
                    view = None;
                    self.searcher(&mut cursor, trx, context, scan)?.search_for(key, out)?;
                }
            }
            out.found_by.resize(out.count(), number as u32);
        }
        Ok(())
    }

    /// The cursor for keys that need more than a visit of one leaf; created for the first of them.
    fn searcher<'c, 'a>(
        &'a self,
        cursor: &'c mut Option<NativeCursor<'a>>,
        trx: &'a NativeTrx,
        context: &'a dyn StatementContext,
        scan: &Scan,
    ) -> EngineResult<&'c mut NativeCursor<'a>> {
        if cursor.is_none() {
            let scan = Scan { reverse: false, ..scan.clone() };
            *cursor = Some(NativeCursor::new(self, trx, context, &scan)?);
        }
        cursor.as_mut().ok_or(EngineError::TableChanged)
    }

    /// The view of a consistent read of the table; fails if the table is newer than the snapshot.
    pub(super) fn view_of<'a>(&self, trx: &'a NativeTrx) -> EngineResult<View<'a>> {
        let view = trx.view();
        match view.is_before(self.files.since()) {
            true => Err(EngineError::TableChanged),
            false => Ok(view),
        }
    }

    pub(super) fn point(
        &self,
        view: &View<'_>,
        scan: &Scan,
        hint: &mut Hint,
        key: &[u8],
        out: &mut RowSet,
    ) -> EngineResult<Point> {
        let cut = if scan.fixed_only { self.def.layout.fixed_bytes() } else { usize::MAX };
        let mut scratch = Vec::new();
        Ok(self.files.clustered.read_near(hint, Seek::At(key), |node| {
            let at = match node.search(key) {
                Ok(at) => at,
                Err(at) => {
                    return if starts_here(node, at, key) { Point::Prefix } else { Point::Nothing };
                }
            };
            let mut value = node.value(at);
            match view.resolve(value, &mut scratch) {
                Resolved::Gone => return Point::Nothing,
                Resolved::Current => {}
                Resolved::Old => value = &scratch,
            }
            let row = value::row_start(value);
            let earlier = self.def.layout.is_earlier(row);
            if earlier || (value::tag(value) & value::LONG != 0 && row.len() < cut) {
                return Point::Long(value.to_vec());
            }
            out.rows.push(&row[..row.len().min(cut)]);
            if scan.want_keys {
                out.keys.push(key);
            }
            Point::Row
        })?)
    }
}

/// Whether keys longer than `key` that begin with it may exist from entry `at` on.
fn starts_here(node: Node<'_>, at: usize, key: &[u8]) -> bool {
    match at < node.count() {
        true => node.key_starts_with(at, key),
        false => node.upper().is_some_and(|upper| upper.starts_with(key)),
    }
}
