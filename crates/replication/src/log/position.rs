//! Groups up to a place, by reading a file from its beginning.
//!
//! Must not read behind what the writer has written.

use std::io;

use crate::codec::{Checksum, Event};
use crate::file::{MAGIC, Placed};
use crate::gtid::{BinlogState, Gtid};
use crate::log::binary_log::BinaryLog;
use crate::log::files::Place;
use crate::log::scan::{FileScan, ScanError};

/// Groups and checksum of a file so far.
#[derive(Default)]
struct Found {
    /// Groups of the last GTID_LIST event and all behind it; none before that event.
    gtids: Option<BinlogState>,
    /// Checksum of the file's events; none before its first event.
    checksum: Option<Checksum>,
}

impl BinaryLog {
    /// `BINLOG_GTID_POS`: the groups up to a place, those of earlier files included. None if no
    /// event begins or ends there, or if the place is not written yet.
    pub fn binlog_gtid_pos(&self, place: Place) -> io::Result<Option<BinlogState>> {
        let Some(mut scan) = self.scan(place.file) else { return Ok(None) };
        let mut found = Found::default();
        let mut is_border = place.offset == MAGIC.len() as u64;
        // Readers of a file's beginning get what the file says of the files before it.
        while found.gtids.is_none() || scan.offset() < place.offset {
            match scan.next_event()? {
                Some(placed) => found.take(&placed),
                None => return Ok(None),
            }
            is_border |= scan.offset() == place.offset;
        }
        Ok(found.gtids.filter(|_| is_border))
    }

    /// The groups of a whole file of unknown origin, and its checksum. None if the file has no
    /// readable beginning; damage behind it counts as the end.
    pub(super) fn scan_whole(&self, end: Place) -> io::Result<Option<(BinlogState, Checksum)>> {
        let mut scan = FileScan::new(&*self.files, end);
        let mut found = Found::default();
        loop {
            match scan.next_event() {
                Ok(Some(placed)) => found.take(&placed),
                Ok(None) | Err(ScanError::Damaged(_)) => break,
                Err(ScanError::Io(error)) => return Err(error),
            }
        }
        Ok(found.gtids.zip(found.checksum))
    }
}

impl Found {
    fn take(&mut self, placed: &Placed<'_>) {
        match &placed.event {
            Event::FormatDescription(format) => self.checksum = Some(format.checksum),
            Event::GtidList(list) => self.gtids = Some(list.gtids.iter().copied().collect()),
            Event::Gtid(gtid) => {
                let server = placed.frame.header.server_id;
                let gtid = Gtid { domain: gtid.domain, server, seq: gtid.seq };
                self.gtids.get_or_insert_default().add(gtid);
            }
            _ => {}
        }
    }
}
