//! Data that a node prepares once from its literals.
//!
//! A cache is empty in a new or rewritten node, and equal to every other cache: it holds nothing
//! that does not follow from the rest of the node. Only the code that evaluates the node knows the
//! content.

use std::any::Any;
use std::sync::{Arc, OnceLock};

/// Data that the evaluation of a node made from its literals: a compiled pattern, a parsed path,
/// the searchable form of an IN list.
#[derive(Clone, Default)]
pub struct Cache(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Cache {
    /// The result of `make`; kept for later calls if `keep`.
    pub(crate) fn get_or<T: Send + Sync + 'static>(
        &self,
        keep: bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        if !keep {
            return Arc::new(make());
        }
        let any = self.0.get_or_init(|| Arc::new(make())).clone();
        any.downcast::<T>()
            .unwrap_or_else(|_| unreachable!("one kernel per call, one kind of cache"))
    }
}

impl PartialEq for Cache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cache")
    }
}
