//! Model of row locks: conflicting locks are not held at the same time, a waiter continues when
//! nothing blocks it, every deadlock has one victim, and only deadlocks have victims.
//!
//! A row of the model is the part of a table's entry that locks use: the owner of its newest
//! version.

use super::{Body, Explore, run};
use crate::ids::FileId;
use crate::lock::{Behind, LockTable, Locked, Wanted};
use crate::sync::{Mutex, step};
use crate::trx::{TrxState, Waiter};
use selkie_engine::{EngineError, EngineResult, LockMode, LockWait};
use std::sync::Arc;
use std::time::Duration;

const FILE: FileId = FileId(1);
const S: LockMode = LockMode::Shared;
const X: LockMode = LockMode::Exclusive;

#[derive(Default)]
struct Row {
    /// Owner of the newest version. The mutex is the latch of the leaf.
    owner: Mutex<Option<Arc<TrxState>>>,
    /// Transactions that believe to have the row locked, to check for conflicts. Not a step.
    inside: parking_lot::Mutex<Vec<(u64, LockMode)>>,
}

struct Model {
    locks: LockTable,
    rows: [Row; 2],
}

/// A transaction.
struct Trx {
    model: Arc<Model>,
    state: Arc<TrxState>,
    held: Vec<(FileId, Box<[u8]>)>,
    patience: LockWait,
}

impl Model {
    fn new() -> Arc<Model> {
        Arc::new(Model { locks: LockTable::new(), rows: Default::default() })
    }

    /// Checks that no locks and waits are left when all transactions have ended.
    fn check_empty(&self) {
        assert_eq!((self.locks.len(), self.locks.waiting()), (0, 0));
    }

    fn deadlocks(&self) -> u64 {
        self.locks.counters().1
    }
}

fn begin(model: &Arc<Model>, id: u64) -> Trx {
    let state = Arc::new(TrxState::new(id));
    Trx { model: model.clone(), state, held: Vec::new(), patience: LockWait::Default }
}

impl Trx {
    fn row(&self, row: usize) -> &Row {
        &self.model.rows[row]
    }

    fn sleep(&self, holders: &[Arc<TrxState>], waiter: Arc<Waiter>) -> EngineResult<()> {
        let limited = !matches!(self.patience, LockWait::Default);
        let impatient = matches!(self.patience, LockWait::Upto(Duration::ZERO));
        self.model.locks.wait(&self.state, holders, waiter, |waiter| {
            let woken = !impatient && waiter.park(Duration::from_secs(1));
            if limited && !woken { Err(EngineError::LockWaitTimeout) } else { Ok(()) }
        })
    }

    /// Locks a row; false if it was skipped.
    fn lock(&mut self, row: usize, mode: LockMode) -> EngineResult<bool> {
        let key = [row as u8];
        let wanted = Wanted { file: FILE, key: &key, mode, wait: self.patience };
        let look = || {
            let owner = self.row(row).owner.lock().clone();
            Ok(((), owner.filter(|owner| owner.is_active())))
        };
        let locks = &self.model.locks;
        let locked = locks.lock_in_turn(&self.state, &wanted, look, |holders, waiter| {
            self.sleep(holders, waiter)
        })?;
        let Some(Locked { new, .. }) = locked else { return Ok(false) };
        if new {
            self.held.push((FILE, key.into()));
        }
        self.enter(row, mode);
        Ok(true)
    }

    /// Changes a row without locking it first, in the order of `Writer::change`.
    fn write(&mut self, row: usize) -> EngineResult<()> {
        let key = [row as u8];
        let wanted = Wanted { file: FILE, key: &key, mode: X, wait: self.patience };
        let locks = &self.model.locks;
        let mut queue = Behind::default();
        loop {
            queue.look_again();
            let mut latched = self.row(row).owner.lock();
            let owner = latched.clone().filter(|owner| owner.is_active());
            let holders = locks.blocking(self.state.id, FILE, &key, X);
            if owner.is_none() && holders.is_empty() {
                *latched = Some(self.state.clone());
                drop(latched);
                break self.enter(row, X);
            }
            drop(latched);
            let holders = owner.map_or(holders, |owner| [owner].into_iter().collect());
            queue.wait(locks, &self.state, &wanted, &holders, |holders, waiter| {
                self.sleep(holders, waiter)
            })?;
        }
        Ok(())
    }

