//! The ERR packet.
//!
//! Must not change the text.

use crate::capabilities::Capabilities;
use crate::writer::put_u16;
use selkie_types::SqlError;

/// Appends an ERR packet. Before the client's capabilities are known pass `Capabilities::NONE`:
/// the SQLSTATE is left out then.
pub fn put_err(out: &mut Vec<u8>, error: &SqlError, caps: Capabilities) {
    put_err_text(out, error, error.message().as_bytes(), caps);
}

/// As [`put_err`], with the message in the client's character set.
pub fn put_err_text(out: &mut Vec<u8>, error: &SqlError, message: &[u8], caps: Capabilities) {
    out.push(0xff);
    put_u16(out, error.code());
    if caps.has(Capabilities::PROTOCOL_41) {
        out.push(b'#');
        out.extend_from_slice(&error.sqlstate_bytes());
    }
    out.extend_from_slice(message);
}
