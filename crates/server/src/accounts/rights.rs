//! Privileges of one identity on databases, tables and routines, collected from the accounts.
//!
//! Three sources add up: the grants of the account, those of its active role with the roles granted
//! to it, and those of PUBLIC. Built when the accounts or the role change, so that a check is a few
//! look-ups. Must not make errors; `check` does.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_types::Privileges;

use super::account::{AccountName, PUBLIC};
use super::acl::Acl;
use super::check::Identity;
use super::grants::{Columns, Grant, GrantTarget, RoutineKind, same_column};
use super::host::{Specificity, like};

/// Privileges on one table: on the whole table, and on single columns.
#[derive(Clone, Debug, Default)]
pub(super) struct TableRights {
    pub(super) whole: Privileges,
    pub(super) columns: Columns,
}

impl TableRights {
    fn add(&mut self, grant: &Grant) {
        self.whole = self.whole | grant.whole;
        for (name, privileges) in &grant.columns {
            match self.columns.iter_mut().find(|(n, _)| same_column(n, name)) {
                Some((_, all)) => *all = *all | *privileges,
                None => self.columns.push((name.clone(), *privileges)),
            }
        }
    }

    /// Privileges on at least one column.
    pub(super) fn on_any_column(&self) -> Privileges {
        self.columns.iter().fold(Privileges::NONE, |all, (_, p)| all | *p)
    }

    /// Privileges on one column.
    pub(super) fn on_column(&self, name: &str) -> Privileges {
        let found = self.columns.iter().find(|(n, _)| same_column(n, name));
        found.map_or(Privileges::NONE, |(_, p)| *p)
    }
}

/// Database patterns with the privileges granted on them; the most specific one first.
type Patterns = Vec<(String, Privileges)>;

/// Objects by the name of their database, then by their own name.
type ByName<T> = HashMap<String, HashMap<String, T>>;

/// The rights of one identity.
#[derive(Debug, Default)]
pub(super) struct Rights {
    pub(super) acl: Arc<Acl>,
    /// [`super::AclStore::version`] of `acl`.
    pub(super) version: u64,
    /// Patterns of the account, of its role, and of PUBLIC. The first match in each list counts.
    databases: [Patterns; 3],
    tables: ByName<TableRights>,
    routines: ByName<Vec<(RoutineKind, Privileges)>>,
}

impl Rights {
    /// Collects the rights of `identity`.
    pub(super) fn new(acl: Arc<Acl>, version: u64, identity: &Identity) -> Self {
        let mut rights = Self { version, ..Self::default() };
        rights.add_own(&acl, identity);
        let role = identity.role.as_ref();
        rights.databases[1] = role.map_or_else(Vec::new, |r| rights.add_role(&acl, r));
        rights.databases[2] = rights.add_role(&acl, PUBLIC);
        rights.acl = acl;
        rights
    }

    /// Adds the account's own grants.
    ///
    /// Compat: grants count of every account that has this user name and a host that matches the
    /// client, not only of the account that logged in. If several of them have grants on the same
    /// target, those of the most specific host count.
    fn add_own(&mut self, acl: &Acl, identity: &Identity) {
        let mut own: Vec<(&AccountName, &GrantTarget, &Grant)> =
            acl.grants().filter(|(name, ..)| identity.is_granted_to(name)).collect();
        own.sort_by_key(|(name, ..)| name.host.as_ref().map(|h| h.specificity()));
        let mut seen: Vec<&GrantTarget> = Vec::new();
        let mut databases = Vec::new();
        for (name, target, grant) in own {
            if let GrantTarget::Database(pattern) = target {
                let host = name.host.as_ref().map(|h| h.specificity());
                databases.push(((host, Specificity::of(pattern)), pattern.clone(), grant.whole));
            } else if !seen.contains(&target) {
                seen.push(target);
                self.add(target, grant);
            }
        }
        databases.sort_by_key(|(rank, ..)| *rank);
        self.databases[0] = databases.into_iter().map(|(_, p, whole)| (p, whole)).collect();
    }

    /// Adds the grants of a role and of the roles granted to it. Grants on the same pattern add up.
    fn add_role(&mut self, acl: &Acl, role: &str) -> Patterns {
        let names = acl.with_roles(role);
        let mut databases: Patterns = Vec::new();
        for (_, target, grant) in acl.grants().filter(|(name, ..)| names.contains(name)) {
            match target {
                GrantTarget::Database(pattern) => {
                    match databases.iter_mut().find(|(p, _)| p == pattern) {
                        Some((_, whole)) => *whole = *whole | grant.whole,
                        None => databases.push((pattern.clone(), grant.whole)),
                    }
                }
                target => self.add(target, grant),
            }
        }
        databases.sort_by_key(|(pattern, _)| Specificity::of(pattern));
        databases
    }

