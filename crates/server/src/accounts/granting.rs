//! GRANT and REVOKE of privileges and proxies, on the state of all accounts.
//!
//! Must not check whether the caller may do it: the administrative statements do that first.

use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult};

use super::account::AccountName;
use super::acl::Acl;
use super::change::no_such_account;
use super::grants::{Columns, Grant, GrantLevel, GrantTarget, Proxy};

impl Acl {
    /// GRANT: adds `whole`, and `columns` on single columns, to the privileges of `name`.
    pub fn grant(
        &mut self,
        name: &AccountName,
        level: &GrantLevel,
        (whole, columns): (Privileges, &Columns),
        grantor: &str,
    ) -> SqlResult<()> {
        let account = self.accounts.get_mut(name).ok_or_else(no_such_account)?;
        let target = match level {
            GrantLevel::Global => {
                account.global = account.global | whole;
                return Ok(());
            }
            GrantLevel::On(target) => target,
        };
        let grant = self.grants.entry((name.clone(), target.clone())).or_default();
        if grant.is_empty() {
            self.last_grant += 1;
            grant.number = self.last_grant;
        }
        grant.whole = grant.whole | whole;
        grant.grantor = grantor.to_owned();
        for (column, privileges) in columns {
            match grant.column_mut(column) {
                Some(all) => *all = *all | *privileges,
                None => grant.columns.push((column.clone(), *privileges)),
            }
        }
        if grant.is_empty() {
            self.grants.remove(&(name.clone(), target.clone()));
        }
        Ok(())
    }

    /// REVOKE: takes `whole`, and `columns` on single columns, from the privileges of `name`.
    pub fn revoke(
        &mut self,
        name: &AccountName,
        level: &GrantLevel,
        (whole, columns): (Privileges, &Columns),
    ) -> SqlResult<()> {
        let account = self.accounts.get_mut(name).ok_or_else(|| nobody(name))?;
        let target = match level {
            GrantLevel::Global => {
                account.global = account.global.without(whole);
                return Ok(());
            }
            GrantLevel::On(target) => target,
        };
        let key = (name.clone(), target.clone());
        let grant = self.grants.get_mut(&key).ok_or_else(|| no_such_grant(name, target))?;
        take(grant, whole, columns).ok_or_else(|| no_such_grant(name, target))?;
        if grant.is_empty() {
            self.grants.remove(&key);
        }
        Ok(())
    }

    /// REVOKE ALL PRIVILEGES, GRANT OPTION.
    pub fn revoke_all(&mut self, names: &[AccountName]) -> SqlResult<()> {
        for name in names {
            let Some(account) = self.accounts.get_mut(name) else { continue };
            account.global = Privileges::NONE;
            self.grants.retain(|(n, _), _| n != name);
            self.members.retain(|(n, _), _| n != name);
        }
        match names.iter().all(|n| self.accounts.contains_key(n)) {
            true => Ok(()),
            false => Err(SqlError::new(&ER_REVOKE_GRANTS, &[])),
        }
    }

    /// GRANT PROXY ON `proxied` TO `name`.
    pub fn grant_proxy(
        &mut self,
        name: &AccountName,
        proxied: &AccountName,
        proxy: Proxy,
    ) -> SqlResult<()> {
        if !self.accounts.contains_key(name) {
            return Err(no_such_account());
        }
        let entry = self.proxies.entry((name.clone(), proxied.clone())).or_default();
        let with_grant = entry.with_grant || proxy.with_grant;
        *entry = Proxy { with_grant, ..proxy };
        Ok(())
    }

    /// REVOKE PROXY ON `proxied` FROM `name`.
    pub fn revoke_proxy(&mut self, name: &AccountName, proxied: &AccountName) -> SqlResult<()> {
        match self.proxies.remove(&(name.clone(), proxied.clone())) {
            Some(_) => Ok(()),
            None => Err(no_grant(name)),
        }
    }

    /// Removes all grants on a routine that was dropped.
    pub fn forget_target(&mut self, target: &GrantTarget) {
        self.grants.retain(|(_, t), _| t != target);
    }
}

/// Takes privileges from a grant; `None` if one of the columns has no privileges.
fn take(grant: &mut Grant, whole: Privileges, columns: &Columns) -> Option<()> {
    for (column, privileges) in columns {
        let has = grant.column_mut(column)?;
        *has = has.without(*privileges);
    }
    grant.whole = grant.whole.without(whole);
    // Compat: REVOKE on the table also takes the privileges from its columns.
    grant.columns.iter_mut().for_each(|(_, p)| *p = p.without(whole));
    grant.columns.retain(|(_, p)| !p.is_empty());
    Some(())
}

/// Error 1959 about a missing role, 1141 about a missing user.
fn nobody(name: &AccountName) -> SqlError {
    match name.host {
        None => SqlError::new(&ER_INVALID_ROLE, &[&name.user]),
        Some(_) => no_grant(name),
    }
}

/// Error 1141.
fn no_grant(name: &AccountName) -> SqlError {
    SqlError::new(&ER_NONEXISTING_GRANT, &[&name.user, &name.host_text()])
}

/// Fails unless `whole` can be granted on `target` (1144, 1221).
pub fn check_level(target: &GrantTarget, whole: Privileges) -> SqlResult<()> {
    let (allowed, def) = match target {
        GrantTarget::Database(_) => (Privileges::DATABASE, &ER_WRONG_USAGE),
        GrantTarget::Table { .. } => (Privileges::TABLE, &ER_ILLEGAL_GRANT_FOR_TABLE),
        GrantTarget::Routine { .. } => (Privileges::ROUTINE, &ER_ILLEGAL_GRANT_FOR_TABLE),
    };
    match whole.without(allowed).is_empty() {
        true => Ok(()),
        false => Err(SqlError::new(def, &[&"DB GRANT", &"GLOBAL PRIVILEGES"])),
    }
}

fn no_such_grant(name: &AccountName, target: &GrantTarget) -> SqlError {
    let (user, host) = (&name.user, name.host_text());
    match target {
        GrantTarget::Database(_) => no_grant(name),
        GrantTarget::Table { table, .. } => {
            SqlError::new(&ER_NONEXISTING_TABLE_GRANT, &[user, &host, table])
        }
        GrantTarget::Routine { name: routine, .. } => {
            SqlError::new(&ER_NONEXISTING_PROC_GRANT, &[user, &host, routine])
        }
    }
}
