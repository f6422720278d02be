//! Searches: lists of documents from P, of which those are found that M shows to the transaction.
//!
//! Compat: in a strict index a document that the transaction has added or removed itself is not
//! found, and at READ UNCOMMITTED none that anybody has added or removed and not committed.

use super::lists::{block_of, parts_of, word_prefix};
use super::{TextIndex, size_of};
use crate::btree::{Hint, Node, Seek, Tree};
use crate::page::get_u64;
use crate::table::handle::NativeTable;
use crate::table::leaf_scan::{Step, Walk};
use crate::table::value::{self, ENTRY_AT};
use crate::trx::{NativeTrx, Resolved, View, seq_of};
use selkie_engine::{
    EngineResult, Isolation, KeyRange, StatementContext, TextList, TextSearch, TextSize,
    WantedWords,
};
use selkie_fulltext::{Posting, decode, settle};
use selkie_types::ByteRows;

/// Receiver of words, by their keys, and their lists.
type EachList<'a> = &'a mut dyn FnMut(&[u8], &[Posting]) -> EngineResult<()>;

/// A list of a word.
type List = (Vec<u8>, Vec<Posting>);

/// A search of a transaction.
pub(crate) struct NativeTextSearch<'a> {
    table: &'a NativeTable,
    index: &'a TextIndex,
    context: &'a dyn StatementContext,
    view: View<'a>,
    me: u64,
    /// Own changes are hidden. CHECK TABLE sees them.
    hides_own: bool,
    /// The newest versions are read, as far as they are committed.
    newest: bool,
    hint: Hint,
    scratch: Vec<u8>,
}

