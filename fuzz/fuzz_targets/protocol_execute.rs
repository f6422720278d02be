//! Any bytes in place of the parameters of a prepared statement, sent once or in bulk.
//! A decoder gives a value or an error: it must not panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_protocol::stmt::{Bulk, Execute};

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (count, long, bytes) = input;
    let mut types = Vec::new();
    if let Ok(execute) = Execute::decode(bytes) {
        for _ in 0..2 {
            let long_data = |at: usize| (at == usize::from(long)).then_some(&b"long"[..]);
            let _ = execute.params(usize::from(count), &mut types, long_data, |_| {});
        }
    }
    if let Ok(bulk) = Bulk::decode(bytes) {
        let _ = bulk.rows(usize::from(count), &mut types, |cell| cell);
    }
});
