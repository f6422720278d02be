//! Bytes one thread has allocated and not reported yet, and the account it works for.
//!
//! Must not allocate, and must bear to be asked while the thread ends.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::account::Account;
use crate::server;

/// Bytes a thread may hold, or have given back, before it tells.
pub(crate) const STEP: i64 = 64 << 10;

/// What a thread holds is kept as what it may still take, so that counting is one addition and one
/// look at the result.
struct Count {
    /// Bytes the thread may take before it tells its account and the server.
    slack: Cell<i64>,
    /// Bytes held when there is no slack left: allocated less freed since the thread began.
    full: Cell<i64>,
    /// Bytes held when the account was told last, and the server.
    account: Cell<i64>,
    server: Cell<i64>,
    /// The most that was held, when somebody was told.
    most: Cell<i64>,
}

impl Count {
    fn held(&self) -> i64 {
        self.full.get() - self.slack.get()
    }
}

thread_local! {
    // Without a destructor, so that it can be used until the thread is gone.
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

/// The thread has taken `bytes`.
#[inline]
pub(crate) fn took(bytes: usize) {
    COUNT.with(|count| {
        let slack = count.slack.get().wrapping_sub(bytes as i64);
        count.slack.set(slack);
        // Less than nothing is more than any limit.
        if slack as u64 > 2 * STEP as u64 {
            tell(count);
        }
    });
}

/// The thread has given `bytes` back. That much was given back is told when something is taken
/// next: every drop of a tree comes here many times.
#[inline]
pub(crate) fn gave(bytes: usize) {
    COUNT.with(|count| count.slack.set(count.slack.get().wrapping_add(bytes as i64)));
}

/// As [`gave`], for a block so large that it is told at once.
pub(crate) fn gave_large(bytes: usize) {
    gave(bytes);
    COUNT.with(tell);
}

/// Tells the account and the server what was not told yet.
#[cold]
fn tell(count: &Count) {
    let held = count.held();
    let total = server::add(held - count.server.replace(held));
    count.most.set(held.max(count.most.get()));
    count.full.set(held + STEP);
    count.slack.set(STEP);
    let more = held - count.account.replace(held);
    // The account may be changing hands just now, or the thread be ending: then nobody is charged.
    let _ = ACCOUNT.try_with(|account| {
        if let Ok(account) = account.try_borrow()
            && let Some(account) = &*account
            && account.add(more, total)
        {
            selkie_types::pace::run_out();
        }
    });
}

/// The bytes a thread held at some time.
#[derive(Copy, Clone, Debug)]
pub struct Mark(i64);

impl Mark {
    /// Now. Forgets what was held before: of two marks only the later one can be asked.
    pub fn now() -> Self {
        COUNT.with(|count| {
            count.most.set(count.held());
            Self(count.held())
        })
    }

    /// The most that was held since, above what was held then; less than a step is nothing.
    pub fn most_since(self) -> usize {
        COUNT.with(|count| (count.most.get() - self.0).max(0) as usize)
    }
}

/// Tells the account of the thread everything; returns what `f` makes of it.
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

/// Reports the bytes the account does not know of yet.
fn settle(account: &Account) {
    COUNT.with(|count| {
        let held = count.held();
        let more = held - count.account.replace(held);
        if more != 0 {
            account.add(more, server::total_used());
        }
    });
}

/// The thread works for a session until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Attached {
    before: Option<Arc<Account>>,
}

/// From now on what this thread allocates is charged to `account`.
pub fn attach(account: &Arc<Account>) -> Attached {
    crate::fuel::judge();
    replace(Some(Arc::clone(account)))
}

/// From now on this thread works for nobody: what it allocates is the server's own, nothing ends
/// it.
pub fn detached() -> Attached {
    replace(None)
}

/// Tells of much that was given back in small blocks.
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
