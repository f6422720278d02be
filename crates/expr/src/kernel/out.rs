//! Builders of result columns.
//! The validity bitmap is made at the first NULL; long strings count as work and may end the
//! statement.

use selkie_meter::{demand, tick};
use selkie_types::{Bitmap, BytesColumn, DecimalColumn, SqlType};
use selkie_types::{Column, ColumnData, Decimal};

use super::Native;

/// Validity of the rows; made when the first NULL comes.
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
    /// A builder with room for `rows`.
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

/// A column of single values, each NULL or of the physical kind of `ty`.
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

/// Size in bytes from which a value is long; a batch of shorter values is cheap.
const LONG: usize = 256;

/// Reports work for a long value; may end a statement that was killed, is out of time or uses too
/// much memory.
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
    /// A builder with room for `rows`.
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

    /// Appends the row that `write` adds to the buffer; NULL if `write` returns false.
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
    /// A builder with room for `rows` at a scale.
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

/// The scale of a column of this type.
pub(crate) trait ColumnScale {
    fn decimals_of_column(&self) -> u8;
}

impl ColumnScale for SqlType {
    fn decimals_of_column(&self) -> u8 {
        if self.physical() == selkie_types::Physical::Decimal { self.decimals } else { 0 }
    }
}
