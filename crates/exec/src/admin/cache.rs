//! CACHE INDEX and LOAD INDEX INTO CACHE. No engine here has a key cache, so these only answer what
//! MariaDB does for tables, partitions and indexes that exist or not.
//!
//! Must neither commit nor change anything.

use selkie_catalog::{TableInfo, TableKind};
use selkie_sql::ast::{CacheIndexes, CachedTable};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_KEY_DOES_NOT_EXISTS, ER_PARTITION_DOES_NOT_EXIST, ER_PARTITION_MGMT_ON_NONPARTITIONED,
    ER_UNKNOWN_KEY_CACHE,
};
use selkie_types::{SqlError, SqlResult, Value};

use super::partitions::leaves_of;
use super::{Message, ok, send_messages, unsupported};
use crate::query::execution::Execution;
use crate::state::session::{Access, Privilege};
use crate::{Outcome, Session};

/// Runs `CACHE INDEX` or `LOAD INDEX INTO CACHE`.
pub(crate) fn cache_indexes(
    execution: &mut Execution<'_>,
    statement: &CacheIndexes,
) -> SqlResult<Outcome> {
    let session = &mut *execution.session;
    let names: Vec<_> = statement.tables.iter().map(|table| table.name.clone()).collect();
    session.refuse_twice(&names)?;
    let (op, command) = match statement.cache {
        Some(_) => ("assign_to_keycache", "CACHE INDEX"),
        None => ("preload_keys", "LOAD INDEX INTO CACHE"),
    };
    for name in &names {
        check_access(session, session.schema_of(name)?, &name.name.value, command)?;
    }
    if let Some(cache) = &statement.cache
        && !session.frame.hooks.has_key_cache(&cache.value)
    {
        return Err(SqlError::new(&ER_UNKNOWN_KEY_CACHE, &[&cache.value]));
    }
    let mut rows = Vec::new();
    for asked in &statement.tables {
        let schema = execution.session.schema_of(&asked.name)?.to_owned();
        let shown = format!("{schema}.{}", asked.name.name);
        for (kind, message) in messages(execution, asked, (&schema, op))? {
            rows.push([shown.as_str(), op, kind, &message].map(Value::bytes).to_vec());
        }
    }
    send_messages(execution, &rows)
}

/// Compat: any privilege on the table suffices.
fn check_access(session: &Session, schema: &str, table: &str, command: &str) -> SqlResult<()> {
    let hooks = &session.frame.hooks;
    if schema.eq_ignore_ascii_case("information_schema") {
        return Err(hooks.schema_denied(session, None, schema));
    }
    if session.frame.temporary.get(schema, table).is_some() {
        return Ok(());
    }
    let access = Access { privilege: Privilege::Any, schema, table, columns: &[] };
    let denied = |_| hooks.table_denied(session, None, (schema, table), command);
    hooks.check_access(session, &access).map_err(denied)
}

/// The answer for a table.
fn messages(
    execution: &mut Execution<'_>,
    asked: &CachedTable,
    (schema, op): (&str, &str),
) -> SqlResult<Vec<Message>> {
    let name = &*asked.name.name.value;
    let found = execution.scope().table(schema, name);
    let found = found.and_then(|table| {
        execution.session.check_lock_named(&table, name, false)?;
        Ok(table)
    });
    let table = match found {
        Ok(table) => table,
        Err(error) => {
            let error = execution.session.not_found(error, name);
            return Ok(failed("Error", error.message()));
        }
    };
    if !matches!(table.kind, TableKind::Base | TableKind::Temporary) {
        let text = format!("'{schema}.{}' is not of type 'BASE TABLE'", table.name());
        return Ok(failed("Error", &text));
    }
    if let Some(names) = &asked.partitions {
        let partitions = table.partitions.as_ref();
        let none = || SqlError::new(&ER_PARTITION_MGMT_ON_NONPARTITIONED, &[]);
        if leaves_of(partitions.ok_or_else(none)?, names).is_none() {
            let wrong = SqlError::new(&ER_PARTITION_DOES_NOT_EXIST, &[]);
            return Ok(vec![("error", wrong.message().to_owned())]);
        }
    }
    let maintenance = &table.engine.maintenance;
    let supported = match op {
        "preload_keys" => maintenance.preloads_keys,
        _ => maintenance.assigns_keys,
    };
    if !supported || table.is_sequence() {
        return Ok(vec![unsupported(op)]);
    }
    Ok(missing_index(&table, asked).unwrap_or_else(|| vec![ok()]))
}

/// The answer for a table without an index that is named.
fn missing_index(table: &TableInfo, asked: &CachedTable) -> Option<Vec<Message>> {
    let exists = |name: &str| {
        let own = table.def.indexes.iter().map(|index| &*index.name);
        let text = table.fulltext.iter().map(|index| &*index.def.name);
        own.chain(text).any(|known| identifier_eq(known, name))
    };
    let missing = asked.indexes.iter().find(|name| !exists(&name.value))?;
    let error = SqlError::new(&ER_KEY_DOES_NOT_EXISTS, &[&missing.value, &table.name()]);
    let mut messages = failed("Error", error.message());
    // Compat: MariaDB's layer of partitions names the first one that it asked.
    if let Some(partitions) = &table.partitions {
        let named = asked.partitions.as_deref().unwrap_or_default();
        let is_asked = |name: &str| {
            named.is_empty() || named.iter().any(|asked| identifier_eq(&asked.value, name))
        };
        let first = partitions.parts.iter().find(|part| is_asked(&part.name))?;
        messages.insert(0, ("error", format!("Partition {} returned error", first.name)));
    }
    Some(messages)
}

fn failed(kind: &'static str, text: &str) -> Vec<Message> {
    vec![(kind, text.to_owned()), ("status", "Operation failed".to_owned())]
}
