//! Sorts the entries of an index build in bounded memory: sorted runs that exceed it go to a
//! temporary file without a name and are merged when they are read back. The file does not survive
//! the process and must not.

use super::options::MakeFile;
use crate::table::BuildEntry;
use selkie_engine::{EngineError, EngineResult};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;

/// Bytes of a run to read at a time.
const READ_BYTES: usize = 64 << 10;
/// Bytes before each entry of a run: lengths of key, value and unique part.
const HEAD: usize = 6;

/// One entry in the buffer: the first bytes of its key, and the position of key and value.
#[derive(Clone, Copy)]
struct Place {
    head: u64,
    at: u64,
    key: u16,
    value: u16,
    /// Length of the index key; 0 if a part is NULL, because such a key may repeat.
    unique: u16,
}

/// One entry, in key order.
#[derive(Clone, Copy)]
pub(super) struct Sorted<'s> {
    pub(super) key: &'s [u8],
    pub(super) value: &'s [u8],
    pub(super) unique: usize,
}

/// Collects entries in any order and returns them in key order.
pub(super) struct Sorter {
    budget: usize,
    entries: u64,
    bytes: Vec<u8>,
    places: Vec<Place>,
    make: MakeFile,
    file: Option<BufWriter<File>>,
    written: u64,
    /// Start and end of each run in the file.
    runs: Vec<(u64, u64)>,
}

impl Sorter {
    /// Keeps up to `budget` bytes in memory; `make` makes the file for more.
    pub(super) fn new(budget: usize, make: &MakeFile) -> Self {
        let (bytes, places, runs) = (Vec::new(), Vec::new(), Vec::new());
        Self { budget, entries: 0, bytes, places, make: make.clone(), file: None, written: 0, runs }
    }

    pub(super) fn push(&mut self, entry: &BuildEntry<'_>) -> EngineResult<()> {
        let used = self.bytes.len() + self.places.len() * size_of::<Place>();
        if used > self.budget {
            self.spill()?;
        }
        self.entries += 1;
        let mut head = [0; 8];
        let len = entry.key.len().min(8);
        head[..len].copy_from_slice(&entry.key[..len]);
        self.places.push(Place {
            head: u64::from_be_bytes(head),
            at: self.bytes.len() as u64,
            key: entry.key.len() as u16,
            value: 8 + entry.body.len() as u16,
            unique: if entry.any_null { 0 } else { entry.split as u16 },
        });
        self.bytes.extend_from_slice(entry.key);
        // Version 0: visible to all readers.
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.extend_from_slice(entry.body);
        Ok(())
    }

    fn entry(&self, place: &Place) -> Sorted<'_> {
        let at = place.at as usize;
        let (key, value) = self.bytes[at..][..usize::from(place.key) + usize::from(place.value)]
            .split_at(usize::from(place.key));
        Sorted { key, value, unique: usize::from(place.unique) }
    }

    fn sort(&mut self) {
        let mut places = std::mem::take(&mut self.places);
        places.sort_unstable_by(|a, b| {
            a.head.cmp(&b.head).then_with(|| self.entry(a).key.cmp(self.entry(b).key))
        });
        self.places = places;
    }

    /// Writes the entries in memory as one run.
    fn spill(&mut self) -> EngineResult<()> {
        self.sort();
        let mut file = match self.file.take() {
            Some(file) => file,
            None => BufWriter::with_capacity(1 << 20, (self.make)()?),
        };
        let begin = self.written;
        for place in &self.places {
            file.write_all(&place.key.to_le_bytes())?;
            file.write_all(&place.value.to_le_bytes())?;
            file.write_all(&place.unique.to_le_bytes())?;
            let entry = self.entry(place);
            file.write_all(entry.key)?;
            file.write_all(entry.value)?;
            self.written += (HEAD + entry.key.len() + entry.value.len()) as u64;
        }
        self.file = Some(file);
        self.runs.push((begin, self.written));
        self.places.clear();
        self.bytes.clear();
        Ok(())
    }

    /// Number of entries.
    pub(super) fn len(&self) -> u64 {
        self.entries
    }

    /// Calls `each` with all entries in key order.
    pub(super) fn drain(
        mut self,
        mut each: impl FnMut(Sorted<'_>) -> EngineResult<()>,
    ) -> EngineResult<()> {
        if self.file.is_none() {
            self.sort();
            return self.places.iter().try_for_each(|place| each(self.entry(place)));
        }
        self.spill()?;
        let Some(file) = self.file.take() else { return Ok(()) };
        let file = file.into_inner().map_err(|e| EngineError::from(e.into_error()))?;
        merge(&file, &self.runs, each)
    }
}

