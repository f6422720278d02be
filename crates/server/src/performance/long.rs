//! The last events of all sessions together.
//!
//! A session takes the next place by a number and locks only that place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

use super::event::Event;

/// A ring of events.
#[derive(Debug)]
pub(super) struct LongHistory {
    places: Box<[Mutex<Option<Arc<Event>>>]>,
    next: AtomicUsize,
}

impl LongHistory {
    pub(super) fn new(size: usize) -> Self {
        let places = (0..size).map(|_| Mutex::default()).collect();
        Self { places, next: AtomicUsize::new(0) }
    }

    /// Adds an event in place of the oldest one.
    pub(super) fn push(&self, event: Arc<Event>) {
        if self.places.is_empty() {
            return;
        }
        let at = self.next.fetch_add(1, Relaxed) % self.places.len();
        *self.places[at].lock() = Some(event);
    }

    /// The events, the oldest first.
    pub(super) fn events(&self) -> Vec<Arc<Event>> {
        let first = self.next.load(Relaxed) % self.places.len().max(1);
        let order = (first..self.places.len()).chain(0..first);
        order.filter_map(|at| self.places[at].lock().clone()).collect()
    }

    /// Forgets all events.
    pub(super) fn clear(&self) {
        self.places.iter().for_each(|place| *place.lock() = None);
        self.next.store(0, Relaxed);
    }
}
