//! Surroundings that the evaluation of expressions needs.
//!
//! [`TypeContext`] is enough to build expressions; [`EvalContext`] adds the state of one execution
//! of a statement. The session is only visible through the [`Session`] trait.

mod conditions;
mod session;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use hashbrown::HashMap;
use selkie_types::Locale;
use selkie_types::{CollationId, Condition, ErrorDef, SqlError, SqlMode, SqlResult, Value};

pub use conditions::{Conditions, Mark, Raised};
pub use session::{GroupOfRows, NoSession, NoSubqueries, Session, SubqueryRunner};

use crate::random::Random;
use crate::timezone::TimeZone;
use smallvec::SmallVec;

/// Settings that the types and the meaning of expressions depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeContext {
    /// `sql_mode`.
    pub sql_mode: SqlMode,
    /// `collation_connection`: collation of literals, and of numbers converted to strings.
    pub collation_connection: CollationId,
    /// `div_precision_increment`.
    pub div_precision_increment: u8,
    /// `group_concat_max_len`.
    pub group_concat_max_len: u64,
    /// `max_allowed_packet`: longest string that a function may make.
    pub max_allowed_packet: u64,
    /// `default_week_format`.
    pub default_week_format: u8,
    /// `default_regex_flags`: one bit per flag, in the order of the variable's values.
    pub regex_flags: u8,
    /// `explicit_defaults_for_timestamp`.
    pub explicit_timestamps: bool,
    /// `time_zone`.
    pub time_zone: TimeZone,
    /// `lc_time_names`.
    pub time_locale: &'static Locale,
}

impl Default for TypeContext {
    fn default() -> Self {
        Self {
            sql_mode: SqlMode::DEFAULT,
            collation_connection: CollationId::UTF8MB4_GENERAL_CI,
            div_precision_increment: 4,
            group_concat_max_len: 1 << 20,
            max_allowed_packet: 16 << 20,
            default_week_format: 0,
            regex_flags: 0,
            explicit_timestamps: true,
            time_zone: TimeZone::utc(),
            time_locale: Locale::english(),
        }
    }
}

/// State of one execution of a statement.
///
/// Not shared between threads: each worker that evaluates a part of a statement has a context of
/// its own; their conditions are merged afterwards.
pub struct EvalContext<'a> {
    /// The settings.
    pub types: TypeContext,
    /// The session.
    pub session: &'a dyn Session,
    /// Runs the subqueries of the statement.
    pub subqueries: &'a dyn SubqueryRunner,
    /// Start of the statement in microseconds since 1970 (`SET timestamp` included).
    pub now_micros: i64,
    /// Conditions raised so far.
    pub conditions: RefCell<Conditions>,
    parameters: RefCell<SmallVec<[Value; 2]>>,
    row: Cell<u64>,
    /// Numbers of the values behind the columns of a batch, outermost first.
    pub(crate) held: RefCell<SmallVec<[u32; 4]>>,
    /// The generator of `RAND()`, made when it is first used.
    random: RefCell<Option<Random>>,
    seeded: RefCell<HashMap<usize, Random>>,
    counted: RefCell<HashMap<usize, u64>>,
    strict_arithmetic: Cell<bool>,
    refuses_zero_dates: Cell<bool>,
    quiet: Cell<bool>,
}

/// State that an evaluation changes, saved so that [`EvalContext::undo`] can restore it before a
/// second evaluation.
#[derive(Debug)]
pub struct Attempt {
    mark: Mark,
    random: Option<Random>,
    seeded: HashMap<usize, Random>,
    counted: HashMap<usize, u64>,
}

impl Attempt {
    /// Whether a condition was raised since then.
    pub fn has_raised(&self, ctx: &EvalContext<'_>) -> bool {
        ctx.conditions.borrow().has_raised_since(self.mark)
    }

    /// Whether conditions were raised since then whose order and text a client can see.
    pub fn is_worth_ordering(&self, ctx: &EvalContext<'_>) -> bool {
        ctx.conditions.borrow().is_worth_ordering_since(self.mark)
    }
}

impl<'a> EvalContext<'a> {
    /// A context for a statement that starts at `now_micros`.
    pub fn new(types: TypeContext, session: &'a dyn Session, now_micros: i64) -> Self {
        Self {
            types,
            session,
            subqueries: &NoSubqueries,
            now_micros,
            conditions: RefCell::default(),
            parameters: RefCell::default(),
            row: Cell::new(1),
            held: RefCell::default(),
            random: RefCell::default(),
            seeded: RefCell::default(),
            counted: RefCell::default(),
            strict_arithmetic: Cell::new(false),
            quiet: Cell::new(false),
            refuses_zero_dates: Cell::new(false),
        }
    }

