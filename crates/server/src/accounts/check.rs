//! Deciding whether an identity may do something.
//!
//! Must not change accounts.

use std::sync::Arc;

use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::account::AccountName;
use super::acl::{Acl, AclStore};
use super::grants::GrantTarget;
use super::host::like;
use super::privileges::Privileges;

/// Who a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name given at login, for `USER()`.
    pub user: String,
    /// Host the client came from, for `USER()`.
    pub host: String,
    /// Account whose privileges count, for `CURRENT_USER()`.
    pub account: AccountName,
    /// Active role.
    pub role: Option<String>,
}

/// Answers questions about one identity's privileges.
#[derive(Clone, Debug)]
pub struct AccessControl {
    store: Arc<AclStore>,
    identity: Identity,
    /// Whether privileges are not checked at all.
    unrestricted: bool,
}

impl AccessControl {
    /// For `identity` and the accounts of `store`.
    pub fn new(store: Arc<AclStore>, identity: Identity, unrestricted: bool) -> Self {
        Self { store, identity, unrestricted }
    }

    /// The same accounts and rules for somebody else.
    pub fn of(&self, identity: Identity) -> Self {
        Self { store: Arc::clone(&self.store), identity, unrestricted: self.unrestricted }
    }

    /// Who this is about.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// From now on this is about somebody else.
    pub fn become_identity(&mut self, identity: Identity) {
        self.identity = identity;
    }

    /// Changes the active role.
    pub fn set_role(&mut self, role: Option<String>) {
        self.identity.role = role;
    }

    /// The accounts.
    pub fn store(&self) -> &Arc<AclStore> {
        &self.store
    }

