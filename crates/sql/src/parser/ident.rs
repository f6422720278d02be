//! Names of all kinds, and texts that may be written as names.
//! Checks length and characters of new names; whether a name exists is not known here.

use selkie_types::error::catalogue::{
    ER_INVALID_CHARACTER_STRING, ER_TOO_LONG_IDENT, ER_WRONG_DB_NAME, ER_WRONG_TABLE_NAME,
};

use super::literal::original;
use super::{PResult, Parser};
use crate::ast::{ColumnRef, Ident, Span, TableName};
use crate::lexer::{Kw, T, Token, unescape};

/// Longest name in characters; aliases may be longer.
const MAX_NAME: usize = 64;

impl Parser<'_> {
    /// Whether the next token can be a name.
    pub(super) fn at_ident(&self) -> bool {
        match self.tok.kind {
            // Compat: the mode of Oracle reserves this word.
            T::Word(Kw::ROWNUM) => !self.is_oracle(),
            T::Word(kw) => !kw.is_reserved(),
            T::Quoted => true,
            // Compat: these function keywords are names even before a parenthesis.
            T::Func(Kw::ADDDATE | Kw::SUBDATE | Kw::SESSION_USER | Kw::SYSTEM_USER) => true,
            _ => false,
        }
    }

    /// A name.
    pub(super) fn ident(&mut self) -> PResult<Ident> {
        if !self.at_ident() {
            return Err(self.error());
        }
        let token = self.next();
        self.ident_from(token)
    }

    pub(super) fn ident_opt(&mut self) -> PResult<Option<Ident>> {
        if self.at_ident() { self.ident().map(Some) } else { Ok(None) }
    }

    /// A name of an object that is being defined.
    pub(super) fn new_ident(&mut self) -> PResult<Ident> {
        let ident = self.ident()?;
        if ident.value.len() > MAX_NAME && ident.value.chars().count() > MAX_NAME {
            return self.fail(&ER_TOO_LONG_IDENT, &[&ident]);
        }
        Ok(ident)
    }

    /// The name in a consumed token.
    pub(super) fn ident_from(&self, token: Token) -> PResult<Ident> {
        let raw = self.raw(token);
        self.check_known(token)?;
        let quoted = token.kind == T::Quoted;
        let value = match quoted {
            false => self.utf8(raw)?.into(),
            true => {
                let mut bytes = Vec::with_capacity(raw.len());
                unescape(raw, false, &mut bytes);
                self.utf8(&bytes)?.into()
            }
        };
        Ok(Ident { value, quoted, span: Span::new(token.start, token.end) })
    }

    /// Refuses a name with bytes that are no characters of the client's character set.
    fn check_known(&self, token: Token) -> PResult<()> {
        let Some((origin, from)) = self.origin else { return Ok(()) };
        match origin.unknown(original(origin, from, token)) {
            None => Ok(()),
            Some(bad) => {
                let shown = bad.iter().take(6).map(|b| format!("\\x{b:02X}")).collect::<String>();
                self.fail(&ER_INVALID_CHARACTER_STRING, &[&origin.charset().name(), &shown])
            }
        }
    }

    /// The bytes as text; an error if they are not UTF-8.
    pub(super) fn utf8<'b>(&self, bytes: &'b [u8]) -> PResult<&'b str> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(e) => {
                let bad = &bytes[e.valid_up_to()..];
                let shown = bad.iter().take(6).map(|b| format!("\\x{b:02X}")).collect::<String>();
                self.fail(&ER_INVALID_CHARACTER_STRING, &[&"utf8mb3", &shown])
            }
        }
    }

    /// `[schema.]name`, also `.name`.
    pub(super) fn table_name(&mut self) -> PResult<TableName> {
        if self.eat(T::Dot) {
            return Ok(TableName { schema: None, name: self.ident()? });
        }
        let first = self.ident()?;
        if !self.eat(T::Dot) {
            return Ok(TableName { schema: None, name: first });
        }
        Ok(TableName { schema: Some(first), name: self.ident()? })
    }

    /// Name of a table that is being defined.
    pub(super) fn new_table_name(&mut self) -> PResult<TableName> {
        let name = self.table_name()?;
        let is_long =
            |part: &Ident| part.value.len() > MAX_NAME && part.value.chars().count() > MAX_NAME;
        match &name.schema {
            Some(schema) if is_long(schema) => self.fail(&ER_WRONG_DB_NAME, &[schema]),
            _ if is_long(&name.name) => self.fail(&ER_WRONG_TABLE_NAME, &[&name.name]),
            _ => Ok(name),
        }
    }

    /// Name of a routine or trigger. Compat: the error for a long name differs from that for a
    /// table.
    pub(super) fn program_name(&mut self) -> PResult<TableName> {
        let name = self.table_name()?;
        for part in name.schema.iter().chain([&name.name]) {
            if part.value.len() > MAX_NAME && part.value.chars().count() > MAX_NAME {
                return self.fail(&ER_TOO_LONG_IDENT, &[part]);
            }
        }
        Ok(name)
    }

    /// `[[schema.]table.]column`, also `.table.column`.
    pub(super) fn column_ref(&mut self) -> PResult<ColumnRef> {
        if self.eat(T::Dot) {
            let table = self.ident()?;
            self.expect(T::Dot)?;
            return Ok(ColumnRef { schema: None, table: Some(table.into()), name: self.ident()? });
        }
        let first = self.ident()?;
        self.column_ref_after(first)
    }

    /// The rest of a column reference whose first name is read.
    pub(super) fn column_ref_after(&mut self, first: Ident) -> PResult<ColumnRef> {
        if !self.eat(T::Dot) {
            return Ok(ColumnRef::bare(first));
        }
        let second = self.ident()?;
        if !self.eat(T::Dot) {
            return Ok(ColumnRef { schema: None, table: Some(first.into()), name: second });
        }
        let name = self.ident()?;
        Ok(ColumnRef { schema: Some(first.into()), table: Some(second.into()), name })
    }

    /// `(a, b, c)`.
    pub(super) fn ident_list(&mut self) -> PResult<Vec<Ident>> {
        self.paren_list(Self::ident)
    }

    /// A list of names in parentheses, if present.
    pub(super) fn ident_list_opt(&mut self) -> PResult<Vec<Ident>> {
        if self.at(T::LParen) { self.ident_list() } else { Ok(Vec::new()) }
    }

    /// An alias: a name or a string.
    pub(super) fn alias(&mut self) -> PResult<Ident> {
        if !self.at(T::Str) {
            return self.ident();
        }
        let token = self.next();
        let value = self.text_of(token)?;
        Ok(Ident { value, quoted: true, span: Span::new(token.start, token.end) })
    }

    /// A name or a string, as text.
    pub(super) fn ident_or_text(&mut self) -> PResult<Box<str>> {
        self.alias().map(|i| i.value)
    }

    /// Name of a character set or collation: a name, a string, `BINARY`; lower case.
    pub(super) fn charset_name(&mut self) -> PResult<Box<str>> {
        if self.eat(Kw::BINARY) {
            return Ok("binary".into());
        }
        Ok(self.ident_or_text()?.to_ascii_lowercase().into())
    }

    /// Name of a collation, or DEFAULT.
    pub(super) fn collation_name(&mut self) -> PResult<Box<str>> {
        if self.eat(Kw::DEFAULT) { Ok("default".into()) } else { self.charset_name() }
    }

    /// A charset name, or `None` for DEFAULT.
    pub(super) fn charset_or_default(&mut self) -> PResult<Option<Box<str>>> {
        if self.eat(Kw::DEFAULT) { Ok(None) } else { self.charset_name().map(Some) }
    }

    /// `CHARACTER SET`, `CHAR SET` or `CHARSET`, if present.
    pub(super) fn eat_charset(&mut self) -> bool {
        self.eat(Kw::CHARSET) || self.eat2(Kw::CHARACTER, Kw::SET) || self.eat2(Kw::CHAR, Kw::SET)
    }
}
