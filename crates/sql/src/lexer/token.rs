//! Tokens, which the lexer hands to the parser: kinds and offsets.
//! Must hold no text and must not allocate: tokens are copied freely.

use super::Kw;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum T {
    /// End of the text.
    Eof,
    /// A text that is no token; the parser refuses it everywhere.
    Bad,
    /// An unquoted word, except a function keyword with its parenthesis.
    Word(Kw),
    /// A function keyword that is followed by its parenthesis.
    Func(Kw),
    /// A quoted identifier.
    Quoted,
    /// Digits only.
    Int,
    /// Digits with a point.
    Decimal,
    /// Digits with an exponent.
    Float,
    /// `0x41`.
    HexNumber,
    /// `x'41'`.
    HexString,
    /// `0b01`.
    BitNumber,
    /// `b'01'`.
    BitString,
    /// `'text'`, or `"text"` outside of `ANSI_QUOTES`.
    Str,
    /// `N'text'`.
    NationalStr,
    /// `_charset`.
    Introducer,
    /// `@name`, quotes included.
    UserVar,
    /// `\N`.
    NullSign,
    /// `@@`.
    AtAt,
    /// `?`.
    Param,
    LParen,
    RParen,
    Comma,
    Semicolon,
    Dot,
    /// `..`, between the bounds of a FOR loop.
    DotDot,
    Colon,
    LBrace,
    RBrace,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Tilde,
    Bang,
    Amp,
    Pipe,
    /// `&&`.
    AndAnd,
    /// `||`.
    PipePipe,
    Eq,
    /// `<=>`.
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    ShiftLeft,
    ShiftRight,
    /// `:=`.
    Assign,
}

impl From<Kw> for T {
    fn from(kw: Kw) -> Self {
        T::Word(kw)
    }
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: T,
    pub(crate) start: u32,
    pub(crate) end: u32,
}
