//! The EOF packet.
//!
//! Must not be sent to clients that deprecate it, except where the protocol still demands it.

use crate::status::Status;
use crate::writer::put_u16;

/// Appends an EOF packet.
pub fn put_eof(out: &mut Vec<u8>, warnings: u16, status: Status) {
    out.push(0xfe);
    put_u16(out, warnings);
    put_u16(out, status.without(Status::SESSION_STATE_CHANGED).0);
}
