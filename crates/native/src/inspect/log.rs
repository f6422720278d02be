//! `selkie inspect log`: segments, groups and records as recovery reads them.
//!
//! Reads the control file and the log only; runs no recovery.

use super::command::{Directory, Failure, Findings, number};
use super::pages::hex;
use crate::checkpoint::{CheckpointRecord, Control};
use crate::error::StorageError;
use crate::ids::Lsn;
use crate::log::{Group, LogReader, Record, RecordReader, Segments};
use crate::trx::{RowRecord, TrxRecord};
use std::io::Write;

pub(super) fn show(directory: &Directory, rest: &[String], out: &mut Vec<u8>) -> Findings {
    let (_, record) = Control::open(directory.disk.clone())?;
    let record = record.ok_or_else(|| StorageError::corrupt("no valid checkpoint record"))?;
    let segments = Segments::open(directory.disk.clone(), record.segment_size)?;
    head(&record, &segments, out)?;
    let from = number(rest, 0)?.map_or(record.lsn, Lsn);
    let mut reader = LogReader::new(&segments, from, record.epoch_at_lsn, record.epoch)?;
    let (mut groups, mut wrong) = (0u64, 0);
    while let Some(group) = reader.next_group()? {
        groups += 1;
        wrong += show_group(&group, out)?;
    }
    let end = reader.position();
    writeln!(out, "{groups} groups, the log ends at {end}")?;
    if end < record.durable && from <= record.durable {
        writeln!(out, "WRONG: the log was durable up to {}", record.durable)?;
        wrong += 1;
    }
    Ok(wrong)
}

fn head(record: &CheckpointRecord, segments: &Segments, out: &mut Vec<u8>) -> Result<(), Failure> {
    writeln!(out, "checkpoint {} at {}, durable up to {}", record.seq, record.lsn, record.durable)?;
    writeln!(out, "epoch {} (at the checkpoint {})", record.epoch, record.epoch_at_lsn)?;
    writeln!(
        out,
        "undo snapshot snapshot.{} of {} bytes",
        record.snapshot_file, record.snapshot_len
    )?;
    let bytes = segments.bytes_on_disk();
    writeln!(out, "{} segments of {} bytes", bytes / record.segment_size, record.segment_size)?;
    Ok(())
}

fn show_group(group: &Group<'_>, out: &mut Vec<u8>) -> Findings {
    writeln!(out, "group {} to {}, {} bytes", group.start, group.end, group.payload.len())?;
    for record in RecordReader::new(group.payload) {
        match record {
            Ok(record) => writeln!(out, "  {}", describe(record))?,
            Err(_) => {
                writeln!(out, "  WRONG: undecodable")?;
                return Ok(1);
            }
        }
    }
    Ok(0)
}

fn describe(record: Record<'_>) -> String {
    match record {
        Record::Init { page, kind } => format!("{page}: initialised as type {kind}"),
        Record::Write { page, offset, bytes } => {
            format!("{page}: {} bytes at {offset}: {}", bytes.len(), hex(bytes))
        }
        Record::Op { page, op, payload } => format!("{page}: operation {op}: {}", hex(payload)),
        Record::Row(payload) => row(payload),
        Record::Trx(payload) => transaction(payload),
        Record::FileCreated(file) => format!("file {} created", file.0),
        Record::FileDropped(file) => format!("file {} dropped", file.0),
        Record::Rider(payload) => format!("{} bytes of a rider", payload.len()),
    }
}

/// A row change in words.
pub(super) fn row(payload: &[u8]) -> String {
    let Some(row) = RowRecord::decode(payload) else { return "undecodable row change".to_owned() };
    let (kind, file, version) = (row.kind, row.file.0, row.ver);
    let undone = if row.undone { " taken back" } else { "" };
    format!("{kind:?} in file {file}, version {version}{undone}, key {}", hex(row.key))
}

fn transaction(payload: &[u8]) -> String {
    match TrxRecord::decode(payload) {
        None => "undecodable transaction record".to_owned(),
        Some(TrxRecord::Committed { seqs, created, dropped }) => {
            let files = created.len() + dropped.len();
            format!("commit of segments {seqs:?}, {files} files created or dropped")
        }
        Some(TrxRecord::RolledBack { seqs }) => format!("rollback of segments {seqs:?}"),
        Some(TrxRecord::Unprepared { seqs }) => {
            format!("rollback begins of prepared segments {seqs:?}")
        }
        Some(TrxRecord::Created(file)) => format!("file {} created by a transaction", file.0),
        Some(TrxRecord::Counter(file, next)) => {
            format!("AUTO_INCREMENT of file {} continues with {next}", file.0)
        }
        Some(TrxRecord::Prepared(prepared)) => format!("prepare of segments {:?}", prepared.seqs),
    }
}
