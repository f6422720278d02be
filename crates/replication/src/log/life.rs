//! Checkpoints, and the start after a stop or a crash.
//!
//! Must not remove a group file before a checkpoint that needs it no more was saved.

use std::io;
use std::sync::atomic::Ordering;

use crate::log::binary_log::BinaryLog;
use crate::log::files::{FileNumber, Place, damaged};
use crate::log::record::{Op, Record};
use crate::log::tip::Tip;
use crate::log::writer::Writer;

impl BinaryLog {
    /// Makes durable in files all records with an LSN up to `upto`, up to which the engine's log
    /// must be durable. Returns the state for [`BinaryLog::restore`]. It may have later records
    /// too: these must be durable before the state is saved, and to give them to
    /// [`BinaryLog::replay`] changes nothing.
    ///
    /// The next call relies on it that the state was saved, and removes what only an older one
    /// needs.
    pub fn checkpoint(&self, upto: u64) -> io::Result<Vec<u8>> {
        let mut spent = self.spent.lock();
        self.durable(upto);
        let mut writer = self.writer.lock();
        self.write_with(&mut writer, upto)?;
        let tip = writer.tip.clone();
        let dirty = std::mem::take(&mut writer.dirty);
        let copied = std::mem::take(&mut writer.copied);
        drop(writer);
        for file in &dirty {
            if let Err(error) = self.sync(*file) {
                let mut writer = self.writer.lock();
                writer.dirty.extend(dirty.iter());
                writer.copied.extend(copied);
                return Err(error);
            }
        }
        for id in std::mem::replace(&mut *spent, copied) {
            // A file that stays is removed at the next start.
            let _ = self.files.group_remove(id);
        }
        Ok(tip.encode())
    }

    /// Makes a file durable; one that was removed in the meantime needs nothing.
    fn sync(&self, file: FileNumber) -> io::Result<()> {
        let Err(error) = self.files.sync(file) else { return Ok(()) };
        let is_kept = self.writer.lock().tip.has(file);
        if is_kept { Err(error) } else { Ok(()) }
    }

    /// At start: the state of the last saved checkpoint; empty if there was none.
    pub fn restore(&self, state: &[u8]) -> io::Result<()> {
        let tip = if state.is_empty() { Ok(Tip::default()) } else { Tip::decode(state) };
        let tip = tip.map_err(|_| damaged("the saved state of the binary log is damaged"))?;
        let known = self.files.list()?.into_iter().collect();
        self.state().restart(&tip);
        *self.writer.lock() = Writer::at(tip, known);
        Ok(())
    }

    /// At start, after [`BinaryLog::restore`]: the next record of the engine's log.
    pub fn replay(&self, lsn: u64, bytes: &[u8]) -> io::Result<()> {
        let record = Record::decode(bytes);
        let record = record.map_err(|_| damaged("a record of the binary log is damaged"))?;
        let mut writer = self.writer.lock();
        if record.number < writer.tip.next {
            return Ok(());
        }
        if record.number > writer.tip.next {
            return Err(damaged("records of the binary log are missing"));
        }
        if let Op::Begin { tail: None, head } = &record.op
            && writer.tip.end.file == 0
        {
            self.adopt(&mut writer, head.file)?;
        }
        if let Op::Begin { head, .. } = &record.op {
            // The file gets all its bytes again.
            writer.known.remove(&head.file);
        }
        self.write_record(&mut writer, &record, lsn)
    }

    /// At start, after the last [`BinaryLog::replay`]: files become what the records say, and
    /// nothing else stays.
    pub fn replayed(&self) -> io::Result<()> {
        let mut writer = self.writer.lock();
        self.flush(&mut writer)?;
        if writer.tip.end.file == 0 {
            self.adopt(&mut writer, FileNumber::MAX)?;
        }
        let end = writer.tip.end;
        if end.file != 0 {
            self.cut_last(&mut writer, end)?;
        }
        self.write_index(&writer.tip)?;
        for file in self.files.list()? {
            if !writer.tip.has(file) {
                self.files.remove(file)?;
            }
        }
        writer.known = writer.tip.files().map(|(file, _)| file).collect();
        writer.dirty = writer.dirty.intersection(&writer.known).copied().collect();
        writer.doomed.clear();
        self.remove_groups(&writer)?;
        self.state().restart(&writer.tip);
        Ok(())
    }

    /// Cuts the last file at its end. It is in use again if its close was lost.
    fn cut_last(&self, writer: &mut Writer, end: Place) -> io::Result<()> {
        if self.files.len(end.file)? < end.offset {
            return Err(damaged("the last file of the binary log is too short"));
        }
        match writer.tip.is_open {
            true => self.leave(writer, end),
            false => self.files.truncate(end.file, end.offset),
        }
    }

    /// Removes the group files that no record since the checkpoint needs.
    fn remove_groups(&self, writer: &Writer) -> io::Result<()> {
        let ids = self.files.group_list()?;
        let next = ids.iter().max().map_or(1, |id| id.saturating_add(1));
        self.shelf.ids.fetch_max(next, Ordering::Relaxed);
        for id in ids {
            if !writer.copied.contains(&id) {
                self.files.group_remove(id)?;
            }
        }
        Ok(())
    }

    /// Takes over the files below `below` of a log whose state is lost: the engine may have run
    /// without a binary log. They are kept as they are, if the last ones can be read.
    fn adopt(&self, writer: &mut Writer, below: FileNumber) -> io::Result<()> {
        let mut numbers = self.files.list()?;
        numbers.retain(|file| (1..below).contains(file));
        numbers.sort_unstable();
        while let Some(last) = numbers.pop() {
            let end = Place { file: last, offset: self.files.len(last)? };
            let Some((gtids, checksum)) = self.scan_whole(end)? else { continue };
            let mut tip =
                Tip { next: writer.tip.next, end, lowest: last, checksum, ..Tip::default() };
            tip.gtids = gtids;
            while let Some(file) = numbers.pop().filter(|file| file + 1 == tip.lowest) {
                tip.closed.push_front(self.files.len(file)?);
                tip.lowest = file;
            }
            writer.tip = tip;
            return Ok(());
        }
        Ok(())
    }
}
