//! SET in all its forms.
//! A name is a program variable if one is in scope, else a system variable; values of system
//! variables may be bare words.

use selkie_types::error::catalogue::ER_UNKNOWN_STRUCTURED_VARIABLE;

use super::{PResult, Parser};
use crate::ast::{
    AccountName, Expr, ExprKind, IsolationLevel, Literal, Local, PasswordValue, SetItem, Statement,
    StringLiteral, VarScope,
};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn set_statement(&mut self) -> PResult<Statement> {
        self.next();
        if self.at(Kw::STATEMENT) && !matches!(self.peek(), T::Eq | T::Assign) {
            self.next();
            let items = self.list(|p| p.assigned_variable(None))?;
            self.expect(Kw::FOR)?;
            let statement = Box::new(self.measured(|p| p.nested(Self::statement))?.0);
            return Ok(Statement::SetStatement { items, statement });
        }
        if let Some(item) = self.lone_item()? {
            return Ok(Statement::Set(vec![item]));
        }
        let mut scope = None;
        Ok(Statement::Set(self.list(|p| p.set_item(&mut scope))?))
    }

    /// Forms of SET that must stand alone.
    fn lone_item(&mut self) -> PResult<Option<SetItem>> {
        let scoped = self.at_any(&[Kw::GLOBAL, Kw::SESSION, Kw::LOCAL])
            && self.peek() == T::Word(Kw::TRANSACTION);
        if scoped || self.at(Kw::TRANSACTION) && !matches!(self.peek(), T::Eq | T::Assign) {
            let scope = self.var_scope();
            self.next();
            return self.transaction_characteristics(scope).map(Some);
        }
        if self.at(Kw::ROLE) && !matches!(self.peek(), T::Eq | T::Assign) {
            self.next();
            return Ok(Some(SetItem::Role(self.role_or_none()?)));
        }
        if self.at2(Kw::DEFAULT, Kw::ROLE) {
            self.next();
            self.next();
            let role = match self.at(Kw::CURRENT_ROLE) {
                true => Some(self.account()?),
                false => self.role_or_none()?.map(|user| AccountName::Named { user, host: None }),
            };
            let account = self.eat(Kw::FOR).then(|| self.account()).transpose()?;
            return Ok(Some(SetItem::DefaultRole { role, account }));
        }
        Ok(None)
    }

    fn role_or_none(&mut self) -> PResult<Option<Box<str>>> {
        if self.eat(Kw::NONE) { Ok(None) } else { self.ident_or_text().map(Some) }
    }

    fn transaction_characteristics(&mut self, scope: Option<VarScope>) -> PResult<SetItem> {
        let (mut isolation, mut read_only) = (None, None);
        loop {
            if isolation.is_none() && self.eat(Kw::ISOLATION) {
                self.expect(Kw::LEVEL)?;
                isolation = Some(self.isolation_level()?);
            } else if read_only.is_none() && self.eat(Kw::READ) {
                read_only = Some(self.expect_any(&[Kw::ONLY, Kw::WRITE])? == Kw::ONLY);
            } else {
                return Err(self.error());
            }
            if !self.eat(T::Comma) {
                return Ok(SetItem::Transaction { scope, isolation, read_only });
            }
        }
    }

    fn isolation_level(&mut self) -> PResult<IsolationLevel> {
        Ok(match self.expect_any(&[Kw::READ, Kw::REPEATABLE, Kw::SERIALIZABLE])? {
            Kw::SERIALIZABLE => IsolationLevel::Serializable,
            Kw::REPEATABLE => self.expect(Kw::READ).map(|()| IsolationLevel::RepeatableRead)?,
            _ => match self.expect_any(&[Kw::UNCOMMITTED, Kw::COMMITTED])? {
                Kw::UNCOMMITTED => IsolationLevel::ReadUncommitted,
                _ => IsolationLevel::ReadCommitted,
            },
        })
    }

    /// One assignment. `said` is the last GLOBAL or SESSION before it, which holds for all plain
    /// names behind it.
    fn set_item(&mut self, said: &mut Option<VarScope>) -> PResult<SetItem> {
        match self.tok.kind {
            T::UserVar => {
                let name = self.user_var()?;
                self.assign_sign()?;
                return Ok(SetItem::UserVar { name, value: self.expr()? });
            }
            T::AtAt => {
                self.next();
                let scope = self.dotted_scope();
                return self.assigned_variable(scope);
            }
            _ => {}
        }
        if let Some(scope) = self.var_scope() {
            *said = Some(scope);
            return self.assigned_variable(*said);
        }
        if let Some(item) = self.local_item()? {
            return Ok(item);
        }
        if self.at(Kw::NAMES) {
            return self.set_names();
        }
        if self.at(Kw::PASSWORD) {
            return self.set_password();
        }
        if !matches!(self.peek(), T::Eq | T::Assign | T::Dot) && self.eat_charset() {
            return Ok(SetItem::CharacterSet(self.charset_or_default()?));
        }
        self.assigned_variable(*said)
    }

    /// An assignment to a variable of the enclosing program.
    pub(super) fn local_item(&mut self) -> PResult<Option<SetItem>> {
        if self.is_oracle() && self.program.is_some() && self.at(T::Colon) {
            self.trigger_row_sign()?;
        }
        if self.program.is_none() || !self.at_ident() {
            return Ok(None);
        }
        let name = self.ident_from(self.tok)?;
        let target = match self.peek() {
            T::Dot => {
                let mut lexer = self.look_further();
                let token = lexer.next();
                if !matches!(token.kind, T::Word(_) | T::Quoted) {
                    return Ok(None);
                }
                let field = self.ident_from(token)?;
                self.check_old_row(&name.value)?;
                let Some(target) = self.qualified_local(&name.value, &field)? else {
                    self.check_no_variable(&name)?;
                    return Ok(None);
                };
                self.check_row_target(&target)?;
                self.next();
                self.next();
                target
            }
            T::Eq | T::Assign => match self.local_variable(&name.value) {
                Some(target) => target,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.next();
        self.assign_sign()?;
        if self.at(Kw::DEFAULT) && self.peek() != T::LParen {
            self.next();
            return Ok(Some(SetItem::Local { target, value: None }));
        }
        let value = match target {
            // A column of the trigger's row is assigned what may be a column.
            Local::New(_) => self.expr()?,
            _ => self.variables_only(Self::expr)?,
        };
        Ok(Some(SetItem::Local { target, value: Some(value) }))
    }

    fn assign_sign(&mut self) -> PResult<()> {
        if self.eat(T::Eq) { Ok(()) } else { self.expect(T::Assign) }
    }

    fn set_names(&mut self) -> PResult<SetItem> {
        self.next();
        let charset = self.charset_or_default()?;
        let collation = if self.eat(Kw::COLLATE) { self.charset_or_default()? } else { None };
        Ok(SetItem::Names { charset, collation })
    }

    fn set_password(&mut self) -> PResult<SetItem> {
        self.next();
        let account = self.eat(Kw::FOR).then(|| self.account()).transpose()?;
        self.assign_sign()?;
        let function = self.eat_any(&[Kw::PASSWORD, Kw::OLD_PASSWORD]);
        let password = match function {
            None => PasswordValue::Hash(self.string()?),
            Some(word) => {
                let text = self.parens(Self::string)?;
                if word == Kw::PASSWORD {
                    PasswordValue::Plain(text)
                } else {
                    PasswordValue::Old(text)
                }
            }
        };
        Ok(SetItem::Password { account, password })
    }

    /// `[instance.]name = value`.
    pub(super) fn assigned_variable(&mut self, scope: Option<VarScope>) -> PResult<SetItem> {
        let (instance, name) = if self.eat2(Kw::DEFAULT, T::Dot) {
            (Some(crate::ast::Ident::new("default")), self.ident()?)
        } else {
            self.system_var_name()?
        };
        self.assign_sign()?;
        let value = self.set_value()?;
        // Compat: the structures there are are those of key caches.
        if let Some(first) = &instance
            && self.program.is_some()
            && self.is_oracle()
            && !name.value.to_ascii_lowercase().starts_with("key_")
        {
            return self.fail(&ER_UNKNOWN_STRUCTURED_VARIABLE, &[first]);
        }
        Ok(SetItem::SystemVar { scope, instance, name, value })
    }

    /// A value of SET: an expression, a bare word that is no expression, or `None` for DEFAULT.
    fn set_value(&mut self) -> PResult<Option<Expr>> {
        let T::Word(kw) = self.tok.kind else { return self.expr().map(Some) };
        if kw == Kw::DEFAULT && self.peek() != T::LParen {
            self.next();
            return Ok(None);
        }
        let ends = |t: T| matches!(t, T::Eof | T::Comma | T::Semicolon | T::Word(Kw::FOR));
        let word = matches!(kw, Kw::ON | Kw::ALL | Kw::BINARY | Kw::ROW | Kw::SYSTEM);
        if !word || !ends(self.peek()) {
            return self.expr().map(Some);
        }
        let start = self.next().start;
        let bytes = kw.text().as_bytes();
        let literal = Literal::String(StringLiteral::utf8(bytes));
        Ok(Some(Expr { kind: ExprKind::Literal(literal), span: self.span_from(start) }))
    }
}
