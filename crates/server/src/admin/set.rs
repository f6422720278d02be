//! SET: one assignment at a time.
//!
//! Must not evaluate expressions: values come evaluated. What a changed variable does to the
//! running session is told by [`Target`].

use selkie_sql::ast::{PasswordValue, SetItem, VarScope as Said};
use selkie_types::error::catalogue::*;
use selkie_types::{Charset, CollationId, Condition, SqlError, SqlResult, Value};

use super::answer::Notes;
use super::{names, roles};
use crate::accounts::{AuthMethod, Privileges};
use crate::session::Shared;
use crate::variables::{
    SetValue, VarDef, VarScope, VarValue, assign, check_assignable, ids, lookup, registry,
};

/// What an assignment was about, for the session to follow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// A session variable has this value now.
    Session(&'static str, VarValue),
    /// Nothing of this session.
    Other,
}

/// Performs one assignment.
pub(crate) fn set_item(
    shared: &Shared,
    item: &SetItem,
    value: Option<SetValue>,
    notes: &mut Notes,
) -> SqlResult<Target> {
    match item {
        SetItem::SystemVar { scope, instance, name, .. } => {
            let scope = scope_of(*scope);
            if let Some(instance) = instance {
                return structured(&instance.value, &name.value);
            }
            set_variable(shared, scope, &name.value, value.unwrap_or(SetValue::Default), notes)
        }
        SetItem::Names { charset, collation } => {
            set_names(shared, charset.as_deref(), collation.as_deref())?;
            Ok(Target::Other)
        }
        SetItem::CharacterSet(charset) => {
            set_character_set(shared, charset.as_deref())?;
            Ok(Target::Other)
        }
        SetItem::Password { account, password } => {
            set_password(shared, account.as_ref(), password)?;
            Ok(Target::Other)
        }
        SetItem::Role(role) => {
            roles::set_role(shared, role.as_deref())?;
            Ok(Target::Other)
        }
        SetItem::DefaultRole { role, account } => {
            roles::set_default_role(shared, role.as_deref(), account.as_ref())?;
            Ok(Target::Other)
        }
        SetItem::Transaction { scope, isolation, read_only } => {
            set_transaction(shared, scope_of(*scope), *isolation, *read_only)?;
            Ok(Target::Other)
        }
        SetItem::UserVar { .. } => Err(SqlError::internal("a user variable is the session's own")),
    }
}

fn scope_of(said: Option<Said>) -> VarScope {
    match said {
        Some(Said::Global) => VarScope::Global,
        Some(Said::Session) => VarScope::Session,
        None => VarScope::Default,
    }
}

/// Compat: only key caches are structured, and only the default one exists.
fn structured(instance: &str, name: &str) -> SqlResult<Target> {
    match lookup(name)?.name.starts_with("key_") {
        true => Err(SqlError::not_supported(format!("key cache {instance}"))),
        false => Err(SqlError::new(&ER_VARIABLE_IS_NOT_STRUCT, &[&name])),
    }
}

fn set_variable(
    shared: &Shared,
    scope: VarScope,
    name: &str,
    given: SetValue,
    notes: &mut Notes,
) -> SqlResult<Target> {
    let def = lookup(name)?;
    check_assignable(def, scope)?;
    check_privilege(shared, def, scope)?;
    let value = match given {
        SetValue::Default => default_of(shared, def, scope)?,
        SetValue::Value(given) => {
            let current = current(shared, def, scope);
            let assigned = assign(def, &given, &current)?;
            if let Some(warning) = assigned.warning {
                refuse_if_strict(shared, def, &given)?;
                notes.push(warning);
            }
            assigned.value
        }
    };
    check_combination(shared, def, scope, &value)?;
    let value =
        if scope == VarScope::Global { take_effect(shared, def, value, notes) } else { value };
    store(shared, def, scope, value)
}

/// Lets the engines act on a number; one that cannot go all the way says how far it went.
fn take_effect(shared: &Shared, def: &VarDef, value: VarValue, notes: &mut Notes) -> VarValue {
    let VarValue::Uint(wanted) = value else { return value };
    let got = shared.server.backend.set_variable(def.name, wanted);
    if got != wanted {
        notes.push(Condition::warning(
            &ER_TRUNCATED_WRONG_VALUE,
            &[&def.name, &wanted as &dyn std::fmt::Display],
        ));
    }
    VarValue::Uint(got)
}

fn current(shared: &Shared, def: &VarDef, scope: VarScope) -> VarValue {
    match scope {
        VarScope::Global => shared.server.globals.get(def.id),
        _ => shared.var(def.id),
    }
}

/// Compat: with STRICT_ALL_TABLES a value out of range is an error.
fn refuse_if_strict(shared: &Shared, def: &VarDef, given: &Value) -> SqlResult<()> {
    let mode = shared.var(ids().sql_mode).as_u64();
    if mode & selkie_types::SqlMode::STRICT_ALL_TABLES.bits() == 0 {
        return Ok(());
    }
    let shown = match given {
        Value::Int(v) => v.to_string(),
        Value::UInt(v) => v.to_string(),
        Value::Double(v) => v.to_string(),
        _ => String::new(),
    };
    Err(SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&def.name, &shown]))
}

