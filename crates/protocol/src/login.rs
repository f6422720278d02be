//! The client's answer to the greeting, and `COM_CHANGE_USER`, which has the same fields.
//!
//! Must not check credentials.

use crate::capabilities::Capabilities;
use crate::error::{DecodeError, DecodeResult};
use crate::reader::Reader;

/// The request to switch to TLS: the login's fixed header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SslRequest {
    /// Capabilities of the client.
    pub capabilities: Capabilities,
}

/// The client's login packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    /// Capabilities of the client.
    pub capabilities: Capabilities,
    /// Largest packet the client accepts.
    pub max_packet: u32,
    /// Collation id of the connection.
    pub collation: u16,
    /// User name.
    pub user: Vec<u8>,
    /// Answer to the challenge.
    pub auth: Vec<u8>,
    /// Default database.
    pub database: Option<Vec<u8>>,
    /// Authentication plugin that made the answer.
    pub plugin: Option<Vec<u8>>,
    /// Connection attributes in the order they were sent.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Maximum bytes of attributes that are kept.
const MAX_ATTRIBUTES: usize = 64 * 1024;

impl SslRequest {
    /// Parses the payload if it is a TLS request: the fixed header with the TLS flag.
    ///
    /// Compat: the flag alone decides; bytes after the header are ignored.
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let capabilities = header(&mut Reader::new(payload)).ok()?.capabilities;
        capabilities.has(Capabilities::SSL).then_some(Self { capabilities })
    }
}

impl Login {
    /// Reads the payload.
    pub fn decode(payload: &[u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        let mut login = header(&mut r)?;
        let caps = login.capabilities;
        login.user = r.nul_bytes("user")?.to_vec();
        login.auth = auth_data(&mut r, caps)?.to_vec();
        if caps.has(Capabilities::CONNECT_WITH_DB) && !r.is_empty() {
            login.database = non_empty(r.nul_bytes_or_rest());
        }
        if caps.has(Capabilities::PLUGIN_AUTH) && !r.is_empty() {
            login.plugin = Some(r.nul_bytes_or_rest().to_vec());
        }
        if caps.has(Capabilities::CONNECT_ATTRS) && !r.is_empty() {
            login.attributes = attributes(&mut r)?;
        }
        Ok(login)
    }
}

/// `COM_CHANGE_USER`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeUser {
    /// User name.
    pub user: Vec<u8>,
    /// Answer to the connection's challenge.
    pub auth: Vec<u8>,
    /// Default database.
    pub database: Option<Vec<u8>>,
    /// Number of the collation, if it was sent.
    pub collation: Option<u16>,
    /// Authentication plugin that made the answer.
    pub plugin: Option<Vec<u8>>,
    /// Connection attributes in the order they were sent.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl ChangeUser {
    /// Reads the payload after the command byte.
    pub fn decode(payload: &[u8], caps: Capabilities) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        let user = r.nul_bytes("user")?.to_vec();
        let auth = if caps.has(Capabilities::SECURE_CONNECTION) {
            let n = r.u8("authentication length")?;
            r.bytes(usize::from(n), "authentication data")?.to_vec()
        } else {
            r.nul_bytes("authentication data")?.to_vec()
        };
        let database = non_empty(r.nul_bytes_or_rest());
        let mut this = Self { user, auth, database, ..Self::default() };
        if r.remaining() >= 2 {
            this.collation = Some(r.u16("collation")?);
        }
        if caps.has(Capabilities::PLUGIN_AUTH) && !r.is_empty() {
            this.plugin = Some(r.nul_bytes_or_rest().to_vec());
        }
        if caps.has(Capabilities::CONNECT_ATTRS) && !r.is_empty() {
            this.attributes = attributes(&mut r)?;
        }
        Ok(this)
    }
}

fn header(r: &mut Reader<'_>) -> DecodeResult<Login> {
    let low = u64::from(r.u32("capabilities")?);
    if !Capabilities(low).has(Capabilities::PROTOCOL_41) {
        return Err(DecodeError::Invalid("protocol before 4.1"));
    }
    let max_packet = r.u32("max packet size")?;
    let collation = r.u8("collation")?;
    r.bytes(19, "filler")?;
    let extended = u64::from(r.u32("extended capabilities")?);
    // Compat: only a client that clears CLIENT_MYSQL uses MariaDB's extension. The filler of others
    // may contain any bytes.
    let is_mariadb = !Capabilities(low).has(Capabilities::CLIENT_MYSQL);
    let capabilities = Capabilities(if is_mariadb { low | extended << 32 } else { low });
    Ok(Login { capabilities, max_packet, collation: u16::from(collation), ..Login::default() })
}

