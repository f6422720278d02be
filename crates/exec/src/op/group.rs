//! Groups of rows with the states of their aggregates. Equal keys share a number
//! ([`super::hash_table`]), which is the position of the group's state.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use selkie_expr::aggregate::{Aggregate, AggregateState, Groups, RowsByGroup};
use selkie_expr::{EvalContext, Expr};
use selkie_plan::physical::ColumnType;
use selkie_types::{Batch, Column, SqlError, SqlResult};

use super::RowBuffer;
use super::hash_table::{KeyKind, KeyTable, NOT_FOUND};
use super::project::in_row_order;
use super::shared_parts::SharedParts;

/// Groups, rows for each of them and aggregates from which on sorting the rows of a batch by their
/// group pays: then an aggregate adds those of a group in a register.
const FEW_GROUPS: usize = 64;
const LEAST_ROWS: usize = 8;
const LEAST_STATES: usize = 3;

/// The state that gives an aggregate's results.
enum Source {
    Own(AggregateState),
    /// The state of an earlier aggregate: `SUM(x)` beside `AVG(x)`.
    Of(usize),
}

impl Source {
    fn own(&mut self) -> Option<&mut AggregateState> {
        match self {
            Self::Own(state) => Some(state),
            Self::Of(_) => None,
        }
    }
}

/// So many aggregates are compared one by one; n of them would cost n² comparisons.
const FEW_STATES: usize = 16;

/// A source for each aggregate.
fn sources(aggregates: &[Aggregate]) -> Vec<Source> {
    let is_few = aggregates.len() <= FEW_STATES;
    // Positions of aggregates that may be shared, by a digest if there are many.
    let mut adding: HashMap<u64, Vec<usize>, FixedState> = HashMap::default();
    let mut source = |(at, aggregate): (usize, &Aggregate)| {
        if !aggregate.adds() {
            return Source::Own(aggregate.state());
        }
        let digest = if is_few { 0 } else { aggregate.digest_of_args() };
        let earlier = adding.entry(digest).or_default();
        match earlier.iter().find(|first| aggregate.shares_state(&aggregates[**first])) {
            Some(first) => Source::Of(*first),
            None => {
                earlier.push(at);
                Source::Own(aggregate.state())
            }
        }
    };
    aggregates.iter().enumerate().map(&mut source).collect()
}

fn kinds(key_types: &[ColumnType]) -> Vec<KeyKind> {
    key_types.iter().map(|c| KeyKind::of(&c.ty)).collect()
}

/// Groups by key.
pub(crate) struct Grouping {
    table: KeyTable,
    pub(crate) keys: RowBuffer,
    states: Vec<Source>,
    groups: usize,
    ids: Vec<u32>,
    /// Rows of the last batch with new keys.
    new: Vec<u32>,
    /// Rows of the last batch by their group, if there are few groups.
    sorted: RowsByGroup,
}

impl Grouping {
    /// An empty grouping; without keys it has one group.
    pub(crate) fn new(key_types: &[ColumnType], aggregates: &[Aggregate]) -> Self {
        Self::numbered_by(KeyTable::new(kinds(key_types)), key_types, aggregates)
    }

    /// An empty grouping for rows of which those with equal keys come one after the other.
    pub(crate) fn of_sorted(key_types: &[ColumnType], aggregates: &[Aggregate]) -> Self {
        Self::numbered_by(KeyTable::of_sorted(kinds(key_types)), key_types, aggregates)
    }

    fn numbered_by(table: KeyTable, key_types: &[ColumnType], aggregates: &[Aggregate]) -> Self {
        let mut states = sources(aggregates);
        let groups = usize::from(key_types.is_empty());
        states.iter_mut().filter_map(Source::own).for_each(|s| s.resize(groups));
        Self {
            table,
            keys: RowBuffer::new(key_types),
            states,
            groups,
            ids: Vec::new(),
            new: Vec::new(),
            sorted: RowsByGroup::default(),
        }
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.groups
    }

    /// Whether the first row of these keys belongs to one of the groups.
    pub(crate) fn has_first(&self, keys: &[Arc<Column>]) -> bool {
        let first: Vec<_> = keys.iter().map(|key| Arc::new(key.gather(&[0]))).collect();
        let mut ids = Vec::new();
        self.table.find(&first, 1, &mut ids);
        ids.first().is_none_or(|id| *id != NOT_FOUND)
    }

