//! Builders of result columns.

use selkie_meter::{demand, tick};
use selkie_types::{Bitmap, BytesColumn, DecimalColumn, SqlType};
use selkie_types::{Column, ColumnData, Decimal};

use super::Native;

/// Validity that exists once a row is NULL.
#[derive(Default)]
struct Nulls(Option<Bitmap>);

impl Nulls {
    fn push(&mut self, rows_before: usize, valid: bool) {
        match &mut self.0 {
            Some(v) => v.push(valid),
            None if valid => {}
            None => {
                let mut v = Bitmap::ones(rows_before);
                v.push(false);
                self.0 = Some(v);
            }
        }
    }
}

/// A column of a native kind.
pub(crate) struct NativeOut<T> {
    values: Vec<T>,
    nulls: Nulls,
}

impl<T: Native> NativeOut<T> {
    /// Room for `rows`.
    pub(crate) fn new(rows: usize) -> Self {
        Self { values: Vec::with_capacity(rows), nulls: Nulls::default() }
    }

    /// Appends a row.
    #[inline]
    pub(crate) fn push(&mut self, value: Option<T>) {
        self.nulls.push(self.values.len(), value.is_some());
        self.values.push(value.unwrap_or_default());
    }

    /// The column.
    pub(crate) fn finish(self) -> Column {
        Column::from_data(T::data(self.values), self.nulls.0)
    }
}

/// A column of single values, each of the physical kind of `ty` or NULL.
pub(crate) fn column_of(ty: &selkie_types::SqlType, values: Vec<selkie_types::Value>) -> Column {
    use selkie_types::{Physical, Value};
    macro_rules! native {
        ($kind:ident) => {{
            let mut out = NativeOut::new(values.len());
            values.into_iter().for_each(|value| {
                out.push(if let Value::$kind(v) = value { Some(v) } else { None });
            });
            out.finish()
        }};
    }
    match ty.physical() {
        Physical::Int => native!(Int),
        Physical::UInt => native!(UInt),
        Physical::Double => native!(Double),
        Physical::Date => native!(Date),
        Physical::Time => native!(Time),
        Physical::DateTime => native!(DateTime),
        Physical::Decimal => {
            let mut out = DecimalOut::new(ty.decimals, values.len());
            values.into_iter().for_each(|value| {
                out.push(if let Value::Decimal(v) = value { Some(v) } else { None });
            });
            out.finish()
        }
        Physical::Bytes => {
            let mut out = BytesOut::new(values.len());
            values.iter().for_each(|value| {
                out.push(if let Value::Bytes(v) = value { Some(v) } else { None });
            });
            out.finish()
        }
    }
}

/// Bytes of a value that is long: that many times a batch is next to nothing.
const LONG: usize = 256;

/// Values that are long may end the statement, which is killed, out of time or holds too much.
#[inline]
fn pay(bytes: usize) {
    if bytes >= LONG {
        tick(bytes);
    }
}

/// A column of byte strings.
pub(crate) struct BytesOut {
    values: BytesColumn,
    nulls: Nulls,
}

impl BytesOut {
    /// Room for `rows`.
    pub(crate) fn new(rows: usize) -> Self {
        Self { values: BytesColumn::with_capacity(rows), nulls: Nulls::default() }
    }

    /// Appends a row.
    #[inline]
    pub(crate) fn push(&mut self, value: Option<&[u8]>) {
        let bytes = value.unwrap_or_default();
        demand(bytes.len());
        pay(bytes.len());
        self.nulls.push(self.values.len(), value.is_some());
        self.values.push(bytes);
    }

    /// Appends the row that `write` appends to the buffer; NULL if it returns false.
    #[inline]
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let start = self.values.buffer().len();
        let valid = write(self.values.buffer());
        pay(self.values.buffer().len() - start);
        if !valid {
            self.values.buffer().truncate(start);
        }
        self.nulls.push(self.values.len(), valid);
        self.values.end_row();
    }

    /// The column.
    pub(crate) fn finish(self) -> Column {
        Column::from_data(ColumnData::Bytes(self.values), self.nulls.0)
    }
}

/// A column of decimals.
pub(crate) struct DecimalOut {
    values: DecimalColumn,
    nulls: Nulls,
}

impl DecimalOut {
    /// Room for `rows` at a scale.
    pub(crate) fn new(scale: u8, rows: usize) -> Self {
        Self { values: DecimalColumn::new(scale, rows), nulls: Nulls::default() }
    }

    /// Appends an unscaled value.
    #[inline]
    pub(crate) fn push_i128(&mut self, unscaled: i128) {
        self.nulls.push(self.values.len(), true);
        self.values.push_i128(unscaled);
    }

    /// Appends a row, rounded to the scale.
    #[inline]
    pub(crate) fn push(&mut self, value: Option<Decimal>) {
        self.nulls.push(self.values.len(), value.is_some());
        match value {
            Some(v) => self.values.push(v),
            None => self.values.push_zero(),
        }
    }

    /// The column.
    pub(crate) fn finish(self) -> Column {
        Column::from_data(ColumnData::Decimal(self.values), self.nulls.0)
    }
}

/// The scale a column of this type has.
pub(crate) trait ColumnScale {
    fn decimals_of_column(&self) -> u8;
}

impl ColumnScale for SqlType {
    fn decimals_of_column(&self) -> u8 {
        if self.physical() == selkie_types::Physical::Decimal { self.decimals } else { 0 }
    }
}
