//! Tables of the schema `mysql` that the server reads and changes itself, by primary key, in
//! transactions of its own.
//!
//! Must not interpret the rows. The table is an ordinary one that anybody may have changed: it is
//! used only if it has the columns it is to have.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{Bound, EngineTrx, IndexCodec, LockMode as RowLock, RowSet, Scan, TableDef};
use selkie_types::error::catalogue::{ER_CANNOT_LOAD_FROM_TABLE_V2, ER_NO_SUCH_TABLE};
use selkie_types::{BATCH_ROWS, ByteRows, SqlError, SqlResult, TypeKind, Value};

use super::control::Control;
use super::error::{corrupt, from_engine};
use crate::{Instance, TableHandle};

/// Name, columns and key that a table is to have.
pub(crate) struct OwnShape {
    /// Name of the table in `mysql`.
    pub name: &'static str,
    /// Names of the columns.
    pub columns: &'static [&'static str],
    /// Their types.
    pub kinds: &'static [TypeKind],
    /// Positions of the columns of the primary key.
    pub key: &'static [usize],
}

/// An open table.
pub(crate) struct OwnTable<'a> {
    control: &'a Control,
    /// Its definition.
    pub info: Arc<TableInfo>,
    handle: Arc<TableHandle>,
}

impl<'a> OwnTable<'a> {
    /// Opens a table; nothing without it, or if it is another than it is to be.
    pub(crate) fn open(
        instance: &Instance,
        control: &'a Control,
        shape: &OwnShape,
    ) -> SqlResult<Option<Self>> {
        Self::open_if(instance, control, shape.name, |info| shape.is_of(info))
    }

    /// Opens a table that begins like a shape; further columns are NULL in rows that are stored.
    pub(crate) fn open_begun(
        instance: &Instance,
        control: &'a Control,
        shape: &OwnShape,
    ) -> SqlResult<Option<Self>> {
        Self::open_if(instance, control, shape.name, |info| shape.begins(info))
    }

    fn open_if(
        instance: &Instance,
        control: &'a Control,
        name: &str,
        is_fit: impl FnOnce(&TableInfo) -> bool,
    ) -> SqlResult<Option<Self>> {
        let snapshot = instance.catalog.snapshot();
        let Some(info) = snapshot.table("mysql", name) else { return Ok(None) };
        if !is_fit(info) || !is_in_dictionary_engine(instance, info)? {
            return Ok(None);
        }
        let handle = instance.open_table(info)?;
        Ok(Some(Self { control, info: Arc::clone(info), handle }))
    }

    /// A table that was opened before.
    pub(crate) fn of(control: &'a Control, info: Arc<TableInfo>, handle: Arc<TableHandle>) -> Self {
        Self { control, info, handle }
    }

    /// The definition and the storage, to go on with under the limits of another statement.
    pub(crate) fn into_parts(self) -> (Arc<TableInfo>, Arc<TableHandle>) {
        (self.info, self.handle)
    }

    fn def(&self) -> &TableDef {
        &self.info.def
    }

