//! SET: evaluates all values first, then assigns; the server assigns system variables. Also
//! evaluates single expressions for other statements ([`Execution::evaluate`]).

use std::sync::Arc;

use selkie_expr::{EvalContext, Expr, ExprKind};
use selkie_plan::BoundConstant;
use selkie_sql::ast::{self, SetItem, Statement};
use selkie_types::error::catalogue::{
    ER_BAD_FIELD_ERROR, ER_CANT_CHANGE_TX_CHARACTERISTICS, ER_OPERAND_COLUMNS,
    ER_SUBQUERY_NO_1_ROW, ER_WRONG_TYPE_FOR_VAR,
};
use selkie_types::{Charset, CollationId, SqlError, SqlResult, SqlType, Value};

use crate::query::execution::{Execution, Scope};
use crate::query::running::Running;
use crate::state::control::Control;
use crate::state::guard::guarded;
use crate::state::prepared::Prepared;
use crate::state::session::{CheckedSet, NewValue, SessionHooks};
use crate::state::terms::{BoundTerm, Term};
use crate::{Outcome, ResultSink, Session, query};

/// A checked assignment.
enum Pending<'a> {
    /// `@name`.
    User(&'a str, (Value, SqlType)),
    /// SET TRANSACTION for the next transaction.
    Transaction(Option<ast::IsolationLevel>, Option<bool>),
    /// Any other assignment, made by the server.
    Server(CheckedSet<'a>),
}

/// Checks the assignments in order, then makes them in order. Compat: values are computed before
/// any assignment, and none is made if one is invalid.
pub(crate) fn run(execution: &mut Execution<'_>, items: &[SetItem]) -> SqlResult<Outcome> {
    let hooks = execution.session.frame.hooks.clone();
    // Compat: all names are looked up before any value.
    for item in items {
        if let SetItem::SystemVar { name, .. } = item {
            hooks.check_variable(&name.value)?;
        }
    }
    let mut pending = Vec::with_capacity(items.len());
    for item in items {
        pending.push(check(execution, &*hooks, item)?);
    }
    let session = &mut *execution.session;
    for assignment in pending {
        match assignment {
            Pending::User(name, (value, ty)) => {
                session.set_variable(name, value, &ty);
            }
            Pending::Transaction(isolation, read_only) => {
                next_transaction(session, isolation, read_only)?;
            }
            Pending::Server(assign) => assign(session)?,
        }
    }
    Ok(Outcome::ok())
}

fn check<'a>(
    execution: &mut Execution<'_>,
    hooks: &'a dyn SessionHooks,
    item: &'a SetItem,
) -> SqlResult<Pending<'a>> {
    let value = match item {
        SetItem::UserVar { name, value } => {
            return Ok(Pending::User(name, execution.evaluate(value)?));
        }
        SetItem::Transaction { scope: None, isolation, read_only } => {
            return Ok(Pending::Transaction(*isolation, *read_only));
        }
        SetItem::SystemVar { value: None, .. } => Some(NewValue::Default),
        SetItem::SystemVar { name, value: Some(e), .. } => {
            Some(system_value(execution, &name.value, e)?)
        }
        _ => None,
    };
    hooks.check_set(execution.session, item, value).map(Pending::Server)
}

/// Value of an expression for a system variable.
fn system_value(execution: &mut Execution<'_>, name: &str, e: &ast::Expr) -> SqlResult<NewValue> {
    let connection = execution.session.frame.settings.expressions.collation_connection;
    if let Some(value) = literal(e, connection.charset()) {
        return Ok(value);
    }
    if let ast::ExprKind::Column(_) = &e.kind {
        // Compat: a qualified name is a column, whose type fits no variable.
        return Err(SqlError::new(&ER_WRONG_TYPE_FOR_VAR, &[&name]));
    }
    let (value, ty) = execution.evaluate(e)?;
    Ok(NewValue::Value(value, ty))
}

/// The value of a plain literal or of a bare word: what binding and evaluation would give.
fn literal(e: &ast::Expr, connection: Charset) -> Option<NewValue> {
    let text = |bytes: &[u8]| {
        let ty = SqlType::varchar(bytes.len() as u32, CollationId::UTF8MB4_GENERAL_CI);
        Some(NewValue::Value(Value::bytes(bytes), ty))
    };
    match &e.kind {
        // Compat: the string is empty even under EMPTY_STRING_IS_NULL.
        ast::ExprKind::Literal(ast::Literal::String(string)) if string.bytes.is_empty() => {
            text(b"")
        }
        ast::ExprKind::Literal(ast::Literal::String(string))
            if string.charset.is_none()
                && string.bytes.is_ascii()
                && string.encoding.is_ascii_superset()
                && connection.is_ascii_superset() =>
        {
            text(&string.bytes)
        }
        ast::ExprKind::Literal(ast::Literal::Int(number)) => {
            let Expr { kind: ExprKind::Literal(value), ty, .. } = Expr::uint(*number) else {
                return None;
            };
            Some(NewValue::Value(value, ty))
        }
        _ => text(bare_word(e)?.as_bytes()),
    }
}

