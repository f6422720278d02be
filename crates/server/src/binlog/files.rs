//! The files of the binary log on the file system.
//!
//! Must not know what they contain. A failed write is an error for the caller and no more.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::fs::FallocateFlags;
use selkie_replication::log::{FileNumber, LogFiles};

use super::names::LogNames;

/// Open files that are kept. Readers of old files are rare, and the writer uses one or two.
const KEPT: usize = 8;

/// Permissions of new files, as the engine's files have them.
const MODE: u32 = 0o640;

/// The files.
#[derive(Debug)]
pub(crate) struct DiskLogFiles {
    names: LogNames,
    /// Open files, the last used at the end.
    open: Mutex<Vec<(Which, Arc<File>)>>,
}

/// A file of either kind.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Which {
    Log(FileNumber),
    Group(u64),
}

impl DiskLogFiles {
    /// The files with these names; their directory must exist.
    pub(crate) fn new(names: LogNames) -> Self {
        Self { names, open: Mutex::default() }
    }

    /// The names.
    pub(crate) fn names(&self) -> &LogNames {
        &self.names
    }

    /// Whether the directories of log and index are there; the error names the missing one.
    pub(crate) fn check(&self) -> Result<(), String> {
        let index = self.names.index.parent().unwrap_or(Path::new("."));
        for directory in [self.names.directory.as_path(), index] {
            if !directory.is_dir() {
                return Err(format!(
                    "Could not use {} for logging: there is no directory '{}'",
                    self.names.shown_base,
                    directory.display()
                ));
            }
        }
        Ok(())
    }

    /// Time of the last change of a file.
    pub(crate) fn changed(&self, file: FileNumber) -> io::Result<std::time::SystemTime> {
        fs::metadata(self.path(Which::Log(file)))?.modified()
    }

    fn path(&self, which: Which) -> PathBuf {
        let name = match which {
            Which::Log(number) => self.names.file(number),
            Which::Group(id) => self.names.group(id),
        };
        self.names.directory.join(name)
    }

    fn file(&self, which: Which) -> io::Result<Arc<File>> {
        let mut open = self.open.lock();
        if let Some(at) = open.iter().position(|(kept, _)| *kept == which) {
            let found = open.remove(at);
            let file = Arc::clone(&found.1);
            open.push(found);
            return Ok(file);
        }
        drop(open);
        let file = OpenOptions::new().read(true).write(true).open(self.path(which))?;
        Ok(self.keep(which, file))
    }

    fn keep(&self, which: Which, file: File) -> Arc<File> {
        let file = Arc::new(file);
        let mut open = self.open.lock();
        open.retain(|(kept, _)| *kept != which);
        if open.len() >= KEPT {
            open.remove(0);
        }
        open.push((which, Arc::clone(&file)));
        file
    }

    fn forget(&self, which: Which) {
        self.open.lock().retain(|(kept, _)| *kept != which);
    }

    fn create_empty(&self, which: Which) -> io::Result<()> {
        self.forget(which);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(MODE);
        let file = options.open(self.path(which))?;
        self.keep(which, file);
        Ok(())
    }

    fn delete(&self, which: Which) -> io::Result<()> {
        self.forget(which);
        match fs::remove_file(self.path(which)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn listed<T>(&self, of: impl Fn(&str) -> Option<T>) -> io::Result<Vec<T>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.names.directory)? {
            let name = entry?.file_name();
            found.extend(name.to_str().and_then(&of));
        }
        Ok(found)
    }

    fn sync_directory(&self) -> io::Result<()> {
        File::open(&self.names.directory)?.sync_all()
    }
}

impl LogFiles for DiskLogFiles {
    fn create(&self, file: FileNumber) -> io::Result<()> {
        self.create_empty(Which::Log(file))?;
        self.sync_directory()
    }