    /// 1227 unless the identity has one of `wanted` on everything.
    pub fn check_global(&self, wanted: Privileges) -> SqlResult<()> {
        if self.has_global(wanted) {
            return Ok(());
        }
        let names: Vec<&str> = wanted.names().collect();
        Err(SqlError::new(&ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&names.join(", ")]))
    }

    /// Whether the identity has one of `wanted` on everything.
    pub fn has_global(&self, wanted: Privileges) -> bool {
        self.unrestricted || self.global().has_any(wanted)
    }

    /// Privileges on everything.
    pub fn global(&self) -> Privileges {
        if self.unrestricted {
            return Privileges::ALL;
        }
        let acl = self.store.current();
        self.names(&acl).fold(Privileges::NONE, |all, n| {
            all | acl.account(&n).map_or(Privileges::NONE, |a| a.global)
        })
    }

    /// Privileges on a database, those on everything included.
    pub fn on_database(&self, schema: &str) -> Privileges {
        let global = self.global();
        if schema.eq_ignore_ascii_case("information_schema") {
            return global | Privileges::SELECT;
        }
        let acl = self.store.current();
        self.names(&acl).fold(global, |all, n| all | database_privileges(&acl, &n, schema))
    }

    /// Privileges on a table, those on its database included; columns are left out.
    pub fn on_table(&self, schema: &str, table: &str) -> Privileges {
        let acl = self.store.current();
        let target = GrantTarget::Table { schema: schema.into(), table: table.into() };
        self.names(&acl).fold(self.on_database(schema), |all, n| {
            all | acl.grants.get(&(n, target.clone())).map_or(Privileges::NONE, |g| g.whole)
        })
    }

    /// Privileges on a procedure or function, those on its database included.
    fn on_routine(&self, schema: &str, name: &str, is_function: bool) -> Privileges {
        let acl = self.store.current();
        let is_it = |target: &GrantTarget| match target {
            GrantTarget::Routine { schema: s, name: n, is_function: f } => {
                *f == is_function && s == schema && n.eq_ignore_ascii_case(name)
            }
            _ => false,
        };
        let names: Vec<AccountName> = self.names(&acl).collect();
        let own = acl.grants.iter().filter(|((n, target), _)| names.contains(n) && is_it(target));
        own.fold(self.on_database(schema), |all, (_, g)| all | g.whole)
    }

    /// 1370 unless the identity has all of `wanted` on the routine.
    pub fn check_routine(
        &self,
        schema: &str,
        name: &str,
        is_function: bool,
        wanted: Privileges,
    ) -> SqlResult<()> {
        let missing = wanted.without(self.on_routine(schema, name, is_function));
        if self.unrestricted || missing.is_empty() {
            return Ok(());
        }
        let what = missing.names().next().unwrap_or_default().to_lowercase();
        let (user, host) = self.parts();
        let full = format!("{schema}.{name}");
        Err(SqlError::new(&ER_PROCACCESS_DENIED_ERROR, &[&what, &user, &host, &full]))
    }

    /// 1370 unless the identity may know that the routine exists.
    pub fn check_sees_routine(&self, schema: &str, name: &str, is_function: bool) -> SqlResult<()> {
        let all = self.on_routine(schema, name, is_function);
        let seen = Privileges::EXECUTE | Privileges::ALTER_ROUTINE | Privileges::CREATE_ROUTINE;
        if all.has_any(seen) || self.check("mysql", "proc", Privileges::SELECT).is_ok() {
            return Ok(());
        }
        self.check_routine(schema, name, is_function, Privileges::EXECUTE)
    }

    /// 1044 unless the identity has all of `wanted` on the database.
    pub fn check_database(&self, schema: &str, wanted: Privileges) -> SqlResult<()> {
        match self.unrestricted || self.on_database(schema).has(wanted) {
            true => Ok(()),
            false => Err(self.database_denied(schema)),
        }
    }

    /// 1142 unless the identity has all of `wanted` on the table, on every column if need be.
    pub fn check(&self, schema: &str, table: &str, wanted: Privileges) -> SqlResult<()> {
        let missing = wanted.without(self.on_table(schema, table));
        if self.unrestricted || missing.is_empty() {
            return Ok(());
        }
        Err(self.table_denied(schema, table, missing))
    }

    /// As [`Self::check`], but privileges on some column are enough; the columns that a statement
    /// uses are checked one by one later.
    pub fn check_any_column(&self, schema: &str, table: &str, wanted: Privileges) -> SqlResult<()> {
        let missing = wanted.without(self.on_table(schema, table));
        if self.unrestricted || missing.without(self.on_some_column(schema, table)).is_empty() {
            return Ok(());
        }
        Err(self.table_denied(schema, table, missing))
    }

    /// 1143 unless the identity has all of `wanted` on the column.
    pub fn check_column(
        &self,
        schema: &str,
        table: &str,
        column: &str,
        wanted: Privileges,
    ) -> SqlResult<()> {
        let missing = wanted.without(self.on_table(schema, table));
        if self.unrestricted || missing.is_empty() {
            return Ok(());
        }
        let acl = self.store.current();
        let column = column.to_lowercase();
        let on_column = self
            .column_grants(&acl, schema, table)
            .iter()
            .fold(Privileges::NONE, |all, (name, p)| if *name == column { all | *p } else { all });
        let missing = missing.without(on_column);
        let Some(name) = missing.names().next() else { return Ok(()) };
        let (user, host) = self.parts();
        Err(SqlError::new(&ER_COLUMNACCESS_DENIED_ERROR, &[&name, &user, &host, &column, &table]))
    }

    /// Whether the database may be seen at all: some privilege on it or on something in it.
    pub fn sees_database(&self, schema: &str) -> bool {
        let hidden = Privileges::GRANT_OPTION | Privileges::SHOW_DATABASES;
        let everywhere = self.global() & (Privileges::DATABASE | Privileges::SHOW_DATABASES);
        if self.unrestricted || everywhere.has_any(Privileges::SHOW_DATABASES) {
            return true;
        }
        if !self.on_database(schema).without(hidden).is_empty() {
            return true;
        }
        let acl = self.store.current();
        let names: Vec<AccountName> = self.names(&acl).collect();
        acl.grants.iter().any(|((n, target), _)| names.contains(n) && target_in(target, schema))
    }

    /// Whether a table may be seen at all.
    pub fn sees_table(&self, schema: &str, table: &str) -> bool {
        let whole = self.on_table(schema, table);
        self.unrestricted
            || !(whole & Privileges::TABLE).is_empty()
            || !self.on_some_column(schema, table).is_empty()
    }

    /// 1044.
    pub fn database_denied(&self, schema: &str) -> SqlError {
        let (user, host) = self.parts();
        SqlError::new(&ER_DBACCESS_DENIED_ERROR, &[&user, &host, &schema])
    }

    fn table_denied(&self, schema: &str, table: &str, missing: Privileges) -> SqlError {
        let names: Vec<&str> = missing.names().collect();
        let (user, host) = self.parts();
        SqlError::new(
            &ER_TABLEACCESS_DENIED_ERROR,
            &[&names.join(", "), &user, &host, &schema, &table],
        )
    }

    fn parts(&self) -> (&str, &str) {
        (&self.identity.account.user, self.identity.account.host_text())
    }

    fn on_some_column(&self, schema: &str, table: &str) -> Privileges {
        let acl = self.store.current();
        let grants = self.column_grants(&acl, schema, table);
        grants.iter().fold(Privileges::NONE, |all, (_, p)| all | *p)
    }

    fn column_grants(&self, acl: &Acl, schema: &str, table: &str) -> Vec<(String, Privileges)> {
        let target = GrantTarget::Table { schema: schema.into(), table: table.into() };
        self.names(acl)
            .filter_map(|n| acl.grants.get(&(n, target.clone())))
            .flat_map(|g| g.columns.iter().map(|(c, p)| (c.clone(), *p)))
            .collect()
    }

    /// The account, and the active role with the roles it has.
    fn names(&self, acl: &Acl) -> impl Iterator<Item = AccountName> + use<> {
        let mut names = vec![self.identity.account.clone()];
        if let Some(role) = &self.identity.role {
            let role = AccountName::role(role);
            names.extend(acl.roles_of(&role).iter().map(|r| AccountName::role(r)));
            names.push(role);
        }
        names.into_iter()
    }
}

/// Of several patterns that match, the most specific counts alone.
fn database_privileges(acl: &Acl, name: &AccountName, schema: &str) -> Privileges {
    acl.grants
        .iter()
        .filter(|((n, _), _)| n == name)
        .filter_map(|((_, target), g)| match target {
            GrantTarget::Database(pattern) => Some((pattern, g.whole)),
            _ => None,
        })
        .filter(|(pattern, _)| like(schema.as_bytes(), pattern.as_bytes()))
        .max_by_key(|(pattern, _)| pattern.find(['%', '_']).unwrap_or(usize::MAX))
        .map_or(Privileges::NONE, |(_, whole)| whole)
}

fn target_in(target: &GrantTarget, schema: &str) -> bool {
    match target {
        GrantTarget::Database(_) => false,
        GrantTarget::Table { schema: s, .. } | GrantTarget::Routine { schema: s, .. } => {
            s == schema
        }
    }
}
