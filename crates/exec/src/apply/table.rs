//! A table as a TABLE_MAP event describes it, kept for the rows events behind it.
//!
//! Must not look at the table here that the rows go to.

use selkie_replication::DecodeResult;
use selkie_replication::codec::{TableMap, field};
use selkie_replication::images::{Column, ColumnKind, columns};

/// A table of the running statement.
pub(super) struct MappedTable {
    /// Number of the table in rows events.
    pub(super) id: u64,
    /// Schema and name of the table here; `None` if rows are passed over.
    pub(super) target: Option<(Box<str>, Box<str>)>,
    pub(super) columns: Vec<Column>,
    /// Whether each column is a number without sign, if the event tells.
    pub(super) unsigned: Option<Vec<bool>>,
    /// Bytes of the event about the columns.
    pub(super) described: Box<[u8]>,
}

impl MappedTable {
    pub(super) fn new(map: &TableMap<'_>, target: Option<(&str, &str)>) -> DecodeResult<Self> {
        let columns = columns(map)?;
        let unsigned = unsigned(map, &columns)?;
        let parts = [map.types, map.metadata, map.nullable, map.optional.0];
        let target = target.map(|(schema, name)| (schema.into(), name.into()));
        Ok(Self { id: map.table_id, target, columns, unsigned, described: parts.concat().into() })
    }
}

/// Whether the metadata says of a column of this type if it has a sign.
fn has_sign(kind: ColumnKind) -> bool {
    use ColumnKind::{Big, Decimal, Double, Float, Int, Medium, Small, Tiny, Year};
    matches!(kind, Tiny | Small | Medium | Int | Big | Year | Float | Double | Decimal(..))
}

fn unsigned(map: &TableMap<'_>, columns: &[Column]) -> DecodeResult<Option<Vec<bool>>> {
    let Some(found) = map.optional.find(field::SIGNEDNESS)? else { return Ok(None) };
    let count = columns.iter().filter(|column| has_sign(column.kind)).count();
    let mut bits = found.bits(count);
    let of = |column: &Column| has_sign(column.kind) && bits.next().unwrap_or_default();
    Ok(Some(columns.iter().map(of).collect()))
}