/// The name of an unqualified column, which SET takes as a string.
fn bare_word(e: &ast::Expr) -> Option<&str> {
    match &e.kind {
        ast::ExprKind::Column(column) if column.table.is_none() => Some(&column.name.value),
        _ => None,
    }
}

fn next_transaction(
    session: &mut Session,
    isolation: Option<ast::IsolationLevel>,
    read_only: Option<bool>,
) -> SqlResult<()> {
    if session.in_transaction() {
        return Err(SqlError::new(&ER_CANT_CHANGE_TX_CHARACTERISTICS, &[]));
    }
    use ast::IsolationLevel as Level;
    use selkie_engine::Isolation;
    let isolation = isolation.map(|level| match level {
        Level::ReadUncommitted => Isolation::ReadUncommitted,
        Level::ReadCommitted => Isolation::ReadCommitted,
        Level::RepeatableRead => Isolation::RepeatableRead,
        Level::Serializable => Isolation::Serializable,
    });
    session.transaction.set_next(isolation, read_only);
    Ok(())
}

/// Replaces SELECT by SET in an unknown-column error. Compat: the message must not name the
/// internal query.
fn of_set(error: SqlError) -> SqlError {
    let text = error.message().strip_suffix("'SELECT'").map(|text| format!("{text}'SET'"));
    match text {
        Some(text) if error.is(&ER_BAD_FIELD_ERROR) => {
            SqlError::with_message(&ER_BAD_FIELD_ERROR, text)
        }
        _ => error,
    }
}

impl Execution<'_> {
    /// As [`Self::evaluate`], for a variable of a program.
    pub(crate) fn evaluate_to_store(&mut self, e: &ast::Expr) -> SqlResult<(Value, SqlType)> {
        let mark = self.session.diagnostics.mark();
        let value = self.evaluate(e)?;
        self.refuse_warning(mark)?;
        Ok(value)
    }

    /// Value and type of an expression. An expression with subqueries runs as a query.
    pub(crate) fn evaluate(&mut self, e: &ast::Expr) -> SqlResult<(Value, SqlType)> {
        let (instance, running) = (self.instance, self.running);
        let Some(terms) = running.terms else {
            return match bound(self.scope(), e, running) {
                Some(bound) => value_of(self.session, &bound.expr, running),
                None => by_query(self, &query_of(e, running)),
            };
        };
        let term = match terms.find(instance, self.session, e.span, running.values) {
            Some(term) => term,
            None => {
                let term = match bound(self.scope(), e, running) {
                    Some(bound) => {
                        let term = BoundTerm::new(instance, self.session, bound, running.values);
                        Term::Bound(Arc::new(term))
                    }
                    None => Term::Query(Arc::new(query_of(e, running))),
                };
                terms.keep(e.span, &term);
                term
            }
        };
        match term {
            Term::Bound(term) => value_of(self.session, &term.expr, running),
            Term::Query(query) => by_query(self, &query),
        }
    }

    /// The row of a query, for a row variable with `count` fields: NULLs if it gives none.
    pub(crate) fn evaluate_row(
        &mut self,
        query: &ast::Query,
        count: usize,
    ) -> SqlResult<Vec<(Value, SqlType)>> {
        let statement = Statement::Query(Box::new(query.clone()));
        let plan = self.scope().plan_running(&statement, self.running).map_err(of_set)?;
        if plan.output.len() != count {
            return Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&count]));
        }
        let mark = self.session.diagnostics.mark();
        let mut sink = OneRow::default();
        let query = Prepared::unplanned(statement, self.running.text.into(), count);
        run_query(self, &query, &mut sink)?;
        self.refuse_warning(mark)?;
        Ok(sink.row.unwrap_or_else(|| sink.types.into_iter().map(|ty| (Value::Null, ty)).collect()))
    }

    /// Compat: in a strict mode the first warning of an expression for a variable is an error.
    pub(crate) fn refuse_warning(&self, mark: u64) -> SqlResult<()> {
        if self.session.is_strict()
            && let Some(warning) = self.session.diagnostics.take_warning_since(mark)
        {
            return Err(SqlError::raw(warning.code, warning.sqlstate(), warning.message));
        }
        Ok(())
    }
}

/// The bound expression; `None` if it needs a query.
fn bound(scope: Scope<'_>, e: &ast::Expr, running: Running<'_>) -> Option<BoundConstant> {
    let mut bound = scope.bind(e, running).ok()?;
    // Compat: the text of a program raises them when it is created.
    if running.terms.is_none() {
        let max = scope.session.frame.settings.notes.max_error_count;
        bound.conditions.drain(..).for_each(|c| scope.session.diagnostics.push(c, max));
    }
    selkie_expr::cast::local(&mut bound.expr);
    // The value's digits are not rounded here: the target keeps as many as it can.
    selkie_expr::build::unround(&mut bound.expr);
    Some(bound)
}

