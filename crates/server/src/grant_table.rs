//! Accounts in the ordinary table `mysql.global_priv`, one row for each account or role.
//!
//! The `Priv` column is MariaDB's JSON with two members more: `selkie_grants`, what the account has
//! on databases, tables and routines, and `selkie_roles`, the roles it was given. Knows engines only
//! by their contract.

mod json;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use selkie_catalog::{
    ColumnInfo, DefaultValue, DictionaryError, IndexInfo, Schema, TableInfo, TableKind,
    TableOptions,
};
use selkie_engine::{
    EngineError, EngineResult, EngineTrx, IndexCodec, IndexDef, IndexId, IndexKind, IndexPart,
    Isolation, RowSet, Scan, StatementContext, Table, TableDef, WaitKind,
};
use selkie_exec::Instance;
use selkie_types::{ByteRows, CollationId, SqlError, SqlResult, SqlType, TypeKind, Value};

use crate::accounts::{AccountName, Acl, Persist};

const SCHEMA: &str = "mysql";
const TABLE: &str = "global_priv";

/// The table, open.
pub(crate) struct GrantTable {
    instance: Arc<Instance>,
    table: Arc<TableInfo>,
}

/// The server's own statements: never killed.
struct Unattended;

impl StatementContext for Unattended {
    fn check_killed(&self) -> EngineResult<()> {
        Ok(())
    }

    fn wait(
        &self,
        _: WaitKind,
        limit: Option<Duration>,
        park: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()> {
        let slice = limit.unwrap_or(Duration::from_secs(1));
        while !park(slice) {
            if limit.is_some() {
                return Err(EngineError::LockWaitTimeout);
            }
        }
        Ok(())
    }

    fn lock_wait_timeout(&self) -> Duration {
        Duration::from_secs(50)
    }
}

fn failed(error: EngineError) -> SqlError {
    selkie_exec::error::from_engine_commit(error)
}

fn dictionary_failed(error: DictionaryError) -> SqlError {
    match error {
        DictionaryError::Engine(error) => failed(error),
        DictionaryError::Definition(what) => SqlError::internal(what),
    }
}

impl GrantTable {
    /// Opens the table, creating it with the accounts of a new server if there is none, and reads
    /// the accounts.
    pub(crate) fn open(instance: &Arc<Instance>) -> SqlResult<(Self, Acl)> {
        let found = instance.catalog.snapshot().table(SCHEMA, TABLE).cloned();
        let fresh = found.is_none();
        let table = found.map_or_else(|| create(instance), Ok)?;
        let this = Self { instance: instance.clone(), table };
        if fresh {
            let acl = Acl::initial();
            this.replace(&Acl::default(), &acl)?;
            return Ok((this, acl));
        }
        let acl = this.read()?;
        Ok((this, acl))
    }

    fn handle(&self) -> SqlResult<Arc<dyn Table>> {
        Ok(self.instance.open_table(&self.table)?.table.clone())
    }

    fn begin(&self) -> SqlResult<Box<dyn EngineTrx>> {
        let engine = self.instance.dictionary.engine();
        let trx = engine.begin(Isolation::ReadCommitted, false).map_err(failed)?;
        trx.statement_begin(Isolation::ReadCommitted).map_err(failed)?;
        Ok(trx)
    }

    fn read(&self) -> SqlResult<Acl> {
        let (handle, trx) = (self.handle()?, self.begin()?);
        let mut acl = Acl::default();
        let mut cursor = handle.scan(&*trx, &Unattended, &Scan::default()).map_err(failed)?;
        let mut set = RowSet::default();
        while cursor.next_batch(&mut set, 256).map_err(failed)? {
            for row in set.rows.iter() {
                let text = |at| text_at(&self.table.def, row, at);
                let (host, user, privileges) = (text(0)?, text(1)?, text(2)?);
                if !json::read(&mut acl, &host, &user, &privileges) {
                    tracing::warn!("the account '{user}'@'{host}' is not readable and is ignored");
                }
            }
            set.clear();
        }
        drop(cursor);
        trx.rollback().map_err(failed)?;
        Ok(acl)
    }

    fn key(&self, name: &AccountName) -> ByteRows {
        let codec = IndexCodec::new(&self.table.def, &self.table.def.indexes[0]);
        let values = [Value::bytes(name.host_text()), Value::bytes(&name.user)];
        let mut bytes = Vec::new();
        codec.key_of_values(&values, &mut bytes);
        one(&bytes)
    }

