//! Where the memory lies that serving a connection uses.
//!
//! With thousands of connections what one needs has left the processor's caches when its turn
//! comes, and every look at it costs a tenth of a microsecond. While it is queued and others are
//! served, that memory is fetched. What is noted may be out of date: then something else is
//! fetched, which is no damage.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use selkie_engine::{CACHE_LINE, fetch_ahead};

use super::client::Client;

/// Places noted at most.
const PLACES: usize = 28;
/// Lines of one place at most.
const MOST_LINES: usize = CACHE_LINE - 1;
/// Statements until the places are noted anew.
const STATEMENTS: u32 = 64;

/// Places in memory.
#[derive(Default)]
pub(super) struct Footprint {
    /// The address of each place's first line, with how many lines follow in its low bits.
    places: [AtomicUsize; PLACES],
    statements: AtomicU32,
}

impl Footprint {
    /// Notes where the client's memory lies, now and then.
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

    /// Has it fetched.
    pub(super) fn fetch(&self) {
        for place in &self.places {
            let place = place.load(Relaxed);
            fetch_ahead(place & !(CACHE_LINE - 1), (place & (CACHE_LINE - 1)) * CACHE_LINE);
        }
    }
}
