//! Scans of a table in parts: without an index leaf after leaf, with one merged in the order of the
//! keys, so that the order is that of one tree with the same rows (P6).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use selkie_engine::{
    Bound, Cursor, EngineResult, EngineTrx, IndexCodec, LockMode, RowSet, Scan, StatementContext,
    TableDef,
};
use selkie_types::key::KeyReader;

use super::lookup::copy_row;
use super::{PartSet, put_key, split};

/// Rows read ahead from each leaf of a merge.
const AHEAD: usize = 64;

type Run<'a> = (&'a dyn EngineTrx, &'a dyn StatementContext);

/// Starts a scan.
pub(super) fn open<'a>(
    set: &'a PartSet,
    run: Run<'a>,
    scan: &Scan,
) -> EngineResult<Box<dyn Cursor + 'a>> {
    let mut leaves = set.read_by(scan);
    let scan = Scan { parts: None, ..scan.clone() };
    match scan.index {
        Some(index) if leaves.len() > 1 => {
            Ok(Box::new(Merged::open(set, run, (scan, index), &leaves)?))
        }
        _ => {
            // The next leaf is the last one.
            if !scan.reverse {
                leaves.reverse();
            }
            let left = leaves.clone();
            Ok(Box::new(Chained { set, run, scan, leaves, left, current: None }))
        }
    }
}

/// Reads leaf after leaf.
struct Chained<'a> {
    set: &'a PartSet,
    run: Run<'a>,
    scan: Scan,
    /// All leaves, the first one last.
    leaves: Vec<u16>,
    /// Those not read yet.
    left: Vec<u16>,
    current: Option<(u16, Box<dyn Cursor + 'a>)>,
}

/// Part of a leaf that lies inside a bound of row keys.
enum Inside {
    Nothing,
    All,
    Upto(Bound),
}

/// The part of `leaf` inside a bound of row keys of the set, which begin with a leaf's number.
fn inside(bound: &Bound, leaf: u16, is_lower: bool) -> Inside {
    let key = match bound {
        Bound::Unbounded => return Inside::All,
        Bound::Included(key) | Bound::Excluded(key) => key,
    };
    let Ok((own, rest)) = split(key) else { return Inside::All };
    let rest: Box<[u8]> = rest.into();
    match usize::from(leaf).cmp(&own) {
        Ordering::Equal if matches!(bound, Bound::Included(_)) => {
            Inside::Upto(Bound::Included(rest))
        }
        Ordering::Equal => Inside::Upto(Bound::Excluded(rest)),
        order if (order == Ordering::Greater) == is_lower => Inside::All,
        _ => Inside::Nothing,
    }
}

/// A bound that goes on behind the key of an index with a row key of the set, as the position of a
/// HANDLER does: the key, the number of the leaf, and the leaf's row key.
fn position<'b>(bound: &'b Bound, codec: &IndexCodec) -> Option<(&'b [u8], usize, &'b [u8])> {
    let (Bound::Included(whole) | Bound::Excluded(whole)) = bound else { return None };
    let mut reader = KeyReader::new(whole);
    (0..codec.len()).try_for_each(|part| codec.part(part).skip(&mut reader))?;
    let (leaf, rest) = split(reader.rest()).ok()?;
    Some((&whole[..whole.len() - reader.rest().len()], leaf, rest))
}

/// The lower bound of an index for one leaf. Rows come in the order of the index, then of their
/// leaves' row keys, then of the leaves.
fn lower_of(bound: &Bound, codec: &IndexCodec, leaf: u16) -> Bound {
    let Some((key, own, rest)) = position(bound, codec) else { return bound.clone() };
    let at: Box<[u8]> = [key, rest].concat().into();
    match (usize::from(leaf).cmp(&own), bound) {
        (Ordering::Greater, _) | (Ordering::Equal, Bound::Included(_)) => Bound::Included(at),
        _ => Bound::Excluded(at),
    }
}

/// The upper bound of an index for one leaf.
fn upper_of(bound: &Bound, codec: &IndexCodec, leaf: u16) -> Bound {
    let Some((key, own, rest)) = position(bound, codec) else { return bound.clone() };
    let at: Box<[u8]> = [key, rest].concat().into();
    match (usize::from(leaf).cmp(&own), bound) {
        (Ordering::Less, _) | (Ordering::Equal, Bound::Included(_)) => Bound::Included(at),
        _ => Bound::Excluded(at),
    }
}