fn value_of(session: &Session, bound: &Expr, running: Running<'_>) -> SqlResult<(Value, SqlType)> {
    let now = session.values.statement_start.get();
    let eval = EvalContext::new(session.type_context(), session, now);
    eval.set_parameters(running.values.iter().map(|(v, _)| v.clone()));
    session.begin_random(&eval);
    let value = bound.eval_value(&eval);
    session.end_random(&eval);
    query::keep_conditions(session, &eval);
    Ok((value?, bound.ty.clone()))
}

/// Sink that keeps the single value of a query.
struct OneValue(Option<(Value, SqlType)>, Option<SqlType>);

impl ResultSink for OneValue {
    fn columns(&mut self, columns: &[selkie_plan::physical::OutputColumn]) -> SqlResult<()> {
        self.1 = columns.first().map(|c| crate::run::local_times::local_type(c.ty.clone()));
        Ok(())
    }

    fn batch(&mut self, batch: &selkie_types::Batch) -> SqlResult<()> {
        let ty = self.1.clone().unwrap_or(SqlType::null());
        self.0.get_or_insert_with(|| (batch.value(0, 0), ty));
        Ok(())
    }
}

/// Sink that keeps the single row of a query.
#[derive(Default)]
struct OneRow {
    types: Vec<SqlType>,
    row: Option<Vec<(Value, SqlType)>>,
}

impl ResultSink for OneRow {
    fn columns(&mut self, columns: &[selkie_plan::physical::OutputColumn]) -> SqlResult<()> {
        let local = |ty: &SqlType| crate::run::local_times::local_type(ty.clone());
        self.types = columns.iter().map(|c| local(&c.ty)).collect();
        Ok(())
    }

    fn batch(&mut self, batch: &selkie_types::Batch) -> SqlResult<()> {
        if batch.rows() > 1 || self.row.is_some() {
            return Err(SqlError::new(&ER_SUBQUERY_NO_1_ROW, &[]));
        }
        let types = self.types.iter().enumerate();
        self.row = Some(types.map(|(at, ty)| (batch.value(at, 0), ty.clone())).collect());
        Ok(())
    }
}

/// The query `SELECT e`.
fn query_of(e: &ast::Expr, running: Running<'_>) -> Prepared {
    let item = ast::SelectItem::Expr { expr: e.clone(), alias: None, span: ast::Span::default() };
    let select = ast::Select {
        options: ast::SelectOptions { for_statement: true, ..Default::default() },
        items: vec![item],
        from: Vec::new(),
        where_clause: None,
        group_by: Vec::new(),
        rollup: false,
        having: None,
        windows: Vec::new(),
        span: ast::Span::default(),
    };
    let body = ast::QueryBody::Select(Box::new(select));
    let query = ast::Query::of(body, ast::Span::default());
    let statement = Statement::Query(Box::new(query));
    Prepared::unplanned(statement, running.text.into(), running.values.len())
}

fn by_query(execution: &mut Execution<'_>, query: &Prepared) -> SqlResult<(Value, SqlType)> {
    let mut sink = OneValue(None, None);
    run_query(execution, query, &mut sink)?;
    Ok(sink.0.unwrap_or((Value::Null, SqlType::null())))
}

/// Runs the query of an expression.
fn run_query(
    execution: &mut Execution<'_>,
    query: &Prepared,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let running = Running { prepared: Some(query), ..execution.running };
    // Statements of a program may have changed the limits since it began.
    let control = Control::new(execution.session);
    // Compat: a query inside a statement that is not a query locks the rows it reads.
    let locked = std::mem::replace(&mut execution.session.locks_reads, true);
    let took_outs = execution.session.programs.takes_outs.replace(true);
    let mut inner = execution.with_running(running);
    let result = inner.with_control(&control).with_sink(sink).planned(&query.statement);
    execution.session.locks_reads = locked;
    execution.session.programs.takes_outs.set(took_outs);
    result.map_err(of_set).map(drop)
}

/// `SET STATEMENT ... FOR`: the settings hold for one statement.
pub(super) fn for_statement(
    execution: &mut Execution<'_>,
    items: &[SetItem],
    statement: &Statement,
) -> SqlResult<Outcome> {
    let hooks = execution.session.frame.hooks.clone();
    let names: Vec<&str> = items
        .iter()
        .filter_map(|item| match item {
            SetItem::SystemVar { name, .. } => Some(&*name.value),
            _ => None,
        })
        .collect();
    let restore = hooks.save_variables(execution.session, &names)?;
    // A cached plan belongs to the whole SET STATEMENT, not to the inner statement.
    let running = Running { prepared: None, ..execution.running };
    let mut execution = execution.with_running(running);
    let result = run(&mut execution, items).and_then(|_| {
        // The settings may contain time limits.
        execution.session.start_clock();
        if names.iter().any(|name| name.eq_ignore_ascii_case("timestamp")) {
            let now = crate::query::now_micros(execution.session);
            execution.session.values.statement_start.set(now);
        }
        let control = Control::new(execution.session);
        guarded(|| execution.with_control(&control).dispatch(statement))
    });
    restore(execution.session);
    result
}
