//! Bytes one thread has allocated and not reported yet, and the account it works for.
//!
//! Must not allocate, and must work also while the thread ends.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::account::Account;
use crate::server;

/// Bytes a thread may take or give back before it reports.
pub(crate) const STEP: i64 = 64 << 10;

/// The bytes a thread holds, kept as the bytes it may still take: to count is then one addition and
/// one comparison.
struct Count {
    /// Bytes the thread may take before it reports to its account and the server.
    slack: Cell<i64>,
    /// Slack plus bytes held: those allocated less those freed since the thread began.
    full: Cell<i64>,
    /// Bytes held at the last report to the account, and to the server.
    account: Cell<i64>,
    server: Cell<i64>,
    /// The largest number of bytes held at a report.
    most: Cell<i64>,
}

impl Count {
    fn held(&self) -> i64 {
        self.full.get() - self.slack.get()
    }
}

thread_local! {
    // No destructor, so that it can be used until the thread is gone.
    static COUNT: Count = const {
        Count {
            slack: Cell::new(STEP),
            full: Cell::new(STEP),
            account: Cell::new(0),
            server: Cell::new(0),
            most: Cell::new(0),
        }
    };
    static ACCOUNT: RefCell<Option<Arc<Account>>> = const { RefCell::new(None) };
}

/// Counts `bytes` taken.
#[inline]
pub(crate) fn took(bytes: usize) {
    COUNT.with(|count| {
        let slack = count.slack.get().wrapping_sub(bytes as i64);
        count.slack.set(slack);
        // As unsigned, a negative slack is above any limit.
        if slack as u64 > 2 * STEP as u64 {
            tell(count);
        }
    });
}

/// Counts `bytes` given back. The report follows with the next allocation: drops of trees call this
/// many times.
#[inline]
pub(crate) fn gave(bytes: usize) {
    COUNT.with(|count| count.slack.set(count.slack.get().wrapping_add(bytes as i64)));
}

/// As [`gave`], for a block so large that it is reported at once.
pub(crate) fn gave_large(bytes: usize) {
    gave(bytes);
    COUNT.with(tell);
}

/// Reports to the account and the server.
#[cold]
fn tell(count: &Count) {
    let held = count.held();
    let total = server::add(held - count.server.replace(held));
    count.most.set(held.max(count.most.get()));
    count.full.set(held + STEP);
    count.slack.set(STEP);
    let more = held - count.account.replace(held);
    // The account may be just changing, or the thread ending: then no account is charged.
    let _ = ACCOUNT.try_with(|account| {
        if let Ok(account) = account.try_borrow()
            && let Some(account) = &*account
            && account.add(more, total)
        {
            selkie_types::pace::run_out();
        }
    });
}

/// The bytes a thread held at some moment.
#[derive(Copy, Clone, Debug)]
pub struct Mark(i64);

impl Mark {
    /// Marks this moment. It resets the maximum, so only the latest mark can be asked.
    pub fn now() -> Self {
        COUNT.with(|count| {
            count.most.set(count.held());
            Self(count.held())
        })
    }

    /// The most bytes held since the mark, above those held then; less than a step may count as 0.
    pub fn most_since(self) -> usize {
        COUNT.with(|count| (count.most.get() - self.0).max(0) as usize)
    }
}

/// Reports everything to the thread's account, then calls `f` with it.
pub(crate) fn with_account<R>(f: impl FnOnce(&Account) -> R) -> Option<R> {
    ACCOUNT
        .try_with(|account| {
            let account = account.try_borrow().ok()?;
            let account = account.as_ref()?;
            settle(account);
            Some(f(account))
        })
        .ok()
        .flatten()
}

/// Reports the bytes the account does not know yet.
fn settle(account: &Account) {
    COUNT.with(|count| {
        let held = count.held();
        let more = held - count.account.replace(held);
        if more != 0 {
            account.add(more, server::total_used());
        }
    });
}

/// Charges the thread's work to a session until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Attached {
    before: Option<Arc<Account>>,
}

/// Charges this thread's allocations to `account` from now on.
pub fn attach(account: &Arc<Account>) -> Attached {
    crate::fuel::judge();
    replace(Some(Arc::clone(account)))
}

/// The account to which this thread's allocations are charged.
pub fn account() -> Option<Arc<Account>> {
    ACCOUNT.with(|account| account.borrow().clone())
}

/// Lets this thread work for no session: its memory is the server's own, and nothing ends its work.
pub fn detached() -> Attached {
    replace(None)
}

/// Reports if much was given back in small blocks.
fn tell_given() {
    COUNT.with(|count| {
        if count.slack.get() > 2 * STEP {
            tell(count);
        }
    });
}

fn replace(account: Option<Arc<Account>>) -> Attached {
    tell_given();
    let before = ACCOUNT.with(|now| {
        if let Some(account) = &*now.borrow() {
            settle(account);
        }
        now.replace(account)
    });
    COUNT.with(|count| count.account.set(count.held()));
    Attached { before }
}

impl Drop for Attached {
    fn drop(&mut self) {
        drop(replace_quietly(self.before.take()));
    }
}

/// As [`replace`], for a thread that may be ending.
fn replace_quietly(account: Option<Arc<Account>>) -> Option<Arc<Account>> {
    tell_given();
    let before = ACCOUNT.try_with(|now| {
        if let Ok(now) = now.try_borrow()
            && let Some(account) = &*now
        {
            settle(account);
        }
        now.try_borrow_mut().ok().and_then(|mut now| std::mem::replace(&mut *now, account))
    });
    COUNT.with(|count| count.account.set(count.held()));
    before.ok().flatten()
}
