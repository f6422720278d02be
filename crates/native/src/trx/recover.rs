//! After a crash: which transactions had not ended, and undoing them. The undo snapshot of the checkpoint and the
//! row records of the log since then give their undo back.
//!
//! ```text
//! snapshot: format u8 | next seq u64 | segments u32 { seq u64 | records u32 { len u32 | record } }
//!           | tables u32 { file u32 | auto u64 | rows u64 } | created u32 { file u32 } | dropped u32 { file u32 }
//! ```

use super::record::{Kind, RowRecord, TrxRecord};
use super::rollback::undo_record;
use super::state::TrxState;
use super::undo::{Segment, seq_of};
use crate::btree::VER_OFFSET_BITS;
use crate::engine::Shared;
use crate::error::{Result, StorageError};
use crate::ids::{FileId, Lsn};
use crate::mtr::Mtr;
use crate::recovery::RecoveryVisitor;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const FORMAT: u8 = 1;

/// Counters of a table that live outside its pages.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Next AUTO_INCREMENT value.
    pub(crate) auto: u64,
    /// Rows, about.
    pub(crate) rows: u64,
}

/// What the log and the snapshot tell.
#[derive(Default)]
pub(crate) struct Recovered {
    pub(crate) next_seq: u64,
    /// Records of transactions that have not ended, by version word.
    records: BTreeMap<u64, Box<[u8]>>,
    ended: BTreeSet<u64>,
    pub(crate) counters: BTreeMap<FileId, Counters>,
    /// Files of transactions that have not committed.
    pub(crate) created: BTreeSet<FileId>,
    /// Files dropped by committed transactions.
    pub(crate) dropped: BTreeSet<FileId>,
}

impl Recovered {
    fn add(&mut self, payload: &[u8]) -> Option<()> {
        let record = RowRecord::decode(payload)?;
        let seq = seq_of(record.ver);
        self.next_seq = self.next_seq.max(seq + 1);
        if let Some(auto) = record.auto {
            let counters = self.counters.entry(record.file).or_default();
            counters.auto = counters.auto.max(auto.saturating_add(1));
        }
        if !self.ended.contains(&seq) {
            self.records.insert(record.ver, payload.into());
        }
        Some(())
    }

    fn end(&mut self, seqs: Vec<u64>) {
        for seq in seqs {
            let (from, to) = (seq << VER_OFFSET_BITS, (seq + 1) << VER_OFFSET_BITS);
            let mut rest = self.records.split_off(&from);
            self.records.append(&mut rest.split_off(&to));
            self.next_seq = self.next_seq.max(seq + 1);
            self.ended.insert(seq);
        }
    }

    fn load(&mut self, mut bytes: &[u8]) -> Option<()> {
        let rest = &mut bytes;
        if u8_of(rest)? != FORMAT {
            return None;
        }
        self.next_seq = u64_of(rest)?;
        for _ in 0..u32_of(rest)? {
            u64_of(rest)?;
            for _ in 0..u32_of(rest)? {
                let len = u32_of(rest)? as usize;
                let (record, more) = rest.split_at_checked(len)?;
                *rest = more;
                self.add(record)?;
            }
        }
        for _ in 0..u32_of(rest)? {
            let file = FileId(u32_of(rest)?);
            let counters = Counters { auto: u64_of(rest)?, rows: u64_of(rest)? };
            self.counters.insert(file, counters);
        }
        for _ in 0..u32_of(rest)? {
            self.created.insert(FileId(u32_of(rest)?));
        }
        for _ in 0..u32_of(rest)? {
            self.dropped.insert(FileId(u32_of(rest)?));
        }
        Some(())
    }
}

fn bytes_of<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = from.split_first_chunk::<N>()?;
    *from = rest;
    Some(*head)
}

fn u8_of(from: &mut &[u8]) -> Option<u8> {
    bytes_of::<1>(from).map(|b| b[0])
}

fn u32_of(from: &mut &[u8]) -> Option<u32> {
    bytes_of(from).map(u32::from_le_bytes)
}

fn u64_of(from: &mut &[u8]) -> Option<u64> {
    bytes_of(from).map(u64::from_le_bytes)
}

