//! SHOW RELAYLOG EVENTS: the events of one relay file as rows.
//!
//! Must not hold more than an event and a chunk of the file in memory: the applier may be far
//! behind.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use selkie_exec::{Outcome, ResultSink};
use selkie_replication::file::{FileReader, Step};
use selkie_sql::ast::StringLiteral;
use selkie_types::SqlResult;

use super::{names, threads};
use crate::binlog::{Asked, EventRows, failed_events, no_event_file, unreadable_event};
use crate::session::Shared;

/// Bytes that are read at once, unless an event is longer.
const CHUNK: usize = 64 << 10;
/// The first event of a file.
const FIRST: u64 = 4;

/// Sends the events. Without relay files there are none. `check` fails if the statement was killed.
pub(crate) fn show_events(
    shared: &Shared,
    name: Option<&StringLiteral>,
    asked: &Asked,
    check: &dyn Fn() -> SqlResult<()>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let connection = names::find(&shared.server, &names::said(shared, name)?)?;
    let mut rows = EventRows::new(sink);
    let files = threads::relay_files(&connection);
    if files.is_empty() {
        // Compat: then every file has no events.
        return rows.finish();
    }
    let found = match &asked.file {
        Some(name) => files.into_iter().find(|(file, _)| file == name),
        None => files.into_iter().next(),
    };
    let (file, length) = found.ok_or_else(no_event_file)?;
    if let Some(position) = asked.position.filter(|position| *position > length) {
        return Err(failed_events(&format!(
            "Invalid pos specified. Requested from pos:{position} is greater than actual file \
             size:{length}"
        )));
    }
    let path = threads::relay_path(&shared.server, &connection, &file);
    let input = File::open(path).map_err(unreadable_event)?;
    let mut scan = Scan { input, length, reader: FileReader::new(), bytes: Vec::new(), base: 0 };
    let from = asked.position.unwrap_or(FIRST).max(FIRST);
    // Compat: at least one event is looked at, even with a limit of zero.
    let end = asked.count.map_or(u64::MAX, |count| asked.skip.saturating_add(count)).max(1);
    let mut number = 0;
    while number < end {
        check()?;
        let is_there = scan.next(&mut |at, placed| match at.cmp(&from) {
            std::cmp::Ordering::Less => Ok(()),
            // An event must begin at the place.
            std::cmp::Ordering::Greater if number == 0 && at != from && from > FIRST => {
                Err(unreadable_event(()))
            }
            _ => {
                number += 1;
                if number > asked.skip { rows.push(&file, placed) } else { Ok(()) }
            }
        })?;
        if !is_there {
            break;
        }
    }
    let is_between = number == 0 && from > FIRST && scan.reader.offset() != from;
    if is_between { Err(unreadable_event(())) } else { rows.finish() }
}

/// A file that is read from its beginning.
struct Scan {
    input: File,
    length: u64,
    reader: FileReader,
    /// The bytes from `base` on that were read.
    bytes: Vec<u8>,
    base: u64,
}

impl Scan {
    /// Gives the next event with its place to `take`; false at the end of the file.
    fn next(
        &mut self,
        take: &mut dyn FnMut(u64, &selkie_replication::file::Placed<'_>) -> SqlResult<()>,
    ) -> SqlResult<bool> {
        loop {
            let offset = self.reader.offset();
            if offset >= self.length {
                return Ok(false);
            }
            let at = (offset - self.base) as usize;
            let rest = self.bytes.get(at..).unwrap_or_default();
            match self.reader.step(rest).map_err(unreadable_event)? {
                Step::Event(placed) => return take(placed.offset, &placed).map(|()| true),
                Step::Need(most) => {
                    let left = self.length.saturating_sub(self.reader.offset());
                    let wanted = most.max(CHUNK).min(usize::try_from(left).unwrap_or(usize::MAX));
                    if wanted < most {
                        return Err(unreadable_event(()));
                    }
                    self.fill(wanted)?;
                }
            }
        }
    }

    /// Reads `wanted` bytes from the next event on.
    fn fill(&mut self, wanted: usize) -> SqlResult<()> {
        self.base = self.reader.offset();
        self.bytes.clear();
        self.input.seek(SeekFrom::Start(self.base)).map_err(unreadable_event)?;
        let mut input = (&self.input).take(wanted as u64);
        match input.read_to_end(&mut self.bytes) {
            Ok(read) if read == wanted => Ok(()),
            _ => Err(unreadable_event(())),
        }
    }
}
