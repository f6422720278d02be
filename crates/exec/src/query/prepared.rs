//! Statements planned once and run often.

mod shared;

pub use shared::prepare_shared;

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use selkie_plan::physical::{OutputColumn, Plan};
use selkie_plan::{Environment, is_planned};
use selkie_sql::ast::{Expr, ExprKind, Literal, OrderItem, QueryBody, SelectItem, Statement};
use selkie_sql::{ClientText, of_any_length};
use selkie_types::error::catalogue::{
    ER_UNKNOWN_ERROR, ER_WARN_ALLOWED_PACKET_OVERFLOWED, ER_WARN_DEPRECATED_SYNTAX,
    ER_WARN_VIEW_WITHOUT_KEY, ER_WRONG_ARGUMENTS,
};
use selkie_types::{Level, SqlError, SqlResult, SqlType, TypeKind, Value};
use smallvec::SmallVec;

use crate::query::planning::{self, PlanKey};
use crate::query::running::Running;
use crate::state::session::{PreparedTicket, bump};
use crate::statement;
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
    /// Of which placeholders the values' lengths do not matter.
    of_any_length: Box<[bool]>,
    /// A placeholder is a key of ORDER BY or GROUP BY, where a number names a column.
    numbers_columns: bool,
    /// Columns of its result, as known without the parameters' types.
    pub output: Vec<OutputColumn>,
    plans: Mutex<Plans>,
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

impl CachedPlan {
    /// Whether it is for values of these types, of which some may have any length.
    fn is_for(
        &self,
        instance: &Instance,
        session: &Session,
        (values, of_any_length): (&[(Value, SqlType)], &[bool]),
    ) -> bool {
        let is_fit = |(at, (_, ty)): (usize, &(Value, SqlType))| {
            let any_length = of_any_length.get(at).copied().unwrap_or(false);
            self.types[at] == *ty || any_length && self.types[at] == roomy(ty)
        };
        self.types.len() == values.len()
            && values.iter().enumerate().all(is_fit)
            && self.key.holds(instance, session)
            && self.plan.user_variables.iter().all(|(name, ty)| reads_same(session, name, ty))
    }
}

/// Whether a user variable is read as it was when its type was `ty`, but for its length.
fn reads_same(session: &Session, name: &str, ty: &Option<SqlType>) -> bool {
    let form = |ty: &SqlType| (ty.physical(), ty.kind, ty.decimals, ty.collation);
    let now = Environment::user_variable(session, name);
    now.as_ref().map(form) == ty.as_ref().map(form)
}

/// A type that values of a type have too, and longer ones: one of few for each kind of strings and decimals.
fn roomy(ty: &SqlType) -> SqlType {
    const LENGTHS: [u32; 3] = [255, 65_535, 16_777_215];
    const DIGITS: u8 = 20;
    let money = SqlType::decimal(DIGITS.into(), ty.decimals.min(DIGITS));
    match ty.kind {
        TypeKind::VarChar => {
            let length = LENGTHS.into_iter().find(|most| ty.length <= *most);
            SqlType { length: length.unwrap_or(ty.length), ..ty.clone() }
        }
        TypeKind::Decimal if ty.length <= money.length && ty.decimals <= DIGITS => money,
        _ => ty.clone(),
    }
}

/// The plans of a statement, by what they were made for: sessions that share it may send other types.
type Plans = SmallVec<[CachedPlan; 1]>;

/// Most of them.
const PLANS: usize = 4;

/// Parses and plans `text`, which is one statement; `origin` is what a client sent.
pub fn prepare(
    instance: &Instance,
    session: &mut Session,
    text: &[u8],
    origin: Option<&ClientText>,
) -> SqlResult<Prepared> {
    let parsed = planning::parse(session, text, origin)?;
    statement::refuse_nested(&parsed.statement)?;
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
    let mut plans = Plans::new();
    if is_planned(&statement) {
        let key = PlanKey::new(instance, session);
        let mut plan = planning::plan(instance, session, &statement, text, (&[], parameters))?;
        tell_of_preparing(session, &statement, &plan);
        forget_text(&mut plan);
        if plan.into.is_none() {
            output = plan.output.to_vec();
            unknown_types(&statement, &mut output);
        }
        if parameters == 0 {
            plans.push(CachedPlan { plan: Arc::new(plan), key, types: Vec::new() });
        }
    }
    if let Statement::Handler(_) = &statement {
        output = handler::prepare(instance, session, &statement, text, parameters)?;
    }
    let plans = Mutex::new(plans);
    let numbers_columns = parameters > 0 && !keys(&mut statement.clone()).is_empty();
    let of_any_length = of_any_length(&statement, parameters);
    let text = text.into();
    Ok(Prepared { text, statement, parameters, of_any_length, numbers_columns, output, plans })
}

