//! Names and times of an X.509 certificate.
//!
//! Must not verify a certificate; that is done before. Must not panic on any bytes: the peer chose
//! them.

use x509_cert::der::Decode;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::name::Name;
use x509_cert::time::Time;

/// Parts of a certificate that are shown and compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Certificate {
    pub(super) issuer: String,
    pub(super) subject: String,
    pub(super) not_before: String,
    pub(super) not_after: String,
}

impl Certificate {
    /// Reads a certificate; `None` if it is malformed.
    pub(super) fn decode(der: &[u8]) -> Option<Self> {
        let certificate = x509_cert::Certificate::from_der(der).ok()?;
        let signed = certificate.tbs_certificate();
        Some(Self {
            issuer: one_line(signed.issuer()),
            subject: one_line(signed.subject()),
            not_before: time(signed.validity().not_before),
            not_after: time(signed.validity().not_after),
        })
    }
}

/// A name as OpenSSL writes it on one line: `/C=FI/O=MariaDB/CN=client`.
fn one_line(name: &Name) -> String {
    let mut text = String::new();
    for attribute in name.iter() {
        text.push('/');
        text.push_str(&attribute_name(attribute.oid));
        text.push('=');
        attribute.value.value().iter().for_each(|byte| push_byte(&mut text, *byte));
    }
    text
}

/// Compat: a byte that is not printable ASCII is written in hexadecimal.
fn push_byte(text: &mut String, byte: u8) {
    match byte {
        b' '..=b'~' => text.push(char::from(byte)),
        _ => text.push_str(&format!("\\x{byte:02X}")),
    }
}

/// The short name of an attribute, or its number if it has none.
fn attribute_name(id: ObjectIdentifier) -> String {
    let number = id.to_string();
    let name = match number.as_str() {
        "2.5.4.3" => "CN",
        "2.5.4.4" => "SN",
        "2.5.4.5" => "serialNumber",
        "2.5.4.6" => "C",
        "2.5.4.7" => "L",
        "2.5.4.8" => "ST",
        "2.5.4.9" => "street",
        "2.5.4.10" => "O",
        "2.5.4.11" => "OU",
        "2.5.4.12" => "title",
        "2.5.4.13" => "description",
        "2.5.4.15" => "businessCategory",
        "2.5.4.17" => "postalCode",
        "2.5.4.41" => "name",
        "2.5.4.42" => "GN",
        "2.5.4.43" => "initials",
        "2.5.4.44" => "generationQualifier",
        "2.5.4.46" => "dnQualifier",
        "2.5.4.65" => "pseudonym",
        "2.5.4.97" => "organizationIdentifier",
        "1.2.840.113549.1.9.1" => "emailAddress",
        "1.2.840.113549.1.9.2" => "unstructuredName",
        "0.9.2342.19200300.100.1.1" => "UID",
        "0.9.2342.19200300.100.1.25" => "DC",
        _ => return number,
    };
    name.to_owned()
}

/// A time as OpenSSL prints it: `Mar  3 03:03:03 2020 GMT`.
fn time(time: Time) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let at = time.to_date_time();
    let month = usize::from(at.month()).checked_sub(1).and_then(|month| MONTHS.get(month));
    let (day, hour, minute, second) = (at.day(), at.hour(), at.minutes(), at.seconds());
    let month = month.copied().unwrap_or_default();
    format!("{month} {day:2} {hour:02}:{minute:02}:{second:02} {} GMT", at.year())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INTEGER: u8 = 0x02;
    const BIT_STRING: u8 = 0x03;
    const OBJECT_ID: u8 = 0x06;
    const UTC_TIME: u8 = 0x17;
    const GENERALIZED_TIME: u8 = 0x18;
    const SEQUENCE: u8 = 0x30;
    const SET: u8 = 0x31;
    /// Tag of the version. It is the first field, and missing for version 1.
    const VERSION: u8 = 0xa0;

    fn element(tag: u8, content: &[&[u8]]) -> Vec<u8> {
        let content = content.concat();
        let mut out = vec![tag];
        match content.len() {
            short @ 0..0x80 => out.push(short as u8),
            long @ 0x80..0x100 => out.extend([0x81, long as u8]),
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
        let marked = element(VERSION, &[&element(INTEGER, &[&[2]])]);
        let algorithm = element(SEQUENCE, &[&element(OBJECT_ID, &[&[0x2a, 0x03, 0x04]])]);
        let bits = element(BIT_STRING, &[&[0, 1]]);
        let times = [
            element(UTC_TIME, &[b"200303030303Z"]),
            element(GENERALIZED_TIME, &[b"20500227030303Z"]),
        ];
        let fields = [
            if version { marked } else { Vec::new() },
            element(INTEGER, &[&[1]]),
            algorithm.clone(),
            name(&[(&[0x55, 4, 6], b"FI"), (&[0x55, 4, 3], "Ä".as_bytes())]),
            element(SEQUENCE, &[&times.concat()]),
            name(&[(&[0x2a, 0x86, 0x48, 0x01], b"x y"), (&[0x55, 4, 10], &[b'o'; 200])]),
            element(SEQUENCE, &[&algorithm, &bits]),
        ];
        element(SEQUENCE, &[&element(SEQUENCE, &[&fields.concat()]), &algorithm, &bits])
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

    #[test]
    fn malformed_certificates_are_refused() {
        let whole = sample(true);
        for end in 0..whole.len() {
            assert_eq!(Certificate::decode(&whole[..end]), None);
        }
        let late = |time: &[u8]| whole.windows(time.len()).position(|bytes| bytes == time).unwrap();
        let mut no_month = whole.clone();
        no_month[late(b"200303")..][..6].copy_from_slice(b"201303");
        assert_eq!(Certificate::decode(&no_month), None);
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
        }
    }
}
