//! Values as text: in results, in messages, in conversions to strings.
//! Messages are in UTF-8 whatever the value's charset is; results keep the charset.

use selkie_types::charset::Charset;
use selkie_types::number::{write_f32, write_f64, write_fixed, write_i64, write_u64};
use selkie_types::{CollationId, NOT_FIXED_DECIMALS, SqlType, TypeKind, Value};

/// Number of characters of a string.
pub fn char_count(collation: CollationId, bytes: &[u8]) -> usize {
    collation.charset().char_count(bytes)
}

/// The `_bin` collation of a charset.
pub fn binary_collation(charset: Charset) -> CollationId {
    CollationId::all()
        .find(|c| c.charset == charset && c.name == format!("{}_bin", charset.name()))
        .map_or(CollationId::BINARY, |c| c.id)
}

/// Appends a value that is not NULL as the client sees it; ASCII except for strings.
///
/// ENUM and SET values are in utf8; a BIT value is its bytes.
pub fn write_value(out: &mut Vec<u8>, value: &Value, ty: &SqlType) {
    let start = out.len();
    match value {
        Value::Null => {}
        Value::Int(v) => write_i64(out, *v),
        Value::UInt(v) => write_unsigned(out, *v, ty),
        Value::Double(v) => write_double(out, *v, ty),
        Value::Decimal(v) => v.write_to(out),
        Value::Date(v) => v.write_to(out),
        Value::Time(v) => v.write_to(out, ty.decimals),
        Value::DateTime(v) => v.write_to(out, ty.decimals),
        Value::Bytes(v) => match ty.fixed_binary() {
            Some(kind) => kind.write_text(v, out),
            None => out.extend_from_slice(v),
        },
    }
    if ty.zerofill && ty.is_numeric() && ty.kind != TypeKind::Year {
        selkie_types::number::write_zerofill(out, start, ty.zerofill_width());
    }
}

fn write_unsigned(out: &mut Vec<u8>, value: u64, ty: &SqlType) {
    match ty.kind {
        TypeKind::Bit => write_bits(out, value, ty.length),
        TypeKind::Enum => out.extend_from_slice(enum_text(value, ty).as_bytes()),
        TypeKind::Set => write_set(out, value, ty),
        TypeKind::Year => {
            let (start, width) = (out.len(), if ty.length == 2 { 2 } else { 4 });
            write_u64(out, if width == 2 { value % 100 } else { value });
            if ty.zerofill {
                selkie_types::number::write_zerofill(out, start, width);
            }
        }
        _ => write_u64(out, value),
    }
}

/// Appends the bytes of a BIT value, most significant byte first.
pub fn write_bits(out: &mut Vec<u8>, value: u64, bits: u32) {
    let bytes = bits.div_ceil(8).clamp(1, 8) as usize;
    out.extend_from_slice(&value.to_be_bytes()[8 - bytes..]);
}

/// The text of an ENUM value; 0 is the empty string.
pub fn enum_text(value: u64, ty: &SqlType) -> &str {
    let members = ty.members.as_deref().unwrap_or(&[]);
    usize::try_from(value).ok().and_then(|v| members.get(v.checked_sub(1)?)).map_or("", |m| m)
}

fn write_set(out: &mut Vec<u8>, value: u64, ty: &SqlType) {
    let members = ty.members.as_deref().unwrap_or(&[]);
    let mut first = true;
    for (bit, member) in members.iter().enumerate().take(64) {
        if value >> bit & 1 == 1 {
            if !std::mem::take(&mut first) {
                out.push(b',');
            }
            out.extend_from_slice(member.as_bytes());
        }
    }
}

/// Appends a FLOAT or DOUBLE.
pub fn write_double(out: &mut Vec<u8>, value: f64, ty: &SqlType) {
    if ty.decimals < NOT_FIXED_DECIMALS {
        write_fixed(out, value, ty.decimals.into());
    } else if ty.kind == TypeKind::Float {
        write_f32(out, value as f32);
    } else {
        write_f64(out, value);
    }
}

/// A value as text for messages.
pub fn display(value: &Value, ty: &SqlType) -> String {
    if value.is_null() {
        return "NULL".into();
    }
    let mut out = Vec::new();
    write_value(&mut out, value, ty);
    String::from_utf8_lossy(&out).into_owned()
}

/// A string for a message: in UTF-8, with `\xHH` for bytes that cannot be shown. A string longer
/// than any message is not converted to its end.
pub fn for_message(bytes: &[u8], collation: CollationId) -> String {
    /// Longer than any message.
    const LONGEST: usize = 1024;
    let charset = collation.charset();
    let mut out = String::with_capacity(bytes.len().min(LONGEST));
    let mut at = 0;
    while at < bytes.len() && out.len() < LONGEST {
        let decoded = charset.decode(&bytes[at..]);
        let shown = decoded.and_then(|(code, len)| Some((char::from_u32(code)?, len)));
        let readable = |c: char| !c.is_control() && (c.is_ascii() || !collation.is_binary());
        match shown.filter(|(c, _)| readable(*c)) {
            Some((c, len)) => {
                out.push(c);
                at += len;
            }
            None => {
                out.push_str(&format!("\\x{:02X}", bytes[at]));
                at += 1;
            }
        }
    }
    out
}

/// Up to six bytes as MariaDB shows text it could not read: ASCII unchanged, the rest in
/// hexadecimal.
pub fn printable(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for &b in bytes.iter().take(6) {
        if (32..127).contains(&b) {
            shown.push(char::from(b));
        } else {
            shown.push_str(&format!("\\x{b:02X}"));
        }
    }
    if bytes.len() > 6 {
        shown.push_str("...");
    }
    shown
}

/// Displayed length of a type's values in characters, as in result metadata.
pub fn display_length(ty: &SqlType) -> u32 {
    match ty.kind {
        TypeKind::Decimal => ty.length + u32::from(ty.decimals > 0) + u32::from(!ty.unsigned),
        TypeKind::Double | TypeKind::Float => match ty.length {
            0 if ty.kind == TypeKind::Float => 12,
            0 => 22,
            length => length,
        },
        TypeKind::Date => 10,
        TypeKind::Time => 10 + fraction_length(ty.decimals),
        TypeKind::DateTime | TypeKind::Timestamp => 19 + fraction_length(ty.decimals),
        TypeKind::Enum => {
            ty.members.iter().flat_map(|m| m.iter()).map(|m| m.chars().count()).max().unwrap_or(0)
                as u32
        }
        TypeKind::Set => {
            let members = ty.members.iter().flat_map(|m| m.iter());
            let total: usize = members.map(|m| m.chars().count() + 1).sum();
            total.saturating_sub(1) as u32
        }
        _ => ty.length - u32::from(ty.non_negative && ty.length > 1),
    }
}

fn fraction_length(fsp: u8) -> u32 {
    if fsp == 0 { 0 } else { u32::from(fsp) + 1 }
}