fn merge(
    file: &File,
    runs: &[(u64, u64)],
    mut each: impl FnMut(Sorted<'_>) -> EngineResult<()>,
) -> EngineResult<()> {
    let mut readers = Vec::with_capacity(runs.len());
    let mut order = BinaryHeap::new();
    for (at, &(next, end)) in runs.iter().enumerate() {
        let mut run = Run { next, end, buffer: Vec::new(), at: 0, entry: (0, 0, 0) };
        if run.advance(file)? {
            order.push(Reverse((run.current().key.to_vec(), at)));
        }
        readers.push(run);
    }
    while let Some(Reverse((mut key, at))) = order.pop() {
        let run = &mut readers[at];
        each(run.current())?;
        if run.advance(file)? {
            key.clear();
            key.extend_from_slice(run.current().key);
            order.push(Reverse((key, at)));
        }
    }
    Ok(())
}

/// A run that is being read.
struct Run {
    /// Position in the file of the first byte not yet in the buffer.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    /// End of the current entry in the buffer.
    at: usize,
    /// Lengths of key, value and unique part of the current entry.
    entry: (usize, usize, usize),
}

impl Run {
    fn current(&self) -> Sorted<'_> {
        let (key, value, unique) = self.entry;
        let bytes = &self.buffer[self.at - key - value..self.at];
        Sorted { key: &bytes[..key], value: &bytes[key..], unique }
    }

    /// Moves to the next entry; false after the last.
    fn advance(&mut self, file: &File) -> EngineResult<bool> {
        if self.at == self.buffer.len() && self.next == self.end {
            return Ok(false);
        }
        self.need(file, HEAD)?;
        let number =
            |at: usize| usize::from(u16::from_le_bytes([self.buffer[at], self.buffer[at + 1]]));
        self.entry = (number(self.at), number(self.at + 2), number(self.at + 4));
        self.at += HEAD;
        let len = self.entry.0 + self.entry.1;
        self.need(file, len)?;
        self.at += len;
        Ok(true)
    }

    /// Makes `len` bytes available in the buffer from `at` on.
    fn need(&mut self, file: &File, len: usize) -> EngineResult<()> {
        if self.buffer.len() - self.at >= len {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let have = self.buffer.len();
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        let more = left.min(READ_BYTES.max(len));
        self.buffer.resize(have + more, 0);
        file.read_exact_at(&mut self.buffer[have..], self.next)?;
        self.next += more as u64;
        if self.buffer.len() < len {
            return Err(EngineError::Corrupt("a temporary file of an index build".into()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::options::NativeOptions;

    fn sorted(budget: usize, entries: u32) -> (Vec<Vec<u8>>, usize) {
        let mut sorter = Sorter::new(budget, &NativeOptions::default().temporary);
        for n in 0..entries {
            let mixed = n.wrapping_mul(0x9E37_79B1);
            let key = [&mixed.to_be_bytes()[..], &vec![b'k'; (mixed % 90) as usize]].concat();
            let entry = BuildEntry { key: &key, split: 4, any_null: false, body: &key };
            sorter.push(&entry).unwrap();
        }
        let runs = sorter.runs.len();
        let mut out = Vec::new();
        sorter
            .drain(|entry| {
                assert_eq!(&entry.value[8..], entry.key);
                assert_eq!(entry.unique, 4);
                out.push(entry.key.to_vec());
                Ok(())
            })
            .unwrap();
        (out, runs)
    }

    #[test]
    fn runs_are_merged_in_order() {
        let (in_memory, none) = sorted(usize::MAX, 20_000);
        let (merged, runs) = sorted(100_000, 20_000);
        assert_eq!(none, 0);
        assert!(runs > 20);
        assert!(in_memory.is_sorted());
        assert!(in_memory == merged);
    }
}
