//! The leaves that can hold rows with given values. The answer may have too many leaves, never too
//! few (P4).

use selkie_expr::EvalContext;
use selkie_types::{ByteRows, Value};

use super::Router;
use super::rule::Rule;

/// A dimension of a partitioning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The partitions.
    Partitions,
    /// The subpartitions of each.
    Subpartitions,
}

/// One end of an interval: a value, and whether it is inside.
pub type End<'a> = Option<(&'a Value, bool)>;

impl Router {
    fn rule(&self, of: Dimension) -> Option<&Rule> {
        match of {
            Dimension::Partitions => Some(&self.part),
            Dimension::Subpartitions => self.sub.as_ref(),
        }
    }

    /// Positions of the columns that a dimension depends on, in its own order.
    pub fn columns_of(&self, of: Dimension) -> Vec<usize> {
        self.rule(of).map(Rule::columns).unwrap_or_default()
    }

    /// The column whose numbers alone decide the leaf, of tables by RANGE or HASH of a column.
    pub fn number_column(&self) -> Option<usize> {
        self.part.number_column().filter(|_| self.sub.is_none())
    }

    /// The leaf of rows with a value in [`Self::number_column`]; none if there is no partition.
    pub fn leaf_of_number(&self, value: &Value) -> Option<u16> {
        self.part.slot_of_number(value).and_then(|slot| u16::try_from(slot).ok())
    }

    /// Whether a dimension compares the value of a function, not columns.
    pub fn has_function(&self, of: Dimension) -> bool {
        self.rule(of).is_some_and(|rule| rule.function().is_some())
    }

    /// The slots of rows with these values in the columns of a dimension; `None`: any.
    pub fn point(&self, of: Dimension, values: &[Value]) -> Option<Vec<usize>> {
        let rule = self.rule(of)?;
        if let Rule::SystemTime(rule) = rule {
            return values.first().map(|end| rule.point(end));
        }
        let mut row = vec![Value::Null; self.loose.columns().len()];
        for (at, value) in rule.columns().into_iter().zip(values) {
            *row.get_mut(at)? = value.clone();
        }
        let mut rows = ByteRows::with_capacity(1);
        self.loose.encode_values(&row, rows.buffer());
        rows.end_row();
        let eval = EvalContext::detached(&self.types);
        let found = rule.slots(&eval, &self.loose, &rows).ok()?;
        let mut slots = match found.into_iter().next()? {
            Ok(slot) => vec![slot],
            Err(super::RouteError::NoPartition(_)) => Vec::new(),
            Err(super::RouteError::Function(_)) => return None,
        };
        // Compat: the default partition is read, too, though it has none of the listed values.
        slots.extend(rule.default_slot());
        Some(ordered(slots))
    }

    /// The slots of rows whose only column of a dimension is in an interval, which has no NULL;
    /// `None`: any.
    pub fn interval(&self, of: Dimension, lower: End<'_>, upper: End<'_>) -> Option<Vec<usize>> {
        self.rule(of)?.interval(lower, upper, |value| self.value_of(of, value)).map(ordered)
    }

    /// The value of a dimension's function for a value of its only column.
    fn value_of(&self, of: Dimension, value: &Value) -> Option<Value> {
        let function = self.rule(of)?.function()?;
        let [at] = function.columns() else { return None };
        let mut row = vec![Value::Null; self.loose.columns().len()];
        *row.get_mut(*at)? = value.clone();
        let mut rows = ByteRows::with_capacity(1);
        self.loose.encode_values(&row, rows.buffer());
        rows.end_row();
        let eval = EvalContext::detached(&self.types);
        function.values(&eval, &self.loose, &rows).ok()?.into_iter().next()
    }

    /// The slots of rows whose columns have keys from `start` up to `end`; `None`: any.
    pub fn keys(&self, of: Dimension, start: &[u8], end: Option<&[u8]>) -> Option<Vec<usize>> {
        self.rule(of)?.key_interval(start, end).map(ordered)
    }

    /// The leaves in some slots of each dimension; `None` for all slots.
    pub fn combine(&self, parts: Option<&[usize]>, subs: Option<&[usize]>) -> Vec<u16> {
        let all = |count: usize| (0..count).collect::<Vec<usize>>();
        let every = self.count / self.each;
        let parts = parts.map_or_else(|| all(every), <[usize]>::to_vec);
        let subs = subs.map_or_else(|| all(self.each), <[usize]>::to_vec);
        let leaf = |part: usize| subs.iter().map(move |sub| (part * self.each + sub) as u16);
        parts.into_iter().flat_map(leaf).collect()
    }

    /// Number of leaves.
    pub fn count(&self) -> usize {
        self.count
    }
}

fn ordered(mut slots: Vec<usize>) -> Vec<usize> {
    slots.sort_unstable();
    slots.dedup();
    slots
}
