//! Accounts, users and hosts: how often each has connected, and the statements of sessions that
//! have ended.
//!
//! Sums flow from a session to its account, from an account to its user and to its host, from a
//! host to the server. TRUNCATE moves them one step on. Must not keep sessions.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::recorders;
use super::sums::ByName;
use crate::sessions::SessionHandle;

/// Counts of one account, user or host.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Connections until now.
    pub(super) total: u64,
    /// Statements of its sessions that have ended.
    pub(super) sums: ByName,
}

/// User and host of a session.
pub(super) type Account = (String, String);

/// Maximum numbers of accounts, users and hosts.
#[derive(Copy, Clone, Debug)]
pub(super) struct Limits {
    pub(super) accounts: usize,
    pub(super) users: usize,
    pub(super) hosts: usize,
}

/// Connections that were not counted because there was no room.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Lost {
    pub(super) accounts: u64,
    pub(super) users: u64,
    pub(super) hosts: u64,
}

/// All accounts, users and hosts.
#[derive(Debug)]
pub(super) struct People {
    limits: Limits,
    pub(super) accounts: BTreeMap<Account, Known>,
    pub(super) users: BTreeMap<String, Known>,
    pub(super) hosts: BTreeMap<String, Known>,
    /// Statements that belong to nobody any more.
    pub(super) server: ByName,
    pub(super) lost: Lost,
}

/// Counts a connection of `key`; returns how many were lost, 1 if there is no room for a new key.
fn count<K: Ord>(known: &mut BTreeMap<K, Known>, key: K, limit: usize) -> u64 {
    if known.len() >= limit && !known.contains_key(&key) {
        return 1;
    }
    known.entry(key).or_default().total += 1;
    0
}

/// Numbers of the sessions that are logged in, by account.
pub(super) fn connected(sessions: &[Arc<SessionHandle>]) -> BTreeMap<Account, u64> {
    let mut connected = BTreeMap::new();
    for (_, recorder) in recorders(sessions) {
        if let Some(owner) = recorder.state.lock().owner.clone() {
            *connected.entry(owner).or_default() += 1;
        }
    }
    connected
}

/// Numbers of connections by user or host, from those by account.
pub(super) fn by_part(
    accounts: &BTreeMap<Account, u64>,
    part: impl Fn(&Account) -> &String,
) -> BTreeMap<String, u64> {
    let mut parts = BTreeMap::new();
    for (account, count) in accounts {
        *parts.entry(part(account).clone()).or_default() += count;
    }
    parts
}

/// Removes what has no connection; the rest has only its present connections.
pub(super) fn keep_connected<K: Ord>(known: &mut BTreeMap<K, Known>, connected: &BTreeMap<K, u64>) {
    known.retain(|key, known| {
        known.total = connected.get(key).copied().unwrap_or(0);
        known.total > 0
    });
}

impl People {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            accounts: BTreeMap::new(),
            users: BTreeMap::new(),
            hosts: BTreeMap::new(),
            server: ByName::default(),
            lost: Lost::default(),
        }
    }

    /// Counts a connection.
    pub(super) fn joined(&mut self, (user, host): Account) {
        let limits = self.limits;
        let account = (user.clone(), host.clone());
        self.lost.accounts += count(&mut self.accounts, account, limits.accounts);
        self.lost.users += count(&mut self.users, user, limits.users);
        self.lost.hosts += count(&mut self.hosts, host, limits.hosts);
    }

    /// Takes the sums of a session that has ended, or that starts anew. Without an account, or
    /// without room for it, they go where those of the account would go next.
    pub(super) fn take(&mut self, account: Option<&Account>, sums: &ByName) {
        let Some(account) = account else { return self.server.merge(sums) };
        match self.accounts.get_mut(account) {
            Some(known) => known.sums.merge(sums),
            None => self.pass(account, sums),
        }
    }

    /// Adds sums of an account to its user, if that is known, and to its host, or else the server.
    fn pass(&mut self, (user, host): &Account, sums: &ByName) {
        if let Some(known) = self.users.get_mut(user) {
            known.sums.merge(sums);
        }
        match self.hosts.get_mut(host) {
            Some(known) => known.sums.merge(sums),
            None => self.server.merge(sums),
        }
    }

    /// Empties the sums of accounts into those of users and hosts.
    pub(super) fn truncate_accounts(&mut self) {
        let sums: Vec<_> = self
            .accounts
            .iter_mut()
            .map(|(account, known)| (account.clone(), std::mem::take(&mut known.sums)))
            .collect();
        sums.iter().for_each(|(account, sums)| self.pass(account, sums));
    }

    /// Empties the sums of users.
    pub(super) fn truncate_users(&mut self) {
        self.truncate_accounts();
        self.users.values_mut().for_each(|known| known.sums.clear());
    }

    /// Empties the sums of hosts into the server's.
    pub(super) fn truncate_hosts(&mut self) {
        self.truncate_accounts();
        for known in self.hosts.values_mut() {
            self.server.merge(&std::mem::take(&mut known.sums));
        }
    }

    /// Empties all sums.
    pub(super) fn truncate_server(&mut self) {
        self.truncate_users();
        self.truncate_hosts();
        self.server.clear();
    }

    /// The sums of the accounts, by account.
    pub(super) fn by_account(&self) -> BTreeMap<Account, ByName> {
        let sums = |(account, known): (&Account, &Known)| (account.clone(), known.sums.clone());
        self.accounts.iter().map(sums).collect()
    }

    /// The sums of `known`, users or hosts, with those of their accounts.
    pub(super) fn by_known(
        &self,
        known: &BTreeMap<String, Known>,
        part: impl Fn(&Account) -> &String,
    ) -> BTreeMap<String, ByName> {
        let own = known.iter().map(|(name, known)| (name.clone(), known.sums.clone()));
        let mut all: BTreeMap<String, ByName> = own.collect();
        for (account, known) in &self.accounts {
            if let Some(sums) = all.get_mut(part(account)) {
                sums.merge(&known.sums);
            }
        }
        all
    }

    /// The sums of all sessions that have ended.
    pub(super) fn all(&self) -> ByName {
        let mut sums = self.server.clone();
        let known = self.accounts.values().chain(self.hosts.values());
        known.for_each(|known| sums.merge(&known.sums));
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::sums::COUNTS;

    fn total(sums: &ByName) -> u64 {
        let mut rows = Vec::new();
        sums.clone().of(0).columns(&mut rows);
        let selkie_types::Value::UInt(count) = rows[0].1 else { panic!("a count") };
        count
    }

    #[test]
    fn sums_move_on() {
        let mut people = People::new(Limits { accounts: 1, users: 9, hosts: 9 });
        let account = |user: &str| (user.to_owned(), "h".to_owned());
        people.joined(account("a"));
        people.joined(account("b"));
        assert_eq!((people.lost.accounts, people.lost.users), (1, 0));
        let mut sums = ByName::default();
        sums.of(0).add(Some(1), &[0; COUNTS]);
        people.take(Some(&account("a")), &sums);
        people.take(Some(&account("b")), &sums);
        assert_eq!(total(&people.accounts[&account("a")].sums), 1);
        assert_eq!(total(&people.hosts["h"].sums), 1);
        people.truncate_accounts();
        assert_eq!(total(&people.users["a"].sums), 1);
        assert_eq!(total(&people.hosts["h"].sums), 2);
        people.truncate_hosts();
        assert_eq!((total(&people.server), total(&people.users["b"].sums)), (2, 1));
        people.truncate_server();
        assert_eq!(total(&people.server) + total(&people.users["b"].sums), 0);
    }
}
