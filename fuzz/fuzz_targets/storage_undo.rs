//! Arbitrary bytes in place of a checkpoint's undo snapshot.
//! A decoder gives a value or an error: it must not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| selkie_native::decoders::undo_snapshot(bytes));
