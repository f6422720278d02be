//! Names and times of an X.509 certificate.
//!
//! Must not judge a certificate, and must not panic on any bytes: whoever checks it comes first, but its form is the
//! peer's.

/// What is shown and compared of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Certificate {
    pub(super) issuer: String,
    pub(super) subject: String,
    pub(super) not_before: String,
    pub(super) not_after: String,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_ID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The version stands in front, marked, unless it is the first.
const VERSION: u8 = 0xa0;

/// Elements of DER, one behind the other.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next element: its tag and its content.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&[tag, first], rest) = self.0.split_first_chunk::<2>()?;
        let (length, rest) = match first {
            short @ 0..=0x7f => (usize::from(short), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (digits.iter().fold(0, |n, d| n << 8 | usize::from(*d)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// The content of the next element, which must have this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

impl Certificate {
    /// Reads a certificate.
    pub(super) fn decode(der: &[u8]) -> Option<Self> {
        let mut signed = Der(Der(der).expect(SEQUENCE)?);
        let mut fields = Der(signed.expect(SEQUENCE)?);
        if fields.next()?.0 == VERSION {
            fields.next()?;
        }
        let _algorithm = fields.expect(SEQUENCE)?;
        let issuer = one_line(fields.expect(SEQUENCE)?)?;
        let mut validity = Der(fields.expect(SEQUENCE)?);
        let (not_before, not_after) = (time(validity.next()?)?, time(validity.next()?)?);
        let subject = one_line(fields.expect(SEQUENCE)?)?;
        Some(Self { issuer, subject, not_before, not_after })
    }
}

/// A name as OpenSSL writes it on one line: `/C=FI/O=MariaDB/CN=client`.
fn one_line(name: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut parts = Der(name);
    while !parts.0.is_empty() {
        let mut set = Der(parts.expect(SET)?);
        while !set.0.is_empty() {
            let mut attribute = Der(set.expect(SEQUENCE)?);
            let kind = attribute.expect(OBJECT_ID)?;
            let (_, value) = attribute.next()?;
            text.push('/');
            text.push_str(&attribute_name(kind));
            text.push('=');
            value.iter().for_each(|byte| push_byte(&mut text, *byte));
        }
    }
    Some(text)
}

/// Compat: what is not printable ASCII is written in hexadecimal, byte for byte.
fn push_byte(text: &mut String, byte: u8) {
    match byte {
        b' '..=b'~' => text.push(char::from(byte)),
        _ => text.push_str(&format!("\\x{byte:02X}")),
    }
}

/// The short name of an attribute, or its number.
fn attribute_name(id: &[u8]) -> String {
    let name = match id {
        [0x55, 4, 3] => "CN",
        [0x55, 4, 4] => "SN",
        [0x55, 4, 5] => "serialNumber",
        [0x55, 4, 6] => "C",
        [0x55, 4, 7] => "L",
        [0x55, 4, 8] => "ST",
        [0x55, 4, 9] => "street",
        [0x55, 4, 10] => "O",
        [0x55, 4, 11] => "OU",
        [0x55, 4, 12] => "title",
        [0x55, 4, 13] => "description",
        [0x55, 4, 15] => "businessCategory",
        [0x55, 4, 17] => "postalCode",
        [0x55, 4, 41] => "name",
        [0x55, 4, 42] => "GN",
        [0x55, 4, 43] => "initials",
        [0x55, 4, 44] => "generationQualifier",
        [0x55, 4, 46] => "dnQualifier",
        [0x55, 4, 65] => "pseudonym",
        [0x55, 4, 97] => "organizationIdentifier",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 9, 1] => "emailAddress",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 9, 2] => "unstructuredName",
        [9, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1] => "UID",
        [9, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25] => "DC",
        _ => return dotted(id),
    };
    name.to_owned()
}

/// An object identifier in numbers.
fn dotted(id: &[u8]) -> String {
    let mut numbers: Vec<u64> = Vec::new();
    let mut number = 0u64;
    for byte in id {
        number = number.wrapping_shl(7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            // The first two numbers are written as one.
            if numbers.is_empty() {
                let first = (number / 40).min(2);
                numbers.push(first);
                number -= first * 40;
            }
            numbers.push(std::mem::take(&mut number));
        }
    }
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

/// A time as OpenSSL prints it: `Mar  3 03:03:03 2020 GMT`.
fn time((tag, text): (u8, &[u8])) -> Option<String> {
    let text = std::str::from_utf8(text).ok().filter(|t| t.is_ascii())?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let year: u32 = text.get(..2)?.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, text.get(2..)?)
        }
        GENERALIZED_TIME => (text.get(..4)?.parse().ok()?, text.get(4..)?),
        _ => return None,
    };
    let number = |at: usize| rest.get(at..at + 2)?.parse::<usize>().ok();
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.get(number(0)?.checked_sub(1)?)?;
    let (day, hour, minute, second) = (number(2)?, number(4)?, number(6)?, number(8).unwrap_or(0));
    Some(format!("{month} {day:2} {hour:02}:{minute:02}:{second:02} {year} GMT"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn element(tag: u8, content: &[&[u8]]) -> Vec<u8> {
        let content = content.concat();
        let mut out = vec![tag];
        match content.len() {
            short @ 0..0x80 => out.push(short as u8),
            long => out.extend([0x82, (long >> 8) as u8, long as u8]),
        }
        out.extend(content);
        out
    }

    fn name(parts: &[(&[u8], &[u8])]) -> Vec<u8> {
        let part = |(id, value): &(&[u8], &[u8])| {
            let pair = [element(OBJECT_ID, &[id]), element(0x0c, &[value])].concat();
            element(SET, &[&element(SEQUENCE, &[&pair])])
        };
        element(SEQUENCE, &[&parts.iter().flat_map(part).collect::<Vec<u8>>()])
    }

    fn sample(version: bool) -> Vec<u8> {
        let marked = element(VERSION, &[&element(2, &[&[2]])]);
        let times = [
            element(UTC_TIME, &[b"200303030303Z"]),
            element(GENERALIZED_TIME, &[b"20500227030303Z"]),
        ];
        let fields = [
            if version { marked } else { Vec::new() },
            element(2, &[&[1]]),
            element(SEQUENCE, &[]),
            name(&[(&[0x55, 4, 6], b"FI"), (&[0x55, 4, 3], "Ä".as_bytes())]),
            element(SEQUENCE, &[&times.concat()]),
            name(&[(&[0x2a, 0x86, 0x48, 0x01], b"x y"), (&[0x55, 4, 10], &[b'o'; 200])]),
        ];
        element(SEQUENCE, &[&element(SEQUENCE, &[&fields.concat()])])
    }

    #[test]
    fn names_and_times() {
        for version in [true, false] {
            let read = Certificate::decode(&sample(version)).unwrap();
            assert_eq!(read.issuer, "/C=FI/CN=\\xC3\\x84");
            assert_eq!(read.subject, format!("/1.2.840.1=x y/O={}", "o".repeat(200)));
            assert_eq!(read.not_before, "Mar  3 03:03:03 2020 GMT");
            assert_eq!(read.not_after, "Feb 27 03:03:03 2050 GMT");
        }
    }

    proptest! {
        #[test]
        fn damage_never_panics(cut in 0usize..400, at in 0usize..400, byte in any::<u8>()) {
            let mut der = sample(true);
            let place = at % der.len();
            der[place] = byte;
            der.truncate(cut.min(der.len()));
            let _ = Certificate::decode(&der);
        }

        #[test]
        fn garbage_never_panics(der in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Certificate::decode(&der);
            let _ = dotted(&der);
        }
    }
}
