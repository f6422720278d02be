//! Indexes without overlaps: a row may enter only where no other row with the same key has a period
//! that overlaps its own.
//!
//! Check and insert go under a mutex of the key's parts before the period, at every isolation level
//! (I26). Entries of others' unfinished changes are waited for, whether they are new or deleted.

use super::entry::{Action, Outcome, Queue, Writer};
use super::handle::NativeTable;
use super::insert::{Rival, Tools};
use super::leaf_scan;
use super::value;
use crate::btree::Hint;
use crate::page::get_u64;
use selkie_engine::{EngineResult, LockMode, PeriodKey};

impl NativeTable {
    /// Whether the clustered key is one without overlaps.
    pub(super) fn clusters_periods(&self) -> bool {
        self.def.primary().is_some_and(|key| key.without_overlaps)
    }

    /// The first index without overlaps in which a new row would overlap another one, and that
    /// row's clustered key. `None` if the insert would have to wait to know it.
    ///
    /// Compat: these indexes are checked before all others.
    pub(super) fn find_overlap(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        key: &[u8],
        row: &[u8],
    ) -> EngineResult<Option<(usize, Box<[u8]>)>> {
        for (at, codec) in self.codecs.iter().enumerate().filter(|(_, codec)| codec.has_period()) {
            let entry = &mut tools.entry;
            if self.secondary().contains(&at) {
                self.index_entry(at, key, row, entry)?;
            } else {
                entry.key.clear();
                entry.any_null = codec.key_of_row(&self.def.layout, row, &mut entry.key)?;
                entry.split = entry.key.len();
            }
            let Some(own) = codec.period(&entry.key[..entry.split]) else { continue };
            if entry.any_null {
                continue;
            }
            if let Rival::Row(existing) = self.period_rival(writer, at, &own)? {
                return Ok(Some((at, existing)));
            }
        }
        Ok(None)
    }

    /// Inserts an entry into the clustered tree, whose key is one without overlaps.
    pub(super) fn put_period(
        &self,
        writer: &Writer<'_>,
        hint: &mut Hint,
        key: &[u8],
        action: Action<'_>,
    ) -> EngineResult<Outcome> {
        let tree = &self.files.clustered;
        let Some(own) = self.codecs[0].period(key) else {
            return writer.change(tree, hint, key, action, Some(&self.files.columns));
        };
        let mut queue = Queue::default();
        loop {
            queue.behind.look_again();
            let stripe = self.shared.stripe(tree.file, own.head).lock();
            let (holders, place) = match self.period_rival(writer, 0, &own)? {
                Rival::Row(existing) => return Err(super::insert::duplicate(0, existing)),
                Rival::Locked(holders, place) => (holders, Some(place)),
                Rival::Nobody => {
                    match writer.try_change(tree, hint, key, action, Some(&self.files.columns))? {
                        Outcome::Gap(holders) => (holders, None),
                        Outcome::Locked(holders) => (holders, Some(key.to_vec())),
                        done => return Ok(done),
                    }
                }
            };
            drop(stripe);
            match place {
                Some(place) => {
                    let place = (tree.file, &*place);
                    writer.wait_behind(&mut queue, place, LockMode::Shared, &holders)?;
                }
                None => writer.wait_for_gap(&mut queue, (tree.file, key), &holders)?,
            }
        }
    }

    /// Searches for another entry of an index whose period overlaps that of `own`.
    ///
    /// Live entries are in one order by ends and by starts, so the first one of no other
    /// transaction that begins late enough ends the search. What others have changed may lie
    /// anywhere, as both an entry and what comes in its place are there until they end.
    pub(super) fn period_rival(
        &self,
        writer: &Writer<'_>,
        at: usize,
        own: &PeriodKey<'_>,
    ) -> EngineResult<Rival> {
        let (me, tree) = (writer.trx.state().id, &self.trees[at]);
        let is_clustered = !self.secondary().contains(&at);
        let locks = &self.shared.locks;
        let found = leaf_scan::find(tree, own.rivals(), |node, slot| {
            let (key, value) = (node.key(slot), node.value(slot));
            let other = own.sibling(&key)?;
            let owner = self.shared.undo.active_owner(get_u64(value, 0));
            let owner = owner.filter(|owner| owner.id != me);
            if owner.is_none() && value::is_deleted(value) {
                return None;
            }
            if !other.excludes(own) {
                let ends = owner.is_none() && other.ends_search(own.end);
                return ends.then_some(Rival::Nobody);
            }
            let holders = match owner {
                Some(owner) => vec![owner],
                None => locks.blocking(me, tree.file, &key, LockMode::Shared).into_vec(),
            };
            if !holders.is_empty() {
                return Some(Rival::Locked(holders, key));
            }
            let row = if is_clustered { 0 } else { value::split(value) };
            Some(Rival::Row(key.get(row..).unwrap_or(&[]).into()))
        })?;
        Ok(found.unwrap_or(Rival::Nobody))
    }
}
