//! The order in which grants are listed.
//!
//! Must not leave out a grant.

use super::account::AccountName;
use super::acl::Acl;
use super::grants::{Columns, Grant, GrantTarget};
use super::host::{HostPattern, Specificity};
use crate::slots::{hash_of_name, hash_of_names, in_slots};

/// A grant with its owner and target.
pub type Listed<'a> = (&'a AccountName, &'a GrantTarget, &'a Grant);

impl Acl {
    /// The grants on databases. Compat: the more specific host and pattern first, then the older
    /// grant.
    pub fn on_databases(&self) -> Vec<Listed<'_>> {
        let key = |(owner, target, grant): &Listed<'_>| match target {
            GrantTarget::Database(pattern) => {
                let host = owner.host.as_ref().map(HostPattern::specificity);
                Some((host, Specificity::of(pattern), grant.number))
            }
            _ => None,
        };
        let mut grants: Vec<_> = self.grants().filter(|grant| key(grant).is_some()).collect();
        grants.sort_by_key(key);
        grants
    }

    /// The grants on other targets of a kind. Compat: in the order of the table of hashes that
    /// MariaDB keeps them in, those of all accounts together.
    pub fn on_targets(&self, wanted: &dyn Fn(&GrantTarget) -> bool) -> Vec<Listed<'_>> {
        let mut grants: Vec<_> = self.grants().filter(|(_, target, _)| wanted(target)).collect();
        grants.sort_by_key(|(.., grant)| grant.number);
        let hash = |(owner, target, _): &Listed<'_>| match target {
            GrantTarget::Database(schema) => hash_of_names(&[&owner.user, schema]),
            GrantTarget::Table { schema, table: name }
            | GrantTarget::Routine { schema, name, .. } => {
                hash_of_names(&[&owner.user, schema, name])
            }
        };
        let hashes: Vec<u32> = grants.iter().map(hash).collect();
        in_slots(&hashes).into_iter().map(|at| grants[at]).collect()
    }

    /// The grants on tables.
    pub fn on_tables(&self) -> Vec<Listed<'_>> {
        self.on_targets(&|target| matches!(target, GrantTarget::Table { .. }))
    }
}

/// The columns of a grant. Compat: in the order of their table of hashes.
pub fn listed_columns(columns: &Columns) -> Columns {
    let hashes: Vec<u32> = columns.iter().map(|(column, _)| hash_of_name(column)).collect();
    in_slots(&hashes).into_iter().map(|at| columns[at].clone()).collect()
}
