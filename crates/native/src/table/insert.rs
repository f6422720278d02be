//! Insertion of rows: the clustered entry, then one entry per index.
//!
//! A row that fails leaves no trace (ENG-1). A unique index is checked under a mutex of the key
//! (I26).

use super::TableFiles;
use super::entry::{Action, Outcome, Queue, Writer};
use super::growing::GrowingTools;
use super::handle::NativeTable;
use super::leaf_scan;
use super::next_key::behind;
use super::rows::IndexEntry;
use super::text::{TextIndex, TextTools};
use super::value;
use crate::btree::{Hint, Node, Seek, Tree};
use crate::ids::FileId;
use crate::page::get_u64;
use crate::sync::atomic::Ordering;
use crate::trx::{NativeTrx, TrxState};
use selkie_engine::{
    EngineError, EngineResult, EngineTrx, InsertInfo, KeyRange, LockMode, StatementContext,
};
use selkie_types::ByteRows;
use std::sync::Arc;

/// Buffers and leaf hints of one statement.
pub(super) struct Tools {
    pub(super) row: Hint,
    pub(super) indexes: Vec<Hint>,
    pub(super) body: Vec<u8>,
    pub(super) entry: IndexEntry,
    pub(super) old_entry: IndexEntry,
    /// The row before its change.
    pub(super) old: Vec<u8>,
    pub(super) texts: Vec<TextTools>,
    pub(super) growing: Vec<GrowingTools>,
}

impl Tools {
    pub(super) fn new(table: &NativeTable) -> Tools {
        Tools {
            row: Hint::default(),
            indexes: vec![Hint::default(); table.def.indexes.len()],
            body: Vec::new(),
            entry: IndexEntry::default(),
            old_entry: IndexEntry::default(),
            old: Vec::new(),
            texts: table.texts.iter().map(TextIndex::tools).collect(),
            growing: GrowingTools::beside(table),
        }
    }
}

/// An existing entry that a unique key does not allow beside a new one.
pub(super) enum Rival {
    Nobody,
    /// The clustered key of the row that it belongs to.
    Row(Box<[u8]>),
    /// These transactions have locked the entry with this key and may delete it, or have written it
    /// and may undo that.
    Locked(Vec<Arc<TrxState>>, Vec<u8>),
}

impl NativeTable {
    pub(super) fn insert_rows(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        rows: &ByteRows,
    ) -> EngineResult<InsertInfo> {
        let writer = Writer::new(trx, context);
        let mut tools = Tools::new(self);
        let outcome = rows.iter().enumerate().try_for_each(|(number, row)| {
            let mark = trx.mark();
            self.insert_row(&writer, &mut tools, number, row)
                .or_else(|e| undo_row(trx, mark, e))?;
            self.store_many_words(&writer, &mut tools.texts)
        });
        self.end_words(&writer, &mut tools.texts, outcome)?;
        let rows = rows.len() as u64;
        self.shared.counters.inserted.add(rows);
        trx.state().notes.count_rows(rows);
        Ok(InsertInfo { rows })
    }

    fn insert_row(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        number: usize,
        row: &[u8],
    ) -> EngineResult<()> {
        let key = match self.primary_key(row)? {
            Some(key) => key,
            None => self.files.number_row()?.to_be_bytes().to_vec(),
        };
        let auto = self.auto_value(row)?;
        auto.map(|auto| self.pass_auto(auto));
        if let Some((index, existing)) = self.find_overlap(writer, tools, &key, row)? {
            return Err(EngineError::DuplicateKey { index, row: number, existing });
        }
        if self.files.expects_duplicates()
            && let Some((index, existing)) = self.find_duplicate(writer, tools, &key, row)?
        {
            return Err(EngineError::DuplicateKey { index, row: number, existing });
        }
        self.put_row(writer, tools, &key, row, auto).map_err(|e| numbered(e, number))?;
        for at in self.secondary() {
            self.index_entry(at, &key, row, &mut tools.entry)?;
            self.insert_index_entry(writer, tools, at).map_err(|e| {
                if matches!(e, EngineError::DuplicateKey { .. }) {
                    self.files.expect_duplicates();
                }
                numbered(e, number)
            })?;
        }
        self.insert_growing(writer, &mut tools.growing, &key, row)?;
        self.insert_texts(writer, &mut tools.texts, &key, row)
    }