    fn row(&self, name: &AccountName, privileges: &str) -> ByteRows {
        let values =
            [Value::bytes(name.host_text()), Value::bytes(&name.user), Value::bytes(privileges)];
        let mut bytes = Vec::new();
        self.table.def.layout.encode_values(&values, &mut bytes);
        one(&bytes)
    }
}

fn one(bytes: &[u8]) -> ByteRows {
    let mut rows = ByteRows::default();
    rows.push(bytes);
    rows
}

fn text_at(def: &TableDef, row: &[u8], column: usize) -> SqlResult<String> {
    match def.layout.value(row, column) {
        Ok(Value::Bytes(bytes)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        _ => Err(SqlError::internal("mysql.global_priv holds something else")),
    }
}

/// Every account or role with its JSON.
fn rows_of(acl: &Acl) -> BTreeMap<AccountName, String> {
    acl.accounts().map(|account| (account.name.clone(), json::write(acl, account))).collect()
}

impl Persist for GrantTable {
    fn replace(&self, old: &Acl, new: &Acl) -> SqlResult<()> {
        let (old, new) = (rows_of(old), rows_of(new));
        let (handle, trx) = (self.handle()?, self.begin()?);
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            handle.delete(&*trx, &Unattended, &self.key(name)).map_err(failed)?;
        }
        for (name, privileges) in new.iter().filter(|(name, p)| old.get(*name) != Some(*p)) {
            let row = self.row(name, privileges);
            let updated = handle.update(&*trx, &Unattended, &self.key(name), &row);
            if updated.map_err(failed)? == 0 {
                handle.insert(&*trx, &Unattended, &row).map_err(failed)?;
            }
        }
        let engine = self.instance.dictionary.engine();
        match trx.commit().map_err(failed)? {
            Some(lsn) => engine.wait_durable(lsn).map_err(failed),
            None => Ok(()),
        }
    }
}

/// Creates the schema `mysql` and the table.
fn create(instance: &Instance) -> SqlResult<Arc<TableInfo>> {
    let dictionary = &instance.dictionary;
    let engine = dictionary.engine();
    let id = dictionary.new_table_id().map_err(dictionary_failed)?;
    let table = Arc::new(definition(id, engine.name()));
    let schema = Schema {
        name: SCHEMA.into(),
        collation: CollationId::UTF8MB4_GENERAL_CI,
        comment: String::new(),
        tables: Default::default(),
    };
    let trx = engine.begin(Isolation::ReadCommitted, false).map_err(failed)?;
    trx.statement_begin(Isolation::ReadCommitted).map_err(failed)?;
    engine.create_table(&*trx, &table.def).map_err(failed)?;
    dictionary.put_schema(&*trx, &schema).map_err(dictionary_failed)?;
    dictionary.put_table(&*trx, &table).map_err(dictionary_failed)?;
    if let Some(lsn) = trx.commit().map_err(failed)? {
        engine.wait_durable(lsn).map_err(failed)?;
    }
    instance.catalog.publish(|snapshot| {
        if snapshot.schema(SCHEMA).is_none() {
            snapshot.put_schema(schema);
        }
        snapshot.put_table(table.clone());
    });
    Ok(table)
}

fn definition(id: selkie_engine::TableId, engine: &str) -> TableInfo {
    let mut host = SqlType::new(TypeKind::Char, 255, 0);
    host.collation = CollationId::UTF8MB3_BIN;
    let user = SqlType { length: 128, ..host.clone() };
    let mut privileges = SqlType::new(TypeKind::LongText, u32::MAX, 0);
    privileges.collation = CollationId::UTF8MB4_BIN;
    let column = |name: &str, ty| ColumnInfo {
        name: name.into(),
        ty,
        nullable: false,
        default: DefaultValue::Literal(Value::bytes("")),
        on_update_now: false,
        auto_increment: false,
        generated: None,
        check: None,
        invisible: false,
        comment: String::new(),
    };
    let columns = vec![column("Host", host), column("User", user), column("Priv", privileges)];
    let part = |column| IndexPart { column, prefix: None, descending: false };
    let primary = IndexDef {
        id: IndexId(0),
        name: "PRIMARY".into(),
        kind: IndexKind::Primary,
        parts: vec![part(0), part(1)],
    };
    let def = TableInfo::make_def(id, SCHEMA, TABLE, &columns, vec![primary]);
    TableInfo {
        def: Arc::new(def),
        kind: TableKind::Base,
        engine: engine.into(),
        columns,
        indexes: vec![IndexInfo::default()],
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        collation: CollationId::UTF8MB3_BIN,
        options: TableOptions { comment: "Users and global privileges".into(), shown: Vec::new() },
        created: 0,
        version: 1,
        statistics: None,
    }
}
