//! Selectivity: the share of rows for which conditions are true.
//!
//! Conditions on one column are combined to a range; other conditions count as independent.

use selkie_expr::{Compare, CompareOp, Expr, ExprKind, InList};
use selkie_types::{Value, stack};
use smallvec::SmallVec;

use super::table::column_statistics;
use super::values::position;
use super::{column_distinct, table_rows};
use crate::cost;
use crate::logical::{ColumnId, Columns};
use crate::settings::StatisticsSource;

/// Share of rows for a comparison with an unknown value.
const RANGE: f64 = 1.0 / 3.0;
/// Share of rows for equality with an unknown value.
const EQUAL: f64 = 0.05;
/// Share of rows for LIKE with a constant prefix: factor per character of the prefix, and minimum.
const LIKE_PREFIX: (f64, f64) = (0.35, 0.005);
/// Share of rows for LIKE with a leading wildcard.
const LIKE_ANYWHERE: f64 = 0.06;
/// Share of rows for any other condition.
const OTHER: f64 = 0.3;

/// Estimates for conditions over the columns of a statement.
pub(crate) struct Estimator<'a> {
    /// Columns of the statement.
    pub columns: &'a Columns,
    /// Source of row counts.
    pub source: &'a dyn StatisticsSource,
    /// Distinct values of computed columns, as far as known.
    pub derived: &'a hashbrown::HashMap<ColumnId, f64>,
}

/// The positions between which a column's values lie.
struct Spread {
    not_null: f64,
    max: f64,
    /// The least value, then the ends of buckets of equally many rows, if they are known.
    bounds: SmallVec<[f64; 64]>,
}

impl Spread {
    /// Bounds from which on there are buckets.
    const FEWEST: usize = 3;

