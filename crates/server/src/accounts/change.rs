//! CREATE, ALTER, DROP and RENAME USER, roles, GRANT and REVOKE, on the state of all accounts.
//!
//! Must not check whether the caller may do it.

use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::account::{Account, AccountName, Limits, TlsRequirement};
use super::acl::Acl;
use super::auth_method::AuthMethod;
use super::grants::{GrantLevel, GrantTarget};
use super::privileges::Privileges;

/// What a statement says about accounts that exist already, or do not.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum IfExists {
    /// An error.
    #[default]
    Fail,
    /// `IF EXISTS`, `IF NOT EXISTS`: a note.
    Skip,
    /// `OR REPLACE`.
    Replace,
}

/// What CREATE or ALTER USER sets; `None` leaves it as it is.
#[derive(Clone, Debug, Default)]
pub struct AccountChanges {
    /// Ways to log in.
    pub auth: Option<Vec<AuthMethod>>,
    /// What connections must use.
    pub tls: Option<TlsRequirement>,
    /// Resource limits.
    pub limits: Option<Limits>,
    /// ACCOUNT LOCK or UNLOCK.
    pub locked: Option<bool>,
    /// PASSWORD EXPIRE.
    pub expired: Option<bool>,
}

impl AccountChanges {
    fn apply(&self, account: &mut Account) {
        if let Some(auth) = &self.auth {
            account.auth.clone_from(auth);
            account.expired = false;
            account.password_changed = now();
        }
        if let Some(tls) = &self.tls {
            account.tls = tls.clone();
        }
        account.limits = self.limits.unwrap_or(account.limits);
        account.locked = self.locked.unwrap_or(account.locked);
        account.expired = self.expired.unwrap_or(account.expired);
    }
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| d.as_secs() as i64)
}

/// 1396 about the names that failed, if any did.
fn operation_failed(operation: &str, failed: &[AccountName]) -> SqlResult<()> {
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = failed.iter().map(AccountName::quoted).collect();
    Err(SqlError::new(&ER_CANNOT_USER, &[&operation, &names.join(",")]))
}

impl Acl {
    /// CREATE USER or CREATE ROLE. Returns the names that existed and were skipped.
    pub fn create(
        &mut self,
        wanted: &[(AccountName, AccountChanges)],
        existing: IfExists,
    ) -> SqlResult<Vec<AccountName>> {
        let (mut failed, mut skipped) = (Vec::new(), Vec::new());
        for (name, changes) in wanted {
            match (self.accounts.contains_key(name), existing) {
                (true, IfExists::Fail) => failed.push(name.clone()),
                (true, IfExists::Skip) => skipped.push(name.clone()),
                (exists, _) => {
                    if exists {
                        self.forget(name);
                    }
                    let mut account = Account::new(name.clone());
                    account.password_changed = now();
                    changes.apply(&mut account);
                    self.insert(account);
                }
            }
        }
        let role = wanted.first().is_some_and(|(n, _)| n.host.is_none());
        operation_failed(if role { "CREATE ROLE" } else { "CREATE USER" }, &failed)?;
        Ok(skipped)
    }

    /// ALTER USER. Returns the names that did not exist and were skipped.
    pub fn alter(
        &mut self,
        wanted: &[(AccountName, AccountChanges)],
        missing: IfExists,
    ) -> SqlResult<Vec<AccountName>> {
        let mut absent = Vec::new();
        for (name, changes) in wanted {
            match self.accounts.get_mut(name).filter(|a| !a.is_role()) {
                Some(account) => changes.apply(account),
                None => absent.push(name.clone()),
            }
        }
        if missing == IfExists::Fail {
            operation_failed("ALTER USER", &absent)?;
        }
        Ok(absent)
    }

    /// DROP USER or DROP ROLE. Returns the names that did not exist and were skipped.
    pub fn drop_accounts(
        &mut self,
        names: &[AccountName],
        missing: IfExists,
    ) -> SqlResult<Vec<AccountName>> {
        let (present, absent): (Vec<_>, Vec<_>) =
            names.iter().cloned().partition(|n| self.accounts.contains_key(n));
        present.iter().for_each(|name| self.forget(name));
        if missing == IfExists::Fail {
            let role = names.first().is_some_and(|n| n.host.is_none());
            operation_failed(if role { "DROP ROLE" } else { "DROP USER" }, &absent)?;
        }
        Ok(absent)
    }

