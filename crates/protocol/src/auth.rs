//! Authentication methods: computations on challenge, password and stored hash.
//!
//! Must not look up accounts, and must not keep secrets longer than a call.

pub mod ed25519;
pub mod native;
pub mod sha2;
pub mod switch;

/// Whether two byte strings are equal, in a time that does not depend on where they differ.
pub fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |d, (x, y)| d | (x ^ y)) == 0
}
