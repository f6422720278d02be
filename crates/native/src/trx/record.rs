//! Logical records, as undo segments, the log and the undo snapshot hold them. All three use this
//! encoding.
//!
//! ```text
//! row:         ver u64 | kind u8 (1 insert, 2 update, 3 delete; 0x80: auto follows,
//!              0x40: undone, 0x20: pruned) | file u32 | [auto u64]
//!              | key len u16 | key | value before (none for an insert)
//! transaction: 1 commit, 2 rolled back, 6 unprepared: u8 | segments u32 | seq u64 each
//!              | created u32 | file u32 each | dropped u32 | file u32 each
//!              3 created: u8 | file u32
//!              4 counter: u8 | file u32 | next value u64
//!              7 prepared: u8 | format u32 | gtrid len u8, bytes | bqual len u8, bytes
//!              | segments u32 | seq u64 each | undone u32 | first and last version word u64 each
//!              5 prepared, as written before: with one version word per undone change
//! ```

use crate::ids::{FileId, PageNo};
use crate::table::value;
use selkie_engine::Xid;

/// The change that a row record undoes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A new entry.
    Insert,
    /// A change of an entry's value, also of an entry marked deleted.
    Update,
    /// A delete mark.
    Delete,
}

const HAS_AUTO: u8 = 0x80;
const UNDONE: u8 = 0x40;
const PRUNED: u8 = 0x20;

/// One change of one entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowRecord<'a> {
    pub(crate) ver: u64,
    pub(crate) kind: Kind,
    pub(crate) file: FileId,
    /// The AUTO_INCREMENT value of an inserted row.
    pub(crate) auto: Option<u64>,
    pub(crate) key: &'a [u8],
    pub(crate) before: &'a [u8],
    /// A rollback to a savepoint has undone it.
    pub(crate) undone: bool,
    /// Versions below it were pruned: `before` is the value that the last of them replaced.
    pub(crate) pruned: bool,
}

fn take<'a>(from: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (head, rest) = from.split_at_checked(n)?;
    *from = rest;
    Some(head)
}

fn take_u32(from: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(from, 4)?.try_into().ok()?))
}

fn take_u64(from: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(from, 8)?.try_into().ok()?))
}

impl<'a> RowRecord<'a> {
    /// The chain of pages that is freed with this record: that of the replaced value. A delete mark
    /// has the same chain as the row it replaced, so the mark keeps it.
    pub(super) fn owned_chain(&self) -> Option<(PageNo, u64)> {
        let owns = self.kind == Kind::Update || self.pruned;
        if owns && !self.before.is_empty() { value::chain_of(self.before) } else { None }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let kind = match self.kind {
            Kind::Insert => 1,
            Kind::Update => 2,
            Kind::Delete => 3,
        };
        out.extend_from_slice(&self.ver.to_le_bytes());
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(self.undone, UNDONE) | flag(self.pruned, PRUNED);
        out.push(kind | flags | flag(self.auto.is_some(), HAS_AUTO));
        out.extend_from_slice(&self.file.0.to_le_bytes());
        self.auto.iter().for_each(|auto| out.extend_from_slice(&auto.to_le_bytes()));
        out.extend_from_slice(&(self.key.len() as u16).to_le_bytes());
        out.extend_from_slice(self.key);
        out.extend_from_slice(self.before);
    }

    pub(crate) fn decode(mut bytes: &'a [u8]) -> Option<RowRecord<'a>> {
        let rest = &mut bytes;
        let ver = take_u64(rest)?;
        let kind = take(rest, 1)?[0];
        let file = FileId(take_u32(rest)?);
        let auto = if kind & HAS_AUTO != 0 { Some(take_u64(rest)?) } else { None };
        let key_len = u16::from_le_bytes(take(rest, 2)?.try_into().ok()?);
        let key = take(rest, usize::from(key_len))?;
        let (undone, pruned) = (kind & UNDONE != 0, kind & PRUNED != 0);
        let kind = match kind & !(HAS_AUTO | UNDONE | PRUNED) {
            1 => Kind::Insert,
            2 => Kind::Update,
            3 => Kind::Delete,
            _ => return None,
        };
        Some(RowRecord { ver, kind, file, auto, key, before: rest, undone, pruned })
    }
}

/// A transaction's change of state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TrxRecord {
    /// The changes in these undo segments are committed; the files were created and dropped.
    Committed { seqs: Vec<u64>, created: Vec<FileId>, dropped: Vec<FileId> },
    /// The changes in these undo segments have been undone.
    RolledBack { seqs: Vec<u64> },
    /// A transaction that has not committed created this file.
    Created(FileId),
    /// The AUTO_INCREMENT counter of a table was set.
    Counter(FileId, u64),
    /// The changes in these undo segments wait for an outcome decided outside.
    Prepared(Prepared),
    /// The rollback of a prepared transaction begins. If a crash interrupts it, the rest is undone
    /// like that of any loser, and it cannot be committed any more.
    Unprepared {
        /// Its undo segments.
        seqs: Vec<u64>,
    },
}

/// A prepared transaction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) xid: Xid,
    pub(crate) seqs: Vec<u64>,
    /// Changes undone by rollbacks to savepoints, as runs of version words from first to last, both
    /// included. The log has no record of such rollbacks, and these changes must not be cleaned up
    /// or pruned.
    pub(crate) undone: Vec<(u64, u64)>,
}