    /// RENAME USER.
    pub fn rename(&mut self, pairs: &[(AccountName, AccountName)]) -> SqlResult<()> {
        let mut failed = Vec::new();
        for (from, to) in pairs {
            if self.accounts.contains_key(to) || !self.accounts.contains_key(from) {
                failed.push(from.clone());
                continue;
            }
            self.rename_one(from, to);
        }
        operation_failed("RENAME USER", &failed)
    }

    fn rename_one(&mut self, from: &AccountName, to: &AccountName) {
        if let Some(mut account) = self.accounts.remove(from) {
            account.name = to.clone();
            self.insert(account);
        }
        let moved = |name: AccountName| if name == *from { to.clone() } else { name };
        let grants = std::mem::take(&mut self.grants);
        self.grants = grants.into_iter().map(|((n, t), g)| ((moved(n), t), g)).collect();
        let members = std::mem::take(&mut self.members);
        self.members = members.into_iter().map(|((n, r), a)| ((moved(n), r), a)).collect();
    }

    fn forget(&mut self, name: &AccountName) {
        self.accounts.remove(name);
        self.grants.retain(|(n, _), _| n != name);
        let role = name.host.is_none().then_some(&name.user);
        self.members.retain(|(n, r), _| n != name && Some(r) != role);
        for account in self.accounts.values_mut() {
            if account.default_role.as_ref() == role && role.is_some() {
                account.default_role = None;
            }
        }
    }

    /// SET PASSWORD.
    pub fn set_password(&mut self, name: &AccountName, method: AuthMethod) -> SqlResult<()> {
        let account = self.login_account(name)?;
        account.auth = vec![method];
        account.expired = false;
        account.password_changed = now();
        Ok(())
    }

    /// SET DEFAULT ROLE; `None` is NONE.
    pub fn set_default_role(&mut self, name: &AccountName, role: Option<&str>) -> SqlResult<()> {
        if let Some(role) = role
            && !self.members.contains_key(&(name.clone(), role.to_owned()))
        {
            return Err(SqlError::new(&ER_INVALID_ROLE, &[&role]));
        }
        self.login_account(name)?.default_role = role.map(str::to_owned);
        Ok(())
    }

    fn login_account(&mut self, name: &AccountName) -> SqlResult<&mut Account> {
        let found = self.accounts.get_mut(name).filter(|a| !a.is_role());
        found.ok_or_else(|| SqlError::new(&ER_PASSWORD_NO_MATCH, &[]))
    }

    /// GRANT: adds `whole`, and `columns` on single columns, to what `name` has.
    pub fn grant(
        &mut self,
        name: &AccountName,
        level: &GrantLevel,
        whole: Privileges,
        columns: &[(String, Privileges)],
    ) -> SqlResult<()> {
        let account =
            self.accounts.get_mut(name).ok_or_else(|| SqlError::new(&ER_PASSWORD_NO_MATCH, &[]))?;
        let target = match level {
            GrantLevel::Global => {
                account.global = account.global | whole;
                return Ok(());
            }
            GrantLevel::On(target) => target,
        };
        check_level(target, whole)?;
        let key = (name.clone(), target.clone());
        let grant = self.grants.entry(key).or_default();
        grant.whole = grant.whole | whole;
        for (column, privileges) in columns {
            let entry = grant.columns.entry(column.to_lowercase()).or_default();
            *entry = *entry | *privileges;
        }
        Ok(())
    }

