//! Lookup of a session's table names: its temporary tables first, then the catalog. Names are
//! compared exactly: the caller folds their case if `lower_case_table_names` says so.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Schema, Snapshot, TableInfo};

/// The temporary tables of one session by schema and name.
///
/// The binary log may have the statements that make a table and its rows; then replicas *follow*
/// it. Once a change of such a table is not logged, they follow none until the last one is gone.
#[derive(Debug, Default)]
pub struct TemporaryTables {
    tables: BTreeMap<(Box<str>, Box<str>), Own>,
    /// Grows with every change, so that plans over temporary tables are remade.
    pub version: u64,
    /// Whether a logged table has been changed otherwise than the log says.
    has_diverged: AtomicBool,
}

/// A temporary table.
#[derive(Clone, Debug)]
struct Own {
    table: Arc<TableInfo>,
    /// Whether its creation is logged, so that its end has to be.
    is_logged: bool,
}

impl Clone for TemporaryTables {
    fn clone(&self) -> Self {
        let has_diverged = AtomicBool::new(self.has_diverged.load(Ordering::Relaxed));
        Self { tables: self.tables.clone(), version: self.version, has_diverged }
    }
}

impl TemporaryTables {
    /// The temporary table `schema`.`name`.
    pub fn get(&self, schema: &str, name: &str) -> Option<&Arc<TableInfo>> {
        if self.tables.is_empty() {
            return None;
        }
        self.own(schema, name).map(|own| &own.table)
    }

    fn own(&self, schema: &str, name: &str) -> Option<&Own> {
        self.tables.get(&(schema.into(), name.into()))
    }

    /// Adds a table, or replaces one that is as much logged.
    pub fn put(&mut self, table: Arc<TableInfo>) {
        let name: Box<str> = table.name().into();
        self.put_as(&name, table);
    }

    /// Adds or replaces a table under `name`, by which statements find it.
    pub fn put_as(&mut self, name: &str, table: Arc<TableInfo>) {
        self.version += 1;
        let is_logged = self.own(table.schema(), name).is_some_and(|own| own.is_logged);
        self.tables.insert((table.schema().into(), name.into()), Own { table, is_logged });
    }

    /// Replaces `old` by a table that is as much logged and may have another name.
    pub fn replace(&mut self, old: &TableInfo, table: Arc<TableInfo>) {
        self.version += 1;
        let removed = self.tables.remove(&(old.schema().into(), old.name().into()));
        let is_logged = removed.is_some_and(|own| own.is_logged);
        let name = (table.schema().into(), table.name().into());
        self.tables.insert(name, Own { table, is_logged });
    }

    /// Removes and returns a table.
    pub fn remove(&mut self, schema: &str, name: &str) -> Option<Arc<TableInfo>> {
        self.version += 1;
        let own = self.tables.remove(&(schema.into(), name.into()));
        if self.tables.is_empty() {
            self.has_diverged.store(false, Ordering::Relaxed);
        }
        own.map(|own| own.table)
    }

    /// All temporary tables.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<TableInfo>> {
        self.tables.values().map(|own| &own.table)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Number of tables.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// Notes that the log has the creation of a table.
    pub fn note_logged(&mut self, schema: &str, name: &str) {
        if let Some(own) = self.tables.get_mut(&(schema.into(), name.into())) {
            own.is_logged = true;
        }
    }

    /// Whether the log has the creation of a table.
    pub fn is_logged(&self, table: &TableInfo) -> bool {
        let own = self.own(table.schema(), table.name());
        // CREATE OR REPLACE fills another table of the same name.
        own.is_some_and(|own| own.is_logged && own.table.def.id == table.def.id)
    }

    /// The tables whose creation is logged, the newest first. None is from now on.
    pub fn take_logged(&mut self) -> Vec<Arc<TableInfo>> {
        let mut tables = Vec::new();
        for own in self.tables.values_mut().filter(|own| own.is_logged) {
            own.is_logged = false;
            tables.push(Arc::clone(&own.table));
        }
        tables.sort_by_key(|table| std::cmp::Reverse(table.def.id));
        tables
    }

    /// Whether replicas have a table with the same rows.
    pub fn is_followed(&self, table: &TableInfo) -> bool {
        !self.has_diverged() && self.is_logged(table)
    }

    /// Whether replicas have all tables with the same rows.
    pub fn are_followed(&self) -> bool {
        !self.has_diverged() && self.tables.values().all(|own| own.is_logged)
    }

    /// Whether a logged table has been changed otherwise than the log says.
    pub fn has_diverged(&self) -> bool {
        self.has_diverged.load(Ordering::Relaxed)
    }

    /// Notes that texts which use the tables are not to be logged, until all are gone.
    pub fn diverge(&self) {
        if !self.is_empty() {
            self.has_diverged.store(true, Ordering::Relaxed);
        }
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

static NO_TABLES: TemporaryTables =
    TemporaryTables { tables: BTreeMap::new(), version: 0, has_diverged: AtomicBool::new(false) };

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
