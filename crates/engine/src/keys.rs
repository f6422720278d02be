//! Index keys and entries: from a stored row to the bytes an index holds.
//!
//! Shared by all engines and by the executor, which encodes search keys the same way.

use selkie_types::{RowLayout, Value, key};
use sha2::{Digest, Sha256};

use crate::{EngineResult, IndexDef, IndexKind, IndexPart, KeyRange, TableDef};

/// Encodes the keys and covering entries of one index.
#[derive(Clone, Debug)]
pub struct IndexCodec {
    parts: Vec<Part>,
    /// Parts of the clustered key, which follows the index's own parts in an entry's key.
    behind: Vec<Part>,
    entry: RowLayout,
    hashed: bool,
    /// Bytes of the end or the start of the period at the end of keys; 0 if there is none.
    period: usize,
    /// The last bytes of the parts before the period, of rows that are not of history.
    current: Vec<u8>,
}

/// A key of an index without overlaps, in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodKey<'k> {
    /// The parts before the period.
    pub head: &'k [u8],
    /// End of the period, which is not part of it.
    pub end: &'k [u8],
    /// Start of the period.
    pub start: &'k [u8],
}

impl<'k> PeriodKey<'k> {
    /// Another key that begins with the same parts; `key` may go on behind its period. `None` if it
    /// is too short.
    pub fn sibling<'o>(&self, key: &'o [u8]) -> Option<PeriodKey<'o>> {
        let (head, rest) = key.split_at_checked(self.head.len())?;
        let (end, rest) = rest.split_at_checked(self.end.len())?;
        let (start, _) = rest.split_at_checked(self.start.len())?;
        Some(PeriodKey { head, end, start })
    }

    /// Whether no two rows may have these keys, which begin with the same parts.
    pub fn excludes(&self, other: &PeriodKey<'_>) -> bool {
        let overlap = self.start < other.end && other.start < self.end;
        overlap || (self.start == other.start && self.end == other.end)
    }

    /// The range of keys that can exclude this one. They are those that begin with the same parts
    /// and end after its start.
    pub fn rivals(&self) -> KeyRange {
        // A period that was stored unchecked may end before it starts.
        let least = self.start.min(self.end);
        let all = KeyRange::prefix(self.head);
        KeyRange { start: [self.head, least].concat(), end: all.end }
    }

    /// Whether all live keys behind `self`, which is live, begin at or after `end`: live periods
    /// are in one order by their ends and by their starts.
    pub fn ends_search(&self, end: &[u8]) -> bool {
        self.start >= end && self.start < self.end
    }
}

#[derive(Clone, Debug)]
struct Part {
    column: usize,
    encoding: key::KeyPart,
}

impl IndexCodec {
    /// The codec of `index`.
    pub fn new(table: &TableDef, index: &IndexDef) -> Self {
        let part = |p: &IndexPart| Part { column: p.column, encoding: encoding(table, p) };
        // The covering entry of a hashed index is never read, so it has no columns.
        let covered = if index.hashed { &[][..] } else { &index.parts };
        let types = covered.iter().map(|p| &table.columns[p.column]);
        let entry = RowLayout::new(types.map(|c| (&c.ty, c.nullable)));
        let parts = index.parts.iter().map(part).collect();
        let clustered = table.primary().filter(|_| index.kind != IndexKind::Primary);
        let behind = clustered.into_iter().flat_map(|key| &key.parts).map(part).collect();
        let end = index.parts.last().filter(|_| index.without_overlaps);
        let period = end.and_then(|part| table.columns[part.column].ty.fixed_width());
        let current = current_part(table, index).unwrap_or_default();
        Self { parts, behind, entry, hashed: index.hashed, period: period.unwrap_or(0), current }
    }

    /// Whether rows must not overlap.
    pub fn has_period(&self) -> bool {
        self.period > 0
    }

    /// The parts of a whole key, without the clustered key behind it, of an index without overlaps.
    /// `None` for a row of history, which may overlap others.
    pub fn period<'k>(&self, key: &'k [u8]) -> Option<PeriodKey<'k>> {
        if self.period == 0 {
            return None;
        }
        let (rest, start) = key.split_at_checked(key.len().checked_sub(self.period)?)?;
        let (head, end) = rest.split_at_checked(rest.len().checked_sub(self.period)?)?;
        if !head.ends_with(&self.current) {
            return None;
        }
        Some(PeriodKey { head, end, start })
    }

    /// Number of key parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are no parts.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The layout of this index's covering entries: one column per part, in part order.
    pub fn entry_layout(&self) -> &RowLayout {
        &self.entry
    }

    /// Encoding of part `at`; the parts of the clustered key are counted after those of the index.
    pub fn part(&self, at: usize) -> &key::KeyPart {
        let behind = at.checked_sub(self.parts.len());
        &behind.map_or_else(|| &self.parts[at], |behind| &self.behind[behind]).encoding
    }

    /// Appends the key of `row`. Returns whether a part is NULL; a unique index lets such a key
    /// repeat.
    pub fn key_of_row(
        &self,
        layout: &RowLayout,
        row: &[u8],
        out: &mut Vec<u8>,
    ) -> EngineResult<bool> {
        let start = out.len();
        let mut any_null = false;
        for part in &self.parts {
            let value = layout.value(row, part.column)?;
            any_null |= value.is_null();
            part.encoding.encode(&value, out);
        }
        self.hash_from(start, out);
        Ok(any_null)
    }

    /// Replaces the key that begins at `start` by its hash, if this is a hashed index. Two keys
    /// with one SHA-256 hash are not to be expected, so the rows are not compared.
    fn hash_from(&self, start: usize, out: &mut Vec<u8>) {
        if self.hashed {
            let hash = Sha256::digest(&out[start..]);
            out.truncate(start);
            out.extend_from_slice(&hash);
        }
    }

    /// Appends the covering entry of `row`: the values of the key's columns, whole.
    pub fn entry_of_row(
        &self,
        layout: &RowLayout,
        row: &[u8],
        out: &mut Vec<u8>,
    ) -> EngineResult<()> {
        let covered = self.parts.iter().take(self.entry.columns().len());
        let values: Result<Vec<Value>, _> =
            covered.map(|part| layout.value(row, part.column)).collect();
        self.entry.encode_values(&values?, out);
        Ok(())
    }

    /// Appends the first `parts` parts of the key of `row`; `row` may be a covering entry instead.
    pub fn prefix_of_row(
        &self,
        row: &[u8],
        (layout, is_entry): (&RowLayout, bool),
        parts: usize,
        out: &mut Vec<u8>,
    ) -> EngineResult<()> {
        for (at, part) in self.parts.iter().take(parts).enumerate() {
            let place = if is_entry { at } else { part.column };
            part.encoding.encode(&layout.value(row, place)?, out);
        }
        Ok(())
    }

    /// Appends the key prefix for the first `values.len()` parts.
    pub fn key_of_values(&self, values: &[Value], out: &mut Vec<u8>) {
        let start = out.len();
        for (part, value) in self.parts.iter().zip(values) {
            part.encoding.encode(value, out);
        }
        self.hash_from(start, out);
    }
}

