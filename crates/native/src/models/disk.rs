//! The simulated disk with steps: the scheduler may switch threads before each call, and between
//! the halves of a transfer.

use super::end_process;
use crate::disk::sim::SimDisk;
use crate::disk::{Access, Disk, File};
use crate::sync::step;
use std::io;
use std::sync::Arc;

pub(super) struct SteppingDisk(pub(super) SimDisk);

struct SteppingFile(Arc<dyn File>);

fn stepping(file: Arc<dyn File>) -> Arc<dyn File> {
    Arc::new(SteppingFile(file))
}

impl Disk for SteppingDisk {
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        self.0.open(name, access).map(stepping)
    }

    fn create(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        step();
        self.0.create(name, access).map(stepping)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        step();
        self.0.remove(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        step();
        self.0.rename(from, to)
    }

    fn sync_dir(&self) -> io::Result<()> {
        step();
        self.0.sync_dir()
    }

    fn fatal(&self, _: &str) -> ! {
        end_process()
    }
}

impl File for SteppingFile {
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<()> {
        let (first, second) = buf.split_at_mut(buf.len() / 2);
        step();
        self.0.read_at(first, at)?;
        step();
        self.0.read_at(second, at + first.len() as u64)
    }

    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        let (first, second) = buf.split_at(buf.len() / 2);
        step();
        self.0.write_at(first, at)?;
        step();
        self.0.write_at(second, at + first.len() as u64)
    }

    fn write_durable_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        let (first, second) = buf.split_at(buf.len() / 2);
        step();
        self.0.write_durable_at(first, at)?;
        step();
        self.0.write_durable_at(second, at + first.len() as u64)?;
        step();
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        step();
        self.0.sync()?;
        step();
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        step();
        self.0.allocate(len)
    }
}
