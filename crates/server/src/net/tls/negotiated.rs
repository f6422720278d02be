//! Parameters that the two ends of a TLS connection agreed on.
//!
//! Must not change after the handshake.

use std::sync::Arc;

use rustls::{HandshakeKind, ProtocolVersion, ServerConnection};

use super::certificate::Certificate;
use super::ciphers::name_of;
use super::offer::Offer;

/// Parameters of one connection.
#[derive(Debug)]
pub struct Negotiated {
    /// The offer used for it; the server may have replaced it since.
    pub(super) offer: Arc<Offer>,
    /// Name of the cipher suite in OpenSSL's form.
    pub(crate) cipher: &'static str,
    /// The version of TLS in OpenSSL's form.
    pub(crate) version: &'static str,
    /// Whether it resumed an earlier session.
    pub(super) resumed: bool,
    /// The client's certificate, already verified.
    client: Option<Certificate>,
}

impl Negotiated {
    /// The parameters of a finished handshake; `None` if the client's certificate cannot be
    /// decoded.
    pub(super) fn of(tls: &ServerConnection, offer: &Arc<Offer>) -> Option<Self> {
        let client = match tls.peer_certificates().and_then(<[_]>::first) {
            Some(certificate) => Some(Certificate::decode(certificate)?),
            None => None,
        };
        Some(Self {
            offer: Arc::clone(offer),
            cipher: tls.negotiated_cipher_suite().map_or("", name_of),
            version: match tls.protocol_version() {
                Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
                _ => "TLSv1.3",
            },
            resumed: tls.handshake_kind() == Some(HandshakeKind::Resumed),
            client,
        })
    }

    /// Whether the client has shown a certificate.
    pub(crate) fn has_certificate(&self) -> bool {
        self.client.is_some()
    }

    /// Issuer of the client's certificate.
    pub(crate) fn issuer(&self) -> Option<&str> {
        self.client.as_ref().map(|c| c.issuer.as_str())
    }

    /// Subject of the client's certificate.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.client.as_ref().map(|c| c.subject.as_str())
    }
}
