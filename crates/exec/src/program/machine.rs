//! Walks the steps of a program.
//!
//! Invariant: a step that fails has looked for a handler already; its error only passes through
//! the blocks around it.

use selkie_expr::{EvalContext, Expr, ExprKind};
use selkie_sql::ast::{
    Block, Kill, KillTarget, Literal, Local, Loop, LoopKind, Operation, SetItem, Span, Statement,
    Step, Term, VariableType,
};
use selkie_types::error::catalogue::{
    ER_BAD_NULL_ERROR, ER_DATA_OUT_OF_RANGE, ER_SP_CASE_NOT_FOUND, ER_SP_STACK_TRACE,
    ER_STATEMENT_TIMEOUT, ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG, ER_TOO_MANY_ROWS,
};
use selkie_types::{Condition, SqlError, SqlResult, SqlType, Value, stack};

use super::frame::{Frame, Given};
use super::group::GroupRows;
use super::handlers::{Active, Handled};
use super::output::ProgramSink;
use super::trigger::TriggerRow;
use crate::query::execution::{Execution, Scope};
use crate::query::running::{Fill, Running};
use crate::state::control::Control;
use crate::state::programs::{Compiled, Nesting, Slot};
use crate::statement::set;
use crate::{Instance, Session, dml, query};

/// Whether a value counts as true.
fn is_true(session: &Session, value: Value, ty: &SqlType) -> SqlResult<bool> {
    let mut condition = Expr::new(ExprKind::Literal(value), ty.clone(), true);
    selkie_expr::cast::to_condition(&mut condition);
    let eval = EvalContext::new(session.type_context(), session, query::now_micros(session));
    let truth = condition.eval_value(&eval)?;
    query::keep_conditions(session, &eval);
    Ok(!truth.is_null() && !dml::is_zero(&truth))
}

/// The next step after one that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// The next step.
    Next,
    /// The end of a block or loop.
    Leave(usize),
    /// The next round of a loop.
    Iterate(usize),
    /// The place of a label.
    Goto(usize),
    /// The end of the program.
    Return,
}

/// One run of a program.
pub(super) struct Machine<'p> {
    pub(super) instance: &'p Instance,
    pub(super) session: &'p mut Session,
    /// Limits of the statement that runs the program; the program's own have theirs.
    control: &'p Control,
    /// Its limits since a handler has caught the end of its time.
    unlimited: Option<Box<Control>>,
    pub(super) program: &'p Compiled,
    pub(super) frame: Frame,
    pub(super) sink: ProgramSink<'p>,
    pub(super) handlers: Vec<Active<'p>>,
    /// Conditions whose handlers run, innermost last.
    pub(super) handled: Vec<Handled>,
    /// The declared exception that the error on its way is.
    pub(super) raised: Option<usize>,
    /// The row of a trigger.
    pub(super) row: Option<TriggerRow<'p>>,
    /// Text of the step that runs.
    pub(super) at: Span,
    /// The row that messages about values name.
    pub(super) message_row: u64,
    /// Value of RETURN with its type.
    pub(super) result: Option<(Value, SqlType)>,
    /// The rows of an aggregate function.
    pub(super) group: Option<GroupRows>,
}

impl<'p> Machine<'p> {
    /// A machine at the beginning of a program.
    pub(super) fn new(execution: Execution<'p>, program: &'p Compiled, frame: Frame) -> Self {
        let Execution { instance, session, control, sink, .. } = execution;
        Self {
            instance,
            session,
            control,
            unlimited: None,
            program,
            frame,
            sink: ProgramSink::new(sink),
            handlers: Vec::new(),
            handled: Vec::new(),
            raised: None,
            row: None,
            at: Span::default(),
            message_row: 0,
            result: None,
            group: None,
        }
    }

    /// The execution of something inside of the program.
    pub(super) fn execution<'a>(&'a mut self, running: Running<'a>) -> Execution<'a> {
        let is_over = self.session.values.deadline.get().is_none();
        if is_over && self.control.has_deadline() && self.unlimited.is_none() {
            self.unlimited = Some(Box::new(Control::new(self.session)));
        }
        let Self { instance, session, control, unlimited, sink, .. } = self;
        let control = unlimited.as_deref().unwrap_or(control);
        Execution { instance, session, control, running, sink }
    }

