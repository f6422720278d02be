//! Packets between the login and its OK or ERR.
//!
//! Must not run the exchange; the server does.

use crate::writer::put_nul_bytes;

/// Appends the request to use another plugin, with its challenge.
pub fn put_switch(out: &mut Vec<u8>, plugin: &str, scramble: &[u8]) {
    out.push(0xfe);
    put_nul_bytes(out, plugin.as_bytes());
    put_nul_bytes(out, scramble);
}

/// Appends data for the client's plugin.
pub fn put_more_data(out: &mut Vec<u8>, data: &[u8]) {
    out.push(0x01);
    out.extend_from_slice(data);
}

/// A clear password: the bytes before the NUL.
pub fn clear_password(payload: &[u8]) -> &[u8] {
    payload.split(|&b| b == 0).next().unwrap_or_default()
}
