//! Encryption: AES, and the old ciphers that MariaDB keeps for old data.
//! For compatibility only: none of these modes is safe by present standards.

use aes::Aes128;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use des::TdesEde3;
use md5::{Digest, Md5};
use selkie_meter::{demand, tick};
use selkie_types::error::catalogue::ER_WRONG_PARAMETERS_TO_PROCEDURE;
use selkie_types::{CollationId, Column, SqlResult};

use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{BytesOut, Frame, bytes_to_bytes, write_rows};
use crate::random::Random;

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("AES_ENCRYPT", 2, 2, |b| {
        let length = byte_length(&b) / AES_BLOCK as u64 * AES_BLOCK as u64 + AES_BLOCK as u64;
        bytes(b, length, aes_encrypt)
    }),
    Function::new("AES_DECRYPT", 2, 2, |b| as_long(b, aes_decrypt)),
    Function::new("ENCODE", 2, 2, |b| as_long(b, |f| shuffled(f, Shuffle::encode))),
    Function::new("DECODE", 2, 2, |b| as_long(b, |f| shuffled(f, Shuffle::decode))),
    Function::new("DES_ENCRYPT", 1, 2, |b| {
        let length = byte_length(&b) + 9;
        des_call(b, length, des_encrypt)
    }),
    Function::new("DES_DECRYPT", 1, 2, |b| {
        let length = byte_length(&b);
        let length = length.checked_sub(9).unwrap_or(length);
        des_call(b, length, des_decrypt)
    }),
    Function::new("OLD_PASSWORD", 1, 1, |mut b| {
        b.text(0);
        b.connection_collation();
        let ty = b.string_type(16);
        b.strict(ty, old_password)
    }),
];

/// Longest text of the first argument in bytes.
pub(super) fn byte_length(b: &Binding<'_>) -> u64 {
    let ty = &b.args[0].ty;
    let width = if ty.is_string() { ty.collation.charset().max_len() as u64 } else { 1 };
    u64::from(crate::cast::text_length(ty)) * width
}

/// A call of the DES functions, whose key may be a text or a key's number.
fn des_call(mut b: Binding<'_>, length: u64, kernel: Kernel) -> SqlResult<Expr> {
    b.text(0);
    if b.len() > 1 {
        match b.args[1].ty.is_integer() {
            true => b.int(1),
            false => b.text(1),
        }
    }
    b.collation = CollationId::BINARY;
    let ty = b.string_type(length);
    b.maybe(ty, kernel)
}

/// A function of texts with a binary result; NULL where the result does not exist.
pub(super) fn bytes(mut b: Binding<'_>, length: u64, kernel: Kernel) -> SqlResult<Expr> {
    (0..b.len()).for_each(|at| b.text(at));
    b.collation = CollationId::BINARY;
    let ty = b.string_type(length);
    b.maybe(ty, kernel)
}

fn as_long(b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    let length = byte_length(&b);
    bytes(b, length, kernel)
}

const AES_BLOCK: usize = 16;

/// Bytes between two checks whether the statement must end; a multiple of every cipher's block.
const PIECE: usize = 1 << 14;

/// Applies `f` to the blocks of a text; `cost` is the number of units of work per byte.
fn each_block<const SIZE: usize>(text: &mut [u8], cost: usize, mut f: impl FnMut(&mut [u8; SIZE])) {
    for piece in text.chunks_mut(PIECE) {
        tick(piece.len() * cost);
        piece.as_chunks_mut().0.iter_mut().for_each(&mut f);
    }
}

/// The cipher for a key of any length, folded to 128 bits.
fn aes(key: &[u8]) -> Aes128 {
    let mut folded = [0u8; AES_BLOCK];
    key.iter().enumerate().for_each(|(at, b)| folded[at % AES_BLOCK] ^= b);
    Aes128::new(&folded.into())
}

/// Encrypts block by block (ECB), padded to whole blocks.
fn aes_encrypt(frame: &Frame<'_>) -> SqlResult<Column> {
    let (texts, keys) = (frame.bytes(0), frame.bytes(1));
    write_rows(frame, |row, out| {
        let cipher = aes(keys.value(row));
        let start = out.len();
        demand(texts.value(row).len());
        out.extend_from_slice(texts.value(row));
        let missing = AES_BLOCK - texts.value(row).len() % AES_BLOCK;
        out.extend(std::iter::repeat_n(missing as u8, missing));
        each_block::<AES_BLOCK>(&mut out[start..], 2, |block| {
            cipher.encrypt_block(block.into());
        });
        true
    })
}

