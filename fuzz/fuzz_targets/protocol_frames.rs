//! Any byte stream, in any pieces, gives packets or an error.
//! A decoder gives a value or an error: it must not panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_protocol::FrameReader;

fuzz_target!(|input: (u16, Vec<Vec<u8>>)| {
    let (limit, pieces) = input;
    let mut reader = FrameReader::new(usize::from(limit));
    for piece in &pieces {
        reader.feed(piece);
        let _ = reader.wanted();
        while let Ok(Some(packet)) = reader.next_packet() {
            assert!(packet.len() <= usize::from(limit));
        }
    }
});
