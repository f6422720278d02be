//! A whole group in memory, for a worker.
//!
//! Must not run events.

use std::sync::Arc;

use selkie_replication::codec::{Event, EventKind, Format, Header};
use selkie_replication::replica::Place;

use super::group::Group;
use super::{Applying, End, Trouble};
use crate::backend::Failed;

/// Bytes of a group that is not kept in memory.
const GIANT: usize = 16 << 20;

/// A group with its events.
#[derive(Debug)]
pub(in crate::replica) struct Parcel {
    pub(in crate::replica) group: Group,
    /// Header of its first event.
    pub(in crate::replica) header: Header,
    /// Number of its commit on the primary.
    pub(in crate::replica) commit_id: u64,
    pub(in crate::replica) events: Vec<Vec<u8>>,
    /// Bytes of the events.
    pub(in crate::replica) bytes: usize,
    /// Format of the events.
    pub(in crate::replica) format: Arc<Format>,
    /// Its end in the primary's log.
    pub(in crate::replica) end: Place,
    /// Its end in the relay files.
    pub(in crate::replica) relay_end: Place,
}

impl Parcel {
    /// Tells the place of an event of rows that failed.
    pub(in crate::replica) fn at_place(&self, failed: Failed, end: u32) -> Failed {
        super::at_place(failed, &self.end.file, end)
    }
}

impl Applying {
    /// Reads the group whose first event is `first` into memory, and looks at it. None if it is
    /// too large; then it has to be read again.
    pub(super) fn pack(&mut self, group: Group, first: Vec<u8>) -> Result<Option<Parcel>, End> {
        let read = self.pack_events(group, first);
        if !matches!(read, Ok(Some(_))) {
            self.session.seen();
        }
        match read {
            Ok(parcel) => Ok(parcel),
            Err(Trouble::End(end)) => Err(end),
            Err(Trouble::Failed(failed)) => Err(End::Failed(super::with_text(&failed))),
        }
    }

    fn pack_events(&mut self, mut group: Group, first: Vec<u8>) -> Result<Option<Parcel>, Trouble> {
        let header = self.frame(&first).map_err(Trouble::of)?.header;
        let (mut events, mut bytes, mut commit_id) = (Vec::new(), 0, 0);
        let mut next = Some(first);
        loop {
            let event_bytes = match next.take() {
                Some(event) => event,
                None => self.within_group()?,
            };
            bytes += event_bytes.len();
            if bytes > GIANT {
                return Ok(None);
            }
            let frame = self.frame(&event_bytes).map_err(Trouble::of)?;
            if matches!(frame.header.kind, EventKind::FORMAT_DESCRIPTION | EventKind::ROTATE) {
                continue;
            }
            let event = self.event(&frame).map_err(Trouble::of)?;
            if let Event::Gtid(gtid) = &event {
                commit_id = gtid.commit_id;
            }
            let ends = group.take(frame.header.kind, &event);
            if self.takes(frame.header.flags) || matches!(event, Event::Gtid(_)) {
                self.session.look(&event);
                events.push(event_bytes);
            }
            if ends {
                break;
            }
        }
        let course = self.reader.course();
        if *self.format != *course.format() {
            self.format = Arc::new(course.format().clone());
        }
        Ok(Some(Parcel {
            group,
            header,
            commit_id,
            events,
            bytes,
            format: Arc::clone(&self.format),
            end: course.place().clone(),
            relay_end: self.reader.place(),
        }))
    }
}
