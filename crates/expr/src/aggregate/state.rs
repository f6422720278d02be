//! The contract of aggregate states.
//! Groups are numbered by the caller; a state must accept any number of new groups at any batch.

use std::any::Any;
use std::sync::Arc;

use selkie_meter::interruptible;
use selkie_types::{Bitmap, Column, ColumnData, SqlResult};

use super::{
    Aggregate, AggregateKind, bits, count, distinct, extreme, first, group_concat, json, spread,
    stored, sum,
};
use crate::context::EvalContext;

/// The groups of the rows of a batch.
#[derive(Clone, Copy, Debug)]
pub enum Groups<'a> {
    /// All rows belong to group 0.
    One,
    /// The group of each row.
    Ids(&'a [u32]),
    /// The same, and the rows of each group together.
    Sorted(&'a [u32], &'a RowsByGroup),
}

/// The rows of a batch by group, in their order within a group.
#[derive(Debug, Default)]
pub struct RowsByGroup {
    rows: Vec<u32>,
    /// For each group the end of its rows.
    ends: Vec<u32>,
}

/// Groups up to which a pass for each is fast.
const VERY_FEW: usize = 8;

impl RowsByGroup {
    /// Sorts rows by the group of each, which is below `groups`.
    pub fn sort(&mut self, ids: &[u32], groups: usize) {
        if groups <= VERY_FEW {
            return self.sort_by_mask(ids, groups);
        }
        self.ends.clear();
        self.ends.resize(groups, 0);
        ids.iter().for_each(|id| self.ends[*id as usize] += 1);
        let mut from = 0;
        for end in &mut self.ends {
            // First where the next row of the group goes, in the end behind its last one.
            from += std::mem::replace(end, from);
        }
        self.rows.clear();
        self.rows.resize(ids.len(), 0);
        for (row, id) in ids.iter().enumerate() {
            let at = &mut self.ends[*id as usize];
            self.rows[*at as usize] = row as u32;
            *at += 1;
        }
    }

    /// As [`Self::sort`], a pass over the rows for each group: a pass for all groups waits in each
    /// step for the count that the step before wrote.
    fn sort_by_mask(&mut self, ids: &[u32], groups: usize) {
        self.ends.clear();
        self.rows.clear();
        for group in 0..groups as u32 {
            let mask = Bitmap::from_fn(ids.len(), |row| ids[row] == group);
            self.rows.extend_from_slice(&mask.positions());
            self.ends.push(self.rows.len() as u32);
        }
    }

    /// Each group with its rows.
    pub(super) fn groups(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut from = 0;
        self.ends.iter().enumerate().map(move |(group, end)| {
            let rows = &self.rows[from..*end as usize];
            from = *end as usize;
            (group, rows)
        })
    }
}

impl Groups<'_> {
    /// The group of a row.
    #[inline]
    pub fn of(&self, row: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Ids(ids) | Self::Sorted(ids, _) => ids[row] as usize,
        }
    }
}

/// Operations of every state.
pub(super) trait State: Send + Any {
    /// Makes room for groups `0..groups`.
    fn resize(&mut self, groups: usize);

