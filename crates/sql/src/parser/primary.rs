//! Operands: literals, names, parentheses, subqueries, CASE. Calls are in `call.rs` and
//! `function.rs`.

use selkie_meter::tick;
use selkie_types::error::catalogue::ER_PS_MANY_PARAM;

use super::{PResult, Parser};
use crate::ast::{ColumnRef, Expr, ExprKind, Ident, Literal, MatchMode, TableName, TemporalKind};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// An operand without the operators around it.
    pub(super) fn primary(&mut self) -> PResult<Expr> {
        tick(256);
        let start = self.tok.start;
        let kind = match self.tok.kind {
            T::Int | T::Decimal | T::Float => ExprKind::Literal(self.number()?),
            T::Str | T::NationalStr | T::Introducer => self.string_literal()?,
            T::HexNumber | T::HexString | T::BitNumber | T::BitString => {
                ExprKind::Literal(self.binary_literal())
            }
            T::NullSign => self.literal(Literal::Null),
            T::Param if self.program.is_none() => self.param()?,
            // A program with placeholders is only prepared: it runs as a text with values.
            T::Param => {
                self.param()?;
                ExprKind::Literal(Literal::Null)
            }
            T::Colon if self.is_oracle() => self.after_colon()?,
            T::UserVar => self.user_var_expr()?,
            T::AtAt => self.system_var()?,
            T::LParen => return self.nested(Self::parenthesized_or_row),
            T::LBrace => return self.nested(Self::odbc),
            T::Word(kw) => self.word(kw)?,
            T::Func(kw) => self.nested(|p| p.function_keyword(kw))?,
            T::Quoted => self.column_or_call()?,
            T::Dot => ExprKind::Column(self.column_ref()?),
            _ => return Err(self.error()),
        };
        Ok(Expr { kind, span: self.span_from(start) })
    }

    fn literal(&mut self, literal: Literal) -> ExprKind {
        self.next();
        ExprKind::Literal(literal)
    }

    pub(super) fn param(&mut self) -> PResult<ExprKind> {
        /// The protocol counts parameters in 16 bits.
        const MOST: u32 = 65_535;
        if self.params == MOST {
            return self.fail(&ER_PS_MANY_PARAM, &[]);
        }
        self.next();
        self.params += 1;
        Ok(ExprKind::Param(self.params - 1))
    }

    fn word(&mut self, kw: Kw) -> PResult<ExprKind> {
        match kw {
            Kw::NotKeyword => self.column_or_call(),
            Kw::NULL => Ok(self.literal(Literal::Null)),
            Kw::TRUE => Ok(self.literal(Literal::Bool(true))),
            Kw::FALSE => Ok(self.literal(Literal::Bool(false))),
            Kw::CASE => self.nested(Self::case),
            Kw::EXISTS => {
                self.next();
                Ok(ExprKind::Exists(self.subquery()?.into()))
            }
            Kw::INTERVAL => self.interval_primary(),
            Kw::MATCH => self.nested(Self::match_against),
            Kw::DEFAULT => self.default_value(),
            Kw::DATE if self.peek() == T::Str => self.typed_string(TemporalKind::Date),
            Kw::TIME if self.peek() == T::Str => self.typed_string(TemporalKind::Time),
            Kw::TIMESTAMP if self.peek() == T::Str => self.typed_string(TemporalKind::Timestamp),
            Kw::NEXT if self.peek() == T::Word(Kw::VALUE) => {
                self.expect_all(&[Kw::NEXT, Kw::VALUE, Kw::FOR])?;
                Ok(ExprKind::NextValue(self.table_name()?.into()))
            }
            Kw::PREVIOUS if self.peek() == T::Word(Kw::VALUE) => {
                self.expect_all(&[Kw::PREVIOUS, Kw::VALUE, Kw::FOR])?;
                Ok(ExprKind::PreviousValue(self.table_name()?.into()))
            }
            Kw::SQL if self.is_oracle() && self.peek() == T::Percent => self.sql_state(),
            Kw::VALUES if self.place.values_function => self.nested(Self::values_function),
            _ => self.nested(|p| p.keyword_call(kw)),
        }
    }

    fn typed_string(&mut self, kind: TemporalKind) -> PResult<ExprKind> {
        self.next();
        self.temporal(kind)
    }

    fn default_value(&mut self) -> PResult<ExprKind> {
        self.next();
        if !self.at(T::LParen) {
            return Err(self.error());
        }
        let column = self.parens(Self::declared_column)?;
        Ok(ExprKind::Default(Some(column.into())))
    }

    /// `VALUES(column)`.
    pub(super) fn values_function(&mut self) -> PResult<ExprKind> {
        self.next();
        let column = self.parens(Self::column_ref)?;
        Ok(ExprKind::Values(column.into()))
    }

    /// A column, or a call if a parenthesis follows the name.
    pub(super) fn column_or_call(&mut self) -> PResult<ExprKind> {
        let first = self.ident()?;
        if self.at_cursor_state() {
            return self.cursor_state(&first);
        }
        match self.tok.kind {
            T::LParen => self.nested(|p| p.generic_call(None, first)),
            T::Dot => {
                let column = self.column_ref_after(first)?;
                if let ColumnRef { schema: None, table: Some(table), name } = &column
                    && self.tok.kind != T::LParen
                    && let Some(local) = self.qualified_local(&table.value, name)?
                {
                    return Ok(self.placeholder(local));
                }
                match (self.tok.kind, column) {
                    (T::LParen, ColumnRef { schema: None, table: Some(schema), name }) => {
                        self.nested(|p| p.generic_call(Some(*schema), name))
                    }
                    (T::LParen, ColumnRef { schema: Some(schema), table: Some(package), name }) => {
                        let name = Ident {
                            value: format!("{}.{}", package.value, name.value).into(),
                            ..name
                        };
                        self.nested(|p| p.generic_call(Some(*schema), name))
                    }
                    (_, column) => match self.sequence_value(&column) {
                        Some(value) => Ok(value),
                        None => self.declared(column).map(ExprKind::Column),
                    },
                }
            }
            _ => match self.variable_named(&first.value) {
                Some(placeholder) => Ok(placeholder),
                None => match self.last_condition(&first) {
                    Some(placeholder) => Ok(placeholder),
                    None => self.declared(ColumnRef::bare(first)).map(ExprKind::Column),
                },
            },
        }
    }

    /// `sequence.NEXTVAL` and `sequence.CURRVAL` in the mode of Oracle. Compat: no column of a
    /// table can have these names there.
    fn sequence_value(&self, column: &ColumnRef) -> Option<ExprKind> {
        let table = column.table.as_ref().filter(|_| self.is_oracle())?;
        let sequence =
            TableName { schema: column.schema.as_deref().cloned(), name: (**table).clone() };
        if column.name.is("nextval") {
            return Some(ExprKind::NextValue(sequence.into()));
        }
        column.name.is("currval").then(|| ExprKind::PreviousValue(sequence.into()))
    }

    /// `(query)`, `(expr)` or `(expr, expr, ...)`.
    pub(super) fn parenthesized_or_row(&mut self) -> PResult<Expr> {
        let start = self.tok.start;
        self.expect(T::LParen)?;
        let inner = if self.at_query_start() {
            let query = Box::new(self.query()?);
            Expr { kind: ExprKind::Subquery(query), span: self.span_from(start) }
        } else {
            self.expr_or_set_operation()?
        };
        if !self.at(T::Comma) {
            self.expect(T::RParen)?;
            self.leave_parentheses();
            return Ok(match inner.kind {
                ExprKind::Subquery(_) => Expr { span: self.span_from(start), ..inner },
                _ => inner,
            });
        }
        let mut items = vec![inner];
        while self.eat(T::Comma) {
            items.push(self.expr()?);
        }
        self.expect(T::RParen)?;
        Ok(Expr { kind: ExprKind::Row(items), span: self.span_from(start) })
    }

    /// An expression. A query in parentheses may turn out to be the first part of a longer query.
    pub(super) fn expr_or_set_operation(&mut self) -> PResult<Expr> {
        let opens = self.at(T::LParen);
        let expr = self.expr()?;
        match expr.kind {
            ExprKind::Subquery(query) if opens && self.at_query_continuation() => {
                let query = Box::new(self.query_after(*query)?);
                let span = self.span_from(expr.span.start);
                Ok(Expr { kind: ExprKind::Subquery(query), span })
            }
            kind => Ok(Expr { kind, span: expr.span }),
        }
    }

    /// `{d '2001-01-01'}`, `{t ..}`, `{ts ..}`, `{fn expr}` and any other word.
    ///
    /// Compat: unlike `DATE '..'`, a text that is no date stays a string.
    fn odbc(&mut self) -> PResult<Expr> {
        let start = self.next().start;
        let word = self.ident()?;
        let kind = match self.tok.kind {
            T::Str if word.is("d") => self.odbc_temporal(TemporalKind::Date)?,
            T::Str if word.is("t") => self.odbc_temporal(TemporalKind::Time)?,
            T::Str if word.is("ts") => self.odbc_temporal(TemporalKind::Timestamp)?,
            _ => {
                let expr = self.expr()?;
                self.expect(T::RBrace)?;
                return Ok(expr);
            }
        };
        self.expect(T::RBrace)?;
        Ok(Expr { kind, span: self.span_from(start) })
    }

    fn case(&mut self) -> PResult<ExprKind> {
        self.next();
        let operand = if self.at(Kw::WHEN) { None } else { Some(self.boxed_expr()?) };
        let mut branches = Vec::new();
        loop {
            self.expect(Kw::WHEN)?;
            let when = self.expr()?;
            self.expect(Kw::THEN)?;
            branches.push((when, self.expr()?));
            if !self.at(Kw::WHEN) {
                break;
            }
        }
        let otherwise = self.eat(Kw::ELSE).then(|| self.boxed_expr()).transpose()?;
        self.expect(Kw::END)?;
        Ok(ExprKind::Case { operand, branches, otherwise })
    }

    fn match_against(&mut self) -> PResult<ExprKind> {
        self.next();
        let columns = match self.at(T::LParen) {
            true => self.paren_list(Self::declared_column)?,
            false => self.list(Self::declared_column)?,
        };
        self.expect(Kw::AGAINST)?;
        self.expect(T::LParen)?;
        let query = self.binary(super::expr::prec::BIT_OR)?.into();
        let mut mode = MatchMode::NaturalLanguage;
        if self.eat(Kw::IN) {
            if self.eat(Kw::BOOLEAN) {
                mode = MatchMode::Boolean;
            } else {
                self.expect_all(&[Kw::NATURAL, Kw::LANGUAGE])?;
            }
            self.expect(Kw::MODE)?;
        }
        if mode != MatchMode::Boolean && self.eat(Kw::WITH) {
            self.expect_all(&[Kw::QUERY, Kw::EXPANSION])?;
            mode = MatchMode::QueryExpansion;
        }
        self.expect(T::RParen)?;
        Ok(ExprKind::Match { columns, query, mode })
    }
}
