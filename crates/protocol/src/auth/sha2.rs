//! `caching_sha2_password`: a fast answer is checked with SHA256(SHA256(password)), which the
//! server keeps in memory after a full authentication with the stored salted hash.
//!
//! The stored form is `$A$005$`, 20 bytes of salt and 43 characters of digest, the same as in other
//! servers. Must not read or write any other form or number of rounds.

use super::constant_time_eq;
use sha2::{Digest, Sha256};

/// Name of the plugin.
pub const NAME: &str = "caching_sha2_password";
/// Second byte of an extra packet: the fast answer was correct.
pub const FAST_AUTH_SUCCESS: u8 = 3;
/// Second byte of an extra packet: send the password.
pub const PERFORM_FULL_AUTH: u8 = 4;
/// Byte with which a client requests the server's RSA key.
pub const REQUEST_PUBLIC_KEY: u8 = 2;

/// SHA256(SHA256(password)), the value in the cache.
pub type Cached = [u8; 32];

const PREFIX: &str = "$A$005$";
const SALT: usize = 20;
const ROUNDS: usize = 5000;
const DIGEST: usize = 43;
const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The value that the cache keeps for `password`.
pub fn cache_entry(password: &[u8]) -> Cached {
    Sha256::digest(Sha256::digest(password)).into()
}

/// The client's answer to `scramble`; empty for the empty password.
pub fn answer(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let stage1 = Sha256::digest(password);
    let mask = Sha256::new().chain_update(Sha256::digest(stage1)).chain_update(scramble).finalize();
    stage1.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// Whether the fast `answer` proves that the client knows the password of `cached`.
pub fn check_fast(answer: &[u8], scramble: &[u8], cached: &Cached) -> bool {
    if answer.len() != cached.len() {
        return false;
    }
    let mask = Sha256::new().chain_update(cached).chain_update(scramble).finalize();
    let stage1: Vec<u8> = answer.iter().zip(mask).map(|(a, b)| a ^ b).collect();
    constant_time_eq(&Sha256::digest(stage1), cached)
}

/// The stored form of `password` with `salt`; the salt must not contain `$` or NUL.
pub fn hash_text(password: &[u8], salt: &[u8; SALT]) -> Vec<u8> {
    let mut text = PREFIX.as_bytes().to_vec();
    text.extend_from_slice(salt);
    text.extend_from_slice(&crypt(password, salt));
    text
}

/// Whether `password` is the password of the `stored` form.
pub fn check_full(password: &[u8], stored: &[u8]) -> bool {
    let Some(rest) = stored.strip_prefix(PREFIX.as_bytes()) else { return false };
    match rest.split_first_chunk::<SALT>() {
        Some((salt, digest)) => constant_time_eq(&crypt(password, salt), digest),
        None => false,
    }
}

/// SHA-256 based crypt with the fixed number of rounds, without its prefix.
fn crypt(password: &[u8], salt: &[u8]) -> [u8; DIGEST] {
    let alternate =
        Sha256::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut first = Sha256::new().chain_update(password).chain_update(salt);
    update_repeated(&mut first, &alternate, password.len());
    let mut bits = password.len();
    while bits > 0 {
        first.update(if bits & 1 != 0 { &alternate[..] } else { password });
        bits >>= 1;
    }
    let mut digest = first.finalize();
    let mut sequence = Sha256::new();
    (0..password.len()).for_each(|_| sequence.update(password));
    let p = repeated(&sequence.finalize(), password.len());
    let mut sequence = Sha256::new();
    (0..16 + usize::from(digest[0])).for_each(|_| sequence.update(salt));
    let s = repeated(&sequence.finalize(), salt.len());
    for round in 0..ROUNDS {
        let mut h = Sha256::new();
        h.update(if round % 2 != 0 { &p[..] } else { &digest[..] });
        if round % 3 != 0 {
            h.update(&s);
        }
        if round % 7 != 0 {
            h.update(&p);
        }
        h.update(if round % 2 != 0 { &digest[..] } else { &p[..] });
        digest = h.finalize();
    }
    encode(&digest.into())
}

fn update_repeated(h: &mut Sha256, block: &[u8], n: usize) {
    h.update(repeated(block, n));
}

fn repeated(block: &[u8], n: usize) -> Vec<u8> {
    block.iter().copied().cycle().take(n).collect()
}

/// Encodes the digest in the order of SHA-256 crypt: triples (i, i+10, i+20), rotated.
fn encode(digest: &[u8; 32]) -> [u8; DIGEST] {
    let mut text = [0; DIGEST];
    let mut at = 0;
    let mut put = |bytes: [u8; 3], n: usize| {
        let mut v = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for _ in 0..n {
            text[at] = ALPHABET[(v & 0x3f) as usize];
            at += 1;
            v >>= 6;
        }
    };
    let (mut a, mut b, mut c) = (0, 10, 20);
    for _ in 0..10 {
        put([digest[a], digest[b], digest[c]], 4);
        (a, b, c) = ((c + 1) % 30, (a + 1) % 30, (b + 1) % 30);
    }
    put([0, digest[31], digest[30]], 3);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_of_sha256_crypt() {
        let digest = crypt(b"secret", b"abcdefghijklmnop");
        assert_eq!(digest, *b"i7zHaTeYqXlesRXJ8dXj6o.MEFQdzfIJpJpcWAtszs6");
        let text = hash_text(b"secret", b"abcdefghijklmnopqrst");
        assert_eq!(text.len(), PREFIX.len() + SALT + DIGEST);
        assert!(check_full(b"secret", &text));
        assert!(!check_full(b"Secret", &text));
        assert!(!check_full(b"secret", b"$A$005$short"));
    }

    #[test]
    fn fast_answer() {
        let scramble = b"01234567890123456789";
        let cached = cache_entry(b"secret");
        assert!(check_fast(&answer(b"secret", scramble), scramble, &cached));
        assert!(!check_fast(&answer(b"other", scramble), scramble, &cached));
        assert!(!check_fast(b"x", scramble, &cached));
    }
}
