//! A row of things that end in any order: how far all of them have ended.
//!
//! Must not know what the things are.

use std::collections::VecDeque;

/// Things in the order in which they began, and what is reached when all up to one have ended.
#[derive(Clone, Debug, Default)]
pub struct Front<T> {
    reached: T,
    /// Number of the first thing of `ends`.
    first: u64,
    /// The mark that is reached with each thing, if it has ended.
    ends: VecDeque<Option<T>>,
}

impl<T> Front<T> {
    /// No thing has begun.
    pub fn new(reached: T) -> Self {
        Self { reached, first: 0, ends: VecDeque::new() }
    }

    /// Begins a thing. Returns its number.
    pub fn begin(&mut self) -> u64 {
        self.ends.push_back(None);
        self.first + self.ends.len() as u64 - 1
    }

    /// Ends a thing, with what is reached by it. A thing ends once.
    pub fn end(&mut self, number: u64, reached: T) {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        if let Some(end) = at.and_then(|at| self.ends.get_mut(at)) {
            *end = Some(reached);
        }
        while let Some(Some(_)) = self.ends.front() {
            self.reached = self.ends.pop_front().flatten().expect("looked at");
            self.first += 1;
        }
    }

    /// The mark that is reached.
    pub fn reached(&self) -> &T {
        &self.reached
    }

    /// Whether all things have ended up to this one.
    pub fn is_behind(&self, number: u64) -> bool {
        self.first > number
    }
}
