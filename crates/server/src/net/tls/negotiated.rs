//! What the two ends of an encrypted connection agreed on.
//!
//! Must not change after the handshake.

use std::sync::Arc;

use rustls::{HandshakeKind, ProtocolVersion, ServerConnection};

use super::certificate::Certificate;
use super::ciphers::name_of;
use super::offer::Offer;

/// The facts of one connection.
#[derive(Debug)]
pub struct Negotiated {
    /// What it was taken with, which may have been replaced since.
    pub(super) offer: Arc<Offer>,
    /// The cipher suite by OpenSSL's name.
    pub(crate) cipher: &'static str,
    /// The version of TLS as OpenSSL names it.
    pub(crate) version: &'static str,
    /// Whether an earlier session went on.
    pub(super) resumed: bool,
    /// The client's certificate, which was checked.
    client: Option<Certificate>,
}

impl Negotiated {
    /// The facts of a connection whose handshake is over; `None` if its certificate cannot be read.
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

    /// Who issued the client's certificate.
    pub(crate) fn issuer(&self) -> Option<&str> {
        self.client.as_ref().map(|c| c.issuer.as_str())
    }

    /// Whose certificate the client has shown.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.client.as_ref().map(|c| c.subject.as_str())
    }
}
