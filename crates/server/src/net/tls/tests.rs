//! Tests of a server's end and a client's end over sockets with small buffers.
//!
//! The client is rustls itself, so that only the stream between them is the server's.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustix::event::PollFlags;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::super::testing::{PATIENCE, noise, read_as_polled, sockets, wait};
use super::super::transport::Transport;
use super::offer::Offers;
use super::{HandshakeError, TlsOptions, TlsStream, shake_hands};

/// For the name `localhost`, valid until 2120. The key protects nothing.
const CERTIFICATE: &str = "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3hNb+K4CPFR16IVG
x32eQq0onPAcgR/prCJJwn5KscWhRANCAARtYkWPK6PO4Mh2V380Vsqyo87RyakV
YQYk0C+8NpemruyQkfZiBPK5oVCtz0A+d1Tf8S2tx2PKfWqYA6t3ySjn
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBXzCCAQSgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABG1iRY8ro87gyHZX
fzRWyrKjztHJqRVhBiTQL7w2l6au7JCR9mIE8rmhUK3PQD53VN/xLa3HY8p9apgD
q3fJKOejRTBDMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMBAf8EAjAAMB0G
A1UdDgQWBBSj5cUqy7pVLzevzyQo7hJApsKStjAKBggqhkjOPQQDAgNJADBGAiEA
9ul8hC9HMw5ifG0OgggKktS1nDKH7rUPApF/BmrnhPgCIQDBHp3lsN6xG+AuswXn
ETHergoIQIAJRxThKeWoBsVwTw==
-----END CERTIFICATE-----";

type Client = StreamOwned<ClientConnection, TcpStream>;

static OFFERS: LazyLock<Offers> = LazyLock::new(|| {
    let file = std::env::temp_dir().join(format!("selkie-tls-{}.pem", std::process::id()));
    std::fs::write(&file, CERTIFICATE).unwrap();
    let certificate = Some(file.clone());
    let options = TlsOptions { certificate, versions: (true, true), ..TlsOptions::default() };
    let offers = Offers::load(options).unwrap();
    std::fs::remove_file(file).unwrap();
    offers
});

fn client(socket: TcpStream) -> Client {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), socket)
}

/// Runs `far` with a client beside the server's end of the same connection.
fn connected(
    far: impl FnOnce(Client) + Send + 'static,
) -> (TlsStream, std::thread::JoinHandle<()>) {
    let (near, theirs) = sockets();
    let thread = std::thread::spawn(move || far(client(theirs)));
    let mut inner: Box<dyn Transport> = Box::new(Arc::new(near));
    let offer = OFFERS.current().unwrap();
    let secured = shake_hands(&mut *inner, &offer, Vec::new(), PATIENCE).unwrap();
    (TlsStream::new(inner, secured), thread)
}

#[test]
fn all_that_was_read_is_handed_out_before_the_socket_is_waited_for() {
    // A batch that stays inside the stream is not answered; then both ends would wait for ever.
    const BATCHES: [usize; 8] = [1, 100, 4095, 4096, 4097, 16384, 20480, 300_000];
    let (mut stream, thread) = connected(|mut client| {
        for (size, cut) in BATCHES.iter().zip([1, 7, 4096, 4096, 100, 16384, 20480, 30_000]) {
            let batch = noise(*size);
            // Many records that are sent together.
            client.conn.set_buffer_limit(None);
            batch.chunks(cut).for_each(|piece| client.conn.writer().write_all(piece).unwrap());
            client.flush().unwrap();
            client.read_exact(&mut [0]).unwrap();
        }
    });
    for (size, room) in BATCHES.iter().zip([4096, 100, 4095, 4096, 4097, 16384, 512, 4096]) {
        let mut got = Vec::new();
        std::thread::sleep(Duration::from_millis(20));
        while got.len() < *size {
            read_as_polled(&mut stream, &mut got, room);
            if got.len() < *size {
                wait(&stream, PollFlags::IN);
            }
        }
        assert!(got == noise(*size), "{size}");
        stream.write_all(b"!").unwrap();
    }
    drop(stream);
    thread.join().unwrap();
}

#[test]
fn what_was_not_written_comes_again() {
    let size = 2_000_000;
    let (mut stream, thread) = connected(move |mut client| {
        let (mut got, mut buf) = (Vec::new(), vec![0; 10_000]);
        while got.len() < size {
            let n = client.read(&mut buf).unwrap();
            assert_ne!(n, 0);
            got.extend_from_slice(&buf[..n]);
            if got.len() % 5 == 0 {
                std::thread::sleep(Duration::from_micros(300));
            }
        }
        assert!(got == noise(size));
        client.write_all(b"!").unwrap();
        // The end is announced by TLS, not only by the socket.
        assert_eq!(client.read(&mut buf).unwrap(), 0);
    });
    let all = noise(size);
    let (mut written, mut blocked) = (0, 0);
    while written < size {
        // Each call offers more bytes, after those that were not written.
        let end = size.min(written + 70_000 + blocked * 100);
        match stream.write_now(&all[written..end]) {
            Ok(n) => written += n,
            Err(e) => {
                assert_eq!(e.kind(), io::ErrorKind::WouldBlock);
                blocked += 1;
                if blocked % 3 == 0 {
                    stream.write_all(&all[written..end]).unwrap();
                    written = end;
                } else {
                    wait(&stream, PollFlags::OUT);
                }
            }
        }
    }
    assert!(blocked > 3, "{blocked}");
    assert_eq!(stream.read(&mut [0; 9]).unwrap(), 1);
    drop(stream);
    thread.join().unwrap();
}

#[test]
fn handshakes_that_are_none() {
    let offer = OFFERS.current().unwrap();
    let (near, far) = sockets();
    let mut near = Arc::new(near);
    let garbage = b"GET / HTTP/1.0\r\n\r\n".to_vec();
    let refused = shake_hands(&mut near, &offer, garbage, PATIENCE);
    assert!(matches!(refused, Err(HandshakeError::Refused(_))));
    let begun = std::time::Instant::now();
    let slow = shake_hands(&mut near, &offer, Vec::new(), Duration::from_millis(50));
    assert!(matches!(slow, Err(HandshakeError::Gone)) && begun.elapsed() < PATIENCE);
    drop(far);
    let gone = shake_hands(&mut near, &offer, vec![22, 3, 1], PATIENCE);
    assert!(matches!(gone, Err(HandshakeError::Gone)));
}
