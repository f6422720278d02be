//! What a node prepares once from its literals.
//!
//! Caches are empty in a fresh or rewritten node, and equal to every other cache: they hold nothing
//! that is not implied by the rest of the node.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use super::in_list::PreparedList;

/// Something a kernel made of its literal arguments: a compiled pattern, a parsed path.
#[derive(Clone, Default)]
pub struct CallCache(OnceLock<Arc<dyn Any + Send + Sync>>);

impl CallCache {
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

impl PartialEq for CallCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for CallCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallCache")
    }
}

/// The searchable form of an IN list of literals.
#[derive(Clone, Default)]
pub struct ListCache(OnceLock<Option<Arc<PreparedList>>>);

impl ListCache {
    pub(super) fn get_or(
        &self,
        make: impl FnOnce() -> Option<Arc<PreparedList>>,
    ) -> Option<&Arc<PreparedList>> {
        self.0.get_or_init(make).as_ref()
    }
}

impl PartialEq for ListCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for ListCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ListCache")
    }
}
