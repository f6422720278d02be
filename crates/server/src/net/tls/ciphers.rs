//! Cipher suites by OpenSSL's names, and the lists of them in `ssl_cipher`.
//!
//! Must not name a suite that cannot be negotiated.

use rustls::SupportedCipherSuite;
use rustls::crypto::ring::cipher_suite as suite;

/// A cipher suite.
#[derive(Debug)]
pub(super) struct Cipher {
    /// OpenSSL's name.
    pub(super) name: &'static str,
    pub(super) suite: SupportedCipherSuite,
    /// Words of a list that select it, besides its name. Empty for TLS 1.3, whose suites such words
    /// do not select.
    words: &'static [&'static str],
}

/// All suites in OpenSSL's order: TLS 1.3 first.
static ALL: [Cipher; 9] = [
    Cipher { name: "TLS_AES_256_GCM_SHA384", suite: suite::TLS13_AES_256_GCM_SHA384, words: &[] },
    Cipher {
        name: "TLS_CHACHA20_POLY1305_SHA256",
        suite: suite::TLS13_CHACHA20_POLY1305_SHA256,
        words: &[],
    },
    Cipher { name: "TLS_AES_128_GCM_SHA256", suite: suite::TLS13_AES_128_GCM_SHA256, words: &[] },
    Cipher {
        name: "ECDHE-ECDSA-AES256-GCM-SHA384",
        suite: suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        words: &["aECDSA", "ECDSA", "AES256", "AESGCM", "AES", "SHA384"],
    },
    Cipher {
        name: "ECDHE-RSA-AES256-GCM-SHA384",
        suite: suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        words: &["aRSA", "RSA", "AES256", "AESGCM", "AES", "SHA384"],
    },
    Cipher {
        name: "ECDHE-ECDSA-CHACHA20-POLY1305",
        suite: suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        words: &["aECDSA", "ECDSA", "CHACHA20"],
    },
    Cipher {
        name: "ECDHE-RSA-CHACHA20-POLY1305",
        suite: suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        words: &["aRSA", "RSA", "CHACHA20"],
    },
    Cipher {
        name: "ECDHE-ECDSA-AES128-GCM-SHA256",
        suite: suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        words: &["aECDSA", "ECDSA", "AES128", "AESGCM", "AES", "SHA256"],
    },
    Cipher {
        name: "ECDHE-RSA-AES128-GCM-SHA256",
        suite: suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        words: &["aRSA", "RSA", "AES128", "AESGCM", "AES", "SHA256"],
    },
];

/// Words that select all suites of TLS 1.2 here: the others have no forward secrecy or are weak.
const EVERY: &[&str] =
    &["ALL", "DEFAULT", "HIGH", "TLSv1.2", "ECDHE", "EECDH", "kEECDH", "kECDHE", "FIPS"];

impl Cipher {
    fn is_of_tls13(&self) -> bool {
        self.words.is_empty()
    }

    fn is_called(&self, word: &str) -> bool {
        self.name == word || EVERY.contains(&word) || self.words.contains(&word)
    }

    /// Whether all words of `a+b+c` select this suite.
    fn is_meant(&self, words: &str) -> bool {
        words.split('+').all(|word| self.is_called(word))
    }
}

/// The suites that a list in OpenSSL's format selects; all suites without a list. `None` if it
/// selects none.
///
/// Compat: a list of TLS 1.3 suites does not restrict TLS 1.2, and any other list does not restrict
/// TLS 1.3.
pub(super) fn chosen(list: Option<&str>) -> Option<Vec<&'static Cipher>> {
    let words: Vec<&str> =
        list.unwrap_or_default().split([':', ',', ' ', ';']).filter(|w| !w.is_empty()).collect();
    let is_of_tls13 = |word: &&str| ALL.iter().any(|c| c.is_of_tls13() && c.name == *word);
    if words.iter().all(is_of_tls13) {
        let is_left = |c: &&Cipher| words.is_empty() || !c.is_of_tls13() || words.contains(&c.name);
        return Some(ALL.iter().filter(is_left).collect());
    }
    let of_tls12 = chosen_of_tls12(&words);
    let of_tls13 = ALL.iter().filter(|c| c.is_of_tls13());
    (!of_tls12.is_empty()).then(|| of_tls13.chain(of_tls12).collect())
}

fn chosen_of_tls12(words: &[&str]) -> Vec<&'static Cipher> {
    let all = || ALL.iter().filter(|c| !c.is_of_tls13());
    let mut chosen: Vec<&'static Cipher> = Vec::new();
    let mut banned: Vec<&str> = Vec::new();
    for word in words {
        if let Some(words) = word.strip_prefix('!') {
            banned.push(words);
        } else if let Some(words) = word.strip_prefix('-') {
            chosen.retain(|c| !c.is_meant(words));
        } else if let Some(words) = word.strip_prefix('+') {
            // Suites that are chosen already move to the end.
            chosen.sort_by_key(|c| c.is_meant(words));
        } else {
            let new = |c: &&'static Cipher| !chosen.iter().any(|old| old.name == c.name);
            let more: Vec<_> = all().filter(|c| c.is_meant(word)).filter(new).collect();
            chosen.extend(more);
        }
    }
    chosen.retain(|c| !banned.iter().any(|words| c.is_meant(words)));
    chosen
}

/// The name of a negotiated suite.
pub(super) fn name_of(suite: SupportedCipherSuite) -> &'static str {
    ALL.iter().find(|c| c.suite == suite).map_or("", |c| c.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<&'static str> {
        let chosen = chosen(Some(list)).unwrap_or_default();
        let of_tls12 = chosen.iter().filter(|c| !c.is_of_tls13());
        of_tls12.map(|c| c.name).collect()
    }

    #[test]
    fn every_suite_has_a_name() {
        let provided = rustls::crypto::ring::ALL_CIPHER_SUITES;
        assert_eq!(provided.len(), ALL.len());
        assert!(provided.iter().all(|s| !name_of(*s).is_empty()));
    }

    #[test]
    fn lists() {
        assert_eq!(chosen(None).unwrap().len(), 9);
        assert_eq!(names("HIGH:!aNULL:!MD5").len(), 6);
        assert_eq!(
            names("ECDHE-RSA-AES128-GCM-SHA256:NONE:AES256+aRSA"),
            ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"]
        );
        assert_eq!(names("ALL:-aECDSA:!CHACHA20").len(), 2);
        assert_eq!(names("ALL:+AES256")[4], "ECDHE-ECDSA-AES256-GCM-SHA384");
        assert_eq!(chosen(Some("TLS_AES_128_GCM_SHA256")).unwrap().len(), 7);
        assert!(chosen(Some("AES128-SHA")).is_none());
        assert!(chosen(Some("ALL:!AES:!CHACHA20")).is_none());
    }
}
