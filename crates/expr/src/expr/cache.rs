//! What a node prepares once from its literals.
//!
//! Caches are empty in a fresh or rewritten node, and equal to every other cache: they hold nothing
//! that is not implied by the rest of the node. What is in them only who evaluates the node knows.

use std::any::Any;
use std::sync::{Arc, OnceLock};

/// Something that the evaluation of a node made of its literals: a compiled pattern, a parsed path,
/// the searchable form of an IN list.
#[derive(Clone, Default)]
pub struct Cache(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Cache {
    /// What `make` makes, kept if `keep`.
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
