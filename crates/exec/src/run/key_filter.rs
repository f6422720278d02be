//! Values that a join can find, so that the scan of its other side leaves out rows early.
//!
//! A filter may let too much through, but never drops a row whose key is among those of the build
//! side. It is made of the whole build side, once, before the other side is read.

use selkie_column::Zone;
use selkie_types::{Column, ColumnData};

/// Bits that the map of values may have in any case: 4 MB.
const FEW_BITS: u64 = 1 << 25;
/// Bits that it may have for each value: making the map must not take longer than the join's own
/// table of the values.
const BITS_OF_VALUE: u64 = 256;
/// Most bits: 32 MB.
const MOST_BITS: u64 = 1 << 28;

/// Numbers are compared in the order of the column's values, as in segments.
pub(crate) struct KeyFilter {
    least: i64,
    greatest: i64,
    /// A bit for each number from the least one on; empty if they would be too many.
    bits: Box<[u64]>,
}

/// Applies an expression to the values of a column of numbers; `None` for other columns.
macro_rules! with_numbers {
    ($column:expr, $number:ident, $values:ident => $body:expr) => {
        match $column.data() {
            ColumnData::Int($values) => {
                let $number = |v: &i64| *v;
                Some($body)
            }
            ColumnData::UInt($values) => {
                let $number = |v: &u64| (*v ^ 1 << 63) as i64;
                Some($body)
            }
            ColumnData::Date($values) => {
                let $number = |v: &selkie_types::Date| i64::from(v.0);
                Some($body)
            }
            ColumnData::Time($values) => {
                let $number = |v: &selkie_types::Time| v.0;
                Some($body)
            }
            ColumnData::DateTime($values) => {
                let $number = |v: &selkie_types::DateTime| v.0;
                Some($body)
            }
            ColumnData::Double(_) | ColumnData::Decimal(_) | ColumnData::Bytes(_) => None,
        }
    };
}

impl KeyFilter {
    /// The filter of all values of a column without NULLs; `None` if they are no numbers.
    pub(crate) fn of(column: &Column) -> Option<KeyFilter> {
        if column.has_nulls() {
            return None;
        }
        with_numbers!(column, number, values => {
            let numbers = || values.iter().map(number);
            let least = numbers().min().unwrap_or(i64::MAX);
            let greatest = numbers().max().unwrap_or(i64::MIN);
            let span = greatest.wrapping_sub(least) as u64;
            let bits = match least <= greatest && span < most_bits(values.len(), selkie_meter::left()) {
                true => map_of(numbers(), least, span),
                false => Box::default(),
            };
            KeyFilter { least, greatest, bits }
        })
    }

    /// Whether a number between these may be let through.
    pub(crate) fn overlaps(&self, zone: Zone) -> bool {
        zone.least <= self.greatest && zone.greatest >= self.least
    }

    /// Keeps those of `rows` whose value may be among the filter's; `column` has one value for
    /// each of them. Columns of other kinds keep all.
    pub(crate) fn retain(&self, column: &Column, rows: &mut Vec<u32>) {
        debug_assert_eq!(column.len(), rows.len());
        if column.is_constant() {
            return;
        }
        let nulls = column.validity();
        let _ = with_numbers!(column, number, values => {
            let has = |at: usize| self.has(number(&values[at]));
            *rows = match nulls {
                None => kept(rows, |at, _| has(at)),
                Some(valid) => kept(rows, |at, _| valid.get(at) && has(at)),
            };
        });
    }

