//! Panics: counted (`Selkie_panics`), and logged together with the statement they ended.
//!
//! Must not decide what happens to a statement or a connection.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use selkie_types::SqlMode;

static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether a panic of this thread has not been logged with its statement yet.
    static UNTOLD: Cell<bool> = const { Cell::new(false) };
}

/// From now on counts and logs every panic of the process.
pub(crate) fn watch() {
    std::panic::set_hook(Box::new(|panic| {
        COUNT.fetch_add(1, Relaxed);
        UNTOLD.set(true);
        let thread = std::thread::current();
        let trace = std::backtrace::Backtrace::capture();
        tracing::error!("thread '{}': {panic}\n{trace}", thread.name().unwrap_or("?"));
    }));
}

/// The number of panics since the start.
pub(crate) fn count() -> u64 {
    COUNT.load(Relaxed)
}

/// Logs the statement that connection `id` ran, if this thread has just panicked.
#[cold]
pub(crate) fn tell(id: u64, text: &[u8], sql_mode: SqlMode) {
    /// Longest digest text that is logged.
    const LONGEST: usize = 1024;
    if UNTOLD.replace(false) {
        let digest = selkie_sql::digest(text, sql_mode);
        let shown: String = digest.text.chars().take(LONGEST).collect();
        tracing::error!(connection = id, "panic ended statement {:032x}: {shown}", digest.hash);
    }
}
