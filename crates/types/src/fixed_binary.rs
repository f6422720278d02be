//! INET4, INET6 and UUID: types whose values have a fixed number of bytes and a text form of their
//! own.
//!
//! A column holds a value as the bytes it sorts by, so comparisons, groups and keys are those of
//! binary strings. These are the standard bytes, except for a UUID, see [`swapped`].

use crate::{TypeKind, address};

/// A type whose values have a fixed number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FixedBinary {
    /// An IPv4 address.
    Inet4,
    /// An IPv6 address.
    Inet6,
    /// A universally unique identifier (RFC 9562).
    Uuid,
}

/// Size of the longest value in bytes.
const LONGEST: usize = 16;

impl FixedBinary {
    /// The type for `kind`, if it is one of these.
    pub const fn of(kind: TypeKind) -> Option<Self> {
        match kind {
            TypeKind::Inet4 => Some(Self::Inet4),
            TypeKind::Inet6 => Some(Self::Inet6),
            TypeKind::Uuid => Some(Self::Uuid),
            _ => None,
        }
    }

    /// Kind of the SQL type.
    pub const fn kind(self) -> TypeKind {
        match self {
            Self::Inet4 => TypeKind::Inet4,
            Self::Inet6 => TypeKind::Inet6,
            Self::Uuid => TypeKind::Uuid,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inet4 => "inet4",
            Self::Inet6 => "inet6",
            Self::Uuid => "uuid",
        }
    }

    /// Size of a value in bytes.
    pub const fn width(self) -> usize {
        match self {
            Self::Inet4 => 4,
            Self::Inet6 | Self::Uuid => 16,
        }
    }

    /// Length of the longest text in characters.
    pub const fn text_length(self) -> u32 {
        match self {
            Self::Inet4 => 15,
            Self::Inet6 => 39,
            Self::Uuid => 36,
        }
    }

    /// The stored form of the value with this ASCII text.
    pub fn of_text(self, text: &[u8]) -> Option<Box<[u8]>> {
        match self {
            Self::Inet4 => Some(address::v4_of_text(text)?.octets().into()),
            Self::Inet6 => Some(address::v6_of_text(text)?.octets().into()),
            Self::Uuid => Some(swapped(uuid_of_text(text)?).into()),
        }
    }

    /// The stored form of a value given in its standard bytes; `None` if their number is wrong.
    pub fn of_bytes(self, bytes: &[u8]) -> Option<Box<[u8]>> {
        match self {
            Self::Uuid => Some(swapped(bytes.try_into().ok()?).into()),
            _ => (bytes.len() == self.width()).then(|| bytes.into()),
        }
    }

    /// Appends the standard bytes of a stored value.
    pub fn write_bytes(self, value: &[u8], out: &mut Vec<u8>) {
        match (self, value.try_into()) {
            (Self::Uuid, Ok(value)) => out.extend_from_slice(&swapped(value)),
            _ => out.extend_from_slice(value),
        }
    }

    /// Appends the text of a stored value; nothing if the bytes are no value.
    pub fn write_text(self, value: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Uuid => {
                if let Ok(value) = value.try_into() {
                    write_uuid(swapped(value), out);
                }
            }
            _ => address::write_bytes(value, out),
        }
    }
}

/// Turns a UUID's bytes from the standard order to the order of sorting, and back.
///
/// Compat: MariaDB sorts versions 1 to 5 by node, clock sequence and then time from its slowest to
/// its fastest part; it sorts other versions by their bytes. The version (byte 6) and the variant
/// (byte 8) say which order a value has; the two bytes change places in the other order. MariaDB
/// loses a value whose variant and version are exchanged from the start. Here such a value is
/// reordered too, so that every value can be read back.
fn swapped(bytes: [u8; LONGEST]) -> [u8; LONGEST] {
    let is_version = |byte: u8| (1..0x60).contains(&byte);
    let is_variant = |byte: u8| byte & 0x80 != 0;
    let (sixth, eighth) = (bytes[6], bytes[8]);
    let turned = is_version(sixth) && is_variant(eighth) || is_version(eighth) && is_variant(sixth);
    if !turned {
        return bytes;
    }
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
    match is_version(sixth) && is_variant(eighth) {
        true => [k, l, m, n, o, p, i, j, g, h, e, f, a, b, c, d],
        false => [m, n, o, p, k, l, i, j, g, h, a, b, c, d, e, f],
    }
}

/// The bytes of a UUID's text. Compat: any number of hyphens may stand between two digits.
fn uuid_of_text(text: &[u8]) -> Option<[u8; LONGEST]> {
    let (first, last) = (text.first()?, text.last()?);
    if *first == b'-' || *last == b'-' {
        return None;
    }
    let mut digits = text.iter().filter(|byte| **byte != b'-');
    let mut digit = || char::from(*digits.next()?).to_digit(16);
    let mut bytes = [0; LONGEST];
    for byte in &mut bytes {
        *byte = (digit()? << 4 | digit()?) as u8;
    }
    digits.next().is_none().then_some(bytes)
}

fn write_uuid(bytes: [u8; LONGEST], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (at, byte) in bytes.into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::{FixedBinary, swapped};

    fn round(kind: FixedBinary, text: &str) -> Option<String> {
        let mut out = Vec::new();
        kind.write_text(&kind.of_text(text.as_bytes())?, &mut out);
        String::from_utf8(out).ok()
    }

    #[test]
    fn texts_come_back() {
        let uuid = "5796dac1-1a1c-11ec-ab4e-f859713e4be4";
        assert_eq!(round(FixedBinary::Uuid, uuid).as_deref(), Some(uuid));
        let odd = "5796DAC11a1c11----ecab4ef859-713e4be4";
        assert_eq!(round(FixedBinary::Uuid, odd).as_deref(), Some(uuid));
        for wrong in
            ["", "-", "-5796dac11a1c11ecab4ef859713e4be4", "5796dac11a1c11ecab4ef859713e4be"]
        {
            assert_eq!(round(FixedBinary::Uuid, wrong), None);
        }
        assert_eq!(round(FixedBinary::Inet4, "1.2.3.4").as_deref(), Some("1.2.3.4"));
        assert_eq!(round(FixedBinary::Inet4, "1.2.3"), None);
        assert_eq!(round(FixedBinary::Inet6, "::FFFF:1.2.3.4").as_deref(), Some("::ffff:1.2.3.4"));
    }

    #[test]
    fn versions_one_to_five_sort_by_their_end() {
        let at = |text: &str| FixedBinary::Uuid.of_text(text.as_bytes()).unwrap();
        assert!(
            at("ffffffff-ffff-1fff-8000-000000000001") < at("00000000-0000-1000-8000-000000000002")
        );
        assert!(
            at("00000000-0000-7000-8000-000000000002") < at("ffffffff-ffff-7fff-8000-000000000001")
        );
        assert!(
            at("00000000-0000-1000-8000-000000000001") < at("00000000-0001-1000-8000-000000000001")
        );
    }

    #[test]
    fn bytes_come_back_whatever_they_are() {
        for (sixth, eighth) in (0..=255u8).flat_map(|a| (0..=255u8).map(move |b| (a, b))) {
            let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
            (bytes[6], bytes[8]) = (sixth, eighth);
            assert_eq!(swapped(swapped(bytes)), bytes);
        }
    }
}
