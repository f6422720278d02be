//! `ed25519`: the client signs the challenge with a key made from its password (RFC 8032, with a
//! password of any length in place of the seed).
//!
//! Must not branch or index by secret bits: every secret takes the same time.

#![allow(clippy::needless_range_loop, reason = "limbs of several numbers have one index")]

use sha2::{Digest, Sha512};

/// Name of the client's plugin.
pub const NAME: &str = "client_ed25519";
/// Length of the challenge.
pub const CHALLENGE: usize = 32;

/// A number modulo 2^255 - 19 in limbs of 16 bits, lowest first.
type Field = [i64; 16];
/// A point in extended coordinates: X, Y, Z, T.
type Point = [Field; 4];

const ZERO: Field = [0; 16];
const ONE: Field = {
    let mut one = ZERO;
    one[0] = 1;
    one
};
/// Twice the curve's constant d.
const D2: Field = [
    0xf159, 0x26b2, 0x9b94, 0xebd6, 0xb156, 0x8283, 0x149a, 0x00e0, 0xd130, 0xeef3, 0x80f2, 0x198e,
    0xfce7, 0x56df, 0xd9dc, 0x2406,
];
/// X of the base point.
const X: Field = [
    0xd51a, 0x8f25, 0x2d60, 0xc956, 0xa7b2, 0x9525, 0xc760, 0x692c, 0xdc5c, 0xfdd6, 0xe231, 0xc0a4,
    0x53fe, 0xcd6e, 0x36d3, 0x2169,
];
/// Y of the base point.
const Y: Field = {
    let mut y = [0x6666; 16];
    y[0] = 0x6658;
    y
};
/// Order of the base point, lowest byte first.
const ORDER: [i64; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// The client's answer to a challenge: the signature.
pub fn answer(password: &[u8], challenge: &[u8]) -> Vec<u8> {
    let key: [u8; 64] = Sha512::digest(password).into();
    let mut secret = [0; 32];
    secret.copy_from_slice(&key[..32]);
    secret[0] &= 248;
    secret[31] = secret[31] & 63 | 64;
    let public = pack(&times_base(&secret));
    let nonce = Sha512::new().chain_update(&key[32..]).chain_update(challenge).finalize();
    let nonce = reduce(&nonce.into());
    let first = pack(&times_base(&nonce));
    let hash = Sha512::new().chain_update(first).chain_update(public).chain_update(challenge);
    let hash = reduce(&hash.finalize().into());
    // hash * secret + nonce
    let mut sum = [0i64; 64];
    for i in 0..32 {
        sum[i] += i64::from(nonce[i]);
        for j in 0..32 {
            sum[i + j] += i64::from(hash[i]) * i64::from(secret[j]);
        }
    }
    [first, modulo_order(&mut sum)].concat()
}

fn carry(f: &mut Field) {
    for i in 0..16 {
        f[i] += 1 << 16;
        let c = f[i] >> 16;
        if i < 15 {
            f[i + 1] += c - 1;
        } else {
            f[0] += 38 * (c - 1);
        }
        f[i] -= c << 16;
    }
}

/// Swaps the two if `bit` is 1.
fn swap(a: &mut Field, b: &mut Field, bit: i64) {
    for i in 0..16 {
        let t = -bit & (a[i] ^ b[i]);
        a[i] ^= t;
        b[i] ^= t;
    }
}

fn add(a: &Field, b: &Field) -> Field {
    std::array::from_fn(|i| a[i] + b[i])
}

fn subtract(a: &Field, b: &Field) -> Field {
    std::array::from_fn(|i| a[i] - b[i])
}

fn multiply(a: &Field, b: &Field) -> Field {
    let mut t = [0i64; 31];
    for i in 0..16 {
        for j in 0..16 {
            t[i + j] += a[i] * b[j];
        }
    }
    let mut out: Field = std::array::from_fn(|i| t[i] + if i < 15 { 38 * t[i + 16] } else { 0 });
    carry(&mut out);
    carry(&mut out);
    out
}

fn invert(f: &Field) -> Field {
    let mut out = *f;
    for i in (0..=253).rev() {
        out = multiply(&out, &out);
        if i != 2 && i != 4 {
            out = multiply(&out, f);
        }
    }
    out
}

/// The number below 2^255 - 19 as bytes.
fn bytes(f: &Field) -> [u8; 32] {
    let mut t = *f;
    (0..3).for_each(|_| carry(&mut t));
    for _ in 0..2 {
        let mut m = ZERO;
        m[0] = t[0] - 0xffed;
        for i in 1..15 {
            m[i] = t[i] - 0xffff - (m[i - 1] >> 16 & 1);
            m[i - 1] &= 0xffff;
        }
        m[15] = t[15] - 0x7fff - (m[14] >> 16 & 1);
        let borrow = m[15] >> 16 & 1;
        m[14] &= 0xffff;
        swap(&mut t, &mut m, 1 - borrow);
    }
    std::array::from_fn(|i| (t[i / 2] >> (8 * (i % 2))) as u8)
}

fn add_points(p: &Point, q: &Point) -> Point {
    let a = multiply(&subtract(&p[1], &p[0]), &subtract(&q[1], &q[0]));
    let b = multiply(&add(&p[0], &p[1]), &add(&q[0], &q[1]));
    let c = multiply(&multiply(&p[3], &q[3]), &D2);
    let d = multiply(&p[2], &q[2]);
    let d = add(&d, &d);
    let (e, f, g, h) = (subtract(&b, &a), subtract(&d, &c), add(&d, &c), add(&b, &a));
    [multiply(&e, &f), multiply(&h, &g), multiply(&g, &f), multiply(&e, &h)]
}

fn times_base(scalar: &[u8; 32]) -> Point {
    let mut p = [ZERO, ONE, ONE, ZERO];
    let mut q = [X, Y, ONE, multiply(&X, &Y)];
    for i in (0..256).rev() {
        let bit = i64::from(scalar[i / 8] >> (i % 8) & 1);
        for k in 0..4 {
            swap(&mut p[k], &mut q[k], bit);
        }
        q = add_points(&q, &p);
        p = add_points(&p, &p);
        for k in 0..4 {
            swap(&mut p[k], &mut q[k], bit);
        }
    }
    p
}

/// A point in 32 bytes: Y, and the lowest bit of X.
fn pack(p: &Point) -> [u8; 32] {
    let z = invert(&p[2]);
    let mut out = bytes(&multiply(&p[1], &z));
    out[31] ^= (bytes(&multiply(&p[0], &z))[0] & 1) << 7;
    out
}

fn reduce(wide: &[u8; 64]) -> [u8; 32] {
    modulo_order(&mut std::array::from_fn(|i| i64::from(wide[i])))
}

fn modulo_order(x: &mut [i64; 64]) -> [u8; 32] {
    for i in (32..64).rev() {
        let mut carry = 0;
        for j in i - 32..i - 12 {
            x[j] += carry - 16 * x[i] * ORDER[j - (i - 32)];
            carry = (x[j] + 128) >> 8;
            x[j] -= carry << 8;
        }
        x[i - 12] += carry;
        x[i] = 0;
    }
    let mut carry = 0;
    let top = x[31] >> 4;
    for j in 0..32 {
        x[j] += carry - top * ORDER[j];
        carry = x[j] >> 8;
        x[j] &= 255;
    }
    for j in 0..32 {
        x[j] -= carry * ORDER[j];
    }
    let mut out = [0; 32];
    for i in 0..32 {
        x[i + 1] += x[i] >> 8;
        out[i] = x[i] as u8;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let pairs = text.as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        pairs.map(byte).collect()
    }

    #[test]
    fn signatures_of_the_standard() {
        for (seed, message, signature) in [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155\
                 5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                 085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
            ),
        ] {
            assert_eq!(answer(&hex(seed), &hex(message)), hex(signature));
        }
    }
}
