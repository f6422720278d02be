//! Waits for replicas: who is woken when, and what is counted. Must not depend on how fast the
//! machine is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use proptest::prelude::*;
use selkie_exec::{KillFlag, Killed};
use selkie_replication::log::Place;

use super::{SemiSync, Settings};
use crate::status::Gauges;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Count {
    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn at(offset: u64) -> Place {
    Place { file: 1, offset }
}

fn enabled(millis: u64) -> SemiSync {
    let semi = SemiSync::default();
    semi.set(Settings { timeout: Duration::from_millis(millis), waits_alone: true });
    semi.enable(Place::default());
    semi
}

/// A session that commits a group and then waits.
fn commit(semi: &SemiSync, end: Place) -> (Arc<Count>, KillFlag) {
    let (count, kill) = (Arc::<Count>::default(), KillFlag::default());
    match semi.committed(end) {
        Some(debt) => semi.wake_after(debt, kill.clone(), Waker::from(Arc::clone(&count))),
        None => Waker::from(Arc::clone(&count)).wake(),
    }
    (count, kill)
}

fn shown(semi: &SemiSync, name: &str) -> String {
    let mut gauges = Gauges::new();
    semi.status(&mut gauges);
    gauges.remove(&format!("rpl_semi_sync_master_{name}")).unwrap()
}

fn acknowledge(semi: &SemiSync, place: Place) {
    semi.acknowledge((semi.life(), place), 2);
}

#[test]
fn an_acknowledgement_is_for_all_before_it() {
    let semi = enabled(100_000);
    semi.enter();
    let waiters: Vec<_> = [30, 10, 20].map(|end| commit(&semi, at(end)).0).into();
    let woken = || waiters.iter().map(|count| count.get()).collect::<Vec<_>>();
    acknowledge(&semi, at(9));
    assert_eq!(woken(), [0, 0, 0]);
    acknowledge(&semi, at(20));
    assert_eq!(woken(), [0, 1, 1]);
    // A replica that is behind takes nothing back.
    acknowledge(&semi, at(5));
    assert_eq!(commit(&semi, at(19)).0.get(), 1);
    assert!(!semi.asks(at(20)) && semi.asks(at(30)));
    acknowledge(&semi, Place { file: 2, offset: 4 });
    assert_eq!(woken(), [1, 1, 1]);
    assert_eq!(shown(&semi, "yes_tx"), "4");
    assert_eq!(shown(&semi, "tx_waits"), "3");
    assert_eq!(shown(&semi, "wait_pos_backtraverse"), "1");
}

#[test]
fn who_waits_too_long_switches_it_off_for_all() {
    let semi = enabled(0);
    let (first, _) = commit(&semi, at(10));
    semi.set(Settings { timeout: Duration::from_secs(100), waits_alone: true });
    let (second, _) = commit(&semi, at(20));
    semi.look();
    assert_eq!((first.get(), second.get()), (1, 1));
    assert_eq!((shown(&semi, "status"), shown(&semi, "no_tx")), ("OFF".into(), "2".into()));
    assert_eq!(commit(&semi, at(30)).0.get(), 1);
    // Only a replica that has the last group is worth waiting for.
    assert!(!semi.asks(at(20)) && semi.asks(at(30)));
    acknowledge(&semi, at(20));
    assert_eq!(shown(&semi, "status"), "OFF");
    acknowledge(&semi, at(30));
    assert_eq!((shown(&semi, "status"), shown(&semi, "no_times")), ("ON".into(), "1".into()));
    assert_eq!(commit(&semi, at(40)).0.get(), 0);
}

#[test]
fn a_kill_and_the_end_of_waiting_wake_once() {
    let semi = enabled(100_000);
    let (killed, kill) = commit(&semi, at(10));
    let (other, _) = commit(&semi, at(10));
    kill.raise(Killed::Query);
    semi.look();
    assert_eq!((killed.get(), other.get()), (1, 0));
    semi.disable();
    acknowledge(&semi, at(10));
    semi.look();
    assert_eq!((killed.get(), other.get()), (1, 1));
    assert_eq!(shown(&semi, "wait_sessions"), "0");
    semi.enable(at(10));
    // Older commits need no acknowledgement.
    assert!(semi.committed(at(10)).is_none());
}

#[test]
fn without_a_replica_it_waits_only_if_told_to() {
    let semi = enabled(100_000);
    semi.enter();
    semi.set(Settings { timeout: Duration::from_secs(100), waits_alone: false });
    let (waiter, _) = commit(&semi, at(10));
    assert_eq!(waiter.get(), 0);
    semi.leave();
    assert_eq!(waiter.get(), 1);
    assert_eq!(commit(&semi, at(20)).0.get(), 1);
    assert_eq!((shown(&semi, "status"), shown(&semi, "no_tx")), ("ON".into(), "2".into()));
}

#[test]
fn another_life_of_the_log_has_places_of_its_own() {
    let semi = enabled(100_000);
    semi.enter();
    let old = semi.life();
    let debt = semi.committed(at(50)).unwrap();
    let (waiter, _) = commit(&semi, at(50));
    semi.begin_anew();
    assert_eq!(waiter.get(), 1);
    semi.acknowledge((old, at(90)), 2);
    let (count, kill) = (Arc::<Count>::default(), KillFlag::default());
    semi.wake_after(debt, kill, Waker::from(Arc::clone(&count)));
    assert_eq!(count.get(), 1);
    assert_eq!(commit(&semi, at(20)).0.get(), 0);
    assert_eq!((shown(&semi, "no_tx"), shown(&semi, "status")), ("1".into(), "ON".into()));
}

#[test]
fn a_thread_waits_until_somebody_acknowledges() {
    let semi = Arc::new(enabled(100_000));
    let debt = semi.committed(at(10)).unwrap();
    let other = Arc::clone(&semi);
    let thread = std::thread::spawn(move || other.wait(debt, &KillFlag::default()));
    while shown(&semi, "wait_sessions") != "1" {
        std::thread::yield_now();
    }
    assert!(!thread.is_finished());
    acknowledge(&semi, at(10));
    thread.join().unwrap();
    let semi = enabled(30);
    let debt = semi.committed(at(20)).unwrap();
    semi.wait(debt, &KillFlag::default());
    assert_eq!(shown(&semi, "status"), "OFF");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Commit(u64),
    Acknowledge(u64),
    Kill(usize),
    Enter,
    Leave,
    Enable,
    Disable,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..60u64).prop_map(Step::Commit),
        4 => (1..60u64).prop_map(Step::Acknowledge),
        1 => (0..20usize).prop_map(Step::Kill),
        1 => Just(Step::Enter),
        1 => Just(Step::Leave),
        1 => Just(Step::Enable),
        1 => Just(Step::Disable),
    ]
}

