//! Snapshots of all definitions, and the [`Catalog`] that holds the current one. A snapshot is
//! never changed: [`Catalog::publish`] edits a copy and puts it in place.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use selkie_engine::TableId;
use selkie_types::CollationId;

use crate::system_tables::SystemSchema;
use crate::{ForeignKey, Routine, RoutineForm, TableInfo, Trigger, new_version, system_tables};

/// A database.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Name; case-sensitive like file names.
    pub name: Box<str>,
    /// Default collation of new tables.
    pub collation: CollationId,
    /// `COMMENT`.
    pub comment: String,
    /// Tables and views by name.
    pub tables: BTreeMap<Box<str>, Arc<TableInfo>>,
}

/// All definitions at one moment. Never changes (CAT-1); an edit clones the parts it changes.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Grows with every published change.
    pub version: u64,
    schemas: BTreeMap<Box<str>, Arc<Schema>>,
    references: References,
    routines: Arc<BTreeMap<RoutineKey, Arc<Routine>>>,
    /// Grows with every change of a routine.
    pub routines_version: u64,
    triggers: Arc<BTreeMap<TableKey, Vec<Arc<Trigger>>>>,
}

/// Schema, name in lower case, and kind.
type RoutineKey = (Box<str>, Box<str>, RoutineForm);

fn routine_key(schema: &str, form: RoutineForm, name: &str) -> RoutineKey {
    (schema.into(), name.to_lowercase().into(), form)
}

/// Referenced tables by schema and name, each with the tables whose foreign keys refer to it. A
/// referenced table need not exist.
type References = Arc<BTreeMap<Box<str>, BTreeMap<Box<str>, Vec<TableKey>>>>;

/// Schema and name.
type TableKey = (Box<str>, Box<str>);

impl Default for Snapshot {
    fn default() -> Self {
        let schemas = system_tables::system_schemas().iter().map(system_schema).collect();
        Self {
            version: 1,
            schemas,
            references: References::default(),
            routines: Arc::default(),
            routines_version: 0,
            triggers: Arc::default(),
        }
    }
}

fn system_schema(system: &SystemSchema) -> (Box<str>, Arc<Schema>) {
    let is_information = system.name == INFORMATION;
    let key = |t: &TableInfo| match is_information {
        true => t.name().to_ascii_uppercase().into(),
        false => t.name().into(),
    };
    let schema = Schema {
        name: system.name.into(),
        collation: CollationId::UTF8MB3_GENERAL_CI,
        comment: String::new(),
        tables: system.tables.iter().map(|t| (key(t), t.clone())).collect(),
    };
    (schema.name.clone(), Arc::new(schema))
}

/// The schema whose tables are found in any case. Its tables are stored under upper-case names.
const INFORMATION: &str = "information_schema";

