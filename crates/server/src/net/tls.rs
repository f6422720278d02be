//! TLS of client connections: the offer, the handshake, the encrypted stream.
//!
//! Must not know packets or accounts.

mod certificate;
mod ciphers;
mod connect;
mod handshake;
mod negotiated;
mod offer;
mod pem;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use connect::{Holder, client_config};
pub(crate) use handshake::HandshakeError;
pub use negotiated::Negotiated;
pub(crate) use offer::{Offer, Offers, TlsOptions};

pub(crate) use handshake::Secured;
pub(super) use handshake::shake_hands;
pub(super) use stream::TlsStream;
