//! One inspection of the engine's transactions, with names for its numbers.
//!
//! Must not hold engine locks: the result may be out of date when it is shown.

use hashbrown::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::time::SystemTime;

use selkie_catalog::{TableInfo, quote_identifier};
use selkie_engine::{
    Engine, IndexKind, Inspection, LockDetail, LockExtent, LockInfo, TableId, TransactionInfo,
};
use selkie_exec::Instance;
use selkie_types::Value;
use selkie_types::temporal::DateTime;

use super::ENGINE;

/// Result of an inspection.
pub(super) struct Look<'a> {
    pub(super) instance: &'a Instance,
    pub(super) found: Inspection,
    pub(super) tables: Names,
}

/// Table definitions by number.
pub(super) struct Names(HashMap<TableId, Arc<TableInfo>>);

/// The engine.
pub(super) fn engine(instance: &Instance) -> Option<&Arc<dyn Engine>> {
    instance.engines.get(ENGINE)
}

impl<'a> Look<'a> {
    pub(super) fn new(instance: &'a Instance, detail: LockDetail) -> Self {
        let found = engine(instance).map(|e| e.inspect(detail)).unwrap_or_default();
        Look { instance, found, tables: Names::new(instance) }
    }

    /// The lock a transaction waits for.
    pub(super) fn requested(&self, trx: &TransactionInfo) -> Option<&LockInfo> {
        let waits = self.found.waits.iter().map(|wait| &self.found.locks[wait.requested]);
        waits.into_iter().find(|lock| lock.transaction == trx.id)
    }
}

impl Names {
    pub(super) fn new(instance: &Instance) -> Names {
        let snapshot = instance.catalog.snapshot();
        let tables = snapshot.schemas().flat_map(|schema| schema.tables.values());
        Names(tables.map(|table| (table.def.id, table.clone())).collect())
    }

    pub(super) fn get(&self, id: TableId) -> Option<&Arc<TableInfo>> {
        self.0.get(&id)
    }

    /// The table's name as InnoDB shows it, quoted.
    pub(super) fn table(&self, id: TableId, ansi: bool) -> String {
        let quote = |name: &str| match ansi {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => quote_identifier(name),
        };
        match self.get(id) {
            Some(table) => format!("{}.{}", quote(table.schema()), quote(table.name())),
            // A temporary table, or a table of the dictionary itself.
            None => format!("{}.{}", quote("#sql"), quote(&id.to_string())),
        }
    }

    /// The name of the index that contains a row lock.
    pub(super) fn index(&self, lock: &LockInfo) -> Option<String> {
        if lock.extent == LockExtent::Table {
            return None;
        }
        let Some(table) = self.get(lock.table) else { return Some("PRIMARY".to_owned()) };
        let def = &table.def;
        let index = match lock.index {
            None => def.primary(),
            Some(id) => def.indexes.iter().find(|index| index.id == id),
        };
        Some(index.map_or("GEN_CLUST_INDEX", |index| &index.name).to_owned())
    }
}

/// Whether an index is the clustered one, which stores the rows.
pub(super) fn is_clustered(kind: IndexKind) -> bool {
    kind == IndexKind::Primary
}

/// A number for an index that is unique in the server: made of the table's number and the index's.
pub(super) fn index_number(table: TableId, index: u32) -> u64 {
    table.0 << 8 | u64::from(index)
}

/// The identifier of a lock. Two locks that exist at the same time have different ones.
pub(super) fn lock_id(lock: &LockInfo) -> String {
    let (trx, table) = (lock.transaction, lock.table);
    if lock.extent == LockExtent::Table {
        return format!("{trx}:{table}");
    }
    let index = lock.index.map_or(0, |id| id.0 + 1);
    format!("{trx}:{table}:{index}:{:x}", record_number(lock))
}

/// A number for the locked record; every report shows the same number for it.
fn record_number(lock: &LockInfo) -> u32 {
    let mut bytes = vec![lock.extent as u8];
    match &lock.key {
        None => bytes.extend_from_slice(b"supremum"),
        Some(key) => bytes.extend_from_slice(key),
    }
    fixed_hash(&bytes)
}

fn fixed_hash(bytes: &impl Hash) -> u32 {
    let state =
        std::hash::BuildHasherDefault::<std::collections::hash_map::DefaultHasher>::default();
    state.hash_one(bytes) as u32
}

/// A point in time in the server's time zone.
pub(super) fn local(at: SystemTime) -> Value {
    let stamp = jiff::Timestamp::try_from(at).unwrap_or_default();
    let offset = stamp.to_zoned_datetime(jiff::tz::TimeZone::system()).offset().seconds();
    let micros = stamp.as_second().saturating_add(i64::from(offset)).saturating_mul(1_000_000);
    DateTime::from_unix_micros(micros).map_or(Value::Null, Value::DateTime)
}
