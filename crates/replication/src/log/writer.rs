//! Records come into files: from the queue while the server runs, from the engine's log at start.
//!
//! Must not write a record that the engine's log has not written, and must not remove files for one
//! that is not durable there. Must bear that a record is written twice: each has its place.

use std::collections::{BTreeSet, VecDeque};
use std::io;

use crate::codec::flags;
use crate::log::binary_log::{BinaryLog, Entry};
use crate::log::files::{FileNumber, Place, damaged};
use crate::log::record::{FileHead, Op, Record};
use crate::log::tip::Tip;

/// Bytes that are written at once.
pub(super) const RUN_BYTES: usize = 1 << 20;
/// Records that are taken from the queue at once.
const BATCH: usize = 1024;
/// Place of the flags of a file's first event, behind magic, time, type, server, length and end.
const FLAGS_AT: u64 = 4 + 17;

const _: () = assert!(flags::IN_USE == 1, "the flag is in the byte that is overwritten");

/// Bytes that lie one behind the other in a file and are not written yet.
#[derive(Default)]
struct Run {
    place: Place,
    bytes: Vec<u8>,
}

/// State of who writes.
#[derive(Default)]
pub(super) struct Writer {
    /// State behind the last record that is in files or in the run.
    pub(super) tip: Tip,
    run: Run,
    /// Records taken from the queue.
    batch: VecDeque<Entry>,
    /// Files that exist.
    pub(super) known: BTreeSet<FileNumber>,
    /// Files with bytes that may not be durable.
    pub(super) dirty: BTreeSet<FileNumber>,
    /// Group files whose events are in files since the last checkpoint.
    pub(super) copied: Vec<u64>,
    /// Files that the index no longer has.
    pub(super) doomed: BTreeSet<FileNumber>,
}

impl Writer {
    /// A writer behind the last record of a saved state.
    pub(super) fn at(tip: Tip, known: BTreeSet<FileNumber>) -> Self {
        Self { tip, known, ..Self::default() }
    }
}

impl BinaryLog {
    /// Writes all queued records with an LSN up to `lsn` into files. The engine's log must be
    /// durable up to `lsn`. One caller writes at a time, others wait. After an error the records
    /// stay queued.
    pub fn write_upto(&self, lsn: u64) -> io::Result<()> {
        self.durable(lsn);
        self.write_ahead(lsn)
    }

    /// As [`BinaryLog::write_upto`], when the engine's log is with the operating system up to
    /// `lsn`, but may lose it together with the machine's power: a start takes the same from files
    /// then. A record that removes files, and the very first one, stays queued until
    /// [`BinaryLog::durable`] has named its LSN, and everything behind it too.
    pub fn write_ahead(&self, lsn: u64) -> io::Result<()> {
        self.write_with(&mut self.writer.lock(), lsn)
    }

    /// As [`BinaryLog::write_ahead`], by the one who writes.
    pub(super) fn write_with(&self, writer: &mut Writer, lsn: u64) -> io::Result<()> {
        loop {
            self.take(writer, lsn);
            if writer.batch.is_empty() && writer.run.bytes.is_empty() {
                return Ok(());
            }
            let mut done = Vec::new();
            let result = self.write_batch(writer, &mut done);
            let result = result.and_then(|()| self.flush(writer));
            self.forget(done);
            result?;
            let mut state = self.state();
            (state.written, state.unwritten) = (writer.tip.end, writer.tip.next);
        }
    }

    /// Takes the filled records at the front of the queue.
    fn take(&self, writer: &mut Writer, lsn: u64) {
        let mut state = self.state();
        while writer.batch.len() < BATCH
            && let Some(entry) = state.queue.front()
            && let Some(record) = &entry.record
            && entry.lsn <= lsn
            && (entry.lsn <= state.durable || !Record::is_irrevocable(record))
        {
            let (lsn, end) = (entry.lsn, entry.end);
            state.taken.note(lsn, end);
            writer.batch.extend(state.queue.pop_front());
        }
    }

    fn write_batch(&self, writer: &mut Writer, done: &mut Vec<Vec<u8>>) -> io::Result<()> {
        while let Some(entry) = writer.batch.pop_front() {
            let written = self.write_entry(writer, &entry);
            if written.is_err() {
                writer.batch.push_front(entry);
                return written;
            }
            done.extend(entry.record);
        }
        Ok(())
    }

    fn write_entry(&self, writer: &mut Writer, entry: &Entry) -> io::Result<()> {
        let record = Record::decode(entry.record.as_deref().unwrap_or_default());
        let record = record.map_err(|_| damaged("a queued record cannot be read"))?;
        if let Op::Begin { head, .. } = &record.op {
            writer.known.remove(&head.file);
            writer.known.extend(entry.is_made.then_some(head.file));
        }
        self.write_record(writer, &record, entry.lsn)
    }