    /// Inserts a row into a gap, in the order of `Writer::change`.
    fn insert(&self, key: &[u8]) -> EngineResult<()> {
        let locks = &self.model.locks;
        loop {
            let holders = locks.gaps.blocking(self.state.id, FILE, key);
            if holders.is_empty() {
                return Ok(());
            }
            locks.wait_for_gap(&self.state, &holders, (FILE, key), |waiter| {
                waiter.park(Duration::from_secs(1));
                Ok(())
            })?;
        }
    }

    /// Changes a row that this transaction has locked.
    fn change(&self, row: usize) {
        *self.row(row).owner.lock() = Some(self.state.clone());
    }

    /// Undoes the insert of a row, in the order of `undo_change`.
    fn undo(&self, row: usize) {
        *self.row(row).owner.lock() = None;
        self.model.locks.wake(FILE, &[row as u8]);
    }

    fn enter(&self, row: usize, mode: LockMode) {
        let mut inside = self.row(row).inside.lock();
        let me = self.state.id;
        let conflict = |other: &&(u64, LockMode)| other.0 != me && (mode == X || other.1 == X);
        assert_eq!(inside.iter().find(conflict), None, "{me} is in with another");
        inside.push((me, mode));
    }

    fn leave(&self, row: usize) {
        self.row(row).inside.lock().retain(|(id, _)| *id != self.state.id);
    }

    /// Releases a lock before the end.
    fn unlock(&mut self, row: usize) {
        self.leave(row);
        self.held.retain(|(_, key)| key[0] != row as u8);
        self.model.locks.release_one(self.state.id, FILE, &[row as u8]);
    }

    /// Commits, in the order of `NativeTrx::commit`.
    fn commit(self) {
        (0..self.model.rows.len()).for_each(|row| self.leave(row));
        self.state.set_committed(1);
        self.model.locks.release(self.state.id, &self.held);
        self.state.wake();
    }

    /// Locks both rows in this order; returns true if this was a deadlock's victim.
    fn lock_both(mut self, rows: [usize; 2], mode: LockMode) -> bool {
        let outcome = rows.into_iter().try_for_each(|row| self.lock(row, mode).map(drop));
        let victim = match outcome {
            Ok(()) => false,
            Err(EngineError::Deadlock) => true,
            Err(other) => panic!("{other:?}"),
        };
        self.commit();
        victim
    }
}

#[test]
fn whoever_waits_gets_the_lock() {
    Explore::schedules(400).run(|| {
        let model = Model::new();
        let body = |id: u64, mode| -> Body<()> {
            let mut trx = begin(&model, id);
            Box::new(move || {
                assert!(trx.lock(0, mode).expect("nobody to deadlock with"));
                step();
                if mode == X {
                    trx.change(0);
                }
                trx.commit();
            })
        };
        run(vec![body(1, S), body(2, X), body(3, S), body(4, X)]);
        assert_eq!(model.deadlocks(), 0);
        model.check_empty();
    });
}

/// The lock of a row whose owner is about to end is taken and returned; a transaction blocked by it
/// meanwhile must not sleep on.
#[test]
fn a_lock_taken_back_leaves_nobody_asleep() {
    for patience in [LockWait::Default, LockWait::NoWait, LockWait::SkipLocked] {
        PATIENCE.set(patience);
        Explore::schedules(400).run(|| {
            let model = Model::new();
            let owner = begin(&model, 1);
            owner.change(0);
            let [mut hasty, mut patient, mut writer] = [2, 3, 4].map(|id| begin(&model, id));
            hasty.patience = PATIENCE.get();
            run::<Option<Trx>>(vec![
                Box::new(move || {
                    owner.commit();
                    None
                }),
                // A refused transaction continues and has no lock.
                Box::new(move || match hasty.lock(0, X) {
                    Ok(true) => {
                        hasty.commit();
                        None
                    }
                    Ok(false) | Err(EngineError::LockWaitTimeout) => Some(hasty),
                    Err(other) => panic!("{other:?}"),
                }),
                Box::new(move || {
                    patient.lock(0, X).expect("no deadlock");
                    patient.commit();
                    None
                }),
                Box::new(move || {
                    writer.write(0).expect("no deadlock");
                    writer.commit();
                    None
                }),
            ]);
            model.check_empty();
        });
    }
}

