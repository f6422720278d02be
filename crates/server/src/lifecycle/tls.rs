//! The options of TLS and their effect at the start of the server.
//!
//! Must not read the files the options name.

use std::path::{Path, PathBuf};

use crate::net::{Offers, TlsOptions};
use crate::options::Settings;
use crate::variables::{VarValue, registry};

/// The TLS offer to clients; the error is the sentence to refuse the start with.
///
/// Compat: every TLS option but `tls_version` switches TLS on. Then a start without a certificate
/// fails.
pub(super) fn set_up(settings: &mut Settings, data_dir: &Path) -> Result<Offers, String> {
    let options = options(settings, data_dir);
    let offers = match settings.tls_wanted {
        true if options.versions == (false, false) => {
            tracing::error!("TLS is off: tls_version names neither TLSv1.2 nor TLSv1.3");
            Offers::default()
        }
        true => Offers::load(options).map_err(|error| {
            tracing::error!("Failed to setup SSL");
            format!("SSL error: {error}")
        })?,
        false => Offers::default(),
    };
    let shown = if offers.is_on() { "YES" } else { "DISABLED" };
    settings.derive("have_ssl", VarValue::text(shown));
    Ok(offers)
}

fn options(settings: &Settings, data_dir: &Path) -> TlsOptions {
    let file = |name: &str| text(settings, name).map(|file| data_dir.join(PathBuf::from(file)));
    TlsOptions {
        ca: file("ssl_ca"),
        ca_path: file("ssl_capath"),
        certificate: file("ssl_cert"),
        key: file("ssl_key"),
        cipher: text(settings, "ssl_cipher"),
        revocations: file("ssl_crl"),
        revocations_path: file("ssl_crlpath"),
        versions: versions(settings),
    }
}

fn text(settings: &Settings, name: &str) -> Option<String> {
    let value = settings.get(registry().find(name)?).as_str().to_owned();
    (!value.is_empty()).then_some(value)
}

/// Whether `tls_version` contains TLS 1.2, and TLS 1.3. Compat: an empty list means all versions.
fn versions(settings: &Settings) -> (bool, bool) {
    let Some(def) = registry().find("tls_version") else { return (true, true) };
    let chosen = settings.get(def).as_u64();
    let has = |name: &str| {
        let bit = def.names.iter().position(|n| n.eq_ignore_ascii_case(name));
        chosen == 0 || bit.is_some_and(|bit| chosen >> bit & 1 == 1)
    };
    (has("TLSv1.2"), has("TLSv1.3"))
}
