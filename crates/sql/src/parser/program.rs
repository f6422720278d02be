//! Bodies of stored programs: scopes of variable names, and the dispatch of steps.
//!
//! The name of a variable in scope never means a column, so names are resolved here. This
//! file also checks which statements may stand where, because MariaDB does so when a program is
//! created.

mod check;
mod control;
mod declare;
mod names;
mod scope;

pub(super) use scope::{GroupRows, Kind, Label, Meaning, Scope};

use selkie_types::SqlError;
use selkie_types::error::catalogue::{
    ER_SP_BADRETURN, ER_SP_UNDECLARED_VAR, ER_TRG_CANT_CHANGE_ROW, ER_UNKNOWN_ERROR,
};

use super::{PResult, Parser};
use crate::ast::{
    ColumnRef, Expr, ExprKind, Ident, Local, Operation, Program, Statement, Step, Term,
    VariableType,
};
use crate::lexer::{Kw, T};

/// Words that may be names but not labels.
#[rustfmt::skip]
const NO_LABELS: &[Kw] = &[
    Kw::ASCII, Kw::BACKUP, Kw::BEGIN, Kw::BINLOG, Kw::BYTE, Kw::CACHE, Kw::CHARSET, Kw::CHECKPOINT,
    Kw::CHECKSUM, Kw::CLOSE, Kw::COLUMN_ADD, Kw::COLUMN_CHECK, Kw::COLUMN_CREATE, Kw::COLUMN_DELETE,
    Kw::COLUMN_GET, Kw::COMMENT, Kw::COMMIT, Kw::COMPRESSED, Kw::CONTAINS, Kw::DEALLOCATE, Kw::DO,
    Kw::END, Kw::EXAMINED, Kw::EXCLUDE, Kw::EXECUTE, Kw::FLUSH, Kw::FOLLOWING, Kw::FOLLOWS,
    Kw::FORMAT, Kw::GET, Kw::HANDLER, Kw::HELP, Kw::HOST, Kw::INSTALL, Kw::LANGUAGE, Kw::NO,
    Kw::OPEN, Kw::OPTION, Kw::OPTIONS, Kw::OWNER, Kw::PARSER, Kw::PERIOD, Kw::PORT, Kw::PRECEDES,
    Kw::PRECEDING, Kw::PREPARE, Kw::REMOVE, Kw::REPAIR, Kw::RESET, Kw::RESTORE, Kw::ROLLBACK,
    Kw::SAVEPOINT, Kw::SECURITY, Kw::SERVER, Kw::SHUTDOWN, Kw::SIGNED, Kw::SLAVE, Kw::SLAVES,
    Kw::SOCKET, Kw::SONAME, Kw::START, Kw::STOP, Kw::STORED, Kw::TIES, Kw::TRUNCATE, Kw::UNBOUNDED,
    Kw::UNICODE, Kw::UNINSTALL, Kw::UPGRADE, Kw::WITHIN, Kw::WRAPPER, Kw::XA,
];

