//! Built-in functions: their names, numbers of arguments, and binding of calls to kernels.
//!
//! A function's `bind` converts the arguments to the kinds that its kernel reads, infers the type
//! of the result and chooses the kernel. The functions themselves are in `functions/`.

mod binding;

use selkie_types::error::catalogue::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT;
use selkie_types::{Column, SqlError, SqlResult};

pub use binding::Binding;
pub(crate) use binding::{constant_value, string_type};

use crate::expr::Expr;
use crate::kernel::Frame;

/// Computes a call from its evaluated arguments.
pub type Kernel = fn(&Frame<'_>) -> SqlResult<Column>;

/// Condition under which two evaluations of a call with equal arguments give equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Always.
    Pure,
    /// Within a statement: `NOW()`, `USER()`, and functions that depend on the session's time zone.
    Statement,
    /// Never guaranteed: `RAND()`.
    Volatile,
    /// Never, and the evaluation has an effect: `SLEEP()`, `GET_LOCK()`.
    Effect,
}

/// Kernels that give a JSON document as a scalar, instead of the document's text.
#[derive(Debug)]
pub(crate) struct Readings {
    /// As a value: without quotes, truth values as numbers.
    pub(crate) value: Kernel,
    /// As the number that this value begins with.
    pub(crate) number: Kernel,
    /// As a text to compare with another text.
    pub(crate) text: Kernel,
}

/// A built-in function.
#[derive(Debug)]
pub struct Function {
    name: &'static str,
    min: u8,
    max: u8,
    nature: Nature,
    /// Arguments from this one on come in pairs.
    pairs: Option<u8>,
    readings: Option<Readings>,
    bind: fn(Binding<'_>) -> SqlResult<Expr>,
}

/// No upper limit of the number of arguments.
pub(crate) const MANY: u8 = u8::MAX;

impl Function {
    /// A function of `min` to `max` arguments.
    pub(crate) const fn new(
        name: &'static str,
        min: u8,
        max: u8,
        bind: fn(Binding<'_>) -> SqlResult<Expr>,
    ) -> Self {
        Self { name, min, max, nature: Nature::Pure, pairs: None, readings: None, bind }
    }

    /// This function with another nature.
    pub(crate) const fn nature(self, nature: Nature) -> Self {
        Self { nature, ..self }
    }

    /// This function, whose arguments come in pairs after the first `count`.
    pub(crate) const fn pairs_after(self, count: u8) -> Self {
        Self { pairs: Some(count), ..self }
    }

    /// This function, whose documents can be read as scalars.
    pub(crate) const fn read_as(self, readings: Readings) -> Self {
        Self { readings: Some(readings), ..self }
    }

    /// Kernels that give the result as a scalar; none for most functions.
    pub(crate) fn readings(&self) -> Option<&Readings> {
        self.readings.as_ref()
    }

    /// The name in upper case; the symbol of an operator.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether equal arguments give equal values within a statement.
    pub fn is_deterministic(&self) -> bool {
        matches!(self.nature, Nature::Pure | Nature::Statement)
    }

    /// Whether equal arguments always give equal values.
    pub fn is_pure(&self) -> bool {
        self.nature == Nature::Pure
    }

    /// Whether the evaluation has an effect.
    pub fn has_side_effects(&self) -> bool {
        self.nature == Nature::Effect
    }

    /// Whether this is an implicit conversion.
    pub fn is_implicit(&self) -> bool {
        self.name.is_empty()
    }

    /// Error 1582 if the function, written as `written`, does not take `count` arguments.
    pub(crate) fn check_count(&self, count: usize, written: &str) -> SqlResult<()> {
        let few = count < usize::from(self.min);
        let many = self.max != MANY && count > usize::from(self.max);
        let odd = self.pairs.is_some_and(|n| (count + usize::from(n)) % 2 == 1);
        match few || many || odd {
            true => Err(SqlError::new(&ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, &[&written])),
            false => Ok(()),
        }
    }

    /// Binds a call, checking the number of arguments.
    pub(crate) fn bind(&'static self, binding: Binding<'_>) -> SqlResult<Expr> {
        self.check_count(binding.args.len(), self.name)?;
        (self.bind)(binding)
    }
}