impl<'a> NativeTextSearch<'a> {
    pub(crate) fn new(
        table: &'a NativeTable,
        index: &'a TextIndex,
        trx: &'a NativeTrx,
        context: &'a dyn StatementContext,
    ) -> EngineResult<NativeTextSearch<'a>> {
        Ok(NativeTextSearch {
            table,
            index,
            context,
            view: table.view_of(trx)?,
            me: trx.state().id,
            hides_own: !index.is_lenient(),
            newest: !index.is_lenient() && trx.isolation() == Isolation::ReadUncommitted,
            hint: Hint::default(),
            scratch: Vec::new(),
        })
    }

    /// A search that finds the documents of all rows that the transaction sees.
    pub(super) fn of_all(
        table: &'a NativeTable,
        index: &'a TextIndex,
        trx: &'a NativeTrx,
        context: &'a dyn StatementContext,
    ) -> EngineResult<NativeTextSearch<'a>> {
        let search = Self::new(table, index, trx, context)?;
        Ok(NativeTextSearch { hides_own: false, newest: false, ..search })
    }

    /// Calls `each` with the list of every word whose key begins with `prefix`, in order, reduced
    /// to documents found.
    pub(super) fn each_list(&mut self, prefix: &[u8], each: EachList<'_>) -> EngineResult<()> {
        let _shared = self.index.state.lists.read();
        let mut walk = Walk::new(KeyRange::prefix(&word_prefix(prefix)), false);
        let mut read: Vec<List> = Vec::new();
        while !walk.done {
            self.context.check_killed()?;
            let mut damaged = None;
            let mut key = Vec::new();
            walk.leaf(&self.index.by_word, |node, at| {
                key.clear();
                node.put_key(at, &mut key);
                if !add_block(&key, node.value(at), &mut read) {
                    damaged = Some(key.clone());
                    return Step::Stop;
                }
                Step::Next
            })?;
            if let Some(key) = damaged {
                return Err(self.index.corrupt(&format!("has a damaged list: {key:?}")));
            }
            let last = if walk.done { None } else { read.pop() };
            for (word, mut list) in read.drain(..) {
                settle(&mut list);
                self.keep_found(&mut list)?;
                if !list.is_empty() {
                    each(&word, &list)?;
                }
            }
            read.extend(last);
        }
        Ok(())
    }

    /// Removes documents that are not found.
    fn keep_found(&mut self, list: &mut Vec<Posting>) -> EngineResult<()> {
        if self.view.overtakes {
            return self.keep_current(list);
        }
        let mut seen = Vec::with_capacity(list.len());
        let documents = list.iter().map(|posting| posting.document);
        self.each_entry(documents, &mut |key| seen.push(key.is_some()))?;
        let mut seen = seen.into_iter();
        list.retain(|_| seen.next() == Some(true));
        Ok(())
    }

    /// As [`Self::keep_found`], for a transaction that has changed rows which others had changed
    /// since its snapshot: of such a row it sees its own version, which has the others' texts.
    fn keep_current(&mut self, list: &mut Vec<Posting>) -> EngineResult<()> {
        let mut keys: Vec<Option<Vec<u8>>> = Vec::with_capacity(list.len());
        let documents = list.iter().map(|posting| posting.document);
        self.each_entry(documents, &mut |seen| keys.push(seen.map(|(key, _)| key.to_vec())))?;
        let mut kept = Vec::with_capacity(list.len());
        for (posting, key) in list.iter().zip(keys) {
            if let Some(key) = key
                && !self.is_overtaken(&key, posting.document)?
            {
                kept.push(*posting);
            }
        }
        *list = kept;
        Ok(())
    }

    /// Whether the transaction has changed a row whose document is another one by now.
    fn is_overtaken(&self, key: &[u8], document: u64) -> EngineResult<bool> {
        let newest = |tree: &Tree, read: fn(&[u8]) -> u64| {
            tree.read(Seek::At(key), |node| node.search(key).ok().map(|at| read(node.value(at))))
        };
        let now = newest(&self.index.by_key, |value| get_u64(value, ENTRY_AT))?;
        let ver = newest(&self.table.files.clustered, |value| get_u64(value, 0))?;
        let is_own = ver.and_then(|ver| self.view.active_owner(ver)) == Some(self.me);
        Ok(is_own && now != Some(document))
    }

    /// Calls `each` for documents in order, with the clustered key and size of those found.
    fn each_entry(
        &mut self,
        documents: impl Iterator<Item = u64>,
        each: EachEntry<'_>,
    ) -> EngineResult<()> {
        let (view, me) = (&self.view, self.me);
        let sees = Sees { view, me, hides_own: self.hides_own, newest: self.newest };
        let scratch = &mut self.scratch;
        let mut see = |value: &[u8]| sees.size(value, scratch);
        self.index.each_entry(&mut self.hint, documents, &mut see, each)
    }
}

/// Receiver of the clustered keys and sizes of documents; of none for one that is not seen.
type EachEntry<'a> = &'a mut dyn FnMut(Option<(&[u8], TextSize)>);

impl TextIndex {
    /// Calls `each` for documents in order, with the clustered key of those that M has with a value
    /// that is seen, and the size that `see` tells.
    fn each_entry(
        &self,
        hint: &mut Hint,
        documents: impl Iterator<Item = u64>,
        see: &mut dyn FnMut(&[u8]) -> Option<TextSize>,
        each: EachEntry<'_>,
    ) -> EngineResult<()> {
        let mut documents = documents.peekable();
        let mut key = Vec::new();
        // The fences between two entries of M are not longer than numbers, since these differ. So a
        // leaf that a number belongs to has its entry.
        while let Some(first) = documents.peek().map(|document| document.to_be_bytes()) {
            self.by_document.read_near(hint, Seek::At(&first), |node| {
                let mut slot = node.lower_bound(&first);
                while let Some(number) = documents.peek().map(|document| document.to_be_bytes())
                    && node.contains(&number)
                {
                    documents.next();
                    slot = advance(node, slot, &number);
                    key.clear();
                    if slot < node.count() {
                        node.put_key(slot, &mut key);
                    }
                    let size = match key.strip_prefix(&number) {
                        Some(_) => see(node.value(slot)),
                        None => None,
                    };
                    each(size.map(|size| (key.get(8..).unwrap_or(&[]), size)));
                }
            })?;
        }
        Ok(())
    }

