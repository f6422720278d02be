//! Kernels made from functions of one row.
//!
//! Kernels that cannot fail run over plain vectors and ignore NULLs; the others skip rows with a
//! NULL argument.

use selkie_types::{Column, SqlResult};

use super::{BytesOut, Frame, Native, NativeOut, View};

/// Applies `f` to every value, NULL or not; NULL stays NULL.
pub(crate) fn map<A: Native, R: Native>(frame: &Frame<'_>, f: impl Fn(A) -> R) -> Column {
    let column = &frame.args[0];
    let view = View::<A>::of(column);
    let values: Vec<R> =
        view.values()[..view.values().len().min(frame.rows)].iter().map(|&v| f(v)).collect();
    Column::from_data(R::data(values), column.validity().cloned())
}

/// Applies `f` to the values that are not NULL.
pub(crate) fn try_map<A: Native, R: Native>(
    frame: &Frame<'_>,
    mut f: impl FnMut(A) -> SqlResult<Option<R>>,
) -> SqlResult<Column> {
    let view = frame.view::<A>(0);
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(view.get(row).map_or(Ok(None), &mut f)?);
    }
    Ok(out.finish())
}

/// Applies `f` to the pairs in which neither value is NULL.
pub(crate) fn try_map2<A: Native, B: Native, R: Native>(
    frame: &Frame<'_>,
    mut f: impl FnMut(A, B) -> SqlResult<Option<R>>,
) -> SqlResult<Column> {
    let (a, b) = (frame.view::<A>(0), frame.view::<B>(1));
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(match (a.get(row), b.get(row)) {
            (Some(a), Some(b)) => f(a, b)?,
            _ => None,
        });
    }
    Ok(out.finish())
}

/// Applies `f` to the strings that are not NULL.
pub(crate) fn from_bytes<R: Native>(
    frame: &Frame<'_>,
    mut f: impl FnMut(&[u8]) -> SqlResult<Option<R>>,
) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(view.get(row).map_or(Ok(None), &mut f)?);
    }
    Ok(out.finish())
}

/// Applies `f` to the pairs of strings in which neither is NULL.
pub(crate) fn from_bytes2<R: Native>(
    frame: &Frame<'_>,
    mut f: impl FnMut(&[u8], &[u8]) -> SqlResult<Option<R>>,
) -> SqlResult<Column> {
    let (a, b) = (frame.bytes(0), frame.bytes(1));
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(match (a.get(row), b.get(row)) {
            (Some(a), Some(b)) => f(a, b)?,
            _ => None,
        });
    }
    Ok(out.finish())
}

/// Whether `write` appended a string; one that is too long counts as NULL.
#[inline]
pub(crate) fn bounded(
    frame: &Frame<'_>,
    row: usize,
    buffer: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> bool,
) -> bool {
    let start = buffer.len();
    write(buffer) && !frame.has_grown(row, buffer.len() - start)
}

/// For each string that is not NULL, `write` appends the result; false makes it NULL.
pub(crate) fn bytes_to_bytes(
    frame: &Frame<'_>,
    mut write: impl FnMut(&[u8], &mut Vec<u8>) -> bool,
) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        match view.get(row) {
            Some(bytes) => out.write(|buffer| bounded(frame, row, buffer, |b| write(bytes, b))),
            None => out.push(None),
        }
    }
    Ok(out.finish())
}

/// For each value that is not NULL, `write` appends the result; false makes it NULL.
pub(crate) fn to_bytes<A: Native>(
    frame: &Frame<'_>,
    mut write: impl FnMut(A, &mut Vec<u8>) -> bool,
) -> SqlResult<Column> {
    let view = frame.view::<A>(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        match view.get(row) {
            Some(value) => out.write(|buffer| bounded(frame, row, buffer, |b| write(value, b))),
            None => out.push(None),
        }
    }
    Ok(out.finish())
}

/// For each row without a NULL argument, `write` appends the result; false makes it NULL.
pub(crate) fn write_rows(
    frame: &Frame<'_>,
    mut write: impl FnMut(usize, &mut Vec<u8>) -> bool,
) -> SqlResult<Column> {
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        if frame.any_null(row) {
            out.push(None);
        } else {
            out.write(|buffer| bounded(frame, row, buffer, |b| write(row, b)));
        }
    }
    Ok(out.finish())
}

/// Applies `f` to each row without a NULL argument.
pub(crate) fn map_rows<R: Native>(
    frame: &Frame<'_>,
    mut f: impl FnMut(usize) -> SqlResult<Option<R>>,
) -> SqlResult<Column> {
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(if frame.any_null(row) { None } else { f(row)? });
    }
    Ok(out.finish())
}