    /// Adds the rows of a batch.
    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        ctx: &EvalContext<'_>,
    ) -> SqlResult<()>;

    /// Adds another state of the same kind; its group `i` is group `map[i]` here.
    fn merge(&mut self, other: Box<dyn State>, map: &[u32], ctx: &EvalContext<'_>)
    -> SqlResult<()>;

    /// The state of one group alone; `None` for kinds of which it is not asked.
    fn one(&self, _group: usize) -> Option<Box<dyn State>> {
        None
    }

    /// Gives from now on the results of an aggregate for which [`Aggregate::shares_state`] holds.
    fn give(&mut self, _: &Aggregate) {}

    /// The results of all groups.
    fn finish(&mut self, ctx: &EvalContext<'_>) -> SqlResult<Column>;
}

/// Total size of the strings of a row.
pub(super) fn length_at(args: &[Arc<Column>], row: usize) -> usize {
    let length = |column: &Arc<Column>| match column.data() {
        ColumnData::Bytes(v) => v.get(column.physical_row(row)).len(),
        _ => 0,
    };
    args.iter().map(length).sum()
}

/// The concrete state of a merge partner.
pub(super) fn same_kind<T: State>(other: Box<dyn State>) -> Box<T> {
    let other: Box<dyn Any> = other;
    other.downcast().unwrap_or_else(|_| unreachable!("states of one aggregate are of one kind"))
}

/// The state of one aggregate over all groups.
pub struct AggregateState {
    state: Box<dyn State>,
    groups: usize,
}

impl AggregateState {
    pub(super) fn new(a: &Aggregate) -> Self {
        let state = plain(a);
        let repeats_matter = !matches!(
            a.kind,
            AggregateKind::Min
                | AggregateKind::Max
                | AggregateKind::BitAnd
                | AggregateKind::BitOr
                | AggregateKind::AnyValue
                | AggregateKind::GroupConcat
                | AggregateKind::JsonArrayAgg
        );
        let state = if a.distinct && repeats_matter {
            Box::new(distinct::Distinct::new(a, state))
        } else {
            state
        };
        Self { state, groups: 0 }
    }

    /// Adds a batch of `rows` rows; their groups are below `group_count`. `args` are the columns of
    /// [`Aggregate::inputs`].
    pub fn update(
        &mut self,
        groups: Groups<'_>,
        group_count: usize,
        rows: usize,
        args: &[Arc<Column>],
        ctx: &EvalContext<'_>,
    ) -> SqlResult<()> {
        self.resize(group_count);
        let state = &mut self.state;
        interruptible(|| state.update(groups, rows, args, ctx))?
    }

    /// Makes groups `0..groups` exist; a new group has the result of no rows.
    pub fn resize(&mut self, groups: usize) {
        if groups > self.groups {
            self.groups = groups;
            self.state.resize(groups);
        }
    }

    /// Adds the state of another worker; its group `i` is group `map[i]` here.
    pub fn merge(&mut self, other: Self, map: &[u32], ctx: &EvalContext<'_>) -> SqlResult<()> {
        if let Some(last) = map.iter().max() {
            self.resize(*last as usize + 1);
        }
        self.state.merge(other.state, map, ctx)
    }

    /// The state of one group alone, as group 0; `None` for aggregates other than COUNT, MIN, MAX
    /// and exact sums and averages.
    pub fn one(&self, group: usize) -> Option<Self> {
        Some(Self { state: self.state.one(group)?, groups: 1 })
    }

    /// Gives from now on the results of an aggregate for which [`Aggregate::shares_state`] holds.
    pub fn give(&mut self, a: &Aggregate) {
        self.state.give(a);
    }

    /// The results of all groups, in order. A sum or an average may be asked for again.
    pub fn finish(&mut self, ctx: &EvalContext<'_>) -> SqlResult<Column> {
        interruptible(|| self.state.finish(ctx))?
    }
}

fn plain(a: &Aggregate) -> Box<dyn State> {
    use AggregateKind::*;
    match a.kind {
        Count => Box::new(count::Count::default()),
        Sum | Avg => sum::state(a),
        Min | Max => extreme::state(a),
        AnyValue => Box::new(first::First::new(a)),
        Std | StddevSamp | Variance | VarSamp => Box::new(spread::Spread::new(a.kind)),
        BitAnd | BitOr | BitXor => Box::new(bits::Bits::new(a.kind)),
        GroupConcat | JsonArrayAgg => Box::new(group_concat::GroupConcat::new(a)),
        JsonObjectAgg => Box::new(json::ObjectAgg::new(a)),
        Stored => match &a.stored {
            Some(call) => Box::new(stored::StoredRows::new(a, call)),
            None => unreachable!("only a call of a stored program is of its kind"),
        },
    }
}