    pub(super) fn scope(&self) -> Scope<'_> {
        Scope { instance: self.instance, session: self.session }
    }

    /// Declares a variable.
    pub(super) fn declare_one(&mut self, at: usize) -> SqlResult<()> {
        if let VariableType::RowOfCursor(cursor) = self.program.body.variables[at].ty {
            self.frame.slots[at] = self.row_of_cursor(cursor)?;
            return Ok(());
        }
        let scope = Scope { instance: self.instance, session: self.session };
        self.frame.declare(scope, self.program, at)
    }

    /// Runs the whole program.
    pub(super) fn run(&mut self) -> SqlResult<()> {
        let steps = &self.program.body.steps;
        self.run_as(|machine| machine.steps(steps))
    }

    /// Runs something as the program.
    pub(super) fn run_as(
        &mut self,
        run: impl FnOnce(&mut Self) -> SqlResult<Flow>,
    ) -> SqlResult<()> {
        let outer = self.session.programs.nesting;
        self.session.programs.nesting = Nesting { depth: outer.depth + 1, has_variables: true };
        let result = run(self);
        self.session.programs.nesting = outer;
        if result.is_err() && self.session.frame.settings.notes.sql_notes {
            let line = self.program.line(self.at);
            let note = Condition::note(&ER_SP_STACK_TRACE, &[&line, &self.program.name]);
            self.session.diagnostics.push(note, self.session.frame.settings.notes.max_error_count);
        }
        result.map(|_| ())
    }

    pub(super) fn steps(&mut self, steps: &'p [Step]) -> SqlResult<Flow> {
        use selkie_expr::Session as _;
        let mut next = 0;
        while let Some(step) = steps.get(next) {
            next += 1;
            match self.step(step)? {
                Flow::Next => {}
                Flow::Goto(label) => {
                    let is_it = |step: &Step| matches!(step, Step::Label(n) if *n == label);
                    match steps.iter().position(is_it) {
                        Some(at) => next = at + 1,
                        None => return Ok(Flow::Goto(label)),
                    }
                    self.session.check_interrupted()?;
                }
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn step(&mut self, step: &'p Step) -> SqlResult<Flow> {
        stack::check()?;
        match step {
            Step::Block(block) => self.block(block),
            Step::Loop(inner) => self.run_loop(inner),
            Step::If { branches, otherwise } => self.branch(branches, Some(otherwise)),
            Step::Case { operand, branches, otherwise } => {
                if let Some((at, term)) = operand {
                    match self.guarded(|m| m.evaluate(term))? {
                        Ok(value) => self.frame.operands[*at] = value,
                        Err(flow) => return Ok(flow),
                    }
                }
                self.branch(branches, otherwise.as_deref())
            }
            Step::Leave(label) => Ok(Flow::Leave(*label)),
            Step::Iterate(label) => Ok(Flow::Iterate(*label)),
            Step::Goto(label) => Ok(Flow::Goto(*label)),
            Step::Label(_) | Step::Nothing => Ok(Flow::Next),
            Step::End => Ok(Flow::Return),
            Step::Return(term) => self.settle_return(term),
            Step::Open { cursor, arguments } => self.open_step(*cursor, arguments, step),
            Step::Statement(operation) if matches!(operation.statement, Statement::Set(_)) => {
                self.set_all(operation)
            }
            _ => self.plain_step(step),
        }
    }

    /// A step without steps inside.
    pub(super) fn plain_step(&mut self, step: &'p Step) -> SqlResult<Flow> {
        let mark = self.begin();
        let result = self.simple(step);
        self.settle_statement(result, mark)
    }

    pub(super) fn settle_statement(
        &mut self,
        result: SqlResult<Flow>,
        mark: u64,
    ) -> SqlResult<Flow> {
        if let Err(error) = &result
            && error.is(&ER_STATEMENT_TIMEOUT)
        {
            self.end_time(error);
        }
        self.settle(result, mark)
    }

    /// A step begins; conditions are counted from here.
    pub(super) fn begin(&mut self) -> u64 {
        self.session.values.statement_start.set(query::now_micros(self.session));
        self.session.frame.settings.expressions.time_zone.begin_statement();
        self.session.diagnostics.keep();
        // None of an earlier step is for the variables of this one.
        self.session.programs.outs.borrow_mut().clear();
        self.session.diagnostics.mark()
    }

    /// Something that may fail as a step of its own: what it gives, or where its handler leads.
    pub(super) fn guarded<R>(
        &mut self,
        run: impl FnOnce(&mut Self) -> SqlResult<R>,
    ) -> SqlResult<Result<R, Flow>> {
        let mark = self.begin();
        let result = run(self);
        let raised = self.session.diagnostics.mark() > mark;
        match result {
            Ok(value) if !raised => Ok(Ok(value)),
            Ok(value) => match self.settle_value(mark)? {
                None => Ok(Ok(value)),
                Some(flow) => Ok(Err(flow)),
            },
            Err(error) => self.settle(Err(error), mark).map(Err),
        }
    }

    /// Compat: a warning that is handled ends the whole IF, CASE or loop whose condition raised it.
    pub(super) fn settle_value(&mut self, mark: u64) -> SqlResult<Option<Flow>> {
        let before = self.session.diagnostics.mark();
        let flow = self.settle(Ok(Flow::Next), mark)?;
        let handled = flow != Flow::Next || self.session.diagnostics.since(mark).is_empty();
        Ok((handled && before > mark).then_some(flow))
    }

    fn simple(&mut self, step: &'p Step) -> SqlResult<Flow> {
        match step {
            Step::Statement(operation) => self.shown(operation, |m| m.run_statement(operation))?,
            Step::Declare { variables, default } => self.declare(variables, default.as_ref())?,
            Step::Share { variables, default } => self.share(variables, default.as_ref())?,
            Step::Open { cursor, .. } => self.open_cursor(*cursor)?,
            Step::Fetch { cursor, into, at_end } => self.fetch_or_note(*cursor, into, *at_end)?,
            Step::FetchGroup => return self.fetch_group(),
            Step::Raise(condition) => self.raise(*condition)?,
            Step::Close(cursor) => self.close_cursor(*cursor)?,
            _ => {}
        }
        Ok(Flow::Next)
    }

    fn block(&mut self, block: &'p Block) -> SqlResult<Flow> {
        let depth = self.handlers.len();
        let declared = block.steps.iter().take_while(|s| matches!(s, Step::Declare { .. })).count();
        let (declarations, steps) = block.steps.split_at(declared);
        let mut result = self.steps(declarations);
        if matches!(result, Ok(Flow::Next)) {
            if !block.handlers.is_empty() {
                self.handlers.push(Active(block));
            }
            result = self.steps(steps);
        }
        self.handlers.truncate(depth);
        for cursor in block.cursors.clone() {
            self.frame.cursors[cursor] = None;
        }
        match result? {
            Flow::Leave(label) if label == block.label => Ok(Flow::Next),
            flow => Ok(flow),
        }
    }

    fn declare(&mut self, variables: &[usize], default: Option<&Term>) -> SqlResult<()> {
        for &at in variables {
            self.at = self.program.body.variables[at].name.span;
            self.declare_one(at)?;
        }
        let Some(term) = default else { return Ok(()) };
        let Some(first) = variables.first() else { return Ok(()) };
        let value = self.given_to(&Local::Variable(*first), &term.expr, &term.locals)?;
        variables.iter().try_for_each(|at| self.give(&Local::Variable(*at), value.clone()))
    }

    fn branch(
        &mut self,
        branches: &'p [(Term, Vec<Step>)],
        otherwise: Option<&'p [Step]>,
    ) -> SqlResult<Flow> {
        for (condition, steps) in branches {
            match self.test(condition)? {
                Ok(true) => return self.steps(steps),
                Ok(false) => {}
                Err(flow) => return Ok(flow),
            }
        }
        match otherwise {
            Some(steps) => self.steps(steps),
            None => {
                let mark = self.begin();
                self.settle(Err(SqlError::new(&ER_SP_CASE_NOT_FOUND, &[])), mark)
            }
        }
    }

    /// Whether a condition is true, or where its handler leads.
    fn test(&mut self, condition: &Term) -> SqlResult<Result<bool, Flow>> {
        self.guarded(|m| {
            let (value, ty) = m.evaluate(condition)?;
            is_true(m.session, value, &ty)
        })
    }

    fn run_loop(&mut self, inner: &'p Loop) -> SqlResult<Flow> {
        if let Some(flow) = self.enter_loop(inner)? {
            return Ok(flow);
        }
        let result = self.rounds(inner);
        if let LoopKind::Rows { cursor, .. } = &inner.kind {
            self.frame.cursors[*cursor] = None;
        }
        match result? {
            Flow::Leave(label) if label == inner.label => Ok(Flow::Next),
            flow => Ok(flow),
        }
    }

    /// Work before the first round: bounds are evaluated, the cursor is opened.
    fn enter_loop(&mut self, inner: &'p Loop) -> SqlResult<Option<Flow>> {
        let entered = match &inner.kind {
            LoopKind::Range { variable, bound, reverse, first, last } => {
                let (from, to) = if *reverse { (last, first) } else { (first, last) };
                for (at, term) in [(*variable, from), (*bound, to)] {
                    if let Err(flow) = self.guarded(|m| m.set_bound(at, term))?
                        && flow != Flow::Next
                    {
                        return Ok(Some(flow));
                    }
                }
                return Ok(None);
            }
            LoopKind::Rows { variable, cursor, arguments } => {
                if let Some(flow) = self.pass_to_cursor(*cursor, arguments)? {
                    return Ok(Some(flow));
                }
                self.guarded(|m| {
                    m.open_cursor(*cursor)?;
                    let rows = m.frame.cursors[*cursor].as_ref();
                    let row = rows.map(|rows| rows.empty_row()).transpose()?;
                    m.frame.slots[*variable] = Slot::Row(row.unwrap_or_default());
                    Ok(())
                })?
            }
            _ => Ok(()),
        };
        Ok(entered.err())
    }

    /// Sets a bound of a FOR loop. Compat: it is a step of its own, behind which the loop goes on.
    fn set_bound(&mut self, at: usize, term: &Term) -> SqlResult<()> {
        let value = self.evaluate_to_store(term)?;
        self.declare_one(at)?;
        if value.0.is_null() {
            let name = &self.program.body.variables[at].name;
            return Err(SqlError::new(&ER_BAD_NULL_ERROR, &[name]));
        }
        self.assign(&Local::Variable(at), value)
    }

    fn rounds(&mut self, inner: &'p Loop) -> SqlResult<Flow> {
        loop {
            use selkie_expr::Session as _;
            self.session.check_interrupted()?;
            match self.goes_on(inner)? {
                Ok(true) => {}
                Ok(false) => return Ok(Flow::Next),
                Err(flow) => return Ok(flow),
            }
            let flow = self.steps(&inner.steps)?;
            let is_again = matches!(flow, Flow::Iterate(label) if label == inner.label);
            if flow != Flow::Next && !is_again {
                return Ok(flow);
            }
            if let (LoopKind::Until(condition), Flow::Next) = (&inner.kind, flow) {
                match self.test(condition)? {
                    Ok(true) => return Ok(Flow::Next),
                    Ok(false) => {}
                    Err(flow) => return Ok(flow),
                }
            }
            if matches!(inner.kind, LoopKind::Range { .. })
                && let Err(flow) = self.guarded(|m| m.step_range(inner))?
            {
                return Ok(flow);
            }
        }
    }

    /// Whether another round begins.
    fn goes_on(&mut self, inner: &'p Loop) -> SqlResult<Result<bool, Flow>> {
        match &inner.kind {
            LoopKind::Forever | LoopKind::Until(_) => Ok(Ok(true)),
            LoopKind::While(condition) => self.test(condition),
            LoopKind::Range { variable, bound, reverse, .. } => {
                let (at, end) = (self.frame.variable(*variable)?.0, self.frame.variable(*bound)?.0);
                let (Value::Int(at), Value::Int(end)) = (at, end) else { return Ok(Ok(false)) };
                Ok(Ok(if *reverse { at >= end } else { at <= end }))
            }
            LoopKind::Rows { variable, cursor, .. } => {
                use selkie_types::error::catalogue::ER_SP_FETCH_NO_DATA;
                match self.fetch(*cursor, &[Local::Variable(*variable)]) {
                    Ok(()) => Ok(Ok(true)),
                    Err(error) if error.is(&ER_SP_FETCH_NO_DATA) => Ok(Ok(false)),
                    Err(error) => {
                        let mark = self.begin();
                        self.settle(Err(error), mark).map(Err)
                    }
                }
            }
        }
    }

    /// The next value of the variable of a FOR loop.
    fn step_range(&mut self, inner: &Loop) -> SqlResult<()> {
        let LoopKind::Range { variable, reverse, .. } = &inner.kind else { return Ok(()) };
        let (value, ty) = self.frame.variable(*variable)?;
        let step = if *reverse { -1 } else { 1 };
        let next = match value {
            Value::Int(v) => v.checked_add(step).map(Value::Int),
            other => Some(other),
        };
        let Some(next) = next else {
            let name = &self.program.body.variables[*variable].name;
            let text = format!("{name}@{variable} + {step}");
            return Err(SqlError::new(&ER_DATA_OUT_OF_RANGE, &[&"BIGINT", &text]));
        };
        self.assign(&Local::Variable(*variable), (next, ty))
    }

    /// Values of placeholders, and behind them those of the fields of rows.
    pub(super) fn values(&mut self, locals: &[Local]) -> SqlResult<Vec<(Value, SqlType)>> {
        let (mut values, mut fields) = (Vec::with_capacity(locals.len()), Vec::new());
        for local in locals {
            values.push(match self.row_in(Some(local)) {
                Some(row) => {
                    let ty = SqlType::row(row.len() as u32);
                    fields.extend(row);
                    (Value::Null, ty)
                }
                None => self.value(local)?,
            });
        }
        values.extend(fields);
        Ok(values)
    }

    pub(super) fn value(&mut self, local: &Local) -> SqlResult<(Value, SqlType)> {
        match local {
            Local::Variable(at) => self.frame.variable(*at),
            Local::Field(at, name) => {
                let row = &self.program.body.variables[*at].name.value;
                let field = self.frame.field((*at, row), &name.value)?;
                Ok((field.value.clone(), field.ty.clone()))
            }
            Local::Operand(at) => Ok(self.frame.operands[*at].clone()),
            Local::Shared(at) => self.shared(*at),
            Local::SharedField(at, name) => self.shared_field(*at, &name.value),
            Local::CursorState(at, state) => self.cursor_state(*at, *state),
            Local::SqlCode | Local::SqlErrm => Ok(self.last_condition(local)),
            Local::New(name) | Local::Old(name) => match &self.row {
                Some(row) => row.get(self.session, matches!(local, Local::New(_)), &name.value),
                None => Err(SqlError::internal("a row outside of a trigger")),
            },
        }
    }

    pub(super) fn evaluate(&mut self, term: &Term) -> SqlResult<(Value, SqlType)> {
        self.at = term.expr.span;
        let values = self.values(&term.locals)?;
        let running = self.program.running(&values);
        let value = self.execution(running).evaluate(&term.expr);
        self.with_outs(&term.locals, value)
    }

    /// As [`Self::evaluate`], for a variable or a result.
    pub(super) fn evaluate_to_store(&mut self, term: &Term) -> SqlResult<(Value, SqlType)> {
        self.at = term.expr.span;
        let values = self.values(&term.locals)?;
        let running = self.program.running(&values);
        let value = self.execution(running).evaluate_to_store(&term.expr);
        self.with_outs(&term.locals, value)
    }

    /// Puts a value into a variable.
    pub(super) fn assign(&mut self, target: &Local, value: (Value, SqlType)) -> SqlResult<()> {
        match target {
            Local::Variable(at) => {
                let row = self.message_row;
                return self.frame.give(self.session, *at, Given::Scalar(value), row);
            }
            Local::Field(at, name) => {
                let row = &self.program.body.variables[*at].name.value;
                let field = self.frame.field((*at, row), &name.value)?;
                field.store(self.session, (&value.0, &value.1), self.message_row)?;
            }
            Local::New(name) => match &mut self.row {
                Some(row) => row.set(self.session, &name.value, (&value.0, &value.1))?,
                None => return Err(SqlError::internal("a row outside of a trigger")),
            },
            Local::Shared(_) | Local::SharedField(..) => {
                self.give_shared(target, Given::Scalar(value))?;
            }
            Local::Old(_)
            | Local::Operand(_)
            | Local::CursorState(..)
            | Local::SqlCode
            | Local::SqlErrm => {}
        }
        Ok(())
    }

    /// Makes a variable NULL whose new value failed.
    fn forget(&mut self, target: &Local) -> SqlResult<()> {
        self.assign(target, (Value::Null, SqlType::null()))
    }

    /// Puts values into the fields of a row variable.
    pub(super) fn assign_row(&mut self, at: usize, values: Vec<(Value, SqlType)>) -> SqlResult<()> {
        self.frame.give(self.session, at, Given::Row(values), self.message_row)
    }

    /// Runs something of a statement, which other sessions see meanwhile.
    pub(super) fn shown(
        &mut self,
        operation: &'p Operation,
        run: impl FnOnce(&mut Self) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let text = String::from_utf8_lossy(operation.span.text(&self.program.text));
        let hooks = self.session.frame.hooks.clone();
        let outer = hooks.show_text(Some(text.into()));
        let result = run(self);
        hooks.show_text(outer);
        result
    }

    fn run_statement(&mut self, operation: &'p Operation) -> SqlResult<()> {
        self.at = operation.span;
        let values = self.values(&operation.locals)?;
        let prepared = self.program.prepared(operation);
        let bare = self.program.running(&values);
        let part = Some(operation.span.text(bare.text));
        let fill = if values.is_empty() { Fill::Literals } else { Fill::Locals };
        let names = match &operation.statement {
            Statement::Explain(_) => self.texts_of(&operation.locals),
            _ => Vec::new(),
        };
        let running = Running { prepared: Some(&prepared), part, fill, names: &names, ..bare };
        match &operation.statement {
            Statement::Call(call) => return self.call(call, operation, bare),
            Statement::Signal(what) => {
                let handled = self.handled.last().map(|handled| handled.condition.clone());
                self.raised = self.handled.last().and_then(|handled| handled.exception);
                return super::signal::raise(&mut self.execution(bare), what, handled);
            }
            Statement::GetDiagnostics(what) => return self.get_diagnostics(what, bare),
            _ => {}
        }
        self.check_sub_statement(&operation.statement)?;
        self.session.programs.into.borrow_mut().clear();
        self.session.programs.into_row.set(self.fields_into(&operation.statement));
        let literal;
        let result = match &operation.statement {
            Statement::Kill(kill) if !values.is_empty() => {
                literal = self.kill_literally(kill, bare)?;
                self.execute(&literal, bare)
            }
            statement => self.execute(statement, running),
        };
        self.with_outs(&operation.locals, result)?;
        self.take_given_back(&operation.locals)
    }

    /// SET: each item is a step of its own, which sees what those before it have set. After one
    /// that failed and was handled the next one follows.
    fn set_all(&mut self, operation: &'p Operation) -> SqlResult<Flow> {
        let Statement::Set(items) = &operation.statement else { return Ok(Flow::Next) };
        for item in items {
            let mark = self.begin();
            self.at = operation.span;
            // Compat: other sessions do not see assignments to variables of the program.
            let flow = if let SetItem::Local { .. } = item {
                let result = self.set_one(item, operation).map(|()| Flow::Next);
                self.settle(result, mark)?
            } else {
                let result = self.shown(operation, |m| m.set_one(item, operation));
                self.settle_statement(result.map(|()| Flow::Next), mark)?
            };
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn set_one(&mut self, item: &'p SetItem, operation: &'p Operation) -> SqlResult<()> {
        let locals = &operation.locals;
        if let Some((target, value)) = self.row_assignment(item, locals) {
            let value = self.given_to(target, value, locals)?;
            return self.give(target, value);
        }
        let values = self.values(locals)?;
        self.set(item, self.program.running(&values), locals)
    }

    /// Functions and triggers, and the procedures they call, may not prepare statements.
    fn check_sub_statement(&self, statement: &Statement) -> SqlResult<()> {
        let dynamic = matches!(
            statement,
            Statement::Prepare(_)
                | Statement::Execute(_)
                | Statement::ExecuteImmediate(_)
                | Statement::Deallocate(_)
        );
        match dynamic && self.session.transaction.is_nested() {
            true => Err(SqlError::new(&ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG, &[&"Dynamic SQL"])),
            false => Ok(()),
        }
    }

    /// KILL with its number computed, which the server does not do with variables.
    fn kill_literally(&mut self, kill: &Kill, running: Running<'_>) -> SqlResult<Statement> {
        let (KillTarget::Connection(expr) | KillTarget::QueryId(expr)) = &kill.target else {
            return Ok(Statement::Kill(Box::new(kill.clone())));
        };
        let (value, _) = self.execution(running).evaluate(expr)?;
        let number = match value {
            Value::Int(v) => u64::try_from(v).unwrap_or(0),
            Value::UInt(v) => v,
            _ => 0,
        };
        let kind = selkie_sql::ast::ExprKind::Literal(Literal::Int(number));
        let expr = selkie_sql::ast::Expr { kind, span: expr.span };
        let target = match &kill.target {
            KillTarget::QueryId(_) => KillTarget::QueryId(expr),
            _ => KillTarget::Connection(expr),
        };
        Ok(Statement::Kill(Box::new(Kill { target, ..kill.clone() })))
    }

    pub(super) fn execute(&mut self, statement: &Statement, running: Running<'_>) -> SqlResult<()> {
        self.session.frame.hooks.count(statement);
        let outcome = match self.execution(running).execute(statement) {
            // Compat: a second row is an error that comes when the first is in the variables.
            Err(error) if error.is(&ER_TOO_MANY_ROWS) => {
                self.take_into(statement)?;
                return Err(error);
            }
            outcome => outcome?,
        };
        self.sink.end_statement()?;
        self.take_into(statement)?;
        if !outcome.result_set {
            self.session.programs.affected += outcome.affected;
        }
        Ok(())
    }

    /// Puts what `SELECT ... INTO` found into the variables.
    fn take_into(&mut self, statement: &Statement) -> SqlResult<()> {
        use selkie_sql::ast::{IntoTarget, IntoVariable};
        let found = self.session.programs.into.take();
        let Statement::Query(query) = statement else { return Ok(()) };
        let Some(IntoTarget::Variables(names)) = query.into.as_deref() else { return Ok(()) };
        let locals: Vec<&Local> = names
            .iter()
            .filter_map(|name| match name {
                IntoVariable::Local { local, .. } => Some(local),
                IntoVariable::User(_) => None,
            })
            .collect();
        if let [Local::Variable(at)] = locals[..]
            && matches!(self.frame.slots[*at], Slot::Row(_))
            && !found.is_empty()
        {
            self.message_row = 1;
            let assigned = self.assign_row(*at, found);
            self.message_row = 0;
            return assigned;
        }
        if let [row @ Local::Shared(_)] = locals[..]
            && self.row_in(Some(row)).is_some()
            && !found.is_empty()
        {
            self.message_row = 1;
            let assigned = self.give_shared(row, Given::Row(found));
            self.message_row = 0;
            return assigned;
        }
        if found.len() > locals.len() {
            let def = &selkie_types::error::catalogue::ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT;
            return Err(SqlError::new(def, &[]));
        }
        self.message_row = 1;
        let taken = locals
            .into_iter()
            .zip(found)
            .try_for_each(|(local, value)| self.give(local, Given::Scalar(value)));
        self.message_row = 0;
        taken
    }

    fn set(&mut self, item: &'p SetItem, running: Running<'_>, locals: &[Local]) -> SqlResult<()> {
        let SetItem::Local { target, value } = item else {
            let one = std::slice::from_ref(item);
            let result = set::run(&mut self.execution(running), one);
            if result.is_ok() {
                self.session.values.row_count.set(0);
            }
            return self.with_outs(locals, result.map(drop));
        };
        let Some(e) = value else {
            return self.assign(target, (Value::Null, SqlType::null()));
        };
        let mark = self.session.diagnostics.mark();
        let mut execution = self.execution(running);
        match execution.evaluate(e) {
            Ok(value) => {
                let refused = execution.refuse_warning(mark);
                self.take_outs(locals)?;
                // Compat: a column keeps a value that its expression warned of.
                if refused.is_ok() || matches!(target, Local::New(_)) {
                    return refused.and(self.assign(target, value));
                }
                self.forget(target)?;
                refused
            }
            Err(error) => {
                let failed = self.with_outs(locals, Err(error));
                self.forget(target)?;
                failed
            }
        }
    }
}
