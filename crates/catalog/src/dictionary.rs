//! The dictionary: definitions kept in ordinary tables of one engine.
//!
//! Four tables have fixed ids and need no lookup: `schemas` (name, definition), `tables` (id,
//! schema, name, definition), `statistics` (table id, definition) and `programs` (kind and names,
//! definition). Definitions are JSON. A DDL statement changes them in the transaction that creates
//! or drops storage, so that both happen or neither does.

use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use selkie_engine::{
    Engine, EngineError, EngineResult, EngineTrx, IndexCodec, IndexDef, IndexId, IndexKind,
    IndexPart, Isolation, Personality, RowSet, Scan, StatementContext, Table, TableDef, TableId,
    WaitKind,
};
use selkie_types::{ByteRows, CollationId, SqlType, TypeKind, Value};
use serde::{Deserialize, Serialize};

use crate::table::StoredTable;
use crate::{ColumnInfo, Routine, RoutineForm, Schema, Snapshot, Statistics, TableInfo, Trigger};

/// Ids below this one belong to the dictionary's own tables.
const FIRST_TABLE_ID: u64 = 100;
const SCHEMAS: TableId = TableId(1);
const TABLES: TableId = TableId(2);
const STATISTICS: TableId = TableId(3);
const PROGRAMS: TableId = TableId(4);

/// An error while the dictionary is read or changed.
#[derive(Debug)]
pub enum DictionaryError {
    /// The engine failed.
    Engine(EngineError),
    /// A stored definition is invalid; the text says which one and why.
    Definition(String),
}

impl fmt::Display for DictionaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Definition(what) => write!(f, "dictionary: {what}"),
        }
    }
}

impl std::error::Error for DictionaryError {}

impl From<EngineError> for DictionaryError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

type Result<T> = std::result::Result<T, DictionaryError>;

/// Context of the dictionary's own reads and writes: it is never killed and waits without limit.
struct Unattended;

impl StatementContext for Unattended {
    fn check_killed(&self) -> EngineResult<()> {
        Ok(())
    }

    fn wait(
        &self,
        _: WaitKind,
        _: Option<Duration>,
        _: Waker,
        park: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()> {
        while !park(Duration::from_secs(1)) {}
        Ok(())
    }

    fn lock_wait_timeout(&self) -> Duration {
        Duration::MAX
    }
}

#[derive(Serialize, Deserialize)]
struct StoredSchema {
    collation: CollationId,
    comment: String,
}

/// One dictionary table with the codec of its primary key.
struct Store {
    table: Arc<dyn Table>,
    key: IndexCodec,
}

impl Store {
    fn open(engine: &dyn Engine, def: TableDef) -> EngineResult<Self> {
        let key = IndexCodec::new(&def, &def.indexes[0]);
        Ok(Self { table: engine.open_table(&Arc::new(def))?, key })
    }

    fn key(&self, value: &Value) -> ByteRows {
        let mut bytes = Vec::new();
        self.key.key_of_values(std::slice::from_ref(value), &mut bytes);
        let mut keys = ByteRows::default();
        keys.push(&bytes);
        keys
    }

    /// Stores a row under its first value and replaces an earlier row of that key.
    fn put(&self, trx: &dyn EngineTrx, values: &[Value]) -> EngineResult<()> {
        let mut bytes = Vec::new();
        self.table.def().layout.encode_values(values, &mut bytes);
        let mut row = ByteRows::default();
        row.push(&bytes);
        if self.table.update(trx, &Unattended, &self.key(&values[0]), &row, None)? == 0 {
            self.table.insert(trx, &Unattended, &row)?;
        }
        Ok(())
    }

    fn remove(&self, trx: &dyn EngineTrx, key: &Value) -> EngineResult<()> {
        self.table.delete(trx, &Unattended, &self.key(key), None).map(drop)
    }

