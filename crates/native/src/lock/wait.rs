//! Waits for the end of transactions, and detection of deadlocks.
//!
//! Must not be called with a latch held. The graph's mutex is not held while a thread sleeps.

use super::LockTable;
use crate::ids::FileId;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, RwLock};
use crate::trx::{TrxState, Waiter};
use hashbrown::HashMap;
use selkie_engine::{EngineError, EngineResult};
use std::sync::Arc;

struct Wait {
    me: Arc<TrxState>,
    holders: Vec<Arc<TrxState>>,
    waiter: Arc<Waiter>,
    victim: bool,
}

/// Function that receives each deadlock while the graph is locked.
pub(crate) type CycleObserver = Box<dyn Fn(&[Arc<TrxState>], usize) + Send + Sync>;

/// Function that receives the session of each transaction that begins to wait, without locks.
pub(crate) type WaitObserver = Box<dyn Fn(u64) + Send + Sync>;

/// The wait-for graph, by transaction id.
#[derive(Default)]
pub(super) struct Waits {
    graph: Mutex<HashMap<u64, Wait>>,
    /// Observer of deadlocks: receives the transactions, each waiting for the next, and the
    /// victim's position.
    pub(super) observer: RwLock<Option<CycleObserver>>,
    pub(super) wait_observer: RwLock<Option<WaitObserver>>,
    pub(super) waits: AtomicU64,
    pub(super) deadlocks: AtomicU64,
}

impl LockTable {
    /// Sleeps, through `sleep`, until one of `holders` has ended or `waiter` is woken. `Deadlock`
    /// if this transaction is chosen as the victim.
    pub(crate) fn wait(
        &self,
        me: &Arc<TrxState>,
        holders: &[Arc<TrxState>],
        waiter: Arc<Waiter>,
        sleep: impl FnOnce(&Arc<Waiter>) -> EngineResult<()>,
    ) -> EngineResult<()> {
        self.wait_while(me, holders, waiter, || true, sleep)
    }

    /// As [`Self::wait`], for the gap that `key` belongs into. `holders` may release a part of it
    /// before they end. That cannot be missed: the waiter checks the gap once more after it has
    /// subscribed and before it sleeps.
    pub(crate) fn wait_for_gap(
        &self,
        me: &Arc<TrxState>,
        holders: &[Arc<TrxState>],
        (file, key): (FileId, &[u8]),
        sleep: impl FnOnce(&Arc<Waiter>) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let is_closed = || !self.gaps.blocking(me.id, file, key).is_empty();
        self.wait_while(me, holders, Arc::default(), is_closed, sleep)
    }

    fn wait_while(
        &self,
        me: &Arc<TrxState>,
        holders: &[Arc<TrxState>],
        waiter: Arc<Waiter>,
        is_blocked: impl FnOnce() -> bool,
        sleep: impl FnOnce(&Arc<Waiter>) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let subscribed = holders.iter().take_while(|holder| holder.subscribe(&waiter)).count();
        let outcome = if subscribed == holders.len() && is_blocked() {
            self.waits.waits.fetch_add(1, Ordering::Relaxed);
            self.waits.sleep(me, holders, &waiter, sleep)
        } else {
            Ok(())
        };
        holders[..subscribed].iter().for_each(|holder| holder.unsubscribe(&waiter));
        outcome
    }

    /// Waits and deadlocks since start.
    pub(crate) fn counters(&self) -> (u64, u64) {
        (self.waits.waits.load(Ordering::Relaxed), self.waits.deadlocks.load(Ordering::Relaxed))
    }

    /// Number of transactions waiting now.
    pub(crate) fn waiting(&self) -> usize {
        self.waits.graph.lock().len()
    }
}

impl Waits {
    fn sleep(
        &self,
        me: &Arc<TrxState>,
        holders: &[Arc<TrxState>],
        waiter: &Arc<Waiter>,
        sleep: impl FnOnce(&Arc<Waiter>) -> EngineResult<()>,
    ) -> EngineResult<()> {
        self.enter(me, holders, waiter)?;
        if let Some(observer) = &*self.wait_observer.read() {
            observer(me.notes.session());
        }
        let slept = sleep(waiter);
        let wait = self.graph.lock().remove(&me.id);
        if wait.is_some_and(|wait| wait.victim) {
            return Err(EngineError::Deadlock);
        }
        slept
    }

    /// Adds an edge to the graph. If that closes a cycle, the transaction with the least weight is
    /// the victim.
    fn enter(
        &self,
        me: &Arc<TrxState>,
        holders: &[Arc<TrxState>],
        waiter: &Arc<Waiter>,
    ) -> EngineResult<()> {
        let mut graph = self.graph.lock();
        let wait = Wait {
            me: me.clone(),
            holders: holders.to_vec(),
            waiter: waiter.clone(),
            victim: false,
        };
        graph.insert(me.id, wait);
        // The new edges may close several cycles.
        while let Some(cycle) = find_cycle(&graph, me.id) {
            self.deadlocks.fetch_add(1, Ordering::Relaxed);
            let victim = lightest(&graph, &cycle, me.id);
            self.tell(&graph, &cycle, victim);
            match graph.get_mut(&victim).filter(|_| victim != me.id) {
                Some(other) => {
                    other.victim = true;
                    other.waiter.wake();
                }
                None => {
                    graph.remove(&me.id);
                    return Err(EngineError::Deadlock);
                }
            }
        }
        Ok(())
    }
}