impl Prepared {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.xid.format.to_le_bytes());
        for part in [&self.xid.gtrid, &self.xid.bqual] {
            out.push(part.len() as u8);
            out.extend_from_slice(part);
        }
        out.extend_from_slice(&(self.seqs.len() as u32).to_le_bytes());
        self.seqs.iter().for_each(|seq| out.extend_from_slice(&seq.to_le_bytes()));
        out.extend_from_slice(&(self.undone.len() as u32).to_le_bytes());
        for (first, last) in &self.undone {
            out.extend_from_slice(&first.to_le_bytes());
            out.extend_from_slice(&last.to_le_bytes());
        }
    }

    /// `in_runs` is the current form. The old form had single version words, and not all of them.
    pub(super) fn decode(from: &mut &[u8], in_runs: bool) -> Option<Prepared> {
        let format = take_u32(from)?;
        let mut part = || {
            let len = take(from, 1)?[0];
            take(from, len.into()).map(Into::into)
        };
        let (gtrid, bqual) = (part()?, part()?);
        let xid = Xid { gtrid, bqual, format };
        let seqs = take_u64s(from)?;
        let runs = take_u32(from)?;
        let mut run = || {
            let first = take_u64(from)?;
            Some((first, if in_runs { take_u64(from)? } else { first }))
        };
        let undone = (0..runs).map(|_| run()).collect::<Option<_>>()?;
        Some(Prepared { xid, seqs, undone })
    }
}

fn take_u64s(from: &mut &[u8]) -> Option<Vec<u64>> {
    (0..take_u32(from)?).map(|_| take_u64(from)).collect()
}

fn put_files(files: &[FileId], out: &mut Vec<u8>) {
    out.extend_from_slice(&(files.len() as u32).to_le_bytes());
    files.iter().for_each(|file| out.extend_from_slice(&file.0.to_le_bytes()));
}

fn take_files(from: &mut &[u8]) -> Option<Vec<FileId>> {
    (0..take_u32(from)?).map(|_| take_u32(from).map(FileId)).collect()
}

impl TrxRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut ended = |kind: u8, seqs: &[u64], created: &[FileId], dropped: &[FileId]| {
            out.push(kind);
            out.extend_from_slice(&(seqs.len() as u32).to_le_bytes());
            seqs.iter().for_each(|seq| out.extend_from_slice(&seq.to_le_bytes()));
            put_files(created, &mut out);
            put_files(dropped, &mut out);
        };
        match self {
            TrxRecord::Committed { seqs, created, dropped } => ended(1, seqs, created, dropped),
            TrxRecord::RolledBack { seqs } => ended(2, seqs, &[], &[]),
            TrxRecord::Unprepared { seqs } => ended(6, seqs, &[], &[]),
            TrxRecord::Created(file) => {
                out.push(3);
                out.extend_from_slice(&file.0.to_le_bytes());
            }
            TrxRecord::Counter(file, next) => {
                out.push(4);
                out.extend_from_slice(&file.0.to_le_bytes());
                out.extend_from_slice(&next.to_le_bytes());
            }
            TrxRecord::Prepared(prepared) => {
                out.push(7);
                prepared.encode(&mut out);
            }
        }
        out
    }

    pub(crate) fn decode(mut bytes: &[u8]) -> Option<TrxRecord> {
        let rest = &mut bytes;
        let kind = take(rest, 1)?[0];
        Some(match kind {
            1 | 2 | 6 => {
                let seqs = take_u64s(rest)?;
                let (created, dropped) = (take_files(rest)?, take_files(rest)?);
                match kind {
                    1 => TrxRecord::Committed { seqs, created, dropped },
                    6 => TrxRecord::Unprepared { seqs },
                    _ => TrxRecord::RolledBack { seqs },
                }
            }
            3 => TrxRecord::Created(FileId(take_u32(rest)?)),
            4 => TrxRecord::Counter(FileId(take_u32(rest)?), take_u64(rest)?),
            5 | 7 => TrxRecord::Prepared(Prepared::decode(rest, kind == 7)?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn records_round_trip() {
        let row = RowRecord {
            ver: 77,
            kind: Kind::Delete,
            file: FileId(3),
            auto: Some(9),
            key: b"key",
            before: b"before",
            undone: false,
            pruned: true,
        };
        let mut bytes = Vec::new();
        row.encode(&mut bytes);
        assert_eq!(RowRecord::decode(&bytes), Some(row));
        let records = [
            TrxRecord::Committed { seqs: vec![1, 2], created: vec![FileId(4)], dropped: vec![] },
            TrxRecord::RolledBack { seqs: vec![] },
            TrxRecord::Unprepared { seqs: vec![8] },
            TrxRecord::Created(FileId(9)),
            TrxRecord::Counter(FileId(9), 10),
            TrxRecord::Prepared(Prepared {
                xid: Xid { gtrid: b"global".as_slice().into(), bqual: Box::default(), format: 7 },
                seqs: vec![3, 4],
                undone: vec![(5, 9), (11, 11)],
            }),
        ];
        records.iter().for_each(|r| assert_eq!(TrxRecord::decode(&r.encode()).as_ref(), Some(r)));
    }

    proptest! {
        #[test]
        fn any_bytes_decode_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = (RowRecord::decode(&bytes), TrxRecord::decode(&bytes));
        }
    }
}
