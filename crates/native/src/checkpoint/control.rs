//! The control file: two slots of one block, written alternately. The valid record with the higher
//! number is current; a checksum makes it valid. A torn write can only damage the slot that was not
//! current.
//!
//! ```text
//! magic 8 | version u32 | crc u32 | seq u64 | lsn u64 | durable u64 | epoch at lsn u32 | epoch u32
//! | next file id u32 | snapshot file u32 | snapshot len u64 | snapshot crc u32 | page size u32
//! | segment size u64
//! ```

use crate::disk::{Access, CONTROL, DOUBLEWRITE, Disk, File, UNDO};
use crate::error::{Result, StorageError};
use crate::ids::{Lsn, PAGE_SIZE};
use std::io;
use std::sync::Arc;

const NAME: &str = CONTROL;
const MAGIC: &[u8; 8] = b"SLKYCTL1";
const VERSION: u32 = 2;
const SLOT: usize = 4096;
const LEN: usize = 88;
/// Space that each undo snapshot has even when the disk is full.
const SNAPSHOT_RESERVE: u64 = if cfg!(test) { 8 << 10 } else { 1 << 20 };

/// One checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CheckpointRecord {
    /// Sequence number, one higher with every record.
    pub(crate) seq: u64,
    /// Position at which redo starts.
    pub(crate) lsn: Lsn,
    /// Position up to which the log was durable when the record was written. A log that ends
    /// earlier is damaged.
    pub(crate) durable: Lsn,
    /// Epoch of the log that wrote `lsn`, or an earlier one.
    pub(crate) epoch_at_lsn: u32,
    /// The current epoch of the log.
    pub(crate) epoch: u32,
    /// First unused file id.
    pub(crate) next_file: u32,
    /// Number of the snapshot file (0 or 1) that belongs to this record.
    pub(crate) snapshot_file: u32,
    /// Its length in bytes.
    pub(crate) snapshot_len: u64,
    /// Its checksum.
    pub(crate) snapshot_crc: u32,
    /// Size of the log's segments.
    pub(crate) segment_size: u64,
}

impl CheckpointRecord {
    fn encode(&self) -> [u8; LEN] {
        let mut out = Vec::with_capacity(LEN);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        for word in [self.seq, self.lsn.0, self.durable.0] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        for half in [self.epoch_at_lsn, self.epoch, self.next_file, self.snapshot_file] {
            out.extend_from_slice(&half.to_le_bytes());
        }
        out.extend_from_slice(&self.snapshot_len.to_le_bytes());
        out.extend_from_slice(&self.snapshot_crc.to_le_bytes());
        out.extend_from_slice(&(PAGE_SIZE as u32).to_le_bytes());
        out.extend_from_slice(&self.segment_size.to_le_bytes());
        out.resize(LEN, 0);
        let crc = crc32c::crc32c(&out);
        out[12..16].copy_from_slice(&crc.to_le_bytes());
        out.try_into().expect("LEN bytes")
    }

    fn decode(bytes: &[u8]) -> Option<CheckpointRecord> {
        let mut raw: [u8; LEN] = bytes.get(..LEN)?.try_into().ok()?;
        let u32_at = |raw: &[u8; LEN], at: usize| {
            u32::from_le_bytes([raw[at], raw[at + 1], raw[at + 2], raw[at + 3]])
        };
        let u64_at = |raw: &[u8; LEN], at: usize| {
            u64::from(u32_at(raw, at + 4)) << 32 | u64::from(u32_at(raw, at))
        };
        let crc = u32_at(&raw, 12);
        raw[12..16].fill(0);
        let valid = &raw[..8] == MAGIC && u32_at(&raw, 8) == VERSION && crc32c::crc32c(&raw) == crc;
        valid
            .then(|| CheckpointRecord {
                seq: u64_at(&raw, 16),
                lsn: Lsn(u64_at(&raw, 24)),
                durable: Lsn(u64_at(&raw, 32)),
                epoch_at_lsn: u32_at(&raw, 40),
                epoch: u32_at(&raw, 44),
                next_file: u32_at(&raw, 48),
                snapshot_file: u32_at(&raw, 52),
                snapshot_len: u64_at(&raw, 56),
                snapshot_crc: u32_at(&raw, 64),
                segment_size: u64_at(&raw, 72),
            })
            .filter(|_| u32_at(&raw, 68) == PAGE_SIZE as u32)
    }
}

/// The format version of a record that another server version wrote.
fn other_version(bytes: &[u8]) -> Option<u32> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let mut summed = bytes.get(..LEN)?.to_vec();
    summed[12..16].fill(0);
    let written = bytes.starts_with(MAGIC) && word(12)? == crc32c::crc32c(&summed);
    word(8).filter(|version| written && *version != VERSION)
}