impl Chained<'_> {
    /// The scan of a leaf; `None` if nothing of it is in the range.
    fn scan_of(&self, leaf: u16) -> Option<Scan> {
        let mut scan = self.scan.clone();
        if let Some(index) = scan.index {
            let codec = &self.set.codecs[index];
            scan.lower = lower_of(&scan.lower, codec, leaf);
            scan.upper = upper_of(&scan.upper, codec, leaf);
            return Some(scan);
        }
        let own = |bound: &Bound, is_lower| match inside(bound, leaf, is_lower) {
            Inside::Nothing => None,
            Inside::All => Some(Bound::Unbounded),
            Inside::Upto(bound) => Some(bound),
        };
        scan.lower = own(&self.scan.lower, true)?;
        scan.upper = own(&self.scan.upper, false)?;
        Some(scan)
    }
}

impl Cursor for Chained<'_> {
    fn next_batch(&mut self, out: &mut RowSet, max_rows: usize) -> EngineResult<bool> {
        loop {
            if self.current.is_none() {
                let Some(leaf) = self.left.pop() else { return Ok(false) };
                let Some(scan) = self.scan_of(leaf) else { continue };
                let table = self.set.leaf(usize::from(leaf))?;
                self.current = Some((leaf, table.scan(self.run.0, self.run.1, &scan)?));
            }
            let Some((leaf, cursor)) = &mut self.current else { return Ok(false) };
            let more = match self.scan.want_keys {
                true => next_with_keys(*leaf, &mut **cursor, out, max_rows)?,
                false => cursor.next_batch(out, max_rows)?,
            };
            if more {
                return Ok(true);
            }
            self.current = None;
        }
    }

    fn restart(&mut self, lower: Bound, upper: Bound) -> EngineResult<()> {
        (self.scan.lower, self.scan.upper) = (lower.clone(), upper.clone());
        // A scan of one leaf by an index goes on with its cursor.
        if let (Some((_, cursor)), [_], Some(_)) =
            (&mut self.current, &self.leaves[..], self.scan.index)
        {
            return cursor.restart(lower, upper);
        }
        self.current = None;
        self.left.clone_from(&self.leaves);
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.left.is_empty() && self.current.as_ref().is_none_or(|(_, cursor)| cursor.has_ended())
    }

    fn unlock(&mut self, rows: &mut dyn Iterator<Item = usize>) {
        if let Some((_, cursor)) = &mut self.current {
            cursor.unlock(rows);
        }
    }
}

/// The next batch of a leaf, whose row keys get the leaf's number.
fn next_with_keys(
    leaf: u16,
    cursor: &mut dyn Cursor,
    out: &mut RowSet,
    max_rows: usize,
) -> EngineResult<bool> {
    let keys = std::mem::take(&mut out.keys);
    let more = cursor.next_batch(out, max_rows);
    let own = std::mem::replace(&mut out.keys, keys);
    own.iter().for_each(|key| put_key(&mut out.keys, usize::from(leaf), key));
    more
}

/// A leaf of a merge.
struct Source<'a> {
    leaf: u16,
    cursor: Box<dyn Cursor + 'a>,
    /// Rows read ahead.
    set: RowSet,
    /// The next of them.
    at: usize,
    ended: bool,
}

/// The next key of each leaf that has one, with the leaf's position.
enum Next {
    Up(BinaryHeap<Reverse<(Vec<u8>, usize)>>),
    Down(BinaryHeap<(Vec<u8>, usize)>),
}

impl Next {
    fn push(&mut self, key: Vec<u8>, source: usize) {
        match self {
            Self::Up(heap) => heap.push(Reverse((key, source))),
            Self::Down(heap) => heap.push((key, source)),
        }
    }

    fn pop(&mut self) -> Option<usize> {
        match self {
            Self::Up(heap) => heap.pop().map(|Reverse((_, source))| source),
            Self::Down(heap) => heap.pop().map(|(_, source)| source),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Up(heap) => heap.clear(),
            Self::Down(heap) => heap.clear(),
        }
    }
}

/// Merges leaves in the order of an index.
struct Merged<'a> {
    def: &'a TableDef,
    codec: &'a IndexCodec,
    scan: Scan,
    /// Whether the caller wants row keys.
    wants_keys: bool,
    sources: Vec<Source<'a>>,
    next: Next,
    /// Sources without rows read ahead that may have more.
    dry: Vec<usize>,
    /// For each row of the last batch, its source and its number there.
    last: Vec<(usize, usize)>,
}

