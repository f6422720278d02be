//! The warnings list of a session. Callers must leave notes out while `sql_notes` is off;
//! `max_error_count` bounds the list but not the counts.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use selkie_types::{Condition, Level, SqlError};

/// Conditions of the last statement that could raise any.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    /// Conditions, each with its number among all conditions ever raised.
    list: RefCell<Vec<(u64, Condition)>>,
    warnings: Cell<u64>,
    errors: Cell<u64>,
    /// Conditions raised by the current statement.
    raised: Cell<u64>,
    /// Conditions to list after the error of the current statement.
    after: RefCell<Vec<Condition>>,
    /// Number of conditions ever raised.
    ever: Cell<u64>,
    /// Whether the list belongs to an earlier statement: the next condition starts a new list.
    stale: Cell<bool>,
}

impl Diagnostics {
    /// Clears the list for a new statement.
    pub fn clear(&self) {
        self.list.borrow_mut().clear();
        self.warnings.set(0);
        self.errors.set(0);
        self.raised.set(0);
        self.after.borrow_mut().clear();
        self.stale.set(false);
    }

    /// Starts a statement that keeps the list until it raises a condition itself.
    pub fn keep(&self) {
        self.stale.set(true);
    }

    /// Starts a statement that adds its conditions to the list of the previous one.
    pub fn go_on(&self) {
        self.raised.set(0);
        self.stale.set(false);
    }

    /// Clears the conditions of an earlier statement, if the current one has raised none.
    pub fn forget_stale(&self) {
        if self.stale.get() {
            self.clear();
        }
    }

    /// Starts a statement that leaves the existing conditions unchanged.
    pub fn begin_statement(&self) {
        self.raised.set(0);
    }

    /// Number of conditions that the current statement raised, as reported to its client.
    pub fn raised(&self) -> u64 {
        self.raised.get()
    }

    /// Adds a condition to list after the error that ends the statement.
    pub fn after_error(&self, condition: Condition) {
        self.after.borrow_mut().push(condition);
    }

    /// Adds a condition; at most `max` are kept.
    pub fn push(&self, condition: Condition, max: usize) {
        if self.stale.get() {
            let after = self.after.take();
            self.clear();
            self.after.replace(after);
        }
        self.ever.set(self.ever.get() + 1);
        self.count_more(1);
        if condition.level == Level::Error {
            self.errors.set(self.errors.get() + 1);
        }
        let mut list = self.list.borrow_mut();
        if list.len() < max {
            list.push((self.ever.get(), condition));
        }
    }

    /// Adds the error of a failed statement and the conditions that follow it.
    pub fn push_error(&self, error: &SqlError, max: usize) {
        if let Some(earlier) = error.earlier() {
            self.push(Condition::from_error(Level::Error, earlier), max);
        }
        self.push(Condition::from_error(Level::Error, error), max);
        if let Some(later) = error.later() {
            self.push(Condition::from_error(Level::Error, later), max);
        }
        self.push_after(max);
    }

    /// Adds the conditions that follow an error which is in the list.
    pub fn push_after(&self, max: usize) {
        let after = self.after.take();
        after.into_iter().for_each(|condition| self.push(condition, max));
    }

    /// Removes the error at the end of the list, because an outer statement will add it.
    pub fn take_error(&self) {
        let mut list = self.list.borrow_mut();
        if list.last().is_some_and(|(_, c)| c.level == Level::Error) {
            list.pop();
            self.warnings.set(self.warnings.get() - 1);
            self.errors.set(self.errors.get() - 1);
        }
    }

    /// Counts conditions that were raised but not kept.
    pub fn count_more(&self, n: u64) {
        self.warnings.set(self.warnings.get() + n);
        self.raised.set(self.raised.get() + n);
    }

    /// The conditions kept.
    pub fn list(&self) -> Vec<Condition> {
        self.list.borrow().iter().map(|(_, condition)| condition.clone()).collect()
    }

    /// Number of conditions ever raised, used as a point in time.
    pub fn mark(&self) -> u64 {
        self.ever.get()
    }

