//! Reads files with certificates, keys and lists of revoked certificates.
//!
//! Must not log: callers put its errors into the log or into an answer to a client.

use std::path::Path;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

/// All certificates of a file, at least one.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    all(path, "certificate")
}

/// All lists of revoked certificates of a file, at least one.
pub(super) fn revocations(
    path: &Path,
) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
    all(path, "revocation list")
}

/// The private key in a file.
pub(super) fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let bytes = read(path)?;
    PrivateKeyDer::from_pem_slice(&bytes)
        .map_err(|e| format!("no private key that is not encrypted: {e}"))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| e.to_string())
}

fn all<T: PemObject>(path: &Path, what: &str) -> Result<Vec<T>, String> {
    let bytes = read(path)?;
    let found: Result<Vec<T>, _> = T::pem_slice_iter(&bytes).collect();
    match found {
        Ok(list) if list.is_empty() => Err(format!("no {what}")),
        Ok(list) => Ok(list),
        Err(e) => Err(e.to_string()),
    }
}

/// Files of a directory whose names have OpenSSL's form: eight hexadecimal digits, a dot, `mark`,
/// and a number.
pub(super) fn hashed_files(directory: &Path, mark: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|e| e.path()).filter(|p| is_hashed(p, mark)).collect();
    files.sort();
    files
}

fn is_hashed(path: &Path, mark: &str) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
    let digits =
        |text: &str, good: fn(&u8) -> bool| !text.is_empty() && text.bytes().all(|b| good(&b));
    name.split_once('.').is_some_and(|(hash, rest)| {
        hash.len() == 8
            && digits(hash, u8::is_ascii_hexdigit)
            && rest.strip_prefix(mark).is_some_and(|n| digits(n, u8::is_ascii_digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hashed_files() {
        for (name, certificate, revocation) in [
            ("0a1b2c3d.0", true, false),
            ("0a1b2c3d.r12", false, true),
            ("0a1b2c3d.pem", false, false),
            ("0a1b2c3.0", false, false),
            ("cacert.pem", false, false),
        ] {
            assert_eq!(is_hashed(Path::new(name), ""), certificate, "{name}");
            assert_eq!(is_hashed(Path::new(name), "r"), revocation, "{name}");
        }
    }
}
