//! TLS towards another server: which certificates this server accepts, and its own.
//!
//! Must not fall back to an open connection; that is for callers to refuse.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::version::{TLS12, TLS13};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::certificate::Certificate;
use super::ciphers::chosen;
use super::offer::{TlsOptions, authorities, revocations};
use super::pem;

/// Authorities of the system, for a connection that names none.
const SYSTEM_AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Depth to which a server's certificate is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verified {
    /// Nothing: it protects from those who only listen.
    Nothing,
    /// That a trusted authority signed it.
    Chain,
    /// And that it is that of the host.
    ChainAndHost,
}

/// The holder that a server's certificate must name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// Anybody.
    Any,
    /// The host that was connected to.
    Host,
}

/// The configuration for connections with these options. The error is a sentence.
pub(crate) fn client_config(
    options: &TlsOptions,
    holder: Holder,
) -> Result<Arc<ClientConfig>, String> {
    let ciphers = chosen(options.cipher.as_deref()).ok_or("Failed to set ciphers to use")?;
    let mut provider = rustls::crypto::ring::default_provider();
    provider.cipher_suites = ciphers.iter().map(|cipher| cipher.suite).collect();
    let provider = Arc::new(provider);
    let verifier = verifier(options, holder, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13, &TLS12])
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let certificate = options.certificate.as_deref().or(options.key.as_deref());
    let key = options.key.as_deref().or(options.certificate.as_deref());
    let config = match certificate.zip(key) {
        Some((certificate, key)) => {
            let chain = pem::certificates(certificate)
                .map_err(|error| format!("Unable to get certificate: {error}"))?;
            let key = pem::private_key(key)
                .map_err(|error| format!("Unable to get private key: {error}"))?;
            let config = builder.with_client_auth_cert(chain, key);
            config.map_err(|error| format!("Unable to get private key: {error}"))?
        }
        None => builder.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

fn verifier(
    options: &TlsOptions,
    holder: Holder,
    provider: &Arc<CryptoProvider>,
) -> Result<Verifier, String> {
    let has_authorities = options.ca.is_some() || options.ca_path.is_some();
    // Compat: without an authority and without MASTER_SSL_VERIFY_SERVER_CERT, any certificate does;
    // with an authority, it must have signed the certificate.
    let verified = match (holder, has_authorities) {
        (Holder::Host, _) => Verified::ChainAndHost,
        (Holder::Any, true) => Verified::Chain,
        (Holder::Any, false) => Verified::Nothing,
    };
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    if verified == Verified::Nothing {
        return Ok(Verifier { verified, schemes, inner: None });
    }
    let mut options = options.clone();
    if !has_authorities {
        options.ca = Some(PathBuf::from(SYSTEM_AUTHORITIES));
    }
    let paths = |error: super::offer::SetupError| error.to_string();
    let roots = Arc::new(authorities(&options).map_err(paths)?);
    let lists = revocations(&options).map_err(paths)?;
    let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
    let inner = builder.with_crls(lists).build().map_err(|error| error.to_string())?;
    Ok(Verifier { verified, schemes, inner: Some(inner) })
}

/// Verifies a server's certificate.
#[derive(Debug)]
struct Verifier {
    verified: Verified,
    schemes: Vec<SignatureScheme>,
    /// None if nothing is verified.
    inner: Option<Arc<WebPkiServerVerifier>>,
}

impl Verifier {
    /// Whether another name than the host's is no error.
    fn excuses(&self, error: &Error, end: &CertificateDer<'_>, host: &ServerName<'_>) -> bool {
        let is_about_name = matches!(
            error,
            Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
            )
        );
        // Compat: a certificate whose subject is the host needs no list of names.
        let is_subject = || {
            Certificate::decode(end).is_some_and(|certificate| {
                certificate.subject.split('/').any(|part| {
                    part.strip_prefix("CN=")
                        .is_some_and(|name| name.eq_ignore_ascii_case(&host.to_str()))
                })
            })
        };
        is_about_name && (self.verified == Verified::Chain || is_subject())
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        // The chain is looked at before the name.
        match inner.verify_server_cert(end, others, host, stapled, now) {
            Err(error) if self.excuses(&error, end, host) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.inner {
            Some(inner) => inner.verify_tls12_signature(message, certificate, signed),
            // A certificate that nobody vouches for proves nothing, and may be of an old form.
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.inner {
            Some(inner) => inner.verify_tls13_signature(message, certificate, signed),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
