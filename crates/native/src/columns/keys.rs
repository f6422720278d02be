//! The clustered keys of a group's positions: made of the group's columns where these are
//! numbers, or else stored without the bytes that all have at the same place.
//!
//! Keys ascend, and a key is found exactly if its bytes are equal.

use selkie_column::{BLOCK_ROWS, Encoding, Segment};
use selkie_engine::IndexCodec;
use selkie_types::{ByteRows, Column, Value};
use std::cmp::Ordering;
use std::sync::Arc;

/// Keys in ascending order.
#[derive(Debug)]
pub(crate) struct Keys {
    form: Form,
    bytes: Box<[u8]>,
    len: u32,
}

/// The part that all keys have in common.
#[derive(Debug)]
enum Form {
    /// All have the length of the first one, and its bytes but at these places, which are stored.
    Even { first: Box<[u8]>, places: Box<[usize]> },
    /// All begin with the same bytes; the end of each behind these.
    Uneven { prefix: Box<[u8]>, ends: Box<[u32]> },
    /// The codec makes them of the values of these segments. `heads`: the first one of each block.
    Made { heads: Box<Keys>, codec: Arc<IndexCodec>, parts: Box<[Arc<Segment>]> },
}

/// Finds keys; the values of the last block that was looked into are kept.
pub(crate) struct Finder<'k> {
    keys: &'k Keys,
    block: Option<(usize, Vec<Column>)>,
    key: Vec<u8>,
}

impl Keys {
    /// Takes keys in ascending order.
    pub(crate) fn new(keys: &ByteRows) -> Keys {
        debug_assert!(keys.iter().is_sorted_by(|a, b| a < b));
        let first = if keys.is_empty() { &[][..] } else { keys.get(0) };
        let is_even = keys.iter().all(|key| key.len() == first.len());
        let (form, bytes) = if is_even { even(keys, first) } else { uneven(keys, first) };
        Keys { form, bytes: bytes.into(), len: keys.len() as u32 }
    }

    /// As [`Self::new`]; `parts` are the columns of the clustered key, if the group has them all.
    /// They stand for the keys if the codec makes these very bytes of them.
    pub(crate) fn of_parts(
        keys: &ByteRows,
        codec: Arc<IndexCodec>,
        parts: Vec<Arc<Segment>>,
    ) -> Keys {
        let is_quick = |part: &Arc<Segment>| {
            matches!(part.encoding(), Encoding::Constant | Encoding::Packed)
                && part.rows() == keys.len()
        };
        if parts.is_empty() || keys.is_empty() || !parts.iter().all(is_quick) {
            return Keys::new(keys);
        }
        let mut heads = ByteRows::default();
        (0..keys.len()).step_by(BLOCK_ROWS).for_each(|at| heads.push(keys.get(at)));
        let form = Form::Made { heads: Keys::new(&heads).into(), codec, parts: parts.into() };
        let made = Keys { form, bytes: Box::default(), len: keys.len() as u32 };
        let mut finder = Finder::new(&made);
        let is_same = (0..keys.len()).all(|at| finder.made(at) == Some(keys.get(at)));
        if is_same { made } else { Keys::new(keys) }
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        let of_form = match &self.form {
            Form::Even { first, places } => first.len() + size_of_val(&places[..]),
            Form::Uneven { prefix, ends } => prefix.len() + size_of_val(&ends[..]),
            Form::Made { heads, .. } => heads.memory(),
        };
        of_form + self.bytes.len()
    }

    /// Position of a key, or else the position before which it belongs.
    #[cfg(test)]
    pub(crate) fn find(&self, key: &[u8]) -> Result<u32, u32> {
        Finder::new(self).find(key)
    }
}

impl<'k> Finder<'k> {
    pub(crate) fn new(keys: &'k Keys) -> Self {
        Self { keys, block: None, key: Vec::new() }
    }

