//! Any bytes as status variables of a statement, optional metadata of a table, a compressed block,
//! a list of groups.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_replication::codec::{OptionalFields, StatusVars, unpack};
use selkie_replication::gtid::{BinlogState, Position};

fuzz_target!(|bytes: &[u8]| {
    let found: Vec<_> = StatusVars(bytes).iter().collect();
    let is_whole = found.iter().all(Result::is_ok);
    let mut again = Vec::new();
    found.iter().flatten().for_each(|found| found.encode(&mut again));
    assert!(!is_whole || again == bytes);
    for field in OptionalFields(bytes).iter().flatten() {
        let _ = (field.numbers(), field.texts(), field.text_lists());
    }
    let _ = unpack(bytes, 1 << 20);
    if let Ok(text) = std::str::from_utf8(bytes) {
        if let Ok(position) = text.parse::<Position>() {
            assert_eq!(position.to_string().parse(), Ok(position));
        }
        let _ = text.parse::<BinlogState>();
    }
});
