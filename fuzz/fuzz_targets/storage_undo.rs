//! Feeds arbitrary bytes to what reads a checkpoint's undo snapshot.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| selkie_native::decoders::undo_snapshot(bytes));
