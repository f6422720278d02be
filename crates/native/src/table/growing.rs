//! An index that grows while transactions change its table: they keep it beside the indexes of
//! their definition, and its builder fills in what they have not touched.
//!
//! # Invariants
//! - GRO-1 A writer that changes a row whose last version is committed finds its entry or fills it
//!   in, and leaves it with that version before: so a rollback restores it. It does so even if the
//!   entry stays the same.
//! - GRO-4 So an entry of a row that the writer itself has changed before is missing only if that
//!   was before the index began to grow. Then there is nothing to change and nothing to restore:
//!   the fill waits for the transaction, and finds what it leaves.
//! - GRO-2 The fill never changes an entry that is there, and no delete mark leaves a growing tree:
//!   what a writer has done stays, whatever older snapshot the fill has read.
//! - GRO-3 Of two entries with one key of a unique index the one put later notes the key, unless
//!   the other one is certainly deleted. So every duplicate is noted.
//!
//! A writer must not fail because of an index that is not there yet, unless it becomes the
//! definition's at this moment.

use super::entry::{Action, Outcome, Queue, Writer};
use super::handle::NativeTable;
use super::insert::Rival;
use super::leaf_scan;
use super::rows::IndexEntry;
use super::value;
use crate::btree::{Decision, Hint, MAX_KEY, Tree};
use crate::engine::Shared;
use crate::page::get_u64;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};
use hashbrown::HashSet;
use selkie_engine::{EngineError, EngineResult, IndexCodec, IndexId, KeyRange, LockMode, TableDef};
use std::sync::Arc;

/// An index that is being built, under the definition that will have it.
pub(crate) struct Growing {
    pub(crate) def: Arc<TableDef>,
    /// Its position in the definition.
    pub(crate) position: usize,
    pub(crate) tree: Arc<Tree>,
    pub(super) codec: IndexCodec,
    /// It is complete, and its rules hold for all writers.
    enforced: AtomicBool,
    /// Keys that two rows may have.
    doubtful: Mutex<HashSet<Vec<u8>>>,
    /// A row that cannot have an entry.
    refused: Mutex<Option<EngineError>>,
}

/// A row before a change: clustered key, the value stored there, and the whole row.
#[derive(Clone, Copy)]
pub(super) struct Before<'r> {
    pub(super) key: &'r [u8],
    pub(super) value: &'r [u8],
    pub(super) row: &'r [u8],
}

/// A writer's means to keep one growing index.
pub(super) struct GrowingTools {
    index: Arc<Growing>,
    hint: Hint,
    entry: IndexEntry,
    old: IndexEntry,
}

/// The rows of a unique key.
#[derive(Default)]
struct Holders {
    /// Rows that certainly have it.
    settled: usize,
    /// Rows that have it or not, as their writers' transactions end.
    doubtful: usize,
    /// Clustered key of one that has it.
    one: Vec<u8>,
}

impl GrowingTools {
    /// The growing indexes that a handle's definition does not have.
    pub(super) fn beside(table: &NativeTable) -> Vec<GrowingTools> {
        let tools = |index| GrowingTools {
            index,
            hint: Hint::default(),
            entry: IndexEntry::default(),
            old: IndexEntry::default(),
        };
        table.files.growing_beside(&table.def, &table.growth_seen).into_iter().map(tools).collect()
    }
}

impl Growing {
    pub(crate) fn new(def: Arc<TableDef>, position: usize, tree: Arc<Tree>) -> Growing {
        let codec = IndexCodec::new(&def, &def.indexes[position]);
        Growing {
            def,
            position,
            tree,
            codec,
            enforced: AtomicBool::new(false),
            doubtful: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    pub(crate) fn id(&self) -> IndexId {
        self.def.indexes[self.position].id
    }

    fn is_unique(&self) -> bool {
        self.def.indexes[self.position].is_unique()
    }

    /// Read behind the gate.
    fn is_enforced(&self) -> bool {
        self.enforced.load(Ordering::Acquire)
    }

    /// The entry of a row; false if it cannot have one, which is the builder's error as long as the
    /// index is not enforced.
    fn entry(&self, clustered: &[u8], row: &[u8], out: &mut IndexEntry) -> EngineResult<bool> {
        out.key.clear();
        out.any_null = self.codec.key_of_row(&self.def.layout, row, &mut out.key)?;
        out.split = out.key.len();
        out.key.extend_from_slice(clustered);
        if out.key.len() > MAX_KEY {
            let error = || EngineError::RowTooBig(MAX_KEY);
            if self.is_enforced() {
                return Err(error());
            }
            self.refused.lock().get_or_insert_with(error);
            return Ok(false);
        }
        out.body.clear();
        super::build::put_body(&self.codec, &self.def, out.split, row, &mut out.body)?;
        Ok(true)
    }

    /// Fails if a writer could not keep the index.
    pub(crate) fn check_refused(&self) -> EngineResult<()> {
        self.refused.lock().take().map_or(Ok(()), Err)
    }

    /// The rows that have the unique key `unique`, other than the one with the entry `except`.
    fn holders(&self, shared: &Shared, unique: &[u8], except: &[u8]) -> EngineResult<Holders> {
        let mut found = Holders::default();
        leaf_scan::find(&self.tree, KeyRange::prefix(unique), |node, slot| {
            let (key, value) = (node.key(slot), node.value(slot));
            if key == except {
                return None;
            }
            if shared.undo.active_owner(get_u64(value, 0)).is_some() {
                found.doubtful += 1;
            } else if !value::is_deleted(value) {
                found.settled += 1;
                found.one.clear();
                found.one.extend_from_slice(key.get(unique.len()..).unwrap_or(&[]));
            }
            None::<()>
        })?;
        Ok(found)
    }

    /// The part of an entry's key that no other row may have.
    fn unique_part<'e>(&self, entry: &'e IndexEntry) -> Option<&'e [u8]> {
        (self.is_unique() && !entry.any_null).then(|| &entry.key[..entry.split])
    }

