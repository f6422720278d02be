//! BINLOG_GTID_POS, and the groups before a file.
//!
//! Must not tell what a crash could take back: the log is made durable first.

use selkie_replication::log::{FileNumber, Place};
use selkie_replication::{Event, Gtid};
use selkie_types::SqlResult;

use super::life::Binlog;

/// Offset of the first event of a file.
const FIRST: u64 = 4;

impl Binlog {
    /// `BINLOG_GTID_POS(name, offset)`: the last groups before a place; none if there is no event
    /// at it. An empty name is the first file's.
    pub(crate) fn position_at(&self, name: &str, offset: u64) -> SqlResult<Option<String>> {
        let mut files = self.told_files()?.into_iter().map(|(file, _)| file);
        let names = self.files().names();
        let found = files.find(|file| name.is_empty() || names.file(*file) == name);
        let Some(file) = found else { return Ok(None) };
        let place = Place { file, offset: offset.max(FIRST) };
        let state = self.log().binlog_gtid_pos(place).map_err(|error| self.io_error(&error))?;
        Ok(state.map(|state| state.position().to_string()))
    }

    /// The groups before a file, from the list at its beginning.
    pub(super) fn groups_before(&self, file: FileNumber) -> SqlResult<Vec<Gtid>> {
        let Some(mut scan) = self.log().scan(file) else { return Ok(Vec::new()) };
        while let Some(placed) = scan.next_event().map_err(|error| self.io_error(&error.into()))? {
            if let Event::GtidList(list) = placed.event {
                return Ok(list.gtids);
            }
        }
        Ok(Vec::new())
    }
}
