//! State of semi-sync: commits, acknowledgements, and who waits. All of it changes under one mutex.
//!
//! Must not call wakers: they lock the mutex of somebody else, so that callers call them when the
//! mutex is free.

use std::collections::BTreeMap;
use std::task::Waker;
use std::time::Instant;

use selkie_exec::KillFlag;
use selkie_replication::log::Place;

use super::counts::Counts;
use super::{Debt, Settings};
use crate::status::Gauges;

/// Everything that changes.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) settings: Settings,
    /// Whether answers wait.
    pub(super) is_on: bool,
    /// Number of the log's life.
    pub(super) life: u64,
    /// Readers that acknowledge.
    pub(super) clients: u64,
    /// End of the log when it was enabled. Groups before it need no acknowledgement.
    pub(super) since: Place,
    /// Place up to which a replica has the log.
    pub(super) acked: Place,
    /// End of the last group that a session has told since it was enabled.
    pub(super) committed: Option<Place>,
    /// By what they wait for, and in order of arrival.
    waiting: BTreeMap<(Place, u64), Waiter>,
    arrivals: u64,
    pub(super) counts: Counts,
}

/// An answer that waits.
#[derive(Debug)]
pub(super) struct Waiter {
    begun: Instant,
    /// None for never.
    pub(super) deadline: Option<Instant>,
    pub(super) kill: KillFlag,
    waker: Waker,
}

/// Reason why a wait is over.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// A replica has the group.
    Acked,
    /// It lasted too long.
    TimedOut,
    /// The session was killed, or nobody waits any more.
    GivenUp,
}

impl State {
    /// Whether no reader acknowledges, and the server does not wait for one to come.
    fn is_alone(&self) -> bool {
        self.clients == 0 && !self.settings.waits_alone
    }

    /// A session has committed a group.
    pub(super) fn committed(&mut self, end: Place) -> Option<Debt> {
        if end <= self.since {
            return None;
        }
        self.committed = self.committed.max(Some(end));
        if !self.is_on || self.is_alone() {
            self.counts.unacked += 1;
            return None;
        }
        self.counts.requests += 1;
        let is_acked = end <= self.acked;
        self.counts.acked += u64::from(is_acked);
        (!is_acked).then_some(Debt { life: self.life, end })
    }

    /// Adds a waiter.
    pub(super) fn enqueue(
        &mut self,
        debt: Debt,
        kill: KillFlag,
        waker: Waker,
    ) -> Option<(Place, u64)> {
        if debt.life == self.life && debt.end <= self.acked {
            self.counts.acked += 1;
            return None;
        }
        if debt.life != self.life || !self.is_on || self.is_alone() {
            self.counts.unacked += 1;
            return None;
        }
        let first = self.waiting.first_key_value().map(|((place, _), _)| *place);
        self.counts.backward += u64::from(first.is_some_and(|first| debt.end < first));
        self.arrivals += 1;
        let (key, begun) = ((debt.end, self.arrivals), Instant::now());
        let deadline = begun.checked_add(self.settings.timeout);
        self.waiting.insert(key, Waiter { begun, deadline, kill, waker });
        Some(key)
    }

    /// Whether somebody waits at a place in the queue.
    pub(super) fn has(&self, key: (Place, u64)) -> bool {
        self.waiting.contains_key(&key)
    }

    /// Removes the waiters for which `over` has a reason. The caller wakes them.
    pub(super) fn take(
        &mut self,
        mut over: impl FnMut(Place, &Waiter) -> Option<Over>,
    ) -> Vec<Waker> {
        let Self { waiting, counts, .. } = self;
        let mut woken = Vec::new();
        waiting.retain(|(place, _), waiter| {
            let Some(reason) = over(*place, waiter) else { return true };
            // Compat: waits that lasted too long do not count.
            if reason != Over::TimedOut {
                counts.waited(waiter.begun.elapsed());
            }
            let count = if reason == Over::Acked { &mut counts.acked } else { &mut counts.unacked };
            *count += 1;
            woken.push(waiter.waker.clone());
            false
        });
        woken
    }

    /// Lets nobody wait until a replica has caught up.
    pub(super) fn switch_off(&mut self) -> Vec<Waker> {
        self.counts.offs += u64::from(self.is_on);
        self.is_on = false;
        self.take(|_, _| Some(Over::GivenUp))
    }

    /// The log begins anew.
    pub(super) fn begin_anew(&mut self) -> Vec<Waker> {
        self.life += 1;
        (self.since, self.acked, self.committed) = (Place::default(), Place::default(), None);
        let woken = self.take(|_, _| Some(Over::GivenUp));
        self.counts.begin_anew();
        woken
    }

    /// A reader that acknowledges has gone. Compat: without the last one nobody waits, but it stays
    /// on.
    pub(super) fn leave(&mut self) -> Vec<Waker> {
        self.clients -= 1;
        match self.is_alone() {
            true => self.take(|_, _| Some(Over::GivenUp)),
            false => Vec::new(),
        }
    }

    /// Whether to ask for an acknowledgement of the group that ends at `place`.
    pub(super) fn asks(&mut self, place: Place) -> bool {
        let is_wanted = match self.is_on {
            true => place > self.acked,
            // A replica that has the last group switches it on.
            false => self.committed.is_none_or(|committed| place >= committed),
        };
        self.counts.asked += u64::from(is_wanted);
        is_wanted
    }

    /// A replica has everything up to `place`.
    pub(super) fn acknowledge(&mut self, place: Place) -> Vec<Waker> {
        self.acked = self.acked.max(place);
        self.is_on |= self.committed.is_none_or(|committed| place >= committed);
        let acked = self.acked;
        // The first ones wait for the lowest places.
        match self.waiting.first_key_value().is_some_and(|((first, _), _)| *first <= acked) {
            true => self.take(|place, _| (place <= acked).then_some(Over::Acked)),
            false => Vec::new(),
        }
    }

    /// Values of status variables. Compat: times of the network were never measured.
    pub(super) fn status(&self, gauges: &mut Gauges) {
        let Counts { answers, asked, offs, unacked, requests, acked, waits, waited, backward } =
            self.counts;
        let micros = waited.as_micros() as u64;
        let numbers = [
            ("clients", self.clients),
            ("get_ack", answers),
            ("net_waits", asked),
            ("no_times", offs),
            ("no_tx", unacked),
            ("request_ack", requests),
            ("tx_avg_wait_time", micros.checked_div(waits).unwrap_or(0)),
            ("tx_wait_time", micros),
            ("tx_waits", waits),
            ("wait_pos_backtraverse", backward),
            ("wait_sessions", self.waiting.len() as u64),
            ("yes_tx", acked),
        ];
        let name = |name| format!("rpl_semi_sync_master_{name}");
        gauges.extend(numbers.map(|(of, number)| (name(of), number.to_string())));
        let is_on = if self.is_on { "ON" } else { "OFF" };
        gauges.insert(name("status"), is_on.to_owned());
    }
}
