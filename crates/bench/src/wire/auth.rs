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
