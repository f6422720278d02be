//! Number bases, base64, digests.
//! Digests are over the bytes of a text, so they depend on its charset.

use md5::{Digest, Md5};
use selkie_meter::{demand, tick};
use selkie_types::error::catalogue::{ER_BAD_BASE64_DATA, ER_WRONG_PARAMETERS_TO_NATIVE_FCT};
use selkie_types::number::parse_integer;
use selkie_types::{CollationId, Column, Physical, SqlResult, SqlType, TypeKind};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use crate::CallOption;
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{BytesOut, Frame, bytes_to_bytes, map, write_rows};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("HEX", 1, 1, bind_hex),
    Function::new("UNHEX", 1, 1, |mut b| {
        b.ascii_text(0);
        let bytes =
            u64::from(b.args[0].ty.length) * b.args[0].ty.collation.charset().max_len() as u64;
        b.collation = CollationId::BINARY;
        let ty = b.string_type(bytes.div_ceil(2));
        b.maybe(ty, unhex)
    }),
    Function::new("BIN", 1, 1, |b| based(b, 10, 2)),
    Function::new("OCT", 1, 1, |b| based(b, 10, 8)),
    Function::new("CONV", 3, 3, bind_conv),
    Function::new("TO_BASE64", 1, 1, |mut b| {
        b.text(0);
        let bytes =
            u64::from(b.args[0].ty.length) * b.args[0].ty.collation.charset().max_len() as u64;
        b.connection_collation();
        let length = bytes.div_ceil(3) * 4;
        let ty = b.string_type(length + length.saturating_sub(1) / 76);
        b.strict(ty, |f| ascii_result(f, to_base64))
    }),
    Function::new("FROM_BASE64", 1, 1, |mut b| {
        b.ascii_text(0);
        let bytes =
            u64::from(b.args[0].ty.length) * b.args[0].ty.collation.charset().max_len() as u64;
        b.collation = CollationId::BINARY;
        let ty = b.string_type(bytes.div_ceil(4) * 3);
        b.maybe(ty, from_base64)
    }),
    Function::new("MD5", 1, 1, |b| digest(b, 32, |f| ascii_result(f, hashed::<Md5>))),
    Function::new("SHA", 1, 1, |b| digest(b, 40, |f| ascii_result(f, hashed::<Sha1>))),
    Function::new("SHA1", 1, 1, |b| digest(b, 40, |f| ascii_result(f, hashed::<Sha1>))),
    Function::new("SHA2", 2, 2, bind_sha2),
    Function::new("PASSWORD", 1, 1, |mut b| {
        // Compat: NULL counts as no password.
        let types = b.types;
        let args = vec![b.args.remove(0), Expr::string(b"", types.collation_connection)];
        b.args = vec![crate::build::coalesce("coalesce", args, types)?];
        digest(b, 41, |f| ascii_result(f, password))
    }),
    Function::new("CRC32", 1, 2, |b| bind_crc(b, |f| crc(f, CRC32))),
    Function::new("CRC32C", 1, 2, |b| bind_crc(b, |f| crc(f, CRC32C))),
    Function::new("DECODE_HISTOGRAM", 2, 2, |mut b| {
        b.text(0);
        b.text(1);
        b.collation = CollationId::UTF8MB3_GENERAL_CI;
        let ty = b.string_type(16_777_216);
        Ok(b.call(ty, true, decode_histogram))
    }),
    Function::new("BIT_COUNT", 1, 1, |mut b| {
        b.bits(0);
        b.strict(SqlType::new(TypeKind::Int, 2, 0), |f| {
            Ok(map(f, |v: u64| i64::from(v.count_ones())))
        })
    }),
];

/// The widths of a histogram's buckets; a histogram in JSON as it is. NULL for an unknown kind.
fn decode_histogram(frame: &Frame<'_>) -> SqlResult<Column> {
    let (kinds, histograms) = (frame.bytes(0), frame.bytes(1));
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        out.write(|buffer| {
            let (Some(kind), Some(bytes)) = (kinds.get(row), histograms.get(row)) else {
                return false;
            };
            let is = |name: &str| kind.eq_ignore_ascii_case(name.as_bytes());
            if is("JSON_HB") {
                buffer.extend_from_slice(bytes);
            } else if is("SINGLE_PREC_HB") {
                put_widths(bytes.iter().map(|end| f64::from(*end) / 255.0), 3, buffer);
            } else if is("DOUBLE_PREC_HB") {
                let ends = bytes.chunks_exact(2).map(|end| u16::from_le_bytes([end[0], end[1]]));
                put_widths(ends.map(|end| f64::from(end) / 65_535.0), 5, buffer);
            }
            is("JSON_HB") || is("SINGLE_PREC_HB") || is("DOUBLE_PREC_HB")
        });
    }
    Ok(out.finish())
}

