//! Sort keys as bytes whose order is the order of the rows. The bytes of a key compare as the rows
//! do: descending parts are inverted, strings are replaced by their collation weights. Keys live in
//! memory only; their format may change.

use std::sync::Arc;

use selkie_meter::{ask, interruptible, spend, tick};
use selkie_plan::physical::SortKey;
use selkie_types::{
    Batch, ByteRows, Column, ColumnData, DecimalValues, SqlResult, SqlType, Value, key,
};

use crate::run::Env;
use crate::state::columns::column_of;

/// Most digits of a decimal that is sorted as a 64-bit integer.
const NARROW_DIGITS: u32 = 18;

/// Appends the sort key of every row of `batch` to `out`. Only the first `max_sort_length` bytes of
/// a string count.
pub(super) fn put_keys(
    env: Env<'_>,
    keys: &[SortKey],
    batch: &Batch,
    out: &mut ByteRows,
) -> SqlResult<()> {
    let columns: SqlResult<Vec<_>> = keys.iter().map(|k| k.expr.eval(env.eval, batch)).collect();
    let columns = columns?;
    ask(memory_of(&columns))?;
    put_columns(env, keys, columns, batch.rows(), out)
}

/// Memory of columns; their keys take about as much.
pub(super) fn memory_of(columns: &[Arc<Column>]) -> usize {
    columns.iter().map(|c| c.memory()).sum()
}

/// As [`put_keys`], for key values that are computed already.
pub(super) fn put_columns(
    env: Env<'_>,
    keys: &[SortKey],
    columns: Vec<Arc<Column>>,
    rows: usize,
    out: &mut ByteRows,
) -> SqlResult<()> {
    let most = env.rt.session.frame.settings.queries.max_sort_length;
    let columns = columns.into_iter().zip(keys);
    let columns: Vec<_> = columns.map(|(c, k)| shortened(c, &k.expr.ty, most)).collect();
    for row in 0..rows {
        let buffer = out.buffer();
        let before = buffer.len();
        for (key, column) in keys.iter().zip(&columns) {
            put_key(&key.expr.ty, key.descending, column, row, buffer);
        }
        spend(2 * (buffer.len() - before))?;
        out.end_row();
        if row == 0 {
            out.expect(rows - 1);
        }
    }
    Ok(())
}

/// The column with strings cut to `most` bytes of their collation's weights.
fn shortened(column: Arc<Column>, ty: &SqlType, most: usize) -> Arc<Column> {
    if ty.is_binary_string() {
        return shortened_bytes(column, ty, most);
    }
    let ColumnData::Bytes(values) = column.data() else { return column };
    let charset = ty.collation.charset();
    // Compat: the weight of a character takes as many bytes as the charset's longest character, two
    // at most.
    let characters = most / charset.max_len().clamp(1, 2);
    if (0..column.len()).all(|row| values.get(column.physical_row(row)).len() <= characters) {
        return column;
    }
    let mut out = column_of(ty, column.len());
    for row in 0..column.len() {
        match column.value(row) {
            Value::Bytes(bytes) => {
                let end = charset.prefix(&bytes, characters).len();
                out.push(&Value::bytes(&bytes[..end]));
            }
            other => out.push(&other),
        }
    }
    Arc::new(out)
}

/// The same for binary strings. Compat: their length is the last part of the key.
fn shortened_bytes(column: Arc<Column>, ty: &SqlType, most: usize) -> Arc<Column> {
    let ColumnData::Bytes(values) = column.data() else { return column };
    let width = match ty.length {
        0..256 => 1,
        256..65_536 => 2,
        65_536..16_777_216 => 3,
        _ => 4,
    };
    let most = most.saturating_sub(width);
    if (0..column.len()).all(|row| values.get(column.physical_row(row)).len() <= most) {
        return column;
    }
    let mut out = column_of(ty, column.len());
    for row in 0..column.len() {
        match column.value(row) {
            Value::Bytes(bytes) => {
                let mut part = bytes[..bytes.len().min(most)].to_vec();
                part.extend_from_slice(&(bytes.len() as u32).to_be_bytes()[4 - width..]);
                out.push(&Value::bytes(part));
            }
            other => out.push(&other),
        }
    }
    Arc::new(out)
}

/// Appends one part of a key: a byte for NULL, then the value.
pub(crate) fn put_key(
    ty: &SqlType,
    descending: bool,
    column: &Column,
    row: usize,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    if column.is_null(row) {
        out.push(key::NULL);
    } else {
        out.push(key::NOT_NULL);
        put_value(ty, column, row, out);
    }
    if descending {
        key::invert(&mut out[start..]);
    }
}

fn put_value(ty: &SqlType, column: &Column, row: usize, out: &mut Vec<u8>) {
    let at = column.physical_row(row);
    match column.data() {
        ColumnData::Int(v) => key::put_i64(out, v[at]),
        ColumnData::UInt(v) => key::put_u64(out, v[at]),
        ColumnData::Double(v) => key::put_f64(out, v[at]),
        ColumnData::Date(v) => key::put_date(out, v[at]),
        ColumnData::Time(v) => key::put_time(out, v[at]),
        ColumnData::DateTime(v) => key::put_datetime(out, v[at]),
        ColumnData::Bytes(v) => key::put_text(out, ty.collation, v.get(at)),
        ColumnData::Decimal(v) => match v.values() {
            DecimalValues::I64(v) if ty.length <= NARROW_DIGITS => key::put_i64(out, v[at]),
            _ => put_wide(v.unscaled(at), out),
        },
    }
}

fn put_wide(v: ethnum::I256, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&v.to_be_bytes());
    out[start] ^= 0x80;
}

/// Row numbers in the order of their keys; rows with equal keys keep the input order.
pub(crate) fn sorted(keys: &ByteRows) -> SqlResult<Vec<u32>> {
    interruptible(|| order_of(keys))
}

/// Up to this many rows are sorted without checks for a kill, because it takes too short a time.
const SOON: usize = 1 << 18;

fn order_of(keys: &ByteRows) -> Vec<u32> {
    let numbered = keys.iter().enumerate().map(|(row, key)| word(key) | row as u128);
    let mut rows: Vec<u128> = numbered.collect();
    match rows.len() {
        0..=SOON => rows.sort_unstable(),
        _ => rows.sort_unstable_by(|a, b| {
            tick(2);
            a.cmp(b)
        }),
    }
    let mut order: Vec<u32> = rows.iter().map(|row| *row as u32).collect();
    let mut rest = &mut order[..];
    for group in rows.chunk_by(|a, b| a >> u32::BITS == b >> u32::BITS) {
        let (undecided, behind) = rest.split_at_mut(group.len());
        if group.len() > 1 {
            undecided.sort_by(|a, b| {
                tick(16);
                keys.get(*a as usize).cmp(keys.get(*b as usize))
            });
        }
        rest = behind;
    }
    order
}

/// The first bytes of a key as a number, with room for the row number in the low bits: one
/// comparison nearly always decides.
fn word(key: &[u8]) -> u128 {
    let mut first = [0; size_of::<u128>()];
    let len = key.len().min(size_of::<u128>() - size_of::<u32>());
    first[..len].copy_from_slice(&key[..len]);
    u128::from_be_bytes(first)
}

/// Row numbers of a column in the order of its type.
pub(crate) fn sorted_rows(column: &Column, ty: &SqlType) -> SqlResult<Vec<u32>> {
    let mut keys = ByteRows::with_capacity(column.len());
    for row in 0..column.len() {
        spend(32)?;
        put_key(ty, false, column, row, keys.buffer());
        keys.end_row();
    }
    sorted(&keys)
}
