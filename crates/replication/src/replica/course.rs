//! The way of a stream of events through a primary's log: the place behind the last event, and the
//! format of the next one.
//!
//! Must not decide what an event is good for.

use crate::codec::{Checksum, Event, EventKind, Format, Frame, HEADER_BYTES, Header, flags};
use crate::error::{DecodeError, DecodeResult};
use crate::replica::note::Place;

/// Bytes of a file's name. It is part of notes.
const MOST_NAME: usize = 512;

/// A stream between two events.
#[derive(Clone, Debug)]
pub struct Course {
    place: Place,
    format: Format,
    /// The primary's FORMAT_DESCRIPTION event as it came.
    format_event: Vec<u8>,
}

impl Course {
    /// A stream before its first event, whose events have this checksum.
    pub fn new(checksum: Checksum) -> Self {
        let format = Format::new("", 0, checksum);
        Self { place: Place::default(), format, format_event: Vec::new() }
    }

    /// The place in the primary's log behind the last event.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The format of the next event.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The primary's last FORMAT_DESCRIPTION event as it came; empty before the first one.
    pub fn format_event(&self) -> &[u8] {
        &self.format_event
    }

    /// The parts of the next event, which is all of `bytes`. The checksum is not compared.
    pub fn split<'a>(&self, bytes: &'a [u8]) -> DecodeResult<Frame<'a>> {
        Frame::split(bytes, &self.format)
    }

    /// Goes behind the next event.
    pub fn pass(&mut self, frame: &Frame<'_>) -> DecodeResult<()> {
        let header = &frame.header;
        match header.kind {
            EventKind::FORMAT_DESCRIPTION => {
                self.format =
                    Format::decode(frame.bytes().get(HEADER_BYTES..).unwrap_or_default())?;
                // The event that begins a relay file is the replica's own.
                if !header.has(flags::RELAY_LOG) {
                    self.format_event = frame.bytes().to_vec();
                    self.advance(header);
                }
            }
            EventKind::ROTATE if !header.has(flags::RELAY_LOG) => {
                if let Event::Rotate(rotate) = Event::decode(frame, &self.format)? {
                    if rotate.file.len() > MOST_NAME || rotate.file.iter().any(|byte| *byte < b' ')
                    {
                        return Err(DecodeError::Invalid("name of a file"));
                    }
                    let file = String::from_utf8_lossy(rotate.file).into_owned();
                    self.place = Place { file, offset: rotate.position };
                }
            }
            EventKind::HEARTBEAT | EventKind::HEARTBEAT_V2 => {}
            _ if header.has(flags::RELAY_LOG) => {}
            _ => self.advance(header),
        }
        Ok(())
    }

    /// Takes the end of an event that a file of the primary has, or of a list that stands for the
    /// groups before its end.
    fn advance(&mut self, header: &Header) {
        let is_made = header.has(flags::ARTIFICIAL) && header.kind != EventKind::GTID_LIST;
        if header.end_log_pos != 0 && !is_made {
            self.place.offset = widened(header.end_log_pos, self.place.offset);
        }
    }
}

/// The offset whose low 32 bits are `low`, at or behind `before`.
fn widened(low: u32, before: u64) -> u64 {
    const SPAN: u64 = 1 << 32;
    let here = before & !(SPAN - 1) | u64::from(low);
    match here {
        _ if here >= before => here,
        // A little less is no new round of the counter, but an end that has no meaning.
        _ if before - here < SPAN / 2 => before,
        _ => here + SPAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_groups_stand_for_what_is_before_their_end() {
        let mut course = Course::new(Checksum::None);
        let header = |kind, end_log_pos, flags| Header {
            kind,
            end_log_pos,
            flags,
            timestamp: 0,
            server_id: 1,
            event_length: 0,
        };
        course.advance(&header(EventKind::QUERY, 400, 0));
        course.advance(&header(EventKind::GTID_LIST, 806, flags::ARTIFICIAL));
        assert_eq!(course.place.offset, 806);
        course.advance(&header(EventKind::QUERY, 900, flags::ARTIFICIAL));
        course.advance(&header(EventKind::GTID_LIST, 0, flags::ARTIFICIAL));
        assert_eq!(course.place.offset, 806);
    }

    #[test]
    fn offsets_are_wider_than_their_field() {
        const GIB: u64 = 1 << 30;
        assert_eq!(widened(500, 4), 500);
        assert_eq!(widened(500, 500), 500);
        assert_eq!(widened(499, 500), 500);
        assert_eq!(widened(16, 4 * GIB - 8), 4 * GIB + 16);
        assert_eq!(widened(32, 4 * GIB + 16), 4 * GIB + 32);
    }
}