    /// Removes documents that M does not have in any version: they will never be found again.
    pub(super) fn keep_known(&self, list: &mut Vec<Posting>) -> EngineResult<()> {
        let mut known = Vec::with_capacity(list.len());
        let documents = list.iter().map(|posting| posting.document);
        let each: EachEntry<'_> = &mut |entry| known.push(entry.is_some());
        let mut all = |_: &[u8]| Some(TextSize::default());
        self.each_entry(&mut Hint::default(), documents, &mut all, each)?;
        let mut known = known.into_iter();
        list.retain(|_| known.next() == Some(true));
        Ok(())
    }
}

/// The first entry at or after `key`, which is at or after `from`: mostly one of the next.
fn advance(node: Node<'_>, from: usize, key: &[u8; 8]) -> usize {
    let skip = node.prefix_len();
    for slot in from..node.count().min(from + 4) {
        if node.suffix(slot) >= key.get(skip..).unwrap_or(&[]) {
            return slot;
        }
    }
    node.lower_bound(key)
}

/// The rule by which entries of M are seen.
struct Sees<'v> {
    view: &'v View<'v>,
    me: u64,
    hides_own: bool,
    newest: bool,
}

impl Sees<'_> {
    /// The size of a document that is seen.
    fn size(&self, value: &[u8], scratch: &mut Vec<u8>) -> Option<TextSize> {
        let ver = get_u64(value, 0);
        if seq_of(ver) >= self.view.reclaimed
            && let Some(owner) = self.view.active_owner(ver)
            && (self.newest || self.hides_own && owner == self.me)
        {
            return None;
        }
        if self.newest {
            return (!value::is_deleted(value)).then(|| size_of(value));
        }
        match self.view.resolve(value, scratch) {
            Resolved::Gone => None,
            Resolved::Current => Some(size_of(value)),
            Resolved::Old => Some(size_of(scratch)),
        }
    }
}

/// Adds the postings of a block to the list of its word, the last one read or a new one.
fn add_block(key: &[u8], value: &[u8], read: &mut Vec<List>) -> bool {
    let Some((word, first)) = parts_of(key) else { return false };
    if read.last().is_none_or(|(last, _)| last != word) {
        read.push((word.to_vec(), Vec::new()));
    }
    let Some((_, list)) = read.last_mut() else { return false };
    decode(first, block_of(value), list)
}

impl TextSearch for NativeTextSearch<'_> {
    fn documents(&self) -> u64 {
        self.table.files.rows()
    }

    fn lists(
        &mut self,
        wanted: WantedWords<'_>,
        each: &mut dyn FnMut(&[u8], TextList<'_>),
    ) -> EngineResult<()> {
        let mut out: Vec<(u64, u32)> = Vec::new();
        let (WantedWords::Whole(key) | WantedWords::Begun(key)) = wanted;
        self.each_list(key, &mut |word, list| {
            if word != key && wanted == WantedWords::Whole(key) {
                return Ok(());
            }
            out.clear();
            out.extend(list.iter().map(|posting| (posting.document, posting.occurrences)));
            each(word, &out);
            Ok(())
        })
    }

    fn keys(&mut self, documents: &[u64], out: &mut ByteRows) -> EngineResult<()> {
        let each: EachEntry<'_> = &mut |entry| out.push(entry.map_or(&[], |(key, _)| key));
        self.each_entry(documents.iter().copied(), each)
    }

    fn sizes(
        &mut self,
        documents: &[u64],
        keys: &mut ByteRows,
        out: &mut Vec<TextSize>,
    ) -> EngineResult<()> {
        let mut is_whole = true;
        self.each_entry(documents.iter().copied(), &mut |entry| {
            let (key, size) = entry.unwrap_or_default();
            is_whole &= key.is_empty() || (size.words > 0 && size.weights > 0.0);
            keys.push(key);
            out.push(size);
        })?;
        if is_whole { Ok(()) } else { Err(self.index.corrupt("lacks the size of a document")) }
    }
}
