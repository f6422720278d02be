//! Feeds arbitrary bytes to what reads a page's header and node.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &[u8])| selkie_native::decoders::page(input.1, input.0));