fn aes_decrypt(frame: &Frame<'_>) -> SqlResult<Column> {
    let (texts, keys) = (frame.bytes(0), frame.bytes(1));
    write_rows(frame, |row, out| {
        let text = texts.value(row);
        if text.is_empty() || text.len() % AES_BLOCK != 0 {
            return false;
        }
        let cipher = aes(keys.value(row));
        let start = out.len();
        demand(text.len());
        out.extend_from_slice(text);
        each_block::<AES_BLOCK>(&mut out[start..], 2, |block| {
            cipher.decrypt_block(block.into());
        });
        let padding = usize::from(out[out.len() - 1]);
        let end = out.len().wrapping_sub(padding);
        let padded = (1..=AES_BLOCK).contains(&padding)
            && out[end..].iter().all(|b| usize::from(*b) == padding);
        if padded {
            out.truncate(end);
        }
        padded
    })
}

/// The two words of the password hash of MySQL before 4.1; spaces are ignored.
fn old_hash(password: &[u8]) -> (u32, u32) {
    let (mut first, mut second, mut sum) = (1_345_345_333u32, 0x1234_5671u32, 7u32);
    tick(password.len());
    for b in password.iter().filter(|b| !matches!(b, b' ' | b'\t')) {
        let mixed = (first & 63).wrapping_add(sum).wrapping_mul(u32::from(*b));
        first ^= mixed.wrapping_add(first << 8);
        second = second.wrapping_add((second << 8) ^ first);
        sum = sum.wrapping_add(u32::from(*b));
    }
    (first & 0x7FFF_FFFF, second & 0x7FFF_FFFF)
}

/// Password hash stored by `mysql_old_password`: 16 hexadecimal digits; empty for no password.
pub fn old_password_hash(password: &[u8]) -> String {
    if password.is_empty() {
        return String::new();
    }
    let (first, second) = old_hash(password);
    format!("{first:08x}{second:08x}")
}

fn old_password(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.ty.collation.charset();
    bytes_to_bytes(frame, |password, out| {
        let text = old_password_hash(password);
        out.extend_from_slice(&selkie_types::Charset::Utf8mb4.convert(text.as_bytes(), charset).0);
        true
    })
}

/// The cipher of `ENCODE`: bytes are replaced by a shuffled alphabet, then mixed with random bytes.
struct Shuffle {
    random: Random,
    encode: [u8; 256],
    decode: [u8; 256],
    shift: u32,
}

impl Shuffle {
    fn new(password: &[u8]) -> Self {
        let (first, second) = old_hash(password);
        let mut random = Random::from_seeds(first, second);
        let mut decode: [u8; 256] = std::array::from_fn(|at| at as u8);
        for at in 0..256 {
            decode.swap((random.next() * 255.0) as usize, at);
        }
        let mut encode = [0; 256];
        (0..=255u8).for_each(|at| encode[usize::from(decode[usize::from(at)])] = at);
        Self { random, encode, decode, shift: 0 }
    }

    fn encode(&mut self, b: u8) -> u8 {
        self.shift ^= (self.random.next() * 255.0) as u32;
        let out = self.encode[usize::from(b)] ^ self.shift as u8;
        self.shift ^= u32::from(b);
        out
    }

    fn decode(&mut self, b: u8) -> u8 {
        self.shift ^= (self.random.next() * 255.0) as u32;
        let out = self.decode[usize::from(b ^ self.shift as u8)];
        self.shift ^= u32::from(out);
        out
    }
}

fn shuffled(frame: &Frame<'_>, step: fn(&mut Shuffle, u8) -> u8) -> SqlResult<Column> {
    let (texts, passwords) = (frame.bytes(0), frame.bytes(1));
    write_rows(frame, |row, out| {
        let mut shuffle = Shuffle::new(passwords.value(row));
        demand(texts.value(row).len());
        for piece in texts.value(row).chunks(PIECE) {
            tick(piece.len() * 8);
            out.extend(piece.iter().map(|b| step(&mut shuffle, *b)));
        }
        true
    })
}

const DES_BLOCK: usize = 8;

