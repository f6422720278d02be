//! The clustered keys of a group's positions, without the bytes that all begin with.
//!
//! Keys ascend, and a key is found exactly if its bytes are equal.

use selkie_types::ByteRows;

/// Keys in ascending order.
#[derive(Debug)]
pub(crate) struct Keys {
    prefix: Box<[u8]>,
    /// Length of each key behind the prefix, if all have the same.
    width: Option<usize>,
    /// End of each key behind the prefix, if they differ.
    ends: Box<[u32]>,
    bytes: Box<[u8]>,
    len: u32,
}

impl Keys {
    /// Takes keys in ascending order.
    pub(crate) fn new(keys: &ByteRows) -> Keys {
        debug_assert!(keys.iter().is_sorted_by(|a, b| a < b));
        let len = keys.len();
        let (first, last): (&[u8], &[u8]) = match len {
            0 => (&[], &[]),
            _ => (keys.get(0), keys.get(len - 1)),
        };
        let shared = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        // All keys between the two begin with what these begin with.
        let rest = |key: &'_ [u8]| key.get(shared..).unwrap_or(&[]).to_vec();
        let mut bytes = Vec::with_capacity(keys.data().len().saturating_sub(shared * len));
        let mut ends = Vec::with_capacity(len);
        for key in keys.iter() {
            bytes.extend_from_slice(&rest(key));
            ends.push(bytes.len() as u32);
        }
        let width = first.len() - shared;
        let even = keys.iter().all(|key| key.len() - shared == width);
        Keys {
            prefix: first[..shared].into(),
            width: even.then_some(width),
            ends: if even { Box::default() } else { ends.into() },
            bytes: bytes.into(),
            len: len as u32,
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.prefix.len() + self.ends.len() * 4 + self.bytes.len()
    }

    fn rest_of(&self, at: u32) -> &[u8] {
        let at = at as usize;
        let (from, to) = match self.width {
            Some(width) => (at * width, (at + 1) * width),
            None => {
                let end = |at: usize| self.ends[at] as usize;
                (if at == 0 { 0 } else { end(at - 1) }, end(at))
            }
        };
        &self.bytes[from..to]
    }

    /// Position of a key, or else the position before which it belongs.
    pub(crate) fn find(&self, key: &[u8]) -> Result<u32, u32> {
        let Some(rest) = key.strip_prefix(&self.prefix[..]) else {
            return Err(if key < &self.prefix[..] { 0 } else { self.len });
        };
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.rest_of(middle).cmp(rest) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }
}