    /// Adds rows: their keys, and the arguments of each aggregate.
    pub(crate) fn update(
        &mut self,
        eval: &EvalContext<'_>,
        keys: &[Arc<Column>],
        args: &[Vec<Arc<Column>>],
        rows: usize,
    ) -> SqlResult<()> {
        self.ids.clear();
        self.new.clear();
        if !keys.is_empty() {
            self.assign(keys, rows)?;
        }
        let few = self.groups <= FEW_GROUPS && rows >= self.groups * LEAST_ROWS;
        let groups = match keys.is_empty() {
            true => Groups::One,
            false if few && self.states.len() >= LEAST_STATES => {
                self.sorted.sort(&self.ids, self.groups);
                Groups::Sorted(&self.ids, &self.sorted)
            }
            false => Groups::Ids(&self.ids),
        };
        for (state, args) in self.states.iter_mut().zip(args) {
            if let Source::Own(state) = state {
                state.update(groups, self.groups, rows, args, eval)?;
            }
        }
        Ok(())
    }

    /// As [`Self::update`], but rows of other groups are not added. Returns their positions.
    pub(crate) fn update_known(
        &mut self,
        eval: &EvalContext<'_>,
        keys: &[Arc<Column>],
        args: &[Vec<Arc<Column>>],
        rows: usize,
    ) -> SqlResult<Vec<u32>> {
        self.ids.clear();
        self.new.clear();
        self.table.find(keys, rows, &mut self.ids);
        let of = |wanted: bool| {
            let rows = self.ids.iter().zip(0..).filter(|(id, _)| (**id != NOT_FOUND) == wanted);
            rows.map(|(_, row)| row).collect::<Vec<u32>>()
        };
        let (known, others) = (of(true), of(false));
        self.ids.retain(|id| *id != NOT_FOUND);
        if !known.is_empty() {
            let gathered = |column: &Arc<Column>| match others.is_empty() {
                true => column.clone(),
                false => Arc::new(column.gather(&known)),
            };
            for (state, args) in self.states.iter_mut().zip(args) {
                let Source::Own(state) = state else { continue };
                let args: Vec<_> = args.iter().map(gathered).collect();
                let groups = Groups::Ids(&self.ids);
                state.update(groups, self.groups, known.len(), &args, eval)?;
            }
        }
        Ok(others)
    }

    /// Positions in the last batch of rows that began a group.
    pub(crate) fn new_rows(&self) -> &[u32] {
        &self.new
    }

    /// Size in memory of keys, in bytes; the states have some more.
    pub(crate) fn memory(&self) -> usize {
        self.table.memory() + self.keys.memory()
    }

    /// Adds the groups of other rows, which come after these.
    pub(crate) fn merge(&mut self, eval: &EvalContext<'_>, other: Self) -> SqlResult<()> {
        if other.groups == 0 {
            return Ok(());
        }
        self.ids.clear();
        match other.keys.len() {
            0 => self.ids.push(0),
            rows => self.assign(other.keys.batch().columns(), rows)?,
        }
        for pair in self.states.iter_mut().zip(other.states) {
            if let (Source::Own(state), Source::Own(more)) = pair {
                state.merge(more, &self.ids, eval)?;
            }
        }
        Ok(())
    }

    /// One of the groups alone; `None` if an aggregate cannot be split by groups.
    pub(crate) fn one(
        &self,
        group: usize,
        key_types: &[ColumnType],
        aggregates: &[Aggregate],
    ) -> SqlResult<Option<Self>> {
        let mut one = Self::new(key_types, aggregates);
        let keys = self.keys.batch().slice(group, group + 1);
        one.assign(keys.columns(), 1)?;
        for (to, from) in one.states.iter_mut().zip(&self.states) {
            if let Source::Own(state) = from {
                let Some(state) = state.one(group) else { return Ok(None) };
                *to = Source::Own(state);
            }
        }
        Ok(Some(one))
    }

    fn assign(&mut self, keys: &[Arc<Column>], rows: usize) -> SqlResult<()> {
        self.new.clear();
        self.table.assign(keys, rows, &mut self.ids, &mut self.new)?;
        self.groups = self.table.len();
        if !self.new.is_empty() {
            self.keys.append_rows(keys, &self.new)?;
        }
        Ok(())
    }

