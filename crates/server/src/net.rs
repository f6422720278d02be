//! Sockets: listening, reading and writing packets with their timeouts.
//!
//! Must not know statements. Layers, from the socket up: transport, TLS, compression, wire
//! (packets).

mod address;
mod compressed;
mod listener;
#[cfg(test)]
mod testing;
mod tls;
mod transport;
mod wire;

pub use address::Peer;
pub(crate) use listener::{Accepted, Acceptors, Endpoints, bind_all};
pub use listener::{Listeners, bind};
pub use tls::Negotiated;
pub(crate) use tls::{HandshakeError, Holder, Offer, Offers, TlsOptions, client_config};
pub use transport::{Closer, Transport};
pub use wire::{ReadError, Wire};
