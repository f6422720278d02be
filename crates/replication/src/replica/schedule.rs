//! The order in which groups may be applied beside each other: what each one waits for before it
//! begins. They are committed in the order of their numbers.
//!
//! # Words
//! *Lane*: the groups of one domain of a connection, which are numbered from 1 on. *Touch*: a key
//! that a group changes, or that a row of it refers to. *Opaque*: a group whose touches are not
//! known.
//!
//! # Invariants
//! - SCHED-1 Of two groups of a lane with a common touch, the later one begins when the earlier one
//!   is committed.
//! - SCHED-2 A group that is not opaque begins when the last opaque one before it is committed, and
//!   an opaque one when all before it are; except that the primary has committed both together.
//!
//! No threads, events or SQL here.

mod front;
mod touched;

pub use front::Front;
pub use touched::Touch;

use touched::Touched;

/// `slave_parallel_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParallelMode {
    /// One group after the other, without workers.
    None,
    /// One group after the other.
    Minimal,
    /// Groups that the primary has committed together.
    Conservative,
    /// Groups without common keys, except those that have waited for a row lock on the primary.
    #[default]
    Optimistic,
    /// Groups without common keys.
    Aggressive,
}

impl ParallelMode {
    /// The modes in the order of the variable's values.
    const ALL: [Self; 5] =
        [Self::None, Self::Minimal, Self::Conservative, Self::Optimistic, Self::Aggressive];

    /// The mode that is the variable's value of this number.
    pub fn of(number: u64) -> Self {
        let at = usize::try_from(number).ok();
        at.and_then(|at| Self::ALL.get(at)).copied().unwrap_or_default()
    }

    /// Whether it asks for the keys that groups touch.
    pub fn looks_at_keys(self) -> bool {
        self >= Self::Optimistic
    }
}

/// Facts of a group that are known before it is applied.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'t> {
    /// Number of the commit on the primary, if several groups had it together.
    pub commit_id: Option<u64>,
    /// It may run beside no other group, whatever the primary has done.
    pub is_alone: bool,
    /// It has waited for a row lock on the primary.
    pub has_waited: bool,
    /// Its touches; none if that is not known.
    pub touches: Option<&'t [Touch]>,
}

/// A group's place in its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Number of the group.
    pub number: u64,
    /// Number of the group that has to be committed before this one begins.
    pub after: u64,
}

/// The groups of a domain.
#[derive(Debug, Default)]
pub struct Lane {
    /// Number of the last group.
    last: u64,
    committed: u64,
    /// The last opaque group.
    opaque: u64,
    /// Number of the primary's commit that the last groups were in.
    commit_id: Option<u64>,
    /// The last group before that commit, and the last opaque one.
    before: u64,
    opaque_before: u64,
    touched: Touched,
}

impl Lane {
    /// Gives the next group its place.
    pub fn add(&mut self, mode: ParallelMode, facts: Facts<'_>) -> Ticket {
        let number = self.last + 1;
        if facts.is_alone || facts.commit_id.is_none() || facts.commit_id != self.commit_id {
            (self.before, self.opaque_before) = (self.last, self.opaque);
            self.commit_id = facts.commit_id.filter(|_| !facts.is_alone);
        }
        let touches = facts.touches.filter(|_| mode.looks_at_keys() && !facts.is_alone);
        let after = match touches {
            _ if mode < ParallelMode::Conservative => number - 1,
            None => {
                self.opaque = number;
                self.before
            }
            Some(touches) => {
                let of_keys = self.touched.touch(number, touches);
                let has_waited = facts.has_waited && mode != ParallelMode::Aggressive;
                let least = if has_waited { self.before } else { self.opaque_before };
                of_keys.max(least)
            }
        };
        self.last = number;
        Ticket { number, after }
    }

    /// Whether a group may begin.
    pub fn may_begin(&self, ticket: Ticket) -> bool {
        self.committed >= ticket.after
    }

    /// Whether all groups before this one are committed.
    pub fn is_next(&self, number: u64) -> bool {
        self.committed + 1 == number
    }

    /// Number of the last committed group.
    pub fn committed(&self) -> u64 {
        self.committed
    }

    /// The next group is committed.
    pub fn commit(&mut self) {
        self.committed += 1;
        self.touched.forget_upto(self.committed);
    }
}

#[cfg(test)]
mod tests;