thread_local! {
    static PATIENCE: std::cell::Cell<LockWait> = const { std::cell::Cell::new(LockWait::Default) };
}

#[test]
fn a_lock_given_back_early_wakes_its_waiters() {
    Explore::schedules(400).run(|| {
        let model = Model::new();
        let [mut scan, mut one, mut two, mut writer] = [1, 2, 3, 4].map(|id| begin(&model, id));
        let end = Arc::new(shuttle::sync::Barrier::new(4));
        let [first, second, third, fourth] = [0; 4].map(|_| end.clone());
        run::<()>(vec![
            Box::new(move || {
                scan.lock(0, X).expect("no deadlock");
                scan.unlock(0);
                // The transaction continues until the others have had the row.
                first.wait();
                scan.commit();
            }),
            Box::new(move || {
                one.lock(0, X).expect("no deadlock");
                one.commit();
                second.wait();
            }),
            Box::new(move || {
                two.lock(0, S).expect("no deadlock");
                two.commit();
                third.wait();
            }),
            Box::new(move || {
                writer.write(0).expect("no deadlock");
                writer.commit();
                fourth.wait();
            }),
        ]);
        assert_eq!(model.deadlocks(), 0);
        model.check_empty();
    });
}

#[test]
fn a_row_taken_back_wakes_its_waiters() {
    Explore::schedules(400).run(|| {
        let model = Model::new();
        let [owner, mut reader, mut writer] = [1, 2, 3].map(|id| begin(&model, id));
        owner.change(0);
        let end = Arc::new(shuttle::sync::Barrier::new(3));
        let [first, second, third] = [0; 3].map(|_| end.clone());
        run::<()>(vec![
            Box::new(move || {
                owner.undo(0);
                // The transaction continues until the others have had the row.
                first.wait();
                owner.commit();
            }),
            Box::new(move || {
                reader.lock(0, S).expect("no deadlock");
                reader.commit();
                second.wait();
            }),
            Box::new(move || {
                writer.write(0).expect("no deadlock");
                writer.commit();
                third.wait();
            }),
        ]);
        assert_eq!(model.deadlocks(), 0);
        model.check_empty();
    });
}

/// The part of a locked gap after the row whose lock failed is released.
#[test]
fn a_part_of_a_gap_given_back_wakes_its_waiters() {
    Explore::schedules(400).run(|| {
        let model = Model::new();
        let [scan, low, one, two] = [1, 2, 3, 4].map(|id| begin(&model, id));
        let (_, covered) = model.locks.gaps.cover(&scan.state, FILE, b"b", Some(b"f"));
        let end = Arc::new(shuttle::sync::Barrier::new(3));
        let body = |trx: Trx, key: &'static [u8]| -> Body<()> {
            let end = end.clone();
            Box::new(move || {
                trx.insert(key).expect("no deadlock");
                trx.commit();
                end.wait();
            })
        };
        let ended = end.clone();
        run::<()>(vec![
            body(one, b"d"),
            body(two, b"e"),
            Box::new(move || low.insert(b"c").expect("no deadlock")),
            Box::new(move || {
                let model = scan.model.clone();
                model.locks.gaps.shrink(&scan.state, FILE, covered, (b"b", Some(b"d")));
                // The transaction continues until the others have inserted.
                ended.wait();
                scan.state.set_rolled_back();
                model.locks.gaps.release(scan.state.id, &[FILE]);
                scan.state.wake();
            }),
        ]);
        assert_eq!(model.locks.waiting(), 0);
    });
}

