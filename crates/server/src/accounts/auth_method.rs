//! How an account proves itself: a plugin and what it stores.
//!
//! Must not run the exchange with a client.

use selkie_protocol::auth::{native, sha2};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

/// One way to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthMethod {
    /// `mysql_native_password` with `*` and 40 digits, or nothing for no password.
    Native(String),
    /// `caching_sha2_password` with its salted hash, or nothing for no password.
    Sha2(Vec<u8>),
    /// The name of the process's user on the other end of the Unix socket.
    UnixSocket(String),
}

impl AuthMethod {
    /// The method of a clear password.
    pub fn password(password: &str) -> Self {
        Self::Native(native::hash_text(password.as_bytes()))
    }

    /// The method of `IDENTIFIED BY PASSWORD 'hash'`.
    pub fn hashed(hash: &str) -> SqlResult<Self> {
        Self::from_plugin(native::NAME, Some(hash))
    }

    /// The method of `IDENTIFIED VIA plugin USING 'data'`.
    pub fn from_plugin(plugin: &str, data: Option<&str>) -> SqlResult<Self> {
        let data = data.unwrap_or_default();
        match plugin.to_ascii_lowercase().as_str() {
            native::NAME if data.is_empty() || native::parse(data).is_some() => {
                Ok(Self::Native(data.to_ascii_uppercase()))
            }
            native::NAME => Err(SqlError::new(&ER_PASSWD_LENGTH, &[&41])),
            sha2::NAME => Ok(Self::Sha2(data.as_bytes().to_vec())),
            "unix_socket" => Ok(Self::UnixSocket(data.to_owned())),
            _ => Err(SqlError::new(&ER_PLUGIN_IS_NOT_LOADED, &[&plugin])),
        }
    }

    /// The method of `IDENTIFIED VIA plugin USING PASSWORD('clear')`.
    pub fn from_plugin_password(plugin: &str, password: &str, salt: [u8; 20]) -> SqlResult<Self> {
        if plugin.eq_ignore_ascii_case(sha2::NAME) {
            let empty = password.is_empty();
            let hash = if empty { Vec::new() } else { sha2::hash_text(password.as_bytes(), &salt) };
            return Ok(Self::Sha2(hash));
        }
        Self::from_plugin(plugin, Some(&native::hash_text(password.as_bytes())))
    }

    /// The plugin's name.
    pub fn plugin(&self) -> &'static str {
        match self {
            Self::Native(_) => native::NAME,
            Self::Sha2(_) => sha2::NAME,
            Self::UnixSocket(_) => "unix_socket",
        }
    }

    /// What the plugin stores, as text.
    pub fn stored(&self) -> String {
        match self {
            Self::Native(hash) | Self::UnixSocket(hash) => hash.clone(),
            Self::Sha2(hash) => String::from_utf8_lossy(hash).into_owned(),
        }
    }

    /// Whether anybody can log in with it without knowing a secret.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Native(hash) => hash.is_empty(),
            Self::Sha2(hash) => hash.is_empty(),
            Self::UnixSocket(_) => false,
        }
    }
}