/// Session variables that only some may set, for what they do to others.
fn check_privilege(shared: &Shared, def: &VarDef, scope: VarScope) -> SqlResult<()> {
    let access = shared.access.lock();
    let needed = match (scope, def.name) {
        (VarScope::Global, "read_only") => Privileges::READ_ONLY_ADMIN | Privileges::SUPER,
        (
            VarScope::Global,
            "max_connections"
            | "connect_timeout"
            | "init_connect"
            | "max_connect_errors"
            | "max_password_errors"
            | "secure_auth"
            | "slow_launch_time"
            | "thread_pool_size"
            | "extra_max_connections"
            | "proxy_protocol_networks"
            | "disconnect_on_expired_password",
        ) => Privileges::CONNECTION_ADMIN | Privileges::SUPER,
        (VarScope::Global, _) => Privileges::SUPER,
        (
            _,
            "sql_log_bin"
            | "binlog_format"
            | "pseudo_thread_id"
            | "sql_log_off"
            | "skip_replication"
            | "gtid_domain_id"
            | "server_id"
            | "gtid_seq_no"
            | "binlog_row_image"
            | "binlog_direct_non_transactional_updates"
            | "skip_parallel_replication"
            | "system_versioning_insert_history",
        ) => Privileges::BINLOG_ADMIN | Privileges::BINLOG_REPLAY | Privileges::SUPER,
        _ => return Ok(()),
    };
    match access.has_global(needed) {
        true => Ok(()),
        false => access.check_global(Privileges::SUPER),
    }
}

fn default_of(shared: &Shared, def: &VarDef, scope: VarScope) -> SqlResult<VarValue> {
    if matches!(def.name, "identity" | "last_insert_id") {
        return Err(SqlError::new(&ER_NO_DEFAULT, &[&def.name]));
    }
    Ok(match scope {
        VarScope::Global => shared.server.globals.default_of(def.id),
        // The session's default is the server's value.
        _ => shared.server.globals.get(def.id),
    })
}

/// Values that are good in themselves but not together with others.
fn check_combination(
    shared: &Shared,
    def: &VarDef,
    scope: VarScope,
    value: &VarValue,
) -> SqlResult<()> {
    let enables = value.as_u64() != 0 && scope != VarScope::Global;
    match def.name {
        "query_cache_type" if enables => {
            let off = shared.server.globals.get(ids().query_cache_type).as_u64() == 0;
            if off {
                return Err(SqlError::new(&ER_QUERY_CACHE_IS_GLOBALY_DISABLED, &[]));
            }
        }
        "tx_isolation" | "tx_read_only"
            if scope == VarScope::Default && shared.handle.in_transaction() =>
        {
            return Err(SqlError::new(&ER_CANT_CHANGE_TX_CHARACTERISTICS, &[]));
        }
        _ => {}
    }
    Ok(())
}

fn store(
    shared: &Shared,
    def: &'static VarDef,
    scope: VarScope,
    value: VarValue,
) -> SqlResult<Target> {
    for (id, value) in linked(def, &value) {
        match scope {
            VarScope::Global => shared.server.globals.set(id, value),
            _ => shared.set_var(id, value),
        }
    }
    if scope == VarScope::Global {
        shared.server.globals.set(def.id, value);
        return Ok(Target::Other);
    }
    shared.set_var(def.id, value.clone());
    Ok(Target::Session(def.name, value))
}

/// Variables that are two names, or two sides, of one thing.
fn linked(def: &VarDef, value: &VarValue) -> Vec<(crate::variables::VarId, VarValue)> {
    let ids = ids();
    let collation = || CollationId::from_name(value.as_str());
    let charset = || Charset::from_name(value.as_str());
    let of_collation = |id| collation().map(|c| (id, VarValue::text(c.charset().name())));
    let of_charset = |id| charset().map(|c| (id, VarValue::text(c.default_collation().name())));
    let same = |id| Some((id, value.clone()));
    let pair = match def.name {
        "collation_connection" => of_collation(ids.character_set_connection),
        "collation_server" => of_collation(ids.character_set_server),
        "collation_database" => of_collation(ids.character_set_database),
        "character_set_connection" => of_charset(ids.collation_connection),
        "character_set_server" => of_charset(ids.collation_server),
        "character_set_database" => of_charset(ids.collation_database),
        "default_storage_engine" => same(ids.storage_engine),
        "storage_engine" => same(ids.default_storage_engine),
        "identity" => same(ids.last_insert_id),
        "last_insert_id" => same(ids.identity),
        other => alias(other).and_then(|name| registry().find(name)).and_then(|d| same(d.id)),
    };
    pair.into_iter().collect()
}