/// The differences of the ends of buckets, the last to 1.
fn put_widths(ends: impl Iterator<Item = f64>, decimals: usize, buffer: &mut Vec<u8>) {
    let mut last = 0.0;
    for end in ends {
        buffer.extend_from_slice(format!("{:.decimals$},", end - last).as_bytes());
        last = end;
    }
    buffer.extend_from_slice(format!("{:.decimals$}", 1.0 - last).as_bytes());
}

/// A function with an ASCII result, converted to the charset of the result.
fn ascii_result(frame: &Frame<'_>, write: fn(&[u8], &mut Vec<u8>)) -> SqlResult<Column> {
    let charset = frame.ty.collation.charset();
    let mut plain = Vec::new();
    bytes_to_bytes(frame, |bytes, out| {
        plain.clear();
        write(bytes, &mut plain);
        out.extend_from_slice(&selkie_types::Charset::Utf8mb4.convert(&plain, charset).0);
        true
    })
}

fn put_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    demand(bytes.len() * 2);
    for b in bytes {
        tick(2);
        out.push(DIGITS[usize::from(b >> 4)]);
        out.push(DIGITS[usize::from(b & 15)]);
    }
}

fn put_hex_lower(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for b in bytes {
        out.push(DIGITS[usize::from(b >> 4)]);
        out.push(DIGITS[usize::from(b & 15)]);
    }
}

/// HEX: numbers in base 16, strings byte by byte.
fn bind_hex(mut b: Binding<'_>) -> SqlResult<Expr> {
    crate::cast::to_its_bytes(&mut b.args[0]);
    b.connection_collation();
    if b.args[0].ty.is_numeric() {
        let ty = b.string_type(16);
        match b.args[0].ty.physical() {
            Physical::Decimal => {}
            Physical::Double => b.double(0),
            _ => b.uint(0),
        }
        return match b.args[0].ty.physical() {
            Physical::Decimal => b.strict(ty, |f| {
                // Compat: a decimal has only the digits that a double keeps.
                hex_row(f, |f, row| whole_bits(f.decimals(0).value(row).to_f64()))
            }),
            Physical::Double => {
                b.strict(ty, |f| hex_row(f, |f, row| whole_bits(f.view::<f64>(0).value(row))))
            }
            _ => b.strict(ty, |f| hex_row(f, |f, row| f.view::<u64>(0).value(row).into())),
        };
    }
    b.text(0);
    let length = u64::from(b.args[0].ty.length) * b.args[0].ty.collation.charset().max_len() as u64;
    let ty = b.string_type(length * 2);
    b.strict(ty, |f| ascii_result(f, put_hex))
}

/// A double as an integer. Compat: a value below all integers becomes all ones.
fn whole_bits(value: f64) -> i128 {
    match value.round() {
        v if v <= i64::MIN as f64 => -1,
        v => v as i128,
    }
}

fn hex_row(frame: &Frame<'_>, number: fn(&Frame<'_>, usize) -> i128) -> SqlResult<Column> {
    let charset = frame.ty.collation.charset();
    write_rows(frame, |row, out| {
        let v = number(frame, row);
        let v = if v < 0 {
            v.max(i64::MIN.into()) as i64 as u64
        } else {
            v.min(u64::MAX.into()) as u64
        };
        let text = format!("{v:X}");
        out.extend_from_slice(&selkie_types::Charset::Utf8mb4.convert(text.as_bytes(), charset).0);
        true
    })
}

fn unhex(frame: &Frame<'_>) -> SqlResult<Column> {
    bytes_to_bytes(frame, |text, out| {
        demand(text.len() / 2);
        let (mut byte, mut half) = (0, text.len() % 2 == 1);
        for &b in text {
            tick(2);
            let Some(digit) = char::from(b).to_digit(16) else { return false };
            byte = byte << 4 | digit as u8;
            if half {
                out.push(byte);
                byte = 0;
            }
            half = !half;
        }
        true
    })
}

/// `BIN` and `OCT` are `CONV` with fixed bases.
fn based(mut b: Binding<'_>, from: i64, to: i64) -> SqlResult<Expr> {
    b.args.push(Expr::int(from));
    b.args.push(Expr::int(to));
    bind_conv(b)
}

