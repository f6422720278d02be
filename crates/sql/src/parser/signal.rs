//! SIGNAL, RESIGNAL, GET DIAGNOSTICS.
//! Allowed outside programs too; named conditions need a program's DECLARE.

use selkie_types::SqlError;
use selkie_types::error::catalogue::{ER_DUP_SIGNAL_SET, ER_SIGNAL_BAD_CONDITION_TYPE};

use super::{PResult, Parser};
use crate::ast::{
    DiagnosticsTarget, Expr, ExprKind, GetDiagnostics, HandlerCondition, Signal, SignalItem,
    Statement,
};
use crate::lexer::{Kw, T};

fn item(kw: Kw) -> Option<SignalItem> {
    Some(match kw {
        Kw::CLASS_ORIGIN => SignalItem::ClassOrigin,
        Kw::SUBCLASS_ORIGIN => SignalItem::SubclassOrigin,
        Kw::CONSTRAINT_CATALOG => SignalItem::ConstraintCatalog,
        Kw::CONSTRAINT_SCHEMA => SignalItem::ConstraintSchema,
        Kw::CONSTRAINT_NAME => SignalItem::ConstraintName,
        Kw::CATALOG_NAME => SignalItem::CatalogName,
        Kw::SCHEMA_NAME => SignalItem::SchemaName,
        Kw::TABLE_NAME => SignalItem::TableName,
        Kw::COLUMN_NAME => SignalItem::ColumnName,
        Kw::CURSOR_NAME => SignalItem::CursorName,
        Kw::MESSAGE_TEXT => SignalItem::MessageText,
        Kw::MYSQL_ERRNO => SignalItem::MysqlErrno,
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn signal(&mut self) -> PResult<Statement> {
        let again = self.expect_any(&[Kw::SIGNAL, Kw::RESIGNAL])? == Kw::RESIGNAL;
        let state = match self.tok.kind {
            T::Word(Kw::SQLSTATE) => Some(self.sqlstate()?),
            _ if again && !self.at_ident() => None,
            _ => match self.named_condition()? {
                HandlerCondition::State(state) => Some(state),
                HandlerCondition::Declared(_) => Some(*b"45000"),
                _ => return self.fail(&ER_SIGNAL_BAD_CONDITION_TYPE, &[]),
            },
        };
        let mut items: Vec<(SignalItem, Expr)> = Vec::new();
        if self.eat(Kw::SET) {
            loop {
                let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
                let Some(what) = item(kw) else { return Err(self.error()) };
                self.next();
                self.expect(T::Eq)?;
                if items.iter().any(|(other, _)| *other == what) {
                    return self.fail(&ER_DUP_SIGNAL_SET, &[&what.name()]);
                }
                items.push((what, self.simple_value("SELECT")?));
                if !self.eat(T::Comma) {
                    break;
                }
            }
        }
        Ok(Statement::Signal(Box::new(Signal { again, state, items })))
    }

    /// `GET [CURRENT] DIAGNOSTICS ...`.
    pub(super) fn get_diagnostics(&mut self) -> PResult<Statement> {
        self.next();
        self.eat(Kw::CURRENT);
        self.expect(Kw::DIAGNOSTICS)?;
        let what = if self.eat(Kw::CONDITION) {
            let number = self.simple_value("GET DIAGNOSTICS")?;
            let items = self.list(|p| {
                let target = p.diagnostics_target()?;
                Ok((target, p.condition_item()?))
            })?;
            GetDiagnostics::Condition { number, items }
        } else {
            GetDiagnostics::Statement(self.list(|p| {
                let target = p.diagnostics_target()?;
                Ok((target, p.expect_any(&[Kw::NUMBER, Kw::ROW_COUNT])? == Kw::ROW_COUNT))
            })?)
        };
        Ok(Statement::GetDiagnostics(Box::new(what)))
    }

    /// A literal, a variable or a name: these statements take no other values.
    fn simple_value(&mut self, place: &str) -> PResult<Expr> {
        let first = self.tok;
        if self.at(T::LParen) {
            return Err(self.error());
        }
        if self.program.is_none() && self.at_ident() && self.peek() != T::Str {
            // Compat: a name is refused before the text behind it is read.
            let column = self.column_ref()?;
            return Err(SqlError::unknown_column(&column.name, place));
        }
        let value = self.variables_only(Self::primary)?;
        match value.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Param(_)
            | ExprKind::UserVar(_)
            | ExprKind::SystemVar(_) => Ok(value),
            _ => Err(self.error_at(first)),
        }
    }

    fn condition_item(&mut self) -> PResult<SignalItem> {
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        let found = match kw {
            Kw::RETURNED_SQLSTATE => Some(SignalItem::ReturnedSqlstate),
            Kw::ROW_NUMBER => Some(SignalItem::RowNumber),
            _ => item(kw),
        };
        let Some(found) = found else { return Err(self.error()) };
        self.next();
        Ok(found)
    }

    fn diagnostics_target(&mut self) -> PResult<DiagnosticsTarget> {
        self.refuse_system_var()?;
        let target = if self.at(T::UserVar) {
            DiagnosticsTarget::User(self.user_var()?)
        } else {
            DiagnosticsTarget::Local(self.target_local()?.1)
        };
        self.expect(T::Eq)?;
        Ok(target)
    }
}
