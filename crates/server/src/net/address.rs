//! Address and host name of a connection's client.
//!
//! Must not resolve names: a loopback address is `localhost`; any other client has only its
//! address.

use std::net::{IpAddr, SocketAddr};

/// Name, address and port of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Name for matching accounts; empty if only the address is known.
    pub host: String,
    /// Address as text; empty for a Unix socket.
    pub ip: String,
    /// Port; 0 for a Unix socket.
    pub port: u16,
    /// User of the process at the other end of a Unix socket.
    pub process_user: Option<u32>,
}

impl Peer {
    /// A client over TCP.
    pub fn tcp(address: SocketAddr, skip_name_resolve: bool) -> Self {
        // An IPv4 client of an IPv6 socket is shown with its IPv4 address.
        let ip = address.ip().to_canonical();
        let named = ip.is_loopback() && !skip_name_resolve;
        let host = if named { "localhost".to_owned() } else { String::new() };
        Self { host, ip: ip.to_string(), port: address.port(), process_user: None }
    }

    /// A client over the Unix socket.
    pub fn unix(process_user: Option<u32>) -> Self {
        Self { host: "localhost".to_owned(), ip: String::new(), port: 0, process_user }
    }

    /// The name, or the address if there is no name.
    pub fn name(&self) -> &str {
        if self.host.is_empty() { &self.ip } else { &self.host }
    }

    /// The client as the process list shows it.
    pub fn with_port(&self) -> String {
        match self.port {
            0 => self.name().to_owned(),
            port => format!("{}:{port}", self.name()),
        }
    }
}

/// Whether an address accepts only clients of this machine.
pub(crate) fn is_local_only(address: IpAddr) -> bool {
    address.is_loopback()
}
