//! Lookups across one foreign key: from new children to parents, from parents to children.
//!
//! Must lock the rows it relies on until the transaction ends.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_engine::{Bound, IndexCodec, LockMode, RowSet, Scan};
use selkie_plan::physical::{ForeignLink, ForeignParent};
use selkie_types::{ByteRows, Column, Physical, SqlResult, Value};

use super::ForeignKeys;
use crate::run::OpenTable;
use crate::run::history::is_current;
use crate::state::error::from_engine;

/// Search keys of rows, equal ones once.
struct Keys {
    keys: ByteRows,
    /// For each row the number of its key; `None` for a row that refers to nothing.
    of_row: Vec<Option<u32>>,
}

/// Appends the key that finds the values of `columns` in `row`; false if one is NULL or fits no
/// row over there.
fn put_key(
    codec: &IndexCodec,
    columns: &[Arc<Column>],
    positions: &[usize],
    row: usize,
    out: &mut Vec<u8>,
) -> bool {
    for (at, position) in positions.iter().enumerate() {
        let column = &columns[*position];
        if column.is_null(row) {
            return false;
        }
        let part = codec.part(at);
        let mut value = column.value(row);
        if let (Value::Decimal(v), Physical::Decimal) = (&value, part.ty.physical()) {
            let places = i32::from(part.ty.decimals);
            let rounded = v.truncate(places);
            if rounded != *v {
                return false;
            }
            value = Value::Decimal(rounded);
        }
        part.encode(&value, out);
    }
    true
}

/// The search keys of `rows`, in the order of the index.
fn keys(
    codec: &IndexCodec,
    columns: &[Arc<Column>],
    positions: &[usize],
    rows: std::ops::Range<usize>,
) -> Keys {
    let mut all = ByteRows::with_capacity(rows.len());
    let mut found = Vec::with_capacity(rows.len());
    let mut scratch = Vec::new();
    for row in rows {
        scratch.clear();
        let is_key = put_key(codec, columns, positions, row, &mut scratch);
        found.push(is_key);
        all.push(if is_key { &scratch } else { &[] });
    }
    let mut order: Vec<u32> = (0..found.len() as u32).filter(|r| found[*r as usize]).collect();
    order.sort_unstable_by(|a, b| all.get(*a as usize).cmp(all.get(*b as usize)));
    let mut out = Keys { keys: ByteRows::default(), of_row: vec![None; found.len()] };
    for row in order {
        let key = all.get(row as usize);
        let count = out.keys.len();
        if count == 0 || out.keys.get(count - 1) != key {
            out.keys.push(key);
        }
        out.of_row[row as usize] = Some(out.keys.len() as u32 - 1);
    }
    out
}

impl<'r> ForeignKeys<'r> {
    fn parent_table(&self, parent: &ForeignParent) -> SqlResult<&'r OpenTable<'r>> {
        self.env.rt.table(&parent.table)
    }

    /// The rows whose key has no parent row.
    pub(super) fn without_parent(
        &self,
        link: &ForeignLink,
        columns: &[Arc<Column>],
        rows: std::ops::Range<usize>,
    ) -> SqlResult<Vec<usize>> {
        let Some(parent) = &link.parent else {
            let refers =
                |row: &usize| link.child_columns.iter().all(|at| !columns[*at].is_null(*row));
            return Ok(rows.filter(refers).collect());
        };
        let open = self.parent_table(parent)?;
        let codec = &open.handle.codecs[parent.index];
        let wanted = keys(codec, columns, &link.child_columns, rows.clone());
        let mut found = vec![false; wanted.keys.len()];
        if !wanted.keys.is_empty() {
            // Rows of history are no parents; whether a row is one, only the row tells.
            let versioned = parent.table.system_time().is_some();
            let scan = Scan {
                index: Some(parent.index),
                covering: !versioned,
                lock: LockMode::Shared,
                ..Scan::default()
            };
            let mut set = RowSet::default();
            let table = &open.handle.table;
            table
                .lookup(open.trx, self.env.rt.control, &scan, &wanted.keys, &mut set)
                .map_err(|e| from_engine(e, table.def()))?;
            for (at, key) in set.found_by.iter().enumerate() {
                found[*key as usize] |= !versioned || is_current(&parent.table, set.rows.get(at))?;
            }
        }
        let refers = |row: &usize| link.child_columns.iter().all(|at| !columns[*at].is_null(*row));
        let missing = |row: &usize| match wanted.of_row[*row - rows.start] {
            Some(key) => !found[key as usize],
            None => refers(row),
        };
        Ok(rows.clone().filter(missing).collect())
    }

    /// Takes from `missing` the rows whose parent is among the new rows up to them.
    pub(super) fn drop_own_parents(
        &self,
        link: &ForeignLink,
        columns: &[Arc<Column>],
        rows: &std::ops::Range<usize>,
        missing: &mut Vec<usize>,
    ) {
        let Some(parent) = &link.parent else { return };
        let codec = &self.open.handle.codecs[parent.index];
        let mut first: HashMap<Vec<u8>, usize> = HashMap::new();
        for row in rows.clone() {
            let mut key = Vec::new();
            if put_key(codec, columns, &parent.columns, row, &mut key) {
                first.entry(key).or_insert(row);
            }
        }
        let mut key = Vec::new();
        missing.retain(|row| {
            key.clear();
            put_key(codec, columns, &link.child_columns, *row, &mut key);
            first.get(&key).is_none_or(|parent| parent > row)
        });
    }

    /// A scan of the children of parent row `row`; `None` if it has none by its values.
    pub(super) fn children_scan(
        &self,
        link: &ForeignLink,
        columns: &[Arc<Column>],
        row: usize,
        lock: LockMode,
    ) -> SqlResult<Option<Scan>> {
        let (Some(parent), Some(index)) = (&link.parent, link.child_index) else {
            return Ok(None);
        };
        let child = self.env.rt.table(&link.child)?;
        let mut key = Vec::new();
        if !put_key(&child.handle.codecs[index], columns, &parent.columns, row, &mut key) {
            return Ok(None);
        }
        let end = Bound::Included(key.into());
        let scan =
            Scan { index: Some(index), lower: end.clone(), upper: end, lock, ..Scan::default() };
        Ok(Some(scan))
    }

    /// Whether parent row `row` has a child.
    pub(super) fn has_child(
        &self,
        link: &ForeignLink,
        columns: &[Arc<Column>],
        row: usize,
    ) -> SqlResult<bool> {
        let Some(scan) = self.children_scan(link, columns, row, LockMode::Shared)? else {
            return Ok(false);
        };
        let versioned = link.child.system_time().is_some();
        let scan = Scan { covering: !versioned, ..scan };
        let child = self.env.rt.table(&link.child)?;
        let table = &child.handle.table;
        let error = |e| from_engine(e, table.def());
        let mut set = RowSet::default();
        let mut cursor = table.scan(child.trx, self.env.rt.control, &scan).map_err(error)?;
        while cursor.next_batch(&mut set, 1).map_err(error)? {
            if !versioned || is_current(&link.child, set.rows.get(0))? {
                return Ok(true);
            }
            set.clear();
        }
        Ok(false)
    }
}