    fn for_each(
        &self,
        trx: &dyn EngineTrx,
        mut visit: impl FnMut(&[Value]) -> Result<()>,
    ) -> Result<()> {
        let layout = &self.table.def().layout;
        let mut cursor = self.table.scan(trx, &Unattended, &Scan::default())?;
        let mut set = RowSet::default();
        while cursor.next_batch(&mut set, 256)? {
            for row in set.rows.iter() {
                let values: std::result::Result<Vec<Value>, _> =
                    (0..layout.columns().len()).map(|c| layout.value(row, c)).collect();
                visit(&values.map_err(EngineError::from)?)?;
            }
            set.clear();
        }
        Ok(())
    }
}

/// Finds an engine by its name.
pub type EngineNamed<'a> = &'a dyn Fn(&str) -> Option<&'static Personality>;

/// The dictionary's open tables.
pub struct Dictionary {
    engine: Arc<dyn Engine>,
    schemas: Store,
    tables: Store,
    statistics: Store,
    programs: Store,
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").field("engine", &self.engine.name()).finish_non_exhaustive()
    }
}

impl Dictionary {
    /// Opens the dictionary of `engine`, or creates it if there is none, and reads all definitions.
    /// `engines` finds the engine of each table. Storage without a definition is removed.
    pub fn open(engine: Arc<dyn Engine>, engines: EngineNamed<'_>) -> Result<(Self, Snapshot)> {
        create_missing(&*engine)?;
        let dictionary = Self {
            schemas: Store::open(&*engine, schemas_def())?,
            tables: Store::open(&*engine, tables_def())?,
            statistics: Store::open(&*engine, statistics_def())?,
            programs: Store::open(&*engine, programs_def())?,
            engine,
        };
        let snapshot = dictionary.read(engines)?;
        let mut known = snapshot.table_ids();
        known.extend([SCHEMAS, TABLES, STATISTICS, PROGRAMS]);
        dictionary.engine.retain_tables(&known)?;
        Ok((dictionary, snapshot))
    }

    /// The engine the dictionary lives in; DDL transactions are begun there.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// A table id that was never given before (CAT-3).
    pub fn new_table_id(&self) -> Result<TableId> {
        let id = self.tables.table.reserve_auto_increment(1, 1, 1)?;
        Ok(TableId(id.max(FIRST_TABLE_ID)))
    }

    /// Stores a schema's definition.
    pub fn put_schema(&self, trx: &dyn EngineTrx, schema: &Schema) -> Result<()> {
        let stored = StoredSchema { collation: schema.collation, comment: schema.comment.clone() };
        let name = Value::bytes(&*schema.name);
        Ok(self.schemas.put(trx, &[name, to_json(&stored)?])?)
    }

    /// Removes a schema's definition. The definitions of its tables are removed one by one.
    pub fn remove_schema(&self, trx: &dyn EngineTrx, name: &str) -> Result<()> {
        Ok(self.schemas.remove(trx, &Value::bytes(name))?)
    }

    /// Stores a table's definition.
    pub fn put_table(&self, trx: &dyn EngineTrx, table: &TableInfo) -> Result<()> {
        let values = [
            Value::UInt(table.def.id.0),
            Value::bytes(table.schema()),
            Value::bytes(table.name()),
            to_json(&table.to_stored())?,
        ];
        Ok(self.tables.put(trx, &values)?)
    }

    /// Removes a table's definition and statistics.
    pub fn remove_table(&self, trx: &dyn EngineTrx, id: TableId) -> Result<()> {
        self.statistics.remove(trx, &Value::UInt(id.0))?;
        Ok(self.tables.remove(trx, &Value::UInt(id.0))?)
    }

    /// Stores the result of ANALYZE.
    pub fn put_statistics(
        &self,
        trx: &dyn EngineTrx,
        id: TableId,
        statistics: &Statistics,
    ) -> Result<()> {
        Ok(self.statistics.put(trx, &[Value::UInt(id.0), to_json(statistics)?])?)
    }

    /// Stores a routine's definition.
    pub fn put_routine(&self, trx: &dyn EngineTrx, routine: &Routine) -> Result<()> {
        let key = routine_key(&routine.schema, routine.form(), &routine.name);
        Ok(self.programs.put(trx, &[key, to_json(routine)?])?)
    }

    /// Removes a routine's definition.
    pub fn remove_routine(&self, trx: &dyn EngineTrx, routine: &Routine) -> Result<()> {
        let key = routine_key(&routine.schema, routine.form(), &routine.name);
        Ok(self.programs.remove(trx, &key)?)
    }