    /// Share of rows whose value is below `point`.
    fn share_below(&self, point: f64) -> f64 {
        let Self { not_null, max, bounds } = self;
        let min = bounds[0];
        if point <= min {
            return 0.0;
        }
        if point > *max {
            return *not_null;
        }
        if bounds.len() < Self::FEWEST {
            return not_null * (point - min) / (max - min).max(f64::MIN_POSITIVE);
        }
        let bucket = bounds.partition_point(|b| *b < point).clamp(1, bounds.len() - 1);
        let (low, high) = (bounds[bucket - 1], bounds[bucket]);
        let within = if high > low { ((point - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
        not_null * (bucket as f64 - 1.0 + within) / (bounds.len() - 1) as f64
    }

    /// The middles of parts of equally many rows.
    fn middles(&self) -> SmallVec<[f64; 64]> {
        let min = self.bounds[0];
        let part = |at: i32| min + (self.max - min) * (f64::from(at) + 0.5) / 8.0;
        match self.bounds.len() < Self::FEWEST {
            true => (0..8).map(part).collect(),
            false => self.bounds.windows(2).map(|ends| (ends[0] + ends[1]) / 2.0).collect(),
        }
    }
}

/// One-sided comparisons of one column: known bounds, and the number of unknown ones.
#[derive(Default)]
struct ColumnRange {
    column: ColumnId,
    lower: Option<f64>,
    upper: Option<f64>,
    unknown: u32,
}

impl Estimator<'_> {
    /// Distinct values of a column.
    pub(crate) fn distinct(&self, id: ColumnId) -> f64 {
        if let Some(distinct) = self.derived.get(&id) {
            return *distinct;
        }
        match self.columns.table_column(id) {
            Some((relation, at)) if at < relation.table.columns.len() => {
                let rows = table_rows(&relation.table, self.source);
                column_distinct(&relation.table, at, rows, self.source)
            }
            _ => 1_000.0,
        }
    }

    /// Distinct values of an expression over `rows` rows.
    pub(crate) fn expr_distinct(&self, expr: &Expr, rows: f64) -> f64 {
        let columns = expr.columns();
        if columns.is_empty() {
            return 1.0;
        }
        let product: f64 = columns.iter().map(|id| self.distinct(*id)).product();
        product.clamp(1.0, rows.max(1.0))
    }

    /// Share of rows for which all of `conditions` are true.
    pub(crate) fn all<'e>(&self, conditions: impl IntoIterator<Item = &'e Expr>) -> f64 {
        let mut ranges: SmallVec<[ColumnRange; 4]> = SmallVec::new();
        let mut share = 1.0;
        for condition in conditions {
            if !self.add_range(condition, &mut ranges) {
                share *= self.one(condition);
            }
        }
        ranges.iter().fold(share, |share, range| share * self.range(range)).max(1e-12)
    }

    /// Adds a one-sided comparison of a column with a constant to `ranges`; `false` if `condition`
    /// is none.
    fn add_range(&self, condition: &Expr, ranges: &mut SmallVec<[ColumnRange; 4]>) -> bool {
        let ExprKind::Compare(compare) = &condition.kind else { return false };
        let Some((column, op, value)) = column_and_constant(compare) else { return false };
        if !matches!(op, CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge) {
            return false;
        }
        let at = ranges.iter().position(|r| r.column == column).unwrap_or_else(|| {
            ranges.push(ColumnRange { column, ..ColumnRange::default() });
            ranges.len() - 1
        });
        let range = &mut ranges[at];
        match value.as_literal().and_then(position) {
            None => range.unknown += 1,
            Some(point) if matches!(op, CompareOp::Lt | CompareOp::Le) => {
                range.upper = Some(range.upper.map_or(point, |old| old.min(point)));
            }
            Some(point) => range.lower = Some(range.lower.map_or(point, |old| old.max(point))),
        }
        true
    }

    fn range(&self, range: &ColumnRange) -> f64 {
        let unknown = RANGE.powi(range.unknown.min(2) as i32);
        let below = |point: Option<f64>| point.map(|p| self.share_below(range.column, p));
        let known = match (below(range.lower), below(range.upper)) {
            (None, None) => 1.0,
            (Some(Some(lower)), None) => 1.0 - lower,
            (None, Some(Some(upper))) => upper,
            (Some(Some(lower)), Some(Some(upper))) => (upper - lower).max(0.0),
            (Some(_), Some(_)) => RANGE * RANGE,
            _ => RANGE,
        };
        let least = 1.0 / self.distinct(range.column).max(10.0);
        (known * unknown).clamp(least.min(0.001), 1.0)
    }

    /// Share of rows whose value is below `point`; `None` without statistics.
    fn share_below(&self, id: ColumnId, point: f64) -> Option<f64> {
        self.spread(id).map(|spread| spread.share_below(point))
    }

    /// The spread of a column's values; `None` without statistics.
    fn spread(&self, id: ColumnId) -> Option<Spread> {
        let (relation, at) = self.columns.table_column(id)?;
        let statistics = column_statistics(&relation.table, at, self.source)?;
        let (min, max) = (position(&statistics.min)?, position(&statistics.max)?);
        let bounds = statistics.histogram.iter().filter_map(position);
        Some(Spread {
            not_null: 1.0 - statistics.null_fraction,
            max,
            bounds: std::iter::once(min).chain(bounds).collect(),
        })
    }

    /// Share of rows for which `condition` is true.
    pub(crate) fn one(&self, condition: &Expr) -> f64 {
        stack::ensure();
        match &condition.kind {
            ExprKind::Literal(value) => literal_share(value),
            ExprKind::And(parts) => self.all(parts),
            ExprKind::Or(parts) => 1.0 - parts.iter().map(|p| 1.0 - self.one(p)).product::<f64>(),
            ExprKind::Not(inner) => (1.0 - self.one(inner)).max(0.0),
            ExprKind::IsNull(inner) => self.null_share(inner),
            ExprKind::Compare(compare) => self.compare(compare),
            ExprKind::InList(list) => self.in_list(list),
            ExprKind::Call(call) if is_like(call.function.name()) => {
                self.prefix_share(&call.args).unwrap_or_else(|| like_share(&call.args))
            }
            _ => OTHER,
        }
    }

    /// Share of rows whose text begins with the constant prefix of a pattern; `None` without a
    /// histogram.
    fn prefix_share(&self, args: &[Expr]) -> Option<f64> {
        let Value::Bytes(pattern) = args.get(1)?.as_literal()? else { return None };
        let column = args[0].as_column()?;
        let prefix: Vec<u8> =
            pattern.iter().copied().take_while(|b| !matches!(b, b'%' | b'_' | b'\\')).collect();
        // Positions tell no more bytes apart.
        if prefix.is_empty() || prefix.len() > 6 || prefix.len() == pattern.len() {
            return None;
        }
        let (relation, at) = self.columns.table_column(column)?;
        let statistics = column_statistics(&relation.table, at, self.source)?;
        if statistics.histogram.is_empty() {
            return None;
        }
        let first = position(&Value::bytes(&prefix[..]))?;
        let behind = first + 1.0 / 256f64.powi(prefix.len() as i32);
        // Texts are not spread evenly within a bucket, so only its bounds count.
        let bounds = statistics.histogram.iter().filter_map(position);
        let inside = bounds.filter(|bound| (first..behind).contains(bound)).count();
        let bucket = (1.0 - statistics.null_fraction) / statistics.histogram.len() as f64;
        Some(match inside {
            0 => like_share(args).min(bucket * 0.5),
            some => bucket * some as f64,
        })
    }

    fn null_share(&self, inner: &Expr) -> f64 {
        if !inner.nullable {
            return 1e-9;
        }
        let outer_joined = inner.as_column().is_some_and(|id| !self.columns.get(id).nullable);
        if outer_joined {
            return OTHER;
        }
        let known = inner.as_column().and_then(|id| {
            let (relation, at) = self.columns.table_column(id)?;
            column_statistics(&relation.table, at, self.source)
        });
        known.map_or(0.1, |s| s.null_fraction)
    }

    fn compare(&self, compare: &Compare) -> f64 {
        if let Some((column, op, value)) = column_and_constant(compare) {
            return match op {
                CompareOp::Eq | CompareOp::NullSafeEq => self.equals(column, value.as_literal()),
                CompareOp::Ne => 1.0 - self.equals(column, value.as_literal()),
                _ => {
                    let mut ranges = SmallVec::new();
                    let condition = ExprKind::Compare(Box::new(compare.clone()));
                    let condition = Expr::new(condition, compare.left.ty.clone(), true);
                    self.add_range(&condition, &mut ranges);
                    ranges.first().map_or(RANGE, |range| self.range(range))
                }
            };
        }
        match compare.op {
            CompareOp::Eq | CompareOp::NullSafeEq => {
                let side = |e: &Expr| e.columns().iter().map(|id| self.distinct(*id)).product();
                let (left, right): (f64, f64) = (side(&compare.left), side(&compare.right));
                let most = left.max(right);
                // A computed value may have few values, however many its columns have.
                let is_computed = left.min(right) <= 1.0;
                match most > 1.0 {
                    true if is_computed => (1.0 / most).max(EQUAL),
                    true => 1.0 / most,
                    false => EQUAL,
                }
            }
            CompareOp::Ne => 0.9,
            CompareOp::Lt | CompareOp::Le => self.ordered(&compare.left, &compare.right),
            CompareOp::Gt | CompareOp::Ge => self.ordered(&compare.right, &compare.left),
        }
    }

    /// Share of rows in which `low` is below `high`.
    fn ordered(&self, low: &Expr, high: &Expr) -> f64 {
        let columns = low.as_column().zip(high.as_column());
        columns.and_then(|(low, high)| self.column_below(low, high)).unwrap_or(RANGE)
    }

    /// Share of rows in which one column is below another, if they are independent: the mean share
    /// of values below each part of the other's. `None` without statistics.
    fn column_below(&self, low: ColumnId, high: ColumnId) -> Option<f64> {
        let (low, high) = (self.spread(low)?, self.spread(high)?);
        let middles = high.middles();
        let below: f64 = middles.iter().map(|point| low.share_below(*point)).sum();
        Some((high.not_null * below / middles.len() as f64).clamp(0.001, 1.0))
    }

    /// Share of rows in which a column equals one value.
    pub(crate) fn equals(&self, column: ColumnId, value: Option<&Value>) -> f64 {
        let Some((relation, at)) = self.columns.table_column(column) else {
            return 1.0 / self.distinct(column).max(1.0);
        };
        let Some(statistics) = column_statistics(&relation.table, at, self.source) else {
            return 1.0 / self.distinct(column).max(1.0);
        };
        let share = (1.0 - statistics.null_fraction) / statistics.distinct.max(1.0);
        let outside = value.and_then(position).is_some_and(|point| {
            let ends = (position(&statistics.min), position(&statistics.max));
            matches!(ends, (Some(min), Some(max)) if point < min || point > max)
        });
        if outside { share.min(1e-6) } else { share }
    }

    fn in_list(&self, list: &InList) -> f64 {
        let one = match list.value.as_column() {
            Some(column) => 1.0 / self.distinct(column).max(1.0),
            None => 1.0 / self.expr_distinct(&list.value, 100.0).max(10.0),
        };
        (one * list.items.len() as f64).min(1.0)
    }
}

fn literal_share(value: &Value) -> f64 {
    match value {
        Value::Int(0) | Value::UInt(0) | Value::Null => 0.0,
        _ => 1.0,
    }
}

/// A comparison of a column with a constant, turned so that the column is on the left.
fn column_and_constant(compare: &Compare) -> Option<(ColumnId, CompareOp, &Expr)> {
    let no_columns = |e: &Expr| !e.any(&mut |e| matches!(e.kind, ExprKind::Column(_)));
    match (compare.left.as_column(), compare.right.as_column()) {
        (Some(id), None) if no_columns(&compare.right) => Some((id, compare.op, &compare.right)),
        (None, Some(id)) if no_columns(&compare.left) => {
            Some((id, compare.op.swapped(), &compare.left))
        }
        _ => None,
    }
}

fn is_like(name: &str) -> bool {
    name.eq_ignore_ascii_case("like")
}

fn like_share(args: &[Expr]) -> f64 {
    let Some(Value::Bytes(pattern)) = args.get(1).and_then(Expr::as_literal) else { return 0.1 };
    let prefix = pattern.iter().take_while(|b| !matches!(b, b'%' | b'_')).count();
    if prefix == 0 {
        return LIKE_ANYWHERE;
    }
    LIKE_PREFIX.0.powi(prefix as i32).max(LIKE_PREFIX.1)
}

/// Cost of a condition for one row. Constant parts are computed once and cost nothing.
pub(crate) fn condition_cost(condition: &Expr) -> f64 {
    cost_and_constancy(condition).0
}

/// The cost, and whether the value is the same for all rows.
fn cost_and_constancy(condition: &Expr) -> (f64, bool) {
    stack::ensure();
    let below = condition.children().into_iter().map(cost_and_constancy);
    let (below, is_constant) =
        below.fold((0.0, true), |(sum, all), (cost, is_constant)| (sum + cost, all && is_constant));
    let is_constant = is_constant && condition.is_constant_over_constants();
    let own = match &condition.kind {
        ExprKind::Call(call) if call.function.name().to_ascii_lowercase().contains("like") => {
            cost::STRING_CONDITION
        }
        ExprKind::Subquery(_) => cost::CACHED_SUBPLAN,
        ExprKind::Stored(_) | ExprKind::Sequence(_) => cost::SUBPLAN,
        ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Parameter(_) => 0.0,
        ExprKind::Call(_) if is_constant => return (0.0, true),
        _ => cost::CONDITION,
    };
    (own + below, is_constant)
}
