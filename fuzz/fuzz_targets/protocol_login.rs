//! Any bytes in place of a login, a TLS request, a greeting or a change of user.
//! A decoder gives a value or an error: it must not panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_protocol::{Capabilities, ChangeUser, Greeting, Login, SslRequest};

fuzz_target!(|input: (u64, &[u8])| {
    let (caps, bytes) = input;
    let _ = Login::decode(bytes);
    let _ = SslRequest::decode(bytes);
    let _ = ChangeUser::decode(bytes, Capabilities(caps));
    if let Ok(greeting) = Greeting::decode(bytes) {
        let mut again = Vec::new();
        greeting.encode(&mut again);
    }
});
