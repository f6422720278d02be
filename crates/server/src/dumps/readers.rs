//! All readers of the binary log: where they are, who has which number, how they are woken.
//!
//! Must not be locked while anybody sends, reads a file or waits.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use selkie_replication::log::FileNumber;

use super::bell::Bell;
use crate::sessions::SessionHandle;

/// A reader as others see it.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Wakes it.
    pub(crate) bell: Arc<Bell>,
    server_id: u32,
    session: Arc<SessionHandle>,
    /// The file it reads; 0 while it looks for its place.
    file: AtomicU32,
    is_replaced: AtomicBool,
}

impl Reader {
    /// Whether another reader with the same number came.
    pub(crate) fn is_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Relaxed)
    }

    /// Says which file it reads.
    pub(crate) fn at(&self, file: FileNumber) {
        self.file.store(file, Ordering::Relaxed);
    }
}

/// A reader among the others, until the value is dropped.
#[derive(Debug)]
pub(crate) struct Entered<'a> {
    readers: &'a Readers,
    /// The reader.
    pub(crate) reader: Arc<Reader>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.readers.leave(&self.reader);
    }
}

/// The readers of a log.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    all: Mutex<Vec<Arc<Reader>>>,
    count: AtomicUsize,
    /// Grows when the log begins anew.
    age: AtomicU64,
}

impl Readers {
    /// Adds a reader, which is somewhere in the log. It takes the place of another one with its
    /// number. Compat: the number 0 is nobody's.
    pub(crate) fn enter(
        &self,
        server_id: u32,
        session: &Arc<SessionHandle>,
    ) -> io::Result<Entered<'_>> {
        let reader = Arc::new(Reader {
            bell: Arc::new(Bell::new()?),
            server_id,
            session: Arc::clone(session),
            file: AtomicU32::new(0),
            is_replaced: AtomicBool::new(false),
        });
        let mut all = self.all.lock();
        all.push(Arc::clone(&reader));
        self.count.store(all.len(), Ordering::SeqCst);
        let is_same = |other: &&Arc<Reader>| other.server_id == server_id && server_id != 0;
        let others: Vec<_> = all.iter().filter(is_same).cloned().collect();
        drop(all);
        for other in others.iter().filter(|other| !Arc::ptr_eq(other, &reader)) {
            other.is_replaced.store(true, Ordering::Relaxed);
            other.session.kill_connection();
        }
        Ok(Entered { readers: self, reader })
    }

    fn leave(&self, reader: &Arc<Reader>) {
        let mut all = self.all.lock();
        all.retain(|other| !Arc::ptr_eq(other, reader));
        self.count.store(all.len(), Ordering::SeqCst);
    }

    /// Wakes those who wait for more of the log.
    pub(crate) fn ring(&self) {
        if self.count.load(Ordering::SeqCst) > 0 {
            self.all.lock().iter().for_each(|reader| reader.bell.ring_if_asleep());
        }
    }

    /// The first file before `below` that is read, and the number of its readers.
    pub(crate) fn first_below(&self, below: FileNumber) -> Option<(FileNumber, usize)> {
        let all = self.all.lock();
        let files = all.iter().map(|reader| reader.file.load(Ordering::Relaxed));
        let files: Vec<_> = files.filter(|file| *file < below).collect();
        let first = files.iter().copied().min()?;
        Some((first, files.into_iter().filter(|file| *file == first).count()))
    }

    /// A number that is another one when the log has begun anew.
    pub(crate) fn age(&self) -> u64 {
        self.age.load(Ordering::SeqCst)
    }

    /// Ends all dumps: the log is about to begin anew, or has just done so.
    pub(crate) fn end_all(&self) {
        self.age.fetch_add(1, Ordering::SeqCst);
        self.all.lock().iter().for_each(|reader| reader.bell.ring());
    }
}