/// The canonical name of a schema: lower case for `information_schema`, otherwise unchanged.
fn canonical(name: &str) -> &str {
    if name.eq_ignore_ascii_case(INFORMATION) { INFORMATION } else { name }
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

    /// The table or view `schema`.`name`. Tables of `information_schema` are found in any case.
    pub fn table(&self, schema: &str, name: &str) -> Option<&Arc<TableInfo>> {
        let schema = self.schema(schema)?;
        if &*schema.name == INFORMATION {
            return schema.tables.get(name.to_ascii_uppercase().as_str());
        }
        let stored = schema.tables.get(name);
        stored.or_else(|| match &*schema.name {
            "mysql" => system_tables::mysql_tables().iter().find(|t| t.name() == name),
            _ => None,
        })
    }

    /// Ids of all tables that have rows in an engine, of any engine.
    pub fn table_ids(&self) -> Vec<TableId> {
        self.stored_tables().flat_map(|table| table.storage_ids()).collect()
    }

    /// The tables of all schemas, as they are stored.
    pub fn stored_tables(&self) -> impl Iterator<Item = &Arc<TableInfo>> {
        self.schemas.values().flat_map(|schema| schema.tables.values())
    }

    /// Adds or replaces a schema.
    pub fn put_schema(&mut self, schema: Schema) {
        self.schemas.insert(schema.name.clone(), Arc::new(schema));
    }

    /// Tables with a foreign key to `schema`.`table`; the table itself may be one of them.
    pub fn children(&self, schema: &str, table: &str) -> impl Iterator<Item = &Arc<TableInfo>> {
        let list = self.references.get(schema).and_then(|tables| tables.get(table));
        list.into_iter().flatten().filter_map(|(schema, name)| self.table(schema, name))
    }

    /// Every foreign key of a schema with its table.
    pub fn foreign_keys(
        &self,
        schema: &str,
    ) -> impl Iterator<Item = (&Arc<TableInfo>, &ForeignKey)> {
        let tables = self.schema(schema).into_iter().flat_map(|s| s.tables.values());
        tables.flat_map(|table| table.foreign_keys.iter().map(move |key| (table, key)))
    }

    /// Removes a schema with its tables.
    pub fn remove_schema(&mut self, name: &str) {
        let Some(schema) = self.schemas.remove(name) else { return };
        Arc::make_mut(&mut self.routines).retain(|key, _| *key.0 != *name);
        Arc::make_mut(&mut self.triggers).retain(|key, _| *key.0 != *name);
        schema.tables.values().for_each(|table| self.relink(Some(table), None));
    }

    /// The procedure or function `schema`.`name`.
    pub fn routine(&self, schema: &str, function: bool, name: &str) -> Option<&Arc<Routine>> {
        self.routine_of(schema, RoutineForm::of_function(function), name)
    }

    /// The routine `schema`.`name` of a kind.
    pub fn routine_of(&self, schema: &str, form: RoutineForm, name: &str) -> Option<&Arc<Routine>> {
        self.routines.get(&routine_key(schema, form, name))
    }

    /// All routines, ordered by schema.
    pub fn routines(&self) -> impl Iterator<Item = &Arc<Routine>> {
        self.routines.values()
    }

    /// Adds or replaces a routine.
    pub fn put_routine(&mut self, routine: Routine) {
        let key = routine_key(&routine.schema, routine.form(), &routine.name);
        self.routines_version += 1;
        Arc::make_mut(&mut self.routines).insert(key, Arc::new(routine));
    }

    /// Removes a routine.
    pub fn remove_routine(&mut self, schema: &str, form: RoutineForm, name: &str) {
        self.routines_version += 1;
        Arc::make_mut(&mut self.routines).remove(&routine_key(schema, form, name));
    }

    /// The triggers of a table in the order in which they run.
    pub fn triggers(&self, schema: &str, table: &str) -> &[Arc<Trigger>] {
        if self.triggers.is_empty() {
            return &[];
        }
        self.triggers.get(&(schema.into(), table.into())).map_or(&[], |list| list)
    }

    /// All triggers, ordered by schema and table.
    pub fn all_triggers(&self) -> impl Iterator<Item = &Arc<Trigger>> {
        self.triggers.values().flatten()
    }

    /// The trigger `schema`.`name`.
    pub fn trigger(&self, schema: &str, name: &str) -> Option<&Arc<Trigger>> {
        self.all_triggers().find(|t| t.schema == schema && t.name == name)
    }

    /// Replaces the triggers of a table by `list`, which is sorted here.
    pub fn set_triggers(&mut self, schema: &str, table: &str, mut list: Vec<Arc<Trigger>>) {
        list.sort_by_key(|t| (event_place(&t.event), !t.before, t.order));
        let triggers = Arc::make_mut(&mut self.triggers);
        let key = (schema.into(), table.into());
        match list.is_empty() {
            true => triggers.remove(&key),
            false => triggers.insert(key, list),
        };
    }

    /// Adds or replaces a table of an existing schema. The table gets a new version (CAT-1).
    pub fn put_table(&mut self, mut table: Arc<TableInfo>) {
        Arc::make_mut(&mut table).version = new_version();
        if let Some(schema) = self.schemas.get_mut(table.schema()) {
            let old = Arc::make_mut(schema).tables.insert(table.name().into(), table.clone());
            self.relink(old.as_deref(), Some(&table));
        }
    }

    /// Removes a table.
    pub fn remove_table(&mut self, schema: &str, name: &str) {
        if let Some(schema) = self.schemas.get_mut(schema) {
            let old = Arc::make_mut(schema).tables.remove(name);
            self.relink(old.as_deref(), None);
        }
    }

    /// Updates the references after a table is replaced by another of its name. Its parents and
    /// children get new versions, because their plans depend on it.
    fn relink(&mut self, old: Option<&TableInfo>, new: Option<&TableInfo>) {
        let keys = |table: Option<&TableInfo>| {
            let keys = table.map_or(&[][..], |t| &t.foreign_keys).iter();
            let parent = |k: &ForeignKey| {
                (k.referenced_schema.as_str().into(), k.referenced_table.as_str().into())
            };
            keys.map(parent).collect::<Vec<TableKey>>()
        };
        let (before, after) = (keys(old), keys(new));
        let Some(table) = new.or(old) else { return };
        let me: TableKey = (table.schema().into(), table.name().into());
        if before != after {
            let references = Arc::make_mut(&mut self.references);
            for (schema, name) in &before {
                if let Some(list) = references.get_mut(schema).and_then(|t| t.get_mut(name)) {
                    list.retain(|child| *child != me);
                }
            }
            for (schema, name) in &after {
                let tables = references.entry(schema.clone()).or_default();
                let list = tables.entry(name.clone()).or_default();
                if !list.contains(&me) {
                    list.push(me.clone());
                    list.sort();
                }
            }
        }
        let mut related = [before, after].concat();
        let children = self.children(&me.0, &me.1);
        related.extend(children.map(|t| (t.schema().into(), t.name().into())));
        related.retain(|key| *key != me);
        related.iter().for_each(|key| self.touch(key));
    }

    /// Gives a table a new version, which makes plans over it stale.
    pub fn touch_table(&mut self, schema: &str, table: &str) {
        self.touch(&(schema.into(), table.into()));
    }

    fn touch(&mut self, (schema, name): &TableKey) {
        let tables = self.schemas.get_mut(schema).map(|s| &mut Arc::make_mut(s).tables);
        if let Some(table) = tables.and_then(|tables| tables.get_mut(name)) {
            Arc::make_mut(table).version = new_version();
        }
    }
}

