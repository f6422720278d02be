//! The data directory: created if missing, locked while a server uses it.
//!
//! Must not read the files inside; they belong to the engines.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// Name of the lock file.
const LOCK_FILE: &str = "selkie.lock";

/// A data directory that this process owns until the value is dropped.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    /// The lock belongs to the process; it ends with the process, also after a crash.
    _lock: File,
}

impl DataDir {
    /// Creates and locks the directory; the error is a sentence for the log.
    pub fn open(path: &Path) -> Result<Self, String> {
        fs::create_dir_all(path)
            .map_err(|e| format!("Can't create data directory '{}': {e}", path.display()))?;
        let path = path
            .canonicalize()
            .map_err(|e| format!("Can't change dir to '{}': {e}", path.display()))?;
        let lock = lock(&path.join(LOCK_FILE))?;
        Ok(Self { path, _lock: lock })
    }

    /// The directory as an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn lock(path: &Path) -> Result<File, String> {
    let failed = |e: std::io::Error| format!("Can't lock '{}': {e}", path.display());
    let mut options = OpenOptions::new();
    let mut file =
        options.create(true).truncate(false).read(true).write(true).open(path).map_err(failed)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        let owner = fs::read_to_string(path).unwrap_or_default();
        format!(
            "The data directory '{}' is used by another server (process {})",
            path.parent().unwrap_or(path).display(),
            owner.trim()
        )
    })?;
    file.set_len(0).map_err(failed)?;
    writeln!(file, "{}", std::process::id()).map_err(failed)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_use_is_refused() {
        let path = std::env::temp_dir().join(format!("selkie-datadir-{}", std::process::id()));
        let first = DataDir::open(&path).unwrap();
        let error = DataDir::open(&path).unwrap_err();
        assert!(error.contains("used by another server"), "{error}");
        drop(first);
        assert!(DataDir::open(&path).is_ok());
        let _ = fs::remove_dir_all(path);
    }
}
