//! The server's TLS offer: its certificate, its ciphers, and the authorities it trusts for client
//! certificates.
//!
//! Must not change while it is in use: FLUSH SSL makes a new one for new connections.

use hashbrown::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::RwLock;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

use super::certificate::Certificate;
use super::ciphers::{Cipher, chosen};
use super::negotiated::Negotiated;
use super::pem;

/// Maximum number of sessions that can be resumed. As in MariaDB.
const KEPT_SESSIONS: usize = 128;

/// The options of TLS. Files are relative to the data directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsOptions {
    /// `ssl_ca`
    pub(crate) ca: Option<PathBuf>,
    /// `ssl_capath`
    pub(crate) ca_path: Option<PathBuf>,
    /// `ssl_cert`
    pub(crate) certificate: Option<PathBuf>,
    /// `ssl_key`
    pub(crate) key: Option<PathBuf>,
    /// `ssl_cipher`
    pub(crate) cipher: Option<String>,
    /// `ssl_crl`
    pub(crate) revocations: Option<PathBuf>,
    /// `ssl_crlpath`
    pub(crate) revocations_path: Option<PathBuf>,
    /// `tls_version`: whether it has 1.2, and whether it has 1.3.
    pub(crate) versions: (bool, bool),
}

/// Reason why TLS cannot be offered, in MariaDB's words; the cause is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetupError {
    Certificate,
    PrivateKey,
    Mismatch,
    Paths,
    Ciphers,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Certificate => "Unable to get certificate",
            Self::PrivateKey => "Unable to get private key",
            Self::Mismatch => "Private key does not match the certificate public key",
            Self::Paths => "SSL_CTX_set_default_verify_paths failed",
            Self::Ciphers => "Failed to set ciphers to use",
        })
    }
}

impl SetupError {
    /// Logs the cause of this error, which is about a file, and returns the error.
    fn about(self, path: &Path, cause: &str) -> Self {
        tracing::error!("SSL error: {self} from '{}': {cause}", path.display());
        self
    }
}

/// Configuration of TLS for new connections, with its counters.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(super) config: Arc<ServerConfig>,
    ciphers: String,
    certificate: Certificate,
    asks_client: bool,
    accepts: AtomicU64,
    finished: AtomicU64,
    resumed: AtomicU64,
}

impl Offer {
    /// Reads the files that `options` name.
    fn load(options: &TlsOptions) -> Result<Self, SetupError> {
        let ciphers = chosen(options.cipher.as_deref()).ok_or(SetupError::Ciphers)?;
        let versions = versions(options.versions);
        let ciphers: Vec<&Cipher> =
            ciphers.into_iter().filter(|c| versions.contains(&c.suite.version())).collect();
        let mut provider = rustls::crypto::ring::default_provider();
        provider.cipher_suites = ciphers.iter().map(|c| c.suite).collect();
        let provider = Arc::new(provider);
        let verifier = client_verifier(options, &provider)?;
        let asks_client = verifier.is_some();
        let verifier = verifier.unwrap_or_else(WebPkiClientVerifier::no_client_auth);
        let builder = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(|_| SetupError::Ciphers)?
            .with_client_cert_verifier(verifier);
        let (certificate_file, key_file) = own_files(options)?;
        let chain = pem::certificates(certificate_file)
            .map_err(|e| SetupError::Certificate.about(certificate_file, &e))?;
        let key =
            pem::private_key(key_file).map_err(|e| SetupError::PrivateKey.about(key_file, &e))?;
        let certificate =
            chain.first().and_then(|der| Certificate::decode(der)).ok_or_else(|| {
                SetupError::Certificate.about(certificate_file, "it is no X.509 certificate")
            })?;
        let mut config = builder
            .with_single_cert(chain, key)
            .map_err(|e| SetupError::PrivateKey.about(key_file, &e.to_string()))?;
        config.session_storage = ServerSessionMemoryCache::new(KEPT_SESSIONS);
        Ok(Self {
            config: Arc::new(config),
            ciphers: ciphers.iter().map(|c| c.name).collect::<Vec<_>>().join(":"),
            certificate,
            asks_client,
            accepts: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            resumed: AtomicU64::new(0),
        })
    }

    /// Counts a started handshake.
    pub(super) fn count_begun(&self) {
        self.accepts.fetch_add(1, Relaxed);
    }

    /// Counts a successful handshake.
    pub(super) fn count_finished(&self, resumed: bool) {
        self.finished.fetch_add(1, Relaxed);
        self.resumed.fetch_add(resumed.into(), Relaxed);
    }

    /// `Ssl_verify_mode`. Compat: a client certificate is requested, and only once.
    fn verify_mode(&self) -> u64 {
        if self.asks_client { 5 } else { 0 }
    }
}