    /// The index in which an insert of the row would find a duplicate, and the clustered key of the
    /// row that has it. `None` if there is none, or if the insert would have to wait before it
    /// finds it. Changes nothing, so that nothing is logged and undone.
    fn find_duplicate(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        key: &[u8],
        row: &[u8],
    ) -> EngineResult<Option<(usize, Box<[u8]>)>> {
        let clustered = &self.files.clustered;
        let is_new =
            clustered.read_near(&mut tools.row, Seek::At(key), |node| node.search(key).is_err())?;
        if !is_new || writer.is_kept_out(clustered.file, key) {
            return Ok(None);
        }
        for at in self.secondary() {
            self.index_entry(at, key, row, &mut tools.entry)?;
            if self.def.indexes[at].is_unique() && !tools.entry.any_null {
                match self.rival_of_entry(writer, at, &tools.entry)? {
                    Rival::Row(existing) => return Ok(Some((at, existing))),
                    Rival::Locked(..) => return Ok(None),
                    Rival::Nobody => {}
                }
            }
            if writer.is_kept_out(self.trees[at].file, &tools.entry.key) {
                return Ok(None);
            }
        }
        self.files.expect_no_duplicates();
        Ok(None)
    }

    /// Moves the counter behind a value, and returns where it was.
    pub(super) fn pass_auto(&self, value: u64) -> u64 {
        self.files.auto.fetch_max(value.saturating_add(1), Ordering::AcqRel)
    }

    /// Inserts the clustered entry.
    pub(super) fn put_row(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        key: &[u8],
        row: &[u8],
        auto: Option<u64>,
    ) -> EngineResult<()> {
        self.row_body(key, row, &mut tools.body)?;
        let action = Action::Insert { body: &tools.body, auto };
        let TableFiles { clustered, columns, .. } = &*self.files;
        let outcome = match self.clusters_periods() {
            true => self.put_period(writer, &mut tools.row, key, action),
            false => writer.change(clustered, &mut tools.row, key, action, Some(columns)),
        };
        if let Ok(Outcome::Done(_)) = outcome {
            self.files.add_rows(1);
            return Ok(());
        }
        self.discard_body(&tools.body)?;
        outcome?;
        Err(EngineError::DuplicateKey { index: 0, row: 0, existing: key.into() })
    }

    /// Inserts `tools.entry` into the index at `at`.
    pub(super) fn insert_index_entry(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        at: usize,
    ) -> EngineResult<()> {
        let unique = self.def.indexes[at].is_unique() && !tools.entry.any_null;
        let (tree, hint, entry) = (&self.trees[at], &mut tools.indexes[at], &tools.entry);
        let action = Action::Insert { body: &entry.body, auto: None };
        let mut queue = Queue::default();
        loop {
            queue.behind.look_again();
            // I26: equal keys may lie in different leaves, so check and insert go under a mutex of
            // the key.
            let head = self.codecs[at].period(&entry.key[..entry.split]).map(|key| key.head);
            let guarded = head.unwrap_or(&entry.key[..entry.split]);
            let stripe = unique.then(|| self.shared.stripe(tree.file, guarded).lock());
            let rival = match unique {
                true => self.rival_of_entry(writer, at, entry)?,
                false => Rival::Nobody,
            };
            let (holders, entry_key) = match rival {
                Rival::Row(existing) => {
                    return Err(EngineError::DuplicateKey { index: at, row: 0, existing });
                }
                Rival::Locked(holders, key) => (holders, Some(key)),
                Rival::Nobody => match writer.try_change(tree, hint, &entry.key, action, None)? {
                    Outcome::Done(_) => return Ok(()),
                    Outcome::Gap(holders) => (holders, None),
                    Outcome::Locked(holders) => (holders, Some(entry.key.clone())),
                    Outcome::Missing | Outcome::Duplicate => {
                        return Err(EngineError::Corrupt(format!(
                            "index {} of table {} has an entry of a row that does not exist",
                            self.def.indexes[at].name, self.def.name
                        )));
                    }
                },
            };
            drop(stripe);
            let place = (tree.file, entry_key.as_deref().unwrap_or(&entry.key));
            match entry_key {
                Some(_) => writer.wait_behind(&mut queue, place, LockMode::Shared, &holders)?,
                None => writer.wait_for_gap(&mut queue, place, &holders)?,
            }
        }
    }

