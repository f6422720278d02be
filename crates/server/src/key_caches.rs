//! Named key caches, as groups of variables. No engine here uses a key cache, so the variables are
//! all that exists.
//!
//! Must not allocate the memory the variables name.

use std::collections::BTreeMap;

use parking_lot::RwLock;
use selkie_types::error::catalogue::ER_VARIABLE_IS_NOT_STRUCT;
use selkie_types::{SqlError, SqlResult};

use crate::variables::{Globals, VarDef, VarId, VarValue};

/// Variables of a cache that were set.
type Values = Vec<(VarId, VarValue)>;

/// All key caches except the default one, whose variables are the server's.
#[derive(Debug, Default)]
pub(crate) struct KeyCaches {
    /// Values of each cache; none of one that was removed, whose name stays known.
    caches: RwLock<BTreeMap<String, Option<Values>>>,
}

impl KeyCaches {
    /// `@@cache.name`.
    pub(crate) fn read(&self, globals: &Globals, cache: &str, def: &VarDef) -> SqlResult<VarValue> {
        if !def.component {
            return Err(SqlError::new(&ER_VARIABLE_IS_NOT_STRUCT, &[&def.name]));
        }
        if cache.eq_ignore_ascii_case("default") {
            return Ok(globals.get(def.id));
        }
        let caches = self.caches.read();
        // Compat: the values of a missing cache are zero.
        let Some(values) = caches.get(cache).and_then(Option::as_ref) else {
            return Ok(VarValue::Uint(0));
        };
        let own = values.iter().find(|(id, _)| *id == def.id).map(|(_, value)| value.clone());
        Ok(own.unwrap_or_else(|| globals.default_of(def.id)))
    }

    /// Sets a variable of a cache. The first variable creates the cache. Size zero removes it.
    pub(crate) fn set(&self, cache: &str, def: &VarDef, value: VarValue) {
        let mut caches = self.caches.write();
        if def.name == "key_buffer_size" && value.as_u64() == 0 {
            if let Some(values) = caches.get_mut(cache) {
                *values = None;
            }
            return;
        }
        let values = caches.entry(cache.to_owned()).or_default().get_or_insert_default();
        match values.iter_mut().find(|(id, _)| *id == def.id) {
            Some((_, own)) => *own = value,
            None => values.push((def.id, value)),
        }
    }

    /// Whether there is or was a cache with a name. Compat: tables may be assigned to a cache that
    /// was removed.
    pub(crate) fn has(&self, cache: &str) -> bool {
        cache == "default" || self.caches.read().contains_key(cache)
    }
}