/// First byte of a text encrypted by DES: this mark, and the number of the key; 127 is a text as
/// key.
const DES_MARK: u8 = 0x80;
const DES_TEXT_KEY: u8 = 127;

/// The cipher for a text as key. A numbered key has the value zero, because there is no key file.
fn des(key: Option<&[u8]>) -> TdesEde3 {
    let mut bytes = [0u8; 24];
    if let Some(key) = key {
        let first = Md5::digest(key);
        let second = Md5::new().chain_update(first).chain_update(key).finalize();
        bytes[..16].copy_from_slice(&first);
        bytes[16..].copy_from_slice(&second[..8]);
    }
    TdesEde3::new(&bytes.into())
}

/// The key that a row names.
enum DesKey<'a> {
    /// Number of a key in the server's key file; the first key if none is named.
    Number(u8),
    Text(&'a [u8]),
}

/// The key of `row`: a number up to nine or a text; `None` for anything else.
fn des_key<'a>(frame: &'a Frame<'_>, row: usize) -> Option<DesKey<'a>> {
    let Some(key) = frame.args.get(1) else { return Some(DesKey::Number(0)) };
    if key.is_null(row) {
        return None;
    }
    if !frame.arg_type(1).is_integer() {
        return Some(DesKey::Text(frame.bytes(1).value(row)));
    }
    let number = frame.view::<i64>(1).value(row);
    u8::try_from(number).ok().filter(|n| *n < 10).map(DesKey::Number)
}

/// Calls `write` for each row with its text and key; warns for a row without a key.
fn each_with_key(
    frame: &Frame<'_>,
    mut write: impl FnMut(&[u8], DesKey<'_>, &mut Vec<u8>) -> bool,
) -> SqlResult<Column> {
    let name = frame.call.function.name().to_ascii_lowercase();
    let texts = frame.bytes(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let Some(text) = texts.get(row) else {
            out.push(None);
            continue;
        };
        match des_key(frame, row) {
            _ if text.is_empty() => out.push(Some(b"")),
            Some(key) => out.write(|buffer| write(text, key, buffer)),
            None => {
                frame.ctx.warn(&ER_WRONG_PARAMETERS_TO_PROCEDURE, &[&name]);
                out.push(None);
            }
        }
    }
    Ok(out.finish())
}

fn des_encrypt(frame: &Frame<'_>) -> SqlResult<Column> {
    each_with_key(frame, |text, key, out| {
        let (cipher, number) = match key {
            DesKey::Number(number) => (des(None), number),
            DesKey::Text(key) => (des(Some(key)), DES_TEXT_KEY),
        };
        demand(text.len());
        out.push(DES_MARK | number);
        let start = out.len();
        out.extend_from_slice(text);
        let missing = DES_BLOCK - text.len() % DES_BLOCK;
        out.extend(std::iter::repeat_n(b'*', missing - 1));
        out.push(missing as u8);
        let mut before = [0u8; DES_BLOCK];
        each_block::<DES_BLOCK>(&mut out[start..], 64, |block| {
            block.iter_mut().zip(before).for_each(|(b, mix)| *b ^= mix);
            cipher.encrypt_block(block.into());
            before = *block;
        });
        true
    })
}

/// Compat: a text that DES did not encrypt is unchanged.
fn des_decrypt(frame: &Frame<'_>) -> SqlResult<Column> {
    each_with_key(frame, |text, key, out| {
        let marked = text[0] & DES_MARK != 0;
        if !marked || text.len() < 9 || text.len() % DES_BLOCK != 1 {
            out.extend_from_slice(text);
            return true;
        }
        let cipher = match key {
            DesKey::Number(_) => des(None),
            DesKey::Text(key) => des(Some(key)),
        };
        let start = out.len();
        demand(text.len());
        out.extend_from_slice(&text[1..]);
        let mut before = [0u8; DES_BLOCK];
        each_block::<DES_BLOCK>(&mut out[start..], 64, |block| {
            let encrypted = *block;
            cipher.decrypt_block(block.into());
            block.iter_mut().zip(before).for_each(|(b, mix)| *b ^= mix);
            before = encrypted;
        });
        let padding = usize::from(out[out.len() - 1]);
        if padding > DES_BLOCK {
            return false;
        }
        out.truncate(out.len() - padding);
        true
    })
}
