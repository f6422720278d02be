//! Model of a bounded disk: no file is closed while it is used or before its writes are synced, and
//! what was written is read again.

use super::disk::SteppingDisk;
use super::{Body, Explore, run};
use crate::disk::sim::SimDisk;
use crate::disk::{Access, BoundedDisk, Disk, File};
use crate::sync::set_steps;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;

/// A disk whose files panic when they are closed with writes that were not synced.
struct WatchedDisk(SteppingDisk);

/// Numbers of writes of an open file.
#[derive(Default)]
struct Writes {
    done: u64,
    synced: u64,
}

struct WatchedFile {
    file: Arc<dyn File>,
    writes: Mutex<Writes>,
}

impl Drop for WatchedFile {
    fn drop(&mut self) {
        let writes = self.writes.lock();
        if !std::thread::panicking() {
            assert_eq!(writes.done, writes.synced, "a file is closed before a sync");
        }
    }
}

fn watched(file: Arc<dyn File>) -> Arc<dyn File> {
    Arc::new(WatchedFile { file, writes: Mutex::default() })
}

impl Disk for WatchedDisk {
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        self.0.open(name, access).map(watched)
    }

    fn create(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        self.0.create(name, access).map(watched)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.0.sync_dir()
    }

    fn fatal(&self, what: &str) -> ! {
        self.0.fatal(what)
    }
}

impl File for WatchedFile {
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_at(buf, at)
    }

    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.file.write_at(buf, at)?;
        self.writes.lock().done += 1;
        Ok(())
    }

    fn write_durable_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.write_at(buf, at)
    }

    fn sync(&self) -> io::Result<()> {
        let done = self.writes.lock().done;
        self.file.sync()?;
        let mut writes = self.writes.lock();
        writes.synced = writes.synced.max(done);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.file.allocate(len)
    }
}

const FILES: usize = 3;

fn bodies() -> Vec<Body<()>> {
    set_steps(false);
    let disk = BoundedDisk::new(Arc::new(WatchedDisk(SteppingDisk(SimDisk::new(1)))), 1);
    let disk = Arc::new(disk);
    let files: Vec<_> = (0..FILES)
        .map(|n| disk.create(&format!("data.{n}"), Access::Buffered).expect("created"))
        .collect();
    set_steps(true);
    (0..FILES)
        .map(|n| -> Body<()> {
            let (own, next) = (files[n].clone(), files[(n + 1) % FILES].clone());
            let disk = disk.clone();
            Box::new(move || {
                own.write_at(&[7; 8], 0).expect("written");
                next.sync().expect("synced");
                let mut buf = [0; 8];
                own.read_at(&mut buf, 0).expect("what was written");
                assert_eq!(buf, [7; 8]);
                own.sync().expect("synced");
                assert!(disk.open_files() <= 1 + FILES);
            })
        })
        .collect()
}

#[test]
fn no_file_is_closed_before_a_sync() {
    Explore::schedules(400).run(|| {
        run(bodies());
    });
}
