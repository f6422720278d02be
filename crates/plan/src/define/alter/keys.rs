//! The keys of a table that ALTER TABLE adds, drops and renames. Names in its actions are those
//! before the statement.

use selkie_sql::ast::{Ident, IndexDef, IndexKind};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{ER_DUP_KEYNAME, ER_KEY_DOES_NOT_EXISTS, ER_MULTIPLE_PRI_KEY};
use selkie_types::{Condition, SqlError, SqlResult};

use super::{Draft, DraftKey};
use crate::define::indexes::{KeySpec, refuse_reserved};

impl<'a> Draft<'a> {
    /// The key that had this name before the statement.
    pub(super) fn find_key(&self, name: &str) -> Option<usize> {
        self.keys.iter().position(|key| identifier_eq(&key.old_name, name))
    }

    /// As [`Self::find_key`], if no action has renamed it.
    pub(super) fn key_or(&self, name: &Ident, if_exists: bool) -> SqlResult<Option<usize>> {
        match self.find_key(&name.value).filter(|at| !self.keys[*at].renamed) {
            Some(at) => Ok(Some(at)),
            None if if_exists => {
                let arguments: [&dyn std::fmt::Display; 2] = [name, &self.old.name()];
                self.context.eval.note(&ER_KEY_DOES_NOT_EXISTS, &arguments);
                Ok(None)
            }
            None => Err(SqlError::new(&ER_KEY_DOES_NOT_EXISTS, &[name, &self.old.name()])),
        }
    }

    pub(super) fn add_index(&mut self, index: &'a IndexDef) -> SqlResult<()> {
        let spec = KeySpec::of(index);
        if !index.if_not_exists || !self.has_key_of(&spec) {
            self.added.push(spec);
        }
        Ok(())
    }

    /// Whether the old table has a key with the name, which raises a note. Compat: a key without a
    /// name is searched by the name of its first column; for a primary key only its existence
    /// counts.
    fn has_key_of(&self, spec: &KeySpec<'_>) -> bool {
        let (keys, eval) = (self.old.all_indexes(), self.context.eval);
        if spec.kind == IndexKind::Primary {
            let found = self.old.def.has_primary();
            if found {
                let text = SqlError::new(&ER_MULTIPLE_PRI_KEY, &[]);
                let note = Condition::note(&ER_DUP_KEYNAME, &[&""]);
                eval.push(Condition { message: text.message().to_owned(), ..note });
            }
            return found;
        }
        let first = spec.parts.first().map(|part| &*part.column.value);
        let Some(name) = spec.name.or(first) else { return false };
        let added = self.added.iter().filter_map(|spec| spec.name);
        let mut keys = keys;
        let found = keys.any(|(index, _)| identifier_eq(&index.name, name))
            || added.into_iter().any(|other| identifier_eq(other, name));
        if found {
            eval.note(&ER_DUP_KEYNAME, &[&name]);
        }
        found
    }

    pub(super) fn drop_key(&mut self, name: &str, if_exists: bool) -> SqlResult<()> {
        match self.find_key(name) {
            Some(at) => {
                self.keys.remove(at);
                Ok(())
            }
            None => self.cannot_drop("INDEX", name, if_exists),
        }
    }

    pub(super) fn rename_key(
        &mut self,
        from: &Ident,
        to: &Ident,
        if_exists: bool,
    ) -> SqlResult<()> {
        let Some(at) = self.key_or(from, if_exists)? else { return Ok(()) };
        if self.keys[at].changed {
            return Err(SqlError::new(&ER_KEY_DOES_NOT_EXISTS, &[from, &self.old.name()]));
        }
        self.keys[at].def.name = to.value.clone();
        self.keys[at].renamed = true;
        Ok(())
    }

    /// Fails if a key was renamed to the name of another, or to one that the engine keeps for
    /// itself. Renamed keys may take each other's names.
    pub(super) fn check_renamed_keys(&self) -> SqlResult<()> {
        for (at, key) in self.keys.iter().enumerate().filter(|(_, key)| key.renamed) {
            refuse_reserved(self.context, self.table.engine, &key.def.name)?;
            let is_same = |other: &DraftKey| identifier_eq(&other.def.name, &key.def.name);
            let mut others = self.keys[..at].iter().chain(&self.keys[at + 1..]);
            if others.any(is_same) {
                return Err(SqlError::new(&ER_DUP_KEYNAME, &[&key.def.name]));
            }
        }
        Ok(())
    }
}
