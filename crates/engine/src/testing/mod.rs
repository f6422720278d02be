//! Tests of the contract that every engine runs, behind the feature `testing`.
//!
//! [`conformance`] checks the promises one by one; [`compare`] does random work on two engines and
//! demands equal results. Failures panic, as tests do.

mod conformance;
mod model;
mod personality;
mod random;
mod tables;

pub use conformance::conformance;
pub use model::{Twin, compare, contents};
pub use personality::TRANSACTIONAL;
pub use random::Random;
pub use tables::{NoContext, item_row, items, letters, rows_of, span_row, spans};