fn versions((tls12, tls13): (bool, bool)) -> Vec<&'static SupportedProtocolVersion> {
    let of_tls12 = tls12.then_some(&TLS12);
    of_tls12.into_iter().chain(tls13.then_some(&TLS13)).collect()
}

/// Compat: the certificate and the key may be in one file, which either option names.
fn own_files(options: &TlsOptions) -> Result<(&Path, &Path), SetupError> {
    let certificate = options.certificate.as_deref().or(options.key.as_deref());
    let key = options.key.as_deref().or(options.certificate.as_deref());
    certificate.zip(key).ok_or(SetupError::Mismatch)
}

/// The verifier of client certificates; `None` if no authority is named.
fn client_verifier(
    options: &TlsOptions,
    provider: &Arc<rustls::crypto::CryptoProvider>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>, SetupError> {
    let roots = authorities(options)?;
    let lists = revocations(options)?;
    if roots.is_empty() {
        return Ok(None);
    }
    let builder =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .with_crls(lists)
            .enforce_revocation_expiration()
            .allow_unauthenticated();
    let verifier = builder.build().inspect_err(|e| tracing::error!("SSL error: {e}"));
    verifier.map(Some).map_err(|_| SetupError::Paths)
}

pub(super) fn authorities(options: &TlsOptions) -> Result<RootCertStore, SetupError> {
    let mut roots = RootCertStore::empty();
    let mut add = |path: &Path| {
        for certificate in pem::certificates(path)? {
            roots.add(certificate).map_err(|e| e.to_string())?;
        }
        Ok(())
    };
    if let Some(file) = &options.ca {
        add(file).map_err(|e: String| SetupError::Paths.about(file, &e))?;
    }
    for file in options.ca_path.iter().flat_map(|directory| pem::hashed_files(directory, "")) {
        // Compat: unreadable files of a directory are ignored.
        let _ = add(&file);
    }
    Ok(roots)
}

pub(super) fn revocations(
    options: &TlsOptions,
) -> Result<Vec<rustls_pki_types::CertificateRevocationListDer<'static>>, SetupError> {
    let mut lists = Vec::new();
    if let Some(file) = &options.revocations {
        lists = pem::revocations(file).map_err(|e| SetupError::Paths.about(file, &e))?;
    }
    let directory = options.revocations_path.iter();
    for file in directory.flat_map(|directory| pem::hashed_files(directory, "r")) {
        lists.extend(pem::revocations(&file).unwrap_or_default());
    }
    Ok(lists)
}

/// The current offer for new connections, if TLS is on.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    options: TlsOptions,
    current: RwLock<Option<Arc<Offer>>>,
}

impl Offers {
    /// Makes the offer from `options`.
    pub(crate) fn load(options: TlsOptions) -> Result<Self, SetupError> {
        let offer = Offer::load(&options)?;
        Ok(Self { options, current: RwLock::new(Some(Arc::new(offer))) })
    }

    /// Whether TLS is offered.
    pub(crate) fn is_on(&self) -> bool {
        self.current.read().is_some()
    }

    /// The offer for a new TLS connection.
    pub(crate) fn current(&self) -> Option<Arc<Offer>> {
        self.current.read().clone()
    }

    /// Reads the files again. If that fails, the old offer stays.
    pub(crate) fn reload(&self) -> Result<(), SetupError> {
        if self.is_on() {
            let offer = Offer::load(&self.options)?;
            *self.current.write() = Some(Arc::new(offer));
        }
        Ok(())
    }

    /// Sets the status variables about TLS; some of them are about the connection `own`.
    pub(crate) fn status(&self, own: Option<&Negotiated>, gauges: &mut HashMap<String, String>) {
        let mut put = |name: &str, value: String| {
            gauges.insert(name.to_owned(), value);
        };
        if let Some(offer) = self.current() {
            put("ssl_accepts", offer.accepts.load(Relaxed).to_string());
            put("ssl_finished_accepts", offer.finished.load(Relaxed).to_string());
            put("ssl_session_cache_hits", offer.resumed.load(Relaxed).to_string());
            put("ssl_session_cache_mode", "SERVER".to_owned());
            put("ssl_session_cache_size", KEPT_SESSIONS.to_string());
            put("ssl_ctx_verify_mode", offer.verify_mode().to_string());
            put("ssl_ctx_verify_depth", u64::MAX.to_string());
        }
        let Some(own) = own else { return };
        put("ssl_cipher", own.cipher.to_owned());
        put("ssl_version", own.version.to_owned());
        put("ssl_cipher_list", own.offer.ciphers.clone());
        put("ssl_server_not_before", own.offer.certificate.not_before.clone());
        put("ssl_server_not_after", own.offer.certificate.not_after.clone());
        put("ssl_sessions_reused", u64::from(own.resumed).to_string());
        put("ssl_default_timeout", "7200".to_owned());
        put("ssl_verify_mode", own.offer.verify_mode().to_string());
        put("ssl_verify_depth", u64::MAX.to_string());
    }
}