    /// The conditions kept that were raised since `mark`.
    pub fn since(&self, mark: u64) -> Vec<Condition> {
        let list = self.list.borrow();
        let new = list.iter().filter(|(number, _)| *number > mark);
        new.map(|(_, condition)| condition.clone()).collect()
    }

    /// Whether a condition with this number was raised since `mark`.
    pub fn has_code_since(&self, mark: u64, code: u16) -> bool {
        self.ever.get() > mark
            && self.list.borrow().iter().any(|(number, c)| *number > mark && c.code == code)
    }

    /// Gives the conditions with this number that were raised since `mark` another text.
    pub fn reword_since(&self, mark: u64, code: u16, text: &str) {
        for (number, condition) in self.list.borrow_mut().iter_mut() {
            if *number > mark && condition.code == code {
                condition.message = text.into();
            }
        }
    }

    /// Takes the first warning raised since `mark` that a strict mode makes an error: all
    /// conditions raised since are forgotten. `None` leaves the list as it is.
    pub fn take_warning_since(&self, mark: u64) -> Option<Condition> {
        let found = self.since(mark).into_iter().find(|c| c.level == Level::Warning && !c.soft)?;
        let mut list = self.list.borrow_mut();
        let before = list.len();
        list.retain(|(number, _)| *number <= mark);
        let forgotten = (before - list.len()) as u64;
        self.warnings.set(self.warnings.get().saturating_sub(forgotten));
        self.raised.set(self.raised.get().saturating_sub(forgotten));
        Some(found)
    }

    /// Whether `error` was raised since `mark` and is in the list.
    pub fn has_error_since(&self, mark: u64, error: &SqlError) -> bool {
        let is_it = |c: &Condition| {
            c.level == Level::Error && c.code == error.code() && c.message == error.message()
        };
        self.list.borrow().iter().any(|(number, c)| *number > mark && is_it(c))
    }

    /// Conditions that the current statement raised.
    pub fn present(&self) -> Vec<Condition> {
        if self.stale.get() { Vec::new() } else { self.list() }
    }

    /// Inserts conditions of an earlier part of the statement before those of a later one.
    pub fn put_first(&self, earlier: Vec<Condition>, max: usize) {
        if earlier.is_empty() {
            return;
        }
        let later = self.list();
        let hidden = self.warnings.get().saturating_sub(later.len() as u64);
        self.clear();
        earlier.into_iter().chain(later).for_each(|condition| self.push(condition, max));
        self.count_more(hidden);
    }

    /// As [`Self::put_first`], for conditions raised after the first mark of `time` and up to the
    /// last, which may be in the list still. They count as raised by the current statement.
    pub fn bring_back(&self, earlier: Vec<Condition>, time: Range<u64>, max: usize) {
        if earlier.is_empty() {
            return;
        }
        let before = self.list.borrow().len();
        self.list.borrow_mut().retain(|(at, _)| *at <= time.start || *at > time.end);
        let left = (before - self.list.borrow().len()) as u64;
        self.warnings.set(self.warnings.get().saturating_sub(left));
        self.put_first(earlier, max);
    }

    /// Removes the conditions raised up to `mark`: they were handled.
    pub fn forget_until(&self, mark: u64) {
        let mut list = self.list.borrow_mut();
        let (mut warnings, mut errors) = (0, 0);
        list.retain(|(number, condition)| {
            let keep = *number > mark;
            if !keep {
                warnings += 1;
                errors += u64::from(condition.level == Level::Error);
            }
            keep
        });
        self.warnings.set(self.warnings.get().saturating_sub(warnings));
        self.errors.set(self.errors.get().saturating_sub(errors));
        self.raised.set(self.raised.get().saturating_sub(warnings));
    }

    /// `@@warning_count`: conditions raised, errors and notes included.
    pub fn warning_count(&self) -> u64 {
        self.warnings.get()
    }

    /// `@@error_count`.
    pub fn error_count(&self) -> u64 {
        self.errors.get()
    }
}
