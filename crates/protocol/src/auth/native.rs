//! `mysql_native_password`: the server stores SHA1(SHA1(password)).
//!
//! Must not be confused with `mysql_old_password`, which is not supported.

use super::constant_time_eq;
use sha1::{Digest, Sha1};

/// Name of the plugin.
pub const NAME: &str = "mysql_native_password";

/// SHA1(SHA1(password)).
pub type Stored = [u8; 20];

/// The hash that the server stores for `password`.
pub fn hash(password: &[u8]) -> Stored {
    Sha1::digest(Sha1::digest(password)).into()
}

/// The text form: `*` and 40 upper-case hexadecimal digits; empty for the empty password.
pub fn hash_text(password: &[u8]) -> String {
    if password.is_empty() {
        return String::new();
    }
    let mut text = String::from("*");
    hash(password).iter().for_each(|b| text.push_str(&format!("{b:02X}")));
    text
}

/// Parses the text form.
pub fn parse(text: &str) -> Option<Stored> {
    let digits = text.strip_prefix('*')?.as_bytes();
    if digits.len() != 40 {
        return None;
    }
    let mut stored = [0; 20];
    for (byte, pair) in stored.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = (high * 16 + low) as u8;
    }
    Some(stored)
}

/// The client's answer to `scramble`; empty for the empty password.
pub fn answer(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let stage1 = Sha1::digest(password);
    let mask = Sha1::new().chain_update(scramble).chain_update(Sha1::digest(stage1)).finalize();
    stage1.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// Whether `answer` proves that the client knows the password of `stored`.
pub fn check(answer: &[u8], scramble: &[u8], stored: &Stored) -> bool {
    if answer.len() != stored.len() {
        return false;
    }
    let mask = Sha1::new().chain_update(scramble).chain_update(stored).finalize();
    let stage1: Vec<u8> = answer.iter().zip(mask).map(|(a, b)| a ^ b).collect();
    constant_time_eq(&Sha1::digest(stage1), stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hash() {
        assert_eq!(hash_text(b"secret"), "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7");
        assert_eq!(parse(&hash_text(b"x")), Some(hash(b"x")));
        assert_eq!(hash_text(b""), "");
        assert_eq!(parse("*zz"), None);
    }

    #[test]
    fn answer_is_checked() {
        let scramble = b"01234567890123456789";
        let stored = hash(b"secret");
        assert!(check(&answer(b"secret", scramble), scramble, &stored));
        assert!(!check(&answer(b"Secret", scramble), scramble, &stored));
        assert!(!check(b"", scramble, &stored));
    }
}
