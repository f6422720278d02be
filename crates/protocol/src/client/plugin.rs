//! Answers of a client's plugins to a server's challenge.
//!
//! A clear password leaves only over a channel that nobody can read. Must not keep passwords.

use std::fmt;

use crate::auth::{ed25519, native, sha2};

/// `sha256_password`, which sends the password itself.
const SHA256: &str = "sha256_password";
/// `mysql_clear_password`, for servers that ask another system.
const CLEAR: &str = "mysql_clear_password";

/// Whether others can read the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// TLS, or a Unix socket.
    Secure,
    /// Anything else.
    Open,
}

/// Reason why a client has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginError {
    /// The client does not know the plugin.
    Unknown(String),
    /// The plugin needs a secure channel.
    NeedsTls(String),
    /// The challenge is not one of the plugin.
    BadChallenge,
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "Authentication plugin '{name}' cannot be loaded"),
            Self::NeedsTls(name) => {
                write!(f, "Authentication plugin '{name}' reported error: it requires SSL")
            }
            Self::BadChallenge => write!(f, "the server's challenge is malformed"),
        }
    }
}

impl std::error::Error for PluginError {}

/// Longest challenge that plugins use.
const CHALLENGE: usize = 32;

/// The answer of a plugin to a challenge.
pub fn respond(
    plugin: &[u8],
    password: &[u8],
    challenge: &[u8],
    channel: Channel,
) -> Result<Vec<u8>, PluginError> {
    let challenge = challenge.get(..CHALLENGE.min(challenge.len())).unwrap_or_default();
    let name = String::from_utf8_lossy(plugin).into_owned();
    match &*name {
        // Compat: the challenge of these is 20 bytes, whatever comes behind.
        native::NAME => Ok(native::answer(password, scramble(challenge)?)),
        sha2::NAME => Ok(sha2::answer(password, scramble(challenge)?)),
        ed25519::NAME => match challenge.get(..ed25519::CHALLENGE) {
            Some(challenge) => Ok(ed25519::answer(password, challenge)),
            None => Err(PluginError::BadChallenge),
        },
        SHA256 | CLEAR if channel == Channel::Secure => Ok(clear(password)),
        SHA256 if password.is_empty() => Ok(vec![0]),
        SHA256 | CLEAR => Err(PluginError::NeedsTls(name)),
        _ => Err(PluginError::Unknown(name)),
    }
}

fn scramble(challenge: &[u8]) -> Result<&[u8], PluginError> {
    challenge.get(..crate::greeting::SCRAMBLE).ok_or(PluginError::BadChallenge)
}

/// The password with the zero that ends it.
fn clear(password: &[u8]) -> Vec<u8> {
    let mut out = password.to_vec();
    out.push(0);
    out
}

/// The password, for which `caching_sha2_password` asks when its fast answer is not enough.
pub fn full_answer(password: &[u8], channel: Channel) -> Result<Vec<u8>, PluginError> {
    match channel {
        Channel::Secure => Ok(clear(password)),
        Channel::Open => Err(PluginError::NeedsTls(sha2::NAME.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHALLENGE: &[u8] = b"01234567890123456789";

    #[test]
    fn answers_convince_a_server() {
        let answer =
            |plugin: &str| respond(plugin.as_bytes(), b"secret", CHALLENGE, Channel::Open).unwrap();
        assert!(native::check(&answer(native::NAME), CHALLENGE, &native::hash(b"secret")));
        let cached = sha2::cache_entry(b"secret");
        assert!(sha2::check_fast(&answer(sha2::NAME), CHALLENGE, &cached));
    }

    #[test]
    fn a_clear_password_needs_a_secure_channel() {
        for plugin in [SHA256, CLEAR] {
            let over = |channel| respond(plugin.as_bytes(), b"secret", CHALLENGE, channel);
            assert_eq!(over(Channel::Secure), Ok(b"secret\0".to_vec()));
            assert_eq!(over(Channel::Open), Err(PluginError::NeedsTls(plugin.to_owned())));
        }
        assert!(full_answer(b"secret", Channel::Open).is_err());
        assert_eq!(full_answer(b"x", Channel::Secure), Ok(b"x\0".to_vec()));
        let unknown = respond(b"dialog", b"", CHALLENGE, Channel::Secure);
        assert_eq!(unknown, Err(PluginError::Unknown("dialog".to_owned())));
        let short = respond(native::NAME.as_bytes(), b"x", b"0123", Channel::Open);
        assert_eq!(short, Err(PluginError::BadChallenge));
    }
}
