//! Literals as written: decimals keep their text, strings their bytes.
//! They have no SQL type yet: it may depend on the session and on the expression around.

use std::fmt;

use selkie_types::Charset;

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `NULL`, `\N`.
    Null,
    /// `TRUE`, `FALSE`.
    Bool(bool),
    /// An integer of up to 64 bits.
    Int(u64),
    /// Digits with a point, or an integer of more than 64 bits: the text.
    Decimal(Box<str>),
    /// A number with an exponent.
    Float {
        /// The number.
        value: f64,
        /// Length of its text, which is the display width of the literal.
        length: u32,
    },
    /// A character string.
    String(StringLiteral),
    /// `0x41` or `x'41'`.
    Hex {
        /// The bytes that the digits describe.
        bytes: Box<[u8]>,
        /// Whether it was written `0x41`; such a literal is a number in a numeric context.
        hybrid: bool,
    },
    /// `b'01'`, `0b01`: a big-endian bit string.
    Bit(Box<[u8]>),
    /// `DATE '...'`, `TIME '...'`, `TIMESTAMP '...'`.
    Temporal {
        /// The type.
        kind: TemporalKind,
        /// The text between the quotes.
        text: Box<[u8]>,
    },
}

/// A character string literal: adjacent literals are joined, escapes are resolved.
#[derive(Clone, PartialEq, Eq)]
pub struct StringLiteral {
    /// The bytes, in `encoding` or in the introducer's character set.
    pub bytes: Box<[u8]>,
    /// Character set of the bytes without an introducer: UTF-8, or the client's if the string
    /// cannot be converted to UTF-8 and back. With an introducer: binary if the bytes were written
    /// as digits.
    pub encoding: Charset,
    /// The character set of the introducer (`_latin1'x'`), lower case; `utf8mb3` for `N'x'`.
    pub charset: Option<Box<str>>,
}

impl StringLiteral {
    /// A string in UTF-8.
    pub fn utf8(bytes: impl Into<Box<[u8]>>) -> Self {
        Self { bytes: bytes.into(), encoding: Charset::Utf8mb4, charset: None }
    }

    /// Whether the bytes were written as digits after an introducer: `_latin1 x'e9'`.
    pub fn is_digits(&self) -> bool {
        self.charset.is_some() && self.encoding == Charset::Binary
    }
}

impl fmt::Debug for StringLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(charset) = &self.charset {
            write!(f, "_{charset}")?;
        }
        write!(f, "'{}'", self.bytes.escape_ascii())
    }
}

/// Type of a temporal literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporalKind {
    /// `DATE`.
    Date,
    /// `TIME`.
    Time,
    /// `TIMESTAMP`: a DATETIME value.
    Timestamp,
}
