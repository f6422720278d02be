//! Any bytes in place of a command.
//! A decoder gives a value or an error: it must not panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_protocol::Command;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(command) = Command::decode(bytes) {
        assert!(!command.name().is_empty());
    }
});
