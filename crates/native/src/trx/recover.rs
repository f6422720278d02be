//! Recovery of transactions: finds those that had not ended, and restores their undo from the
//! checkpoint's undo snapshot and the row records in the log since then.
//!
//! ```text
//! snapshot: format u8 | next seq u64 | segments u32 { seq u64 | records u32 { len u32 | record } }
//!           | in the undo store u32 { seq u64 | position u64 | length u32 | crc u32 }
//!           | tables u32 { file u32 | auto u64 | rows u64 }
//!           | created u32 { file u32 } | dropped u32 { file u32 }
//!           | prepared u32 { as in the record of a prepared transaction }
//!           | riders u32, bytes: the state of the riders' files
//! ```

use super::record::{Kind, Prepared, RowRecord, TrxRecord};
use super::segment::Segment;
use super::store::Place;
use super::transaction::Body;
use super::undo::seq_of;
use crate::btree::VER_OFFSET_BITS;
use crate::engine::{Riders, Shared};
use crate::error::{Result, StorageError};
use crate::ids::{FileId, Lsn};
use crate::recovery::RecoveryVisitor;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) const FORMAT: u8 = 5;
/// The format before, which has no riders.
pub(crate) const FORMAT_WITHOUT_RIDERS: u8 = 4;
/// The format before that, with the old form of prepared transactions.
pub(crate) const FORMAT_WITHOUT_RUNS: u8 = 3;

/// Counters of a table that are not stored in its pages.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Next AUTO_INCREMENT value.
    pub(crate) auto: u64,
    /// Number of rows, approximately.
    pub(crate) rows: u64,
}

/// Information from the log and the snapshot.
#[derive(Default)]
pub(crate) struct Recovered {
    pub(crate) next_seq: u64,
    /// Records of transactions that have not ended, by version word.
    records: BTreeMap<u64, Box<[u8]>>,
    ended: BTreeSet<u64>,
    /// Segments in the undo store of transactions that have not ended.
    stored: BTreeMap<u64, Place>,
    prepared: Vec<Prepared>,
    pub(crate) counters: BTreeMap<FileId, Counters>,
    /// Files created by transactions that have not committed.
    pub(crate) created: BTreeSet<FileId>,
    /// Files dropped by committed transactions.
    pub(crate) dropped: BTreeSet<FileId>,
    /// The riders go to their owner at once.
    pub(crate) riders: Riders,
}

