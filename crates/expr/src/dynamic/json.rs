//! Dynamic columns as JSON.
//! Nested columns become objects; deep nesting is refused, since any bytes may come in.

use selkie_types::number::{write_f64, write_i64, write_u64};
use selkie_types::{Charset, stack};

use super::format::{Columns, Malformed};
use super::value::Item;

/// Deepest nesting of columns within columns.
const DEEPEST: usize = 10;

/// Appends the columns of a string as a JSON object in utf8.
pub(crate) fn write_json(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
    object(bytes, out, 0)
}

fn object(bytes: &[u8], out: &mut Vec<u8>, depth: usize) -> Result<(), Malformed> {
    if depth > DEEPEST {
        return Err(Malformed);
    }
    out.push(b'{');
    for (at, column) in Columns::parse(bytes)?.list.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        quoted(&column.name.text(), out);
        out.push(b':');
        value(&Item::decode(column.kind, &column.value)?, out, depth)?;
    }
    out.push(b'}');
    Ok(())
}

fn value(item: &Item<'_>, out: &mut Vec<u8>, depth: usize) -> Result<(), Malformed> {
    stack::ensure();
    match item {
        Item::Int(v) => write_i64(out, *v),
        Item::UInt(v) => write_u64(out, *v),
        Item::Double(v) => write_f64(out, *v),
        Item::Decimal(v) => v.write_to(out),
        Item::Text(collation, text) => {
            let charset = match collation.charset() {
                // Compat: bytes are taken as latin1.
                Charset::Binary => Charset::Latin1,
                charset => charset,
            };
            quoted(&charset.convert(text, Charset::Utf8mb4).0, out);
        }
        Item::Nested(columns) => object(columns, out, depth + 1)?,
        temporal => {
            out.push(b'"');
            write_temporal(temporal, out);
            out.push(b'"');
        }
    }
    Ok(())
}

/// Appends a date or time; with microseconds if it has any.
fn write_temporal(item: &Item<'_>, out: &mut Vec<u8>) {
    let digits = |micros: u32| if micros == 0 { 0 } else { 6 };
    match item {
        Item::Date(v) => v.write_to(out),
        Item::Time(v) => v.write_to(out, digits(v.micros())),
        Item::DateTime(v) => v.write_to(out, digits(v.micros())),
        _ => {}
    }
}

/// Appends a string as a JSON string, with escapes where JSON needs them.
fn quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &b in text {
        match b {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', b]),
            0..=31 => out.extend_from_slice(format!("\\u{b:04X}").as_bytes()),
            _ => out.push(b),
        }
    }
    out.push(b'"');
}
