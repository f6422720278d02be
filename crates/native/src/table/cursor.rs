//! Scans: consistent ones through the transaction's view, locking ones row by row on the newest version.

use super::handle::NativeTable;
use super::leaf_scan::{Step, Walk};
use super::next_key::{Search, Uniqueness, stretch};
use super::rows::push_row;
use super::value;
use crate::btree::{Hint, Node, Seek, Tree};
use crate::lock::Place;
use crate::page::get_u64;
use crate::trx::{NativeTrx, Resolved, TrxState, View};
use selkie_engine::{
    Bound, Cursor, EngineError, EngineResult, KeyRange, LockMode, LockWait, RowSet, Scan,
    StatementContext,
};
use selkie_types::ByteRows;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes after which a batch ends early.
const BATCH_BYTES: usize = 4 << 20;

/// The newest version of a row, if there is one, and its writer as long as that has not ended.
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
    /// What a consistent read sees.
    view: Option<View<'a>>,
    /// What was there when a locking read began.
    newest: Option<View<'a>>,
    row_hint: Hint,
    scratch: Vec<u8>,
    /// Clustered keys whose rows are to be fetched.
    pending: ByteRows,
    /// Index keys of `pending`, for locking reads that must see whether the row still has them.
    pending_index: ByteRows,
    /// What a locking read searches for, if it locks gaps.
    search: Option<Search>,
    /// The row behind the range that is to be locked.
    beyond: Option<Vec<u8>>,
    /// Clustered keys of the locked rows of the last batch, if they may be unlocked again.
    given: Option<Vec<Vec<u8>>>,
}

