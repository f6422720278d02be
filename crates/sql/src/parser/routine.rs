//! CREATE and ALTER of procedures, functions and triggers.
//! Bodies are in `program.rs`. Keeps spans of the texts that SHOW CREATE prints.

use selkie_types::error::catalogue::{
    ER_INVALID_AGGREGATE_FUNCTION, ER_SP_DUP_PARAM, ER_WRONG_USAGE,
};

use super::program::{GroupRows, Kind, Scope};
use super::{PResult, Parser};
use crate::ast::{
    AccountName, AlterRoutine, CreateRoutine, CreateTrigger, DataAccess, Parameter, ParameterMode,
    RoutineKind, RoutineOptions, Span, SqlSecurity, Statement, TriggerEvent, TriggerTiming,
};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `[AGGREGATE] FUNCTION ...` or `PROCEDURE ...`; the words before are consumed.
    pub(super) fn create_routine(
        &mut self,
        or_replace: bool,
        definer: Option<AccountName>,
    ) -> PResult<Statement> {
        let aggregate = self.eat(Kw::AGGREGATE);
        let kinds = if aggregate { &[Kw::FUNCTION][..] } else { &[Kw::PROCEDURE, Kw::FUNCTION] };
        let kind = match self.expect_any(kinds)? {
            Kw::FUNCTION => RoutineKind::Function,
            _ => RoutineKind::Procedure,
        };
        let if_not_exists = self.if_not_exists()?;
        self.check_or_replace(or_replace, if_not_exists)?;
        let name = self.program_name()?;
        if kind == RoutineKind::Function && self.at(Kw::RETURNS) {
            // A loadable function: RETURNS type SONAME 'library'.
            return self.unsupported_rest("CREATE FUNCTION ... SONAME");
        }
        let mut scope = Scope::new(match kind {
            RoutineKind::Function => Kind::Function,
            _ => Kind::Procedure,
        });
        if aggregate {
            scope.group_rows = GroupRows::Waiting;
        }
        let (parameters, parameters_span) = match self.is_oracle() {
            true => self.oracle_parameters(&mut scope)?,
            false => self.parameters(&mut scope)?,
        };
        let returns = match kind {
            RoutineKind::Function => Some(self.returned_type()?),
            _ => None,
        };
        let options = self.routine_options()?;
        let start = self.tok.start;
        let mut end_name = None;
        let (body, scope) = match self.is_oracle() {
            true => self.program(scope, |p| {
                p.expect_any(&[Kw::AS, Kw::IS])?;
                let block = p.body_block()?;
                end_name = p.end_name()?;
                Ok(vec![block])
            })?,
            false => self.program(scope, |p| Ok(vec![p.nested_step()?]))?,
        };
        let body_span = self.span_from(start);
        scope.check_sub_statement()?;
        if scope.group_rows == GroupRows::Waiting {
            return self.fail(&ER_INVALID_AGGREGATE_FUNCTION, &[]);
        }
        Ok(Statement::CreateRoutine(Box::new(CreateRoutine {
            or_replace,
            if_not_exists,
            aggregate,
            definer,
            kind,
            name,
            parameters,
            parameters_span,
            returns,
            options,
            body,
            body_span,
            has_return: scope.returns,
            end_name,
        })))
    }

    /// The type of a function's result, with its text.
    pub(super) fn returned_type(&mut self) -> PResult<(crate::ast::DataType, Span)> {
        let oracle = self.is_oracle();
        self.expect(if oracle { Kw::RETURN } else { Kw::RETURNS })?;
        let start = self.tok.start;
        let ty = if oracle { self.result_type()? } else { self.collated_type()? };
        Ok((ty, self.span_from(start)))
    }

    pub(super) fn check_or_replace(&self, or_replace: bool, if_not_exists: bool) -> PResult<()> {
        match or_replace && if_not_exists {
            true => self.fail(&ER_WRONG_USAGE, &[&"OR REPLACE", &"IF NOT EXISTS"]),
            false => Ok(()),
        }
    }

    fn parameters(&mut self, scope: &mut Scope) -> PResult<(Vec<Parameter>, Span)> {
        let start = self.tok.end;
        self.expect(T::LParen)?;
        let mut parameters = Vec::new();
        if !self.at(T::RParen) {
            parameters = self.list(|p| {
                let mode = match p.eat_any(&[Kw::IN, Kw::OUT, Kw::INOUT]) {
                    Some(Kw::OUT) => ParameterMode::Out,
                    Some(Kw::INOUT) => ParameterMode::InOut,
                    _ => ParameterMode::In,
                };
                let name = p.new_ident()?;
                if scope.has_own_variable(&name.value) {
                    return p.fail(&ER_SP_DUP_PARAM, &[&name]);
                }
                let ty = p.variable_type()?;
                scope.declare(name.clone(), ty);
                Ok(Parameter { mode, name })
            })?;
        }
        let span = Span::new(start, self.tok.start.max(start));
        self.expect(T::RParen)?;
        Ok((parameters, span))
    }

    pub(super) fn routine_options(&mut self) -> PResult<RoutineOptions> {
        let mut options = RoutineOptions::default();
        loop {
            let T::Word(kw) = self.tok.kind else { return Ok(options) };
            match kw {
                Kw::COMMENT => {
                    self.next();
                    options.comment = Some(self.text()?);
                }
                Kw::LANGUAGE => self.expect_all(&[Kw::LANGUAGE, Kw::SQL])?,
                Kw::DETERMINISTIC => {
                    self.next();
                    options.deterministic = Some(true);
                }
                Kw::NOT => {
                    self.expect_all(&[Kw::NOT, Kw::DETERMINISTIC])?;
                    options.deterministic = Some(false);
                }
                Kw::CONTAINS => {
                    self.expect_all(&[Kw::CONTAINS, Kw::SQL])?;
                    options.data_access = Some(DataAccess::ContainsSql);
                }
                Kw::NO => {
                    self.expect_all(&[Kw::NO, Kw::SQL])?;
                    options.data_access = Some(DataAccess::NoSql);
                }
                Kw::READS => {
                    self.expect_all(&[Kw::READS, Kw::SQL, Kw::DATA])?;
                    options.data_access = Some(DataAccess::ReadsSqlData);
                }
                Kw::MODIFIES => {
                    self.expect_all(&[Kw::MODIFIES, Kw::SQL, Kw::DATA])?;
                    options.data_access = Some(DataAccess::ModifiesSqlData);
                }
                Kw::SQL => {
                    self.expect_all(&[Kw::SQL, Kw::SECURITY])?;
                    options.security =
                        Some(match self.expect_any(&[Kw::DEFINER, Kw::INVOKER])? {
                            Kw::DEFINER => SqlSecurity::Definer,
                            _ => SqlSecurity::Invoker,
                        });
                }
                _ => return Ok(options),
            }
        }
    }

    /// `ALTER PROCEDURE
    /// FUNCTION`; ALTER is consumed.
    pub(super) fn alter_routine(&mut self) -> PResult<Statement> {
        let kind = match self.expect_any(&[Kw::PROCEDURE, Kw::FUNCTION])? {
            Kw::FUNCTION => RoutineKind::Function,
            _ => RoutineKind::Procedure,
        };
        let name = self.program_name()?;
        if self.at_any(&[Kw::NOT, Kw::DETERMINISTIC]) {
            return Err(self.error());
        }
        let options = self.routine_options()?;
        Ok(Statement::AlterRoutine(Box::new(AlterRoutine { kind, name, options })))
    }

    /// `TRIGGER ...`; `start` is the offset of CREATE.
    pub(super) fn create_trigger(
        &mut self,
        or_replace: bool,
        definer: Option<AccountName>,
    ) -> PResult<Statement> {
        let start = self.tok.start;
        self.expect(Kw::TRIGGER)?;
        let if_not_exists = self.if_not_exists()?;
        self.check_or_replace(or_replace, if_not_exists)?;
        let name = self.program_name()?;
        let timing = match self.expect_any(&[Kw::BEFORE, Kw::AFTER])? {
            Kw::BEFORE => TriggerTiming::Before,
            _ => TriggerTiming::After,
        };
        let event = match self.expect_any(&[Kw::INSERT, Kw::UPDATE, Kw::DELETE])? {
            Kw::INSERT => TriggerEvent::Insert,
            Kw::UPDATE => TriggerEvent::Update,
            _ => TriggerEvent::Delete,
        };
        let on = self.tok.start;
        self.expect(Kw::ON)?;
        let table = self.table_name()?;
        let on_span = Span::new(on, self.tok.start);
        self.expect_all(&[Kw::FOR, Kw::EACH, Kw::ROW])?;
        let head_span = self.span_from(start);
        let mut order = None;
        if let Some(word) = self.eat_any(&[Kw::FOLLOWS, Kw::PRECEDES]) {
            order = Some((word == Kw::PRECEDES, self.ident()?));
        }
        let start = self.tok.start;
        let gap_span = Span::new(self.prev_end, start);
        let scope = Scope::new(Kind::Trigger(timing, event));
        let (body, scope) = self.program(scope, |p| Ok(vec![p.nested_step()?]))?;
        let body_span = self.span_from(start);
        scope.check_sub_statement()?;
        Ok(Statement::CreateTrigger(Box::new(CreateTrigger {
            or_replace,
            if_not_exists,
            definer,
            name,
            timing,
            event,
            table,
            order,
            body,
            body_span,
            head_span,
            on_span,
            gap_span,
        })))
    }
}
