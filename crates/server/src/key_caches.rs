//! Key caches by name, as structures of variables. No engine here has a use for one, so their
//! variables are all there is to them.
//!
//! Must not allocate what the variables say.

use std::collections::BTreeMap;

use parking_lot::RwLock;
use selkie_types::error::catalogue::ER_VARIABLE_IS_NOT_STRUCT;
use selkie_types::{SqlError, SqlResult};

use crate::variables::{Globals, VarDef, VarId, VarValue};

/// All caches but the default one, whose variables are the server's.
#[derive(Debug, Default)]
pub(crate) struct KeyCaches {
    caches: RwLock<BTreeMap<String, Vec<(VarId, VarValue)>>>,
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
        // Compat: a cache that is not there has zeros for values.
        let Some(values) = caches.get(&cache.to_lowercase()) else {
            return Ok(VarValue::Uint(0));
        };
        let own = values.iter().find(|(id, _)| *id == def.id).map(|(_, value)| value.clone());
        Ok(own.unwrap_or_else(|| globals.default_of(def.id)))
    }

    /// Gives a cache's variable a value. A cache is made when it gets its first one, and goes away
    /// when its size becomes zero.
    pub(crate) fn set(&self, cache: &str, def: &VarDef, value: VarValue) {
        let mut caches = self.caches.write();
        if def.name == "key_buffer_size" && value.as_u64() == 0 {
            caches.remove(cache);
            return;
        }
        let values = caches.entry(cache.to_owned()).or_default();
        match values.iter_mut().find(|(id, _)| *id == def.id) {
            Some((_, own)) => *own = value,
            None => values.push((def.id, value)),
        }
    }
}
