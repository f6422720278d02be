//! Scans. Consistent ones read through the transaction's view; locking ones read the newest version
//! and lock row by row. No latch is held while a row lock is waited for.

use super::handle::NativeTable;
use super::leaf_scan::{Step, Walk};
use super::lookup::Point;
use super::next_key::{Search, Stretch, Uniqueness, stretch};
use super::rows::push_row;
use super::value;
use crate::btree::{Hint, Node, Seek, Tree};
use crate::ids::FileId;
use crate::lock::{Covered, Locked, Wanted};
use crate::page::get_u64;
use crate::trx::{LockKind, NativeTrx, Resolved, TrxState, Undo, View};
use selkie_engine::{
    Bound, Cursor, EngineError, EngineResult, KeyRange, LockMode, LockWait, RowSet, Scan,
    StatementContext,
};
use selkie_types::ByteRows;
use std::sync::Arc;
use std::time::Instant;

/// The newest version of a row, if there is one, and its writer if that is active.
type Newest = (Option<Vec<u8>>, Option<Arc<TrxState>>);

/// A scan in progress.
pub(super) struct NativeCursor<'a> {
    table: &'a NativeTable,
    trx: &'a NativeTrx,
    context: &'a dyn StatementContext,
    scan: Scan,
    /// Position of a secondary index; `None`: the clustered tree.
    index: Option<usize>,
    lock: LockMode,
    pub(super) walk: Walk,
    /// The view of a consistent read; `None` for a locking read.
    view: Option<View<'a>>,
    /// The newest versions at the start of a locking read; `None` for a consistent one.
    newest: Option<View<'a>>,
    row_hint: Hint,
    entry_hint: Hint,
    scratch: Vec<u8>,
    /// Clustered keys of the rows to fetch.
    pending: ByteRows,
    /// Index keys of `pending`, for reads that must check whether the row still has them.
    pending_index: ByteRows,
    /// Kind of search of a locking read.
    search: Option<Search>,
    /// Whether a locking read locks gaps.
    gaps: bool,
    /// Start of the range.
    begin: Vec<u8>,
    /// The row after the range, if it must be locked.
    beyond: Option<RowLock>,
    /// The gaps locked by the last visit of a leaf.
    gap: Option<LockedGap>,
    /// The locks of the rows of the last batch, if they may be released again.
    given: Option<Vec<RowLock>>,
}

/// The locks of a row: its clustered key, and the key of its entry in the index that is read.
struct RowLock {
    row: Vec<u8>,
    entry: Option<Vec<u8>>,
}

/// Gaps that were locked before the rows between them.
struct LockedGap {
    file: FileId,
    stretch: Stretch,
    covered: Covered,
}

/// Result of a locking read's visit of a leaf.
struct Visit {
    walk: Walk,
    beyond: Option<RowLock>,
    gap: Option<LockedGap>,
}

/// A row of a leaf that was not put out, or an error.
#[derive(Default)]
struct Rest {
    /// A row that continues in a chain: key and value.
    long: Option<(Vec<u8>, Vec<u8>)>,
    /// A row that could not be read.
    wrong: Option<EngineError>,
}

