//! Usage of the accounts' limits: connections, and logins, statements and updates per hour.
//!
//! Counted for the account a client logged in to. A connection holds a [`Place`] while it lives.
//! Accounts without limits have no place, so that their statements count nothing.
//!
//! Must not read the accounts: limits are those given at the last login.

use hashbrown::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use selkie_types::error::catalogue::{
    ER_TOO_MANY_USER_CONNECTIONS, ER_USER_IS_BLOCKED, ER_USER_LIMIT_REACHED,
};
use selkie_types::{SqlError, SqlResult};

use super::account::{Account, AccountName, Limits};

const HOUR: Duration = Duration::from_secs(3600);

/// The usage of all accounts.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    accounts: Mutex<HashMap<AccountName, Arc<Mutex<Used>>>>,
    /// Wrong passwords since the last correct one.
    wrong_passwords: Mutex<HashMap<AccountName, u32>>,
}

#[derive(Debug)]
struct Used {
    user: String,
    limits: Limits,
    connections: i64,
    /// Start of the hour that is counted.
    since: Instant,
    logins: u64,
    queries: u64,
    updates: u64,
}

impl Used {
    fn new(user: &str) -> Self {
        let since = Instant::now();
        let limits = Limits::default();
        let user = user.to_owned();
        Self { user, limits, connections: 0, since, logins: 0, queries: 0, updates: 0 }
    }

    fn begin_hour(&mut self) {
        (self.since, self.logins, self.queries, self.updates) = (Instant::now(), 0, 0, 0);
    }

    fn pass_time(&mut self) {
        if self.since.elapsed() >= HOUR {
            self.begin_hour();
        }
    }

    fn reached(&self, what: &str, limit: impl std::fmt::Display) -> SqlError {
        SqlError::new(&ER_USER_LIMIT_REACHED, &[&self.user, &what, &limit])
    }

    /// Fails (1203, 1226) if the connection that was just counted exceeds a limit.
    fn check_login(&mut self, general: i64) -> SqlResult<()> {
        let own = self.limits.user_connections;
        if own == 0 && general != 0 && self.connections > general {
            return Err(SqlError::new(&ER_TOO_MANY_USER_CONNECTIONS, &[&self.user]));
        }
        self.pass_time();
        if own != 0 && self.connections > own {
            return Err(self.reached("max_user_connections", own));
        }
        let logins = self.limits.connections;
        if logins != 0 && self.logins >= logins {
            return Err(self.reached("max_connections_per_hour", logins));
        }
        self.logins += 1;
        Ok(())
    }
}

/// The place of a connection among the connections of its account.
#[derive(Debug)]
pub(crate) struct Place(Arc<Mutex<Used>>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.lock().connections -= 1;
    }
}

impl Place {
    /// Counts a statement. Fails (1226) if the limit of this hour is reached.
    pub(crate) fn count(&self, is_update: impl FnOnce() -> bool) -> SqlResult<()> {
        let mut used = self.0.lock();
        used.pass_time();
        let Limits { queries, updates, .. } = used.limits;
        if queries != 0 {
            used.queries += 1;
            if used.queries > queries {
                return Err(used.reached("max_queries_per_hour", queries));
            }
        }
        if updates != 0 && is_update() {
            used.updates += 1;
            if used.updates > updates {
                return Err(used.reached("max_updates_per_hour", updates));
            }
        }
        Ok(())
    }
}

impl Usage {
    /// A place for one more connection of an account, if the account or the server has limits.
    /// `general` is the server's limit of connections for one account; 0 is no limit.
    pub(crate) fn log_in(&self, account: &Account, general: i64) -> SqlResult<Option<Place>> {
        let Limits { queries, updates, connections, user_connections, .. } = account.limits;
        let limited = (queries | updates | connections) != 0 || user_connections != 0;
        if !limited && general == 0 {
            return Ok(None);
        }
        let entry = {
            let mut accounts = self.accounts.lock();
            // An entry without connections and without hourly counts is dropped.
            accounts.retain(|_, used| {
                let used = used.lock();
                used.connections > 0 || used.logins > 0
            });
            let new = || Arc::new(Mutex::new(Used::new(&account.name.user)));
            Arc::clone(accounts.entry(account.name.clone()).or_insert_with(new))
        };
        let place = Place(Arc::clone(&entry));
        let mut used = entry.lock();
        used.connections += 1;
        used.limits = account.limits;
        let result = used.check_login(general);
        drop(used);
        result.map(|()| Some(place))
    }

