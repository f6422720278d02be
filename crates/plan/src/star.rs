//! Column order of `*`. NATURAL and USING change it: first the merged columns in the order of the
//! left side, then the left side's other columns, then those of the right side. In a RIGHT JOIN the
//! right side comes first. A side may itself be such a join.

use hashbrown::{HashMap, HashSet};
use std::ops::Range;

/// A column: the number of its source in FROM, and its position in that source.
pub(crate) type StarColumn = (usize, usize);

/// The column order set by the joins with merged columns so far.
#[derive(Clone, Default)]
pub(crate) struct StarOrder {
    columns: Vec<StarColumn>,
    /// `columns` covers the sources before this number.
    sources: usize,
}

impl StarOrder {
    /// Columns of the sources in `range`, in order. `free`: the positions of a source's columns
    /// that no join has merged into those of another source.
    pub(crate) fn of(
        &self,
        range: Range<usize>,
        free: &dyn Fn(usize) -> Vec<usize>,
    ) -> Vec<StarColumn> {
        let mut order = Vec::new();
        let mut known: HashMap<usize, HashSet<usize>> = HashMap::new();
        for &(source, column) in self.columns.iter().filter(|(source, _)| range.contains(source)) {
            let free = known.entry(source).or_insert_with(|| free(source).into_iter().collect());
            if free.contains(&column) {
                order.push((source, column));
            }
        }
        for source in range.start.max(self.sources)..range.end {
            order.extend(free(source).into_iter().map(|column| (source, column)));
        }
        order
    }

    /// Records the join of two sides that are adjacent in FROM, with the columns `merged`. `sides`
    /// are in the order in which their columns are shown.
    pub(crate) fn join(
        &mut self,
        merged: Vec<StarColumn>,
        sides: [Range<usize>; 2],
        free: &dyn Fn(usize) -> Vec<usize>,
    ) {
        let start = sides[0].start.min(sides[1].start);
        let end = sides[0].end.max(sides[1].end);
        let mut columns = self.of(0..start, free);
        let gone: HashSet<StarColumn> = merged.into_iter().collect();
        let shown = sides.into_iter().flat_map(|side| self.of(side, free));
        let (first, rest): (Vec<_>, Vec<_>) = shown.partition(|column| gone.contains(column));
        columns.extend(first);
        columns.extend(rest);
        *self = StarOrder { columns, sources: end };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_that_are_joins_keep_their_order() {
        // Each source has column x and one more; (0 RIGHT JOIN 1 USING (x)) JOIN 2 USING (x), 3.
        let mut order = StarOrder::default();
        order.join(vec![(1, 0)], [1..2, 0..1], &|source| {
            if source == 0 { vec![1] } else { vec![0, 1] }
        });
        let free = |source| if source == 0 || source == 2 { vec![1] } else { vec![0, 1] };
        order.join(vec![(1, 0)], [0..2, 2..3], &free);
        let all = order.of(0..4, &free);
        assert_eq!(all, [(1, 0), (1, 1), (0, 1), (2, 1), (3, 0), (3, 1)]);
    }
}
