//! Storing into INET4, INET6 and UUID columns, and their values into other columns.
//! Numbers and dates never mix with these types: that is error 4078.

use std::sync::Arc;

use selkie_types::error::catalogue::ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION;
use selkie_types::{
    CollationId, Column, Condition, FixedBinary, Level, SqlError, SqlResult, SqlType, TypeKind,
    Value,
};

use super::{Given, Source, StoreMode, StoreTarget};
use crate::context::EvalContext;
use crate::kernel::BytesOut;

/// Error 4078 for a number or date stored in such a column, or such a value stored in a column of
/// numbers or dates; a warning if the mode is not strict.
///
/// Compat: only the first row is checked by its type, the others by their text.
pub(super) fn refuse(
    from: &SqlType,
    target: &StoreTarget<'_>,
    mode: StoreMode,
    first_row: u64,
    ctx: &EvalContext<'_>,
) -> SqlResult<()> {
    // The copy of a table checks its columns before it reads a row.
    if first_row > 1 || target.given == Given::Before {
        return Ok(());
    }
    let Err(error) = refuse_assignment(from, target) else { return Ok(()) };
    if mode != StoreMode::Lenient {
        return Err(error);
    }
    ctx.push(Condition::from_error(Level::Warning, &error));
    Ok(())
}

/// Error 4078 if values of type `from` cannot be assigned to the column, whatever they are.
pub fn refuse_assignment(from: &SqlType, target: &StoreTarget<'_>) -> SqlResult<()> {
    let is_text = |ty: &SqlType| ty.is_string() && ty.geometry.is_none() || ty.members.is_some();
    let spatial = (from.geometry.is_some(), target.ty.geometry.is_some());
    let fits = match (from.fixed_binary(), target.ty.fixed_binary()) {
        _ if from.kind == TypeKind::Null || spatial == (true, true) => true,
        _ if spatial.0 => is_text(target.ty),
        _ if spatial.1 => is_text(from),
        (None, None) => true,
        (Some(from), Some(to)) => from == to,
        (Some(_), None) => is_text(target.ty),
        (None, Some(_)) => is_text(from),
    };
    if fits { Ok(()) } else { Err(cannot_cast(from, target)) }
}

#[cold]
fn cannot_cast(from: &SqlType, target: &StoreTarget<'_>) -> SqlError {
    let StoreTarget { ty, schema, table, column, .. } = target;
    let (from, to) = (from.name(), ty.name());
    let place = match table.is_empty() {
        true => format!("`{column}`"),
        false => format!("`{schema}`.`{table}`.`{column}`"),
    };
    let def = &ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION;
    let message = format!("Cannot cast '{from}' as '{to}' in assignment of {place}");
    SqlError::raw(def.code, def.sqlstate, message)
}

/// Such values in the form that `to` stores, bytes or text, with their type.
pub(super) fn written(column: &Column, kind: FixedBinary, to: &SqlType) -> (Arc<Column>, SqlType) {
    let as_bytes = to.is_binary_string();
    let mut out = BytesOut::new(column.len());
    for row in 0..column.len() {
        out.write(|buffer| match column.value(row) {
            Value::Bytes(value) => {
                match as_bytes {
                    true => kind.write_bytes(&value, buffer),
                    false => kind.write_text(&value, buffer),
                }
                true
            }
            _ => false,
        });
    }
    let ty = match as_bytes {
        true => SqlType::varchar(kind.width() as u32, CollationId::BINARY),
        false => SqlType::varchar(kind.text_length(), CollationId::LATIN1_SWEDISH_CI),
    };
    (Arc::new(out.finish()), ty)
}

/// The values of texts and bytes; error 1292 or NULL for text that is no value.
///
/// Compat: a number or date that is no value becomes zero, unless a column changes its type.
pub(super) fn convert(source: &Source<'_>, kind: FixedBinary) -> SqlResult<Arc<Column>> {
    let is_text = source.from.is_string();
    let is_binary = source.from.is_binary_string();
    let zero = vec![0; kind.width()];
    let mut out = BytesOut::new(source.rows());
    for row in 0..source.rows() {
        if source.column.is_null(row) {
            out.push(None);
            continue;
        }
        let value = match (is_binary, is_text) {
            (true, _) => kind.of_bytes(source.column.bytes(row)),
            (_, true) => kind.of_text(&source.ascii(row)),
            _ => kind.of_text(&source.text(row)),
        };
        if value.is_none() {
            source.report.incorrect_fixed_binary(row, kind.name(), &source.shown(row))?;
        }
        let is_value = !is_text && source.from.members.is_none() && !source.report.was_copied;
        let instead = is_value.then_some(&zero[..]);
        out.push(value.as_deref().or(instead));
    }
    Ok(Arc::new(out.finish()))
}
