//! Session state changes in OK packets.
//!
//! Must not remember anything longer than a statement: the server collects its changes and clears
//! them.

use crate::writer::{put_lenenc, put_lenenc_bytes};

/// Changes that are collected while a statement runs.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    encoded: Vec<u8>,
}

const SYSTEM_VARIABLES: u8 = 0;
const SCHEMA: u8 = 1;
const STATE_CHANGE: u8 = 2;
const TRANSACTION_CHARACTERISTICS: u8 = 4;
const TRANSACTION_STATE: u8 = 5;

impl Changes {
    /// The encoded changes, for an OK packet.
    pub fn bytes(&self) -> &[u8] {
        &self.encoded
    }

    /// Removes all changes.
    pub fn clear(&mut self) {
        self.encoded.clear();
    }

    /// Adds the new default database.
    pub fn schema(&mut self, name: &str) {
        self.entry(SCHEMA, |b| put_lenenc_bytes(b, name.as_bytes()));
    }

    /// Adds new values of system variables; each gets its own entry.
    pub fn variables<'a>(&mut self, changed: impl Iterator<Item = (&'a str, &'a str)>) {
        for (name, value) in changed {
            self.entry(SYSTEM_VARIABLES, |b| {
                put_lenenc_bytes(b, name.as_bytes());
                put_lenenc_bytes(b, value.as_bytes());
            });
        }
    }

    /// Adds the mark that some session state has changed.
    pub fn state_change(&mut self) {
        self.entry(STATE_CHANGE, |b| put_lenenc_bytes(b, b"1"));
    }

    /// Adds the statements that would start the same transaction again.
    pub fn transaction_characteristics(&mut self, sql: &str) {
        self.entry(TRANSACTION_CHARACTERISTICS, |b| put_lenenc_bytes(b, sql.as_bytes()));
    }

    /// Adds the eight letters of the transaction state.
    pub fn transaction_state(&mut self, letters: &str) {
        self.entry(TRANSACTION_STATE, |b| put_lenenc_bytes(b, letters.as_bytes()));
    }

    fn entry(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
        let mut data = Vec::new();
        write(&mut data);
        self.encoded.push(kind);
        put_lenenc(&mut self.encoded, data.len() as u64);
        self.encoded.extend_from_slice(&data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_entry() {
        let mut c = Changes::default();
        c.schema("mysql");
        assert_eq!(c.bytes(), b"\x01\x06\x05mysql");
    }

    #[test]
    fn variable_entry() {
        let mut c = Changes::default();
        c.variables([("autocommit", "ON")].into_iter());
        assert_eq!(c.bytes(), b"\x00\x0e\x0aautocommit\x02ON");
    }
}