impl Recovered {
    /// Nothing yet; riders will be passed on to their owner.
    pub(crate) fn for_riders(riders: Riders) -> Recovered {
        Recovered { riders, ..Recovered::default() }
    }

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
        self.prepared.retain(|p| p.seqs.iter().all(|seq| !seqs.contains(seq)));
        for seq in seqs {
            let (from, to) = (seq << VER_OFFSET_BITS, (seq + 1) << VER_OFFSET_BITS);
            let mut rest = self.records.split_off(&from);
            self.records.append(&mut rest.split_off(&to));
            self.next_seq = self.next_seq.max(seq + 1);
            self.stored.remove(&seq);
            self.ended.insert(seq);
        }
    }

    /// Counts unfinished transactions as committed. New sequences start far above the existing
    /// ones.
    pub(crate) fn forget_undo(&mut self) {
        self.records.clear();
        self.stored.clear();
        self.prepared.clear();
        self.next_seq = self.next_seq.max(1 << 43);
    }

    /// Changes of transactions that had not ended, by version word.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.records.iter().map(|(version, record)| (*version, &record[..]))
    }

    /// Places in the undo store that are still needed.
    pub(crate) fn stored(&self) -> Vec<Place> {
        self.stored.values().copied().collect()
    }

    /// Adds a prepared transaction; snapshot and log may both contain it.
    fn prepare(&mut self, prepared: Prepared) {
        let known = |p: &Prepared| p.seqs == prepared.seqs;
        if !self.prepared.iter().any(known) && !prepared.seqs.iter().any(|s| self.ended.contains(s))
        {
            self.prepared.push(prepared);
        }
    }

    fn load(&mut self, mut bytes: &[u8]) -> Option<()> {
        let rest = &mut bytes;
        let format = u8_of(rest)?;
        if !(FORMAT_WITHOUT_RUNS..=FORMAT).contains(&format) {
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
            let (seq, at) = (u64_of(rest)?, u64_of(rest)?);
            self.stored.insert(seq, Place { at, len: u32_of(rest)?, crc: u32_of(rest)? });
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
        for _ in 0..u32_of(rest)? {
            let prepared = Prepared::decode(rest, format > FORMAT_WITHOUT_RUNS)?;
            self.prepare(prepared);
        }
        if format > FORMAT_WITHOUT_RIDERS {
            let len = u32_of(rest)? as usize;
            self.riders.set_found(rest.get(..len)?);
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
        self.load(bytes).ok_or_else(|| StorageError::corrupt("invalid undo snapshot"))
    }

    fn row(&mut self, _: Lsn, payload: &[u8]) -> Result<()> {
        if let Some(record) = RowRecord::decode(payload) {
            // Only approximate: a row that the snapshot counted after the checkpoint's position
            // counts twice.
            let rows = &mut self.counters.entry(record.file).or_default().rows;
            *rows = match record.kind {
                Kind::Insert => *rows + 1,
                Kind::Update => *rows,
                Kind::Delete => rows.saturating_sub(1),
            };
        }
        self.add(payload).ok_or_else(|| StorageError::corrupt("invalid row record"))
    }

    fn trx(&mut self, _: Lsn, payload: &[u8]) -> Result<()> {
        let record = TrxRecord::decode(payload)
            .ok_or_else(|| StorageError::corrupt("invalid transaction record"))?;
        match record {
            TrxRecord::Committed { seqs, created, dropped } => {
                self.end(seqs);
                self.created.retain(|file| !created.contains(file));
                self.dropped.extend(dropped);
            }
            TrxRecord::RolledBack { seqs } => self.end(seqs),
            TrxRecord::Unprepared { seqs } => {
                self.prepared.retain(|p| p.seqs.iter().all(|seq| !seqs.contains(seq)));
            }
            TrxRecord::Created(file) => drop(self.created.insert(file)),
            TrxRecord::Counter(file, next) => self.counters.entry(file).or_default().auto = next,
            TrxRecord::Prepared(prepared) => self.prepare(prepared),
        }
        Ok(())
    }

    fn scanned(&mut self, rider: Option<Lsn>) -> Result<()> {
        self.riders.restore(rider)
    }

    fn rider(&mut self, lsn: Lsn, payload: &[u8]) -> Result<()> {
        self.riders.replay(lsn, payload)
    }
}

/// Encodes for a checkpoint everything that must survive beside the pages. `riders` is the state of
/// the riders' files.
pub(crate) fn encode_snapshot(shared: &Shared, riders: &[u8]) -> Vec<u8> {
    // Files first: if a transaction ends meanwhile, the list has a file too many, never one too
    // few, and the end of the transaction is logged after the checkpoint.
    let (created, dropped) = shared.pending_files();
    let prepared = shared.prepared.encode();
    let tables = shared.counters();
    let segments = shared.undo.active();
    let mut out = vec![FORMAT];
    out.extend_from_slice(&shared.undo.next().to_le_bytes());
    let put_u32 = |out: &mut Vec<u8>, n: usize| out.extend_from_slice(&(n as u32).to_le_bytes());
    let places = segments.iter().map(|segment| segment.save_if_large());
    let (stored, inline): (Vec<_>, Vec<_>) =
        segments.iter().zip(places).partition(|s| s.1.is_some());
    shared.undo.store.sync();
    crate::failpoint::reached("undo snapshot stored");
    put_u32(&mut out, inline.len());
    for (segment, _) in inline {
        out.extend_from_slice(&segment.seq.to_le_bytes());
        segment.encode(&mut out);
    }
    put_u32(&mut out, stored.len());
    for (seq, place) in stored.iter().filter_map(|(s, place)| Some((s.seq, (*place)?))) {
        out.extend_from_slice(&seq.to_le_bytes());
        out.extend_from_slice(&place.at.to_le_bytes());
        out.extend_from_slice(&place.len.to_le_bytes());
        out.extend_from_slice(&place.crc.to_le_bytes());
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
    out.extend_from_slice(&prepared);
    put_u32(&mut out, riders.len());
    out.extend_from_slice(riders);
    out
}

/// Restores the undo of transactions that had not ended, so that their rows are locked as before.
/// Prepared ones wait for their outcome, the others are losers to roll back.
pub(crate) fn adopt_unfinished(shared: &Shared, recovered: &mut Recovered) -> Result<()> {
    let mut segments: BTreeMap<u64, Arc<Segment>> = BTreeMap::new();
    for prepared in std::mem::take(&mut recovered.prepared) {
        let owner = shared.new_state();
        let own: Vec<_> = prepared.seqs.iter().map(|seq| shared.undo.adopt(*seq, &owner)).collect();
        own.iter().for_each(|segment| drop(segments.insert(segment.seq, segment.clone())));
        let body = Body { segments: own, prepared: true, ..Body::default() };
        shared.prepared.found(prepared, owner, body);
    }
    let mut losers = Vec::new();
    let mut segment = |seq| {
        // One owner per segment: a transaction that waits for a row continues as soon as that
        // segment has been rolled back.
        let adopt = || {
            let segment = shared.undo.adopt(seq, &shared.new_state());
            losers.push(segment.clone());
            segment
        };
        segments.entry(seq).or_insert_with(adopt).clone()
    };
    for (seq, place) in std::mem::take(&mut recovered.stored) {
        segment(seq).restore_stored(place)?;
    }
    for (ver, payload) in std::mem::take(&mut recovered.records) {
        segment(seq_of(ver)).restore(ver, &payload);
    }
    shared.prepared.mark_undone();
    shared.losers.set(losers);
    Ok(())
}
