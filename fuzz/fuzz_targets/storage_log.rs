//! Arbitrary bytes in place of log records.
//! A decoder gives a value or an error: it must not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| selkie_native::decoders::log(bytes));
