//! The login of a client: its answer to the greeting, and the server's requests behind it.
//!
//! Must not choose capabilities or plugins; callers do.

use super::answer::ServerError;
use crate::auth::sha2;
use crate::capabilities::Capabilities;
use crate::error::{DecodeError, DecodeResult};
use crate::reader::Reader;
use crate::writer::{put_lenenc_bytes, put_nul_bytes, put_u32};

/// A client as it describes itself.
#[derive(Clone, Debug)]
pub struct Credentials<'a> {
    /// Capabilities that both sides have.
    pub capabilities: Capabilities,
    /// Largest packet the client takes.
    pub max_packet: u32,
    /// Number of the collation of the connection.
    pub collation: u8,
    /// User name.
    pub user: &'a [u8],
    /// Answer of the plugin to the challenge.
    pub auth: &'a [u8],
    /// Plugin that made the answer.
    pub plugin: &'a str,
}

fn put_header(out: &mut Vec<u8>, credentials: &Credentials<'_>) {
    put_u32(out, credentials.capabilities.standard());
    put_u32(out, credentials.max_packet);
    out.push(credentials.collation);
    out.extend_from_slice(&[0; 19]);
    // Compat: only a client that clears CLIENT_MYSQL uses MariaDB's extension.
    let is_mariadb = !credentials.capabilities.has(Capabilities::CLIENT_MYSQL);
    put_u32(out, if is_mariadb { credentials.capabilities.extended() } else { 0 });
}

/// Appends the request to go on with TLS.
pub fn put_ssl_request(out: &mut Vec<u8>, credentials: &Credentials<'_>) {
    put_header(out, credentials);
}

/// Appends the login.
pub fn put_login(out: &mut Vec<u8>, credentials: &Credentials<'_>) {
    put_header(out, credentials);
    put_nul_bytes(out, credentials.user);
    if credentials.capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
        put_lenenc_bytes(out, credentials.auth);
    } else {
        // An answer is short: of the methods, only a clear password could be longer.
        let auth = credentials.auth.get(..255).unwrap_or(credentials.auth);
        out.push(auth.len() as u8);
        out.extend_from_slice(auth);
    }
    if credentials.capabilities.has(Capabilities::PLUGIN_AUTH) {
        put_nul_bytes(out, credentials.plugin.as_bytes());
    }
}

/// A server's word after a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthStep<'a> {
    /// The client is in.
    Done,
    /// The client is refused.
    Refused(ServerError),
    /// Another plugin has to answer another challenge.
    Switch {
        /// Name of the plugin.
        plugin: &'a [u8],
        /// The challenge.
        challenge: &'a [u8],
    },
    /// The fast answer was right; more follows.
    FastSuccess,
    /// The password itself is wanted.
    FullAuthentication,
    /// Other data for the plugin.
    More(&'a [u8]),
}

impl<'a> AuthStep<'a> {
    /// Decodes a packet.
    pub fn decode(payload: &'a [u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        match r.u8("answer to a login")? {
            0x00 => Ok(Self::Done),
            0xff => Ok(Self::Refused(ServerError::decode(&mut r)?)),
            // The whole packet of servers before 4.1, whose method is not supported.
            0xfe if r.is_empty() => {
                Ok(Self::Switch { plugin: b"mysql_old_password", challenge: &[] })
            }
            0xfe => {
                let plugin = r.nul_bytes("plugin")?;
                // Behind it may be a zero that does not belong to it: plugins know their lengths.
                Ok(Self::Switch { plugin, challenge: r.take_rest() })
            }
            0x01 => Ok(match r.take_rest() {
                [sha2::FAST_AUTH_SUCCESS] => Self::FastSuccess,
                [sha2::PERFORM_FULL_AUTH] => Self::FullAuthentication,
                other => Self::More(other),
            }),
            _ => Err(DecodeError::Invalid("answer to a login")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login::{Login, SslRequest};
    use proptest::prelude::*;

    const CREDENTIALS: Credentials<'static> = Credentials {
        capabilities: Capabilities(
            Capabilities::PROTOCOL_41.0
                | Capabilities::SECURE_CONNECTION.0
                | Capabilities::PLUGIN_AUTH.0
                | Capabilities::CLIENT_MYSQL.0,
        ),
        max_packet: 1 << 30,
        collation: 45,
        user: b"repl",
        auth: &[7; 20],
        plugin: "mysql_native_password",
    };

    #[test]
    fn a_server_reads_the_login() {
        for lenenc in [Capabilities::NONE, Capabilities::PLUGIN_AUTH_LENENC] {
            let capabilities = CREDENTIALS.capabilities | lenenc;
            let credentials = Credentials { capabilities, ..CREDENTIALS };
            let mut out = Vec::new();
            put_login(&mut out, &credentials);
            let login = Login::decode(&out).unwrap();
            assert_eq!((&*login.user, &*login.auth), (&b"repl"[..], &[7; 20][..]));
            assert_eq!(login.plugin.as_deref(), Some(&b"mysql_native_password"[..]));
            assert_eq!((login.max_packet, login.collation), (1 << 30, 45));
            assert_eq!(login.capabilities, capabilities);
        }
        let capabilities = CREDENTIALS.capabilities | Capabilities::SSL;
        let mut out = Vec::new();
        put_ssl_request(&mut out, &Credentials { capabilities, ..CREDENTIALS });
        assert_eq!(SslRequest::decode(&out), Some(SslRequest { capabilities }));
    }

    #[test]
    fn steps() {
        let switch = AuthStep::decode(b"\xfeclient_ed25519\x0001234567\0").unwrap();
        let expected = AuthStep::Switch { plugin: b"client_ed25519", challenge: b"01234567\0" };
        assert_eq!(switch, expected);
        assert_eq!(AuthStep::decode(b"\x01\x03"), Ok(AuthStep::FastSuccess));
        assert_eq!(AuthStep::decode(b"\x01\x04"), Ok(AuthStep::FullAuthentication));
        assert_eq!(AuthStep::decode(b"\0\0\0\x02\0\0\0"), Ok(AuthStep::Done));
        assert!(AuthStep::decode(b"\x02").is_err());
        assert!(AuthStep::decode(b"").is_err());
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = AuthStep::decode(&bytes);
        }
    }
}
