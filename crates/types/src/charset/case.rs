//! Upper and lower case.

use super::collation::Rule;
use super::eight_bit::EightBit;
use super::tables::CaseTable;
use super::{Charset, Collation};

#[derive(Copy, Clone, PartialEq)]
enum Case {
    Upper,
    Lower,
}

impl Collation {
    /// Appends the text in upper case.
    pub fn upper(&self, bytes: &[u8], out: &mut Vec<u8>) {
        self.change_case(bytes, out, Case::Upper);
    }

    /// Appends the text in lower case.
    pub fn lower(&self, bytes: &[u8], out: &mut Vec<u8>) {
        self.change_case(bytes, out, Case::Lower);
    }

    fn change_case(&self, bytes: &[u8], out: &mut Vec<u8>, case: Case) {
        if self.charset == Charset::Binary {
            return out.extend_from_slice(bytes);
        }
        if let Some(set) = EightBit::of(self.charset) {
            let table = if case == Case::Upper { set.upper() } else { set.lower() };
            return out.extend(bytes.iter().map(|&b| table[usize::from(b)]));
        }
        if self.charset.is_ascii_compatible() && bytes.is_ascii() {
            let start = out.len();
            out.extend_from_slice(bytes);
            return match case {
                Case::Upper => out[start..].make_ascii_uppercase(),
                Case::Lower => out[start..].make_ascii_lowercase(),
            };
        }
        self.change_case_of_chars(bytes, out, case);
    }

    fn change_case_of_chars(&self, bytes: &[u8], out: &mut Vec<u8>, case: Case) {
        let table = match self.rule {
            Rule::Unicode520 | Rule::Unicode1400 => CaseTable::New,
            _ => CaseTable::Old,
        };
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let Some((code, len)) = self.charset.decode(rest) else {
                let len = self.charset.char_len(rest);
                out.extend_from_slice(&rest[..len]);
                at += len;
                continue;
            };
            let changed = if case == Case::Upper { table.upper(code) } else { table.lower(code) };
            if changed == code || !self.charset.encode(changed, out) {
                out.extend_from_slice(&rest[..len]);
            }
            at += len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CollationId;

    fn upper(collation: &str, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        CollationId::from_name(collation).unwrap().info().upper(text, &mut out);
        out
    }

    #[test]
    fn upper_case() {
        assert_eq!(upper("utf8mb4_general_ci", "abc".as_bytes()), b"ABC");
        assert_eq!(upper("utf8mb4_general_ci", "éßж".as_bytes()), "ÉßЖ".as_bytes());
        assert_eq!(upper("utf8mb4_general_ci", "𐐨".as_bytes()), "𐐨".as_bytes());
        assert_eq!(upper("utf8mb4_unicode_520_ci", "𐐨".as_bytes()), "𐐀".as_bytes());
        assert_eq!(upper("latin1_swedish_ci", b"\xE9a"), b"\xC9A");
        assert_eq!(upper("binary", b"a"), b"a");
    }
}
