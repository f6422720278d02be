//! Sets of columns of a statement.
//!
//! A set takes memory for the span of its columns, not for all columns before them: the operators
//! of a statement with 100,000 tables have a few sets each.

use std::iter::repeat_n;

use selkie_expr::Expr;
use selkie_meter::tick;
use smallvec::SmallVec;

use super::ColumnId;

/// A set of columns: a bit for each from the first word's on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnSet {
    /// Number of the first word: the least column in it, divided by 64.
    first: usize,
    words: SmallVec<[u64; 3]>,
}

impl ColumnSet {
    /// Columns that `expr` reads directly.
    pub(crate) fn of(expr: &Expr) -> Self {
        let mut set = Self::default();
        set.add_expr(expr);
        set
    }

    /// Adds the columns that `expr` reads.
    pub(crate) fn add_expr(&mut self, expr: &Expr) {
        expr.for_each_column(&mut |id| self.insert(id));
    }

    /// Adds a column.
    pub(crate) fn insert(&mut self, id: ColumnId) {
        let word = id / 64;
        self.cover(word, word + 1);
        self.words[word - self.first] |= 1 << (id % 64);
    }

    /// Whether `id` is in the set.
    pub(crate) fn contains(&self, id: ColumnId) -> bool {
        self.word(id / 64) >> (id % 64) & 1 == 1
    }

    /// Adds all columns of `other`.
    pub(crate) fn union(&mut self, other: &Self) {
        if other.words.is_empty() {
            return;
        }
        self.cover(other.first, other.first + other.words.len());
        tick(other.words.len());
        let start = other.first - self.first;
        for (word, more) in self.words[start..].iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Removes all columns of `other`.
    pub(crate) fn subtract(&mut self, other: &Self) {
        tick(self.words.len());
        for (at, word) in self.words.iter_mut().enumerate() {
            *word &= !other.word(self.first + at);
        }
    }

    /// Whether the sets have no column in common.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        tick(self.words.len());
        self.numbered().all(|(at, word)| word & other.word(at) == 0)
    }

    /// Whether all columns are in `other`.
    pub(crate) fn is_subset(&self, other: &Self) -> bool {
        tick(self.words.len());
        self.numbered().all(|(at, word)| word & !other.word(at) == 0)
    }

    /// Whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The columns in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ColumnId> + '_ {
        tick(32 * self.words.len());
        self.numbered().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }

    /// Makes room for the words from `from` to before `to`.
    fn cover(&mut self, from: usize, to: usize) {
        if self.words.is_empty() {
            self.first = from;
        } else if from < self.first {
            self.words.insert_many(0, repeat_n(0, self.first - from));
            self.first = from;
        }
        let words = self.words.len().max(to - self.first);
        tick(words - self.words.len());
        self.words.resize(words, 0);
    }

    fn word(&self, at: usize) -> u64 {
        at.checked_sub(self.first).and_then(|at| self.words.get(at)).copied().unwrap_or(0)
    }

    fn numbered(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.words.iter().enumerate().map(|(at, word)| (self.first + at, *word))
    }
}

impl PartialEq for ColumnSet {
    fn eq(&self, other: &Self) -> bool {
        self.is_subset(other) && other.is_subset(self)
    }
}

impl Eq for ColumnSet {}

impl FromIterator<ColumnId> for ColumnSet {
    fn from_iter<I: IntoIterator<Item = ColumnId>>(ids: I) -> Self {
        let mut set = Self::default();
        ids.into_iter().for_each(|id| set.insert(id));
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::ColumnSet;

    fn ids() -> impl Strategy<Value = BTreeSet<usize>> {
        prop_oneof![
            proptest::collection::btree_set(0..300_usize, 0..12),
            proptest::collection::btree_set(500..700_usize, 0..12),
            proptest::collection::btree_set(0..2_000_usize, 0..4),
        ]
    }

    proptest! {
        #[test]
        fn sets_are_sets(a in ids(), b in ids(), probe in 0..2_000_usize) {
            let set = |ids: &BTreeSet<usize>| ids.iter().rev().copied().collect::<ColumnSet>();
            let (x, y) = (set(&a), set(&b));
            prop_assert!(x.iter().eq(a.iter().copied()));
            prop_assert_eq!(x.contains(probe), a.contains(&probe));
            prop_assert_eq!(x.is_empty(), a.is_empty());
            prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
            prop_assert_eq!(x.is_disjoint(&y), a.is_disjoint(&b));
            prop_assert_eq!(x == y, a == b);
            let (mut more, mut less) = (x.clone(), x);
            more.union(&y);
            prop_assert_eq!(&more, &set(&(&a | &b)));
            less.subtract(&y);
            prop_assert_eq!(&less, &set(&(&a - &b)));
        }
    }

    #[test]
    fn late_columns_take_no_memory_for_earlier_ones() {
        let set: ColumnSet = [1_000_000, 1_000_070].into_iter().collect();
        assert!(!set.words.spilled());
    }
}
