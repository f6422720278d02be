//! The ERR packet.
//!
//! Must not change the message; callers convert it to the client's character set.

use crate::capabilities::Capabilities;
use crate::writer::put_u16;
use selkie_types::SqlError;

/// Appends an ERR packet. While the client's capabilities are unknown, pass `Capabilities::NONE`:
/// then the SQLSTATE is left out.
pub fn put_err(out: &mut Vec<u8>, error: &SqlError, caps: Capabilities) {
    put_err_text(out, error, error.message().as_bytes(), caps);
}

/// Like [`put_err`], with a message in the client's character set.
pub fn put_err_text(out: &mut Vec<u8>, error: &SqlError, message: &[u8], caps: Capabilities) {
    out.push(0xff);
    put_u16(out, error.code());
    if caps.has(Capabilities::PROTOCOL_41) {
        out.push(b'#');
        out.extend_from_slice(&error.sqlstate_bytes());
    }
    out.extend_from_slice(message);
}