/// The open control file.
pub(crate) struct Control {
    disk: Arc<dyn Disk>,
    file: Arc<dyn File>,
}

impl Control {
    /// Opens the control file and returns the current record. Creates it without a record in a
    /// directory without a database. Every other file of a database is created after the first
    /// record is durable, so a directory with such a file but no record has lost it.
    pub(crate) fn open(disk: Arc<dyn Disk>) -> Result<(Control, Option<CheckpointRecord>)> {
        let names = disk.list().map_err(|e| StorageError::io("list of the data directory", e))?;
        let other = names.iter().find(|name| is_of_database(name));
        let opened = match (names.iter().any(|name| name == NAME), other) {
            (true, _) => disk.open(NAME, Access::Buffered),
            (false, None) => disk.create(NAME, Access::Buffered),
            (false, Some(other)) => {
                let lost = format!("the file control is missing, but the directory has {other}");
                return Err(StorageError::corrupt(lost));
            }
        };
        let file = opened.map_err(|e| StorageError::io("open of the control file", e))?;
        file.allocate(2 * SLOT as u64)
            .map_err(|e| StorageError::io("growth of the control file", e))?;
        let mut bytes = vec![0; 2 * SLOT];
        // A process killed during its sync leaves a record that can be read but may not be durable.
        // Until it is, the record in the other slot must not be overwritten, and files must not be
        // created that depend on this one.
        file.sync().map_err(|e| StorageError::io("sync of the control file", e))?;
        file.read_at(&mut bytes, 0).map_err(|e| StorageError::io("read of the control file", e))?;
        if let Some(other) = bytes.chunks(SLOT).find_map(other_version) {
            return Err(StorageError::corrupt(format!(
                "the database has format {other}, this server reads {VERSION}; dump it with the version \
                 that wrote it, and load the dump"
            )));
        }
        let valid: Vec<_> = bytes.chunks(SLOT).filter_map(CheckpointRecord::decode).collect();
        let newest = valid.iter().max_by_key(|record| record.seq).copied();
        match (newest, other) {
            (None, Some(other)) => {
                let lost =
                    format!("the file control has no valid record, but the directory has {other}");
                return Err(StorageError::corrupt(lost));
            }
            // An interrupted write leaves only one valid record. So may damage, which `recovery`
            // tells apart. A server writes its own record before it creates a data file.
            (Some(record), _)
                if record.seq == 1 && names.iter().any(|n| n.starts_with("data.")) =>
            {
                let lost = "the file control has only the first record of a new database, but the directory \
                            has data files";
                return Err(StorageError::corrupt(lost));
            }
            (Some(record), _) if valid.len() < 2 && record.seq > 1 => tracing::warn!(
                "one of the two records of the file control is unreadable; using record {}",
                record.seq
            ),
            _ => {}
        }
        Ok((Control { disk, file }, newest))
    }

    /// Creates a control file without a record, whatever other files exist.
    pub(crate) fn create(disk: Arc<dyn Disk>) -> Result<Control> {
        let file = disk.create(NAME, Access::Buffered).and_then(|file| {
            file.allocate(2 * SLOT as u64)?;
            Ok(file)
        });
        let file = file.map_err(|e| StorageError::io("creation of the control file", e))?;
        Ok(Control { disk, file })
    }

    /// Writes `record` and makes it current. Failure ends the process (I11).
    pub(crate) fn write(&self, record: &CheckpointRecord) {
        let mut block = vec![0; SLOT];
        block[..LEN].copy_from_slice(&record.encode());
        let at = (record.seq % 2) * SLOT as u64;
        if let Err(e) = self.file.write_at(&block, at).and_then(|()| self.file.sync()) {
            self.disk.fatal(&format!("write of the checkpoint record failed: {e}"));
        }
    }

    /// Gives both snapshot files the space that a checkpoint on a full disk needs (I13). The file
    /// that `record` names keeps its content: the next start may need it again.
    pub(crate) fn reserve_snapshots(&self, record: &CheckpointRecord) -> Result<()> {
        let reserve = |number| -> io::Result<()> {
            let needed = if number == record.snapshot_file { record.snapshot_len } else { 0 };
            let (file, _) = self.snapshot_file(&snapshot_name(number), needed)?;
            file.allocate(SNAPSHOT_RESERVE)?;
            file.sync()?;
            self.disk.sync_dir()
        };
        let reserved = [0, 1].into_iter().try_for_each(reserve);
        match reserved {
            // Snapshots of up to the existing size can still be saved.
            Err(e) if e.kind() == io::ErrorKind::StorageFull => Ok(()),
            outcome => outcome.map_err(|e| StorageError::io("growth of the undo snapshots", e)),
        }
    }

