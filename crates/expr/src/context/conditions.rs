//! The conditions that a statement raises.
//! Counts all, keeps a limited number: the memory of a statement with many warnings is bounded.

use selkie_types::{Condition, Level};

/// Most conditions that are kept; `max_error_count` of the session may show fewer.
const KEPT: usize = 1024;

/// A list of conditions that counts more than it keeps.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    list: Vec<Condition>,
    count: u64,
    /// The first so many conditions are never made errors.
    pardoned: usize,
    /// Times that conditions were dropped because what raised them is repeated.
    forgotten: u64,
}

/// Conditions that something raised which is not repeated when all around it is.
#[derive(Clone, Debug)]
pub struct Raised {
    list: Box<[Condition]>,
    /// Their place, as long as nothing is forgotten.
    at: usize,
    forgotten: u64,
}

/// A position at the end of the list.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    kept: usize,
    count: u64,
}

impl Conditions {
    /// Adds one.
    pub fn push(&mut self, condition: Condition) {
        self.count += 1;
        if self.list.len() < KEPT {
            self.list.push(condition);
        }
    }

    /// The conditions that are kept, in order.
    pub fn list(&self) -> &[Condition] {
        &self.list
    }

    /// Number of conditions raised.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of kept conditions that are warnings or errors.
    pub fn warnings(&self) -> usize {
        self.list.iter().filter(|c| c.level != Level::Note).count()
    }

    /// Removes and returns the first warning after the first `kept`, and drops the others.
    pub fn take_warning_after(&mut self, kept: usize) -> Option<Condition> {
        let at =
            self.list.iter().skip(kept).position(|c| c.level == Level::Warning && !c.soft)? + kept;
        let found = self.list.swap_remove(at);
        self.list.truncate(kept);
        self.count = self.count.min(kept as u64);
        Some(found)
    }

    /// Number of first conditions that stay warnings in any case.
    pub fn pardoned(&self) -> usize {
        self.pardoned.min(self.list.len())
    }

    /// The present end of the list.
    pub fn mark(&self) -> Mark {
        Mark { kept: self.list.len(), count: self.count }
    }

    /// Drops the conditions raised since `mark`; true if there were any.
    pub fn forget_since(&mut self, mark: Mark) -> bool {
        let raised = self.count > mark.count;
        self.forgotten += u64::from(raised);
        self.list.truncate(mark.kept);
        self.count = mark.count;
        raised
    }

    /// Whether conditions were raised since `mark`.
    pub fn has_raised_since(&self, mark: Mark) -> bool {
        self.count > mark.count
    }

    /// The conditions raised since `mark`, if any.
    pub fn raised_since(&self, mark: Mark) -> Option<Raised> {
        let list = self.list.get(mark.kept..).filter(|list| !list.is_empty())?.into();
        Some(Raised { list, at: mark.kept, forgotten: self.forgotten })
    }

    /// Raises conditions anew if they have been forgotten.
    pub fn keep_raised(&mut self, raised: &mut Raised) {
        if raised.forgotten == self.forgotten {
            return;
        }
        raised.forgotten = self.forgotten;
        let place = self.list.get(raised.at..raised.at + raised.list.len());
        if place != Some(&raised.list[..]) {
            raised.at = self.list.len();
            raised.list.iter().for_each(|condition| self.push(condition.clone()));
        }
    }

    /// Lets the conditions raised since `mark` stay warnings in any case, unless others came
    /// before.
    pub fn pardon_since(&mut self, mark: Mark) {
        if mark.kept <= self.pardoned {
            self.pardoned = self.list.len();
        }
    }

    /// Lets the conditions raised since `mark` stay warnings in any case.
    pub fn soften_since(&mut self, mark: Mark) {
        self.list.iter_mut().skip(mark.kept).for_each(|condition| condition.soft = true);
    }

    /// Whether conditions were raised since `mark` whose order and text a client can see.
    pub fn is_worth_ordering_since(&self, mark: Mark) -> bool {
        self.count > mark.count && mark.kept < KEPT
    }

    /// Drops conditions raised since `mark` that equal an earlier one, as many as there are earlier
    /// ones: two comparisons with one constant raise its warning twice.
    pub fn forget_repeated_since(&mut self, mark: Mark) {
        let recent = self.list.split_off(mark.kept.min(self.list.len()));
        let mut is_repeated = vec![false; self.list.len()];
        for condition in recent {
            let earlier = self.list.iter().zip(&mut is_repeated);
            let free =
                |(one, repeated): &(&Condition, &mut bool)| !**repeated && **one == condition;
            match earlier.into_iter().find(free) {
                Some((_, repeated)) => {
                    *repeated = true;
                    self.count -= 1;
                }
                None => self.list.push(condition),
            }
        }
    }

    /// Removes and returns all of them.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Adds the conditions of `other`.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count - other.list.len() as u64;
        other.list.into_iter().for_each(|c| self.push(c));
    }
}
