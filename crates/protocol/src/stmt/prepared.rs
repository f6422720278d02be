//! The first packet of the answer to `COM_STMT_PREPARE`.
//!
//! Must not write the definitions that follow the packet.

use crate::writer::{put_u16, put_u32};

/// Appends the packet.
pub fn put_prepared(out: &mut Vec<u8>, id: u32, columns: usize, params: usize, warnings: u16) {
    out.push(0);
    put_u32(out, id);
    put_u16(out, columns.min(u16::MAX.into()) as u16);
    put_u16(out, params.min(u16::MAX.into()) as u16);
    out.push(0);
    put_u16(out, warnings);
}