    /// Writes the snapshot of the next record, durably. The file is overwritten in place, which
    /// keeps its space. It belongs to the record before the current one, so it is not needed any
    /// more.
    pub(crate) fn write_snapshot(&self, number: u32, bytes: &[u8]) -> Result<u32> {
        let save = || {
            let (file, created) = self.snapshot_file(&snapshot_name(number), bytes.len() as u64)?;
            // A new file that replaces a longer one gets the usual reserve.
            match file.allocate(SNAPSHOT_RESERVE.max(bytes.len() as u64)) {
                Err(e) if e.kind() == io::ErrorKind::StorageFull => {
                    file.allocate(bytes.len() as u64)?
                }
                outcome => outcome?,
            }
            file.write_at(bytes, 0)?;
            file.sync()?;
            if created { self.disk.sync_dir() } else { Ok(()) }
        };
        match save() {
            Ok(()) => Ok(crc32c::crc32c(bytes)),
            Err(e) if e.kind() == io::ErrorKind::StorageFull => Err(StorageError::DiskFull),
            Err(e) => self.disk.fatal(&format!("write of the undo snapshot failed: {e}")),
        }
    }

    /// Opens the file; returns true if it is new. A file much larger than needed, after a huge
    /// transaction, is replaced by a smaller one.
    fn snapshot_file(&self, name: &str, len: u64) -> io::Result<(Arc<dyn File>, bool)> {
        if self.disk.list()?.iter().any(|n| n == name) {
            let file = self.disk.open(name, Access::Buffered)?;
            if file.len()? <= (4 * len).max(SNAPSHOT_RESERVE) {
                return Ok((file, false));
            }
            self.disk.remove(name)?;
        }
        Ok((self.disk.create(name, Access::Buffered)?, true))
    }

    /// Reads the snapshot that belongs to `record`.
    pub(crate) fn read_snapshot(&self, record: &CheckpointRecord) -> Result<Vec<u8>> {
        let mut bytes = vec![0; record.snapshot_len as usize];
        if bytes.is_empty() {
            return Ok(bytes);
        }
        let name = snapshot_name(record.snapshot_file);
        let file = self.disk.open(&name, Access::Buffered);
        let read = file.and_then(|f| f.read_at(&mut bytes, 0));
        read.map_err(|e| StorageError::lost(&name, "the undo snapshot of the checkpoint", e))?;
        if crc32c::crc32c(&bytes) != record.snapshot_crc {
            return Err(StorageError::corrupt(format!("checksum mismatch in {name}")));
        }
        Ok(bytes)
    }
}

fn snapshot_name(number: u32) -> String {
    format!("snapshot.{number}")
}

/// Whether a file can only exist after the first record.
fn is_of_database(name: &str) -> bool {
    let numbered = |prefix| name.strip_prefix(prefix).is_some_and(|n| n.parse::<u64>().is_ok());
    [UNDO, DOUBLEWRITE].contains(&name) || ["data.", "log.", "snapshot."].into_iter().any(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> CheckpointRecord {
        CheckpointRecord {
            seq: 7,
            lsn: Lsn(1 << 40),
            durable: Lsn((1 << 40) + 4096),
            epoch_at_lsn: 2,
            epoch: 3,
            next_file: 12,
            snapshot_file: 1,
            snapshot_len: 99,
            snapshot_crc: 0xDEAD_BEEF,
            segment_size: 64 << 20,
        }
    }

    #[test]
    fn another_format_is_told() {
        let mut bytes = record().encode();
        assert_eq!(other_version(&bytes), None);
        bytes[8] -= 1;
        assert_eq!(other_version(&bytes), None, "the checksum is that of another record");
        bytes[12..16].fill(0);
        let crc = crc32c::crc32c(&bytes);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(other_version(&bytes), Some(VERSION - 1));
        assert_eq!(CheckpointRecord::decode(&bytes), None);
    }

    #[test]
    fn record_round_trips_and_detects_every_flip() {
        let record = record();
        let mut bytes = record.encode();
        assert_eq!(CheckpointRecord::decode(&bytes), Some(record));
        for at in 0..LEN {
            bytes[at] ^= 4;
            assert_eq!(CheckpointRecord::decode(&bytes), None, "flip at {at}");
            bytes[at] ^= 4;
        }
    }
}