/// What a leaf gave besides rows put out already.
#[derive(Default)]
struct Rest {
    /// A row that continues elsewhere: key and value.
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
        let lock = scan.lock;
        let range = KeyRange::new(&scan.lower, &scan.upper);
        Ok(NativeCursor {
            table,
            trx,
            context,
            index: table.secondary_of(scan),
            lock,
            walk: Walk::new(range, scan.reverse),
            view: (lock == LockMode::None).then(|| trx.view()),
            newest: (lock != LockMode::None).then(|| trx.newest_view()),
            scan: scan.clone(),
            row_hint: Hint::default(),
            scratch: Vec::new(),
            pending: ByteRows::default(),
            pending_index: ByteRows::default(),
            search: (lock != LockMode::None && trx.locks_gaps()).then(|| search_of(scan)),
            beyond: None,
            given: (lock != LockMode::None && !trx.locks_gaps()).then(Vec::new),
        })
    }

    /// Appends the rows whose keys begin with `key`.
    pub(super) fn search_for(&mut self, key: &[u8], out: &mut RowSet) -> EngineResult<()> {
        let uniqueness = self.uniqueness();
        self.search = self.search.map(|_| Search::Equal(uniqueness));
        let before = produced(out);
        self.walk.restart(KeyRange::prefix(key));
        while self.next_batch(out, 1024)? {}
        let one = uniqueness != Uniqueness::Plain && self.search.is_some();
        if one && produced(out) == before {
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

    /// Visits a leaf for a locking read: calls `visit`, then locks the gaps between what it saw.
    /// Returns where the walk stands, and the row behind the range if that is to be locked.
    fn locking_leaf(
        &self,
        tree: &Tree,
        visit: impl FnMut(Node<'_>, usize) -> Step,
    ) -> EngineResult<(Walk, Option<Vec<u8>>)> {
        let (mut walk, mut beyond) = (self.walk.clone(), None);
        walk.leaf_passing(tree, visit, |passed| {
            let Some(search) = self.search else { return };
            let live = |node: Node<'_>, at| self.may_be_live(node.value(at), &mut Vec::new());
            let (reverse, start) = (self.walk.reverse, &self.walk.range.start);
            let Some(stretch) = stretch(&passed, reverse, search, start, live) else { return };
            self.trx.lock_gap(tree.file, &stretch.from, stretch.to.as_deref());
            beyond = stretch.beyond.map(|at| self.clustered_key(passed.node, at));
        })?;
        Ok((walk, beyond))
    }

    /// The clustered key of an entry of the tree that is walked.
    fn clustered_key(&self, node: Node<'_>, at: usize) -> Vec<u8> {
        let key = node.key(at);
        match self.index {
            Some(_) => key.get(value::split(node.value(at))..).unwrap_or(&[]).to_vec(),
            None => key,
        }
    }

    fn passed(&mut self, (walk, beyond): (Walk, Option<Vec<u8>>)) {
        self.walk = walk;
        self.beyond = beyond.or(self.beyond.take());
    }

    /// Locks the row behind the range once its last row was.
    fn lock_beyond(&mut self, mode: LockMode) -> EngineResult<()> {
        match self.beyond.take() {
            Some(key) if self.walk.done => self.lock_row(&key, mode).map(drop),
            other => {
                self.beyond = other;
                Ok(())
            }
        }
    }

    /// Appends up to `max_rows` rows; whether there were any.
    pub(super) fn next_batch(&mut self, out: &mut RowSet, max_rows: usize) -> EngineResult<bool> {
        self.context.check_killed()?;
        self.given.iter_mut().for_each(Vec::clear);
        let before = produced(out);
        let wanted = before + max_rows.max(1);
        while !self.walk.done && produced(out) < wanted {
            let room = wanted - produced(out);
            match (self.lock, self.index) {
                (LockMode::None, None) => self.rows(out, room)?,
                (LockMode::None, Some(at)) => self.index_rows(at, out, room)?,
                (mode, None) => self.locked_rows(mode, out, room)?,
                (mode, Some(at)) => self.locked_index_rows(at, mode, out, room)?,
            }
            if out.rows.data().len() + out.entries.data().len() > BATCH_BYTES
                && produced(out) > before
            {
                break;
            }
        }
        let read = produced(out) - before;
        self.table.shared.counters.read.add(read as u64);
        Ok(read > 0)
    }

    /// A leaf of the clustered tree, as the view sees it.
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

    /// A leaf of an index, as the view sees it, and the rows of its entries unless the entries suffice.
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
            if let Some(value) = self.seen_row(&mut hint, key)? {
                self.put(key, &value, out)?;
            }
        }
        (self.pending, self.row_hint) = (pending, hint);
        Ok(())
    }

    /// The clustered value of `key` that the scan's view sees.
    fn seen_row(&self, hint: &mut Hint, key: &[u8]) -> EngineResult<Option<Vec<u8>>> {
        let Some(view) = &self.view else { return Ok(None) };
        self.seen_by(view, hint, key)
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

    /// Puts out one clustered entry as what the scan wants of it. Holds no latch.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8], out: &mut RowSet) -> EngineResult<()> {
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

    /// Whether a locking read looks at an entry: not if it is certainly gone, and not if the statement itself has put
    /// it there since the scan began (I28).
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

    fn locked_rows(&mut self, mode: LockMode, out: &mut RowSet, room: usize) -> EngineResult<()> {
        let (mut pending, mut scratch) = (std::mem::take(&mut self.pending), Vec::new());
        pending.clear();
        let passed = self.locking_leaf(&self.table.files.clustered, |node, at| {
            if self.may_be_live(node.value(at), &mut scratch) {
                node.put_key(at, pending.buffer());
                pending.end_row();
            }
            if pending.len() == room { Step::Stop } else { Step::Next }
        })?;
        self.pending = pending;
        self.passed(passed);
        for at in 0..self.pending.len() {
            let key = self.pending.get(at).to_vec();
            if let Some(value) = self.lock_or_look(&key, mode, out)? {
                self.put_locked(&key, &value, out)?;
            }
        }
        self.lock_beyond(mode)
    }

    fn put_locked(&mut self, key: &[u8], value: &[u8], out: &mut RowSet) -> EngineResult<()> {
        self.given.iter_mut().for_each(|given| given.push(key.to_vec()));
        self.put(key, value, out)
    }

    /// Locks a row, or if that would have to wait and the scan asks for it, notes the next row put
    /// out as not locked and returns its last committed version.
    fn lock_or_look(
        &mut self,
        key: &[u8],
        mode: LockMode,
        out: &mut RowSet,
    ) -> EngineResult<Option<Vec<u8>>> {
        if !self.scan.semi_consistent {
            return self.lock_row(key, mode);
        }
        let wait = std::mem::replace(&mut self.scan.wait, LockWait::NoWait);
        let locked = self.lock_row(key, mode);
        self.scan.wait = wait;
        if !matches!(locked, Err(EngineError::LockWaitTimeout)) {
            return locked;
        }
        let view = self.trx.view();
        let seen = self.seen_by(&view, &mut Hint::default(), key)?;
        if seen.is_some() {
            out.unlocked.push(produced(out) as u32);
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
        let passed = self.locking_leaf(&self.table.trees[at], |node, slot| {
            let value = node.value(slot);
            if self.may_be_live(value, &mut scratch) {
                put_clustered_key(node, slot, value, &mut pending);
                node.put_key(slot, indexed.buffer());
                indexed.end_row();
            }
            if pending.len() == room { Step::Stop } else { Step::Next }
        })?;
        (self.pending, self.pending_index) = (pending, indexed);
        self.passed(passed);
        for n in 0..self.pending.len() {
            let key = self.pending.get(n).to_vec();
            let Some(value) = self.lock_or_look(&key, mode, out)? else { continue };
            if self.has_index_key(at, &key, &value, self.pending_index.get(n))? {
                self.put_locked(&key, &value, out)?;
            } else if out.unlocked.last() == Some(&(produced(out) as u32)) {
                out.unlocked.pop();
            }
        }
        self.lock_beyond(mode)
    }

    /// Whether the row as it is now has the index key by which it was found.
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

    /// Locks a row and returns its newest version; `None` if there is no such row, or it is to be skipped.
    pub(super) fn lock_row(&mut self, key: &[u8], mode: LockMode) -> EngineResult<Option<Vec<u8>>> {
        let file = self.table.files.clustered.file;
        let me = self.trx.state();
        let locks = &self.table.shared.locks;
        let (mut place, mut begun): (Option<Place<'_>>, Option<Instant>) = (None, None);
        loop {
            let waiter = place.as_ref().map(|place| &place.waiter);
            waiter.into_iter().for_each(|waiter| waiter.reset());
            let acquired = locks.acquire(&me, file, key, mode, waiter);
            let new = matches!(acquired, Ok(true));
            // Read after locking: whoever changes the row from now on meets the lock.
            let (value, owner) = self.newest(key)?;
            let mine = owner.as_ref().is_some_and(|owner| owner.id == me.id);
            let holders = match (acquired, owner) {
                // A row of one's own is locked already, whoever queues for it.
                (_, Some(_)) if mine => Vec::new(),
                (_, Some(owner)) => vec![owner],
                (Err(holders), None) => holders.into_vec(),
                (Ok(_), None) => Vec::new(),
            };
            if holders.is_empty() {
                if new {
                    self.trx.push_lock(file, key);
                }
                if let Some(value) = &value {
                    self.trx.check_snapshot(get_u64(value, 0))?;
                }
                return Ok(value.filter(|value| !value::is_deleted(value)));
            }
            if new {
                // The owner, who has the row already, must not find it locked meanwhile.
                locks.take_back(me.id, file, key);
            }
            match self.scan.wait {
                LockWait::SkipLocked => return Ok(None),
                LockWait::NoWait => return Err(EngineError::LockWaitTimeout),
                LockWait::Default | LockWait::Upto(_) => {}
            }
            let Some(place) = &place else {
                place = Some(locks.queue(&me, file, key, mode));
                continue;
            };
            let wait = match self.scan.wait {
                LockWait::Default => self.context.lock_wait_timeout(),
                LockWait::Upto(limit) => limit,
                LockWait::NoWait | LockWait::SkipLocked => Duration::ZERO,
            };
            // Waking up to find others ahead does not begin the wait anew.
            let begun = *begun.get_or_insert_with(Instant::now);
            let wait = LockWait::Upto(wait.saturating_sub(begun.elapsed()));
            me.notes.will_wait_for(file, key, mode);
            self.trx.wait_in_place(&holders, place.waiter.clone(), self.context, wait)?;
        }
    }

    fn newest(&mut self, key: &[u8]) -> EngineResult<Newest> {
        let undo = &self.table.shared.undo;
        let tree = &self.table.files.clustered;
        Ok(tree.read_near(&mut self.row_hint, Seek::At(key), |node| match node.search(key) {
            Ok(at) => {
                let value = node.value(at);
                (Some(value.to_vec()), undo.active_owner(get_u64(value, 0)))
            }
            Err(_) => (None, None),
        })?)
    }
}

/// A scan whose bounds are the same key searches for keys equal to it.
fn search_of(scan: &Scan) -> Search {
    match (&scan.lower, &scan.upper) {
        (Bound::Included(lower), Bound::Included(upper)) if lower == upper => {
            Search::Equal(Uniqueness::Plain)
        }
        _ => Search::Range,
    }
}

/// Appends the clustered key that an index entry ends with.
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

/// Rows or entries in the set.
pub(super) fn produced(out: &RowSet) -> usize {
    out.rows.len() + out.entries.len()
}

impl Cursor for NativeCursor<'_> {
    fn next_batch(&mut self, out: &mut RowSet, max_rows: usize) -> EngineResult<bool> {
        NativeCursor::next_batch(self, out, max_rows)
    }

    fn unlock(&mut self, rows: &mut dyn Iterator<Item = usize>) {
        let Some(given) = &self.given else { return };
        let file = self.table.files.clustered.file;
        rows.filter_map(|row| given.get(row)).for_each(|key| self.trx.drop_lock(file, key));
    }
}
