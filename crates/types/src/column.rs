//! Column vectors: the values of one column over a batch of rows.
//!
//! The layout is Arrow's: a validity bitmap beside a buffer of values; byte strings are offsets
//! into one buffer. A column of decimals holds them as `i64` while they fit, and widens itself to
//! `i128` and then to 256 bits when one does not. So sums of money run at machine width for any
//! declared precision. A constant column holds one physical row for any length.
//!
//! Invariant: `data` has `len` rows, or 1 if `constant`; the value of a null row is never read.

mod bitmap;
mod bytes;
mod decimal;
mod gather;

pub use bitmap::Bitmap;
pub use bytes::BytesColumn;
pub use decimal::{DecimalColumn, DecimalValues};
pub use gather::NULL_ROW;

use crate::{Date, DateTime, Physical, Time, Value};

/// Values of a column by physical kind.
#[derive(Clone, Debug)]
pub enum ColumnData {
    /// Signed integers.
    Int(Vec<i64>),
    /// Unsigned integers, BIT, YEAR, ENUM positions, SET bits.
    UInt(Vec<u64>),
    /// Floating point.
    Double(Vec<f64>),
    /// Decimals at one scale.
    Decimal(DecimalColumn),
    /// Dates.
    Date(Vec<Date>),
    /// Times.
    Time(Vec<Time>),
    /// Dates with time of day.
    DateTime(Vec<DateTime>),
    /// Byte strings.
    Bytes(BytesColumn),
}

/// Applies an expression to the vector in a [`ColumnData`]: all kinds share `Vec`'s methods.
macro_rules! for_each_kind {
    ($data:expr, $v:ident => $body:expr) => {
        match $data {
            ColumnData::Int($v) => $body,
            ColumnData::UInt($v) => $body,
            ColumnData::Double($v) => $body,
            ColumnData::Decimal($v) => $body,
            ColumnData::Date($v) => $body,
            ColumnData::Time($v) => $body,
            ColumnData::DateTime($v) => $body,
            ColumnData::Bytes($v) => $body,
        }
    };
}

impl ColumnData {
    /// An empty vector of `physical` kind; decimals start at `scale`.
    pub fn new(physical: Physical, scale: u8, capacity: usize) -> Self {
        match physical {
            Physical::Int => Self::Int(Vec::with_capacity(capacity)),
            Physical::UInt => Self::UInt(Vec::with_capacity(capacity)),
            Physical::Double => Self::Double(Vec::with_capacity(capacity)),
            Physical::Decimal => Self::Decimal(DecimalColumn::new(scale, capacity)),
            Physical::Date => Self::Date(Vec::with_capacity(capacity)),
            Physical::Time => Self::Time(Vec::with_capacity(capacity)),
            Physical::DateTime => Self::DateTime(Vec::with_capacity(capacity)),
            Physical::Bytes => Self::Bytes(BytesColumn::with_capacity(capacity)),
        }
    }

    /// The physical kind.
    pub fn physical(&self) -> Physical {
        match self {
            Self::Int(_) => Physical::Int,
            Self::UInt(_) => Physical::UInt,
            Self::Double(_) => Physical::Double,
            Self::Decimal(_) => Physical::Decimal,
            Self::Date(_) => Physical::Date,
            Self::Time(_) => Physical::Time,
            Self::DateTime(_) => Physical::DateTime,
            Self::Bytes(_) => Physical::Bytes,
        }
    }

