//! Requirements of the server and of an account on a connection: encryption, cipher, certificate.
//!
//! Must not look at passwords.

use crate::accounts::TlsRequirement;
use crate::net::{Negotiated, Wire};
use crate::server::Server;
use crate::variables::ids;

/// Whether `require_secure_transport` allows a connection: TLS, or the Unix socket.
pub(super) fn is_secure_enough(server: &Server, wire: &Wire) -> bool {
    wire.is_secure() || !server.globals.get(ids().require_secure_transport).as_bool()
}

/// Whether a connection meets the requirement of an account. Compat: the Unix socket does not count
/// as encrypted.
pub(super) fn is_fit(server: &Server, required: &TlsRequirement, tls: Option<&Negotiated>) -> bool {
    match (required, tls) {
        (TlsRequirement::None, _) => true,
        (_, None) => false,
        (TlsRequirement::Any, Some(_)) => true,
        (TlsRequirement::X509, Some(tls)) => tls.has_certificate(),
        (TlsRequirement::Specified { cipher, issuer, subject }, Some(tls)) => {
            let expect =
                |what, wanted: &str, found: Option<&str>| is_same(server, what, wanted, found);
            expect("ciphers", cipher, Some(tls.cipher))
                && expect("issuer", issuer, tls.issuer())
                && expect("subject", subject, tls.subject())
        }
    }
}

/// Whether `found` equals `wanted`; an empty `wanted` accepts everything.
fn is_same(server: &Server, what: &str, wanted: &str, found: Option<&str>) -> bool {
    if wanted.is_empty() || found == Some(wanted) {
        return true;
    }
    let noted = server.globals.get(ids().log_warnings).as_u64() > 0;
    if let (Some(found), true) = (found, noted) {
        tracing::info!("X509 {what} mismatch: should be '{wanted}' but is '{found}'");
    }
    false
}
