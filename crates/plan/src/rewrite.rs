//! Rewrites of the logical plan that are always correct and nearly always faster.
//!
//! Order: subqueries become joins, derived tables are merged, outer joins become inner joins,
//! conditions move down, outer joins that change nothing are removed. Must not look at costs; the
//! caller decides where costs matter.

mod eliminate;
mod equality;
mod factor;
mod grouped;
mod merge;
mod nulls;
mod pull;
mod push;
mod quiet;
mod simplify;
mod unnest;

pub(crate) use eliminate::Eliminator;
pub(crate) use equality::{EqualityClasses, as_they_are, equality};
pub(crate) use factor::implied_by_or;
pub(crate) use merge::merge_projections;
pub(crate) use push::push_conditions;
pub(crate) use quiet::is_quiet;
pub(crate) use simplify::is_false;
pub(crate) use unnest::{Unnest, unnest};
