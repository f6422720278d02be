//! Statements planned once and run often.

use std::sync::Arc;

use parking_lot::Mutex;
use selkie_plan::physical::{OutputColumn, Plan};
use selkie_sql::ast::Statement;
use selkie_types::{SqlResult, SqlType, Value};

use crate::planning::{self, PlanKey};
use crate::statement::{self, Parameters};
use crate::{Instance, Outcome, ResultSink, Session};

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared {
    /// Its text.
    pub text: Box<[u8]>,
    /// What it says.
    pub statement: Statement,
    /// Number of `?`.
    pub parameters: usize,
    /// Columns of its result, as known without the parameters' types.
    pub output: Vec<OutputColumn>,
    plan: Mutex<Option<CachedPlan>>,
}

/// A plan and what it was made for.
#[derive(Clone, Debug)]
struct CachedPlan {
    plan: Arc<Plan>,
    key: PlanKey,
    types: Vec<SqlType>,
}

/// Parses and plans `text`.
pub fn prepare(instance: &Instance, session: &mut Session, text: &[u8]) -> SqlResult<Prepared> {
    let parsed = planning::parse(session, text)?;
    prepare_statement(instance, session, parsed.statement, text, parsed.parameters)
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
    if planning::is_planned(&statement) {
        let key = PlanKey::new(instance, session);
        let plan = planning::plan(instance, session, &statement, text, &[])?;
        output = plan.output.clone();
        if parameters == 0 {
            cached = Some(CachedPlan { plan: Arc::new(plan), key, types: Vec::new() });
        }
    }
    let plan = Mutex::new(cached);
    Ok(Prepared { text: text.into(), statement, parameters, output, plan })
}

impl Prepared {
    /// The plan for parameters of these types; a new one if definitions or settings changed.
    pub(crate) fn plan(
        &self,
        instance: &Instance,
        session: &Session,
        types: &[SqlType],
    ) -> SqlResult<Arc<Plan>> {
        let key = PlanKey::new(instance, session);
        if let Some(cached) = &*self.plan.lock()
            && cached.key == key
            && cached.types == types
        {
            return Ok(cached.plan.clone());
        }
        let plan = planning::plan(instance, session, &self.statement, &self.text, types)?;
        let plan = Arc::new(plan);
        let cached = CachedPlan { plan: plan.clone(), key, types: types.to_vec() };
        *self.plan.lock() = Some(cached);
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
    let parameters = Parameters { values, prepared: Some(prepared) };
    statement::execute(instance, session, &prepared.statement, &prepared.text, parameters, sink)
}
