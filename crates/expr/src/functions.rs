//! The built-in functions, a family to a file: bindings and kernels side by side.

pub(crate) mod arith;
pub(crate) mod logic;
pub(crate) mod pattern;
pub(crate) mod regexp;

use crate::function::Function;

/// All families of functions that are called by name.
pub(crate) static FAMILIES: &[&[Function]] = &[logic::FUNCTIONS, regexp::FUNCTIONS];
