//! The texts of GTID events, user variables and branches.
//!
//! Must not keep state between events.

use crate::codec::{GtidEvent, GtidExtra, UserValue, UserVar};
use crate::images::read_decimal;
use crate::show::context::charset;
use crate::show::number::general;
use crate::show::text::{hex, put_name};
use selkie_types::CollationId;

/// Words behind the number in the head of a GTID event.
pub(super) fn gtid_words(gtid: &GtidEvent<'_>) -> String {
    let mut words = String::new();
    if gtid.has(GtidEvent::GROUP_COMMIT_ID) {
        words += &format!(" cid={}", gtid.commit_id);
    }
    if gtid.has(GtidEvent::DDL) {
        words += " ddl";
    }
    if gtid.has(GtidEvent::TRANSACTIONAL) {
        words += " trans";
    }
    if gtid.has(GtidEvent::WAITED) {
        words += " waited";
    }
    let Some(extra) = &gtid.extra else { return words };
    let ways = [
        (GtidExtra::START_ALTER, " START ALTER", false),
        (GtidExtra::COMMIT_ALTER, " COMMIT ALTER", true),
        (GtidExtra::ROLLBACK_ALTER, " ROLLBACK ALTER", true),
    ];
    for (flag, word, has_start) in ways {
        if extra.flags & flag != 0 {
            words += word;
            if has_start {
                words += &format!(" id= {}", extra.start);
            }
        }
    }
    words
}

/// The identifier of an XA branch.
pub(super) fn branch(gtrid: &[u8], bqual: &[u8], format: u32) -> String {
    format!("X'{}',X'{}',{format}", hex(gtrid).to_lowercase(), hex(bqual).to_lowercase())
}

/// Appends the statement that sets a user variable.
pub(super) fn put_user_var(variable: &UserVar<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"SET @");
    put_name(out, variable.name);
    let text = variable.value.as_ref().map_or("NULL".to_owned(), user_value);
    out.extend_from_slice(format!(":={text}/*!*/;\n").as_bytes());
}

/// A value as a literal.
fn user_value(value: &UserValue<'_>) -> String {
    let word = <[u8; 8]>::try_from(value.bytes).map(u64::from_le_bytes);
    match (value.kind, word) {
        (UserValue::REAL, Ok(bits)) => general(f64::from_bits(bits), 14),
        (UserValue::INT, Ok(number)) if value.is_unsigned() => number.to_string(),
        (UserValue::INT, Ok(number)) => (number as i64).to_string(),
        (UserValue::DECIMAL, _) => decimal(value.bytes).unwrap_or_else(|| hex(value.bytes)),
        _ => {
            let collation = value.collation as u16;
            let known = CollationId::from_number(collation);
            let name = known.map_or(collation.to_string(), |known| known.name().to_owned());
            format!("_{} X'{}' COLLATE `{name}`", charset(collation), hex(value.bytes))
        }
    }
}

/// A decimal behind its precision and scale.
pub(super) fn decimal(bytes: &[u8]) -> Option<String> {
    let (&[precision, scale], digits) = bytes.split_first_chunk()?;
    let fits = scale <= precision && scale <= selkie_types::decimal::MAX_SCALE;
    let number = fits.then(|| read_decimal(digits, precision, scale).ok()).flatten()?;
    let mut text = Vec::new();
    number.write_to(&mut text);
    String::from_utf8(text).ok()
}
