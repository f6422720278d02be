//! Literals: token bytes to values.
//! Strings keep the client's bytes where they have no exact form in UTF-8 (see `client_text.rs`).

use selkie_types::error::catalogue::{ER_ILLEGAL_VALUE_FOR_TYPE, ER_INVALID_CHARACTER_STRING};
use selkie_types::temporal::DateOptions;
use selkie_types::{Charset, Date, DateTime, SqlMode, Time};

use super::{PResult, Parser};
use crate::ClientText;
use crate::ast::{ExprKind, Literal, StringLiteral, TemporalKind};
use crate::lexer::{T, Token, unescape, unescape_in};

impl Parser<'_> {
    fn escapes(&self) -> bool {
        !self.mode.contains(SqlMode::NO_BACKSLASH_ESCAPES)
    }

    /// Bytes of a quoted token.
    pub(super) fn bytes_of(&self, token: Token) -> Vec<u8> {
        let raw = self.raw(token);
        let raw = if token.kind == T::NationalStr { &raw[1..] } else { raw };
        let mut bytes = Vec::with_capacity(raw.len());
        unescape(raw, self.escapes(), &mut bytes);
        bytes
    }

    /// Bytes of a quoted token as the client sent them.
    fn client_bytes_of(&self, token: Token) -> Vec<u8> {
        let Some((origin, from)) = self.origin else { return self.bytes_of(token) };
        let raw = original(origin, from, token);
        let raw = if token.kind == T::NationalStr { &raw[1..] } else { raw };
        let mut bytes = Vec::with_capacity(raw.len());
        unescape_in(origin.charset(), raw, self.escapes(), &mut bytes);
        bytes
    }

    /// Text of a quoted token.
    pub(super) fn text_of(&self, token: Token) -> PResult<Box<str>> {
        let bytes = self.bytes_of(token);
        self.utf8(&bytes).map(Into::into)
    }

    /// A plain string that must be valid text: comments, file names, parts of accounts.
    pub(super) fn text(&mut self) -> PResult<Box<str>> {
        if !self.at(T::Str) {
            return Err(self.error());
        }
        let token = self.next();
        self.text_of(token)
    }

    /// The comment of a table, of a column, an index or a partition.
    pub(super) fn comment(&mut self) -> PResult<Box<str>> {
        if !self.at(T::Str) {
            return Err(self.error());
        }
        let token = self.next();
        let bytes = self.bytes_of(token);
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.into()),
            // Compat: the error shows what is before the wrong bytes.
            Err(e) => {
                let before = String::from_utf8_lossy(&bytes[..e.valid_up_to()]);
                self.fail(&ER_INVALID_CHARACTER_STRING, &[&"utf8mb3", &before])
            }
        }
    }

    /// A plain string or a binary literal.
    pub(super) fn string(&mut self) -> PResult<StringLiteral> {
        let token = self.tok;
        let bytes = match token.kind {
            T::Str => self.bytes_of(token),
            T::HexNumber | T::HexString => self.hex_bytes(token),
            T::BitNumber | T::BitString => self.bit_bytes(token),
            _ => return Err(self.error()),
        };
        self.next();
        Ok(StringLiteral::utf8(bytes))
    }

    /// An unsigned integer, decimal or hexadecimal.
    pub(super) fn u64(&mut self) -> PResult<u64> {
        let token = self.tok;
        let value = match token.kind {
            T::Int => parse_u64(self.raw(token)),
            T::HexNumber => {
                u64::from_str_radix(&String::from_utf8_lossy(&self.raw(token)[2..]), 16).ok()
            }
            _ => None,
        };
        let value = value.ok_or_else(|| self.error())?;
        self.next();
        Ok(value)
    }

    /// A length of a type. Compat: a fraction is dropped; a later check refuses a number that is
    /// too large.
    pub(super) fn length(&mut self) -> PResult<u64> {
        if !matches!(self.tok.kind, T::Int | T::Decimal) {
            return Err(self.error());
        }
        let token = self.next();
        let digits = self.raw(token).split(|&b| b == b'.').next().unwrap_or_default();
        Ok(parse_u64(digits).unwrap_or(u64::MAX))
    }

    /// An integer with an optional sign.
    pub(super) fn i64(&mut self) -> PResult<i64> {
        let negative = self.eat(T::Minus);
        if !negative {
            self.eat(T::Plus);
        }
        let token = self.tok;
        let value = i128::from(self.u64()?);
        i64::try_from(if negative { -value } else { value }).map_err(|_| self.error_at(token))
    }

    /// A number literal.
    pub(super) fn number(&mut self) -> PResult<Literal> {
        let token = self.next();
        let raw = self.raw(token);
        if token.kind == T::Int
            && let Some(value) = parse_u64(raw)
        {
            return Ok(Literal::Int(value));
        }
        let text = self.utf8(raw)?;
        if token.kind != T::Float {
            return Ok(Literal::Decimal(text.into()));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                Ok(Literal::Float { value, length: text.len() as u32 })
            }
            _ => self.fail(&ER_ILLEGAL_VALUE_FOR_TYPE, &[&"double", &text]),
        }
    }

    /// A hexadecimal or bit literal.
    pub(super) fn binary_literal(&mut self) -> Literal {
        let token = self.next();
        match token.kind {
            T::HexNumber | T::HexString => {
                let hybrid = token.kind == T::HexNumber;
                Literal::Hex { bytes: self.hex_bytes(token).into(), hybrid }
            }
            _ => Literal::Bit(self.bit_bytes(token).into()),
        }
    }

    /// Bytes of a hexadecimal literal. Compat: `0x1` has a zero in front.
    fn hex_bytes(&self, token: Token) -> Vec<u8> {
        let raw = self.raw(token);
        let digits = if token.kind == T::HexNumber { &raw[2..] } else { &raw[2..raw.len() - 1] };
        let nibble = |b: u8| char::from(b).to_digit(16).unwrap_or(0) as u8;
        let (odd, pairs) = digits.split_at(digits.len() % 2);
        let head = odd.iter().map(|&b| nibble(b));
        head.chain(pairs.chunks(2).map(|p| nibble(p[0]) << 4 | nibble(p[1]))).collect()
    }

    fn bit_bytes(&self, token: Token) -> Vec<u8> {
        let raw = self.raw(token);
        let digits = if token.kind == T::BitNumber { &raw[2..] } else { &raw[2..raw.len() - 1] };
        digits.rchunks(8).rev().map(|c| c.iter().fold(0, |v, b| v << 1 | (b - b'0'))).collect()
    }

    /// A string, an introducer with its literal, or a national string; adjacent strings are joined.
    pub(super) fn string_literal(&mut self) -> PResult<ExprKind> {
        let mut charset: Option<Box<str>> = None;
        if self.at(T::Introducer) {
            let token = self.next();
            charset = Some(self.utf8(&self.raw(token)[1..])?.to_ascii_lowercase().into());
            if !self.at(T::Str) {
                let bytes = self.string()?.bytes;
                let string = StringLiteral { bytes, encoding: Charset::Binary, charset };
                return Ok(ExprKind::Literal(Literal::String(string)));
            }
        }
        if self.at(T::NationalStr) {
            charset = Some("utf8mb3".into());
        }
        let token = self.next();
        // Compat: a national string is converted to utf8mb3; its bytes are not taken as they are.
        let introduced = charset.is_some() && token.kind != T::NationalStr;
        let mut bytes = self.client_bytes_of(token);
        while self.at(T::Str) {
            let token = self.next();
            bytes.extend_from_slice(&self.client_bytes_of(token));
        }
        let mut encoding = Charset::Utf8mb4;
        if let Some((origin, _)) = self.origin
            && !introduced
        {
            match origin.as_utf8(&bytes) {
                Some(utf8) => bytes = utf8,
                None => encoding = origin.charset(),
            }
        }
        if bytes.is_empty() && self.mode.contains(SqlMode::EMPTY_STRING_IS_NULL) {
            return Ok(ExprKind::Literal(Literal::Null));
        }
        let string = StringLiteral { bytes: bytes.into(), encoding, charset };
        Ok(ExprKind::Literal(Literal::String(string)))
    }

    /// The string of `DATE '...'` and the like; the keyword is consumed.
    pub(super) fn temporal(&mut self, kind: TemporalKind) -> PResult<ExprKind> {
        if !self.at(T::Str) {
            return Err(self.error());
        }
        let token = self.next();
        let text = self.bytes_of(token).into();
        Ok(ExprKind::Literal(Literal::Temporal { kind, text }))
    }
}

impl Parser<'_> {
    /// The string of `{d '...'}` and the like; the word is consumed.
    pub(super) fn odbc_temporal(&mut self, kind: TemporalKind) -> PResult<ExprKind> {
        let options = DateOptions::from(self.mode);
        let text = self.bytes_of(self.tok);
        let good = match kind {
            TemporalKind::Date => Date::parse_literal(&text, options).is_some(),
            TemporalKind::Time => Time::parse_literal(&text, options).is_some(),
            TemporalKind::Timestamp => DateTime::parse_literal(&text, options).is_some(),
        };
        if good { self.temporal(kind) } else { self.string_literal() }
    }
}

fn parse_u64(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |v, b| v.checked_mul(10)?.checked_add(u64::from(b - b'0')))
}

/// The client's bytes of a token, in a text that begins at offset `from` of the client's text.
pub(super) fn original(origin: &ClientText, from: usize, token: Token) -> &[u8] {
    origin.original(from + token.start as usize, from + token.end as usize)
}
