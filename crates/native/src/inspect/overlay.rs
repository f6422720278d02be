//! A disk over a directory that is only read: writes stay in memory, on top of its files.
//!
//! `selkie inspect` uses it, and `innodb_force_recovery` from the level on that must not change the
//! disk.

use crate::disk::{Access, Disk, File, RealDisk};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const BLOCK: u64 = 4096;

/// The directory with the changes made in memory.
pub(crate) struct Overlay {
    dir: PathBuf,
    /// Keeps other processes from opening the directory.
    _lock: Option<RealDisk>,
    /// Files of the directory that are treated as absent.
    hidden: fn(&str) -> bool,
    /// Files created or opened here; `None` means removed.
    files: Mutex<BTreeMap<String, Option<Arc<OverlayFile>>>>,
}

impl Overlay {
    pub(super) fn new(dir: &Path) -> Overlay {
        Overlay { dir: dir.to_owned(), _lock: None, hidden: |_| false, files: Mutex::default() }
    }

    /// An overlay on a locked directory, without the `hidden` files.
    pub(crate) fn locked(dir: &Path, lock: RealDisk, hidden: fn(&str) -> bool) -> Overlay {
        Overlay { _lock: Some(lock), hidden, ..Overlay::new(dir) }
    }
}

fn missing(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{name} does not exist"))
}

impl Disk for Overlay {
    fn open(&self, name: &str, _: Access) -> io::Result<Arc<dyn File>> {
        let mut files = self.files.lock();
        let file = match files.get(name) {
            Some(known) => known.clone().ok_or_else(|| missing(name))?,
            None if (self.hidden)(name) => return Err(missing(name)),
            None => Arc::new(OverlayFile::over(self.dir.join(name))?),
        };
        files.insert(name.to_owned(), Some(file.clone()));
        Ok(file)
    }

    fn create(&self, name: &str, _: Access) -> io::Result<Arc<dyn File>> {
        if self.list()?.iter().any(|known| known == name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = Arc::new(OverlayFile::default());
        self.files.lock().insert(name.to_owned(), Some(file.clone()));
        Ok(file)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                names.extend(entry.file_name().into_string().ok().filter(|n| !(self.hidden)(n)));
            }
        }
        for (name, file) in self.files.lock().iter() {
            match file {
                Some(_) => drop(names.insert(name.clone())),
                None => drop(names.remove(name)),
            }
        }
        Ok(names.into_iter().collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files.lock().insert(name.to_owned(), None);
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.open(from, Access::Buffered)?;
        let mut files = self.files.lock();
        let file = files.insert(from.to_owned(), None).flatten();
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        Ok(())
    }

    fn close(&self) {}

    /// No data on disk is at risk: a panic ends the inspection.
    fn fatal(&self, what: &str) -> ! {
        panic!("{what}")
    }
}

/// A file with changed blocks in memory.
#[derive(Default)]
struct OverlayFile {
    /// Opened for each read: a directory may have more files than the process may have open.
    base: Option<PathBuf>,
    base_len: u64,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    len: u64,
    blocks: HashMap<u64, Box<[u8]>>,
}

impl OverlayFile {
    fn over(base: PathBuf) -> io::Result<OverlayFile> {
        let base_len = fs::metadata(&base)?.len();
        let written = Mutex::new(Written { len: base_len, blocks: HashMap::new() });
        Ok(OverlayFile { base: Some(base), base_len, written })
    }

    /// Reads the file on disk at `at`; zeros after its end.
    fn read_base(&self, buf: &mut [u8], at: u64) -> io::Result<()> {
        let there = self.base_len.saturating_sub(at).min(buf.len() as u64) as usize;
        buf[there..].fill(0);
        match &self.base {
            Some(base) if there > 0 => fs::File::open(base)?.read_exact_at(&mut buf[..there], at),
            _ => Ok(()),
        }
    }
}

impl File for OverlayFile {
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<()> {
        let written = self.written.lock();
        let end = at + buf.len() as u64;
        if end > written.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read_base(buf, at)?;
        for number in at / BLOCK..end.div_ceil(BLOCK) {
            let Some(block) = written.blocks.get(&number) else { continue };
            let (from, to) = ((number * BLOCK).max(at), ((number + 1) * BLOCK).min(end));
            let inside = (from - number * BLOCK) as usize..(to - number * BLOCK) as usize;
            buf[(from - at) as usize..(to - at) as usize].copy_from_slice(&block[inside]);
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        let mut written = self.written.lock();
        let end = at + buf.len() as u64;
        for number in at / BLOCK..end.div_ceil(BLOCK) {
            let (from, to) = ((number * BLOCK).max(at), ((number + 1) * BLOCK).min(end));
            let new = &buf[(from - at) as usize..(to - at) as usize];
            let known = written.blocks.contains_key(&number);
            // Zeros after the end of the file need no block, since reads return zeros there. New
            // segments are full of them.
            if !known && number * BLOCK >= self.base_len && new.iter().all(|byte| *byte == 0) {
                continue;
            }
            if !known {
                let mut block = vec![0; BLOCK as usize].into_boxed_slice();
                self.read_base(&mut block, number * BLOCK)?;
                written.blocks.insert(number, block);
            }
            if let Some(block) = written.blocks.get_mut(&number) {
                let inside = (from - number * BLOCK) as usize..(to - number * BLOCK) as usize;
                block[inside].copy_from_slice(new);
            }
        }
        written.len = written.len.max(end);
        Ok(())
    }

    fn write_durable_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.write_at(buf, at)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.written.lock().len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let mut written = self.written.lock();
        written.len = written.len.max(len);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_stay_in_memory() {
        let dir = std::env::temp_dir().join(format!("selkie-overlay-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("directory");
        fs::write(dir.join("a"), vec![1; 5000]).expect("file");
        let overlay = Overlay::new(&dir);
        let file = overlay.open("a", Access::Buffered).expect("opened");
        file.write_at(&[2; 10], 4090).expect("written");
        file.write_at(&[0; 4096], 8192).expect("written");
        let mut buf = [9; 30];
        file.read_at(&mut buf, 4080).expect("read");
        assert_eq!((buf[9], buf[10], buf[19], buf[20]), (1, 2, 2, 1));
        file.read_at(&mut buf, 5000 - 15).expect("read");
        assert_eq!((buf[14], buf[15]), (1, 0));
        assert_eq!(file.len().ok(), Some(12_288));
        overlay.rename("a", "b").expect("renamed");
        assert_eq!(overlay.list().ok(), Some(vec!["b".to_owned()]));
        assert!(fs::read(dir.join("a")).is_ok_and(|bytes| bytes == vec![1; 5000]));
        fs::remove_dir_all(dir).expect("removed");
    }
}
