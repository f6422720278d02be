//! CREATE, ALTER, DROP and RENAME USER, CREATE and DROP ROLE, SET PASSWORD and SET DEFAULT ROLE, on
//! the state of all accounts.
//!
//! Must not check whether the caller may do it: the administrative statements do that first.

use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::account::{Account, AccountName, Limits, TlsRequirement};
use super::acl::Acl;
use super::auth_method::AuthMethod;

/// Treatment of accounts that exist already (CREATE) or do not exist (ALTER, DROP).
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

/// Settings of CREATE or ALTER USER; `None` leaves a setting as it is.
#[derive(Clone, Debug, Default)]
pub struct AccountChanges {
    /// Ways to log in.
    pub auth: Option<Vec<AuthMethod>>,
    /// Transport security that connections must have.
    pub tls: Option<TlsRequirement>,
    /// Resource limits.
    pub limits: LimitChanges,
    /// ACCOUNT LOCK or UNLOCK.
    pub locked: Option<bool>,
    /// PASSWORD EXPIRE.
    pub expiry: Option<Expiry>,
}

/// PASSWORD EXPIRE.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// At once.
    Now,
    /// After so many days, 0 is never; `None` is the server's default.
    After(Option<u32>),
}

/// The resource limits a statement names.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // as in `Limits`
pub struct LimitChanges {
    pub queries: Option<u64>,
    pub updates: Option<u64>,
    pub connections: Option<u64>,
    pub user_connections: Option<i64>,
    pub statement_time: Option<f64>,
}

impl LimitChanges {
    fn apply(&self, limits: &mut Limits) {
        limits.queries = self.queries.unwrap_or(limits.queries);
        limits.updates = self.updates.unwrap_or(limits.updates);
        limits.connections = self.connections.unwrap_or(limits.connections);
        limits.user_connections = self.user_connections.unwrap_or(limits.user_connections);
        limits.statement_time = self.statement_time.unwrap_or(limits.statement_time);
    }
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
        self.limits.apply(&mut account.limits);
        account.locked = self.locked.unwrap_or(account.locked);
        match self.expiry {
            None => {}
            Some(Expiry::Now) => account.expired = true,
            Some(Expiry::After(days)) => account.lifetime = days,
        }
    }
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| d.as_secs() as i64)
}

/// Error 1396 with the names that failed, if any did.
fn operation_failed(operation: &str, failed: &[AccountName]) -> SqlResult<()> {
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = failed.iter().map(AccountName::quoted).collect();
    Err(SqlError::new(&ER_CANNOT_USER, &[&operation, &names.join(",")]))
}

/// Error 1133.
pub(super) fn no_such_account() -> SqlError {
    SqlError::new(&ER_PASSWORD_NO_MATCH, &[])
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
            match !self.accounts.contains_key(to) && self.accounts.contains_key(from) {
                true => self.rename_one(from, to),
                false => failed.push(from.clone()),
            }
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
        let proxies = std::mem::take(&mut self.proxies);
        self.proxies = proxies.into_iter().map(|((n, p), x)| ((moved(n), p), x)).collect();
    }

    /// Removes an account or role with its grants. Compat: accounts whose default role it was keep
    /// that role's name.
    fn forget(&mut self, name: &AccountName) {
        self.accounts.remove(name);
        self.grants.retain(|(n, _), _| n != name);
        self.proxies.retain(|(n, _), _| n != name);
        let role = name.host.is_none().then_some(&name.user);
        self.members.retain(|(n, r), _| n != name && Some(r) != role);
    }

    /// SET PASSWORD: `method` makes the new authentication method from the present one.
    pub fn set_password(
        &mut self,
        name: &AccountName,
        method: impl FnOnce(&AuthMethod) -> SqlResult<AuthMethod>,
    ) -> SqlResult<()> {
        let account = self.login_account(name)?;
        let Some(first) = account.auth.first_mut() else { return Err(no_such_account()) };
        if !first.takes_password() {
            return Err(SqlError::new(&ER_SET_PASSWORD_AUTH_PLUGIN, &[&first.plugin()]));
        }
        *first = method(first)?;
        account.expired = false;
        account.password_changed = now();
        Ok(())
    }

    /// SET DEFAULT ROLE; `None` is NONE.
    pub fn set_default_role(&mut self, name: &AccountName, role: Option<&str>) -> SqlResult<()> {
        let account = self.login_account(name)?;
        account.default_role = role.map(str::to_owned);
        account.document.touch("default_role", "\"\"");
        Ok(())
    }

    fn login_account(&mut self, name: &AccountName) -> SqlResult<&mut Account> {
        let found = self.accounts.get_mut(name).filter(|a| !a.is_role());
        found.ok_or_else(no_such_account)
    }

    /// Records the stored text of every account that differs from `old`.
    pub(super) fn settle(&mut self, old: &Self) {
        for account in self.accounts.values_mut().filter(|a| old.account(&a.name) != Some(a)) {
            account.settle();
        }
    }
}