    fn duplicate(&self, existing: Vec<u8>) -> EngineError {
        EngineError::DuplicateKey { index: self.position, row: 0, existing: existing.into() }
    }

    /// Puts the entry of a row that a snapshot has seen, unless there is one (GRO-2). `unique` is
    /// the length of its key if that must not repeat, else 0.
    pub(crate) fn fill(
        &self,
        shared: &Shared,
        hint: &mut Hint,
        (key, value): (&[u8], &[u8]),
        unique: usize,
    ) -> EngineResult<()> {
        let unique = (unique > 0 && self.is_unique()).then(|| &key[..unique]);
        let stripe = unique.map(|part| shared.stripe(self.tree.file, part).lock());
        let put = self.put_missing(hint, key, value)?;
        let Some(part) = unique.filter(|_| put) else { return Ok(()) };
        let others = self.holders(shared, part, key)?;
        drop(stripe);
        if others.settled > 0 {
            // No writer has touched the entry put, so its row has the key now, as the other does.
            return Err(self.duplicate(others.one));
        }
        if others.doubtful > 0 {
            self.doubtful.lock().insert(part.to_vec());
        }
        Ok(())
    }

    /// Puts an entry unless it is there. Returns whether it was missing.
    fn put_missing(&self, hint: &mut Hint, key: &[u8], value: &[u8]) -> EngineResult<bool> {
        let mut put = false;
        self.tree.write(key, value.len(), false, hint, &|_| false, |found, change| {
            if found.is_some() {
                return Decision::Leave;
            }
            put = true;
            change.value.extend_from_slice(value);
            Decision::Put
        })?;
        Ok(put)
    }

    /// Fills in the entry of a row that a writer has changed in other columns (GRO-1).
    fn fill_in(
        &self,
        table: &NativeTable,
        hint: &mut Hint,
        entry: &IndexEntry,
    ) -> EngineResult<()> {
        let Some(_pass) = self.tree.gate.pass() else { return Ok(()) };
        let (unique, shared) = (self.unique_part(entry), &table.shared);
        let _stripe = unique.map(|key| shared.stripe(self.tree.file, key).lock());
        match self.put_missing(hint, &entry.key, &[&[0; 8], &entry.body[..]].concat())? {
            true => self.note(shared, unique, &entry.key),
            false => Ok(()),
        }
    }

    /// Makes the rules of the index hold for all writers, if no row breaks them. Returns false if
    /// that depends on transactions that have not ended.
    pub(crate) fn enforce(&self, shared: &Shared) -> EngineResult<bool> {
        crate::failpoint::reached("index filled");
        let _alone = self.tree.gate.hold();
        self.check_refused()?;
        let mut doubtful = self.doubtful.lock();
        let mut open = HashSet::new();
        for unique in doubtful.drain() {
            let holders = self.holders(shared, &unique, &[])?;
            if holders.settled > 1 {
                return Err(self.duplicate(holders.one));
            }
            if holders.doubtful > 0 && holders.settled + holders.doubtful > 1 {
                open.insert(unique);
            }
        }
        *doubtful = open;
        let settled = doubtful.is_empty();
        self.enforced.store(settled, Ordering::Release);
        Ok(settled)
    }

    /// Puts a writer's new entry.
    fn insert(
        &self,
        table: &NativeTable,
        writer: &Writer<'_>,
        hint: &mut Hint,
        entry: &IndexEntry,
    ) -> EngineResult<()> {
        let unique = self.unique_part(entry);
        let action = Action::Insert { body: &entry.body, auto: None };
        let shared = &table.shared;
        let mut queue = Queue::default();
        loop {
            queue.behind.look_again();
            let Some(pass) = self.tree.gate.pass() else { return Ok(()) };
            let stripe = unique.map(|key| shared.stripe(self.tree.file, key).lock());
            let rival = match self.is_enforced() && unique.is_some() {
                true => table.rival(writer, &self.tree, entry)?,
                false => Rival::Nobody,
            };
            let (holders, at) = match rival {
                // The index is the definition's by now, or will be in a moment.
                Rival::Row(_) => return Err(EngineError::TableChanged),
                Rival::Locked(holders, key) => (holders, Some(key)),
                Rival::Nobody => {
                    match writer.try_change(&self.tree, hint, &entry.key, action, None)? {
                        Outcome::Done(_) => return self.note(shared, unique, &entry.key),
                        Outcome::Gap(holders) => (holders, None),
                        Outcome::Locked(holders) => (holders, Some(entry.key.clone())),
                        Outcome::Missing | Outcome::Duplicate => return Err(self.wrong()),
                    }
                }
            };
            drop(stripe);
            drop(pass);
            let place = (self.tree.file, at.as_deref().unwrap_or(&entry.key));
            match at {
                Some(_) => writer.wait_behind(&mut queue, place, LockMode::Shared, &holders)?,
                None => writer.wait_for_gap(&mut queue, place, &holders)?,
            }
        }
    }