/// Bytes of the part before a period that only rows have that are not of history.
fn current_part(table: &TableDef, index: &IndexDef) -> Option<Vec<u8>> {
    let (column, value) = table.current.as_ref().filter(|_| index.without_overlaps)?;
    let part = index.own_parts().last().filter(|part| part.column == *column)?;
    let mut out = Vec::new();
    encoding(table, part).encode(value, &mut out);
    Some(out)
}

/// The encoding of a part of an index.
fn encoding(table: &TableDef, part: &IndexPart) -> key::KeyPart {
    let column = &table.columns[part.column];
    key::KeyPart {
        ty: column.ty.clone(),
        nullable: column.nullable,
        prefix: part.prefix,
        descending: part.descending,
    }
}

/// The smallest byte string greater than all strings with this prefix; `None` if there is none.
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&b| b != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

/// The smallest value of the series `offset`, `offset + step`, ... that is at least `least`, as
/// `auto_increment_increment` and `auto_increment_offset` demand.
pub fn next_in_series(least: u64, step: u64, offset: u64) -> u64 {
    if step <= 1 {
        return least.max(1);
    }
    // Compat: MariaDB's formula for the value after this one, which wraps around where the offset
    // is larger than the step.
    let before = least.saturating_sub(1);
    let steps = before.wrapping_add(step).wrapping_sub(offset.max(1)) / step;
    let next = steps.wrapping_mul(step).wrapping_add(offset.max(1));
    if next <= before { u64::MAX } else { next }
}

/// The largest whole number up to which a double has all of them.
const MAX_WHOLE: f64 = (1_u64 << 53) as f64;

/// The number that a value of an AUTO_INCREMENT column takes from the counter: values after it are
/// generated next. `None` if it takes none.
///
/// Compat: a fraction counts as the whole number next to it, a half as the even one, and what is
/// beyond the whole numbers of a double does not count.
pub fn automatic_number(value: &Value) -> Option<u64> {
    match value {
        Value::Int(v) => u64::try_from(*v).ok(),
        Value::UInt(v) => Some(*v),
        Value::Double(v) if (0.0..=MAX_WHOLE).contains(v) => Some(v.round_ties_even() as u64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{PeriodKey, next_in_series, prefix_end};

    fn period(bytes: &[u8; 3]) -> PeriodKey<'_> {
        PeriodKey { head: &bytes[..1], end: &bytes[1..2], start: &bytes[2..] }
    }

    #[test]
    fn periods_that_touch_do_not_overlap() {
        let own = period(b"k52");
        for (other, excluded) in
            [(b"k43", true), (b"k91", true), (b"k32", true), (b"k95", false), (b"k21", false)]
        {
            assert_eq!(own.excludes(&period(other)), excluded, "{other:?}");
            assert_eq!(period(other).excludes(&own), excluded, "{other:?}");
            assert!(!excluded || own.rivals().start.as_slice() <= &other[..], "{other:?}");
        }
        assert!(period(b"k95").ends_search(own.end));
        assert!(!period(b"k94").ends_search(own.end));
        // Stored without a check, it says nothing about the rows behind it.
        assert!(!period(b"k59").ends_search(own.end));
        assert!(period(b"k25").excludes(&period(b"k25")));
        assert_eq!(own.sibling(b"k43 and more"), Some(period(b"k43")));
        assert_eq!(own.sibling(b"k4"), None);
    }

    #[test]
    fn series() {
        assert_eq!(next_in_series(1, 1, 1), 1);
        assert_eq!(next_in_series(7, 1, 1), 7);
        assert_eq!(next_in_series(1, 10, 5), 5);
        assert_eq!(next_in_series(6, 10, 5), 15);
        assert_eq!(next_in_series(15, 10, 5), 15);
        assert_eq!(next_in_series(u64::MAX, 10, 1), u64::MAX);
    }

    #[test]
    fn prefix_ends() {
        assert_eq!(prefix_end(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(prefix_end(&[1, 255]), Some(vec![2]));
        assert_eq!(prefix_end(&[255]), None);
    }
}
