//! A prepared statement and its cached plans. Must not plan or run it. Several sessions may share
//! it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use selkie_plan::physical::{OutputColumn, Plan};
use selkie_plan::{Assumption, Environment};
use selkie_sql::ast::Statement;
use selkie_sql::{Digest, ParameterPlace, of_any_length, parameter_places};
use selkie_types::{CollationId, SqlType, TypeKind, Value};
use smallvec::SmallVec;

use super::bulk::BulkShape;
use super::plan_key::PlanKey;
use super::session::PreparedTicket;
use crate::{Instance, Session};

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared {
    /// Its text.
    pub text: Arc<[u8]>,
    /// Its tree.
    pub statement: Statement,
    /// Number of `?`.
    pub parameters: usize,
    /// Collation of its string literals: that of the connection when it was prepared.
    pub(crate) literals: Option<CollationId>,
    /// For each placeholder, whether the plan is independent of the value's length.
    pub(crate) of_any_length: Box<[bool]>,
    /// Whether a placeholder is a key of ORDER BY or GROUP BY, where a number means a column.
    pub(crate) numbers_columns: bool,
    /// Names of its parameters, which are variables of a program; empty for placeholders.
    pub(crate) variables: Box<[Box<str>]>,
    /// Columns of its result, as known without the parameters' types.
    pub output: Vec<OutputColumn>,
    pub(crate) plans: Mutex<Plans>,
    /// Placeholders in its text, once the binary log has asked for them.
    pub(crate) places: OnceLock<Box<[ParameterPlace]>>,
    /// Digest of its text, once anything has asked for it.
    pub(crate) digest: OnceLock<Digest>,
    /// Shape of the rows of parameters, for a bulk INSERT.
    pub(crate) shape: Option<BulkShape>,
    /// The bulk INSERT made last for this statement.
    pub(crate) bulk: Mutex<Option<Arc<Prepared>>>,
}

/// A statement that SQL PREPARE gave a name.
pub struct Named {
    /// The statement.
    pub statement: Arc<Prepared>,
    /// Counts it among the prepared statements of all sessions.
    pub ticket: PreparedTicket,
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.statement.fmt(f)
    }
}

/// A plan and the conditions under which it was made.
#[derive(Clone, Debug)]
pub(crate) struct CachedPlan {
    pub(crate) plan: Arc<Plan>,
    pub(crate) key: PlanKey,
    pub(crate) types: Vec<SqlType>,
    /// Rows of each of the plan's tables when it was made.
    rows: Box<[u64]>,
    /// Estimates for its first values, on which it rests.
    pub(crate) assumptions: Box<[Assumption]>,
}

/// Tables with fewer rows than this are equal for planning.
const FEW_ROWS: u64 = 64;
/// Factor by which a table may grow or shrink before its plans are dropped.
const GROWTH: u64 = 8;

/// Row count of each of a plan's tables, as known to the engines.
fn rows_of<'a>(instance: &'a Instance, plan: &'a Plan) -> impl Iterator<Item = u64> + 'a {
    plan.tables.iter().map(|table| match table.has_storage() {
        true => instance.look_into(table).map_or(0, |handle| handle.table.rows()),
        false => 0,
    })
}

impl CachedPlan {
    /// A plan that has just been made under `key`.
    pub(crate) fn new(
        instance: &Instance,
        plan: Arc<Plan>,
        key: PlanKey,
        types: Vec<SqlType>,
    ) -> Self {
        let rows = rows_of(instance, &plan).collect();
        Self { plan, key, types, rows, assumptions: Box::default() }
    }

    /// The same for a plan that is good only where these estimates are alike.
    pub(crate) fn resting_on(self, assumptions: Vec<Assumption>) -> Self {
        Self { assumptions: assumptions.into(), ..self }
    }

    /// Whether another plan may stand beside it, for the same types and other values.
    fn is_beside(&self, other: &Self) -> bool {
        self.types != other.types || !self.assumptions.is_empty() && !other.assumptions.is_empty()
    }

    /// Whether the plan's tables are about as large as they were when it was made.
    pub(crate) fn fits_sizes(&self, instance: &Instance) -> bool {
        rows_of(instance, &self.plan).zip(&self.rows).all(|(now, then)| {
            let (now, then) = (now.max(FEW_ROWS), (*then).max(FEW_ROWS));
            now.max(then) / now.min(then) < GROWTH
        })
    }

