//! Any bytes as a segment of a column: an error, or blocks of which each is an error or a column.
//!
//! A segment keeps the bytes that it was read from.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_column::Segment;

fuzz_target!(|bytes: &[u8]| {
    let Ok(segment) = Segment::read(bytes.into()) else { return };
    assert_eq!(segment.bytes(), bytes);
    for block in 0..segment.blocks().min(64) {
        if let Ok(column) = segment.decode(block) {
            assert_eq!(column.len(), segment.rows_of(block));
        }
        let _ = segment.codes(block);
        let last = segment.rows_of(block).saturating_sub(1) as u32;
        if let Ok(column) = segment.decode_selected(block, &[0, last]) {
            assert_eq!(column.len(), 2);
        }
    }
});
