//! Network addresses as MariaDB reads and writes them.
//! Shared by the types INET4 and INET6 and by the functions INET_ATON, INET6_ATON and their
//! inverses.

use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The IPv4 address in a text: four numbers of one to three digits.
pub fn v4_of_text(text: &[u8]) -> Option<Ipv4Addr> {
    let mut numbers = text.split(|byte| *byte == b'.').map(octet);
    let mut next = || numbers.next()?;
    let octets = [next()?, next()?, next()?, next()?];
    numbers.next().is_none().then(|| octets.into())
}

/// Value of one number. Compat: leading zeros do not make it octal.
fn octet(digits: &[u8]) -> Option<u8> {
    let is_number = (1..=3).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

/// The IPv6 address in a text, whose last part may have the form of an IPv4 address.
pub fn v6_of_text(text: &[u8]) -> Option<Ipv6Addr> {
    let text = std::str::from_utf8(text).ok()?;
    let (groups, last) = text.rsplit_once(':')?;
    if !last.contains('.') {
        return text.parse().ok();
    }
    let [a, b, c, d] = v4_of_text(last.as_bytes())?.octets();
    format!("{groups}:{a:02x}{b:02x}:{c:02x}{d:02x}").parse().ok()
}

/// Appends the text of an address of 4 or 16 bytes; nothing for other lengths.
pub fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let written = if let Ok(octets) = <[u8; 4]>::try_from(bytes) {
        write!(out, "{}", Ipv4Addr::from(octets))
    } else if let Ok(octets) = <[u8; 16]>::try_from(bytes) {
        write_v6(octets, out)
    } else {
        Ok(())
    };
    debug_assert!(written.is_ok(), "writing to memory does not fail");
}

/// Compat: after six groups of zeros, the rest is written as an IPv4 address, unless it begins with
/// another group of zeros. A single group of zeros is left out too.
fn write_v6(octets: [u8; 16], out: &mut Vec<u8>) -> std::io::Result<()> {
    let address = Ipv6Addr::from(octets);
    let groups = address.segments();
    let first_zero = groups.iter().position(|group| *group == 0);
    let has_run = groups.windows(2).any(|pair| pair == [0, 0]);
    match groups {
        [0, 0, 0, 0, 0, 0, high, _] if high > 0 => {
            let [.., a, b, c, d] = octets;
            write!(out, "::{a}.{b}.{c}.{d}")
        }
        _ if let (Some(at), false) = (first_zero, has_run) => {
            let written = |groups: &[u16]| {
                groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":")
            };
            let (before, behind) = groups.split_at(at);
            write!(out, "{}::{}", written(before), written(behind.get(1..).unwrap_or_default()))
        }
        _ => write!(out, "{address}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{v4_of_text, v6_of_text, write_bytes};

    fn v6(text: &str) -> Option<String> {
        let mut out = Vec::new();
        write_bytes(&v6_of_text(text.as_bytes())?.octets(), &mut out);
        String::from_utf8(out).ok()
    }

    #[test]
    fn texts_of_addresses() {
        assert_eq!(v4_of_text(b"001.02.3.255"), Some([1, 2, 3, 255].into()));
        for wrong in ["", "1.2.3", "1.2.3.4.5", "1.2.3.256", "0001.2.3.4", "1.2.3.4 ", "1..3.4"] {
            assert_eq!(v4_of_text(wrong.as_bytes()), None);
        }
        assert_eq!(v6("::01.2.3.4").as_deref(), Some("::1.2.3.4"));
        assert_eq!(v6("::FFFF:1.2.3.4").as_deref(), Some("::ffff:1.2.3.4"));
        assert_eq!(v6("::2").as_deref(), Some("::2"));
        for (text, shown) in [
            ("1:2:3:4:5:6:7:0", "1:2:3:4:5:6:7::"),
            ("0:2:3:4:5:6:7:8", "::2:3:4:5:6:7:8"),
            ("1:2:3:4:5:6:0:8", "1:2:3:4:5:6::8"),
            ("1:0:3:4:5:6:7:0", "1::3:4:5:6:7:0"),
            ("1:0:0:4:5:6:0:0", "1::4:5:6:0:0"),
        ] {
            assert_eq!(v6(text).as_deref(), Some(shown));
        }
        for wrong in ["", "1.2.3.4", ":", ":::", "1:2:3:4:5:6:7:8:9", "::12345", "::1.2.3"] {
            assert_eq!(v6(wrong), None);
        }
    }
}