#[test]
fn a_deadlock_has_one_victim() {
    Explore::schedules(400).run(|| {
        let model = Model::new();
        let body = |id: u64, rows: [usize; 2], mode| -> Body<bool> {
            let trx = begin(&model, id);
            (0..id).for_each(|_| trx.state.weight.add_row());
            Box::new(move || trx.lock_both(rows, mode))
        };
        let victims = run(vec![body(1, [0, 1], X), body(2, [1, 0], X)]);
        let count = victims.iter().filter(|victim| **victim).count();
        assert_eq!(count as u64, model.deadlocks());
        assert!(count <= 1 && !victims[1], "the lightest gives way: {victims:?}");
        model.check_empty();
    });
}

/// A woken transaction does not count as waiting, even before it has removed its edge.
#[test]
fn without_a_deadlock_there_is_no_victim() {
    Explore::schedules(400).run(|| {
        let model = Model::new();
        let (mut scan, other) = (begin(&model, 1), begin(&model, 2));
        let victims = run::<bool>(vec![
            Box::new(move || {
                scan.lock(0, X).expect("no deadlock");
                scan.unlock(0);
                let victim = scan.lock(1, X).is_err();
                scan.commit();
                victim
            }),
            Box::new(move || other.lock_both([1, 0], X)),
        ]);
        assert_eq!(victims, [false, false]);
        model.check_empty();
    });
}

#[test]
fn deadlocks_of_three_are_found() {
    Explore::schedules(400).run(|| {
        let model = Model::new();
        let body = |id: u64, rows: [usize; 2], mode| -> Body<bool> {
            let trx = begin(&model, id);
            Box::new(move || trx.lock_both(rows, mode))
        };
        let bodies = vec![body(1, [0, 1], S), body(2, [1, 0], X), body(3, [0, 1], X)];
        let victims = run(bodies).into_iter().filter(|victim| *victim).count();
        assert_eq!(victims as u64, model.deadlocks());
        assert!(victims < 3, "somebody gets through");
        model.check_empty();
    });
}

#[test]
fn waits_that_time_out_leave_the_queue() {
    Explore::schedules(300).with_timeouts().run(|| {
        let model = Model::new();
        let body = |id: u64, mode| -> Body<()> {
            let mut trx = begin(&model, id);
            if id != 1 {
                trx.patience = LockWait::Upto(Duration::from_secs(1));
            }
            Box::new(move || {
                match trx.lock(0, mode) {
                    Ok(true) => trx.change(0),
                    Err(EngineError::LockWaitTimeout) => {}
                    other => panic!("{other:?}"),
                }
                trx.commit();
            })
        };
        run(vec![body(1, X), body(2, X), body(3, X), body(4, X)]);
        model.check_empty();
    });
}

/// A waiter behind one that times out moves up.
#[test]
fn who_leaves_the_queue_wakes_those_behind() {
    Explore::schedules(400).run(|| {
        let model = Model::new();
        let [mut holder, mut impatient, mut last] = [1, 2, 3].map(|id| begin(&model, id));
        impatient.patience = LockWait::Upto(Duration::ZERO);
        holder.lock(0, S).expect("nobody else is there");
        run::<()>(vec![
            Box::new(move || {
                assert!(matches!(impatient.lock(0, X), Err(EngineError::LockWaitTimeout)));
            }),
            Box::new(move || {
                last.lock(0, S).expect("no deadlock");
                last.commit();
            }),
        ]);
        holder.commit();
        model.check_empty();
    });
}

#[test]
fn locks_are_granted_in_the_order_of_asking() {
    Explore::schedules(300).run(|| {
        let model = Model::new();
        let mut holder = begin(&model, 1);
        holder.lock(0, X).expect("nobody else is there");
        let order = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let waiters = [(2, X), (3, S), (4, X)].map(|(id, mode)| {
            let (mut trx, order) = (begin(&model, id), order.clone());
            let waiter = shuttle::thread::spawn(move || {
                trx.lock(0, mode).expect("no deadlock");
                order.lock().push(id);
                trx.commit();
            });
            while model.locks.waiting() < id as usize - 1 {
                crate::sync::yield_now();
            }
            waiter
        });
        holder.commit();
        waiters.into_iter().for_each(|waiter| waiter.join().expect("no panic"));
        assert_eq!(*order.lock(), [2, 3, 4]);
        model.check_empty();
    });
}
