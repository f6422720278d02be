//! The OK packet, also as the end of a result set.
//!
//! Must not compute affected rows or status: it writes the given values.

use crate::capabilities::Capabilities;
use crate::status::Status;
use crate::writer::{put_lenenc, put_lenenc_bytes, put_u16};

/// Content of an OK packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ok<'a> {
    /// Rows changed, deleted or inserted.
    pub affected_rows: u64,
    /// First generated AUTO_INCREMENT value.
    pub last_insert_id: u64,
    /// Session status.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
    /// Human-readable information.
    pub info: &'a [u8],
    /// Session state changes, already encoded (see `track`).
    pub changes: &'a [u8],
}

/// Appends an OK packet. `as_end` makes it the end of a result set, for a client without EOF
/// packets.
pub fn put_ok(out: &mut Vec<u8>, ok: &Ok<'_>, caps: Capabilities, as_end: bool) {
    let track = caps.has(Capabilities::SESSION_TRACK);
    let mut status = ok.status;
    status.set(Status::SESSION_STATE_CHANGED, track && !ok.changes.is_empty());
    out.push(if as_end { 0xfe } else { 0x00 });
    put_lenenc(out, ok.affected_rows);
    put_lenenc(out, ok.last_insert_id);
    put_u16(out, status.0);
    put_u16(out, ok.warnings);
    if !track {
        // Compat: MariaDB writes the information with its length also for these clients.
        if !ok.info.is_empty() {
            put_lenenc_bytes(out, ok.info);
        }
        return;
    }
    let changed = status.has(Status::SESSION_STATE_CHANGED);
    if changed || !ok.info.is_empty() {
        put_lenenc_bytes(out, ok.info);
    }
    if changed {
        put_lenenc_bytes(out, ok.changes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(ok: &Ok<'_>, caps: Capabilities, as_end: bool) -> Vec<u8> {
        let mut out = Vec::new();
        put_ok(&mut out, ok, caps, as_end);
        out
    }

    #[test]
    fn plain() {
        let ok = Ok { affected_rows: 1, status: Status::AUTOCOMMIT, ..Ok::default() };
        assert_eq!(encode(&ok, Capabilities::NONE, false), [0, 1, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn default_schema_changed() {
        let ok = Ok { status: Status::AUTOCOMMIT, changes: b"\x01\x04\x03srv", ..Ok::default() };
        assert_eq!(
            encode(&ok, Capabilities::SESSION_TRACK, false),
            *b"\x00\x00\x00\x02\x40\x00\x00\x00\x06\x01\x04\x03srv"
        );
        assert_eq!(encode(&ok, Capabilities::NONE, false), [0, 0, 0, 2, 0, 0, 0]);
    }
}
