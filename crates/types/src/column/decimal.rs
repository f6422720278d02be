//! Decimals of a column at one scale, as narrow as their values allow.
//! Money fits 64 bits in practice, so sums run at machine width for any declared precision.

use ethnum::I256;

use crate::Decimal;

/// Unscaled values of one width.
#[derive(Clone, Debug)]
pub enum DecimalValues {
    /// All fit 64 bits.
    I64(Vec<i64>),
    /// All fit 128 bits.
    I128(Vec<i128>),
    /// Up to the full 65 digits.
    I256(Vec<I256>),
}

/// Decimals of one scale. The width grows with the values and never shrinks within a column.
#[derive(Clone, Debug)]
pub struct DecimalColumn {
    scale: u8,
    values: DecimalValues,
}

impl DecimalColumn {
    /// An empty column.
    pub fn new(scale: u8, capacity: usize) -> Self {
        Self { scale, values: DecimalValues::I64(Vec::with_capacity(capacity)) }
    }

    /// A column with the given values.
    pub fn from_values(scale: u8, values: DecimalValues) -> Self {
        Self { scale, values }
    }

    /// Digits after the point of every row.
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// The unscaled values.
    pub fn values(&self) -> &DecimalValues {
        &self.values
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.values {
            DecimalValues::I64(v) => v.len(),
            DecimalValues::I128(v) => v.len(),
            DecimalValues::I256(v) => v.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Unscaled value of `row`.
    #[inline]
    pub fn unscaled(&self, row: usize) -> I256 {
        match &self.values {
            DecimalValues::I64(v) => I256::from(v[row]),
            DecimalValues::I128(v) => I256::from(v[row]),
            DecimalValues::I256(v) => v[row],
        }
    }

    /// Value of `row`.
    pub fn get(&self, row: usize) -> Decimal {
        Decimal::new(self.unscaled(row), self.scale)
    }

    /// Appends `value`, rounded to this column's scale. A value too large for it becomes the
    /// greatest or least that fits.
    pub fn push(&mut self, value: Decimal) {
        let fitting = value.at_scale(self.scale);
        let fitting = fitting.unwrap_or_else(|| Decimal::greatest(self.scale, value.is_negative()));
        self.push_unscaled(fitting.unscaled());
    }

    /// Appends zero.
    pub fn push_zero(&mut self) {
        self.push_i64(0);
    }

    /// Appends an unscaled value that fits 64 bits.
    #[inline]
    pub fn push_i64(&mut self, unscaled: i64) {
        match &mut self.values {
            DecimalValues::I64(v) => v.push(unscaled),
            DecimalValues::I128(v) => v.push(unscaled.into()),
            DecimalValues::I256(v) => v.push(unscaled.into()),
        }
    }

    /// Appends an unscaled value that fits 128 bits; widens the column if needed.
    #[inline]
    pub fn push_i128(&mut self, unscaled: i128) {
        match (i64::try_from(unscaled), &mut self.values) {
            (Ok(narrow), _) => self.push_i64(narrow),
            (_, DecimalValues::I128(v)) => v.push(unscaled),
            (_, DecimalValues::I256(v)) => v.push(unscaled.into()),
            (Err(_), DecimalValues::I64(_)) => {
                self.widen_to_i128();
                self.push_i128(unscaled);
            }
        }
    }

    /// Appends an unscaled value; widens the column if needed.
    pub fn push_unscaled(&mut self, unscaled: I256) {
        if let Ok(narrow) = i128::try_from(unscaled) {
            return self.push_i128(narrow);
        }
        self.widen_to_i256();
        if let DecimalValues::I256(v) = &mut self.values {
            v.push(unscaled);
        }
    }

    fn widen_to_i128(&mut self) {
        if let DecimalValues::I64(v) = &self.values {
            self.values = DecimalValues::I128(v.iter().map(|&x| x.into()).collect());
        }
    }

    fn widen_to_i256(&mut self) {
        self.values = match &self.values {
            DecimalValues::I64(v) => DecimalValues::I256(v.iter().map(|&x| x.into()).collect()),
            DecimalValues::I128(v) => DecimalValues::I256(v.iter().map(|&x| x.into()).collect()),
            DecimalValues::I256(_) => return,
        };
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the first `len` rows.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.values {
            DecimalValues::I64(v) => v.truncate(len),
            DecimalValues::I128(v) => v.truncate(len),
            DecimalValues::I256(v) => v.truncate(len),
        }
    }

    /// Size in memory, in bytes.
    pub fn memory(&self) -> usize {
        match &self.values {
            DecimalValues::I64(v) => v.capacity() * 8,
            DecimalValues::I128(v) => v.capacity() * 16,
            DecimalValues::I256(v) => v.capacity() * 32,
        }
    }

    /// The rows with the numbers `rows`; [`super::NULL_ROW`] gives zero.
    pub(super) fn gather(&self, rows: &[u32]) -> Self {
        use super::gather::pick;
        let values = match &self.values {
            DecimalValues::I64(v) => DecimalValues::I64(pick(v, rows)),
            DecimalValues::I128(v) => DecimalValues::I128(pick(v, rows)),
            DecimalValues::I256(v) => DecimalValues::I256(pick(v, rows)),
        };
        Self { scale: self.scale, values }
    }

    /// Appends the rows of `other`, which may have another scale.
    pub(super) fn append(&mut self, other: &Self) {
        match (&mut self.values, &other.values) {
            (DecimalValues::I64(a), DecimalValues::I64(b)) if self.scale == other.scale => {
                a.extend_from_slice(b);
            }
            (DecimalValues::I128(a), DecimalValues::I128(b)) if self.scale == other.scale => {
                a.extend_from_slice(b);
            }
            _ => (0..other.len()).for_each(|row| self.push(other.get(row))),
        }
    }
}
