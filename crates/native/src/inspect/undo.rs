//! `selkie inspect undo`: the unfinished transactions, counters and files that recovery would find.
//! Reads snapshot and log only; changes nothing and undoes nothing.

use super::command::{Directory, Findings};
use super::log::row;
use crate::checkpoint::Control;
use crate::error::StorageError;
use crate::log::Segments;
use crate::recovery::{RecoveryVisitor, scan_log};
use crate::trx::{Recovered, seq_of};
use std::io::Write;

pub(super) fn show(directory: &Directory, out: &mut Vec<u8>) -> Findings {
    let (control, record) = Control::open(directory.disk.clone())?;
    let record = record.ok_or_else(|| StorageError::corrupt("no valid checkpoint record"))?;
    let segments = Segments::open(directory.disk.clone(), record.segment_size)?;
    let mut recovered = Recovered::default();
    recovered.snapshot(&control.read_snapshot(&record)?)?;
    scan_log(&segments, &record, &mut recovered)?;
    writeln!(out, "next segment {}", recovered.next_seq)?;
    let mut last = None;
    for (version, record) in recovered.unfinished() {
        let segment = seq_of(version);
        if last.replace(segment) != Some(segment) {
            writeln!(out, "segment {segment} of an unfinished transaction")?;
        }
        writeln!(out, "  {}", row(record))?;
    }
    for place in recovered.stored() {
        writeln!(out, "a segment of {} bytes at {} of the file undo", place.len, place.at)?;
    }
    for (file, counters) in &recovered.counters {
        let (rows, auto) = (counters.rows, counters.auto);
        writeln!(out, "file {}: about {rows} rows, next AUTO_INCREMENT {auto}", file.0)?;
    }
    recovered
        .created
        .iter()
        .try_for_each(|f| writeln!(out, "file {}: created by an unfinished transaction", f.0))?;
    recovered.dropped.iter().try_for_each(|f| writeln!(out, "file {}: dropped", f.0))?;
    Ok(0)
}