    /// Stores a trigger's definition.
    pub fn put_trigger(&self, trx: &dyn EngineTrx, trigger: &Trigger) -> Result<()> {
        let key = program_key("trigger", &trigger.schema, &trigger.name);
        Ok(self.programs.put(trx, &[key, to_json(trigger)?])?)
    }

    /// Removes a trigger's definition.
    pub fn remove_trigger(&self, trx: &dyn EngineTrx, trigger: &Trigger) -> Result<()> {
        let key = program_key("trigger", &trigger.schema, &trigger.name);
        Ok(self.programs.remove(trx, &key)?)
    }

    fn read_programs(&self, trx: &dyn EngineTrx, snapshot: &mut Snapshot) -> Result<()> {
        let mut triggers = std::collections::BTreeMap::<_, Vec<Arc<Trigger>>>::new();
        self.programs.for_each(trx, |values| {
            let [key, definition] = values else { return Err(shape("programs")) };
            if text(key)?.starts_with("trigger/") {
                let trigger: Trigger = from_json(definition)?;
                let table = (trigger.schema.clone(), trigger.table.clone());
                triggers.entry(table).or_default().push(Arc::new(trigger));
            } else {
                snapshot.put_routine(from_json(definition)?);
            }
            Ok(())
        })?;
        for ((schema, table), list) in triggers {
            snapshot.set_triggers(&schema, &table, list);
        }
        Ok(())
    }

    fn read(&self, engines: EngineNamed<'_>) -> Result<Snapshot> {
        let trx = self.engine.begin(Isolation::ReadCommitted, true)?;
        trx.statement_begin(Isolation::ReadCommitted, false)?;
        let mut snapshot = Snapshot::default();
        self.read_schemas(&*trx, &mut snapshot)?;
        self.read_tables(&*trx, engines, &mut snapshot)?;
        self.read_programs(&*trx, &mut snapshot)?;
        trx.rollback()?;
        Ok(snapshot)
    }

    fn read_schemas(&self, trx: &dyn EngineTrx, snapshot: &mut Snapshot) -> Result<()> {
        self.schemas.for_each(trx, |values| {
            let [name, definition] = values else { return Err(shape("schemas")) };
            let stored: StoredSchema = from_json(definition)?;
            let name = text(name)?;
            // A schema of the server keeps its computed tables whatever a user has stored of it.
            let tables = snapshot.schema(name).map(|schema| schema.tables.clone());
            snapshot.put_schema(Schema {
                name: name.into(),
                collation: stored.collation,
                comment: stored.comment,
                tables: tables.unwrap_or_default(),
            });
            Ok(())
        })
    }

    fn read_tables(
        &self,
        trx: &dyn EngineTrx,
        engines: EngineNamed<'_>,
        snapshot: &mut Snapshot,
    ) -> Result<()> {
        let mut statistics = hashbrown::HashMap::new();
        self.statistics.for_each(trx, |values| {
            let [Value::UInt(id), definition] = values else { return Err(shape("statistics")) };
            statistics.insert(*id, Arc::new(from_json::<Statistics>(definition)?));
            Ok(())
        })?;
        self.tables.for_each(trx, |values| {
            let [Value::UInt(id), schema, name, definition] = values else {
                return Err(shape("tables"));
            };
            let stored: StoredTable = from_json(definition)?;
            let statistics = statistics.get(id).cloned();
            let missing = || Personality::missing(stored.engine());
            let engine = engines(stored.engine()).unwrap_or_else(missing);
            let (schema, name) = (text(schema)?, text(name)?);
            let info = stored.into_info(engine, TableId(*id), schema, name, statistics);
            snapshot.put_table(Arc::new(info));
            Ok(())
        })
    }
}

fn routine_key(schema: &str, form: RoutineForm, name: &str) -> Value {
    let kind = match form {
        RoutineForm::Function => "function",
        RoutineForm::Procedure => "procedure",
        RoutineForm::Package => "package",
        RoutineForm::PackageBody => "package body",
    };
    program_key(kind, schema, &name.to_lowercase())
}

fn program_key(kind: &str, schema: &str, name: &str) -> Value {
    Value::bytes(&*format!("{kind}/{schema}/{name}"))
}

