//! Groups of a connection that are applied beside each other, and the place in the primary's log
//! that is told when one of them is committed.
//!
//! # Invariants
//! - FLIGHT-1 A connection's place is the end of the last group before which all are committed.
//!   Groups of one domain end in order; those of several may not.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::replica::note::{Note, Place};
use crate::replica::schedule::Front;

/// The groups that a connection has begun.
#[derive(Debug)]
pub struct Flights {
    /// By their places in the engine's log.
    placed: Mutex<Front<Place>>,
    /// By the commits that others see.
    visible: Mutex<Front<Place>>,
}

impl Flights {
    /// No group has begun; all before `place` is applied.
    pub fn new(place: Place) -> Self {
        Self {
            placed: Mutex::new(Front::new(place.clone())),
            visible: Mutex::new(Front::new(place)),
        }
    }

    /// Begins the next group. Returns its number.
    pub fn begin(&self) -> u64 {
        self.visible.lock().begin();
        self.placed.lock().begin()
    }

    /// Ends a group that is not applied.
    pub fn pass(&self, number: u64, end: &Place) {
        self.visible.lock().end(number, end.clone());
        self.placed.lock().end(number, end.clone());
    }
}

/// A note on its way into a commit.
#[derive(Clone, Debug)]
pub struct Entry {
    note: Note,
    /// The groups beside which it is applied, and its number among them.
    flight: Option<(Arc<Flights>, u64)>,
}

impl From<Note> for Entry {
    /// The note of a group beside which no other one is applied.
    fn from(note: Note) -> Self {
        Self { note, flight: None }
    }
}

impl Entry {
    /// The note of a group of `flights`.
    pub fn beside(note: Note, flights: &Arc<Flights>, number: u64) -> Self {
        Self { note, flight: Some((Arc::clone(flights), number)) }
    }

    /// The note as it was made.
    pub fn note(&self) -> &Note {
        &self.note
    }

    /// The note for the place in the log that it gets now.
    pub(super) fn placed(&self) -> Note {
        self.told(|flights| &flights.placed)
    }

    /// The note for the commit that others see from now on.
    pub(super) fn visible(&self) -> Note {
        self.told(|flights| &flights.visible)
    }

    fn told(&self, front: impl Fn(&Flights) -> &Mutex<Front<Place>>) -> Note {
        match (&self.note, &self.flight) {
            (Note::Group { connection, gtid, end }, Some((flights, number))) => {
                let mut front = front(flights).lock();
                front.end(*number, end.clone());
                let (connection, end) = (connection.clone(), front.reached().clone());
                Note::Group { connection, gtid: *gtid, end }
            }
            _ => self.note.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gtid::Gtid;
    use crate::replica::Tracker;

    #[test]
    fn a_place_goes_on_when_all_before_it_is_committed() {
        let at = |offset| Place { file: "b.000001".to_owned(), offset };
        let (tracker, flights) = (Tracker::default(), Arc::new(Flights::new(at(4))));
        let entry = |domain, offset| {
            let gtid = Some(Gtid { domain, server: 1, seq: 1 });
            let note = Note::Group { connection: String::new(), gtid, end: at(offset) };
            Entry::beside(note, &flights, flights.begin())
        };
        let (first, second, third) = (entry(0, 100), entry(1, 200), entry(2, 300));
        let offset = || tracker.applied().place("").map(|place| place.offset);
        tracker.place(&second);
        tracker.place(&first);
        tracker.publish(&first);
        assert_eq!(offset(), Some(100));
        tracker.publish(&second);
        assert_eq!(offset(), Some(200));
        tracker.place(&third);
        tracker.publish(&third);
        assert_eq!(
            (offset(), tracker.applied().gtids().to_string()),
            (Some(300), "0-1-1,1-1-1,2-1-1".to_owned())
        );
    }
}