impl RecoveryVisitor for Recovered {
    fn snapshot(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.load(bytes).ok_or_else(|| StorageError::corrupt("undecodable undo snapshot"))
    }

    fn row(&mut self, _: Lsn, payload: &[u8]) -> Result<()> {
        if let Some(record) = RowRecord::decode(payload) {
            // About right: what the snapshot counted after the checkpoint's position counts twice.
            let rows = &mut self.counters.entry(record.file).or_default().rows;
            *rows = match record.kind {
                Kind::Insert => *rows + 1,
                Kind::Update => *rows,
                Kind::Delete => rows.saturating_sub(1),
            };
        }
        self.add(payload).ok_or_else(|| StorageError::corrupt("undecodable row record"))
    }

    fn trx(&mut self, _: Lsn, payload: &[u8]) -> Result<()> {
        let record = TrxRecord::decode(payload)
            .ok_or_else(|| StorageError::corrupt("undecodable transaction record"))?;
        match record {
            TrxRecord::Committed { seqs, created, dropped } => {
                self.end(seqs);
                self.created.retain(|file| !created.contains(file));
                self.dropped.extend(dropped);
            }
            TrxRecord::RolledBack { seqs } => self.end(seqs),
            TrxRecord::Created(file) => drop(self.created.insert(file)),
            TrxRecord::Counter(file, next) => self.counters.entry(file).or_default().auto = next,
        }
        Ok(())
    }
}

/// Everything that must survive beside the pages, for a checkpoint.
pub(crate) fn encode_snapshot(shared: &Shared) -> Vec<u8> {
    // Files first: a transaction that ends meanwhile then leaves a file too many here, never one too few,
    // and its end lies behind the checkpoint.
    let (created, dropped) = shared.pending_files();
    let tables = shared.counters();
    let segments = shared.undo.active();
    let mut out = vec![FORMAT];
    out.extend_from_slice(&shared.undo.next().to_le_bytes());
    let put_u32 = |out: &mut Vec<u8>, n: usize| out.extend_from_slice(&(n as u32).to_le_bytes());
    put_u32(&mut out, segments.len());
    for segment in &segments {
        let (bytes, starts) = segment.copy();
        out.extend_from_slice(&segment.seq.to_le_bytes());
        put_u32(&mut out, starts.len());
        for (at, from) in starts.iter().enumerate() {
            let to = starts.get(at + 1).map_or(bytes.len(), |next| *next as usize);
            put_u32(&mut out, to - *from as usize);
            out.extend_from_slice(&bytes[*from as usize..to]);
        }
    }
    put_u32(&mut out, tables.len());
    for (file, counters) in tables {
        out.extend_from_slice(&file.0.to_le_bytes());
        out.extend_from_slice(&counters.auto.to_le_bytes());
        out.extend_from_slice(&counters.rows.to_le_bytes());
    }
    for files in [created, dropped] {
        put_u32(&mut out, files.len());
        files.iter().for_each(|file| out.extend_from_slice(&file.0.to_le_bytes()));
    }
    out
}

/// Takes back what transactions that had not ended have changed, newest change first.
pub(crate) fn undo_losers(shared: &Shared, recovered: &mut Recovered) -> Result<usize> {
    let owner = Arc::new(TrxState::new(0));
    let mut segments: BTreeMap<u64, Arc<Segment>> = BTreeMap::new();
    for (ver, payload) in std::mem::take(&mut recovered.records) {
        let seq = seq_of(ver);
        let segment = segments.entry(seq).or_insert_with(|| shared.undo.adopt(seq, &owner));
        segment.restore(ver, &payload);
    }
    let mut undone = 0;
    for segment in segments.values().rev() {
        for at in (0..segment.len()).rev() {
            undo_record(shared, segment, at)?;
            undone += 1;
        }
    }
    if !segments.is_empty() {
        let seqs: Vec<u64> = segments.keys().copied().collect();
        let mut mtr = Mtr::begin_reserved(&shared.storage);
        mtr.trx(&TrxRecord::RolledBack { seqs: seqs.clone() }.encode());
        mtr.commit();
        shared.undo.remove(seqs.into_iter());
    }
    Ok(undone)
}