    /// FLUSH USER_RESOURCES: starts a new hour for all accounts.
    pub(crate) fn begin_hour(&self) {
        self.accounts.lock().values().for_each(|used| used.lock().begin_hour());
    }

    /// FLUSH PRIVILEGES: starts a new hour and forgets the wrong passwords of all accounts.
    pub(crate) fn forgive_all(&self) {
        self.begin_hour();
        self.wrong_passwords.lock().clear();
    }

    /// Forgets the wrong passwords of a changed account.
    pub(crate) fn forgive(&self, account: &AccountName) {
        self.wrong_passwords.lock().remove(account);
    }

    /// Fails (4150) if `most` wrong passwords or more were given.
    pub(crate) fn check_passwords(&self, account: &AccountName, most: u64) -> SqlResult<()> {
        let wrong = self.wrong_passwords.lock().get(account).copied().unwrap_or(0);
        match u64::from(wrong) >= most {
            true => Err(SqlError::new(&ER_USER_IS_BLOCKED, &[])),
            false => Ok(()),
        }
    }

    /// Counts a wrong password.
    pub(crate) fn wrong_password(&self, account: &AccountName) {
        let mut wrong = self.wrong_passwords.lock();
        let count = wrong.entry(account.clone()).or_default();
        *count = count.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(limits: Limits) -> Account {
        Account { limits, ..Account::new(AccountName::new("u", "localhost")) }
    }

    #[test]
    fn as_many_connections_as_the_limit_says() {
        let usage = Usage::default();
        let two = account(Limits { user_connections: 2, ..Limits::default() });
        let first = usage.log_in(&two, 0).unwrap();
        let second = usage.log_in(&two, 0).unwrap();
        assert_eq!(usage.log_in(&two, 0).unwrap_err().code(), 1226);
        drop(first);
        let third = usage.log_in(&two, 0).unwrap();
        assert_eq!(usage.log_in(&account(Limits::default()), 1).unwrap_err().code(), 1203);
        drop((second, third));
        let nobody = account(Limits { user_connections: -1, ..Limits::default() });
        assert_eq!(usage.log_in(&nobody, 0).unwrap_err().code(), 1226);
    }

    #[test]
    fn an_hour_has_so_many_statements() {
        let usage = Usage::default();
        let limits = Limits { queries: 3, updates: 1, connections: 2, ..Limits::default() };
        let place = usage.log_in(&account(limits), 0).unwrap().unwrap();
        assert!(place.count(|| true).is_ok());
        assert!(place.count(|| true).unwrap_err().message().contains("max_updates_per_hour"));
        assert!(place.count(|| false).is_ok());
        assert!(place.count(|| false).unwrap_err().message().contains("max_queries_per_hour"));
        let second = usage.log_in(&account(limits), 0).unwrap().unwrap();
        assert!(second.count(|| false).is_err(), "connections share an hour");
        drop(second);
        let error = usage.log_in(&account(limits), 0).unwrap_err();
        assert!(error.message().contains("max_connections_per_hour"));
        usage.begin_hour();
        assert!(place.count(|| true).is_ok());
    }

    #[test]
    fn wrong_passwords_are_counted_until_forgiven() {
        let usage = Usage::default();
        let name = AccountName::new("u", "localhost");
        usage.wrong_password(&name);
        assert!(usage.check_passwords(&name, 2).is_ok());
        usage.wrong_password(&name);
        assert_eq!(usage.check_passwords(&name, 2).unwrap_err().code(), 4150);
        usage.forgive(&name);
        assert!(usage.check_passwords(&name, 2).is_ok());
    }
}