    /// Gives all groups: key columns, then result columns of the aggregates it was made for.
    pub(crate) fn finish(
        mut self,
        eval: &EvalContext<'_>,
        aggregates: &[Aggregate],
    ) -> SqlResult<Batch> {
        let groups = self.groups;
        let mut columns =
            if self.keys.len() > 0 { self.keys.batch().into_columns() } else { Vec::new() };
        for (at, aggregate) in aggregates.iter().enumerate() {
            let from = match &self.states[at] {
                Source::Own(_) => at,
                Source::Of(earlier) => *earlier,
            };
            let Some(state) = self.states[from].own() else {
                return Err(SqlError::internal("the state of an aggregate is missing"));
            };
            state.resize(groups);
            if from != at {
                state.give(aggregate);
            }
            columns.push(Arc::new(state.finish(eval)?));
        }
        Ok(Batch::new(columns, groups))
    }
}

/// Expressions whose values a grouping needs.
pub(crate) struct Inputs<'r> {
    groups: &'r [Expr],
    aggregates: &'r [Aggregate],
    shared: Option<SharedParts>,
    /// Whether keys, and arguments, have side effects: they are computed row by row then.
    ordered: (bool, bool),
}

impl<'r> Inputs<'r> {
    /// Keys and aggregates over an input row of `width` columns.
    pub(crate) fn new(groups: &'r [Expr], aggregates: &'r [Aggregate], width: usize) -> Self {
        let args: Vec<&Expr> = aggregates.iter().flat_map(Aggregate::inputs).collect();
        let ordered = (in_row_order(groups), args.iter().any(|e| e.has_side_effects()));
        let shared = if ordered.1 { None } else { SharedParts::of(&args, width) };
        Self { groups, aggregates, shared, ordered }
    }

    /// All expressions computed for an input row.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &'r Expr> {
        self.groups.iter().chain(self.aggregates.iter().flat_map(Aggregate::inputs))
    }

    /// The keys of a batch.
    pub(crate) fn keys(
        &self,
        eval: &EvalContext<'_>,
        batch: &Batch,
    ) -> SqlResult<Vec<Arc<Column>>> {
        if self.ordered.0 {
            return row_by_row(eval, &self.groups.iter().collect::<Vec<_>>(), batch);
        }
        self.groups.iter().map(|e| e.eval(eval, batch)).collect()
    }

    /// The arguments of each aggregate.
    pub(crate) fn args(
        &self,
        eval: &EvalContext<'_>,
        batch: &Batch,
    ) -> SqlResult<Vec<Vec<Arc<Column>>>> {
        if let Some(shared) = &self.shared {
            let attempt = eval.attempt();
            match shared.values(eval, batch) {
                Ok(values) => return Ok(self.by_aggregate(values)),
                Err(_) => eval.undo(&attempt),
            }
        }
        if self.ordered.1 {
            let exprs: Vec<&Expr> = self.aggregates.iter().flat_map(Aggregate::inputs).collect();
            return Ok(self.by_aggregate(row_by_row(eval, &exprs, batch)?));
        }
        let of = |a: &Aggregate| a.inputs().map(|e| e.eval(eval, batch)).collect();
        self.aggregates.iter().map(of).collect()
    }

    /// The values of all arguments as those of each aggregate.
    fn by_aggregate(&self, values: Vec<Arc<Column>>) -> Vec<Vec<Arc<Column>>> {
        let mut values = values.into_iter();
        let of = |a: &Aggregate| values.by_ref().take(a.inputs().count()).collect();
        self.aggregates.iter().map(of).collect()
    }
}

