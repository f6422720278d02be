//! PCRE2's messages about bytes that are not valid UTF-8.
//!
//! PCRE2 itself is told to accept such bytes; code that must report them checks here first.

/// The first fault of `text`; `None` if it is valid UTF-8.
pub(super) fn fault(text: &[u8]) -> Option<String> {
    let error = std::str::from_utf8(text).err()?;
    Some(format!("UTF-8 error: {}", describe(&text[error.valid_up_to()..])))
}

/// The fault of the character at the start of `bytes`.
fn describe(bytes: &[u8]) -> String {
    let lead = bytes.first().copied().unwrap_or(0);
    let more = match lead {
        0x80..=0xBF => return "isolated byte with 0x80 bit set".into(),
        0xFE.. => return "illegal byte (0xfe or 0xff)".into(),
        0xFC.. => 5,
        0xF8.. => 4,
        0xF0.. => 3,
        0xE0.. => 2,
        _ => 1,
    };
    let Some(rest) = bytes.get(1..=more) else {
        let missing = more + 1 - bytes.len();
        let plural = if missing == 1 { "" } else { "s" };
        return format!("{missing} byte{plural} missing at end");
    };
    match rest.iter().position(|b| b & 0xC0 != 0x80) {
        Some(at) => format!("byte {} top bits not 0x80", at + 2),
        None => out_of_range(lead, rest[0], more + 1),
    }
}

/// The fault of a character whose `length` bytes have valid marks.
fn out_of_range(lead: u8, second: u8, length: usize) -> String {
    let overlong = match length {
        2 => lead & 0x3E == 0,
        3 => lead == 0xE0 && second & 0x20 == 0,
        4 => lead == 0xF0 && second & 0x30 == 0,
        5 => lead == 0xF8 && second & 0x38 == 0,
        _ => lead == 0xFC && second & 0x3C == 0,
    };
    match length {
        _ if overlong => format!("overlong {length}-byte sequence"),
        3 => "code points 0xd800-0xdfff are not defined".into(),
        4 => "code points greater than 0x10ffff are not defined".into(),
        _ => format!("{length}-byte character is not allowed (RFC 3629)"),
    }
}
