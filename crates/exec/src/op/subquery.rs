//! Runs the subqueries of expressions, remembering results by the values they depend on. Results
//! are kept per execution in [`crate::run::subquery_cache`], at most 4096 per subquery; a volatile
//! subquery runs each time.

use std::sync::Arc;

use selkie_expr::{
    EvalContext, GroupOfRows, SearchId, SequenceCall, StoredCall, SubqueryId, SubqueryRunner,
};
use selkie_plan::physical::SubPlan;
use selkie_types::error::catalogue::ER_SUBQUERY_NO_1_ROW;
use selkie_types::{Batch, Column, Condition, DateTime, SqlError, SqlResult, Value};

use crate::op::{drain, open};
use crate::run::subquery_cache::{Answer, Known};
use crate::run::{Env, Runtime};
use crate::state::around::Around;
use crate::state::session::bump;

/// Most results kept for one subquery.
const REMEMBERED: usize = 4096;

impl<'a> Runtime<'a> {
    fn subplan(&self, id: SubqueryId) -> SqlResult<&SubPlan> {
        let missing = || SqlError::internal(format_args!("there is no subquery {}", id.0));
        self.plan.subplans.get(id.0 as usize).ok_or_else(missing)
    }

    /// Result for the current values of the subquery's slots, cached or by `run`.
    fn answer(
        &self,
        id: SubqueryId,
        ctx: &EvalContext<'_>,
        run: impl FnOnce(Env<'_>, &SubPlan) -> SqlResult<Known>,
    ) -> SqlResult<Known> {
        let plan = self.subplan(id)?;
        let run = || run(Env { rt: self, eval: ctx, cell: None, wanted: None }, plan);
        if plan.volatile {
            return run();
        }
        let key = values_key(plan, ctx);
        if let Some(answer) = self.subqueries.borrow_mut()[id.0 as usize].known.get_mut(&*key) {
            if let Some(raised) = &mut answer.raised {
                ctx.conditions.borrow_mut().keep_raised(raised);
            }
            return Ok(answer.known.clone());
        }
        let mark = ctx.conditions.borrow().mark();
        let known = run()?;
        let raised = ctx.conditions.borrow().raised_since(mark).map(Box::new);
        let mut caches = self.subqueries.borrow_mut();
        let cache = &mut caches[id.0 as usize].known;
        if cache.len() >= REMEMBERED {
            cache.clear();
        }
        cache.insert(key, Answer { known: known.clone(), raised });
        Ok(known)
    }
}

/// Compat: under IGNORE, a subquery with several rows is NULL with a warning. The warning is raised
/// where the value is used, because a batch may be evaluated again and its conditions forgotten.
fn warn_of_rows(ctx: &EvalContext<'_>) {
    let is_told = |c: &Condition| c.code == ER_SUBQUERY_NO_1_ROW.code;
    if !ctx.conditions.borrow().list().iter().any(is_told) {
        ctx.warn(&ER_SUBQUERY_NO_1_ROW, &[]);
    }
}

/// The values of a subquery's slots, encoded as a cache key.
fn values_key(plan: &SubPlan, ctx: &EvalContext<'_>) -> Box<[u8]> {
    let mut key = Vec::with_capacity(plan.slots.len() * 9);
    for &slot in &plan.slots {
        put_value(&ctx.parameter(slot), &mut key);
    }
    key.into()
}

fn put_value(value: &Value, out: &mut Vec<u8>) {
    let mut put = |tag: u8, bytes: &[u8]| {
        out.push(tag);
        out.extend_from_slice(bytes);
    };
    match value {
        Value::Null => put(0, &[]),
        Value::Int(v) => put(1, &v.to_le_bytes()),
        Value::UInt(v) => put(2, &v.to_le_bytes()),
        Value::Double(v) => put(3, &v.to_bits().to_le_bytes()),
        Value::Decimal(v) => {
            put(4, &[v.scale()]);
            out.extend_from_slice(&v.unscaled().to_le_bytes());
        }
        Value::Date(v) => put(5, &v.0.to_le_bytes()),
        Value::Time(v) => put(6, &v.0.to_le_bytes()),
        Value::DateTime(v) => put(7, &v.0.to_le_bytes()),
        Value::Bytes(v) => {
            put(8, &(v.len() as u64).to_le_bytes());
            out.extend_from_slice(v);
        }
    }
}

impl SubqueryRunner for Runtime<'_> {
    fn stored(
        &self,
        call: &StoredCall,
        args: Vec<Value>,
        ctx: &EvalContext<'_>,
    ) -> SqlResult<Value> {
        let Self { instance, session, control, plan, .. } = self;
        instance.programs.call(Around { instance, session, control, plan, eval: ctx }, call, args)
    }