    #[inline]
    fn has(&self, number: i64) -> bool {
        let at = number.wrapping_sub(self.least) as u64;
        if self.bits.is_empty() {
            return number >= self.least && number <= self.greatest;
        }
        // A number below the least is far behind the bits.
        self.bits.get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

/// Those of `rows` for which `keep` holds, given their position and number. No branch depends on
/// the result, which is hard to foresee.
#[inline]
pub(crate) fn kept(rows: &[u32], keep: impl Fn(usize, u32) -> bool) -> Vec<u32> {
    let mut out = vec![0; rows.len()];
    let mut count = 0;
    for (at, &row) in rows.iter().enumerate() {
        out[count] = row;
        count += usize::from(keep(at, row));
    }
    out.truncate(count);
    out
}

/// Most bits of the map of so many values, if the statement may still take `left` bytes: a large
/// map takes an eighth of them at most, which is a bit for each.
fn most_bits(values: usize, left: i64) -> u64 {
    let (wanted, room) = ((values as u64).saturating_mul(BITS_OF_VALUE), left.max(0) as u64);
    wanted.min(room).clamp(FEW_BITS, MOST_BITS)
}

fn map_of(numbers: impl Iterator<Item = i64>, least: i64, span: u64) -> Box<[u64]> {
    let mut bits = vec![0u64; (span / 64 + 1) as usize];
    for number in numbers {
        let at = number.wrapping_sub(least) as u64;
        bits[(at / 64) as usize] |= 1 << (at % 64);
    }
    bits.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_types::Bitmap;

    fn kept(filter: &KeyFilter, column: ColumnData) -> Vec<u32> {
        let mut rows = (0..column.len() as u32).collect();
        filter.retain(&Column::from_data(column, None), &mut rows);
        rows
    }

    #[test]
    fn only_values_of_the_filter_pass() {
        let filter = KeyFilter::of(&Column::from_data(ColumnData::Int(vec![-5, 70, 3]), None));
        let filter = filter.expect("numbers");
        let values = ColumnData::Int(vec![3, 4, -5, -6, 70, 71, i64::MIN, i64::MAX]);
        assert_eq!(kept(&filter, values), [0, 2, 4]);
        assert!(filter.overlaps(Zone { least: 70, greatest: 90 }));
        assert!(!filter.overlaps(Zone { least: 71, greatest: 90 }));
    }

    #[test]
    fn the_map_grows_with_the_values() {
        let of = |count: i64| (0..count).map(|at| at * 100).collect::<Vec<i64>>();
        let filter =
            |values: Vec<i64>| KeyFilter::of(&Column::from_data(ColumnData::Int(values), None));
        let many = filter(of(400_000)).expect("numbers");
        assert_eq!(kept(&many, ColumnData::Int(vec![39_999_900, 39_999_899, 100])), [0, 2]);
        // A few values as far from each other have only bounds.
        let few = filter(vec![0, 39_999_900]).expect("numbers");
        assert_eq!(kept(&few, ColumnData::Int(vec![5, 39_999_901])), [0]);
        assert_eq!(most_bits(400_000, i64::MAX), 400_000 * BITS_OF_VALUE);
        assert_eq!(most_bits(400_000, 40 << 20), 40 << 20);
        assert_eq!([most_bits(400_000, 5), most_bits(400_000, -1)], [FEW_BITS; 2]);
        assert_eq!(most_bits(usize::MAX, i64::MAX), MOST_BITS);
    }

    #[test]
    fn far_values_keep_only_their_bounds() {
        let ends = Column::from_data(ColumnData::UInt(vec![1, u64::MAX - 1]), None);
        let filter = KeyFilter::of(&ends).expect("numbers");
        assert_eq!(kept(&filter, ColumnData::UInt(vec![0, 1, 9, u64::MAX])), [1, 2]);
    }

    #[test]
    fn nothing_passes_the_filter_of_no_rows_and_nulls_never_pass() {
        let filter = KeyFilter::of(&Column::from_data(ColumnData::Int(vec![]), None));
        assert!(kept(&filter.expect("numbers"), ColumnData::Int(vec![0, 1])).is_empty());
        let filter = KeyFilter::of(&Column::from_data(ColumnData::Int(vec![0, 1]), None));
        let valid: Bitmap = [true, false].into_iter().collect();
        let mut rows = vec![0, 1];
        let column = Column::from_data(ColumnData::Int(vec![1, 0]), Some(valid));
        filter.expect("numbers").retain(&column, &mut rows);
        assert_eq!(rows, [0]);
    }
}
