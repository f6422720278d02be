//! SET: evaluates the values, assigns user variables, leaves system variables to the server.

use selkie_expr::{EvalContext, Expr, ExprKind};
use selkie_sql::ast::{self, SetItem, Statement};
use selkie_types::error::catalogue::ER_CANT_CHANGE_TX_CHARACTERISTICS;
use selkie_types::{CollationId, SqlError, SqlResult, SqlType, Value};

use super::Running;
use crate::session::NewValue;
use crate::{Instance, Outcome, ResultSink, Session, planning, query};

/// Performs the assignments in order.
pub(super) fn run(
    instance: &Instance,
    session: &mut Session,
    items: &[SetItem],
    text: &[u8],
) -> SqlResult<Outcome> {
    for item in items {
        assign(instance, session, item, text)?;
    }
    Ok(Outcome::ok())
}

fn assign(
    instance: &Instance,
    session: &mut Session,
    item: &SetItem,
    text: &[u8],
) -> SqlResult<()> {
    let value = match item {
        SetItem::UserVar { name, value } => {
            let (value, ty) = evaluate(instance, session, value, text)?;
            let view: &dyn selkie_expr::Session = session;
            view.set_user_variable(&name.to_lowercase(), value, &ty);
            return Ok(());
        }
        SetItem::SystemVar { value: None, .. } => Some(NewValue::Default),
        SetItem::SystemVar { value: Some(e), .. } => Some(match bare_word(e) {
            Some(word) => {
                let ty = SqlType::varchar(word.len() as u32, CollationId::UTF8MB4_GENERAL_CI);
                NewValue::Value(Value::bytes(word), ty)
            }
            None => {
                let (value, ty) = evaluate(instance, session, e, text)?;
                NewValue::Value(value, ty)
            }
        }),
        SetItem::Transaction { scope: None, isolation, read_only } => {
            return next_transaction(session, *isolation, *read_only);
        }
        _ => None,
    };
    let hooks = session.hooks.clone();
    hooks.set(instance, session, item, value)
}

/// A column without qualifier stands for its name.
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

/// The value of an expression with its type. Subqueries make it a query of its own.
pub(super) fn evaluate(
    instance: &Instance,
    session: &mut Session,
    e: &ast::Expr,
    text: &[u8],
) -> SqlResult<(Value, SqlType)> {
    let Ok(bound) = planning::bind(instance, session, e, text) else {
        return by_query(instance, session, e, text);
    };
    let eval = EvalContext::new(session.type_context(), session, query::now_micros(session));
    let value = bound.eval_value(&eval);
    query::keep_conditions(session, &eval);
    let bound = assigned_type(bound);
    Ok((value?, bound))
}

fn assigned_type(bound: Expr) -> SqlType {
    match bound.kind {
        ExprKind::Literal(Value::Null) => SqlType::null(),
        _ => bound.ty,
    }
}

/// Keeps the single value a query gives.
struct OneValue(Option<(Value, SqlType)>, Option<SqlType>);

impl ResultSink for OneValue {
    fn columns(&mut self, columns: &[selkie_plan::physical::OutputColumn]) -> SqlResult<()> {
        self.1 = columns.first().map(|c| c.ty.clone());
        Ok(())
    }

    fn batch(&mut self, batch: &selkie_types::Batch) -> SqlResult<()> {
        let ty = self.1.clone().unwrap_or(SqlType::null());
        self.0.get_or_insert_with(|| (batch.value(0, 0), ty));
        Ok(())
    }
}

fn by_query(
    instance: &Instance,
    session: &mut Session,
    e: &ast::Expr,
    text: &[u8],
) -> SqlResult<(Value, SqlType)> {
    let item = ast::SelectItem::Expr { expr: e.clone(), alias: None, span: ast::Span::default() };
    let select = ast::Select {
        options: ast::SelectOptions::default(),
        items: vec![item],
        from: Vec::new(),
        where_clause: None,
        group_by: Vec::new(),
        rollup: false,
        having: None,
        windows: Vec::new(),
        span: ast::Span::default(),
    };
    let query = ast::Query {
        with: None,
        body: ast::QueryBody::Select(Box::new(select)),
        order_by: Vec::new(),
        limit: None,
        into: None,
        locking: None,
        span: ast::Span::default(),
    };
    let statement = Statement::Query(Box::new(query));
    let mut sink = OneValue(None, None);
    let running = Running { text, values: &[], prepared: None };
    super::planned(instance, session, &statement, running, &mut sink)?;
    Ok(sink.0.unwrap_or((Value::Null, SqlType::null())))
}

/// `SET STATEMENT ... FOR`: the settings hold for one statement.
pub(super) fn for_statement(
    instance: &Instance,
    session: &mut Session,
    items: &[SetItem],
    statement: &Statement,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let hooks = session.hooks.clone();
    let mut before = Vec::new();
    for item in items {
        if let SetItem::SystemVar { name, .. } = item {
            let lower = name.value.to_lowercase();
            let ty = hooks.variable_type(session, &lower);
            let value = hooks.variable(session, selkie_expr::VariableScope::Session, &lower)?;
            before.push((item, NewValue::Value(value, ty.unwrap_or(SqlType::null()))));
        }
    }
    let result = run(instance, session, items, running.text)
        .and_then(|_| super::dispatch(instance, session, statement, running, sink));
    for (item, value) in before.into_iter().rev() {
        hooks.set(instance, session, item, Some(value))?;
    }
    result
}
