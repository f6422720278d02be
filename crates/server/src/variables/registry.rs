//! The list of all variables, and the look-up of a definition by name.
//!
//! Must not change after the start.

use hashbrown::HashMap;
use std::sync::LazyLock;

use super::def::{VarDef, VarId};

static TABLE: &str = include_str!("../../data/system_variables.tsv");
static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::load);

/// All variables in the order of SHOW VARIABLES.
#[derive(Debug)]
pub struct Registry {
    defs: Vec<VarDef>,
    by_name: HashMap<String, VarId>,
}

/// The registry.
pub fn registry() -> &'static Registry {
    &REGISTRY
}

impl Registry {
    fn load() -> Self {
        let mut lines: Vec<&str> =
            TABLE.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).collect();
        lines.sort_by_key(|l| l.split('\t').next().unwrap_or_default().to_ascii_lowercase());
        let defs: Vec<VarDef> = lines
            .into_iter()
            .enumerate()
            .filter_map(|(i, line)| VarDef::parse(VarId(i as u16), line))
            .collect();
        let by_name = defs.iter().map(|d| (d.name.to_ascii_lowercase(), d.id)).collect();
        Self { defs, by_name }
    }

    /// All definitions.
    pub fn all(&self) -> &[VarDef] {
        &self.defs
    }

    /// The definition of `id`.
    pub fn def(&self, id: VarId) -> &VarDef {
        &self.defs[usize::from(id.0)]
    }

    /// The variable called `name`, in any case.
    pub fn find(&self, name: &str) -> Option<&VarDef> {
        let id = match self.by_name.get(name) {
            Some(id) => *id,
            None => *self.by_name.get(&name.to_ascii_lowercase())?,
        };
        Some(self.def(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::{Kind, Scope};

    #[test]
    fn every_line_is_read() {
        let lines = TABLE.lines().filter(|l| !l.starts_with('#')).count();
        assert_eq!(registry().all().len(), lines);
        assert!(registry().all().iter().enumerate().all(|(i, d)| usize::from(d.id.0) == i));
    }

    #[test]
    fn samples() {
        let def = registry().find("MAX_Connections").unwrap();
        assert_eq!(def.scope, Scope::Global);
        assert_eq!(def.kind, Kind::Uint { min: 10, max: 100_000, block: 1 });
        assert_eq!(def.default, Some("151"));
        assert!(registry().find("nosuch").is_none());
    }
}
