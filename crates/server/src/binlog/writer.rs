//! The thread that writes groups into the files of the binary log.
//!
//! It writes every ten milliseconds while there is something to write, and sleeps otherwise: other
//! programs that read the files see a group at most so much later. Must not be needed by anybody
//! who reads through the server: those write first.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use parking_lot::Mutex;

use super::life::Binlog;

/// Time between two writes.
const PAUSE: Duration = Duration::from_millis(10);
/// Time after a failed write.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);

/// The thread as others see it.
#[derive(Default)]
pub(super) struct Writer {
    shared: Arc<Signals>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Signals {
    /// The thread has nothing to do.
    is_asleep: AtomicBool,
    is_stopping: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(&self, binlog: &Arc<Binlog>) -> io::Result<()> {
        let (log, signals) = (Arc::downgrade(binlog), Arc::clone(&self.shared));
        let builder = std::thread::Builder::new().name("binlog".to_owned());
        let thread = builder.spawn(move || run(&log, &signals))?;
        *self.shared.thread.lock() = Some(thread.thread().clone());
        *self.thread.lock() = Some(thread);
        Ok(())
    }

    /// Wakes the thread if it sleeps. Callers have something to write.
    pub(super) fn wake(&self) {
        if self.shared.is_asleep.load(Ordering::SeqCst) {
            self.shared.unpark();
        }
    }

    /// Ends the thread.
    pub(super) fn stop(&self) {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        self.shared.unpark();
        let thread = self.thread.lock().take();
        // A thread that panicked has told about it.
        thread.into_iter().for_each(|thread| drop(thread.join()));
    }
}

impl Signals {
    fn unpark(&self) {
        self.thread.lock().iter().for_each(Thread::unpark);
    }
}

fn run(log: &Weak<Binlog>, signals: &Signals) {
    while !signals.is_stopping.load(Ordering::SeqCst) {
        let Some(log) = log.upgrade() else { return };
        if log.log().pending_bytes() > 0 {
            match log.write_settled() {
                Ok(()) => std::thread::park_timeout(PAUSE),
                Err(error) => {
                    tracing::error!("The binary log's files could not be written: {error}");
                    std::thread::park_timeout(PAUSE_AFTER_ERROR);
                }
            }
            continue;
        }
        sleep(&log, signals);
    }
}

/// Sleeps until somebody has something to write.
fn sleep(log: &Binlog, signals: &Signals) {
    signals.is_asleep.store(true, Ordering::SeqCst);
    // Whoever came before the store has not seen it.
    let is_idle = log.log().pending_bytes() == 0;
    if is_idle && !signals.is_stopping.load(Ordering::SeqCst) {
        std::thread::park();
    }
    signals.is_asleep.store(false, Ordering::SeqCst);
}
