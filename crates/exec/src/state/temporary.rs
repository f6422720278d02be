//! Files of statements for rows that do not fit into memory. They never have a name (`O_TMPFILE`,
//! where the file system can), so that nothing is left behind however the server ends, and their
//! space is free when they are closed.
//!
//! Must not know what is in the files. Bytes come back as they were written or not at all.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use selkie_engine::{WaitKind, blocking};
use selkie_types::error::catalogue::{EE_CANTCREATEFILE, EE_READ, EE_WRITE, ErrorDef};
use selkie_types::{SqlError, SqlResult};

use crate::state::error::errno;

/// The directories of temporary files; they take turns.
#[derive(Debug)]
pub struct TemporaryFiles {
    directories: Vec<PathBuf>,
    next: AtomicUsize,
}

impl Default for TemporaryFiles {
    fn default() -> Self {
        Self { directories: vec![std::env::temp_dir()], next: AtomicUsize::new(0) }
    }
}

impl TemporaryFiles {
    /// Files in the directories of a list with colons, as `tmpdir` has it.
    pub fn of(list: &str) -> Self {
        let directories: Vec<_> =
            list.split(':').filter(|path| !path.is_empty()).map(PathBuf::from).collect();
        match directories.is_empty() {
            true => Self::default(),
            false => Self { directories, ..Self::default() },
        }
    }

    /// A new file, and the directory it is in.
    fn make(&self) -> (std::io::Result<File>, &Path) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let directory = &self.directories[number % self.directories.len()];
        (blocking(WaitKind::TemporaryFile, || tempfile::tempfile_in(directory)), directory)
    }

    /// A new file for bytes that are no rows of a statement.
    pub fn file(&self) -> std::io::Result<File> {
        self.make().0
    }

    /// A new file; error 1 if there can be none.
    pub(crate) fn create(&self) -> SqlResult<Arc<TemporaryFile>> {
        let (file, directory) = self.make();
        let name = directory.join("selkie-rows").to_string_lossy().into();
        match file {
            Ok(file) => Ok(Arc::new(TemporaryFile { file, name, end: AtomicU64::new(0) })),
            Err(error) => Err(failed(&EE_CANTCREATEFILE, &name, &error)),
        }
    }
}

#[cold]
fn failed(error: &'static ErrorDef, name: &str, cause: &std::io::Error) -> SqlError {
    tracing::error!(file = name, "a temporary file failed: {cause}");
    SqlError::new(error, &[&name, &errno(cause)])
}

/// A place in a file, and the sum of its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    at: u64,
    len: usize,
    sum: u32,
}

/// A file without a name.
#[derive(Debug)]
pub(crate) struct TemporaryFile {
    file: File,
    /// Its name in errors.
    name: Box<str>,
    end: AtomicU64,
}

impl TemporaryFile {
    /// Appends bytes. Error 3 if they cannot be written, for example because the disk is full.
    pub(crate) fn write(&self, bytes: &[u8]) -> SqlResult<Place> {
        let at = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        blocking(WaitKind::TemporaryFile, || self.file.write_all_at(bytes, at))
            .map_err(|error| failed(&EE_WRITE, &self.name, &error))?;
        Ok(Place { at, len: bytes.len(), sum: crc32c::crc32c(bytes) })
    }

    /// The bytes of a place. Error 2 if they cannot be read or are not those that were written.
    pub(crate) fn read(&self, place: Place) -> SqlResult<Vec<u8>> {
        selkie_meter::ask(place.len)?;
        let mut bytes = vec![0; place.len];
        blocking(WaitKind::TemporaryFile, || self.file.read_exact_at(&mut bytes, place.at))
            .map_err(|error| failed(&EE_READ, &self.name, &error))?;
        match crc32c::crc32c(&bytes) == place.sum {
            true => Ok(bytes),
            false => Err(self.damaged()),
        }
    }

    /// Error 2: bytes are not those that were written.
    #[cold]
    pub(crate) fn damaged(&self) -> SqlError {
        let cause = std::io::Error::from_raw_os_error(5);
        failed(&EE_READ, &self.name, &cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_bytes_are_an_error() {
        let file = TemporaryFiles::default().create().expect("a directory");
        let (first, second) = (file.write(b"one").unwrap(), file.write(b"second").unwrap());
        assert_eq!(file.read(second).unwrap(), b"second");
        assert_eq!(file.read(first).unwrap(), b"one");
        file.file.write_all_at(b"S", second.at).unwrap();
        assert_eq!(file.read(second).unwrap_err().code(), 2);
        assert_eq!(file.read(first).unwrap(), b"one");
    }

    #[test]
    fn files_have_no_names_and_take_turns() {
        let base = std::env::temp_dir().join(format!("selkie-turns-{}", std::process::id()));
        let directories = [base.join("a"), base.join("b")];
        directories.iter().for_each(|path| std::fs::create_dir_all(path).unwrap());
        let files = TemporaryFiles::of(&format!(
            "{}:{}",
            directories[0].display(),
            directories[1].display()
        ));
        let made = [files.create().unwrap(), files.create().unwrap()];
        for (file, directory) in made.iter().zip(&directories) {
            assert!(file.name.starts_with(&*directory.to_string_lossy()), "{}", file.name);
            assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
        }
        std::fs::remove_dir_all(&base).unwrap();
        let error = files.create().unwrap_err();
        assert_eq!(error.code(), 1);
    }
}
