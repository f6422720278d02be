//! All definitions at one moment, and the place where the current ones are found.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use selkie_engine::TableId;
use selkie_types::CollationId;

use crate::{TableInfo, system_tables};

/// A database.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Name, case-sensitive as file names are.
    pub name: Box<str>,
    /// Default collation of new tables.
    pub collation: CollationId,
    /// `COMMENT`.
    pub comment: String,
    /// Tables and views by name.
    pub tables: BTreeMap<Box<str>, Arc<TableInfo>>,
}

/// All definitions at one moment. Never changes (CAT-1); editing clones what it touches.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Grows with every published change.
    pub version: u64,
    schemas: BTreeMap<Box<str>, Arc<Schema>>,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self { version: 1, schemas: BTreeMap::from([system_schema()]) }
    }
}

fn system_schema() -> (Box<str>, Arc<Schema>) {
    let tables = system_tables::information_schema();
    let schema = Schema {
        name: "information_schema".into(),
        collation: CollationId::UTF8MB3_GENERAL_CI,
        comment: String::new(),
        tables: tables.iter().map(|t| (t.name().into(), t.clone())).collect(),
    };
    (schema.name.clone(), Arc::new(schema))
}

/// The canonical name of a schema: `information_schema` in any case is one, others are themselves.
fn canonical(name: &str) -> &str {
    if name.eq_ignore_ascii_case("information_schema") { "information_schema" } else { name }
}

impl Snapshot {
    /// The schema called `name`.
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.get(canonical(name))
    }

    /// All schemas by name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.schemas.values()
    }

    /// The table or view `schema`.`name`. System tables are found in any case.
    pub fn table(&self, schema: &str, name: &str) -> Option<&Arc<TableInfo>> {
        let schema = self.schema(schema)?;
        if &*schema.name == "information_schema" {
            return schema.tables.get(name.to_ascii_uppercase().as_str());
        }
        schema.tables.get(name)
    }

    /// Ids of all tables an engine stores.
    pub fn table_ids(&self, engine: &str) -> Vec<TableId> {
        let tables = self.schemas.values().flat_map(|s| s.tables.values());
        tables
            .filter(|t| t.engine.eq_ignore_ascii_case(engine) && t.def.id != TableId(0))
            .map(|t| t.def.id)
            .collect()
    }

    /// Adds or replaces a schema.
    pub fn put_schema(&mut self, schema: Schema) {
        self.schemas.insert(schema.name.clone(), Arc::new(schema));
    }

    /// Removes a schema with its tables.
    pub fn remove_schema(&mut self, name: &str) {
        self.schemas.remove(name);
    }

    /// Adds or replaces a table of an existing schema.
    pub fn put_table(&mut self, table: Arc<TableInfo>) {
        if let Some(schema) = self.schemas.get_mut(table.schema()) {
            Arc::make_mut(schema).tables.insert(table.name().into(), table);
        }
    }

    /// Removes a table.
    pub fn remove_table(&mut self, schema: &str, name: &str) {
        if let Some(schema) = self.schemas.get_mut(schema) {
            Arc::make_mut(schema).tables.remove(name);
        }
    }
}

/// The current snapshot.
#[derive(Debug, Default)]
pub struct Catalog {
    current: RwLock<Arc<Snapshot>>,
}

impl Catalog {
    /// A catalog that starts with `snapshot`.
    pub fn new(snapshot: Snapshot) -> Self {
        Self { current: RwLock::new(Arc::new(snapshot)) }
    }

    /// The current definitions.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.read().clone()
    }

    /// Replaces the definitions by what `edit` makes of them. Called after the dictionary's commit
    /// (CAT-2).
    pub fn publish(&self, edit: impl FnOnce(&mut Snapshot)) {
        let mut current = self.current.write();
        let mut next = Snapshot::clone(&current);
        edit(&mut next);
        next.version += 1;
        *current = Arc::new(next);
    }
}