impl<'a> NativeCursor<'a> {
    pub(super) fn new(
        table: &'a NativeTable,
        trx: &'a NativeTrx,
        context: &'a dyn StatementContext,
        scan: &Scan,
    ) -> EngineResult<NativeCursor<'a>> {
        let view = (scan.lock == LockMode::None).then(|| table.view_of(trx)).transpose()?;
        let index = table.secondary_of(scan).map(|at| &table.trees[at]);
        if let (Some(view), Some(tree)) = (&view, index)
            && view.is_before(tree.gate.since())
        {
            return Err(EngineError::TableChanged);
        }
        Ok(Self::of_view(table, trx, context, scan, view))
    }

    /// A scan through a view that was made before; `None` for a locking read.
    pub(super) fn of_view(
        table: &'a NativeTable,
        trx: &'a NativeTrx,
        context: &'a dyn StatementContext,
        scan: &Scan,
        view: Option<View<'a>>,
    ) -> NativeCursor<'a> {
        let lock = scan.lock;
        let range = KeyRange::new(&scan.lower, &scan.upper);
        let mut begin = Vec::new();
        if lock != LockMode::None {
            trx.note_table(table.files.clustered.file, lock);
            begin.clone_from(&range.start);
        }
        NativeCursor {
            table,
            trx,
            context,
            index: table.secondary_of(scan),
            lock,
            walk: Walk::new(range, scan.reverse),
            view,
            newest: (lock != LockMode::None).then(|| trx.newest_view()),
            scan: scan.clone(),
            row_hint: Hint::default(),
            entry_hint: Hint::default(),
            scratch: Vec::new(),
            pending: ByteRows::default(),
            pending_index: ByteRows::default(),
            search: (lock != LockMode::None).then(|| search_of(scan)),
            gaps: trx.locks_gaps(),
            begin,
            beyond: None,
            gap: None,
            given: (lock != LockMode::None && !trx.locks_gaps()).then(Vec::new),
        }
    }

    /// Appends the rows whose keys begin with `key`.
    pub(super) fn search_for(&mut self, key: &[u8], out: &mut RowSet) -> EngineResult<()> {
        let uniqueness = self.uniqueness();
        self.search = self.search.map(|_| Search::Equal(uniqueness));
        let before = out.count();
        self.walk.restart(KeyRange::prefix(key));
        while self.next_batch(out, 1024)? {}
        let one = uniqueness != Uniqueness::Plain && self.search.is_some() && self.gaps;
        if one && out.count() == before {
            // The row may have gone while its lock was waited for; then there is a gap to lock.
            self.search = Some(Search::Equal(Uniqueness::Plain));
            self.walk.restart(KeyRange::prefix(key));
            while self.next_batch(out, 1024)? {}
        }
        Ok(())
    }

    fn uniqueness(&self) -> Uniqueness {
        match self.index {
            None => Uniqueness::Clustered,
            Some(at) if self.table.def.indexes[at].is_unique() => Uniqueness::Unique,
            Some(_) => Uniqueness::Plain,
        }
    }

    /// Visits a leaf for a locking read: calls `visit`, then locks the gaps between the visited
    /// entries.
    fn locking_leaf(
        &self,
        tree: &Tree,
        visit: impl FnMut(Node<'_>, usize) -> Step,
    ) -> EngineResult<Visit> {
        let (mut walk, mut beyond, mut gap) = (self.walk.clone(), None, None);
        walk.leaf_passing(tree, visit, |passed| {
            let Some(search) = self.search else { return };
            let live = |node: Node<'_>, at| self.may_be_live(node.value(at), &mut Vec::new());
            let (reverse, start) = (self.walk.reverse, &self.walk.range.start);
            let Some(stretch) = stretch(&passed, reverse, search, start, live) else { return };
            beyond = stretch.beyond.map(|at| self.locks_of(passed.node, at));
            if self.gaps {
                let to = stretch.to.as_deref();
                let covered = self.trx.lock_gap(tree.file, &stretch.from, to);
                gap = Some(LockedGap { file: tree.file, stretch, covered });
            }
        })?;
        Ok(Visit { walk, beyond, gap })
    }

    /// Handles a failed row lock: unlocks the gaps after the row. Only those before the row number
    /// `failed` of the visit stay locked.
    fn free_gaps(&mut self, failed: usize, error: EngineError) -> EngineError {
        let Some(LockedGap { file, stretch, covered }) = self.gap.take() else { return error };
        if !matches!(error, EngineError::LockWaitTimeout | EngineError::Killed) {
            return error;
        }
        let keys = if self.index.is_some() { &self.pending_index } else { &self.pending };
        let behind = |row: usize| [keys.get(row), &[0]].concat();
        match self.walk.reverse {
            false => {
                let to = failed.checked_sub(1).map_or_else(|| stretch.from.clone(), behind);
                self.trx.shrink_gap(file, covered, (&stretch.from, Some(&to)));
            }
            true if failed < keys.len() => {
                let from = behind(failed);
                self.trx.shrink_gap(file, covered, (&from, stretch.to.as_deref()));
            }
            true => {}
        }
        error
    }

    /// The locks for an entry of the tree that is read.
    fn locks_of(&self, node: Node<'_>, at: usize) -> RowLock {
        let key = node.key(at);
        match self.index {
            Some(_) => {
                let row = key.get(value::split(node.value(at))..).unwrap_or(&[]).to_vec();
                RowLock { row, entry: Some(key) }
            }
            None => RowLock { row: key, entry: None },
        }
    }

    /// Takes over the result of a leaf's visit. Returns whether it locked gaps.
    fn passed(&mut self, visit: Visit) -> bool {
        self.walk = visit.walk;
        self.beyond = visit.beyond.or(self.beyond.take());
        self.gap = visit.gap;
        self.gap.is_some()
    }

    /// Locks the row after the range, once the last row of the range is locked.
    ///
    /// Compat: a SELECT in ascending order checks the range by index entries alone and locks only
    /// the entry there. Without gap locks, the lock is waited for and then released.
    fn lock_beyond(&mut self, mode: LockMode) -> EngineResult<()> {
        let Some(beyond) = self.beyond.take() else { return Ok(()) };
        if !self.walk.done {
            self.beyond = Some(beyond);
            return Ok(());
        }
        let locked = self.lock_behind(&beyond, mode);
        locked.map_err(|e| self.free_gaps(self.pending.len(), e))?;
        if !self.gaps {
            self.give_up(&beyond);
        }
        Ok(())
    }

    fn lock_behind(&mut self, beyond: &RowLock, mode: LockMode) -> EngineResult<()> {
        let by_entries = !self.scan.want_keys && !self.scan.reverse;
        if let Some(entry) = &beyond.entry {
            self.lock_entry(entry, mode)?;
        }
        if (!by_entries || beyond.entry.is_none()) && !self.is_semi_consistent() {
            self.lock_row(&beyond.row, mode)?;
        }
        Ok(())
    }

    fn give_up(&self, locks: &RowLock) {
        if let (Some(entry), Some(at)) = (&locks.entry, self.index) {
            self.trx.drop_entry_lock(self.table.trees[at].file, entry);
        }
        self.trx.drop_lock(self.table.files.clustered.file, &locks.row);
    }

    /// Whether a row locked by another transaction is given in its committed version. Compat: only
    /// if rows are read in clustered order, and not with `innodb_snapshot_isolation`.
    fn is_semi_consistent(&self) -> bool {
        self.scan.semi_consistent && self.index.is_none() && !self.trx.has_snapshot_isolation()
    }

    /// Appends up to `max_rows` rows; returns whether there were any.
    pub(super) fn next_batch(&mut self, out: &mut RowSet, max_rows: usize) -> EngineResult<bool> {
        self.given.iter_mut().for_each(Vec::clear);
        let before = out.count();
        let wanted = before + max_rows.max(1);
        while !self.walk.done && out.count() < wanted {
            // For each leaf: there may be any number without a row that the view sees.
            self.context.check_killed()?;
            let room = wanted - out.count();
            match (self.lock, self.index) {
                (LockMode::None, None) => self.rows(out, room)?,
                (LockMode::None, Some(at)) if self.overtakes() => {
                    self.overtaken_rows(at, out, room)?;
                }
                (LockMode::None, Some(at)) => self.index_rows(at, out, room)?,
                (mode, None) => self.locked_rows(mode, out, room)?,
                (mode, Some(at)) => self.locked_index_rows(at, mode, out, room)?,
            }
            if out.is_large() && out.count() > before {
                break;
            }
        }
        let read = out.count() - before;
        self.table.shared.counters.read.add(read as u64);
        Ok(read > 0)
    }

    /// Reads a leaf of the clustered tree, as the view sees it.
    fn rows(&mut self, out: &mut RowSet, room: usize) -> EngineResult<()> {
        let Some(view) = &self.view else { return Ok(()) };
        let (scan, scratch) = (&self.scan, &mut self.scratch);
        let layout = &self.table.def.layout;
        let cut = if scan.fixed_only { layout.fixed_bytes() } else { usize::MAX };
        let plain = !scan.covering || scan.index.is_none();
        let (mut rest, mut count) = (Rest::default(), 0);
        self.walk.leaf(&self.table.files.clustered, |node, at| {
            let mut value = node.value(at);
            match view.resolve(value, scratch) {
                Resolved::Gone => return Step::Next,
                Resolved::Current => {}
                Resolved::Old => value = scratch,
            }
            let row = value::row_start(value);
            let long = value::tag(value) & value::LONG != 0;
            if !plain || (long && (row.len() < cut || layout.is_earlier(row))) {
                rest.long = Some((node.key(at), value.to_vec()));
                return Step::Stop;
            }
            if let Err(error) = push_row(layout, row, cut, &mut out.rows) {
                rest.wrong = Some(error);
                return Step::Stop;
            }
            if scan.want_keys {
                node.put_key(at, out.keys.buffer());
                out.keys.end_row();
            }
            count += 1;
            if count == room { Step::Stop } else { Step::Next }
        })?;
        if let Some(error) = rest.wrong {
            return Err(error);
        }
        match rest.long {
            Some((key, value)) => self.put(&key, &value, out),
            None => Ok(()),
        }
    }

    /// Reads a leaf of an index, as the view sees it, and then the rows of its entries, unless the
    /// entries suffice.
    fn index_rows(&mut self, at: usize, out: &mut RowSet, room: usize) -> EngineResult<()> {
        let Some(view) = &self.view else { return Ok(()) };
        let (scan, scratch) = (&self.scan, &mut self.scratch);
        let pending = &mut self.pending;
        pending.clear();
        let mut count = 0;
        self.walk.leaf(&self.table.trees[at], |node, slot| {
            let mut value = node.value(slot);
            match view.resolve(value, scratch) {
                Resolved::Gone => return Step::Next,
                Resolved::Current => {}
                Resolved::Old => value = scratch,
            }
            count += 1;
            match value::covering(value).filter(|_| scan.covering) {
                Some(entry) => {
                    out.entries.push(entry);
                    if scan.want_keys {
                        put_clustered_key(node, slot, value, &mut out.keys);
                    }
                }
                None => {
                    put_clustered_key(node, slot, value, pending);
                    if scan.covering {
                        return Step::Stop;
                    }
                }
            }
            if count == room { Step::Stop } else { Step::Next }
        })?;
        let (pending, mut hint) = (std::mem::take(&mut self.pending), self.row_hint);
        for key in pending.iter() {
            self.put_seen(&mut hint, key, out)?;
        }
        (self.pending, self.row_hint) = (pending, hint);
        Ok(())
    }

    fn overtakes(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.overtakes)
    }

    /// As [`Self::index_rows`], for a view in which a row may have an entry that the view does not
    /// see: reads every entry, and takes it if the row has its key.
    fn overtaken_rows(&mut self, at: usize, out: &mut RowSet, room: usize) -> EngineResult<()> {
        let mut pending = std::mem::take(&mut self.pending);
        let mut indexed = std::mem::take(&mut self.pending_index);
        pending.clear();
        indexed.clear();
        self.walk.leaf(&self.table.trees[at], |node, slot| {
            put_clustered_key(node, slot, node.value(slot), &mut pending);
            node.put_key(slot, indexed.buffer());
            indexed.end_row();
            if pending.len() == room { Step::Stop } else { Step::Next }
        })?;
        let mut hint = self.row_hint;
        for (key, entry) in pending.iter().zip(indexed.iter()) {
            let Some(view) = &self.view else { break };
            if let Some(value) = self.seen_by(view, &mut hint, key)?
                && self.has_index_key(at, key, &value, entry)?
            {
                self.put(key, &value, out)?;
            }
        }
        (self.pending, self.pending_index, self.row_hint) = (pending, indexed, hint);
        Ok(())
    }

    /// Puts out the row of the clustered key `key`, if the scan's view sees it.
    fn put_seen(&mut self, hint: &mut Hint, key: &[u8], out: &mut RowSet) -> EngineResult<()> {
        let Some(view) = &self.view else { return Ok(()) };
        if self.scan.covering {
            return match self.seen_by(view, hint, key)? {
                Some(value) => self.put(key, &value, out),
                None => Ok(()),
            };
        }
        match self.table.point(view, &self.scan, hint, key, out)? {
            Point::Long(value) => self.put(key, &value, out),
            Point::Row | Point::Nothing | Point::Prefix => Ok(()),
        }
    }

    fn seen_by(
        &self,
        view: &View<'_>,
        hint: &mut Hint,
        key: &[u8],
    ) -> EngineResult<Option<Vec<u8>>> {
        let mut scratch = Vec::new();
        let found = self.table.files.clustered.read_near(hint, Seek::At(key), |node| {
            let value = node.value(node.search(key).ok()?);
            match view.resolve(value, &mut scratch) {
                Resolved::Gone => None,
                Resolved::Current => Some(value.to_vec()),
                Resolved::Old => Some(std::mem::take(&mut scratch)),
            }
        })?;
        Ok(found)
    }

    /// Puts out one clustered entry in the form that the scan asks for. Holds no latch.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8], out: &mut RowSet) -> EngineResult<()> {
        if self.table.shared.storage.salvages() && !self.table.is_readable(value) {
            return Ok(());
        }
        let layout = &self.table.def.layout;
        if self.scan.want_keys {
            out.keys.push(key);
        }
        if let (true, Some(at)) = (self.scan.covering, self.scan.index) {
            self.scratch.clear();
            self.table.whole_row(value, &mut self.scratch)?;
            self.table.codecs[at].entry_of_row(layout, &self.scratch, out.entries.buffer())?;
            out.entries.end_row();
            return Ok(());
        }
        let (start, fixed) = (value::row_start(value), layout.fixed_bytes());
        if self.scan.fixed_only && start.len() >= fixed && !layout.is_earlier(start) {
            out.rows.push(&start[..fixed]);
        } else {
            self.table.whole_row(value, out.rows.buffer())?;
            out.rows.end_row();
        }
        Ok(())
    }

    /// Whether a locking read considers an entry. It skips entries that are certainly gone, and
    /// those that the statement itself has put there since the scan began (I28).
    fn may_be_live(&self, value: &[u8], scratch: &mut Vec<u8>) -> bool {
        let me = self.trx.state().id;
        match self.table.shared.undo.active_owner(get_u64(value, 0)) {
            Some(owner) if owner.id == me => {
                let newest = self.newest.as_ref();
                newest.is_some_and(|view| view.resolve(value, scratch) != Resolved::Gone)
            }
            Some(_) => true,
            None => !value::is_deleted(value),
        }
    }

    /// Whether an entry cannot be locked at once. Entries after it must then be read, and their
    /// gaps locked, only after the wait: the owner of the lock may still insert there.
    fn must_wait(&self, me: u64, file: FileId, key: &[u8], value: &[u8], explicit: bool) -> bool {
        match self.table.shared.undo.active_owner(get_u64(value, 0)) {
            Some(owner) => owner.id != me,
            None => explicit && self.table.shared.locks.is_contended(me, file, key, self.lock),
        }
    }

    /// Whether a visit stops at the first entry that must be waited for.
    fn stops_to_wait(&self) -> bool {
        self.scan.wait != LockWait::SkipLocked
    }

    fn locked_rows(&mut self, mode: LockMode, out: &mut RowSet, room: usize) -> EngineResult<()> {
        let (mut pending, mut scratch) = (std::mem::take(&mut self.pending), Vec::new());
        pending.clear();
        let table = self.table;
        let (tree, stops) = (&table.files.clustered, self.stops_to_wait());
        let (me, explicit) = (self.trx.state().id, stops && self.trx.others_lock());
        let passed = self.locking_leaf(tree, |node, at| {
            let value = node.value(at);
            if self.may_be_live(value, &mut scratch) {
                node.put_key(at, pending.buffer());
                pending.end_row();
                let key = pending.get(pending.len() - 1);
                if stops && self.must_wait(me, tree.file, key, value, explicit) {
                    return Step::Stop;
                }
            }
            if pending.len() == room { Step::Stop } else { Step::Next }
        })?;
        self.pending = pending;
        let covered = self.passed(passed);
        for at in 0..self.pending.len() {
            let row = self.pending.get(at).to_vec();
            let locked = self.lock_or_look(&row, mode, out).map_err(|e| self.free_gaps(at, e))?;
            if let Some(value) = locked {
                self.put_locked(RowLock { row, entry: None }, &value, out)?;
            }
        }
        if covered {
            self.trx.note_gaps(tree.file, mode);
        }
        self.lock_beyond(mode)
    }

    fn put_locked(&mut self, lock: RowLock, value: &[u8], out: &mut RowSet) -> EngineResult<()> {
        self.put(&lock.row, value, out)?;
        if let Some(given) = &mut self.given {
            given.push(lock);
        }
        Ok(())
    }

    /// Locks a row. If that must wait and the scan is semi-consistent, it returns the last
    /// committed version instead and notes the next row put out as not locked.
    fn lock_or_look(
        &mut self,
        key: &[u8],
        mode: LockMode,
        out: &mut RowSet,
    ) -> EngineResult<Option<Vec<u8>>> {
        if !self.is_semi_consistent() {
            return self.lock_row(key, mode);
        }
        let wait = std::mem::replace(&mut self.scan.wait, LockWait::NoWait);
        let locked = self.lock_row(key, mode);
        self.scan.wait = wait;
        if !matches!(locked, Err(EngineError::LockWaitTimeout)) {
            return locked;
        }
        let view = self.trx.newest_view();
        let seen = self.seen_by(&view, &mut Hint::default(), key)?;
        if seen.is_some() {
            out.unlocked.push(out.count() as u32);
        }
        Ok(seen)
    }

    fn locked_index_rows(
        &mut self,
        at: usize,
        mode: LockMode,
        out: &mut RowSet,
        room: usize,
    ) -> EngineResult<()> {
        let (mut pending, mut scratch) = (std::mem::take(&mut self.pending), Vec::new());
        let mut indexed = std::mem::take(&mut self.pending_index);
        pending.clear();
        indexed.clear();
        let table = self.table;
        let (tree, stops) = (&table.trees[at], self.stops_to_wait());
        let (me, explicit) = (self.trx.state().id, stops && self.trx.others_lock());
        let rows = self.table.files.clustered.file;
        let locks_rows = !self.locks_entries_alone(mode);
        let passed = self.locking_leaf(tree, |node, slot| {
            let value = node.value(slot);
            if self.may_be_live(value, &mut scratch) {
                put_clustered_key(node, slot, value, &mut pending);
                node.put_key(slot, indexed.buffer());
                indexed.end_row();
                let (row, entry) = (pending.get(pending.len() - 1), indexed.get(indexed.len() - 1));
                let waits = || {
                    let locks = &self.table.shared.locks;
                    self.must_wait(me, tree.file, entry, value, explicit)
                        || locks_rows && explicit && locks.is_contended(me, rows, row, mode)
                };
                if stops && waits() {
                    return Step::Stop;
                }
            }
            if pending.len() == room { Step::Stop } else { Step::Next }
        })?;
        (self.pending, self.pending_index) = (pending, indexed);
        let covered = self.passed(passed);
        for n in 0..self.pending.len() {
            let row = self.pending.get(n).to_vec();
            let entry = self.pending_index.get(n).to_vec();
            let locked = self.lock_index_row(at, mode, RowLock { row, entry: Some(entry) }, out);
            locked.map_err(|e| self.free_gaps(n, e))?;
        }
        if covered {
            self.trx.note_gaps(tree.file, mode);
        }
        self.lock_beyond(mode)
    }

    /// Locks an index entry and its row, and puts the row out if both exist.
    ///
    /// Compat: a shared lock of a read of the entry alone is on the entry alone.
    fn lock_index_row(
        &mut self,
        at: usize,
        mode: LockMode,
        lock: RowLock,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        let entry = lock.entry.as_deref().unwrap_or(&[]);
        let Some(found) = self.lock_entry(entry, mode)? else { return Ok(()) };
        if self.locks_entries_alone(mode) {
            return self.put_entry(lock, &found, out);
        }
        let Some(value) = self.lock_row(&lock.row, mode)? else { return Ok(()) };
        if self.has_index_key(at, &lock.row, &value, entry)? {
            self.put_locked(lock, &value, out)?;
        }
        Ok(())
    }

    fn locks_entries_alone(&self, mode: LockMode) -> bool {
        let entries = self.scan.covering || self.scan.entry_locks;
        mode == LockMode::Shared && entries && !self.scan.want_keys
    }

    /// Puts out the data of a locked entry. While the entry is locked, its row cannot lose the
    /// columns of the entry or of the clustered key, so the last committed version of the row is
    /// enough.
    fn put_entry(&mut self, lock: RowLock, found: &[u8], out: &mut RowSet) -> EngineResult<()> {
        if let Some(covering) = value::covering(found).filter(|_| self.scan.covering) {
            out.entries.push(covering);
            if let Some(given) = &mut self.given {
                given.push(lock);
            }
            return Ok(());
        }
        let mut hint = self.row_hint;
        let seen = self.seen_by(&self.trx.newest_view(), &mut hint, &lock.row)?;
        self.row_hint = hint;
        match seen {
            Some(value) => self.put_locked(lock, &value, out),
            None => Ok(()),
        }
    }

    /// Whether the given version of the row has the index key by which it was found.
    fn has_index_key(
        &self,
        at: usize,
        key: &[u8],
        value: &[u8],
        index_key: &[u8],
    ) -> EngineResult<bool> {
        let (mut row, mut now) = (Vec::new(), Vec::new());
        self.table.whole_row(value, &mut row)?;
        self.table.codecs[at].key_of_row(&self.table.def.layout, &row, &mut now)?;
        now.extend_from_slice(key);
        Ok(now == index_key)
    }

    /// Locks a row and returns its newest version; `None` if there is no such row, or it is to be
    /// skipped.
    pub(super) fn lock_row(&mut self, key: &[u8], mode: LockMode) -> EngineResult<Option<Vec<u8>>> {
        self.lock_in(&self.table.files.clustered, key, mode, true)
    }

    /// As [`Self::lock_row`], for an entry of the index that is read.
    fn lock_entry(&mut self, key: &[u8], mode: LockMode) -> EngineResult<Option<Vec<u8>>> {
        let Some(at) = self.index else { return Ok(None) };
        self.lock_in(&self.table.trees[at], key, mode, false)
    }

    /// Kind under which the lock of an entry counts: with the gap before it, unless the range
    /// begins with the entry.
    fn kind_of(&self, file: FileId, key: &[u8], mode: LockMode) -> LockKind {
        let walked =
            self.index.map_or(self.table.files.clustered.file, |at| self.table.trees[at].file);
        let plain = matches!(self.search, None | Some(Search::Equal(Uniqueness::Clustered)));
        match self.gaps && walked == file && !plain && key != self.begin {
            true => LockKind::Gaps(file, mode),
            false => LockKind::Entries(file, mode),
        }
    }

    fn lock_in(
        &mut self,
        tree: &'a Tree,
        key: &[u8],
        mode: LockMode,
        is_row: bool,
    ) -> EngineResult<Option<Vec<u8>>> {
        let file = tree.file;
        let kind = self.kind_of(file, key, mode);
        let me = self.trx.state();
        let (trx, context, wait) = (self.trx, self.context, self.scan.wait);
        let hint = if is_row { &mut self.row_hint } else { &mut self.entry_hint };
        let undo = &self.table.shared.undo;
        let mut begun: Option<Instant> = None;
        let locked = self.table.shared.locks.lock_in_turn(
            &me,
            &Wanted { file, key, mode, wait },
            || newest(undo, tree, hint, key),
            |holders, waiter| {
                let limit = match wait {
                    LockWait::Upto(limit) => limit,
                    _ => context.lock_wait_timeout(),
                };
                // A wake-up that finds other waiters ahead does not restart the time limit.
                let begun = *begun.get_or_insert_with(Instant::now);
                let wait = LockWait::Upto(limit.saturating_sub(begun.elapsed()));
                trx.wait_in_place(holders, waiter, context, wait)
            },
        )?;
        let Some(Locked { found: value, new }) = locked else { return Ok(None) };
        if new {
            self.trx.push_lock(file, key, kind, is_row);
        }
        if let Some(value) = value.as_ref().filter(|_| is_row) {
            self.trx.check_snapshot(get_u64(value, 0))?;
        }
        Ok(value.filter(|value| !value::is_deleted(value)))
    }
}

