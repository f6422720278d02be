//! Signals that stop the server.
//!
//! Must only request the stop: the main thread does the work.

use std::io;
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::server::Server;

/// SIGTERM and SIGINT stop the server. SIGHUP, sent when a terminal closes, does not.
pub(super) fn watch(server: &Arc<Server>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let server = Arc::clone(server);
    let watcher = std::thread::Builder::new().name("signals".to_owned());
    watcher.spawn(move || {
        for signal in signals.forever() {
            if signal != SIGHUP {
                tracing::info!("Normal shutdown (signal {signal})");
                server.stop();
            }
        }
    })?;
    Ok(())
}
