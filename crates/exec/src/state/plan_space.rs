//! Numbers for the settings and accounts that plans depend on, besides definitions and the current
//! database.
//!
//! Sessions with equal numbers make equal plans. A number must never be reused for other settings.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use selkie_types::Privileges;

use crate::Session;
use crate::state::session::{KeepResults, Settings};

/// Settings and account that plans depend on.
#[derive(Clone, Debug, PartialEq)]
struct PlanSpace {
    settings: Settings,
    account: Arc<str>,
    role: Option<String>,
    global: Privileges,
}

/// The most recent spaces, with their numbers.
struct Known {
    next: u64,
    spaces: VecDeque<(u64, PlanSpace)>,
}

/// Number of spaces kept; a session whose space was dropped gets a new number.
const REMEMBERED: usize = 64;

static KNOWN: Mutex<Known> = Mutex::new(Known { next: 1, spaces: VecDeque::new() });

/// Version of a session's settings and account, and the number of their space.
pub(crate) type Numbered = ((u64, u64), u64);

impl Session {
    /// Number of the space that this session's plans depend on.
    pub(crate) fn plan_space(&self) -> u64 {
        let version = (self.frame.settings.version, self.frame.account.version);
        match self.space.get() {
            Some((of, number)) if of == version => number,
            _ => {
                let number = number_of(PlanSpace::of(self));
                self.space.set(Some((version, number)));
                number
            }
        }
    }
}

impl PlanSpace {
    fn of(session: &Session) -> Self {
        // None of these changes a plan, or a result that is kept.
        let mut settings =
            Settings { version: 0, timestamp_micros: None, ..session.frame.settings.clone() };
        settings.queries.keep_results = KeepResults::Never;
        settings.queries.results_wait_for_locks = false;
        let account = &session.frame.account;
        let (role, global) = (account.role.clone(), account.global);
        Self { settings, account: account.account.clone(), role, global }
    }
}

fn number_of(space: PlanSpace) -> u64 {
    let mut known = KNOWN.lock();
    if let Some((number, _)) = known.spaces.iter().find(|(_, s)| *s == space) {
        return *number;
    }
    let number = known.next;
    known.next += 1;
    if known.spaces.len() >= REMEMBERED {
        known.spaces.pop_front();
    }
    known.spaces.push_back((number, space));
    number
}
