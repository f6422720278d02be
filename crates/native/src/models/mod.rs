//! Models: the crate's concurrent parts, run by a few threads under a scheduler that tries many
//! interleavings of their steps (`crate::sync`). A step is an operation of an atomic, a lock or the
//! disk. A schedule in which all threads wait fails, and so does a panic. Waits with a timeout last
//! until they are woken unless a model says otherwise, so that they cannot hide a lost wake-up.
//!
//! Run by `tests/run.sh models`; only these tests work with the feature. `SELKIE_SCHEDULES=100`
//! tries a hundred times as many schedules. A failure prints the seed of its schedule:
//! `SHUTTLE_RANDOM_SEED=that` begins with it.
//!
//! Not found: reordering by the processor, and tearing inside of one copy of bytes.

mod bounded;
mod columns;
mod disk;
mod flusher;
mod locks;
mod log;
mod pages;
mod pool;
mod snapshots;

use crate::sync::{set_steps, set_timeouts};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, Runner};
use std::cell::Cell;

thread_local! { static ENDED: Cell<bool> = const { Cell::new(false) } }

/// Ends the schedule at once as a success: the modelled process has ended itself.
fn end_process() -> ! {
    ENDED.set(true);
    loop {
        crate::sync::step();
    }
}

/// Body of a model's thread.
type Body<T> = Box<dyn FnOnce() -> T + Send>;

/// Runs these bodies in parallel and returns their results.
fn run<T: Send + 'static>(bodies: Vec<Body<T>>) -> Vec<T> {
    let threads: Vec<_> = bodies.into_iter().map(shuttle::thread::spawn).collect();
    threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
}

/// A scheduler that obeys `end_process`.
struct Ending<S>(S);

impl<S: Scheduler> Scheduler for Ending<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        ENDED.set(false);
        self.0.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        now: Option<TaskId>,
        yielding: bool,
    ) -> Option<TaskId> {
        if ENDED.get() { None } else { self.0.next_task(runnable, now, yielding) }
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Exploration of a model.
#[derive(Clone, Copy)]
struct Explore {
    /// Number of schedules of each kind.
    schedules: usize,
    /// Whether waits may time out.
    timeouts: bool,
}

impl Explore {
    /// An exploration in which waits end only by a wake-up.
    const fn schedules(schedules: usize) -> Explore {
        Explore { schedules, timeouts: false }
    }

    /// Lets waits also end by their timeout.
    const fn with_timeouts(self) -> Explore {
        Explore { timeouts: true, ..self }
    }

    /// Runs the model under schedules that switch anywhere, and under schedules that switch rarely.
    fn run(self, model: fn()) {
        let times = std::env::var("SELKIE_SCHEDULES").ok().and_then(|n| n.parse().ok());
        for seed in 0..times.unwrap_or(1u64) {
            self.run_with(RandomScheduler::new_from_seed(seed, self.schedules), model);
            self.run_with(PctScheduler::new_from_seed(seed, 3, self.schedules), model);
        }
    }

    fn run_with<S: Scheduler + 'static>(self, scheduler: S, model: fn()) {
        let mut config = Config::new();
        config.stack_size = 256 << 10;
        config.silence_warnings = true;
        set_timeouts(self.timeouts);
        Runner::new(Ending(scheduler), config).run(move || {
            set_steps(true);
            model();
        });
        set_steps(false);
    }
}