fn auth_data<'a>(r: &mut Reader<'a>, caps: Capabilities) -> DecodeResult<&'a [u8]> {
    if caps.has(Capabilities::PLUGIN_AUTH_LENENC) {
        r.lenenc_bytes("authentication data")
    } else if caps.has(Capabilities::SECURE_CONNECTION) {
        let n = r.u8("authentication length")?;
        r.bytes(usize::from(n), "authentication data")
    } else {
        Ok(r.nul_bytes_or_rest())
    }
}

fn attributes(r: &mut Reader<'_>) -> DecodeResult<Vec<(Vec<u8>, Vec<u8>)>> {
    let all = r.lenenc_bytes("connection attributes")?;
    if all.len() > MAX_ATTRIBUTES {
        return Err(DecodeError::Invalid("connection attributes"));
    }
    let mut r = Reader::new(all);
    let mut list = Vec::new();
    while !r.is_empty() {
        let name = r.lenenc_bytes("attribute name")?.to_vec();
        let value = r.lenenc_bytes("attribute value")?.to_vec();
        list.push((name, value));
    }
    Ok(list)
}

fn non_empty(bytes: &[u8]) -> Option<Vec<u8>> {
    (!bytes.is_empty()).then(|| bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::{put_lenenc_bytes, put_nul_bytes, put_u32};
    use proptest::prelude::*;

    /// Bytes of the fixed header of a 4.1 login.
    const FIXED: usize = 32;

    fn sample() -> Vec<u8> {
        let mut p = Vec::new();
        put_u32(&mut p, 0x00bf_a28c);
        put_u32(&mut p, 1 << 24);
        p.push(33);
        p.extend_from_slice(&[0; 19]);
        put_u32(&mut p, 0x1d);
        put_nul_bytes(&mut p, b"root");
        put_lenenc_bytes(&mut p, &[7; 20]);
        put_nul_bytes(&mut p, b"shop");
        put_nul_bytes(&mut p, b"mysql_native_password");
        let mut attrs = Vec::new();
        put_lenenc_bytes(&mut attrs, b"_os");
        put_lenenc_bytes(&mut attrs, b"Linux");
        put_lenenc_bytes(&mut p, &attrs);
        p
    }

    #[test]
    fn login_of_a_mariadb_client() {
        let login = Login::decode(&sample()).unwrap();
        assert_eq!(login.user, b"root");
        assert_eq!(login.auth, [7; 20]);
        assert_eq!(login.database.as_deref(), Some(&b"shop"[..]));
        assert_eq!(login.attributes, [(b"_os".to_vec(), b"Linux".to_vec())]);
        assert!(login.capabilities.has(Capabilities::CACHE_METADATA));
    }

    #[test]
    fn tls_request_is_only_the_header() {
        let mut p = sample();
        assert_eq!(SslRequest::decode(&p), None);
        p.truncate(FIXED);
        assert_eq!(SslRequest::decode(&p), None);
        p[1] |= 0x08;
        assert!(SslRequest::decode(&p).is_some());
        assert!(Login::decode(&p).is_err());
        assert_eq!(SslRequest::decode(&p[..FIXED - 1]), None);
        p.push(b'x');
        assert!(SslRequest::decode(&p).is_some());
    }

    proptest! {
        #[test]
        fn every_prefix_is_handled(cut in 0usize..100, flip in 0usize..100, bit in 0u8..8) {
            let mut p = sample();
            let at = flip % p.len();
            p[at] ^= 1 << bit;
            p.truncate(cut.min(p.len()));
            let _ = Login::decode(&p);
            let _ = SslRequest::decode(&p);
            let _ = ChangeUser::decode(&p, Capabilities(u64::MAX));
            let _ = ChangeUser::decode(&p, Capabilities(0x200));
        }
    }
}
