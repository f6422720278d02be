//! Authentication methods of an account: a plugin and the text it stores.
//!
//! Must not run the exchange with a client.

use selkie_expr::old_password_hash;
use selkie_protocol::auth::{native, sha2};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

/// The plugin for passwords of servers before 4.1.
const OLD: &str = "mysql_old_password";
/// Hex digits of a hash that `mysql_old_password` stores.
const OLD_DIGITS: usize = 16;

/// Text `mysql_native_password` stores for an account that no password fits.
const INVALID: &str = "invalid";

/// One way to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthMethod {
    /// `mysql_native_password` with `*` and 40 hex digits, or nothing for no password. Any other
    /// text was written to the tables by hand, and no password fits it.
    Native(String),
    /// `mysql_old_password` with 16 hex digits.
    Old(String),
    /// `caching_sha2_password` with its salted hash, or nothing for no password.
    Sha2(Vec<u8>),
    /// `unix_socket`: the name of the user whose process is on the other end of the Unix socket.
    UnixSocket(String),
    /// A plugin the server does not have, found in the tables. Nobody can log in with it.
    Unknown {
        /// Name of the plugin.
        plugin: String,
        /// Text stored for the plugin.
        data: String,
    },
}

impl AuthMethod {
    /// The method for a clear password.
    pub fn password(password: &[u8]) -> Self {
        Self::Native(native::hash_text(password))
    }

    /// The method for a clear password, stored as servers before 4.1 did.
    pub fn old_password(password: &[u8]) -> Self {
        Self::Old(old_password_hash(password))
    }

    /// The method of `IDENTIFIED BY PASSWORD 'hash'`; the length of the hash tells the plugin.
    pub fn hashed(hash: &str) -> SqlResult<Self> {
        let plugin = if hash.len() == OLD_DIGITS { OLD } else { native::NAME };
        Self::from_plugin(plugin, Some(hash))
    }

    /// The method of `IDENTIFIED VIA plugin USING 'data'`.
    pub fn from_plugin(plugin: &str, data: Option<&str>) -> SqlResult<Self> {
        let method = Self::stored_by(plugin, data.unwrap_or_default());
        match &method {
            Self::Native(hash) if hash.is_empty() || hash == INVALID || is_native(hash) => {}
            Self::Native(_) => return Err(SqlError::new(&ER_PASSWD_LENGTH, &[&41])),
            Self::Old(hash) if hash.is_empty() || is_old(hash) => {}
            Self::Old(_) => return Err(SqlError::new(&ER_PASSWD_LENGTH, &[&OLD_DIGITS])),
            Self::Unknown { .. } => return Err(not_loaded(plugin)),
            Self::Sha2(_) | Self::UnixSocket(_) => {}
        }
        Ok(method)
    }

    /// The method of a row of the tables, without any check.
    pub fn stored_by(plugin: &str, data: &str) -> Self {
        match plugin.to_ascii_lowercase().as_str() {
            native::NAME => Self::Native(data.to_owned()),
            OLD => Self::Old(data.to_owned()),
            sha2::NAME => Self::Sha2(data.as_bytes().to_vec()),
            "unix_socket" => Self::UnixSocket(data.to_owned()),
            _ => Self::Unknown { plugin: plugin.to_owned(), data: data.to_owned() },
        }
    }

    /// The method of `IDENTIFIED VIA plugin USING PASSWORD('clear')`.
    pub fn from_plugin_password(plugin: &str, password: &[u8], salt: [u8; 20]) -> SqlResult<Self> {
        if plugin.eq_ignore_ascii_case(sha2::NAME) {
            let empty = password.is_empty();
            let hash = if empty { Vec::new() } else { sha2::hash_text(password, &salt) };
            return Ok(Self::Sha2(hash));
        }
        if plugin.eq_ignore_ascii_case(OLD) {
            return Ok(Self::Old(old_password_hash(password)));
        }
        Self::from_plugin(plugin, Some(&native::hash_text(password)))
    }

    /// This method with another password or hash, for SET PASSWORD.
    pub fn with_hash(&self, hash: &str) -> SqlResult<Self> {
        match self {
            Self::Native(_) | Self::Old(_) if hash.is_empty() => Ok(Self::Native(String::new())),
            Self::Native(_) | Self::Old(_) => Self::hashed(hash),
            Self::Unknown { plugin, .. } => Err(not_loaded(plugin)),
            other => Self::from_plugin(other.plugin(), Some(hash)),
        }
    }

    /// Whether SET PASSWORD can change it.
    pub fn takes_password(&self) -> bool {
        !matches!(self, Self::UnixSocket(_))
    }

    /// The plugin's name.
    pub fn plugin(&self) -> &str {
        match self {
            Self::Native(_) => native::NAME,
            Self::Old(_) => OLD,
            Self::Sha2(_) => sha2::NAME,
            Self::UnixSocket(_) => "unix_socket",
            Self::Unknown { plugin, .. } => plugin,
        }
    }

    /// The text the plugin stores.
    pub fn stored(&self) -> String {
        match self {
            Self::Native(hash) | Self::Old(hash) | Self::UnixSocket(hash) => hash.clone(),
            Self::Sha2(hash) => String::from_utf8_lossy(hash).into_owned(),
            Self::Unknown { data, .. } => data.clone(),
        }
    }

    /// Whether anybody can log in with this method without knowing a secret.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Native(hash) => hash.is_empty(),
            Self::Sha2(hash) => hash.is_empty(),
            Self::Old(_) | Self::UnixSocket(_) | Self::Unknown { .. } => false,
        }
    }
}

/// Compat: the character before the 40 digits is not checked.
fn is_native(hash: &str) -> bool {
    hash.len() == 41 && hash.bytes().skip(1).all(|b| b.is_ascii_hexdigit())
}

fn is_old(hash: &str) -> bool {
    hash.len() == OLD_DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Error 1524.
fn not_loaded(plugin: &str) -> SqlError {
    SqlError::new(&ER_PLUGIN_IS_NOT_LOADED, &[&plugin])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_checked_when_said() {
        let digits = "1".repeat(41);
        assert_eq!(AuthMethod::hashed(&digits).unwrap().plugin(), native::NAME);
        assert_eq!(AuthMethod::hashed("2222222222222222").unwrap().plugin(), OLD);
        assert_eq!(AuthMethod::hashed("00").unwrap_err().code(), 1372);
        assert_eq!(AuthMethod::from_plugin("nowhere", None).unwrap_err().code(), 1524);
        assert_eq!(AuthMethod::stored_by("nowhere", "x").stored(), "x");
    }
}
