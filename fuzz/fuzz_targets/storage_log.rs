//! Feeds arbitrary bytes to what reads the records of the log.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| selkie_native::decoders::log(bytes));