/// Position of an event in lists of triggers.
fn event_place(event: &str) -> usize {
    ["INSERT", "UPDATE", "DELETE"].iter().position(|e| *e == event).unwrap_or(3)
}

/// The current snapshot.
#[derive(Debug, Default)]
pub struct Catalog {
    current: RwLock<Arc<Snapshot>>,
    /// Version of the current snapshot; every statement reads it, none writes it.
    version: AtomicU64,
}

impl Catalog {
    /// A catalog that starts with `snapshot`.
    pub fn new(snapshot: Snapshot) -> Self {
        let version = AtomicU64::new(snapshot.version);
        Self { current: RwLock::new(Arc::new(snapshot)), version }
    }

    /// The version of the current definitions, or the previous one while new definitions are being
    /// published.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The current definitions.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.read().clone()
    }

    /// Replaces the definitions by a copy that `edit` changed. Must be called after the
    /// dictionary's commit (CAT-2).
    pub fn publish(&self, edit: impl FnOnce(&mut Snapshot)) {
        let mut current = self.current.write();
        let mut next = Snapshot::clone(&current);
        edit(&mut next);
        next.version += 1;
        let version = next.version;
        *current = Arc::new(next);
        self.version.store(version, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use hashbrown::HashSet;

    use super::*;
    use crate::{ForeignKeyAction, Series};

    fn table(name: &str, parent: Option<&str>) -> Arc<TableInfo> {
        let base = Series::table("s", name);
        let mut table = TableInfo { kind: crate::TableKind::Base, ..(*base).clone() };
        table.foreign_keys.extend(parent.map(|parent| ForeignKey {
            name: "f".to_owned(),
            columns: vec!["seq".to_owned()],
            referenced_schema: "s".to_owned(),
            referenced_table: parent.to_owned(),
            referenced_columns: vec!["seq".to_owned()],
            on_delete: ForeignKeyAction::Cascade,
            on_update: ForeignKeyAction::Cascade,
        }));
        Arc::new(table)
    }

    #[test]
    fn no_two_definitions_have_one_version() {
        let catalog = Catalog::default();
        catalog.publish(|snapshot| {
            snapshot.put_schema(Schema {
                name: "s".into(),
                collation: CollationId::UTF8MB4_GENERAL_CI,
                comment: String::new(),
                tables: BTreeMap::new(),
            });
        });
        // Each change to one table gives the other a new version too.
        let mut seen: Vec<Arc<TableInfo>> = Vec::new();
        for round in 0..40 {
            let changed = [table("parent", None), table("child", Some("parent"))];
            catalog.publish(|snapshot| match round % 4 {
                0 => {
                    snapshot.remove_table("s", "parent");
                    snapshot.put_table(changed[0].clone());
                }
                1 => snapshot.touch_table("s", "child"),
                2 => snapshot.put_table(changed[1].clone()),
                _ => changed.iter().for_each(|table| snapshot.put_table(table.clone())),
            });
            let snapshot = catalog.snapshot();
            let tables = ["parent", "child"].map(|name| snapshot.table("s", name).cloned());
            let is_new = |t: &Arc<TableInfo>| !seen.iter().any(|known| Arc::ptr_eq(known, t));
            let new: Vec<_> = tables.into_iter().flatten().filter(is_new).collect();
            seen.extend(new);
        }
        let versions: HashSet<u64> = seen.iter().map(|table| table.version).collect();
        assert_eq!(versions.len(), seen.len());
    }
}