    /// A context for folding pure expressions, without a session.
    pub fn detached(types: &TypeContext) -> EvalContext<'static> {
        EvalContext::new(types.clone(), &NoSession, 0)
    }

    /// Stores `value` in parameter slot `slot`.
    pub fn set_parameter(&self, slot: usize, value: Value) {
        let mut slots = self.parameters.borrow_mut();
        if slots.len() <= slot {
            slots.resize(slot + 1, Value::Null);
        }
        slots[slot] = value;
    }

    /// Replaces all parameter slots.
    pub fn set_parameters(&self, values: impl IntoIterator<Item = Value>) {
        *self.parameters.borrow_mut() = values.into_iter().collect();
    }

    /// The value in a parameter slot.
    pub fn parameter(&self, slot: usize) -> Value {
        self.parameters.borrow().get(slot).cloned().unwrap_or_default()
    }

    /// A copy of all parameter slots, for a worker's context.
    pub fn parameters(&self) -> Vec<Value> {
        self.parameters.borrow().to_vec()
    }

    /// Adds a condition.
    pub fn push(&self, condition: Condition) {
        self.conditions.borrow_mut().push(condition);
    }

    /// Adds a warning from the catalogue.
    #[cold]
    pub fn warn(&self, def: &ErrorDef, args: &[&dyn std::fmt::Display]) {
        self.push(Condition::warning(def, args));
    }

    /// Adds a note from the catalogue.
    #[cold]
    pub fn note(&self, def: &ErrorDef, args: &[&dyn std::fmt::Display]) {
        self.push(Condition::note(def, args));
    }

    /// The row number of the current batch's first row in messages.
    pub fn row(&self) -> u64 {
        self.row.get()
    }

    /// Sets the number of the first row of the current batch.
    pub fn set_row(&self, row: u64) {
        self.row.set(row);
    }

    /// Whether division by zero is an error, as in strict modes when results are stored.
    pub fn is_strict_arithmetic(&self) -> bool {
        self.strict_arithmetic.get()
    }

    /// Makes division by zero and bad values of conversions errors (INSERT and UPDATE in strict
    /// mode), or warnings.
    pub fn set_strict_arithmetic(&self, strict: bool) {
        self.strict_arithmetic.set(strict);
    }

    /// Evaluates something in which texts of columns that are no numbers raise nothing.
    pub fn quietly<R>(&self, evaluate: impl FnOnce() -> R) -> R {
        let before = self.quiet.replace(true);
        let result = evaluate();
        self.quiet.set(before);
        result
    }

    /// Whether texts of columns that are no numbers raise nothing.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet.get()
    }

    /// Number of conditions so far.
    pub fn raised(&self) -> usize {
        self.conditions.borrow().list().len()
    }

    /// Fails with the first warning that came after the first `raised` conditions. Compat: what an
    /// expression warns of, such as a string that is no number, is an error of a strict statement.
    pub fn refuse_warnings(&self, raised: usize) -> SqlResult<()> {
        match self.conditions.borrow_mut().take_warning_after(raised) {
            Some(warning) => Err(SqlError::raw(warning.code, warning.sqlstate(), warning.message)),
            None => Ok(()),
        }
    }

    /// Whether comparisons reject zero dates of subqueries under NO_ZERO_DATE.
    pub fn refuses_zero_dates(&self) -> bool {
        self.refuses_zero_dates.get()
    }

    /// Makes them reject these: for INSERT and UPDATE of several tables in strict mode.
    pub fn set_refuses_zero_dates(&self, refuses: bool) {
        self.refuses_zero_dates.set(refuses);
    }

    /// Calls `f` with the generator of `RAND()`.
    pub(crate) fn with_random<R>(&self, f: impl FnOnce(&mut Random) -> R) -> R {
        f(self.random.borrow_mut().get_or_insert_with(Random::from_entropy))
    }

    /// The next number of `RAND()`.
    pub fn random(&self) -> f64 {
        self.with_random(Random::next)
    }

    /// Sets the generator of `RAND()` (`SET rand_seed1`).
    pub fn seed_random(&self, seed1: u32, seed2: u32) {
        *self.random.borrow_mut() = Some(Random::from_seeds(seed1, seed2));
    }

    /// The state of the generator of `RAND()`.
    pub fn random_seeds(&self) -> (u32, u32) {
        self.with_random(|random| random.seeds())
    }

    /// Calls `f` with the generator of the `RAND(seed)` call `key`; `init` makes it at first.
    pub(crate) fn with_seeded<R>(
        &self,
        key: usize,
        init: impl FnOnce() -> Random,
        f: impl FnOnce(&mut Random) -> R,
    ) -> R {
        f(self.seeded.borrow_mut().entry(key).or_insert_with(init))
    }

    /// Number of evaluations of the call `key`, this one included.
    pub(crate) fn count(&self, key: usize) -> u64 {
        let mut counted = self.counted.borrow_mut();
        let count = counted.entry(key).or_default();
        *count += 1;
        *count
    }

    /// Begins an evaluation that may have to be repeated in another way.
    pub fn attempt(&self) -> Attempt {
        Attempt {
            mark: self.conditions.borrow().mark(),
            random: self.random.borrow().clone(),
            seeded: self.seeded.borrow().clone(),
            counted: self.counted.borrow().clone(),
        }
    }

    /// Removes the conditions raised since an evaluation began, and makes `RAND()` give the same
    /// numbers again.
    pub fn undo(&self, attempt: &Attempt) {
        self.random.borrow_mut().clone_from(&attempt.random);
        self.seeded.borrow_mut().clone_from(&attempt.seeded);
        self.counted.borrow_mut().clone_from(&attempt.counted);
        self.conditions.borrow_mut().forget_since(attempt.mark);
    }

    /// Returns an error if the statement was killed.
    pub fn check_interrupted(&self) -> SqlResult<()> {
        self.session.check_interrupted()
    }
}

/// Batches that a subquery returned.
pub type SubqueryRows = Arc<Vec<selkie_types::Batch>>;
