//! Accounts, users and hosts: how often each has connected, and the statements of sessions that
//! have ended.
//!
//! Sums flow from a session to its account, from an account to its user and to its host, from a
//! host to the server. TRUNCATE moves them one step on. Must not know live sessions.

use std::collections::BTreeMap;

use super::sums::ByName;

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

fn count<K: Ord>(known: &mut BTreeMap<K, Known>, key: K, limit: usize) -> bool {
    let is_full = known.len() >= limit && !known.contains_key(&key);
    if !is_full {
        known.entry(key).or_default().total += 1;
    }
    is_full
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
        self.lost.accounts += u64::from(count(&mut self.accounts, account, limits.accounts));
        self.lost.users += u64::from(count(&mut self.users, user, limits.users));
        self.lost.hosts += u64::from(count(&mut self.hosts, host, limits.hosts));
    }

    /// Takes the sums of a session that has ended, or that starts anew.
    pub(super) fn take(&mut self, account: &Account, sums: &ByName) {
        match self.accounts.get_mut(account) {
            Some(known) => known.sums.merge(sums),
            None => self.pass(account, sums),
        }
    }

    /// Adds sums of an account to its user and its host.
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

    /// The sums of the accounts that `is_meant` chooses.
    pub(super) fn of_accounts(&self, is_meant: impl Fn(&Account) -> bool) -> ByName {
        let mut sums = ByName::default();
        let meant = self.accounts.iter().filter(|(account, _)| is_meant(account));
        meant.for_each(|(_, known)| sums.merge(&known.sums));
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
        people.take(&account("a"), &sums);
        people.take(&account("b"), &sums);
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