    /// Shows each row in the order of the primary key.
    pub(crate) fn each(
        &self,
        trx: &dyn EngineTrx,
        mut show: impl FnMut(&[u8]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let error = |e| from_engine(e, self.def());
        let scan = Scan { index: Some(0), ..Scan::default() };
        let mut cursor = self.handle.table.scan(trx, self.control, &scan).map_err(error)?;
        let mut set = RowSet::default();
        loop {
            set.clear();
            let more = cursor.next_batch(&mut set, BATCH_ROWS).map_err(error)?;
            set.rows.iter().try_for_each(&mut show)?;
            if !more {
                return Ok(());
            }
        }
    }

    /// The last row in the order of an index, of those whose entries begin with `upto` or come
    /// before it.
    pub(crate) fn last(
        &self,
        trx: &dyn EngineTrx,
        index: usize,
        upto: &[Value],
    ) -> SqlResult<Option<Vec<u8>>> {
        let error = |e| from_engine(e, self.def());
        let mut key = Vec::new();
        IndexCodec::new(self.def(), &self.def().indexes[index]).key_of_values(upto, &mut key);
        let upper = if upto.is_empty() { Bound::Unbounded } else { Bound::Included(key.into()) };
        let scan = Scan { index: Some(index), upper, reverse: true, ..Scan::default() };
        let mut cursor = self.handle.table.scan(trx, self.control, &scan).map_err(error)?;
        let mut set = RowSet::default();
        while cursor.next_batch(&mut set, 1).map_err(error)? && set.rows.is_empty() {}
        Ok(set.rows.iter().next().map(<[u8]>::to_vec))
    }

    /// Rows whose key begins with `key`, with their places in the table.
    pub(crate) fn rows(
        &self,
        trx: &dyn EngineTrx,
        key: &[Value],
        lock: RowLock,
    ) -> SqlResult<RowSet> {
        let mut set = RowSet::default();
        let scan = Scan { index: Some(0), want_keys: true, lock, ..Scan::default() };
        let found = self.handle.table.lookup(trx, self.control, &scan, &self.key(key), &mut set);
        found.map_err(|e| from_engine(e, self.def()))?;
        Ok(set)
    }

    /// Stores a row in place of the one of its key, which is the first `key` values.
    pub(crate) fn put(&self, trx: &dyn EngineTrx, row: &[Value], key: usize) -> SqlResult<()> {
        let error = |e| from_engine(e, self.def());
        let mut bytes = Vec::new();
        self.def().layout.encode_values(row, &mut bytes);
        let mut rows = ByteRows::default();
        rows.push(&bytes);
        let table = &self.handle.table;
        let old = self.rows(trx, &row[..key], RowLock::Exclusive)?.keys;
        if old.is_empty() || table.update(trx, self.control, &old, &rows, None).map_err(error)? == 0
        {
            table.insert(trx, self.control, &rows).map_err(error)?;
        }
        Ok(())
    }

    /// Stores a row whose key there is not yet.
    pub(crate) fn add(&self, trx: &dyn EngineTrx, row: &[Value]) -> SqlResult<()> {
        let mut bytes = Vec::new();
        self.def().layout.encode_values(row, &mut bytes);
        let mut rows = ByteRows::default();
        rows.push(&bytes);
        let added = self.handle.table.insert(trx, self.control, &rows);
        added.map(drop).map_err(|e| from_engine(e, self.def()))
    }

    /// Removes the rows whose key begins with `key`.
    pub(crate) fn remove(&self, trx: &dyn EngineTrx, key: &[Value]) -> SqlResult<()> {
        let old = self.rows(trx, key, RowLock::Exclusive)?.keys;
        if old.is_empty() {
            return Ok(());
        }
        let removed = self.handle.table.delete(trx, self.control, &old, None);
        removed.map(drop).map_err(|e| from_engine(e, self.def()))
    }

    fn key(&self, values: &[Value]) -> ByteRows {
        let mut bytes = Vec::new();
        let codec = IndexCodec::new(self.def(), &self.def().indexes[0]);
        codec.key_of_values(values, &mut bytes);
        let mut keys = ByteRows::default();
        keys.push(&bytes);
        keys
    }

    /// One value of a row.
    pub(crate) fn value(&self, row: &[u8], at: usize) -> SqlResult<Value> {
        self.def().layout.value(row, at).map_err(corrupt)
    }

    /// All values of a row.
    pub(crate) fn values(&self, row: &[u8]) -> SqlResult<Vec<Value>> {
        (0..self.def().columns.len()).map(|at| self.value(row, at)).collect()
    }
}

impl OwnShape {
    fn is_of(&self, info: &TableInfo) -> bool {
        let columns = &info.columns;
        columns.len() == self.columns.len()
            && columns.iter().zip(self.kinds).all(|(column, kind)| column.ty.kind == *kind)
            && self.has_names_and_key(info)
    }

    /// Whether the first columns of a table, and its key, are those of the shape. Texts may have
    /// other types and lengths, as in tables that MySQL or an older MariaDB made.
    fn begins(&self, info: &TableInfo) -> bool {
        let is_text = |kind: TypeKind| matches!(kind, TypeKind::Char | TypeKind::VarChar);
        let fits = |own: TypeKind, kind: TypeKind| own == kind || is_text(own) && is_text(kind);
        let columns = info.columns.iter();
        info.columns.len() >= self.columns.len()
            && columns.clone().zip(self.kinds).all(|(column, kind)| fits(column.ty.kind, *kind))
            && columns.skip(self.columns.len()).all(|column| column.nullable)
            && self.has_names_and_key(info)
    }

    fn has_names_and_key(&self, info: &TableInfo) -> bool {
        let columns = info.columns.iter();
        let key = info.def.indexes.first().filter(|index| index.kind.is_primary());
        columns.zip(self.columns).all(|(column, name)| *column.name == **name)
            && key.is_some_and(|key| {
                key.parts.iter().map(|part| part.column).eq(self.key.iter().copied())
            })
    }
}

/// Fails unless a table of `mysql` could be read at a start: it needs a primary key and as many
/// columns as are read. Compat: MariaDB looks at nothing else.
pub fn check_loadable(instance: &Instance, name: &str, columns: usize) -> SqlResult<()> {
    let snapshot = instance.catalog.snapshot();
    let Some(info) = snapshot.table("mysql", name) else {
        return Err(SqlError::new(&ER_NO_SUCH_TABLE, &[&"mysql", &name]));
    };
    let has_key = info.def.indexes.first().is_some_and(|index| index.kind.is_primary());
    match has_key && info.columns.len() >= columns {
        true => Ok(()),
        false => Err(SqlError::new(&ER_CANNOT_LOAD_FROM_TABLE_V2, &[&"mysql", &name])),
    }
}

/// Whether rows of the table can be changed together with the dictionary.
fn is_in_dictionary_engine(instance: &Instance, info: &TableInfo) -> SqlResult<bool> {
    Ok(instance.engine_of(info)?.storage() == instance.dictionary.engine().name())
}