    /// Position of a key, or else the position before which it belongs.
    pub(crate) fn find(&mut self, key: &[u8]) -> Result<u32, u32> {
        let len = self.keys.len as usize;
        let (from, to) = match &self.keys.form {
            Form::Made { heads, .. } => match Finder::new(heads).find(key) {
                Ok(block) => return Ok(block * BLOCK_ROWS as u32),
                Err(0) => return Err(0),
                Err(next) => {
                    let from = (next as usize - 1) * BLOCK_ROWS;
                    (from, (from + BLOCK_ROWS).min(len))
                }
            },
            Form::Even { .. } | Form::Uneven { .. } => (0, len),
        };
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.compare(middle, key) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(middle as u32),
            }
        }
        Err(low as u32)
    }

    /// Compares the key of a position with another one.
    fn compare(&mut self, at: usize, key: &[u8]) -> Ordering {
        let Keys { form, bytes, .. } = self.keys;
        match form {
            Form::Even { first, places } => {
                compare_even(first, places, &bytes[at * places.len()..][..places.len()], key)
            }
            Form::Uneven { prefix, ends } => {
                let end = |at: usize| ends[at] as usize;
                let own = &bytes[if at == 0 { 0 } else { end(at - 1) }..end(at)];
                let (begin, rest) = key.split_at(prefix.len().min(key.len()));
                prefix[..].cmp(begin).then_with(|| own.cmp(rest))
            }
            Form::Made { .. } => self.made(at).expect("the form makes keys").cmp(key),
        }
    }

    /// The key of a position, made of the values there; `None` if the form makes none.
    fn made(&mut self, at: usize) -> Option<&[u8]> {
        let Form::Made { codec, parts, .. } = &self.keys.form else { return None };
        let (block, row) = (at / BLOCK_ROWS, at % BLOCK_ROWS);
        if self.block.as_ref().is_none_or(|(known, _)| *known != block) {
            let decode = |part: &Arc<Segment>| part.decode(block).expect("encoded in memory");
            self.block = Some((block, parts.iter().map(decode).collect()));
        }
        let (_, columns) = self.block.as_ref()?;
        self.key.clear();
        for (at, column) in columns.iter().enumerate() {
            let value: Value = column.value(row);
            codec.part(at).encode(&value, &mut self.key);
        }
        Some(&self.key)
    }
}

/// Compares a key of one length with another key.
fn compare_even(first: &[u8], places: &[usize], own: &[u8], key: &[u8]) -> Ordering {
    let mut from = 0;
    for (&place, byte) in places.iter().zip(own) {
        let before = &key[from.min(key.len())..place.min(key.len())];
        // A key that ends before the place is less.
        let order = first[from..place].cmp(before).then_with(|| Some(byte).cmp(&key.get(place)));
        if order.is_ne() {
            return order;
        }
        from = place + 1;
    }
    first[from..].cmp(&key[from.min(key.len())..])
}

/// The form of keys of one length, and what is stored of them.
fn even(keys: &ByteRows, first: &[u8]) -> (Form, Vec<u8>) {
    let mut differs = vec![false; first.len()];
    for key in keys.iter() {
        differs.iter_mut().zip(key).zip(first).for_each(|((d, own), one)| *d |= own != one);
    }
    let places: Box<[usize]> = (0..first.len()).filter(|&at| differs[at]).collect();
    let mut bytes = Vec::with_capacity(places.len() * keys.len());
    keys.iter().for_each(|key| bytes.extend(places.iter().map(|&at| key[at])));
    (Form::Even { first: first.into(), places }, bytes)
}

/// The form of other keys, and what is stored of them.
fn uneven(keys: &ByteRows, first: &[u8]) -> (Form, Vec<u8>) {
    let last = keys.get(keys.len() - 1);
    // All keys between the two begin with what these begin with.
    let shared = first.iter().zip(last).take_while(|(a, b)| a == b).count();
    let mut bytes = Vec::with_capacity(keys.data().len() - shared * keys.len());
    let mut ends = Vec::with_capacity(keys.len());
    for key in keys.iter() {
        bytes.extend_from_slice(&key[shared..]);
        ends.push(bytes.len() as u32);
    }
    (Form::Uneven { prefix: first[..shared].into(), ends: ends.into() }, bytes)
}