    /// Number of physical rows.
    pub fn len(&self) -> usize {
        for_each_kind!(self, v => v.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn push_default(&mut self) {
        match self {
            Self::Int(v) => v.push(0),
            Self::UInt(v) => v.push(0),
            Self::Double(v) => v.push(0.0),
            Self::Decimal(v) => v.push_zero(),
            Self::Date(v) => v.push(Date::default()),
            Self::Time(v) => v.push(Time::default()),
            Self::DateTime(v) => v.push(DateTime::default()),
            Self::Bytes(v) => v.push(b""),
        }
    }

    /// Appends `value`.
    ///
    /// # Panics
    /// If `value` has another physical kind: the planner chose the type, so this is a bug.
    fn push(&mut self, value: &Value) {
        match (self, value) {
            (Self::Int(v), Value::Int(x)) => v.push(*x),
            (Self::UInt(v), Value::UInt(x)) => v.push(*x),
            (Self::Double(v), Value::Double(x)) => v.push(*x),
            (Self::Decimal(v), Value::Decimal(x)) => v.push(*x),
            (Self::Date(v), Value::Date(x)) => v.push(*x),
            (Self::Time(v), Value::Time(x)) => v.push(*x),
            (Self::DateTime(v), Value::DateTime(x)) => v.push(*x),
            (Self::Bytes(v), Value::Bytes(x)) => v.push(x),
            (data, value) => {
                panic!("value {value:?} pushed to a column of {:?}", data.physical())
            }
        }
    }

    fn get(&self, row: usize) -> Value {
        match self {
            Self::Int(v) => Value::Int(v[row]),
            Self::UInt(v) => Value::UInt(v[row]),
            Self::Double(v) => Value::Double(v[row]),
            Self::Decimal(v) => Value::Decimal(v.get(row)),
            Self::Date(v) => Value::Date(v[row]),
            Self::Time(v) => Value::Time(v[row]),
            Self::DateTime(v) => Value::DateTime(v[row]),
            Self::Bytes(v) => Value::bytes(v.get(row)),
        }
    }
}

/// One column of a batch.
#[derive(Clone, Debug)]
pub struct Column {
    data: ColumnData,
    /// Set bits are rows that are not null; `None` if no row is null. Has `data.len()` bits.
    validity: Option<Bitmap>,
    len: usize,
    constant: bool,
}

impl Column {
    /// An empty column.
    pub fn new(physical: Physical, scale: u8, capacity: usize) -> Self {
        let data = ColumnData::new(physical, scale, capacity);
        Self { data, validity: None, len: 0, constant: false }
    }

    /// A column with the given values; `validity` as in [`Column::validity`].
    pub fn from_data(data: ColumnData, validity: Option<Bitmap>) -> Self {
        debug_assert!(validity.as_ref().is_none_or(|v| v.len() == data.len()));
        let len = data.len();
        Self { data, validity, len, constant: false }
    }

    /// `value`, repeated `len` times. `physical` and `scale` are the kind of a NULL.
    pub fn constant(value: &Value, physical: Physical, scale: u8, len: usize) -> Self {
        let mut column = Self::new(physical, scale, 1);
        column.push(value);
        column.len = len;
        column.constant = true;
        column
    }

    /// A column of `len` nulls.
    pub fn nulls(physical: Physical, scale: u8, len: usize) -> Self {
        Self::constant(&Value::Null, physical, scale, len)
    }

    /// Repeats the one row of this column `len` times.
    ///
    /// # Panics
    /// If there is not exactly one physical row.
    pub fn repeat(self, len: usize) -> Self {
        assert_eq!(self.data.len(), 1, "only a single row is repeated");
        Self { len, constant: true, ..self }
    }

    /// Number of logical rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether one physical row stands for all rows.
    pub fn is_constant(&self) -> bool {
        self.constant
    }

    /// The values; a single physical row if [`Column::is_constant`].
    pub fn data(&self) -> &ColumnData {
        &self.data
    }

    /// The values, for direct appending. The caller must then call [`Column::set_filled`].
    pub fn data_mut(&mut self) -> &mut ColumnData {
        debug_assert!(!self.constant);
        &mut self.data
    }

    /// The validity of the physical rows; `None` if none is null.
    pub fn validity(&self) -> Option<&Bitmap> {
        self.validity.as_ref()
    }

    /// Adopts rows that were appended through [`Column::data_mut`]; `validity` covers all rows.
    pub fn set_filled(&mut self, validity: Option<Bitmap>) {
        debug_assert!(validity.as_ref().is_none_or(|v| v.len() == self.data.len()));
        self.len = self.data.len();
        self.validity = validity;
    }

    /// The physical kind.
    pub fn physical(&self) -> Physical {
        self.data.physical()
    }

    /// The scale of a decimal column; 0 for other kinds.
    pub fn scale(&self) -> u8 {
        match &self.data {
            ColumnData::Decimal(v) => v.scale(),
            _ => 0,
        }
    }

    /// The physical row that holds logical row `row`.
    #[inline]
    pub fn physical_row(&self, row: usize) -> usize {
        if self.constant { 0 } else { row }
    }

    /// Whether `row` is NULL.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        match &self.validity {
            None => false,
            Some(v) => !v.get(self.physical_row(row)),
        }
    }

    /// Whether any row is NULL.
    pub fn has_nulls(&self) -> bool {
        self.len > 0 && self.validity.as_ref().is_some_and(|v| v.count_ones() < v.len())
    }

    /// The value of `row`.
    pub fn value(&self, row: usize) -> Value {
        if self.is_null(row) { Value::Null } else { self.data.get(self.physical_row(row)) }
    }

    /// The byte string at `row`; empty if it is NULL.
    ///
    /// # Panics
    /// If the column holds another physical kind.
    #[inline]
    pub fn bytes(&self, row: usize) -> &[u8] {
        match &self.data {
            ColumnData::Bytes(v) => v.get(self.physical_row(row)),
            other => panic!("bytes of a {:?} column", other.physical()),
        }
    }

    /// Appends `value`, which must be NULL or of this column's kind.
    pub fn push(&mut self, value: &Value) {
        debug_assert!(!self.constant);
        if value.is_null() {
            return self.push_null();
        }
        self.data.push(value);
        if let Some(v) = &mut self.validity {
            v.push(true);
        }
        self.len += 1;
    }

    /// Appends a byte string.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        match &mut self.data {
            ColumnData::Bytes(v) => v.push(bytes),
            other => panic!("bytes pushed to a {:?} column", other.physical()),
        }
        if let Some(v) = &mut self.validity {
            v.push(true);
        }
        self.len += 1;
    }

    /// Appends a NULL.
    pub fn push_null(&mut self) {
        let rows = self.data.len();
        self.data.push_default();
        self.validity.get_or_insert_with(|| Bitmap::ones(rows)).push(false);
        self.len += 1;
    }

    /// Removes all rows and keeps the buffers.
    pub fn clear(&mut self) {
        for_each_kind!(&mut self.data, v => v.clear());
        self.validity = None;
        self.len = 0;
        self.constant = false;
    }

    /// Keeps the first `len` rows.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.len = len;
        if !self.constant {
            for_each_kind!(&mut self.data, v => v.truncate(len));
            if let Some(v) = &mut self.validity {
                v.truncate(len);
            }
        }
    }

    /// Approximate size in memory, in bytes.
    pub fn memory(&self) -> usize {
        let validity = self.validity.as_ref().map_or(0, |v| v.len() / 8);
        validity
            + match &self.data {
                ColumnData::Int(v) => v.capacity() * 8,
                ColumnData::UInt(v) => v.capacity() * 8,
                ColumnData::Double(v) => v.capacity() * 8,
                ColumnData::Decimal(v) => v.memory(),
                ColumnData::Date(v) => v.capacity() * 4,
                ColumnData::Time(v) => v.capacity() * size_of::<Time>(),
                ColumnData::DateTime(v) => v.capacity() * size_of::<DateTime>(),
                ColumnData::Bytes(v) => v.memory(),
            }
    }
}