/// The transaction of a cycle that has changed and locked the least; among equals, the one that
/// closed it.
fn lightest(graph: &HashMap<u64, Wait>, cycle: &[u64], me: u64) -> u64 {
    let weight = |id: &u64| graph.get(id).map_or(0, |w| w.me.weight.total());
    cycle.iter().min_by_key(|id| (weight(id), **id != me)).copied().unwrap_or(me)
}

impl Waits {
    fn tell(&self, graph: &HashMap<u64, Wait>, cycle: &[u64], victim: u64) {
        let Some(observer) = &*self.observer.read() else { return };
        let party = |id: &u64| graph.get(id).map(|wait| wait.me.clone());
        let parties: Vec<Arc<TrxState>> = cycle.iter().filter_map(party).collect();
        let victim = parties.iter().position(|party| party.id == victim);
        observer(&parties, victim.unwrap_or(0));
    }

    /// Shows each waiting transaction with the active ones it waits for. In a queue those are only
    /// the ones directly before it.
    pub(super) fn each(&self, show: &mut dyn FnMut(&TrxState, &[Arc<TrxState>])) {
        for wait in self.graph.lock().values() {
            let holders: Vec<_> = wait.holders.iter().filter(|h| h.is_active()).cloned().collect();
            show(&wait.me, &holders);
        }
    }

    /// As [`Self::each`], with all transactions before it in the queue and the holders of the lock.
    pub(super) fn each_with_all(&self, show: &mut dyn FnMut(&TrxState, &[Arc<TrxState>])) {
        let graph = self.graph.lock();
        graph.values().for_each(|wait| show(&wait.me, &in_the_way(&graph, wait)));
    }
}

/// All transactions that hold, or get first, the lock that `wait` is for.
fn in_the_way(graph: &HashMap<u64, Wait>, wait: &Wait) -> Vec<Arc<TrxState>> {
    let place = |trx: &TrxState| trx.notes.request().map(|request| (request.file, request.key));
    let wanted = place(&wait.me);
    let mut found: Vec<Arc<TrxState>> = Vec::new();
    let mut next: Vec<_> = wait.holders.iter().collect();
    while let Some(holder) = next.pop() {
        if !holder.is_active() || found.iter().any(|other| other.id == holder.id) {
            continue;
        }
        found.push(holder.clone());
        let behind = graph.get(&holder.id).filter(|_| place(holder) == wanted);
        next.extend(behind.into_iter().flat_map(|wait| &wait.holders));
    }
    found
}

/// The transactions of a cycle through `me`. A woken transaction does not count as waiting: it
/// checks again, and waits anew if it is still blocked.
fn find_cycle(graph: &HashMap<u64, Wait>, me: u64) -> Option<Vec<u64>> {
    let mut seen = hashbrown::HashSet::new();
    let mut way: Vec<(u64, usize)> = vec![(me, 0)];
    while let Some((id, next)) = way.last_mut() {
        let wait = graph.get(id).filter(|wait| !wait.victim && !wait.waiter.is_woken());
        let Some(holder) = wait.and_then(|wait| wait.holders.get(*next)) else {
            way.pop();
            continue;
        };
        *next += 1;
        if holder.id == me {
            return Some(way.iter().map(|(id, _)| *id).collect());
        }
        if holder.is_active() && seen.insert(holder.id) {
            way.push((holder.id, 0));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(waits: &Waits, me: &Arc<TrxState>, holder: &Arc<TrxState>) -> EngineResult<()> {
        waits.enter(me, std::slice::from_ref(holder), &Arc::default())
    }

    #[test]
    fn the_lightest_of_a_cycle_gives_way() {
        let waits = Waits::default();
        let trx: Vec<_> = (1..=3).map(|id| Arc::new(TrxState::new(id))).collect();
        trx.iter().for_each(|t| (t.id..10).for_each(|_| t.weight.add_row()));
        waiting(&waits, &trx[0], &trx[1]).unwrap();
        waiting(&waits, &trx[1], &trx[2]).unwrap();
        assert!(matches!(waiting(&waits, &trx[2], &trx[0]), Err(EngineError::Deadlock)));
        (0..100).for_each(|_| trx[2].weight.add_row());
        waiting(&waits, &trx[2], &trx[0]).unwrap();
        let victims: Vec<u64> =
            waits.graph.lock().values().filter(|w| w.victim).map(|w| w.me.id).collect();
        assert_eq!(victims, [2]);
    }

    #[test]
    fn who_has_been_woken_stands_in_no_cycle() {
        let waits = Waits::default();
        let trx: Vec<_> = (1..=2).map(|id| Arc::new(TrxState::new(id))).collect();
        let waiter: Arc<Waiter> = Arc::default();
        waits.enter(&trx[0], &trx[1..], &waiter).unwrap();
        waiter.wake();
        waiting(&waits, &trx[1], &trx[0]).unwrap();
        waiter.reset();
        assert!(matches!(waiting(&waits, &trx[1], &trx[0]), Err(EngineError::Deadlock)));
    }
}