impl<'a> Merged<'a> {
    fn open(
        set: &'a PartSet,
        run: Run<'a>,
        (scan, index): (Scan, usize),
        leaves: &[u16],
    ) -> EngineResult<Self> {
        let wants_keys = scan.want_keys;
        // Keys are made of whole rows, and entries with equal keys follow their row keys.
        let scan = Scan { want_keys: true, fixed_only: false, ..scan };
        let mut sources = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let codec = &set.codecs[index];
            let own = Scan {
                lower: lower_of(&scan.lower, codec, *leaf),
                upper: upper_of(&scan.upper, codec, *leaf),
                ..scan.clone()
            };
            let cursor = set.leaf(usize::from(*leaf))?.scan(run.0, run.1, &own)?;
            let set = RowSet::default();
            sources.push(Source { leaf: *leaf, cursor, set, at: 0, ended: false });
        }
        let next = match scan.reverse {
            false => Next::Up(BinaryHeap::new()),
            true => Next::Down(BinaryHeap::new()),
        };
        let dry = (0..sources.len()).collect();
        let (def, codec) = (&*set.def, &set.codecs[index]);
        Ok(Self { def, codec, scan, wants_keys, sources, next, dry, last: Vec::new() })
    }

    fn is_locking(&self) -> bool {
        self.scan.lock != LockMode::None
    }

    /// Reads rows of the sources that have none.
    fn fill(&mut self) -> EngineResult<()> {
        // Rows read ahead would be locked for nothing.
        let ahead = if self.is_locking() { 1 } else { AHEAD };
        for at in std::mem::take(&mut self.dry) {
            let source = &mut self.sources[at];
            if source.ended {
                continue;
            }
            source.set.clear();
            source.at = 0;
            if source.cursor.next_batch(&mut source.set, ahead)? {
                let key = self.key(at)?;
                self.next.push(key, at);
            } else {
                self.sources[at].ended = true;
            }
        }
        Ok(())
    }

    /// The key of a source's next row: that of the index, then the row key.
    fn key(&self, at: usize) -> EngineResult<Vec<u8>> {
        let source = &self.sources[at];
        let mut key = Vec::new();
        let parts = self.codec.len();
        let (row, layout) = match self.scan.covering {
            true => (source.set.entries.get(source.at), self.codec.entry_layout()),
            false => (source.set.rows.get(source.at), &self.def.layout),
        };
        self.codec.prefix_of_row(row, (layout, self.scan.covering), parts, &mut key)?;
        key.extend_from_slice(source.set.keys.get(source.at));
        Ok(key)
    }
}

impl Cursor for Merged<'_> {
    fn next_batch(&mut self, out: &mut RowSet, max_rows: usize) -> EngineResult<bool> {
        self.last.clear();
        self.fill()?;
        while self.last.len() < max_rows && (self.last.is_empty() || !out.is_large()) {
            let Some(at) = self.next.pop() else { break };
            let source = &mut self.sources[at];
            if source.set.unlocked.binary_search(&(source.at as u32)).is_ok() {
                out.unlocked.push(out.count() as u32);
            }
            let keys = std::mem::take(&mut source.set.keys);
            copy_row(out, usize::from(source.leaf), &source.set, source.at);
            if self.wants_keys {
                put_key(&mut out.keys, usize::from(source.leaf), keys.get(source.at));
            }
            source.set.keys = keys;
            self.last.push((at, source.at));
            source.at += 1;
            if source.at < source.set.count() {
                let key = self.key(at)?;
                self.next.push(key, at);
                continue;
            }
            self.dry.push(at);
            // The caller may unlock rows of this batch, so their source keeps them until then.
            if self.is_locking() {
                break;
            }
            self.fill()?;
        }
        Ok(!self.last.is_empty())
    }

    fn restart(&mut self, lower: Bound, upper: Bound) -> EngineResult<()> {
        (self.scan.lower, self.scan.upper) = (lower.clone(), upper.clone());
        for source in &mut self.sources {
            source.cursor.restart(lower.clone(), upper.clone())?;
            source.set.clear();
            source.at = 0;
            source.ended = false;
        }
        self.next.clear();
        self.last.clear();
        self.dry = (0..self.sources.len()).collect();
        Ok(())
    }

    fn unlock(&mut self, rows: &mut dyn Iterator<Item = usize>) {
        for row in rows {
            if let Some((source, own)) = self.last.get(row) {
                self.sources[*source].cursor.unlock(&mut std::iter::once(*own));
            }
        }
    }
}