fn create_missing(engine: &dyn Engine) -> Result<()> {
    let defs = [schemas_def(), tables_def(), statistics_def(), programs_def()];
    if defs.iter().all(|def| engine.table_exists(def.id)) {
        return Ok(());
    }
    let fresh = !engine.table_exists(TABLES);
    if engine.has_tables() {
        // The four tables are created together. If one is missing, the others cannot be used: the
        // storage of all tables would count as unknown and be removed.
        let lost = defs.iter().filter(|def| !engine.table_exists(def.id));
        let names: Vec<&str> = lost.map(|def| &*def.name).collect();
        let lost = format!("of the dictionary these tables are missing: {}", names.join(", "));
        return Err(EngineError::Corrupt(lost).into());
    }
    let trx = engine.begin(Isolation::ReadCommitted, false)?;
    trx.statement_begin(Isolation::ReadCommitted, false)?;
    for def in &defs {
        if !engine.table_exists(def.id) {
            engine.create_table(&*trx, def)?;
        }
    }
    if let Some(lsn) = trx.commit(None)? {
        engine.wait_durable(lsn)?;
    }
    if !fresh {
        return Ok(());
    }
    let tables = engine.open_table(&Arc::new(tables_def()))?;
    let trx = engine.begin(Isolation::ReadCommitted, false)?;
    trx.statement_begin(Isolation::ReadCommitted, false)?;
    tables.set_auto_increment(&*trx, FIRST_TABLE_ID)?;
    if let Some(lsn) = trx.commit(None)? {
        engine.wait_durable(lsn)?;
    }
    Ok(())
}

fn schemas_def() -> TableDef {
    dictionary_def(SCHEMAS, "schemas", &[("name", name_type()), ("definition", json_type())])
}

fn tables_def() -> TableDef {
    let columns = [
        ("id", SqlType::bigint_unsigned()),
        ("schema_name", name_type()),
        ("table_name", name_type()),
        ("definition", json_type()),
    ];
    let mut def = dictionary_def(TABLES, "tables", &columns);
    def.auto_increment = Some(0);
    def
}

fn statistics_def() -> TableDef {
    let columns = [("table_id", SqlType::bigint_unsigned()), ("definition", json_type())];
    dictionary_def(STATISTICS, "statistics", &columns)
}

fn programs_def() -> TableDef {
    let key = SqlType::varchar(200, CollationId::UTF8MB4_BIN);
    dictionary_def(PROGRAMS, "programs", &[("name", key), ("definition", json_type())])
}

fn name_type() -> SqlType {
    SqlType::varchar(64, CollationId::UTF8MB4_BIN)
}

fn json_type() -> SqlType {
    let mut ty = SqlType::new(TypeKind::LongText, u32::MAX, 0);
    ty.collation = CollationId::UTF8MB4_BIN;
    ty
}

fn dictionary_def(id: TableId, name: &str, columns: &[(&str, SqlType)]) -> TableDef {
    let column = |(name, ty): &(&str, SqlType)| ColumnInfo::not_null(name, ty.clone());
    let columns: Vec<ColumnInfo> = columns.iter().map(column).collect();
    let primary = IndexDef {
        id: IndexId(0),
        name: "PRIMARY".into(),
        kind: IndexKind::Primary,
        parts: vec![IndexPart { column: 0, prefix: None, descending: false }],
        hashed: false,
        without_overlaps: false,
    };
    TableInfo::make_def(id, "selkie_dictionary", name, &columns, vec![primary])
}

fn to_json(value: &impl Serialize) -> Result<Value> {
    let text = serde_json::to_vec(value).map_err(|e| DictionaryError::Definition(e.to_string()))?;
    Ok(Value::Bytes(text.into()))
}

fn from_json<T: for<'a> Deserialize<'a>>(value: &Value) -> Result<T> {
    let Value::Bytes(bytes) = value else { return Err(shape("definition")) };
    serde_json::from_slice(bytes).map_err(|e| DictionaryError::Definition(e.to_string()))
}

fn text(value: &Value) -> Result<&str> {
    match value {
        Value::Bytes(bytes) => std::str::from_utf8(bytes).map_err(|_| shape("name")),
        _ => Err(shape("name")),
    }
}

fn shape(what: &str) -> DictionaryError {
    DictionaryError::Definition(format!("unexpected shape of {what}"))
}