fn newest(undo: &Undo, tree: &Tree, hint: &mut Hint, key: &[u8]) -> EngineResult<Newest> {
    Ok(tree.read_near(hint, Seek::At(key), |node| match node.search(key) {
        Ok(at) => {
            let value = node.value(at);
            (Some(value.to_vec()), undo.active_owner(get_u64(value, 0)))
        }
        Err(_) => (None, None),
    })?)
}

/// The kind of search: a scan whose bounds are the same key searches for equal keys.
fn search_of(scan: &Scan) -> Search {
    match (&scan.lower, &scan.upper) {
        (Bound::Included(lower), Bound::Included(upper)) if lower == upper => {
            Search::Equal(Uniqueness::Plain)
        }
        _ => Search::Range,
    }
}

/// Appends the clustered key at the end of an index entry's key.
fn put_clustered_key(node: Node<'_>, slot: usize, value: &[u8], out: &mut ByteRows) {
    let (prefix, suffix, split) = (node.prefix(), node.suffix(slot), value::split(value));
    if split < prefix.len() {
        out.buffer().extend_from_slice(&prefix[split..]);
        out.buffer().extend_from_slice(suffix);
    } else {
        out.buffer().extend_from_slice(suffix.get(split - prefix.len()..).unwrap_or(&[]));
    }
    out.end_row();
}

impl Cursor for NativeCursor<'_> {
    fn next_batch(&mut self, out: &mut RowSet, max_rows: usize) -> EngineResult<bool> {
        NativeCursor::next_batch(self, out, max_rows)
    }

    fn restart(&mut self, lower: Bound, upper: Bound) -> EngineResult<()> {
        (self.scan.lower, self.scan.upper) = (lower, upper);
        match self.lock {
            LockMode::None => {
                self.walk.restart(KeyRange::new(&self.scan.lower, &self.scan.upper));
            }
            _ => *self = NativeCursor::new(self.table, self.trx, self.context, &self.scan)?,
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.walk.done && self.beyond.is_none()
    }

    fn unlock(&mut self, rows: &mut dyn Iterator<Item = usize>) {
        let Some(given) = &self.given else { return };
        rows.filter_map(|row| given.get(row)).for_each(|locks| self.give_up(locks));
    }
}
