//! Addresses of the memory that serving a connection uses, to prefetch it.
//!
//! With thousands of connections, this memory has left the processor's caches when the connection's
//! turn comes, and each access costs a tenth of a microsecond. So it is prefetched while the
//! connection is queued and others are served. The addresses may be out of date; then other memory
//! is prefetched, which does no harm.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use selkie_engine::{CACHE_LINE, fetch_ahead};

use super::client::Client;

/// Maximum number of noted places.
const PLACES: usize = 28;
/// Maximum cache lines of one place.
const MOST_LINES: usize = CACHE_LINE - 1;
/// Statements between two updates of the places.
const STATEMENTS: u32 = 64;

/// Noted places in memory.
#[derive(Default)]
pub(super) struct Footprint {
    /// Address of each place's first line; the low bits are the number of lines.
    places: [AtomicUsize; PLACES],
    statements: AtomicU32,
}

impl Footprint {
    /// Notes the client's memory; does so only every [`STATEMENTS`] calls.
    pub(super) fn note(&self, client: &dyn Client) {
        let statements = self.statements.load(Relaxed);
        self.statements.store(statements.wrapping_add(1), Relaxed);
        if !statements.is_multiple_of(STATEMENTS) {
            return;
        }
        let mut places = self.places.iter();
        client.memory(&mut |address, bytes| {
            let first = address & !(CACHE_LINE - 1);
            let lines = ((address + bytes - first).div_ceil(CACHE_LINE)).min(MOST_LINES);
            if let Some(place) = places.next() {
                place.store(first | lines, Relaxed);
            }
        });
    }

    /// Prefetches the noted memory.
    pub(super) fn fetch(&self) {
        for place in &self.places {
            let place = place.load(Relaxed);
            fetch_ahead(place & !(CACHE_LINE - 1), (place & (CACHE_LINE - 1)) * CACHE_LINE);
        }
    }
}
