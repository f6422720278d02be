//! Any bytes as an event of any type: what is decoded stays the same when it is encoded, and all
//! it holds can be shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_replication::codec::{Checksum, HEADER_BYTES};
use selkie_replication::file::{Events, MAGIC, Placed};
use selkie_replication::show::Printer;
use selkie_replication::{Event, Format, Frame};

fuzz_target!(|bytes: &[u8]| {
    let format = Format::new("10.11.0-MariaDB", 1, Checksum::None);
    // Events one behind the other, whatever their headers say of lengths.
    let mut rest = bytes;
    let mut printer = Printer::new();
    while rest.len() > HEADER_BYTES {
        let length = usize::from(rest[9]).max(HEADER_BYTES).min(rest.len());
        let (event, after) = rest.split_at(length);
        rest = after;
        let mut event = event.to_vec();
        event[9..13].copy_from_slice(&(length as u32).to_le_bytes());
        let Ok(frame) = Frame::split(&event, &format) else { continue };
        let Ok(decoded) = Event::decode(&frame, &format) else { continue };
        let mut again = Vec::new();
        decoded.encode(&frame.header, &format, &mut again);
        let encoded = Frame::split(&again, &format).unwrap();
        assert_eq!(Event::decode(&encoded, &format).as_ref(), Ok(&decoded));
        let _ = printer.put(&Placed { offset: 0, frame, event: decoded }, &mut Vec::new());
    }
    let file = [&MAGIC, bytes].concat();
    Events::new(&file).for_each(drop);
});