    /// REVOKE: takes `whole`, and `columns` on single columns, from what `name` has.
    pub fn revoke(
        &mut self,
        name: &AccountName,
        level: &GrantLevel,
        whole: Privileges,
        columns: &[(String, Privileges)],
    ) -> SqlResult<()> {
        let account =
            self.accounts.get_mut(name).ok_or_else(|| SqlError::new(&ER_PASSWORD_NO_MATCH, &[]))?;
        let target = match level {
            GrantLevel::Global => {
                account.global = account.global.without(whole);
                return Ok(());
            }
            GrantLevel::On(target) => target,
        };
        let key = (name.clone(), target.clone());
        let grant = self.grants.get_mut(&key).ok_or_else(|| no_such_grant(name, target))?;
        grant.whole = grant.whole.without(whole);
        for (column, privileges) in columns {
            if let Some(entry) = grant.columns.get_mut(&column.to_lowercase()) {
                *entry = entry.without(*privileges);
            }
        }
        // Compat: what is taken from the table is taken from its columns too.
        grant.columns.values_mut().for_each(|p| *p = p.without(whole));
        grant.columns.retain(|_, p| !p.is_empty());
        if grant.is_empty() {
            self.grants.remove(&key);
        }
        Ok(())
    }

    /// REVOKE ALL PRIVILEGES, GRANT OPTION.
    pub fn revoke_all(&mut self, names: &[AccountName]) -> SqlResult<()> {
        let known = names.iter().all(|n| self.accounts.contains_key(n));
        for account in
            names.iter().filter_map(|n| self.accounts.get(n)).cloned().collect::<Vec<_>>()
        {
            self.grants.retain(|(n, _), _| *n != account.name);
            self.members.retain(|(n, _), _| *n != account.name);
            self.insert(Account { global: Privileges::NONE, ..account });
        }
        if known { Ok(()) } else { Err(SqlError::new(&ER_REVOKE_GRANTS, &[])) }
    }

    /// GRANT role TO member.
    pub fn grant_role(&mut self, role: &str, member: &AccountName, admin: bool) -> SqlResult<()> {
        self.known_role(role)?;
        if !self.accounts.contains_key(member) {
            return Err(SqlError::new(&ER_PASSWORD_NO_MATCH, &[]));
        }
        let circular = member.host.is_none()
            && (member.user == role
                || self.roles_of(&AccountName::role(role)).contains(&member.user));
        if circular {
            let member = member.quoted();
            return Err(SqlError::new(&ER_CANNOT_GRANT_ROLE, &[&role, &member]));
        }
        let entry = self.members.entry((member.clone(), role.to_owned())).or_default();
        *entry |= admin;
        Ok(())
    }

    /// REVOKE role FROM member.
    pub fn revoke_role(&mut self, role: &str, member: &AccountName) -> SqlResult<()> {
        self.known_role(role)?;
        match self.members.remove(&(member.clone(), role.to_owned())) {
            Some(_) => Ok(()),
            None => {
                let member = member.quoted();
                Err(SqlError::new(&ER_CANNOT_REVOKE_ROLE, &[&role, &member]))
            }
        }
    }

    /// REVOKE ADMIN OPTION FOR role FROM member.
    pub fn revoke_admin_option(&mut self, role: &str, member: &AccountName) -> SqlResult<()> {
        self.known_role(role)?;
        match self.members.get_mut(&(member.clone(), role.to_owned())) {
            Some(admin) => {
                *admin = false;
                Ok(())
            }
            None => {
                let member = member.quoted();
                Err(SqlError::new(&ER_CANNOT_REVOKE_ROLE, &[&role, &member]))
            }
        }
    }

    fn known_role(&self, role: &str) -> SqlResult<()> {
        match self.accounts.contains_key(&AccountName::role(role)) {
            true => Ok(()),
            false => Err(SqlError::new(&ER_INVALID_ROLE, &[&role])),
        }
    }
}

fn check_level(target: &GrantTarget, whole: Privileges) -> SqlResult<()> {
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
        GrantTarget::Database(_) => SqlError::new(&ER_NONEXISTING_GRANT, &[user, &host]),
        GrantTarget::Table { table, .. } => {
            SqlError::new(&ER_NONEXISTING_TABLE_GRANT, &[user, &host, table])
        }
        GrantTarget::Routine { name: routine, .. } => {
            SqlError::new(&ER_NONEXISTING_PROC_GRANT, &[user, &host, routine])
        }
    }
}
