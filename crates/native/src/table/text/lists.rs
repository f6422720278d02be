//! The lists of documents in P: additions, and the order of blocks. Blocks of a list may overlap,
//! because transactions store their documents in any order; readers sort.

use super::{TextIndex, UNVERSIONED, WORD};
use crate::btree::{Change, Decision, Hint, Seek};
use crate::error::Result;
use crate::table::leaf_scan::{Step, Walk};
use selkie_engine::{EngineResult, KeyRange, StatementContext};
use selkie_fulltext::{Posting, Words, decode, encode, settle};

/// The longest block, without the bytes before it.
pub(super) const MOST: usize = 3500;
/// A block that is longer than this is not added to.
const FULL: usize = 200;
/// The longest posting.
const POSTING: usize = 15;
/// Words or blocks stored between two looks at a kill.
const KILLABLE: usize = 256;

/// The start of the keys of a word's blocks.
pub(super) fn word_prefix(word: &[u8]) -> Vec<u8> {
    [&[WORD], word].concat()
}

/// The word and the first document of a key in P.
pub(super) fn parts_of(key: &[u8]) -> Option<(&[u8], u64)> {
    let (head, document) = key.split_last_chunk::<8>()?;
    let (first, word) = head.split_first()?;
    (*first == WORD).then_some((word, u64::from_be_bytes(*document)))
}

/// Bytes of a block from its value.
pub(super) fn block_of(value: &[u8]) -> &[u8] {
    value.get(UNVERSIONED.len()..).unwrap_or(&[])
}

/// The blocks of a list: keys and bytes.
type Blocks = Vec<(Vec<u8>, Vec<u8>)>;

/// The blocks of a list that is in order.
pub(super) fn blocks_of(prefix: &[u8], mut list: &[Posting]) -> Blocks {
    let mut out = Blocks::new();
    while let Some(first) = list.first() {
        let mut block = Vec::new();
        let done = encode(list, MOST, &mut block);
        out.push(([prefix, &first.document.to_be_bytes()].concat(), block));
        list = &list[done..];
    }
    out
}

impl TextIndex {
    /// Writes all lists again, in full blocks, without documents that M does not have. Returns the
    /// number of lists that have changed.
    pub(in crate::table) fn merge(&self, context: &dyn StatementContext) -> EngineResult<u64> {
        let mut changed = 0;
        let mut from = vec![WORD];
        loop {
            context.check_killed()?;
            let _alone = self.state.lists.write();
            let old = self.blocks_from(&from)?;
            let Some((key, _)) = old.first() else { return Ok(changed) };
            let Some((word, _)) = parts_of(key) else {
                return Err(self.corrupt("has a damaged key"));
            };
            let prefix = word_prefix(word);
            let mut list = Vec::new();
            for (key, block) in &old {
                let first = parts_of(key).map_or(0, |(_, first)| first);
                if !decode(first, block, &mut list) {
                    return Err(self.corrupt(&format!("has a damaged list: {key:?}")));
                }
            }
            settle(&mut list);
            self.keep_known(&mut list)?;
            let new = blocks_of(&prefix, &list);
            if new != old {
                self.replace_blocks(context, &old, &new)?;
                changed += 1;
            }
            from = [&prefix[..], &[0xFF; 9]].concat();
        }
    }

    /// The blocks of the first list from a key on.
    fn blocks_from(&self, from: &[u8]) -> Result<Blocks> {
        let range = KeyRange { start: from.to_vec(), end: Some(vec![WORD + 1]) };
        let mut walk = Walk::new(range, false);
        let mut out = Blocks::new();
        while !walk.done {
            let mut ends = false;
            walk.leaf(&self.by_word, |node, at| {
                let (key, word) = (node.key(at), |key: &[u8]| parts_of(key).map(|p| p.0.to_vec()));
                ends = out.first().is_some_and(|(first, _)| word(first) != word(&key));
                if ends {
                    return Step::Stop;
                }
                out.push((key, block_of(node.value(at)).to_vec()));
                Step::Next
            })?;
            if ends {
                break;
            }
        }
        Ok(out)
    }

