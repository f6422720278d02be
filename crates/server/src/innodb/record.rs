//! The text of a locked record: the values of its key.
//!
//! Strings cannot be decoded from a key. So the present row is read, without locks; if it is gone,
//! the bytes of the key are shown.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{EngineResult, Isolation, LockInfo, NoWait, RowSet, Scan};
use selkie_types::{ByteRows, Value, write_value};

use super::look::Look;

/// `lock_data` of INNODB_LOCKS; `None` for table locks.
pub(super) fn record_text(look: &Look<'_>, lock: &LockInfo) -> Option<String> {
    let Some(key) = &lock.key else { return Some("supremum pseudo-record".to_owned()) };
    let Some(table) = look.tables.get(lock.table) else { return Some(hex(key)) };
    if lock.index.is_none() && table.def.primary().is_none() {
        return Some(hex(&key[key.len().saturating_sub(6)..]));
    }
    let values = values_of(look, table, lock, key).ok().flatten();
    Some(values.unwrap_or_else(|| hex(key)))
}

/// Bytes as a hexadecimal number.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |out, byte| out + &format!("{byte:02x}"))
}

fn values_of(
    look: &Look<'_>,
    table: &Arc<TableInfo>,
    lock: &LockInfo,
    key: &[u8],
) -> EngineResult<Option<String>> {
    let def = &table.def;
    let at = lock.index.and_then(|id| def.index_position(id));
    let handle = look.instance.open_table(table);
    let Ok(handle) = handle else { return Ok(None) };
    let trx = handle.engine.begin(Isolation::ReadUncommitted, true)?;
    let mut keys = ByteRows::default();
    keys.push(key);
    let mut out = RowSet::default();
    let scan = Scan { index: at, ..Scan::default() };
    let found = handle.table.lookup(&*trx, &NoWait, &scan, &keys, &mut out);
    trx.rollback()?;
    found?;
    if out.rows.is_empty() {
        return Ok(None);
    }
    let row = out.rows.get(0);
    let mut shown = Vec::new();
    for column in columns_of(table, at) {
        let value = def.layout.value(row, column)?;
        shown.push(value_text(&def.columns[column].ty, &value));
    }
    Ok(Some(shown.join(", ")))
}

/// Columns in the records of an index: its own, then the columns of the primary key it does not
/// have.
fn columns_of(table: &TableInfo, index: Option<usize>) -> Vec<usize> {
    let parts = |index: &selkie_engine::IndexDef| -> Vec<usize> {
        index.parts.iter().map(|part| part.column).collect()
    };
    let mut columns = index.map_or_else(Vec::new, |at| parts(&table.def.indexes[at]));
    for column in table.def.primary().map(parts).unwrap_or_default() {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

fn value_text(ty: &selkie_types::SqlType, value: &Value) -> String {
    let mut bytes = Vec::new();
    write_value(ty, value, &mut bytes);
    let shown = String::from_utf8_lossy(&bytes);
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => shown.into_owned(),
        _ => format!("'{}'", escaped(&shown)),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "''").replace('\0', "\\0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_types::{SqlType, TypeKind};

    #[test]
    fn values_are_shown_as_innodb_does() {
        let ty = SqlType::new(TypeKind::Int, 11, 0);
        assert_eq!(value_text(&ty, &Value::Int(-3)), "-3");
        let ty = SqlType::varchar(10, selkie_types::CollationId::UTF8MB4_GENERAL_CI);
        assert_eq!(value_text(&ty, &Value::bytes("it's")), "'it''s'");
        assert_eq!(value_text(&ty, &Value::bytes("a\\b\0")), "'a\\\\b\\0'");
        assert_eq!(value_text(&ty, &Value::Null), "NULL");
        assert_eq!(hex(&[0, 10, 255]), "0x000aff");
    }
}
