//! Literals.
//! A literal must keep its type and value when the text is parsed again.

use selkie_types::temporal::DateOptions;
use selkie_types::{Charset, Date, DateTime, Time};

use super::Writer;
use crate::ast::{Literal, StringLiteral, TemporalKind};

impl Writer<'_> {
    pub(super) fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Null => self.str("NULL"),
            Literal::Bool(value) => self.str(if *value { "1" } else { "0" }),
            Literal::Int(value) => self.display(value),
            Literal::Decimal(text) => self.str(text),
            Literal::Float { value, .. } => self.str(&float(*value)),
            Literal::String(string) => self.string(string),
            Literal::Hex { bytes, hybrid: true } => self.hex("0x", bytes, ""),
            Literal::Hex { bytes, hybrid: false } => self.hex("X'", bytes, "'"),
            Literal::Bit(bytes) => self.hex("0x", bytes, ""),
            Literal::Temporal { kind, text } => self.temporal(*kind, text),
        }
    }

    /// A date or time in its standard form, whatever form was written.
    fn temporal(&mut self, kind: TemporalKind, text: &[u8]) {
        let options = DateOptions { allow_invalid: true, ..DateOptions::LENIENT };
        let mut shown = Vec::new();
        let (word, known) = match kind {
            TemporalKind::Date => {
                let literal = Date::parse_literal(text, options);
                ("DATE", literal.map(|l| l.value.write_to(&mut shown)))
            }
            TemporalKind::Time => {
                let literal = Time::parse_literal(text, options);
                ("TIME", literal.map(|l| l.value.write_to(&mut shown, l.fsp)))
            }
            TemporalKind::Timestamp => {
                let literal = DateTime::parse_literal(text, options);
                ("TIMESTAMP", literal.map(|l| l.value.write_to(&mut shown, l.fsp)))
            }
        };
        self.str(word);
        self.quoted(if known.is_some() { &shown } else { text });
    }

    fn hex(&mut self, before: &str, bytes: &[u8], after: &str) {
        self.str(before);
        for b in bytes {
            self.display(format_args!("{b:02x}"));
        }
        self.str(after);
    }

    pub(super) fn string(&mut self, string: &StringLiteral) {
        if let Some(charset) = &string.charset {
            self.display(format_args!("_{charset}"));
            if string.encoding == Charset::Binary {
                return self.hex("X'", &string.bytes, "'");
            }
        } else if string.encoding != Charset::Utf8mb4 {
            self.display(format_args!("_{}", string.encoding.name()));
            return self.hex("X'", &string.bytes, "'");
        }
        self.quoted(&string.bytes);
    }

    /// A string in quotes; in hexadecimal, which means the same, if its bytes are no text.
    fn quoted(&mut self, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return self.hex("X'", bytes, "'") };
        self.out.push('\'');
        for c in text.chars() {
            match c {
                '\'' => self.str("\\'"),
                '\\' => self.str("\\\\"),
                '\n' => self.str("\\n"),
                '\r' => self.str("\\r"),
                '\0' => self.str("\\0"),
                '\x1a' => self.str("\\Z"),
                c => self.out.push(c),
            }
        }
        self.out.push('\'');
    }
}

/// A double with its exponent, so that it is a double when the text is parsed again.
fn float(value: f64) -> String {
    format!("{value:e}")
}