fn bind_conv(mut b: Binding<'_>) -> SqlResult<Expr> {
    let bits = b.args[0].ty.kind == TypeKind::Bit;
    if bits {
        b.uint(0);
        b.args[0].ty = SqlType::bigint_unsigned();
        b.option = CallOption::Number(10);
    }
    b.ascii_text(0);
    b.int(1);
    b.int(2);
    b.connection_collation();
    let ty = b.string_type(65);
    b.maybe(ty, |frame| {
        let (texts, froms, tos) = (frame.bytes(0), frame.view::<i64>(1), frame.view::<i64>(2));
        let charset = frame.ty.collation.charset();
        let is_number = matches!(frame.call.option, CallOption::Number(_));
        write_rows(frame, |row, out| {
            let from = match froms.value(row) {
                // Compat: a bit value is a number, whatever valid base is given.
                base if is_number && is_base(base) => 10,
                base => base,
            };
            let text = converted(texts.value(row), from, tos.value(row));
            let Some(text) = text else { return false };
            let text = selkie_types::Charset::Utf8mb4.convert(text.as_bytes(), charset).0;
            out.extend_from_slice(&text);
            true
        })
    })
}

fn is_base(base: i64) -> bool {
    (2..=36).contains(&base.unsigned_abs())
}

/// A number converted from one base to another; a negative base makes the result signed.
fn converted(text: &[u8], from: i64, to: i64) -> Option<String> {
    if text.is_empty() || !is_base(from) || !is_base(to) {
        return None;
    }
    let value = if from.unsigned_abs() == 10 {
        parse_integer(text).value
    } else {
        digits_of(text, from.unsigned_abs() as u32)
    };
    let bits = if value < 0 { value as i64 as u64 } else { value.min(u64::MAX.into()) as u64 };
    let base = to.unsigned_abs();
    if to < 0 && (bits as i64) < 0 {
        return Some(format!("-{}", in_base((bits as i64).unsigned_abs(), base)));
    }
    Some(in_base(bits, base))
}