    /// Whether it is valid for values of these types, some of which may have any length.
    pub(crate) fn is_for(
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
            && self.plan.variables.user.iter().all(|(name, ty)| reads_same(session, name, ty))
            && self.plan.variables.system.iter().all(|(scope, name, ty)| {
                Environment::system_variable(session, *scope, name).is_ok_and(|now| now == *ty)
            })
    }
}

/// Whether a user variable still has a type that reads like `ty`, apart from its length.
fn reads_same(session: &Session, name: &str, ty: &Option<SqlType>) -> bool {
    let form = |ty: &SqlType| (ty.physical(), ty.kind, ty.decimals, ty.collation);
    let now = Environment::user_variable(session, name);
    now.as_ref().map(form) == ty.as_ref().map(form)
}

/// A type that also holds longer values than `ty`: one of few for each kind of strings, decimals
/// and integers.
pub(crate) fn roomy(ty: &SqlType) -> SqlType {
    const LENGTHS: [u32; 3] = [255, 65_535, 16_777_215];
    const DIGITS: u8 = 20;
    const WIDTH: u32 = 21;
    let money = SqlType::decimal(DIGITS.into(), ty.decimals.min(DIGITS));
    match ty.kind {
        TypeKind::VarChar => {
            let length = LENGTHS.into_iter().find(|most| ty.length <= *most);
            SqlType { length: length.unwrap_or(ty.length), ..ty.clone() }
        }
        TypeKind::Decimal if ty.length <= money.length && ty.decimals <= DIGITS => money,
        _ if ty.is_integer() => SqlType { kind: TypeKind::BigInt, length: WIDTH, ..ty.clone() },
        _ => ty.clone(),
    }
}

/// Cached plans of a statement; sessions that share it may send other types.
pub(crate) type Plans = SmallVec<[CachedPlan; 1]>;

/// Most plans kept for one statement.
const PLANS: usize = 4;

impl Prepared {
    /// The digest of its text; `make` computes it once.
    pub fn digest(&self, make: impl FnOnce(&[u8]) -> Digest) -> &Digest {
        self.digest.get_or_init(|| make(&self.text))
    }

    /// A statement that is planned when it first runs.
    pub(crate) fn unplanned(statement: Statement, text: Arc<[u8]>, parameters: usize) -> Self {
        Self {
            text,
            statement,
            parameters,
            literals: None,
            of_any_length: Box::default(),
            numbers_columns: false,
            variables: Box::default(),
            output: Vec::new(),
            plans: Mutex::default(),
            places: OnceLock::new(),
            digest: OnceLock::new(),
            shape: None,
            bulk: Mutex::default(),
        }
    }

    /// An INSERT with one list of values for each pattern of `shape`.
    pub(crate) fn of_shape(
        statement: Statement,
        text: Arc<[u8]>,
        parameters: usize,
        shape: BulkShape,
    ) -> Self {
        let of_any_length = of_any_length(&statement, parameters);
        let unplanned = Self::unplanned(statement, text, parameters);
        Self { of_any_length, shape: Some(shape), ..unplanned }
    }

    /// Placeholders in its text, if it changes rows.
    pub(crate) fn places(&self) -> &[ParameterPlace] {
        self.places.get_or_init(|| parameter_places(&self.statement).into())
    }

    pub(crate) fn is_of_any_length(&self, parameter: usize) -> bool {
        self.of_any_length.get(parameter).copied().unwrap_or(false)
    }

    /// Whether the tables of its plans are about as large as they were when these were made.
    pub(crate) fn fits_sizes(&self, instance: &Instance) -> bool {
        let plans = self.plans.lock();
        !plans.is_empty() && plans.iter().all(|kept| kept.fits_sizes(instance))
    }

    /// Drops plans whose tables are much larger or smaller now.
    pub(crate) fn forget_outgrown(&self, instance: &Instance) {
        self.plans.lock().retain(|kept| kept.fits_sizes(instance));
    }

    /// Caches a plan, in place of plans made under other definitions or settings. A plan that rests
    /// on no estimate is not kept beside those that do: it would be used for all values.
    pub(crate) fn keep(&self, plan: CachedPlan) {
        let mut plans = self.plans.lock();
        plans.retain(|other| other.key == plan.key);
        let rests = |other: &CachedPlan| other.types == plan.types && !other.assumptions.is_empty();
        if plan.assumptions.is_empty() && plans.iter().any(rests) {
            return;
        }
        plans.retain(|other| plan.is_beside(other));
        plans.truncate(PLANS - 1);
        plans.insert(0, plan);
    }
}
