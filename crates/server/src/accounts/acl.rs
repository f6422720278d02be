//! The state of all accounts and grants at one moment, and the place that holds the current one.
//!
//! Must not be changed in place: a change makes a new state, saves it and publishes it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use selkie_types::{Privileges, SqlResult};

use super::account::{Account, AccountName};
use super::grants::{Grant, GrantTarget, Grants, Proxies, Proxy};
use super::stored::from_json;

/// Accounts, roles and grants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Acl {
    pub(super) accounts: BTreeMap<AccountName, Account>,
    pub(super) grants: Grants,
    /// Number of the last new grant.
    pub(super) last_grant: u64,
    /// Members of roles, and whether a member may grant its role to others (ADMIN OPTION).
    pub(super) members: BTreeMap<(AccountName, String), bool>,
    /// Accounts that may act as another account.
    pub(super) proxies: Proxies,
}

impl Acl {
    /// The accounts of a new server. `root` may log in from this machine, called `own_host`,
    /// without a password. The account that owns the server's own views is locked for everybody.
    pub fn initial(own_host: &str) -> Self {
        let mut acl = Self::default();
        let anybody = AccountName::new("", "%");
        let hosts = ["localhost", own_host, "127.0.0.1", "::1"];
        for host in hosts.into_iter().filter(|host| !host.is_empty()) {
            acl.extend_with(host, "root", r#"{"access":18446744073709551615}"#);
            let proxy = Proxy { with_grant: true, grantor: String::new() };
            acl.proxies.insert((AccountName::new("root", host), anybody.clone()), proxy);
        }
        let nobody = r#"{"access":0,"plugin":"mysql_native_password","authentication_string":"","account_locked":true,"password_last_changed":0}"#;
        let (user, host) = SYSTEM_ACCOUNT;
        acl.extend_with(host, user, nobody);
        let system = AccountName::new(user, host);
        let accounts = GrantTarget::Table { schema: "mysql".into(), table: "global_priv".into() };
        let whole = Privileges::SELECT | Privileges::DELETE;
        let grant = Grant { whole, grantor: "root@localhost".into(), ..Grant::default() };
        acl.insert_grant(system, accounts, grant);
        acl
    }

    fn extend_with(&mut self, host: &str, user: &str, json: &str) {
        self.accounts.extend(from_json(host, user, json).map(|a| (a.name.clone(), a)));
    }

    /// All accounts and roles by name.
    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values()
    }

    /// Adds or replaces an account; for loading.
    pub fn insert(&mut self, account: Account) {
        self.accounts.insert(account.name.clone(), account);
    }

    /// The account or role of this name.
    pub fn account(&self, name: &AccountName) -> Option<&Account> {
        self.accounts.get(name)
    }

    /// Every grant below the global level.
    pub fn grants(&self) -> impl Iterator<Item = (&AccountName, &GrantTarget, &Grant)> {
        self.grants.iter().map(|((name, target), grant)| (name, target, grant))
    }

    /// Adds or replaces a grant; for loading.
    pub fn insert_grant(&mut self, name: AccountName, target: GrantTarget, grant: Grant) {
        self.last_grant += 1;
        self.grants.insert((name, target), Grant { number: self.last_grant, ..grant });
    }

    /// Accounts that may act as another account: proxy, proxied account, and the grant.
    pub fn proxies(&self) -> impl Iterator<Item = (&AccountName, &AccountName, &Proxy)> {
        self.proxies.iter().map(|((name, proxied), proxy)| (name, proxied, proxy))
    }

    /// Adds a proxy; for loading.
    pub fn insert_proxy(&mut self, name: AccountName, proxied: AccountName, proxy: Proxy) {
        self.proxies.insert((name, proxied), proxy);
    }

    /// Members of roles: the member, its role, and whether it may grant the role to others.
    pub fn members(&self) -> impl Iterator<Item = (&AccountName, &str, bool)> {
        self.members.iter().map(|((name, role), admin)| (name, role.as_str(), *admin))
    }

    /// Adds a role's member; for loading.
    pub fn insert_member(&mut self, name: AccountName, role: String, admin: bool) {
        self.members.insert((name, role), admin);
    }