    /// Searches for an entry that a unique index does not allow beside a new one.
    fn rival_of_entry(
        &self,
        writer: &Writer<'_>,
        at: usize,
        entry: &IndexEntry,
    ) -> EngineResult<Rival> {
        match self.codecs[at].period(&entry.key[..entry.split]) {
            Some(key) => self.period_rival(writer, at, &key),
            None => self.rival(writer, &self.trees[at], entry),
        }
    }

    /// Searches for another entry with the same index key.
    pub(super) fn rival(
        &self,
        writer: &Writer<'_>,
        tree: &Tree,
        entry: &IndexEntry,
    ) -> EngineResult<Rival> {
        let (me, file) = (writer.trx.state().id, tree.file);
        let range = KeyRange::prefix(&entry.key[..entry.split]);
        let found = leaf_scan::find(tree, range, |node, slot| {
            let (key, value) = (node.key(slot), node.value(slot));
            let owner = self.shared.undo.active_owner(get_u64(value, 0));
            if let Some(owner) = owner.filter(|owner| owner.id != me) {
                return Some(Rival::Locked(vec![owner], key));
            }
            if value::is_deleted(value) {
                return None;
            }
            if let Err(holders) = lock_gap_before(writer.trx, node, slot, file) {
                return Some(Rival::Locked(holders, key));
            }
            Some(Rival::Row(key.get(value::split(value)..).unwrap_or(&[]).into()))
        })?;
        Ok(found.unwrap_or(Rival::Nobody))
    }
}

/// Locks the gap before the entry that blocks a new one, or returns the transactions that have
/// locked the entry and may delete it.
///
/// Compat: that gap stays locked at all isolation levels.
fn lock_gap_before(
    trx: &NativeTrx,
    node: Node<'_>,
    slot: usize,
    file: FileId,
) -> Result<(), Vec<Arc<TrxState>>> {
    let key = node.key(slot);
    let holders = trx.shared.locks.blocking(trx.state().id, file, &key, LockMode::Shared);
    if !holders.is_empty() {
        return Err(holders.into_vec());
    }
    trx.lock_gap(file, &behind(node, slot), Some(&key));
    Ok(())
}

/// The error of a row that a unique index does not allow.
pub(super) fn duplicate(index: usize, existing: Box<[u8]>) -> EngineError {
    EngineError::DuplicateKey { index, row: 0, existing }
}

/// Undoes the changes of a failed row. After a deadlock everything is undone already.
pub(super) fn undo_row<T>(trx: &NativeTrx, mark: u64, error: EngineError) -> EngineResult<T> {
    if !matches!(error, EngineError::Deadlock) {
        trx.rollback_to(mark)?;
    }
    Err(error)
}

/// Sets the row number of an error to `number` of the batch.
pub(super) fn numbered(error: EngineError, number: usize) -> EngineError {
    match error {
        EngineError::DuplicateKey { index, existing, .. } => {
            EngineError::DuplicateKey { index, row: number, existing }
        }
        other => other,
    }
}
