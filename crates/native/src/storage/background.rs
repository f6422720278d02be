//! The threads of the storage layer: log, flusher, evictor, readers. Each does one duty in a loop;
//! none may wait for another.

use super::open::Storage;
use crate::ids::{Lsn, PAGE_SIZE};
use crate::pool::{Arena, RUN_PAGES};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, Mutex};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Period of the flusher.
const FLUSHER_PERIOD: Duration = Duration::from_millis(100);
/// Least number of pages per flusher step while nothing is logged.
const IDLE_PAGES: usize = 200;
/// Pages per flusher step when the log budget is nearly used up.
const PRESSED_PAGES: usize = 1024;

/// One round of a thread's work.
type Duty = fn(&Storage, &Signals);

/// Stop flag and wake-up, shared by the threads and their callers.
#[derive(Default)]
pub(super) struct Signals {
    stop: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Signals {
    fn sleep(&self, time: Duration) {
        let mut lock = self.lock.lock();
        if !self.stop.load(Ordering::Acquire) {
            self.wake.wait_for(&mut lock, time);
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

/// The running threads.
#[derive(Default)]
pub(super) struct Background {
    signals: Option<Arc<Signals>>,
    threads: Vec<JoinHandle<()>>,
}

impl Storage {
    /// Starts the threads, if the options ask for them. To be called after the results of recovery
    /// have been taken over.
    pub(crate) fn start_background(self: &Arc<Storage>) {
        let mut background = self.background.lock();
        if !self.options.background || background.signals.is_some() {
            return;
        }
        let signals = Arc::new(Signals::default());
        let duties: [(&str, Duty); 5] = [
            ("selkie-log", log_duty),
            ("selkie-flush", flush_duty),
            ("selkie-evict", evict_duty),
            ("selkie-read", read_duty),
            ("selkie-read", read_duty),
        ];
        for (name, duty) in duties {
            let (storage, signals) = (Arc::downgrade(self), signals.clone());
            let spawned = std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || run(&storage, &signals, duty));
            match spawned {
                Ok(thread) => background.threads.push(thread),
                Err(e) => self.disk().fatal(&format!("cannot start thread {name}: {e}")),
            }
        }
        background.signals = Some(signals);
        self.pool().set_background(true);
    }

    /// Ends the threads; callers do their work from now on.
    pub(crate) fn stop_background(&self) {
        let background = std::mem::take(&mut *self.background.lock());
        self.pool().set_background(false);
        if let Some(signals) = background.signals {
            signals.stop.store(true, Ordering::Release);
            drop(signals.lock.lock());
            signals.wake.notify_all();
            self.pool().wake_evictor();
            self.pool().wake_readers();
        }
        for thread in background.threads {
            let _ = thread.join();
        }
    }

    pub(super) fn has_background(&self) -> bool {
        self.pool().is_background()
    }

    pub(super) fn wake_flusher(&self) {
        if let Some(signals) = &self.background.lock().signals {
            signals.wake.notify_all();
        }
    }

    /// One step of the flusher: writes old pages in proportion to the used part of the log budget.
    /// `quiet` means that nothing was logged since the last step. Returns how many pages it found
    /// that had to be written.
    fn flush_step(&self, quiet: bool) -> usize {
        let (age, budget) = (self.log_age(), self.options.log_budget_bytes.max(1));
        let dirty = self.pool().dirty_pages();
        let fill = (age as f64 / budget as f64 / 0.6).min(1.0);
        let pages = (dirty as f64 * fill * fill / 10.0) as usize;
        let pages = if quiet { pages.max(IDLE_PAGES) } else { pages };
        if pages > 0 && dirty > 0 {
            self.pool().write_older_than(self.log().tail(), pages);
        }
        dirty
    }

    /// Whether the log budget is nearly used up, so that writers will soon be slowed down.
    fn is_pressed(&self) -> bool {
        self.log_age() > self.options.log_budget_bytes / 100 * 75
    }

    /// Writes the oldest pages, a moderate number at a time so that checkpoints come in between,
    /// until the budget is no longer nearly used up.
    fn relieve(&self, signals: &Signals) {
        while self.is_pressed() && !signals.stopped() {
            let upto = Lsn(self.log().tail().0 - self.options.log_budget_bytes / 2);
            let written = self.pool().write_older_than(upto, PRESSED_PAGES);
            self.checkpoint_step();
            if written == 0 {
                return;
            }
        }
    }

    fn checkpoint_step(&self) {
        let budget = self.options.log_budget_bytes;
        if !self.checkpointer.is_worthwhile(self.log(), self.pool(), budget) {
            return;
        }
        // A full disk refuses the undo snapshot; the log then only stays longer.
        if let Err(e) = self.checkpoint() {
            tracing::warn!("checkpoint postponed: {e}");
        }
    }
}

/// Runs a duty until the storage is dropped or told to stop. A duty that panics ends the process:
/// without it writers would hang.
fn run(storage: &Weak<Storage>, signals: &Signals, duty: Duty) {
    while let Some(storage) = storage.upgrade() {
        if signals.stopped() {
            return;
        }
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| duty(&storage, signals)));
        if outcome.is_err() {
            storage.disk().fatal("a storage thread panicked");
        }
    }
}

fn log_duty(storage: &Storage, signals: &Signals) {
    let mut failed = None;
    for _ in 0..10 {
        signals.sleep(Duration::from_millis(100));
        if signals.stopped() {
            return;
        }
        failed = storage.log().prepare_ahead().err();
    }
    if let Some(e) = failed {
        tracing::warn!("cannot prepare log segments: {e}");
    }
    storage.log().flush_all();
}

fn flush_duty(storage: &Storage, signals: &Signals) {
    let deadline = Instant::now() + Duration::from_secs(1);
    // Nothing changes a page without a record in the log, so an idle server looks through its
    // frames once a second only: a mini-transaction may have marked its page behind the last look.
    let mut clean = false;
    while Instant::now() < deadline && !signals.stopped() {
        let before = storage.log().tail();
        signals.sleep(FLUSHER_PERIOD);
        if signals.stopped() {
            return;
        }
        let quiet = storage.log().tail() == before;
        if quiet && clean {
            continue;
        }
        clean = storage.flush_step(quiet) == 0;
        storage.relieve(signals);
        if storage.log_age() > storage.options.log_budget_bytes / 2 {
            storage.checkpoint_step();
        }
    }
    storage.checkpoint_step();
    if let Err(e) = storage.space().grow_ahead(storage) {
        tracing::warn!("cannot extend data files: {e}");
    }
    if let Err(e) = storage.space().refill_spares() {
        tracing::warn!("cannot keep spare files: {e}");
    }
}

fn evict_duty(storage: &Storage, _: &Signals) {
    storage.pool().evictor_step(Duration::from_millis(100));
}

fn read_duty(storage: &Storage, signals: &Signals) {
    let Ok(mut buffer) = Arena::new(RUN_PAGES as usize * PAGE_SIZE) else {
        return signals.sleep(Duration::from_secs(1));
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while Instant::now() < deadline && !signals.stopped() {
        storage.pool().read_ahead_step(&mut buffer, Duration::from_millis(500));
    }
}