    /// The account a client logs in to: the one with the most specific host; a named user comes
    /// before the anonymous one.
    pub fn find(&self, user: &str, host: &str, ip: &str) -> Option<&Account> {
        self.accounts
            .values()
            .filter(|a| a.name.user == user || a.name.user.is_empty())
            .filter_map(|a| a.name.host.as_ref().map(|pattern| (a, pattern)))
            .filter(|(_, pattern)| pattern.matches(host, ip))
            // Compat: the name of a host comes before its address.
            .min_by_key(|(a, pattern)| {
                (pattern.specificity(), !pattern.matches(host, ""), a.name.user.is_empty())
            })
            .map(|(a, _)| a)
    }

    /// Whether any account can be used from this host at all.
    pub fn knows_host(&self, host: &str, ip: &str) -> bool {
        let mut hosts = self.accounts.keys().filter_map(|name| name.host.as_ref());
        hosts.any(|pattern| pattern.matches(host, ip))
    }

    /// An account that anybody can use without knowing a secret.
    pub fn open_account(&self) -> Option<&Account> {
        self.accounts.values().find(|a| a.is_open())
    }
}

/// User and host of the account that owns the server's own views.
pub const SYSTEM_ACCOUNT: (&str, &str) = ("mariadb.sys", "localhost");

/// Storage of accounts across restarts.
pub trait Persist: Send + Sync {
    /// Makes `new` durable in place of `old`, completely or not at all.
    fn replace(&self, old: &Acl, new: &Acl) -> SqlResult<()>;
    /// Reads the durable accounts, which somebody may have changed by hand.
    fn load(&self) -> SqlResult<Acl>;
}

/// The current accounts of a server.
pub struct AclStore {
    current: RwLock<Arc<Acl>>,
    persist: RwLock<Option<Arc<dyn Persist>>>,
    /// Grows with every replacement of the state.
    version: AtomicU64,
    /// Held by the one change that is in progress.
    changing: Mutex<()>,
}

impl fmt::Debug for AclStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AclStore").field("current", &self.current.read()).finish_non_exhaustive()
    }
}

impl AclStore {
    /// A store that holds `acl` in memory only.
    pub fn new(acl: Acl) -> Self {
        let current = RwLock::new(Arc::new(acl));
        let version = AtomicU64::new(1);
        Self { current, persist: RwLock::new(None), version, changing: Mutex::new(()) }
    }

    /// Every later change is saved with `persist` before it takes effect.
    pub fn attach(&self, persist: Arc<dyn Persist>) {
        *self.persist.write() = Some(persist);
    }

    /// The current state.
    pub fn current(&self) -> Arc<Acl> {
        Arc::clone(&self.current.read())
    }

    /// A number that changes with every replacement of the state.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    fn publish(&self, acl: Arc<Acl>) {
        *self.current.write() = acl;
        self.version.fetch_add(1, Ordering::Release);
    }

    /// FLUSH PRIVILEGES: loads the saved state.
    pub fn refresh(&self) -> SqlResult<()> {
        let _one_at_a_time = self.changing.lock();
        let persist = self.persist.read().clone();
        if let Some(persist) = persist {
            self.reload(persist.load()?);
        }
        Ok(())
    }

    /// Replaces the state without saving it (FLUSH PRIVILEGES, start).
    pub fn reload(&self, acl: Acl) {
        self.publish(Arc::new(acl));
    }

    /// Changes the state: `change` works on a copy, which is saved and then published.
    ///
    /// Compat: a statement about several accounts keeps what succeeded before it failed. So the
    /// changes of the copy are kept also when `change` returns an error.
    pub fn change<T>(&self, change: impl FnOnce(&mut Acl) -> SqlResult<T>) -> SqlResult<T> {
        let _one_at_a_time = self.changing.lock();
        let old = self.current();
        let mut new = Acl::clone(&old);
        let result = change(&mut new);
        if new != *old {
            new.settle(&old);
            let persist = self.persist.read().clone();
            if let Some(persist) = persist {
                persist.replace(&old, &new)?;
            }
            self.publish(Arc::new(new));
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_specific_account_wins() {
        let mut acl = Acl::initial("");
        acl.insert(Account::new(AccountName::new("app", "%")));
        acl.insert(Account::new(AccountName::new("", "localhost")));
        let found = |user, host, ip| acl.find(user, host, ip).map(|a| a.name.to_string());
        assert_eq!(found("root", "localhost", "127.0.0.1").as_deref(), Some("root@localhost"));
        assert_eq!(found("root", "", "10.0.0.1"), None);
        assert_eq!(found("app", "", "10.0.0.1").as_deref(), Some("app@%"));
        // Compat: the anonymous account of a specific host wins over a named one of any host.
        assert_eq!(found("app", "localhost", "127.0.0.1").as_deref(), Some("@localhost"));
    }
}
