//! The leaves of a partitioned table that a scan reads: the plan's ranges of the columns that
//! decide, evaluated, and given to the router. Must not leave out a leaf with a row that the plan's
//! ranges select (P4).

use std::sync::Arc;

use selkie_engine::{IndexCodec, IndexDef, IndexId, IndexKind, IndexPart, TableDef};
use selkie_expr::EvalContext;
use selkie_plan::partition::{Dimension, Router};
use selkie_plan::physical::{KeyRange, PartsRead, RangeBound};
use selkie_types::{SqlResult, Value};

use super::fit::{Fit, fit};
use super::range::{Edge, bound_value, lower_edge, ranges_of, upper_edge};
use crate::run::OpenTable;

/// Most combinations of values that are routed one by one.
const MANY: usize = 10_000;

/// The leaves to read; `None` for all.
pub(crate) fn parts_read(
    eval: &EvalContext<'_>,
    open: &OpenTable<'_>,
    plan: Option<&PartsRead>,
) -> SqlResult<Option<Arc<[u16]>>> {
    let (Some(plan), Some(parts)) = (plan, &open.handle.parts) else { return Ok(None) };
    leaves(eval, parts.router(), open.handle.table.def(), plan)
}

/// The leaves that a plan reads; `None` for all.
pub(crate) fn leaves(
    eval: &EvalContext<'_>,
    router: &Router,
    def: &TableDef,
    plan: &PartsRead,
) -> SqlResult<Option<Arc<[u16]>>> {
    if let Some(leaf) = leaf_of_number(eval, router, def, plan)? {
        return Ok(Some(leaf));
    }
    let pruner = Pruner { eval, router, def };
    let parts = pruner.slots(Dimension::Partitions, &plan.ranges)?;
    let subs = pruner.slots(Dimension::Subpartitions, &plan.sub_ranges)?;
    if parts.is_none() && subs.is_none() {
        return Ok(plan.listed.clone());
    }
    let mut leaves = router.combine(parts.as_deref(), subs.as_deref());
    if let Some(listed) = &plan.listed {
        leaves.retain(|leaf| listed.binary_search(leaf).is_ok());
    }
    Ok(Some(leaves.into()))
}

/// The only leaf of rows with one number in the only column that decides, without the work of the
/// general way, which is more than that of reading a row. `None` if it is not that simple.
fn leaf_of_number(
    eval: &EvalContext<'_>,
    router: &Router,
    def: &TableDef,
    plan: &PartsRead,
) -> SqlResult<Option<Arc<[u16]>>> {
    let Some(column) = router.number_column().and_then(|at| def.columns.get(at)) else {
        return Ok(None);
    };
    let ([KeyRange { equal, .. }], None) = (&plan.ranges[..], &plan.listed) else {
        return Ok(None);
    };
    let Some(e) = equal.first() else { return Ok(None) };
    let value = bound_value(eval, e)?;
    match fit(value, &e.ty, &column.ty, &eval.types.time_zone) {
        Fit::Exact(value) => Ok(Some(router.leaf_of_number(&value).into_iter().collect())),
        _ => Ok(None),
    }
}

struct Pruner<'a> {
    eval: &'a EvalContext<'a>,
    router: &'a Router,
    def: &'a TableDef,
}

