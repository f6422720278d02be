//! Typed views of columns, constant columns included.
//! A constant column is read through a mask, so the loops of kernels need no branch for it.

use selkie_types::{Bitmap, BytesColumn, DecimalColumn};
use selkie_types::{Column, ColumnData, Date, DateTime, Decimal, Time};

/// Kinds that a column holds as plain vectors.
pub(crate) trait Native: Copy + Default + 'static {
    /// The vector of a column of this kind; `None` for other kinds.
    fn slice(data: &ColumnData) -> Option<&[Self]>;
    /// A column of this kind.
    fn data(values: Vec<Self>) -> ColumnData;
}

macro_rules! native {
    ($($ty:ty = $variant:ident),*) => {$(
        impl Native for $ty {
            fn slice(data: &ColumnData) -> Option<&[Self]> {
                match data {
                    ColumnData::$variant(v) => Some(v),
                    _ => None,
                }
            }
            fn data(values: Vec<Self>) -> ColumnData {
                ColumnData::$variant(values)
            }
        }
    )*};
}

native!(i64 = Int, u64 = UInt, f64 = Double, Date = Date, Time = Time, DateTime = DateTime);

/// Panics for a kernel that was bound to the wrong kind, which is a bug in a binding.
#[cold]
fn wrong_kind(column: &Column) -> ! {
    panic!("a kernel was given a {:?} column", column.physical())
}

/// A column of a native kind.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, T> {
    values: &'a [T],
    /// Mask of row numbers: all ones, or zero for a constant column.
    mask: usize,
    validity: Option<&'a Bitmap>,
}

impl<'a, T: Native> View<'a, T> {
    /// The view of a column of this kind.
    pub(crate) fn of(column: &'a Column) -> Self {
        let values = T::slice(column.data()).unwrap_or_else(|| wrong_kind(column));
        let mask = if column.is_constant() { 0 } else { usize::MAX };
        Self { values, mask, validity: column.validity() }
    }

    /// The value of a row; meaningless if the row is NULL.
    #[inline]
    pub(crate) fn value(&self, row: usize) -> T {
        self.values[row & self.mask]
    }

    /// Whether a row is NULL.
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.validity.is_some_and(|v| !v.get(row & self.mask))
    }

    /// The value of a row; `None` if it is NULL.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<T> {
        if self.is_null(row) { None } else { Some(self.value(row)) }
    }

    /// The physical values.
    pub(crate) fn values(&self) -> &'a [T] {
        self.values
    }

    /// Whether all rows have one value.
    pub(crate) fn is_constant(&self) -> bool {
        self.mask == 0
    }
}

/// A column of byte strings.
#[derive(Clone, Copy)]
pub(crate) struct BytesView<'a> {
    values: &'a BytesColumn,
    mask: usize,
    validity: Option<&'a Bitmap>,
}

impl<'a> BytesView<'a> {
    /// The view of a column of byte strings.
    pub(crate) fn of(column: &'a Column) -> Self {
        let ColumnData::Bytes(values) = column.data() else { wrong_kind(column) };
        let mask = if column.is_constant() { 0 } else { usize::MAX };
        Self { values, mask, validity: column.validity() }
    }

    /// The bytes of a row; empty if it is NULL.
    #[inline]
    pub(crate) fn value(&self, row: usize) -> &'a [u8] {
        self.values.get(row & self.mask)
    }

    /// The bytes of a row; `None` if it is NULL.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&'a [u8]> {
        match self.validity {
            Some(v) if !v.get(row & self.mask) => None,
            _ => Some(self.value(row)),
        }
    }

    /// Whether all rows have one value.
    pub(crate) fn is_constant(&self) -> bool {
        self.mask == 0
    }
}

/// A column of decimals.
#[derive(Clone, Copy)]
pub(crate) struct DecimalView<'a> {
    values: &'a DecimalColumn,
    mask: usize,
    validity: Option<&'a Bitmap>,
}

impl<'a> DecimalView<'a> {
    /// The view of a column of decimals.
    pub(crate) fn of(column: &'a Column) -> Self {
        let ColumnData::Decimal(values) = column.data() else { wrong_kind(column) };
        let mask = if column.is_constant() { 0 } else { usize::MAX };
        Self { values, mask, validity: column.validity() }
    }

    /// The value of a row; meaningless if the row is NULL.
    pub(crate) fn value(&self, row: usize) -> Decimal {
        self.values.get(row & self.mask)
    }

    /// The value of a row; `None` if it is NULL.
    pub(crate) fn get(&self, row: usize) -> Option<Decimal> {
        match self.validity {
            Some(v) if !v.get(row & self.mask) => None,
            _ => Some(self.value(row)),
        }
    }

    /// The column.
    pub(crate) fn column(&self) -> &'a DecimalColumn {
        self.values
    }

    /// Mask of row numbers: all ones, or zero for a constant column.
    pub(crate) fn mask(&self) -> usize {
        self.mask
    }
}