fn digits_of(text: &[u8], base: u32) -> i128 {
    let start = text.iter().position(|b| *b != b' ').unwrap_or(text.len());
    let (negative, rest) = match &text[start..] {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let mut value = 0i128;
    for &b in rest {
        let Some(digit) = char::from(b).to_digit(base) else { break };
        value = (value * i128::from(base) + i128::from(digit)).min(u64::MAX.into());
    }
    if negative { -value } else { value }
}

fn in_base(mut value: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = char::from_digit((value % base) as u32, 36).unwrap_or('0');
        digits.push(digit.to_ascii_uppercase());
        value /= base;
        if value == 0 {
            return digits.iter().rev().collect();
        }
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends base64 in lines of 76 characters.
fn to_base64(bytes: &[u8], out: &mut Vec<u8>) {
    demand(bytes.len() / 3 * 4);
    for (at, chunk) in bytes.chunks(3).enumerate() {
        tick(16);
        if at > 0 && at % 19 == 0 {
            out.push(b'\n');
        }
        let word =
            chunk.iter().fold(0u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let six = (word >> (18 - 6 * i)) & 63;
            out.push(if i <= chunk.len() { BASE64[six as usize] } else { b'=' });
        }
    }
}

fn from_base64(frame: &Frame<'_>) -> SqlResult<Column> {
    bytes_to_bytes(frame, |text, out| match decode_base64(text, false, out) {
        Ok(()) => true,
        Err(at) => {
            frame.ctx.warn(&ER_BAD_BASE64_DATA, &[&at]);
            false
        }
    })
}

/// The value of each letter of base64; others have [`NO_LETTER`].
const LETTERS: [u8; 256] = {
    let mut letters = [NO_LETTER; 256];
    let mut at = 0;
    while at < BASE64.len() {
        letters[BASE64[at] as usize] = at as u8;
        at += 1;
    }
    letters
};
const NO_LETTER: u8 = 64;

/// Appends the bytes that `text` is the base64 of; the error is the offset of what is none. With
/// `joined`, several such texts may follow each other.
pub fn decode_base64(text: &[u8], joined: bool, out: &mut Vec<u8>) -> Result<(), usize> {
    let (mut word, mut count, mut pads) = (0u32, 0, 0);
    demand(text.len() / 4 * 3);
    for (at, &b) in text.iter().enumerate() {
        tick(16);
        if b.is_ascii_whitespace() {
            continue;
        }
        let six = match b {
            b'=' if count >= 2 => {
                pads += 1;
                0
            }
            _ if pads > 0 => return Err(at),
            _ => match LETTERS[usize::from(b)] {
                NO_LETTER => return Err(at),
                six => u32::from(six),
            },
        };
        word = word << 6 | six;
        count += 1;
        if count == 4 {
            out.extend_from_slice(&word.to_be_bytes()[1..4 - pads]);
            (word, count) = (0, 0);
            if joined {
                pads = 0;
            }
        }
    }
    if count == 0 { Ok(()) } else { Err(text.len()) }
}

fn digest(mut b: Binding<'_>, length: u64, kernel: Kernel) -> SqlResult<Expr> {
    b.text(0);
    b.connection_collation();
    let ty = b.string_type(length);
    b.strict(ty, kernel)
}

fn hashed<D: Digest>(bytes: &[u8], out: &mut Vec<u8>) {
    let mut digest = D::new();
    update(&mut digest, bytes);
    put_hex_lower(&digest.finalize(), out);
}

/// Hashes a text in pieces, so that the statement can end between them.
fn update(digest: &mut impl Digest, bytes: &[u8]) {
    for piece in bytes.chunks(1 << 16) {
        tick(piece.len() * 4);
        digest.update(piece);
    }
}

/// Password hash of `mysql_native_password`; empty for no password.
fn password(bytes: &[u8], out: &mut Vec<u8>) {
    if !bytes.is_empty() {
        out.push(b'*');
        let mut first = Sha1::new();
        update(&mut first, bytes);
        put_hex(&Sha1::digest(first.finalize()), out);
    }
}

/// The text that `PASSWORD()` makes of a password.
pub fn password_hash(password_text: &[u8]) -> String {
    let mut out = Vec::new();
    password(password_text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn bind_sha2(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.text(0);
    b.int(1);
    b.connection_collation();
    let bits = match b.constant_int(1) {
        Some(0) => 256,
        Some(n @ (224 | 256 | 384 | 512)) => n as u64,
        _ => 512,
    };
    let ty = b.string_type(bits / 4);
    b.maybe(ty, |frame| {
        let (texts, bits) = (frame.bytes(0), frame.view::<i64>(1));
        let charset = frame.ty.collation.charset();
        let mut plain = Vec::new();
        write_rows(frame, |row, out| {
            plain.clear();
            let text = texts.value(row);
            match bits.value(row) {
                224 => hashed::<Sha224>(text, &mut plain),
                0 | 256 => hashed::<Sha256>(text, &mut plain),
                384 => hashed::<Sha384>(text, &mut plain),
                512 => hashed::<Sha512>(text, &mut plain),
                _ => {
                    frame.warn_of(1, &ER_WRONG_PARAMETERS_TO_NATIVE_FCT, &[&"sha2"]);
                    return false;
                }
            }
            out.extend_from_slice(&selkie_types::Charset::Utf8mb4.convert(&plain, charset).0);
            true
        })
    })
}

/// Reflected polynomials.
const CRC32: u32 = 0xEDB8_8320;
const CRC32C: u32 = 0x82F6_3B78;

fn bind_crc(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    if b.len() == 2 {
        b.args.swap(0, 1);
        b.uint(1);
    } else {
        b.args.push(Expr::int(0));
        b.uint(1);
    }
    b.text(0);
    let mut ty = SqlType::new(TypeKind::Int, 10, 0);
    ty.unsigned = true;
    b.strict(ty, kernel)
}

fn table(polynomial: u32) -> [u32; 256] {
    std::array::from_fn(|i| {
        (0..8).fold(i as u32, |c, _| if c & 1 == 1 { c >> 1 ^ polynomial } else { c >> 1 })
    })
}

fn crc(frame: &Frame<'_>, polynomial: u32) -> SqlResult<Column> {
    let table = table(polynomial);
    let (texts, starts) = (frame.bytes(0), frame.view::<u64>(1));
    crate::kernel::map_rows(frame, |row| {
        let start = !(starts.value(row) as u32);
        let step = |crc: u32, b: &u8| table[usize::from(crc as u8 ^ b)] ^ crc >> 8;
        let crc = texts.value(row).chunks(1 << 16).fold(start, |crc, piece| {
            tick(piece.len() * 2);
            piece.iter().fold(crc, step)
        });
        Ok(Some(u64::from(!crc)))
    })
}
