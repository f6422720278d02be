//! Lookup of a session's table names: its temporary tables first, then the catalog. Names are
//! compared exactly: the caller folds their case if `lower_case_table_names` says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Schema, Snapshot, TableInfo};

/// The temporary tables of one session by schema and name.
#[derive(Clone, Debug, Default)]
pub struct TemporaryTables {
    tables: BTreeMap<(Box<str>, Box<str>), Arc<TableInfo>>,
    /// Grows with every change, so that plans over temporary tables are remade.
    pub version: u64,
}

impl TemporaryTables {
    /// The temporary table `schema`.`name`.
    pub fn get(&self, schema: &str, name: &str) -> Option<&Arc<TableInfo>> {
        if self.tables.is_empty() {
            return None;
        }
        self.tables.get(&(schema.into(), name.into()))
    }

    /// Adds or replaces a table.
    pub fn put(&mut self, table: Arc<TableInfo>) {
        let name: Box<str> = table.name().into();
        self.put_as(&name, table);
    }

    /// Adds or replaces a table under `name`, by which statements find it.
    pub fn put_as(&mut self, name: &str, table: Arc<TableInfo>) {
        self.version += 1;
        self.tables.insert((table.schema().into(), name.into()), table);
    }

    /// Removes and returns a table.
    pub fn remove(&mut self, schema: &str, name: &str) -> Option<Arc<TableInfo>> {
        self.version += 1;
        self.tables.remove(&(schema.into(), name.into()))
    }

    /// All temporary tables.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<TableInfo>> {
        self.tables.values()
    }
}

/// The definitions in which a statement's names are looked up.
#[derive(Clone, Copy, Debug)]
pub struct Namespace<'a> {
    /// The definitions shared by all sessions.
    pub snapshot: &'a Snapshot,
    /// The session's own tables.
    pub temporary: &'a TemporaryTables,
}

static NO_TABLES: TemporaryTables = TemporaryTables { tables: BTreeMap::new(), version: 0 };

impl<'a> Namespace<'a> {
    /// The namespace without the session's own tables: names in a view are looked up there.
    pub fn shared(self) -> Self {
        Self { temporary: &NO_TABLES, ..self }
    }

    /// The table or view `schema`.`name`.
    pub fn table(&self, schema: &str, name: &str) -> Option<&'a Arc<TableInfo>> {
        self.temporary.get(schema, name).or_else(|| self.snapshot.table(schema, name))
    }

    /// The schema called `name`.
    pub fn schema(&self, name: &str) -> Option<&'a Arc<Schema>> {
        self.snapshot.schema(name)
    }
}
