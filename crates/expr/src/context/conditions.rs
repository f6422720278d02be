//! The conditions a statement raises.

use selkie_types::{Condition, Level};

/// Conditions kept besides the count; `max_error_count` of the session may show fewer.
const KEPT: usize = 1024;

/// A list of conditions that counts more than it keeps.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    list: Vec<Condition>,
    count: u64,
    /// How many of the first are never errors.
    pardoned: usize,
}

/// An end the list had.
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

    /// Those kept, in order.
    pub fn list(&self) -> &[Condition] {
        &self.list
    }

    /// How many were raised.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of those kept are warnings or errors.
    pub fn warnings(&self) -> usize {
        self.list.iter().filter(|c| c.level != Level::Note).count()
    }

    /// Takes out the first warning among those after the first `kept`, and forgets the others.
    pub fn take_warning_after(&mut self, kept: usize) -> Option<Condition> {
        let at =
            self.list.iter().skip(kept).position(|c| c.level == Level::Warning && !c.soft)? + kept;
        let found = self.list.swap_remove(at);
        self.list.truncate(kept);
        self.count = self.count.min(kept as u64);
        Some(found)
    }

    /// How many of the first stay warnings whatever the statement does.
    pub fn pardoned(&self) -> usize {
        self.pardoned.min(self.list.len())
    }

    /// Where the list ends now.
    pub fn mark(&self) -> Mark {
        Mark { kept: self.list.len(), count: self.count }
    }

    /// Forgets what was raised since `mark`; true if something was.
    pub fn forget_since(&mut self, mark: Mark) -> bool {
        let raised = self.count > mark.count;
        self.list.truncate(mark.kept);
        self.count = mark.count;
        raised
    }

    /// Whether something was raised since `mark`.
    pub fn has_raised_since(&self, mark: Mark) -> bool {
        self.count > mark.count
    }

    /// Makes those raised since `mark` stay warnings whatever the statement does, unless others
    /// came before.
    pub fn pardon_since(&mut self, mark: Mark) {
        if mark.kept <= self.pardoned {
            self.pardoned = self.list.len();
        }
    }

    /// Whether conditions were raised since `mark` whose order and text will be seen.
    pub fn is_worth_ordering_since(&self, mark: Mark) -> bool {
        self.count > mark.count && mark.kept < KEPT
    }

    /// Forgets those raised since `mark` that equal one raised before.
    pub fn forget_repeated_since(&mut self, mark: Mark) {
        let recent = self.list.split_off(mark.kept.min(self.list.len()));
        for condition in recent {
            match self.list[..mark.kept].contains(&condition) {
                true => self.count -= 1,
                false => self.list.push(condition),
            }
        }
    }

    /// Takes all of them out.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Adds those of `other`.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count - other.list.len() as u64;
        other.list.into_iter().for_each(|c| self.push(c));
    }
}