impl Parser<'_> {
    /// The body of a program of the given kind.
    pub(super) fn program(
        &mut self,
        scope: Scope,
        inner: impl FnOnce(&mut Self) -> PResult<Vec<Step>>,
    ) -> PResult<(Program, Scope)> {
        let outer = self.program.replace(Box::new(scope));
        let result = inner(self);
        let scope = std::mem::replace(&mut self.program, outer);
        let steps = result?;
        let mut scope = *scope.unwrap_or_default();
        scope.gotos.finish()?;
        let program = Program {
            steps,
            variables: std::mem::take(&mut scope.variables),
            cursors: std::mem::take(&mut scope.cursors),
            operands: scope.operands,
        };
        Ok((program, scope))
    }

    /// `BEGIN NOT ATOMIC ...` and other compound statements outside a routine.
    pub(super) fn compound_statement(&mut self) -> PResult<Statement> {
        let (program, _) = self.program(Scope::new(Kind::Block), |p| Ok(vec![p.nested_step()?]))?;
        Ok(Statement::Compound(Box::new(program)))
    }

    /// The scope of the current program. Must only be called inside a program.
    pub(super) fn scope(&mut self) -> &mut Scope {
        self.program.get_or_insert_with(Box::default)
    }

    /// Steps, each with its semicolon, up to one of the words `ends`.
    fn steps(&mut self, ends: &[Kw]) -> PResult<Vec<Step>> {
        if self.is_oracle() {
            return self.sequence_of_some(ends);
        }
        let mut steps = Vec::new();
        while steps.is_empty() || !self.at_any(ends) {
            steps.push(self.nested_step()?);
            self.expect(T::Semicolon)?;
        }
        Ok(steps)
    }

    /// One step, at a deeper level of nesting.
    pub(super) fn nested_step(&mut self) -> PResult<Step> {
        self.measured(|p| p.nested(Self::step)).map(|(step, _)| step)
    }

    /// One step.
    pub(super) fn step(&mut self) -> PResult<Step> {
        if self.is_oracle() {
            return self.oracle_step(None);
        }
        if self.at_label() && self.peek() == T::Colon {
            return self.labeled();
        }
        let T::Word(kw) = self.tok.kind else { return self.statement_step() };
        match kw {
            Kw::BEGIN => self.block(None),
            Kw::IF => self.if_step(),
            Kw::CASE => self.case_step(),
            Kw::LOOP | Kw::WHILE | Kw::REPEAT | Kw::FOR => self.loop_step(None),
            Kw::LEAVE | Kw::ITERATE => self.jump(),
            Kw::RETURN => self.return_step(),
            Kw::OPEN => self.open_step(),
            Kw::FETCH => self.fetch_step(),
            Kw::CLOSE => {
                self.next();
                self.cursor_name().map(Step::Close)
            }
            _ => self.statement_step(),
        }
    }

    /// Whether a label follows. Compat: many words that may be names must not be labels.
    pub(super) fn at_label(&self) -> bool {
        self.at_ident() && !self.at_any(NO_LABELS)
    }

    pub(super) fn statement_step(&mut self) -> PResult<Step> {
        let start = self.tok;
        let read = self.with_locals(Self::statement);
        // A word that begins no statement could be a label, so what follows it is wrong.
        if read.is_err() && self.tok.start == start.start && self.at_label() {
            self.next();
            return Err(self.error());
        }
        let (statement, locals) = read?;
        self.check_in_program(&statement, start)?;
        let span = self.span_from(start.start);
        Ok(Step::Statement(Box::new(Operation { statement, locals, span })))
    }

    pub(super) fn return_step(&mut self) -> PResult<Step> {
        self.next();
        let term = self.term()?;
        if self.scope().kind != Kind::Function {
            return self.fail(&ER_SP_BADRETURN, &[]);
        }
        self.scope().returns = true;
        Ok(Step::Return(term))
    }

    /// Runs `inner` and returns the placeholders it used.
    pub(super) fn with_locals<R>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> PResult<R>,
    ) -> PResult<(R, Vec<Local>)> {
        let outer = std::mem::take(&mut self.scope().locals);
        let result = inner(self);
        let locals = std::mem::replace(&mut self.scope().locals, outer);
        Ok((result?, locals))
    }

    /// An expression with its placeholders.
    pub(super) fn term(&mut self) -> PResult<Term> {
        let (expr, locals) = self.with_locals(|p| p.variables_only(Self::expr))?;
        Ok(Term { expr, locals })
    }

    /// Reads something in which a name that is no variable of the program is an error. Without a
    /// program it is one too, but only when the statement runs.
    pub(super) fn variables_only<R>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> PResult<R>,
    ) -> PResult<R> {
        let outer = self.set_meaning(Meaning::Variable);
        let result = inner(self);
        self.set_meaning(outer);
        result
    }

    /// Sets the meaning of names that follow; returns the one they had.
    pub(super) fn set_meaning(&mut self, meaning: Meaning) -> Meaning {
        let scope = self.program.as_mut();
        scope.map_or(Meaning::Any, |scope| std::mem::replace(&mut scope.meaning, meaning))
    }

    /// The column itself, unless only variables are allowed here.
    pub(super) fn declared(&self, column: ColumnRef) -> PResult<ColumnRef> {
        if self.program.as_ref().is_none_or(|scope| scope.meaning == Meaning::Any) {
            return Ok(column);
        }
        let first = column.schema.as_deref().or(column.table.as_deref()).unwrap_or(&column.name);
        self.fail(&ER_SP_UNDECLARED_VAR, &[first])
    }

    /// `[[schema.]table.]column` where columns are allowed.
    pub(super) fn declared_column(&mut self) -> PResult<ColumnRef> {
        let column = self.column_ref()?;
        self.declared(column)
    }

    /// The placeholder for `local` in the current expression or statement.
    pub(super) fn placeholder(&mut self, local: Local) -> ExprKind {
        let locals = &mut self.scope().locals;
        let at = locals.iter().position(|l| *l == local).unwrap_or_else(|| {
            locals.push(local);
            locals.len() - 1
        });
        ExprKind::Param(at as u32)
    }

    /// Whether a variable or field is declared with a type of integers.
    pub(super) fn is_integer(&self, local: &Local) -> bool {
        let Some(scope) = &self.program else { return false };
        let ty = match local {
            Local::Variable(slot) | Local::Shared(slot) => match &scope.declared(local, *slot).ty {
                VariableType::Scalar(ty) => ty,
                _ => return false,
            },
            Local::Field(slot, name) => match &scope.variables[*slot].ty {
                VariableType::Row(fields) => match fields.iter().find(|f| f.0.is(&name.value)) {
                    Some((_, ty)) => ty,
                    None => return false,
                },
                _ => return false,
            },
            _ => return false,
        };
        ty.name.is_integer()
    }

    /// The placeholder for a variable of this name, if one is in scope.
    pub(super) fn variable_named(&mut self, name: &str) -> Option<ExprKind> {
        let local = self.local_variable(name)?;
        Some(self.placeholder(local))
    }

    /// Meaning of `first.second`: a field of a variable, or a column of a trigger's row.
    pub(super) fn qualified_local(
        &mut self,
        first: &str,
        second: &Ident,
    ) -> PResult<Option<Local>> {
        let Some(scope) = self.program.as_ref() else { return Ok(None) };
        if scope.known(first).is_some() {
            return scope.field(first, second);
        }
        scope.trigger_row(first, second)
    }

    /// A variable as target of an assignment: `name` or `name.field`.
    pub(super) fn target_local(&mut self) -> PResult<(Ident, Local)> {
        let name = self.ident()?;
        if self.at(T::Dot) && self.program.is_some() {
            self.next();
            let field = self.ident()?;
            return match self.qualified_local(&name.value, &field)? {
                Some(local @ (Local::Field(..) | Local::SharedField(..))) => Ok((name, local)),
                _ => {
                    self.check_no_variable(&name)?;
                    self.fail(&ER_SP_UNDECLARED_VAR, &[&name])
                }
            };
        }
        match self.local_variable(&name.value) {
            Some(local) => Ok((name, local)),
            None => self.fail(&ER_SP_UNDECLARED_VAR, &[&name]),
        }
    }

    /// Refuses a field of a variable that has none.
    pub(super) fn check_no_variable(&self, name: &Ident) -> PResult<()> {
        match self.local_variable(&name.value) {
            Some(_) => {
                let message = format!("'{name}' is not a row variable");
                Err(SqlError::with_message(&ER_UNKNOWN_ERROR, message))
            }
            None => Ok(()),
        }
    }

    /// The variable of this name, if one is in scope.
    pub(super) fn local_variable(&self, name: &str) -> Option<Local> {
        Some(self.program.as_ref()?.known(name)?.0)
    }

    /// Refuses an assignment to OLD in a trigger, even in one that has no such row.
    pub(super) fn check_old_row(&self, row: &str) -> PResult<()> {
        let is_trigger = |scope: &Scope| matches!(scope.kind, Kind::Trigger(..));
        match self.program.as_deref().is_some_and(is_trigger) && row.eq_ignore_ascii_case("old") {
            true => self.fail(&ER_TRG_CANT_CHANGE_ROW, &[&"OLD", &""]),
            false => Ok(()),
        }
    }

    /// Refuses an assignment to a row that the trigger must not change.
    pub(super) fn check_row_target(&self, target: &Local) -> PResult<()> {
        let Some(scope) = &self.program else { return Ok(()) };
        match (target, scope.kind) {
            (Local::Old(_), _) => self.fail(&ER_TRG_CANT_CHANGE_ROW, &[&"OLD", &""]),
            (Local::New(_), Kind::Trigger(crate::ast::TriggerTiming::After, _)) => {
                self.fail(&ER_TRG_CANT_CHANGE_ROW, &[&"NEW", &"after "])
            }
            _ => Ok(()),
        }
    }

    /// Compares the CASE operand number `operand` with the next expression.
    fn operand_is(&mut self, operand: usize) -> PResult<Term> {
        let (expr, locals) = self.with_locals(|p| {
            let start = p.tok.start;
            let kind = p.placeholder(Local::Operand(operand));
            let left = Expr { kind, span: crate::ast::Span::new(start, start) };
            let right = p.variables_only(Self::expr)?;
            let (left, right) = (Box::new(left), Box::new(right));
            let kind = ExprKind::Binary { op: crate::ast::BinaryOp::Eq, left, right };
            Ok(Expr { kind, span: p.span_from(start) })
        })?;
        Ok(Term { expr, locals })
    }
}