impl Pruner<'_> {
    /// The slots of a dimension that rows in some of the ranges can have; `None` for all.
    fn slots(&self, of: Dimension, ranges: &[KeyRange]) -> SqlResult<Option<Vec<usize>>> {
        let columns = self.router.columns_of(of);
        if ranges.is_empty() || columns.is_empty() {
            return Ok(None);
        }
        let codec = self.codec(&columns);
        let mut all = Vec::new();
        for range in ranges {
            match self.slots_of(of, range, &columns, &codec)? {
                Some(slots) => all.extend(slots),
                None => return Ok(None),
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(Some(all))
    }

    /// Keys of the columns as the router's: every part may be NULL.
    fn codec(&self, columns: &[usize]) -> IndexCodec {
        let part = |column: &usize| IndexPart { column: *column, prefix: None, descending: false };
        let index = IndexDef {
            id: IndexId(u32::MAX),
            name: "".into(),
            kind: IndexKind::Unique,
            parts: columns.iter().map(part).collect(),
            hashed: false,
            without_overlaps: false,
        };
        let mut def = self.def.clone();
        columns.iter().for_each(|at| def.columns[*at].nullable = true);
        IndexCodec::new(&def, &index)
    }

    fn slots_of(
        &self,
        of: Dimension,
        range: &KeyRange,
        columns: &[usize],
        codec: &IndexCodec,
    ) -> SqlResult<Option<Vec<usize>>> {
        if range.equal.len() >= columns.len() {
            return self.points(of, range, codec, columns.len());
        }
        if let (1, 0, None) = (columns.len(), range.equal.len(), &range.like)
            && let Some(slots) = self.interval(of, range, codec)?
        {
            return Ok(slots);
        }
        // Ranges of keys are of use where columns themselves are compared.
        let mut all = Vec::new();
        for keys in ranges_of(self.eval, codec, std::slice::from_ref(range))? {
            let (start, end) = keys.ends();
            match self.router.keys(of, start, end.as_deref()) {
                Some(slots) => all.extend(slots),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// The slots of rows with one value in each column.
    fn points(
        &self,
        of: Dimension,
        range: &KeyRange,
        codec: &IndexCodec,
        columns: usize,
    ) -> SqlResult<Option<Vec<usize>>> {
        let mut points: Vec<Vec<Value>> = vec![Vec::new()];
        for (at, e) in range.equal.iter().take(columns).enumerate() {
            let value = bound_value(self.eval, e)?;
            let null_safe = range.null_safe.get(at).copied().unwrap_or(false);
            let fit = fit(value, &e.ty, &codec.part(at).ty, &self.eval.types.time_zone);
            let values = match fit {
                Fit::Exact(value) => vec![value],
                Fit::Null if null_safe => vec![Value::Null],
                Fit::OneOf(values) => values,
                Fit::Twice(first, last) => vec![first, last],
                _ => return Ok(Some(Vec::new())),
            };
            if points.len() * values.len() > MANY {
                return Ok(None);
            }
            let extended = |point: &Vec<Value>| {
                let point = point.clone();
                values.iter().map(move |value| [&point[..], std::slice::from_ref(value)].concat())
            };
            points = points.iter().flat_map(extended).collect();
        }
        let mut all = Vec::new();
        for point in &points {
            match self.router.point(of, point) {
                Some(slots) => all.extend(slots),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// The slots of rows whose only column is in an interval. `None` if that is no interval of
    /// values.
    fn interval(
        &self,
        of: Dimension,
        range: &KeyRange,
        codec: &IndexCodec,
    ) -> SqlResult<Option<Option<Vec<usize>>>> {
        let unbounded = |bound: &RangeBound| matches!(bound, RangeBound::Unbounded);
        if unbounded(&range.lower) && unbounded(&range.upper) {
            return Ok(None);
        }
        let lower = lower_edge(self.eval, codec, 0, &range.lower)?;
        let upper = upper_edge(self.eval, codec, 0, &range.upper)?;
        let dead = |edge: &Edge| matches!(edge, Edge::Nothing | Edge::Null);
        if dead(&lower) || dead(&upper) {
            return Ok(Some(Some(Vec::new())));
        }
        let end = |edge: Edge, before_is_inside: bool| match edge {
            Edge::Before(value) => Some((value, before_is_inside)),
            Edge::After(value) => Some((value, !before_is_inside)),
            _ => None,
        };
        let (lower, upper) = (end(lower, true), end(upper, false));
        let lower = lower.as_ref().map(|(value, inside)| (value, *inside));
        let upper = upper.as_ref().map(|(value, inside)| (value, *inside));
        if self.router.has_function(of) {
            return Ok(Some(self.router.interval(of, lower, upper)));
        }
        Ok(None)
    }
}