    fn group(
        &self,
        call: &StoredCall,
        group: GroupOfRows,
        ctx: &EvalContext<'_>,
    ) -> SqlResult<Value> {
        let Self { instance, session, control, plan, .. } = self;
        let around = Around { instance, session, control, plan, eval: ctx };
        instance.programs.group(around, call, group)
    }

    fn sequence(&self, call: &SequenceCall) -> SqlResult<Value> {
        crate::run::sequence::evaluate(self.instance, self.session, self.control, call)
    }

    fn transaction_at(&self, time: DateTime) -> SqlResult<u64> {
        self.registry().last_at(time)
    }

    fn transaction_sees(&self, watcher: u64, other: u64) -> SqlResult<bool> {
        self.registry().sees(watcher, other)
    }

    fn committed_at(&self, number: u64) -> SqlResult<DateTime> {
        self.registry().committed_at(number)
    }

    fn ranks(&self, id: SearchId, keys: &Column, ctx: &EvalContext<'_>) -> SqlResult<Vec<f32>> {
        self.ranks_of(id, keys, ctx)
    }

    fn is_volatile(&self, id: SubqueryId) -> bool {
        self.subplan(id).is_ok_and(|plan| plan.volatile)
    }

    fn scalar(&self, id: SubqueryId, column: usize, ctx: &EvalContext<'_>) -> SqlResult<Value> {
        let known = self.answer(id, ctx, |env, plan| {
            let mut op = open(env, &plan.root)?;
            let Some(batch) = op.next()? else { return Ok(Known::Single(None)) };
            if batch.rows() > 1 || op.next()?.is_some() {
                return match self.plan.ignores_errors() {
                    true => Ok(Known::TooMany),
                    false => Err(SqlError::new(&ER_SUBQUERY_NO_1_ROW, &[])),
                };
            }
            let row = (0..batch.columns().len()).map(|at| batch.value(at, 0)).collect();
            Ok(Known::Single(Some(row)))
        })?;
        match known {
            Known::TooMany => {
                warn_of_rows(ctx);
                Ok(Value::Null)
            }
            Known::Single(row) => Ok(row.map_or(Value::Null, |row| row[column].clone())),
            _ => Err(SqlError::internal("a subquery is asked for a value and for rows")),
        }
    }

    fn exists(&self, id: SubqueryId, ctx: &EvalContext<'_>) -> SqlResult<bool> {
        let known = self.answer(id, ctx, |env, plan| {
            Ok(Known::Exists(open(env, &plan.root)?.next()?.is_some()))
        })?;
        match known {
            Known::Exists(exists) => Ok(exists),
            _ => Err(SqlError::internal("a subquery is asked for a value and for rows")),
        }
    }

    fn rows(&self, id: SubqueryId, ctx: &EvalContext<'_>) -> SqlResult<Arc<Vec<Batch>>> {
        let known = self.answer(id, ctx, |env, plan| {
            let rows = drain(&mut *open(env, &plan.root)?)?;
            bump(&env.counters().created_tmp_tables, 1);
            Ok(Known::Rows(Arc::new(rows)))
        })?;
        match known {
            Known::Rows(rows) => Ok(rows),
            _ => Err(SqlError::internal("a subquery is asked for a value and for rows")),
        }
    }
}
