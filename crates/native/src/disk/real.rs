//! Real files in one directory. Positioned reads and writes, direct I/O where the file system
//! allows it, and the only place that ends the process on an I/O error.

use super::{Access, Disk, File, LOCK};
use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags};
use rustix::io::ReadWriteFlags;
use std::fs;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory of real files, locked against other openers until it is closed or dropped.
pub(crate) struct RealDisk {
    dir: PathBuf,
    lock: OwnedFd,
}

impl RealDisk {
    /// Opens and locks the directory; creates it if it does not exist.
    pub(crate) fn new(dir: &Path) -> io::Result<RealDisk> {
        fs::create_dir_all(dir)?;
        sync_above(dir)?;
        let mode = Mode::from_raw_mode(0o660);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        let lock = rustix::fs::open(dir.join(LOCK), flags, mode)?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            io::Error::new(io::ErrorKind::ResourceBusy, "the directory is already open")
        })?;
        Ok(RealDisk { dir: dir.to_owned(), lock })
    }

    fn open_with(&self, name: &str, access: Access, flags: OFlags) -> io::Result<Arc<dyn File>> {
        let path = self.dir.join(name);
        let base = OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o660);
        if access == Access::Direct {
            match rustix::fs::open(&path, base | flags | OFlags::DIRECT, mode) {
                Ok(fd) => return Ok(Arc::new(RealFile { fd })),
                // The file system has no direct I/O; `create` may have left an empty file behind.
                Err(rustix::io::Errno::INVAL) => {
                    let fd = rustix::fs::open(&path, base | flags.difference(OFlags::EXCL), mode)?;
                    return Ok(Arc::new(RealFile { fd }));
                }
                Err(e) => return Err(e.into()),
            }
        }
        Ok(Arc::new(RealFile { fd: rustix::fs::open(&path, base | flags, mode)? }))
    }
}

impl Disk for RealDisk {
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        self.open_with(name, access, OFlags::empty())
    }

    fn create(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        self.open_with(name, access, OFlags::CREATE | OFlags::EXCL)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                names.extend(entry.file_name().into_string().ok());
            }
        }
        Ok(names)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.dir.join(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.dir.join(from), self.dir.join(to))
    }

    fn sync_dir(&self) -> io::Result<()> {
        fs::File::open(&self.dir)?.sync_all()
    }

    fn close(&self) {
        // If the unlock fails, closing the descriptor will unlock.
        let _ = rustix::fs::flock(&self.lock, FlockOperation::Unlock);
    }

    #[expect(clippy::print_stderr, reason = "the error log may be on the failing disk")]
    fn fatal(&self, what: &str) -> ! {
        tracing::error!("{what}; ending the process to keep the data on disk recoverable");
        eprintln!("selkie: fatal: {what}; ending the process to keep the data on disk recoverable");
        std::process::abort()
    }
}

/// Makes the directory entries of all parent directories durable: this process, or one killed
/// before, may have created them.
fn sync_above(dir: &Path) -> io::Result<()> {
    let dir = fs::canonicalize(dir)?;
    let device = fs::metadata(&dir)?.dev();
    for above in dir.ancestors().skip(1) {
        // A mount point existed before.
        if fs::metadata(above)?.dev() != device {
            return Ok(());
        }
        match fs::File::open(above) {
            Ok(directory) => directory.sync_all()?,
            // A directory that cannot be listed is not one that was created here.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

struct RealFile {
    fd: OwnedFd,
}

impl File for RealFile {
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            match rustix::io::pread(&self.fd, &mut buf[done..], at + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => done += n,
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            match rustix::io::pwrite(&self.fd, &buf[done..], at + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    fn write_durable_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            let piece = [IoSlice::new(&buf[done..])];
            match rustix::io::pwritev2(&self.fd, &piece, at + done as u64, ReadWriteFlags::DSYNC) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                    self.write_at(&buf[done..], at + done as u64)?;
                    return Ok(rustix::fs::fdatasync(&self.fd)?);
                }
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fdatasync(&self.fd)?)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(&self.fd)?.st_size as u64)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let now = self.len()?;
        if now >= len {
            return Ok(());
        }
        match rustix::fs::fallocate(&self.fd, FallocateFlags::empty(), now, len - now) {
            Ok(()) => Ok(()),
            // The file system has no preallocation, so only the length is set.
            Err(rustix::io::Errno::OPNOTSUPP) => Ok(rustix::fs::ftruncate(&self.fd, len)?),
            Err(e) => Err(e.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_survive_rename_and_report_their_end() {
        let dir = std::env::temp_dir().join(format!("selkie-disk-{}", std::process::id()));
        let disk = RealDisk::new(&dir).expect("directory");
        let file = disk.create("a", Access::Buffered).expect("created");
        assert!(disk.create("a", Access::Buffered).is_err());
        file.write_durable_at(b"hello", 3).expect("written");
        file.allocate(100).expect("allocated");
        disk.rename("a", "b").and_then(|()| disk.sync_dir()).expect("renamed");
        let mut buf = [0; 5];
        disk.open("b", Access::Buffered).and_then(|f| f.read_at(&mut buf, 3)).expect("read");
        assert_eq!((&buf, file.len().ok()), (b"hello", Some(100)));
        assert_eq!(
            file.read_at(&mut buf, 98).map_err(|e| e.kind()),
            Err(io::ErrorKind::UnexpectedEof)
        );
        assert!(RealDisk::new(&dir).is_err(), "a second opener");
        disk.close();
        assert!(RealDisk::new(&dir).is_ok(), "after closing");
        assert_eq!(disk.list().map(|n| n.contains(&"b".to_owned())).ok(), Some(true));
        fs::remove_dir_all(dir).expect("removed");
    }
}