/// The other name of a variable with two names.
fn alias(name: &str) -> Option<&'static str> {
    Some(match name {
        "slow_query_log" => "log_slow_query",
        "log_slow_query" => "slow_query_log",
        "long_query_time" => "log_slow_query_time",
        "log_slow_query_time" => "long_query_time",
        "slow_query_log_file" => "log_slow_query_file",
        "log_slow_query_file" => "slow_query_log_file",
        "min_examined_row_limit" => "log_slow_min_examined_row_limit",
        "log_slow_min_examined_row_limit" => "min_examined_row_limit",
        "tmp_table_size" => "tmp_memory_table_size",
        "tmp_memory_table_size" => "tmp_table_size",
        _ => return None,
    })
}

fn set_names(shared: &Shared, charset: Option<&str>, collation: Option<&str>) -> SqlResult<()> {
    let charset = match charset {
        Some(name) => known_charset(name)?,
        None => default_charset(shared),
    };
    let collation = match collation {
        Some(name) => {
            let found = CollationId::from_name(name);
            let found = found.ok_or_else(|| SqlError::new(&ER_UNKNOWN_COLLATION, &[&name]))?;
            if found.charset() != charset {
                let (collation, charset) = (found.name(), charset.name());
                return Err(SqlError::new(&ER_COLLATION_CHARSET_MISMATCH, &[&collation, &charset]));
            }
            found
        }
        None => charset.default_collation(),
    };
    check_client_charset(charset)?;
    let name = VarValue::text(charset.name());
    // Compat: this is the order in which session tracking tells them.
    shared.set_var(ids().character_set_client, name.clone());
    shared.set_var(ids().character_set_connection, name.clone());
    shared.set_var(ids().character_set_results, name);
    shared.set_var(ids().collation_connection, VarValue::text(collation.name()));
    Ok(())
}

/// SET CHARACTER SET: client and results as said, the connection as the database.
fn set_character_set(shared: &Shared, charset: Option<&str>) -> SqlResult<()> {
    let charset = match charset {
        Some(name) => known_charset(name)?,
        None => default_charset(shared),
    };
    check_client_charset(charset)?;
    let name = VarValue::text(charset.name());
    shared.set_var(ids().character_set_client, name.clone());
    shared.set_var(ids().character_set_results, name);
    shared.set_var(ids().character_set_connection, shared.var(ids().character_set_database));
    shared.set_var(ids().collation_connection, shared.var(ids().collation_database));
    Ok(())
}

fn default_charset(shared: &Shared) -> Charset {
    let name = shared.server.globals.get(ids().character_set_client);
    Charset::from_name(name.as_str()).unwrap_or(Charset::Utf8mb4)
}

fn known_charset(name: &str) -> SqlResult<Charset> {
    Charset::from_name(name).ok_or_else(|| SqlError::new(&ER_UNKNOWN_CHARACTER_SET, &[&name]))
}

fn check_client_charset(charset: Charset) -> SqlResult<()> {
    let name = charset.name();
    match charset.min_len() == 1 {
        true => Ok(()),
        false => Err(SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&"character_set_client", &name])),
    }
}

fn set_password(
    shared: &Shared,
    account: Option<&selkie_sql::ast::AccountName>,
    password: &PasswordValue,
) -> SqlResult<()> {
    let text = |l: &selkie_sql::ast::StringLiteral| String::from_utf8_lossy(&l.bytes).into_owned();
    let own = shared.access.lock().identity().account.clone();
    let name = account.map_or(Ok(own.clone()), |a| names::user(shared, a))?;
    if name != own {
        shared.access.lock().check_global(Privileges::CREATE_USER)?;
    }
    let method = match password {
        PasswordValue::Plain(password) => AuthMethod::password(&text(password)),
        PasswordValue::Hash(hash) => AuthMethod::hashed(&text(hash))?,
        PasswordValue::Old(_) => {
            return Err(SqlError::new(&ER_PLUGIN_IS_NOT_LOADED, &[&"mysql_old_password"]));
        }
    };
    shared.server.accounts.change(|acl| acl.set_password(&name, method))
}

/// SET GLOBAL or SESSION TRANSACTION; the next transaction alone is the session's own affair.
fn set_transaction(
    shared: &Shared,
    scope: VarScope,
    isolation: Option<selkie_sql::ast::IsolationLevel>,
    read_only: Option<bool>,
) -> SqlResult<()> {
    if scope == VarScope::Global {
        shared.access.lock().check_global(Privileges::SUPER)?;
    }
    let put = |id, value| match scope {
        VarScope::Global => shared.server.globals.set(id, value),
        _ => shared.set_var(id, value),
    };
    if let Some(level) = isolation {
        put(ids().tx_isolation, VarValue::Enum(level as u16));
    }
    if let Some(read_only) = read_only {
        put(ids().tx_read_only, VarValue::Bool(read_only));
    }
    Ok(())
}