    /// Brings one record into the files, or into the run. A record that failed may come again.
    pub(super) fn write_record(
        &self,
        writer: &mut Writer,
        record: &Record<'_>,
        lsn: u64,
    ) -> io::Result<()> {
        if record.number == writer.tip.next {
            let applied = writer.tip.apply(&record.op);
            applied.map_err(|_| damaged("a record of the binary log has a wrong place"))?;
            writer.tip.lsn = lsn;
        }
        match &record.op {
            Op::Group { place, events, .. } => self.push(writer, *place, events),
            Op::Large { place, source, checksum, first, .. } => {
                self.push(writer, *place, first)?;
                self.flush(writer)?;
                self.copy_group(*source, place.after(first.len() as u64), *checksum)?;
                writer.copied.push(source.id);
                Ok(())
            }
            other => {
                self.flush(writer)?;
                // Nobody makes room in files that are closed or removed here.
                let _room = self.room.lock();
                self.change_files(writer, other)
            }
        }
    }

    /// Does the rarer operations.
    fn change_files(&self, writer: &mut Writer, op: &Op<'_>) -> io::Result<()> {
        match op {
            Op::Group { .. } | Op::Large { .. } | Op::State(_) => Ok(()),
            Op::Begin { tail, head } => {
                match tail {
                    Some((place, [])) => self.leave(writer, *place)?,
                    Some((place, events)) => self.write_last(writer, *place, events)?,
                    None => {}
                }
                self.write_head(writer, head)
            }
            Op::Stop { place, events } => self.write_last(writer, *place, events),
            Op::Reset { head, .. } => {
                for file in self.files.list()? {
                    self.files.remove(file)?;
                }
                writer.known.clear();
                writer.dirty.clear();
                writer.doomed.clear();
                self.write_head(writer, head)
            }
            Op::Lowest(lowest) => {
                self.write_index(&writer.tip)?;
                writer.doomed.extend(writer.known.range(..lowest));
                Ok(())
            }
        }
    }

    /// Writes the last events of a file, and that the file is no longer in use.
    fn write_last(&self, writer: &mut Writer, place: Place, events: &[u8]) -> io::Result<()> {
        self.write_at(writer, place, events)?;
        self.files.write(place.file, FLAGS_AT, &[0])?;
        self.files.truncate(place.file, place.after(events.len() as u64).offset)
    }

    /// Leaves a file as a crash found it: it ends at a place and is in use. A loss of power may
    /// have left more in it than in the engine's log.
    pub(super) fn leave(&self, writer: &mut Writer, end: Place) -> io::Result<()> {
        if !writer.known.contains(&end.file) {
            // It was removed later.
            return Ok(());
        }
        writer.dirty.insert(end.file);
        self.files.truncate(end.file, end.offset)?;
        self.files.write(end.file, FLAGS_AT, &[flags::IN_USE as u8])
    }

    /// Writes the first events of a new file.
    fn write_head(&self, writer: &mut Writer, head: &FileHead<'_>) -> io::Result<()> {
        let place = Place { file: head.file, offset: 0 };
        self.write_at(writer, place, head.bytes)?;
        self.write_index(&writer.tip)
    }

    /// Replaces the index.
    pub(super) fn write_index(&self, tip: &Tip) -> io::Result<()> {
        let files: Vec<_> = tip.files().map(|(file, _)| file).collect();
        self.files.write_index(&files)
    }

    /// Adds events to the run; the run is written before if they do not lie behind it.
    fn push(&self, writer: &mut Writer, place: Place, events: &[u8]) -> io::Result<()> {
        let run = &writer.run;
        let is_behind = place == run.place.after(run.bytes.len() as u64);
        if !is_behind || run.bytes.len() + events.len() > RUN_BYTES {
            self.flush(writer)?;
        }
        if writer.run.bytes.is_empty() {
            writer.run.place = place;
        }
        writer.run.bytes.extend_from_slice(events);
        Ok(())
    }

    /// Writes the run. After an error it stays.
    pub(super) fn flush(&self, writer: &mut Writer) -> io::Result<()> {
        if writer.run.bytes.is_empty() {
            return Ok(());
        }
        let run = std::mem::take(&mut writer.run);
        let written = self.write_at(writer, run.place, &run.bytes);
        writer.run = run;
        if written.is_ok() {
            writer.run.bytes.clear();
            writer.run.bytes.shrink_to(RUN_BYTES);
        }
        written
    }

    /// Writes bytes at their place. The file is created if it is not there: a file that was removed
    /// later may be missing when its records come again.
    fn write_at(&self, writer: &mut Writer, place: Place, bytes: &[u8]) -> io::Result<()> {
        if !writer.known.contains(&place.file) {
            self.files.create(place.file)?;
            writer.known.insert(place.file);
        }
        writer.dirty.insert(place.file);
        self.files.write(place.file, place.offset, bytes)
    }

    /// Reuses the buffers of records that are in files or in the run.
    fn forget(&self, done: Vec<Vec<u8>>) {
        let mut state = self.state();
        for record in done {
            state.pending = state.pending.saturating_sub(record.len() as u64);
            state.recycle(record);
        }
    }

    /// Removes the files that [`BinaryLog::purged`] has taken out of the index.
    pub fn remove_purged(&self) -> io::Result<()> {
        loop {
            let mut writer = self.writer.lock();
            let Some(file) = writer.doomed.first().copied() else { return Ok(()) };
            // A reset may have given the number to another file in the meantime, but then the file
            // is not doomed any more.
            self.files.remove(file)?;
            writer.doomed.remove(&file);
            writer.known.remove(&file);
            writer.dirty.remove(&file);
        }
    }
}
