//! The bytes that a start must read of the existing files. The simulated disk is told of them
//! before each start, and refuses to remove or overwrite a byte of them that was not read before.

use crate::checkpoint::Control;
use crate::disk::DOUBLEWRITE;
use crate::disk::sim::SimDisk;
use crate::error::Result;
use crate::ids::{Lsn, PAGE_SIZE};
use crate::log::{BLOCK, SEGMENT_HEADER_LEN, Segments};
use crate::recovery::{RecoveryVisitor, scan_log};
use crate::trx::Recovered;
use std::ops::Range;
use std::sync::Arc;

/// Tells the disk the needs of the next start: the undo snapshot, the log from the checkpoint on,
/// whole copies of pages, and undo of unfinished transactions. A directory that cannot be opened
/// has no needs.
pub(super) fn declare(disk: &SimDisk) {
    disk.forget_needs();
    let needs = needs(&disk.fork(1)).unwrap_or_default();
    needs.into_iter().for_each(|(name, bytes)| disk.needs(&name, bytes));
}

/// Checks after a start that it has read all needed bytes.
pub(super) fn assert_read(disk: &SimDisk) {
    assert_eq!(disk.unread(), Vec::<String>::new(), "a start left unread what it needs");
}

fn needs(disk: &SimDisk) -> Result<Vec<(String, Range<u64>)>> {
    let (control, record) = Control::open(Arc::new(disk.clone()))?;
    let Some(record) = record else { return Ok(Vec::new()) };
    let mut out = vec![(format!("snapshot.{}", record.snapshot_file), 0..record.snapshot_len)];
    let mut recovered = Recovered::default();
    recovered.snapshot(&control.read_snapshot(&record)?)?;
    let segments = Segments::open(Arc::new(disk.clone()), record.segment_size)?;
    let end = scan_log(&segments, &record, &mut recovered)?.end;
    let mut at = record.lsn.0 / BLOCK * BLOCK;
    while at < end.0 {
        let (index, capacity) = (segments.index_of(Lsn(at)), segments.capacity());
        let until = end.0.min((index + 1) * capacity);
        let place = |lsn: u64| SEGMENT_HEADER_LEN + lsn - index * capacity;
        out.push((format!("log.{index:010}"), place(at)..place(until)));
        at = until;
    }
    let places = recovered.stored().into_iter();
    out.extend(places.map(|place| ("undo".to_owned(), place.at..place.at + u64::from(place.len))));
    if let Some(len) = disk.length(DOUBLEWRITE) {
        out.push((DOUBLEWRITE.to_owned(), 0..len / PAGE_SIZE as u64 * PAGE_SIZE as u64));
    }
    out.retain(|(name, bytes)| !bytes.is_empty() && disk.length(name).is_some());
    Ok(out)
}
