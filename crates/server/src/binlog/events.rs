//! SHOW BINLOG EVENTS: the events of one file as rows.
//!
//! Must not keep all rows: a file may have millions of events.

use std::sync::Arc;

use selkie_exec::{Outcome, ResultSink};
use selkie_plan::physical::OutputColumn;
use selkie_replication::Event;
use selkie_replication::codec::Checksum;
use selkie_replication::file::Placed;
use selkie_replication::log::{FileNumber, FileScan};
use selkie_replication::show::info;
use selkie_types::error::catalogue::*;
use selkie_types::{Batch, Column, SqlError, SqlResult, SqlType, TypeKind, Value};

use super::life::Binlog;
use crate::admin::answer_text;

/// Rows sent at once.
const BATCH: usize = 256;
/// The largest text of a compressed statement.
const MOST_TEXT: usize = 1 << 30;
/// The first event of a file.
const FIRST: u64 = 4;

/// The clauses of the statement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// The file; the first one if none is named.
    pub(crate) file: Option<String>,
    /// Offset of the first event.
    pub(crate) position: Option<u64>,
    /// Events to skip.
    pub(crate) skip: u64,
    /// Most events to show.
    pub(crate) count: Option<u64>,
}

/// Error 1220 with a reason.
pub(crate) fn failed_events(reason: &str) -> SqlError {
    SqlError::new(&ER_ERROR_WHEN_EXECUTING_COMMAND, &[&"SHOW BINLOG EVENTS", &reason])
}

/// The error of a place at which there is no readable event.
pub(crate) fn unreadable_event<E>(_: E) -> SqlError {
    failed_events("Wrong offset or I/O error")
}

/// Columns of the answer.
fn event_columns() -> Vec<(&'static str, SqlType)> {
    let number = |kind, length| {
        let mut ty = SqlType::new(kind, length, 0);
        ty.unsigned = true;
        ty
    };
    vec![
        ("Log_name", answer_text(20)),
        ("Pos", number(TypeKind::BigInt, 21)),
        ("Event_type", answer_text(20)),
        ("Server_id", number(TypeKind::Int, 10)),
        ("End_log_pos", number(TypeKind::BigInt, 21)),
        ("Info", answer_text(20)),
    ]
}

/// Sends the events. Without a log there are none. `check` fails if the statement was killed.
pub(crate) fn show_events(
    binlog: Option<&Binlog>,
    asked: &Asked,
    check: &dyn Fn() -> SqlResult<()>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let mut rows = EventRows::new(sink);
    if let Some(binlog) = binlog {
        send(binlog, asked, check, &mut rows)?;
    }
    rows.finish()
}

fn send(
    binlog: &Binlog,
    asked: &Asked,
    check: &dyn Fn() -> SqlResult<()>,
    rows: &mut EventRows<'_>,
) -> SqlResult<()> {
    let file = target(binlog, asked)?;
    let name = binlog.files().names().file(file);
    let mut scan = binlog.log().scan(file).ok_or_else(no_event_file)?;
    if let Some(position) = asked.position.filter(|position| *position > FIRST) {
        go_to(&mut scan, position, check)?;
    }
    // Compat: at least one event is looked at, even with a limit of zero.
    let end = asked.count.map_or(u64::MAX, |count| asked.skip.saturating_add(count));
    let mut number = 0;
    while let Some(placed) = scan.next_event().map_err(unreadable_event)? {
        check()?;
        if number >= asked.skip {
            rows.push(&name, &placed)?;
        }
        number += 1;
        if number >= end {
            break;
        }
    }
    Ok(())
}

/// Goes to a place at which an event must begin or the file end.
fn go_to(
    scan: &mut FileScan<'_>,
    position: u64,
    check: &dyn Fn() -> SqlResult<()>,
) -> SqlResult<()> {
    let first = scan.next_event().map_err(unreadable_event)?;
    let is_summed = matches!(
        first.map(|placed| placed.event),
        Some(Event::FormatDescription(format)) if format.checksum == Checksum::Crc32
    );
    if is_summed && position > scan.offset() {
        // The checksum of the event there says whether it is one.
        scan.skip_to(position);
    }
    while scan.offset() < position && scan.next_event().map_err(unreadable_event)?.is_some() {
        check()?;
    }
    if scan.offset() == position { Ok(()) } else { Err(unreadable_event(())) }
}

/// The error of a file that is not there.
pub(crate) fn no_event_file() -> SqlError {
    failed_events("Could not find target log")
}

/// The file to show.
fn target(binlog: &Binlog, asked: &Asked) -> SqlResult<FileNumber> {
    let files = binlog.told_files()?;
    let names = binlog.files().names();
    let mut files = files.into_iter();
    let found = match &asked.file {
        Some(name) => files.find(|(file, _)| names.file(*file) == *name),
        None => files.next(),
    };
    let (file, offset) = found.ok_or_else(no_event_file)?;
    match asked.position.filter(|position| *position > offset) {
        None => Ok(file),
        Some(position) => Err(failed_events(&format!(
            "Invalid pos specified. Requested from pos:{position} is greater than actual file \
             size:{offset}"
        ))),
    }
}

fn row(name: &str, placed: &Placed<'_>) -> SqlResult<[Value; 6]> {
    let header = &placed.frame.header;
    let text = info(header, &placed.event, MOST_TEXT).map_err(unreadable_event)?;
    Ok([
        Value::bytes(name),
        Value::UInt(placed.offset),
        Value::bytes(header.kind.name()),
        Value::UInt(header.server_id.into()),
        Value::UInt(header.end_log_pos.into()),
        Value::bytes(text),
    ])
}

/// Rows on their way.
pub(crate) struct EventRows<'s> {
    sink: &'s mut dyn ResultSink,
    rows: Vec<[Value; 6]>,
    is_open: bool,
}

impl<'s> EventRows<'s> {
    /// No row yet.
    pub(crate) fn new(sink: &'s mut dyn ResultSink) -> Self {
        Self { sink, rows: Vec::new(), is_open: false }
    }

    /// Adds the row of an event.
    pub(crate) fn push(&mut self, file: &str, placed: &Placed<'_>) -> SqlResult<()> {
        self.rows.push(row(file, placed)?);
        if self.rows.len() < BATCH { Ok(()) } else { self.send() }
    }

    fn open(&mut self) -> SqlResult<()> {
        if std::mem::replace(&mut self.is_open, true) {
            return Ok(());
        }
        let column = |(name, ty): (&str, SqlType)| OutputColumn {
            nullable: false,
            ..OutputColumn::computed(name, ty)
        };
        let columns: Vec<OutputColumn> = event_columns().into_iter().map(column).collect();
        self.sink.columns(&columns)
    }

    fn send(&mut self) -> SqlResult<()> {
        self.open()?;
        let rows = std::mem::take(&mut self.rows);
        let column = |(at, (_, ty)): (usize, (&str, SqlType))| {
            let mut column = Column::new(ty.physical(), ty.decimals, rows.len());
            rows.iter().filter_map(|row| row.get(at)).for_each(|value| column.push(value));
            Arc::new(column)
        };
        let columns = event_columns().into_iter().enumerate().map(column).collect();
        self.sink.batch(&Batch::new(columns, rows.len()))
    }

    /// Sends what is left.
    pub(crate) fn finish(mut self) -> SqlResult<Outcome> {
        match self.rows.is_empty() {
            true => self.open()?,
            false => self.send()?,
        }
        Ok(Outcome::rows())
    }
}
