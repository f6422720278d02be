//! Ctrl-C and SIGTERM: the run ends, its results are kept, started servers are stopped.
//!
//! The handlers only set a flag; every long loop must check [`requested`].

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on both signals only set a flag.
pub(crate) fn listen() -> io::Result<()> {
    let flag = REQUESTED.get_or_init(Arc::default);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Ok(())
}

/// Whether one of the signals was received.
pub(crate) fn requested() -> bool {
    REQUESTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