/// Compat: a placeholder in the select list has the type of NULL until it has a value.
fn unknown_types(statement: &Statement, output: &mut [OutputColumn]) {
    let Statement::Query(query) = statement else { return };
    let QueryBody::Select(select) = &query.body else { return };
    if select.items.len() != output.len() {
        return;
    }
    for (item, column) in select.items.iter().zip(output) {
        if let SelectItem::Expr { expr, .. } = item
            && matches!(expr.kind, ExprKind::Param(_))
        {
            column.ty = SqlType::null();
        }
    }
}

/// Tells of what was noticed when names and types were resolved, which each execution does again.
fn tell_of_preparing(session: &Session, statement: &Statement, plan: &Plan) {
    let (settings, is_update) = (&session.settings, matches!(statement, Statement::Update(_)));
    for condition in &plan.conditions {
        // Compat: of these only an execution tells.
        let later = match condition.code {
            code if code == ER_WARN_VIEW_WITHOUT_KEY.code => is_update,
            code if code == ER_UNKNOWN_ERROR.code => true,
            code => code == ER_WARN_ALLOWED_PACKET_OVERFLOWED.code,
        };
        let hidden = condition.level == Level::Note && !settings.sql_notes;
        if !later && !hidden {
            session.diagnostics.push(condition.clone(), settings.max_error_count);
        }
    }
}

/// Compat: what is deprecated in the text is told of when that is read, not by executions.
fn forget_text(plan: &mut Plan) {
    let code = ER_WARN_DEPRECATED_SYNTAX.code;
    plan.conditions.retain(|c| c.code != code || c.level == Level::Note);
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
            of_any_length: Box::default(),
            numbers_columns: false,
            output: Vec::new(),
            plans: Mutex::default(),
        }
    }

    /// The statement, to be run for texts of many lengths.
    pub(crate) fn with_any_length(mut self) -> Self {
        self.of_any_length = of_any_length(&self.statement, self.parameters);
        self
    }

    fn is_of_any_length(&self, parameter: usize) -> bool {
        self.of_any_length.get(parameter).copied().unwrap_or(false)
    }

    /// Whether plans kept are for tables that are others now.
    fn is_stale(&self, instance: &Instance) -> bool {
        let kept = self.plans.lock();
        kept.iter().any(|kept| !planning::is_current(instance, &kept.plan))
    }

    /// The plan for parameters of these types; a new one if definitions or settings changed.
    pub(crate) fn plan(
        &self,
        instance: &Instance,
        session: &Session,
        values: &[(Value, SqlType)],
    ) -> SqlResult<Arc<Plan>> {
        let any = &self.of_any_length;
        let is_fit = |kept: &&CachedPlan| kept.is_for(instance, session, (values, any));
        if let Some(kept) = self.plans.lock().iter().find(is_fit) {
            return Ok(kept.plan.clone());
        }
        let key = PlanKey::new(instance, session);
        let planned = |(at, (_, ty)): (usize, &(Value, SqlType))| match self.is_of_any_length(at) {
            true => roomy(ty),
            false => ty.clone(),
        };
        let types: Vec<SqlType> = values.iter().enumerate().map(planned).collect();
        let parameters = (&types[..], self.parameters);
        let make = |statement: &Statement| {
            let mut plan = planning::plan(instance, session, statement, &self.text, parameters)?;
            forget_text(&mut plan);
            Ok::<_, SqlError>(Arc::new(plan))
        };
        if self.numbers_columns {
            // Such a plan is good for these values only.
            return make(&with_numbers(&self.statement, values));
        }
        let was_stale = self.is_stale(instance);
        let plan = make(&self.statement)?;
        if was_stale {
            bump(&session.counters.com_stmt_reprepare, 1);
        }
        self.keep(CachedPlan { plan: plan.clone(), key, types });
        Ok(plan)
    }

    /// Keeps a plan, in place of those made under other definitions or settings.
    fn keep(&self, plan: CachedPlan) {
        let mut plans = self.plans.lock();
        plans.retain(|other| other.key == plan.key && other.types != plan.types);
        plans.truncate(PLANS - 1);
        plans.insert(0, plan);
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