    fn reserve(&self, file: FileNumber, upto: u64) -> io::Result<()> {
        let file = self.file(Which::Log(file))?;
        let now = file.metadata()?.len();
        let Some(more) = upto.checked_sub(now).filter(|more| *more > 0) else { return Ok(()) };
        match rustix::fs::fallocate(&*file, FallocateFlags::KEEP_SIZE, now, more) {
            // The file system cannot reserve, so a write may find the disk full.
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn write(&self, file: FileNumber, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file(Which::Log(file))?.write_all_at(bytes, offset)
    }

    fn read(&self, file: FileNumber, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.file(Which::Log(file))?.read_at(buf, offset)
    }

    fn len(&self, file: FileNumber) -> io::Result<u64> {
        Ok(self.file(Which::Log(file))?.metadata()?.len())
    }

    fn truncate(&self, file: FileNumber, len: u64) -> io::Result<()> {
        self.file(Which::Log(file))?.set_len(len)
    }

    fn sync(&self, file: FileNumber) -> io::Result<()> {
        self.file(Which::Log(file))?.sync_data()
    }

    fn remove(&self, file: FileNumber) -> io::Result<()> {
        self.delete(Which::Log(file))
    }

    fn list(&self) -> io::Result<Vec<FileNumber>> {
        self.listed(|name| self.names.number(name))
    }

    fn write_index(&self, files: &[FileNumber]) -> io::Result<()> {
        let line = |file: &FileNumber| format!("{}{}\n", self.names.prefix, self.names.file(*file));
        let text: String = files.iter().map(line).collect();
        let mut temporary = self.names.index.clone().into_os_string();
        temporary.push(".new");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(MODE);
        let file = options.open(&temporary)?;
        file.write_all_at(text.as_bytes(), 0)?;
        file.sync_all()?;
        fs::rename(&temporary, &self.names.index)?;
        File::open(self.names.index.parent().unwrap_or(Path::new(".")))?.sync_all()
    }

    fn name(&self, file: FileNumber) -> String {
        self.names.file(file)
    }

    fn group_create(&self, id: u64) -> io::Result<()> {
        self.create_empty(Which::Group(id))
    }

    fn group_append(&self, id: u64, bytes: &[u8]) -> io::Result<()> {
        let file = self.file(Which::Group(id))?;
        let end = file.metadata()?.len();
        file.write_all_at(bytes, end)
    }

    fn group_truncate(&self, id: u64, len: u64) -> io::Result<()> {
        self.file(Which::Group(id))?.set_len(len)
    }

    fn group_sync(&self, id: u64) -> io::Result<()> {
        self.file(Which::Group(id))?.sync_data()?;
        self.sync_directory()
    }

    fn group_read(&self, id: u64, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.file(Which::Group(id))?.read_at(buf, offset)
    }

    fn group_remove(&self, id: u64) -> io::Result<()> {
        self.delete(Which::Group(id))
    }

    fn group_list(&self) -> io::Result<Vec<u64>> {
        self.listed(|name| self.names.group_id(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_what_was_written() {
        let directory = std::env::temp_dir().join(format!("selkie-binlog-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let files = DiskLogFiles::new(LogNames::new("bl", None, "", &directory));
        files.create(1).unwrap();
        files.reserve(1, 10_000).unwrap();
        assert_eq!(files.len(1).unwrap(), 0, "space is reserved behind the end");
        files.write(1, 0, b"hello").unwrap();
        let mut buf = [0; 8];
        assert_eq!(files.read(1, 1, &mut buf).unwrap(), 4);
        files.truncate(1, 2).unwrap();
        files.sync(1).unwrap();
        assert_eq!(files.len(1).unwrap(), 2);
        (2..20).for_each(|number| files.create(number).unwrap());
        files.write_index(&[1, 2]).unwrap();
        let index = fs::read_to_string(directory.join("bl.index")).unwrap();
        assert_eq!(index, "./bl.000001\n./bl.000002\n");
        files.group_create(4).unwrap();
        files.group_append(4, b"abc").unwrap();
        files.group_append(4, b"def").unwrap();
        files.group_truncate(4, 5).unwrap();
        files.group_sync(4).unwrap();
        assert_eq!(files.group_read(4, 3, &mut buf).unwrap(), 2);
        assert_eq!(files.group_list().unwrap(), [4]);
        assert_eq!(files.list().unwrap().len(), 19);
        files.group_remove(4).unwrap();
        files.remove(1).unwrap();
        files.remove(1).unwrap();
        assert_eq!((files.list().unwrap().len(), files.group_list().unwrap().len()), (18, 0));
        assert!(files.len(1).is_err());
        fs::remove_dir_all(directory).unwrap();
    }
}