    /// Notes a unique key that another row may have too (GRO-3).
    fn note(&self, shared: &Shared, unique: Option<&[u8]>, key: &[u8]) -> EngineResult<()> {
        let Some(unique) = unique.filter(|_| !self.is_enforced()) else { return Ok(()) };
        let others = self.holders(shared, unique, key)?;
        if others.settled + others.doubtful > 0 {
            self.doubtful.lock().insert(unique.to_vec());
        }
        Ok(())
    }

    /// Changes or marks a writer's old entry.
    fn change(
        &self,
        table: &NativeTable,
        writer: &Writer<'_>,
        hint: &mut Hint,
        (entry, action): (&IndexEntry, Action<'_>),
    ) -> EngineResult<()> {
        let (key, shared) = (&entry.key, &table.shared);
        let unique = self.unique_part(entry);
        let is_own = matches!(action, Action::Update { .. } | Action::Delete);
        let mut queue = Queue::default();
        loop {
            queue.behind.look_again();
            let Some(pass) = self.tree.gate.pass() else { return Ok(()) };
            let stripe = unique.map(|key| shared.stripe(self.tree.file, key).lock());
            let holders = match writer.try_change(&self.tree, hint, key, action, None)? {
                Outcome::Locked(holders) | Outcome::Gap(holders) => holders,
                // A rollback may bring it back.
                Outcome::Done(_) => return self.note(shared, unique, key),
                Outcome::Missing if is_own => return Ok(()),
                Outcome::Missing | Outcome::Duplicate => return Err(self.wrong()),
            };
            drop(stripe);
            drop(pass);
            writer.wait_behind(&mut queue, (self.tree.file, key), action.mode(), &holders)?;
        }
    }

    fn wrong(&self) -> EngineError {
        EngineError::Corrupt(format!(
            "index {} of table {} does not match a row while it is built",
            self.def.indexes[self.position].name, self.def.name
        ))
    }
}

impl NativeTable {
    /// Keeps growing indexes when a row is inserted.
    pub(super) fn insert_growing(
        &self,
        writer: &Writer<'_>,
        tools: &mut [GrowingTools],
        key: &[u8],
        row: &[u8],
    ) -> EngineResult<()> {
        tools.iter_mut().try_for_each(|GrowingTools { index, hint, entry, .. }| {
            match index.entry(key, row, entry)? {
                true => index.insert(self, writer, hint, entry),
                false => Ok(()),
            }
        })
    }

    /// Keeps growing indexes when a row is deleted.
    pub(super) fn delete_growing(
        &self,
        writer: &Writer<'_>,
        tools: &mut [GrowingTools],
        before: Before<'_>,
    ) -> EngineResult<()> {
        let is_own = !tools.is_empty() && writer.owns(before.value);
        tools.iter_mut().try_for_each(|GrowingTools { index, hint, old, .. }| {
            match index.entry(before.key, before.row, old)? {
                true => index.change(self, writer, hint, (old, deletion(old, is_own))),
                false => Ok(()),
            }
        })
    }

    /// Keeps growing indexes when a row is changed, as `update_index_entry` does.
    pub(super) fn update_growing(
        &self,
        writer: &Writer<'_>,
        tools: &mut [GrowingTools],
        before: Before<'_>,
        (key, row): (&[u8], &[u8]),
    ) -> EngineResult<()> {
        let is_own = !tools.is_empty() && writer.owns(before.value);
        for GrowingTools { index, hint, entry, old } in tools {
            let was = index.entry(before.key, before.row, old)?;
            let is = index.entry(key, row, entry)?;
            let same = was && is && old.key == entry.key;
            if same && old.body != entry.body {
                let body = &entry.body;
                let action = match is_own {
                    true => Action::Update { body, auto: None },
                    false => Action::UpdateGrown { old: &old.body, body },
                };
                index.change(self, writer, hint, (entry, action))?;
            } else if same && !is_own {
                index.fill_in(self, hint, entry)?;
            }
            if same {
                continue;
            }
            if was {
                index.change(self, writer, hint, (old, deletion(old, is_own)))?;
            }
            if is {
                index.insert(self, writer, hint, entry)?;
            }
        }
        Ok(())
    }
}

/// The deletion of a row's old entry. `is_own`: the writer has written the row before.
fn deletion(old: &IndexEntry, is_own: bool) -> Action<'_> {
    match is_own {
        true => Action::Delete,
        false => Action::DeleteGrown { old: &old.body },
    }
}
