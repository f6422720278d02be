//! Statements planned once and run often.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use selkie_plan::is_planned;
use selkie_plan::physical::{OutputColumn, Plan};
use selkie_sql::ClientText;
use selkie_sql::ast::{Expr, ExprKind, Literal, OrderItem, QueryBody, Statement};
use selkie_types::error::catalogue::ER_WRONG_ARGUMENTS;
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use crate::planning::{self, PlanKey};
use crate::session::{PreparedTicket, bump};
use crate::statement::{self, Running};
use crate::{Instance, Outcome, ResultSink, Session, handler};

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared {
    /// Its text.
    pub text: Arc<[u8]>,
    /// What it says.
    pub statement: Statement,
    /// Number of `?`.
    pub parameters: usize,
    /// A placeholder is a key of ORDER BY or GROUP BY, where a number names a column.
    numbers_columns: bool,
    /// Columns of its result, as known without the parameters' types.
    pub output: Vec<OutputColumn>,
    plan: Mutex<Option<CachedPlan>>,
}

/// A statement that SQL PREPARE gave a name.
pub struct Named {
    /// The statement.
    pub statement: Arc<Prepared>,
    /// Its place among those of all sessions.
    pub ticket: PreparedTicket,
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.statement.fmt(f)
    }
}

/// A plan and what it was made for.
#[derive(Clone, Debug)]
struct CachedPlan {
    plan: Arc<Plan>,
    key: PlanKey,
    types: Vec<SqlType>,
}

/// Parses and plans `text`, which is one statement; `origin` is what a client sent.
pub fn prepare(
    instance: &Instance,
    session: &mut Session,
    text: &[u8],
    origin: Option<&ClientText>,
) -> SqlResult<Prepared> {
    let parsed = planning::parse(session, text, origin)?;
    prepare_statement(instance, session, parsed.statement, text, parsed.params as usize)
}

/// Plans a parsed statement with `parameters` placeholders.
pub fn prepare_statement(
    instance: &Instance,
    session: &mut Session,
    statement: Statement,
    text: &[u8],
    parameters: usize,
) -> SqlResult<Prepared> {
    let mut output = Vec::new();
    let mut cached = None;
    if is_planned(&statement) {
        let key = PlanKey::new(instance, session);
        let plan = planning::plan(instance, session, &statement, text, (&[], parameters))?;
        if plan.into.is_none() {
            output = plan.output.to_vec();
        }
        if parameters == 0 {
            cached = Some(CachedPlan { plan: Arc::new(plan), key, types: Vec::new() });
        }
    }
    if let Statement::Handler(_) = &statement {
        output = handler::prepare(instance, session, &statement, text, parameters)?;
    }
    let plan = Mutex::new(cached);
    let numbers_columns = parameters > 0 && !keys(&mut statement.clone()).is_empty();
    Ok(Prepared { text: text.into(), statement, parameters, numbers_columns, output, plan })
}

/// The keys of ORDER BY and GROUP BY of the outermost query that are placeholders.
fn keys(statement: &mut Statement) -> Vec<&mut Expr> {
    let Statement::Query(query) = statement else { return Vec::new() };
    let mut items: Vec<&mut OrderItem> = query.order_by.iter_mut().collect();
    if let QueryBody::Select(select) = &mut query.body {
        items.extend(select.group_by.iter_mut());
    }
    let exprs = items.into_iter().map(|item| &mut item.expr);
    exprs.filter(|e| matches!(e.kind, ExprKind::Param(_))).collect()
}

/// The statement with the numbers of columns in place of their placeholders.
fn with_numbers(statement: &Statement, values: &[(Value, SqlType)]) -> Statement {
    let mut statement = statement.clone();
    for key in keys(&mut statement) {
        let ExprKind::Param(at) = key.kind else { continue };
        let number = match values.get(at as usize) {
            Some((Value::Int(v), _)) => u64::try_from(*v).ok(),
            Some((Value::UInt(v), _)) => Some(*v),
            _ => None,
        };
        if let Some(number) = number {
            key.kind = ExprKind::Literal(Literal::Int(number));
        }
    }
    statement
}

impl Prepared {
    /// A statement of a stored program, planned when it is first run.
    pub(crate) fn unplanned(statement: Statement, text: Arc<[u8]>, parameters: usize) -> Self {
        Self {
            text,
            statement,
            parameters,
            numbers_columns: false,
            output: Vec::new(),
            plan: Mutex::default(),
        }
    }

    /// Whether the plan kept is for tables that are others now.
    fn is_stale(&self, instance: &Instance, session: &Session) -> bool {
        let kept = self.plan.lock();
        kept.as_ref().is_some_and(|kept| !planning::is_current(instance, session, &kept.plan))
    }

    /// The plan for parameters of these types; a new one if definitions or settings changed.
    pub(crate) fn plan(
        &self,
        instance: &Instance,
        session: &Session,
        values: &[(Value, SqlType)],
    ) -> SqlResult<Arc<Plan>> {
        let same = |types: &[SqlType]| {
            types.len() == values.len() && types.iter().zip(values).all(|(a, (_, b))| a == b)
        };
        if let Some(cached) = &*self.plan.lock()
            && cached.key.holds(instance, session)
            && same(&cached.types)
        {
            return Ok(cached.plan.clone());
        }
        let key = PlanKey::new(instance, session);
        let types: Vec<SqlType> = values.iter().map(|(_, ty)| ty.clone()).collect();
        let parameters = (&types[..], self.parameters);
        if self.numbers_columns {
            // Such a plan is good for these values only.
            let statement = with_numbers(&self.statement, values);
            let plan = planning::plan(instance, session, &statement, &self.text, parameters)?;
            return Ok(Arc::new(plan));
        }
        let was_stale = self.is_stale(instance, session);
        let plan = planning::plan(instance, session, &self.statement, &self.text, parameters)?;
        if was_stale {
            bump(&session.counters.com_stmt_reprepare, 1);
        }
        let plan = Arc::new(plan);
        *self.plan.lock() = Some(CachedPlan { plan: plan.clone(), key, types });
        Ok(plan)
    }
}

/// Runs a prepared statement with values for its placeholders.
pub fn execute_prepared(
    instance: &Instance,
    session: &mut Session,
    prepared: &Prepared,
    values: &[(Value, SqlType)],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if values.len() != prepared.parameters {
        return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"EXECUTE"]));
    }
    let running = Running { text: &prepared.text, values, prepared: Some(prepared) };
    statement::execute(instance, session, &prepared.statement, running, sink)
}
