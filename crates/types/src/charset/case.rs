//! Upper and lower case.
//! The collation decides, not the charset alone: some have other tables of cases.

use super::collation::Rule;
use super::eight_bit::EightBit;
use super::multibyte::MultiByte;
use super::tables::CaseTable;
use super::{Charset, Collation, tailoring};
use crate::pace::{demand, tick};

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
        demand(bytes.len());
        if self.charset == Charset::Binary {
            return out.extend_from_slice(bytes);
        }
        if let Some(set) = EightBit::of(self.charset) {
            let table = if case == Case::Upper { set.upper() } else { set.lower() };
            return out.extend(bytes.iter().map(|&b| table[usize::from(b)]));
        }
        if self.charset.is_ascii_superset() && bytes.is_ascii() && !self.is_turkish() {
            let start = out.len();
            out.extend_from_slice(bytes);
            return match case {
                Case::Upper => out[start..].make_ascii_uppercase(),
                Case::Lower => out[start..].make_ascii_lowercase(),
            };
        }
        match MultiByte::of(self.charset) {
            Some(set) => change_multibyte(set, bytes, out, case),
            None => self.change_case_of_chars(bytes, out, case),
        }
    }

    fn is_turkish(&self) -> bool {
        matches!(self.rule, Rule::Tailored(n) if tailoring::is_turkish(n))
    }

    fn change_case_of_chars(&self, bytes: &[u8], out: &mut Vec<u8>, case: Case) {
        let table = match self.rule {
            Rule::Unicode520 => CaseTable::New,
            Rule::Tailored(n) if !tailoring::has_old_cases(n) => CaseTable::New,
            _ => CaseTable::Old,
        };
        let turkish = self.is_turkish();
        let mut at = 0;
        while at < bytes.len() {
            tick(8);
            let rest = &bytes[at..];
            let Some((code, len)) = self.charset.decode(rest) else {
                let len = self.charset.char_len(rest);
                out.extend_from_slice(&rest[..len]);
                at += len;
                continue;
            };
            let changed = match (case, code) {
                (Case::Upper, 0x69) if turkish => 0x130,
                (Case::Lower, 0x49) if turkish => 0x131,
                (Case::Upper, _) => table.upper(code),
                (Case::Lower, _) => table.lower(code),
            };
            if changed == code || !self.charset.encode(changed, out) {
                out.extend_from_slice(&rest[..len]);
            }
            at += len;
        }
    }
}

fn change_multibyte(set: &MultiByte, mut bytes: &[u8], out: &mut Vec<u8>, case: Case) {
    while !bytes.is_empty() {
        tick(8);
        let (char, rest) = bytes.split_at(set.len(bytes).unwrap_or(1));
        match char {
            [b] => out.push(match case {
                Case::Upper => b.to_ascii_uppercase(),
                Case::Lower => b.to_ascii_lowercase(),
            }),
            char => set.put_case(char, case == Case::Upper, out),
        }
        bytes = rest;
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
