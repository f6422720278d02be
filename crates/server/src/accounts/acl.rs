//! The state of all accounts and grants at one moment, and the place that holds the current one.
//!
//! Must not be changed in place: a change makes a new state, saves it and publishes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use selkie_types::SqlResult;

use super::account::{Account, AccountName};
use super::grants::{Grant, GrantTarget, Grants};
use super::privileges::Privileges;

/// Accounts, roles and grants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Acl {
    pub(super) accounts: BTreeMap<AccountName, Account>,
    pub(super) grants: Grants,
    /// Who has which role, and whether with the right to pass it on.
    pub(super) members: BTreeMap<(AccountName, String), bool>,
}

impl Acl {
    /// The accounts a new server starts with: root from this machine, without password.
    pub fn initial() -> Self {
        let mut acl = Self::default();
        for host in ["localhost", "127.0.0.1", "::1"] {
            let mut root = Account::new(AccountName::new("root", host));
            root.global = Privileges::ALL;
            acl.accounts.insert(root.name.clone(), root);
        }
        acl
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

    /// Whether somebody has privileges on exactly this.
    pub fn mentions(&self, target: &GrantTarget) -> bool {
        self.grants.keys().any(|(_, t)| t == target)
    }

    /// Nobody has privileges on exactly this any more.
    pub fn forget_target(&mut self, target: &GrantTarget) {
        self.grants.retain(|(_, t), _| t != target);
    }

    /// Every grant below the global level: account, target, privileges, privileges by column.
    pub fn grants(
        &self,
    ) -> impl Iterator<Item = (&AccountName, &GrantTarget, Privileges, &BTreeMap<String, Privileges>)>
    {
        self.grants.iter().map(|((name, target), g)| (name, target, g.whole, &g.columns))
    }

    /// Adds or replaces a grant; for loading.
    pub fn insert_grant(
        &mut self,
        name: AccountName,
        target: GrantTarget,
        whole: Privileges,
        columns: BTreeMap<String, Privileges>,
    ) {
        self.grants.insert((name, target), Grant { whole, columns });
    }

    /// Who has which role, and whether with the right to pass it on.
    pub fn members(&self) -> impl Iterator<Item = (&AccountName, &str, bool)> {
        self.members.iter().map(|((name, role), admin)| (name, role.as_str(), *admin))
    }

    /// Adds a role's member; for loading.
    pub fn insert_member(&mut self, name: AccountName, role: String, admin: bool) {
        self.members.insert((name, role), admin);
    }

    /// The account a client logs in to: the most specific host, a named user before the anonymous.
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

    /// The roles an account or role has, directly or through other roles.
    pub fn roles_of(&self, name: &AccountName) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![name.clone()];
        while let Some(member) = open.pop() {
            for ((_, role), _) in self.members.iter().filter(|((m, _), _)| *m == member) {
                if found.insert(role.clone()) {
                    open.push(AccountName::role(role));
                }
            }
        }
        found
    }
}

/// Where accounts live across restarts.
pub trait Persist: Send + Sync {
    /// Makes `new` durable in place of `old`, entirely or not at all.
    fn replace(&self, old: &Acl, new: &Acl) -> SqlResult<()>;
    /// Reads what is durable, which somebody may have changed by hand.
    fn load(&self) -> SqlResult<Acl>;
}

/// The current accounts of a server.
pub struct AclStore {
    current: RwLock<Arc<Acl>>,
    persist: RwLock<Option<Arc<dyn Persist>>>,
    /// Held by the one change that is under way.
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
        Self { current, persist: RwLock::new(None), changing: Mutex::new(()) }
    }

    /// From now on every change is saved with `persist` before it counts.
    pub fn attach(&self, persist: Arc<dyn Persist>) {
        *self.persist.write() = Some(persist);
    }

    /// The current state.
    pub fn current(&self) -> Arc<Acl> {
        Arc::clone(&self.current.read())
    }

    /// FLUSH PRIVILEGES: takes over what was saved.
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
        *self.current.write() = Arc::new(acl);
    }

    /// Changes the state: `change` works on a copy, which is saved and published if it succeeds.
    ///
    /// Compat: a statement about several accounts keeps what succeeded before it failed, so
    /// `change` returns its error beside the copy's changes.
    pub fn change<T>(&self, change: impl FnOnce(&mut Acl) -> SqlResult<T>) -> SqlResult<T> {
        let _one_at_a_time = self.changing.lock();
        let old = self.current();
        let mut new = Acl::clone(&old);
        let result = change(&mut new);
        if new != *old {
            let persist = self.persist.read().clone();
            if let Some(persist) = persist {
                persist.replace(&old, &new)?;
            }
            *self.current.write() = Arc::new(new);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_specific_account_wins() {
        let mut acl = Acl::initial();
        acl.insert(Account::new(AccountName::new("app", "%")));
        acl.insert(Account::new(AccountName::new("", "localhost")));
        let found = |user, host, ip| acl.find(user, host, ip).map(|a| a.name.to_string());
        assert_eq!(found("root", "localhost", "127.0.0.1").as_deref(), Some("root@localhost"));
        assert_eq!(found("root", "", "10.0.0.1"), None);
        assert_eq!(found("app", "", "10.0.0.1").as_deref(), Some("app@%"));
        // Compat: the anonymous account of a specific host wins over a named one of any host.
        assert_eq!(found("app", "localhost", "127.0.0.1").as_deref(), Some("@localhost"));
    }

    #[test]
    fn roles_are_transitive() {
        let mut acl = Acl::default();
        let user = AccountName::new("u", "%");
        acl.insert_member(user.clone(), "a".into(), false);
        acl.insert_member(AccountName::role("a"), "b".into(), false);
        acl.insert_member(AccountName::role("b"), "a".into(), false);
        assert_eq!(acl.roles_of(&user).into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
