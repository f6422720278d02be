//! Arbitrary bytes in place of a page's header and node.
//! A decoder gives a value or an error: it must not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &[u8])| selkie_native::decoders::page(input.1, input.0));