/// Values of expressions with side effects: all of a row before those of the next.
fn row_by_row(
    eval: &EvalContext<'_>,
    exprs: &[&Expr],
    batch: &Batch,
) -> SqlResult<Vec<Arc<Column>>> {
    let mut out: Vec<Column> = Vec::with_capacity(exprs.len());
    for row in 0..batch.rows() {
        let one = batch.slice(row, row + 1);
        for (at, e) in exprs.iter().enumerate() {
            let value = e.eval(eval, &one)?;
            match out.get_mut(at) {
                Some(column) => column.append(&value),
                None => out.push(value.expand()),
            }
        }
    }
    if batch.rows() == 0 {
        return exprs.iter().map(|e| e.eval(eval, batch)).collect();
    }
    Ok(out.into_iter().map(Arc::new).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selkie_expr::TypeContext;
    use selkie_expr::aggregate::AggregateKind;
    use selkie_types::{Bitmap, ColumnData, SqlType, Value};

    use super::*;

    fn column(values: &[Option<i64>]) -> Arc<Column> {
        let valid: Bitmap = values.iter().map(Option::is_some).collect();
        let data = values.iter().map(|value| value.unwrap_or_default()).collect();
        Arc::new(Column::from_data(ColumnData::Int(data), Some(valid)))
    }

    fn aggregates() -> Vec<Aggregate> {
        let value = || vec![Expr::column(1, SqlType::bigint(), true)];
        [AggregateKind::Count, AggregateKind::Sum, AggregateKind::Avg, AggregateKind::Min]
            .into_iter()
            .chain([AggregateKind::Max])
            .map(|kind| Aggregate::new(kind, false, value(), &TypeContext::default()))
            .collect::<SqlResult<_>>()
            .expect("aggregates of numbers")
    }

    fn grouping(eval: &EvalContext<'_>, keys: usize, rows: &[[Option<i64>; 2]]) -> Grouping {
        let ty = ColumnType { ty: SqlType::bigint(), nullable: true };
        let aggregates = aggregates();
        let mut grouping = Grouping::new(&vec![ty; keys], &aggregates);
        let of = |at: usize| column(&rows.iter().map(|row| row[at]).collect::<Vec<_>>());
        let batch = Batch::new(vec![of(0), of(1)], rows.len());
        let inputs = Inputs::new(&[], &aggregates, 2);
        let args = inputs.args(eval, &batch).expect("columns");
        grouping.update(eval, &vec![of(0); keys], &args, rows.len()).expect("no limit");
        grouping
    }

    fn results(eval: &EvalContext<'_>, grouping: Grouping) -> Vec<Vec<Value>> {
        let batch = grouping.finish(eval, &aggregates()).expect("no limit");
        let row = |at| batch.columns().iter().map(|column| column.value(at)).collect();
        (0..batch.rows()).map(row).collect()
    }

    fn rows() -> impl Strategy<Value = Vec<[Option<i64>; 2]>> {
        let value = || proptest::option::of(-3..4_i64);
        proptest::collection::vec([value(), value()], 0..20)
    }

    /// Many rows of few groups are sorted by group; a row at a time they are not.
    #[test]
    fn rows_of_few_groups_have_the_results_of_rows_one_by_one() {
        let eval = EvalContext::detached(&TypeContext::default());
        let columns = |rows: &[[i64; 2]]| {
            let of = |at: usize| ColumnData::Int(rows.iter().map(|row| row[at]).collect());
            [of(0), of(1)].map(|data| Arc::new(Column::from_data(data, None)))
        };
        let ty = ColumnType { ty: SqlType::bigint(), nullable: false };
        let aggregates = aggregates();
        let inputs = Inputs::new(&[], &aggregates, 2);
        let of_parts = |rows: &[[i64; 2]], size: usize| {
            let mut grouping = Grouping::new(std::slice::from_ref(&ty), &aggregates);
            for part in rows.chunks(size) {
                let [key, value] = columns(part);
                let batch = Batch::new(vec![key.clone(), value], part.len());
                let args = inputs.args(&eval, &batch).expect("columns");
                grouping.update(&eval, &[key], &args, part.len()).expect("no limit");
            }
            results(&eval, grouping)
        };
        // Very few groups and more, sums within 64 bits and beyond.
        for (groups, least) in [(5, i64::MAX - 500), (5, -250), (30, i64::MAX - 500), (30, -250)] {
            let rows: Vec<[i64; 2]> = (0..500).map(|n| [n * 7 % groups, least + n]).collect();
            assert_eq!(of_parts(&rows, 500), of_parts(&rows, 1));
        }
    }

    proptest! {
        #[test]
        fn merged_groups_are_those_of_rows_one_after_another(
            keys in 0..2_usize,
            parts in proptest::collection::vec(rows(), 1..5),
        ) {
            let eval = EvalContext::detached(&TypeContext::default());
            let mut merged = grouping(&eval, keys, &[]);
            for part in &parts {
                merged.merge(&eval, grouping(&eval, keys, part)).expect("no limit");
            }
            let whole = grouping(&eval, keys, &parts.concat());
            prop_assert_eq!(results(&eval, merged), results(&eval, whole));
        }
    }
}