    /// Replaces blocks; both lists are in order of keys. The last ones are written first: a
    /// document that moves to a later block is there before it leaves its own. So a KILL on the
    /// way leaves a document twice, as a crash does.
    fn replace_blocks(
        &self,
        context: &dyn StatementContext,
        old: &Blocks,
        new: &Blocks,
    ) -> EngineResult<()> {
        let mut hint = Hint::default();
        for (at, (key, block)) in new.iter().rev().enumerate() {
            if at % KILLABLE == KILLABLE - 1 {
                context.check_killed()?;
            }
            self.put_block(&mut hint, key, block)?;
        }
        let is_kept = |key: &Vec<u8>| new.binary_search_by(|(kept, _)| kept.cmp(key)).is_ok();
        for (at, (key, _)) in old.iter().filter(|(key, _)| !is_kept(key)).enumerate() {
            if at % KILLABLE == KILLABLE - 1 {
                context.check_killed()?;
            }
            self.by_word.write(key, 0, false, &mut hint, &|_| false, |_, _| Decision::Remove)?;
            self.by_word.merge_if_sparse(key)?;
        }
        Ok(())
    }

    fn put_block(&self, hint: &mut Hint, key: &[u8], block: &[u8]) -> Result<()> {
        let len = UNVERSIONED.len() + block.len();
        self.by_word.write(key, len, false, hint, &|_| false, |_, change| {
            change.value.extend_from_slice(&UNVERSIONED);
            change.value.extend_from_slice(block);
            Decision::Put
        })?;
        Ok(())
    }

    /// Stores words of documents that M has already, and forgets them.
    pub(super) fn store(
        &self,
        context: &dyn StatementContext,
        words: &mut Words,
    ) -> EngineResult<()> {
        let mut hint = Hint::default();
        for (at, (word, list)) in words.take().into_iter().enumerate() {
            if at % KILLABLE == KILLABLE - 1 {
                context.check_killed()?;
            }
            let _shared = self.state.lists.read();
            self.add(&mut hint, &word, &list)?;
        }
        Ok(())
    }

    /// Adds postings to the list of a word.
    fn add(&self, hint: &mut Hint, word: &[u8], list: &[Posting]) -> Result<()> {
        let prefix = word_prefix(word);
        let last = self.last_block(hint, &prefix)?;
        if let Some((key, len)) = last
            && len <= FULL
            && self.extend(hint, &key, len, list)?
        {
            return Ok(());
        }
        let blocks = blocks_of(&prefix, list);
        blocks.iter().try_for_each(|(key, block)| self.put_block(hint, key, block))
    }

    /// Key and length of the last block whose key begins with `prefix`.
    fn last_block(&self, hint: &mut Hint, prefix: &[u8]) -> Result<Option<(Vec<u8>, usize)>> {
        let end = [prefix, &[0xFF; 9]].concat();
        self.by_word.read_near(hint, Seek::Before(Some(&end)), |node| {
            let at = node.lower_bound(&end).checked_sub(1)?;
            let key = node.key(at);
            key.starts_with(prefix).then(|| (key, block_of(node.value(at)).len()))
        })
    }

    /// Adds postings to a block that has `len` bytes; false if they do not fit.
    fn extend(&self, hint: &mut Hint, key: &[u8], len: usize, list: &[Posting]) -> Result<bool> {
        let most = len + list.len() * POSTING;
        let Some((_, first)) = parts_of(key) else { return Ok(false) };
        if most > MOST || list.first().is_none_or(|posting| posting.document <= first) {
            return Ok(false);
        }
        let mut done = false;
        let decide = |found: Option<&[u8]>, change: &mut Change| {
            let mut all = Vec::new();
            if !found.is_some_and(|value| decode(first, block_of(value), &mut all)) {
                return Decision::Leave;
            }
            all.extend_from_slice(list);
            settle(&mut all);
            change.value.extend_from_slice(&UNVERSIONED);
            done = encode(&all, most, &mut change.value) == all.len();
            if done { Decision::Put } else { Decision::Leave }
        };
        self.by_word.write(key, UNVERSIONED.len() + most, false, hint, &|_| false, decide)?;
        Ok(done)
    }
}
