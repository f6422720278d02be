//! Login: the server's greeting, and the proofs of a password.
//!
//! Supports `mysql_native_password` and the fast answer of `caching_sha2_password`; no TLS.

use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::packet::Reader;

/// Content of the server's first packet.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) version: String,
    pub(super) salt: Vec<u8>,
    pub(super) plugin: String,
}

impl Greeting {
    /// Parses a greeting of protocol version 10.
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let mut reader = Reader(payload);
        if reader.byte()? != 10 {
            return None;
        }
        let version = String::from_utf8_lossy(reader.until_zero()).into_owned();
        reader.bytes(4)?;
        let mut salt = reader.bytes(8)?.to_vec();
        // A filler, capabilities, charset, status, capabilities again, the length of the salt,
        // reserved bytes.
        reader.bytes(1 + 2 + 1 + 2 + 2 + 1 + 10)?;
        salt.extend_from_slice(reader.until_zero());
        let plugin = String::from_utf8_lossy(reader.until_zero()).into_owned();
        Some(Self { version: shown(version), salt, plugin })
    }
}

/// Takes capabilities out of a greeting, so that the client does not use them.
pub(crate) fn hide_capabilities(greeting: &mut [u8], hidden: u32) {
    let Some(version) = greeting.iter().position(|byte| *byte == 0) else { return };
    // Thread, salt and a filler; then the lower half, charset and status, and the upper half.
    let lower = version + 1 + 4 + 8 + 1;
    let bytes = hidden.to_le_bytes();
    for (at, hidden) in [lower, lower + 1, lower + 5, lower + 6].into_iter().zip(bytes) {
        if let Some(byte) = greeting.get_mut(at) {
            *byte &= !hidden;
        }
    }
}

/// Content of the client's first packet that a recording needs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Login {
    /// Database to begin with; empty without one.
    pub(crate) database: String,
}

impl Login {
    /// Parses a login of protocol version 4.1.
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        const CONNECT_WITH_DB: u64 = 0x8;
        const SECURE_CONNECTION: u64 = 0x8000;
        const LENGTH_ENCODED: u64 = 0x20_0000;
        let mut reader = Reader(payload);
        let capabilities = reader.fixed(4)?;
        // The longest packet, the charset, reserved bytes.
        reader.bytes(4 + 1 + 23)?;
        reader.until_zero();
        if capabilities & LENGTH_ENCODED != 0 {
            let length = reader.length_encoded()? as usize;
            reader.bytes(length)?;
        } else if capabilities & SECURE_CONNECTION != 0 {
            let length = reader.byte()?;
            reader.bytes(length.into())?;
        } else {
            reader.until_zero();
        }
        let name = match capabilities & CONNECT_WITH_DB {
            0 => &[],
            _ => reader.until_zero(),
        };
        Some(Self { database: String::from_utf8_lossy(name).into_owned() })
    }
}

/// Compat: MariaDB puts 5.5.5- before its version, for old replicas.
fn shown(version: String) -> String {
    version.strip_prefix("5.5.5-").map(str::to_owned).unwrap_or(version)
}

/// The proof for `plugin`; `None` for an unknown plugin.
pub(super) fn proof(plugin: &str, password: &str, salt: &[u8]) -> Option<Vec<u8>> {
    match plugin {
        _ if password.is_empty() => Some(Vec::new()),
        "mysql_native_password" => Some(native(password, salt)),
        "caching_sha2_password" => Some(sha2(password, salt)),
        _ => None,
    }
}

fn native(password: &str, salt: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mask = Sha1::new().chain_update(salt).chain_update(twice).finalize();
    once.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

fn sha2(password: &str, salt: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mask = Sha256::new().chain_update(twice).chain_update(salt).finalize();
    once.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_names_its_database() {
        let of = |capabilities: u32, rest: &[u8]| {
            let fixed = [&capabilities.to_le_bytes()[..], &[0; 28]].concat();
            Login::parse(&[&fixed, rest].concat()).map(|login| login.database)
        };
        let proof = b"root\0\x03abcshop\0mysql_native_password\0";
        assert_eq!(of(0x8008, proof).as_deref(), Some("shop"));
        assert_eq!(of(0x20_8008, proof).as_deref(), Some("shop"));
        assert_eq!(of(0x8000, proof).as_deref(), Some(""));
        assert_eq!(of(0x8008, b"root\0\x09abc"), None);
        assert_eq!(Login::parse(b"short"), None);
    }

    #[test]
    fn capabilities_are_hidden_in_both_halves() {
        let mut greeting = b"\x0a10.11\0".to_vec();
        greeting.extend_from_slice(&[0; 13]);
        greeting.extend_from_slice(&[0xFF, 0xFF, 45, 2, 0, 0xFF, 0xFF, 21]);
        hide_capabilities(&mut greeting, 0x0100_0800);
        assert_eq!(greeting[greeting.len() - 8..], [0xFF, 0xF7, 45, 2, 0, 0xFF, 0xFE, 21]);
        hide_capabilities(&mut [10, 0], 1);
    }
}