proptest! {
    /// SEMI-1 and SEMI-4 in any order of events.
    #[test]
    fn nobody_is_woken_early_or_twice(steps in prop::collection::vec(step(), 1..80)) {
        let semi = enabled(100_000);
        let (mut sessions, mut best, mut clients) = (Vec::new(), 0, 0);
        for step in steps {
            let before: Vec<_> =
                sessions.iter().map(|(_, count, _): &(u64, Arc<Count>, _)| count.get()).collect();
            let mut may_give_up = false;
            match step {
                Step::Commit(end) => {
                    let (count, kill) = commit(&semi, at(end));
                    let is_on = shown(&semi, "status") == "ON";
                    prop_assert_eq!(count.get() == 0, is_on && end > best && end > 0);
                    sessions.push((end, count, kill));
                }
                Step::Acknowledge(place) => {
                    if semi.is_enabled() {
                        best = best.max(place);
                    }
                    acknowledge(&semi, at(place));
                }
                Step::Kill(number) => {
                    sessions.get(number).iter().for_each(|(_, _, kill)| kill.raise(Killed::Query));
                    semi.look();
                    may_give_up = true;
                }
                Step::Enter => {
                    semi.enter();
                    clients += 1;
                }
                Step::Leave if clients > 0 => {
                    semi.leave();
                    clients -= 1;
                }
                Step::Leave => {}
                Step::Enable => semi.enable(Place::default()),
                Step::Disable => {
                    semi.disable();
                    may_give_up = true;
                }
            }
            for ((end, count, kill), before) in sessions.iter().zip(before) {
                prop_assert!(count.get() <= 1);
                let is_woken = count.get() > before;
                let may = *end <= best || may_give_up || kill.get() != Killed::No;
                prop_assert!(!is_woken || may);
            }
        }
        acknowledge(&semi, at(60));
        prop_assert!(!semi.is_enabled() || sessions.iter().all(|(_, count, _)| count.get() == 1));
    }
}
