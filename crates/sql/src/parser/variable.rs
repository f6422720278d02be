//! User variables and system variables in expressions.
//! Names are not looked up here. `@name := value` is an expression too.

use super::{PResult, Parser};
use crate::ast::{ExprKind, SystemVar, VarScope};
use crate::lexer::{Kw, T, Token, unescape};

impl Parser<'_> {
    /// Name of the user variable in a token: `@a`, `@'a b'`.
    pub(super) fn user_var_name(&self, token: Token) -> PResult<Box<str>> {
        let raw = &self.raw(token)[1..];
        match raw.first() {
            Some(b'\'' | b'"' | b'`') => {
                let mut bytes = Vec::new();
                unescape(raw, false, &mut bytes);
                self.utf8(&bytes).map(Into::into)
            }
            Some(_) => self.utf8(raw).map(Into::into),
            None => Err(self.error()),
        }
    }

    /// `@name`, required.
    pub(super) fn user_var(&mut self) -> PResult<Box<str>> {
        if !self.at(T::UserVar) {
            return Err(self.error());
        }
        let token = self.next();
        self.user_var_name(token)
    }

    /// Refuses `@@` where a variable takes a value. Compat: the first sign is read already.
    pub(super) fn refuse_system_var(&self) -> PResult<()> {
        match self.at(T::AtAt) {
            true => Err(self.error_at(Token { start: self.tok.start + 1, ..self.tok })),
            false => Ok(()),
        }
    }

    /// `@name` or `@name := value`.
    pub(super) fn user_var_expr(&mut self) -> PResult<ExprKind> {
        let name = self.user_var()?;
        if !self.eat(T::Assign) {
            return Ok(ExprKind::UserVar(name));
        }
        Ok(ExprKind::AssignUserVar { name, value: self.boxed_expr()? })
    }

    /// `GLOBAL`, `SESSION` or `LOCAL`, if present.
    pub(super) fn var_scope(&mut self) -> Option<VarScope> {
        let word = self.eat_any(&[Kw::GLOBAL, Kw::SESSION, Kw::LOCAL])?;
        Some(if word == Kw::GLOBAL { VarScope::Global } else { VarScope::Session })
    }

    /// `global.` and the like after `@@`. The lexer takes a word before a dot for a plain name.
    pub(super) fn dotted_scope(&mut self) -> Option<VarScope> {
        if !matches!(self.tok.kind, T::Word(_)) || self.peek() != T::Dot {
            return None;
        }
        let word = self.raw(self.tok);
        let scope = match word.len() {
            6 if word.eq_ignore_ascii_case(b"global") => VarScope::Global,
            7 if word.eq_ignore_ascii_case(b"session") => VarScope::Session,
            5 if word.eq_ignore_ascii_case(b"local") => VarScope::Session,
            _ => return None,
        };
        self.next();
        self.next();
        Some(scope)
    }

    /// `@@[scope.][instance.]name`.
    pub(super) fn system_var(&mut self) -> PResult<ExprKind> {
        self.next();
        let scope = self.dotted_scope();
        if scope.is_none() && self.at_any(&[Kw::GLOBAL, Kw::SESSION, Kw::LOCAL]) {
            // Compat: a scope without the dot after it is an error at the word after it.
            self.next();
            return Err(self.error());
        }
        let (instance, name) = self.system_var_name()?;
        Ok(ExprKind::SystemVar(SystemVar { scope, instance, name }.into()))
    }

    /// `[instance.]name`.
    pub(super) fn system_var_name(
        &mut self,
    ) -> PResult<(Option<crate::ast::Ident>, crate::ast::Ident)> {
        let first = if self.at2(T::Str, T::Dot) { self.alias()? } else { self.ident()? };
        if !self.eat(T::Dot) {
            return Ok((None, first));
        }
        Ok((Some(first), self.ident()?))
    }
}