    fn add(&mut self, target: &GrantTarget, grant: &Grant) {
        match target {
            GrantTarget::Database(_) => {}
            GrantTarget::Table { schema, table } => {
                let tables = self.tables.entry(schema.clone()).or_default();
                tables.entry(table.clone()).or_default().add(grant);
            }
            GrantTarget::Routine { kind, schema, name } => {
                let routines = self.routines.entry(schema.clone()).or_default();
                let entries = routines.entry(name.clone()).or_default();
                match entries.iter_mut().find(|(k, _)| k == kind) {
                    Some((_, whole)) => *whole = *whole | grant.whole,
                    None => entries.push((*kind, grant.whole)),
                }
            }
        }
    }

    /// Privileges granted on a database.
    pub(super) fn on_database(&self, schema: &str) -> Privileges {
        let first = |patterns: &Patterns| {
            let found = patterns.iter().find(|(p, _)| like(schema.as_bytes(), p.as_bytes()));
            found.map_or(Privileges::NONE, |(_, whole)| *whole)
        };
        self.databases.iter().fold(Privileges::NONE, |all, patterns| all | first(patterns))
    }

    /// Privileges granted on a pattern of databases itself, for the checks of GRANT.
    pub(super) fn on_pattern(&self, wanted: &str) -> Privileges {
        let first = |patterns: &Patterns| {
            let found = patterns.iter().find(|(p, _)| like_pattern(wanted, p));
            found.map_or(Privileges::NONE, |(_, whole)| *whole)
        };
        self.databases.iter().fold(Privileges::NONE, |all, patterns| all | first(patterns))
    }

    /// Privileges granted on a table and its columns.
    pub(super) fn on_table(&self, schema: &str, table: &str) -> Option<&TableRights> {
        self.tables.get(schema)?.get(table)
    }

    /// Privileges granted on a routine; its name is in lower case.
    pub(super) fn on_routine(&self, kind: RoutineKind, schema: &str, name: &str) -> Privileges {
        let entries = self.routines.get(schema).and_then(|routines| routines.get(name));
        let found = entries.and_then(|list| list.iter().find(|(k, _)| *k == kind));
        found.map_or(Privileges::NONE, |(_, whole)| *whole)
    }

    /// Whether there is a grant on any table or routine of the database.
    pub(super) fn has_any_in(&self, schema: &str) -> bool {
        self.tables.contains_key(schema) || self.routines.contains_key(schema)
    }
}

/// Whether `pattern` matches every name that `wanted` matches. A letter of `pattern` covers only
/// the same letter, not a wildcard of `wanted`.
fn like_pattern(wanted: &str, pattern: &str) -> bool {
    covers(wanted.as_bytes(), pattern.as_bytes())
}

fn covers(wanted: &[u8], pattern: &[u8]) -> bool {
    let (one, rest_of_wanted) = match wanted {
        [b'\\', letter, rest @ ..] => (Some(*letter), rest),
        [b'%' | b'_', rest @ ..] => (None, rest),
        [letter, rest @ ..] => (Some(*letter), rest),
        [] => return pattern.iter().all(|letter| *letter == b'%'),
    };
    match pattern {
        [] => false,
        [b'%', rest @ ..] => covers(wanted, rest) || covers(rest_of_wanted, pattern),
        [b'_', rest @ ..] => wanted.first() != Some(&b'%') && covers(rest_of_wanted, rest),
        [b'\\', letter, rest @ ..] | [letter, rest @ ..] => {
            one == Some(*letter) && covers(rest_of_wanted, rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_it_names() {
        let granted = |has: &str| -> Vec<&str> {
            let all = ["my_a", "my\\_a", "my\\_%", "my%", "myxa"];
            all.into_iter().filter(|wanted| like_pattern(wanted, has)).collect()
        };
        assert_eq!(granted("my\\_a"), ["my\\_a"]);
        assert_eq!(granted("my\\_%"), ["my\\_a", "my\\_%"]);
        assert_eq!(granted("my_a"), ["my_a", "my\\_a", "myxa"]);
        assert_eq!(granted("my%"), ["my_a", "my\\_a", "my\\_%", "my%", "myxa"]);
        assert_eq!(granted("myxa"), ["myxa"]);
    }
}
