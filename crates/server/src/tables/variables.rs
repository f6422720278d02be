//! System variables and status counters.
//!
//! Must not format values itself: `VarValue::show` does, for SHOW as well.

use std::sync::{Arc, LazyLock};

use selkie_protocol::Capabilities;
use selkie_types::{Column, Physical, SqlResult, Value};

use super::{Pseudo, Row, Wanted, text};
use crate::session::Shared;
use crate::status::{Gauges, global_rows, session_rows, shown_statuses};
use crate::variables::{
    Access, Kind, OptionArgument, Rule, Scope, VarDef, VarValue, ids, moment, registry,
};

fn pair(name: &str, value: &str) -> Row {
    vec![("VARIABLE_NAME", text(name.to_uppercase())), ("VARIABLE_VALUE", text(value))]
}

/// Names as the tables have them.
fn names(all: impl Iterator<Item = &'static str>) -> Arc<Column> {
    let mut column = Column::new(Physical::Bytes, 0, 0);
    all.for_each(|name| column.push(&text(name.to_uppercase())));
    Arc::new(column)
}

/// The definitions that a statement asks for.
fn chosen(wanted: Wanted<'_>) -> SqlResult<impl Iterator<Item = &'static VarDef>> {
    static NAMES: LazyLock<Arc<Column>> =
        LazyLock::new(|| names(registry().all().iter().map(|d| d.name)));
    let keep = wanted(&NAMES)?;
    let all = registry().all().iter().enumerate();
    Ok(all.filter(move |(at, _)| keep.as_ref().is_none_or(|keep| keep.get(*at))).map(|(_, d)| d))
}

/// Whether a statement asks for the counter at a place of the list.
fn counters(wanted: Wanted<'_>) -> SqlResult<impl Fn(usize) -> bool> {
    static NAMES: LazyLock<Arc<Column>> =
        LazyLock::new(|| names(shown_statuses().iter().map(|d| d.name)));
    let keep = wanted(&NAMES)?;
    Ok(move |at| keep.as_ref().is_none_or(|keep| keep.get(at)))
}

pub(super) fn global_variables(shared: &Shared, wanted: Wanted<'_>) -> SqlResult<Vec<Row>> {
    let values = shared.server.globals.snapshot();
    let global = chosen(wanted)?.filter(|d| d.has_global_value());
    Ok(global.map(|d| pair(d.name, &shown(shared, &values, d))).collect())
}

fn shown(shared: &Shared, values: &[VarValue], def: &VarDef) -> String {
    let kept = crate::binlog::value(&shared.server, def.name);
    if let Some(value) =
        kept.or_else(|| crate::replica::variable(shared, def.name, &mut Vec::new()))
    {
        return value.show(def);
    }
    let own = |value: &VarValue| moment::shown(def, value.clone(), &zone(shared)).show(def);
    values.get(usize::from(def.id.0)).map_or(String::new(), own)
}

/// The session's time zone.
fn zone(shared: &Shared) -> String {
    shared.var(ids().time_zone).as_str().to_owned()
}

fn session_value(
    shared: &Shared,
    globals: &[VarValue],
    def: &VarDef,
    pseudo: Pseudo<'_>,
) -> String {
    if def.scope == Scope::Global {
        return shown(shared, globals, def);
    }
    let kept = || crate::replica::variable(shared, def.name, &mut Vec::new());
    let own = || {
        let value = || moment::shown(def, shared.var(def.id), &zone(shared));
        kept().unwrap_or_else(value).show(def)
    };
    pseudo(def.name).unwrap_or_else(own)
}

pub(super) fn session_variables(
    shared: &Shared,
    pseudo: Pseudo<'_>,
    wanted: Wanted<'_>,
) -> SqlResult<Vec<Row>> {
    let globals = shared.server.globals.snapshot();
    let row = |d: &VarDef| pair(d.name, &session_value(shared, &globals, d, pseudo));
    Ok(chosen(wanted)?.map(row).collect())
}

/// Values of gauges. Compat: values about the session's connection (TLS, compression) are part of
/// the server's values too.
fn gauges(shared: &Shared) -> Gauges {
    let mut gauges = shared.server.gauges();
    crate::replica::status_variables(shared, &mut gauges);
    if shared.capabilities().has(Capabilities::COMPRESS) {
        gauges.insert("compression".to_owned(), "ON".to_owned());
    }
    shared.server.tls.status(shared.tls(), &mut gauges);
    gauges
}

pub(super) fn global_status(shared: &Shared, wanted: Wanted<'_>) -> SqlResult<Vec<Row>> {
    let totals = shared.server.sessions.totals();
    let rows = global_rows(&totals, &gauges(shared), &counters(wanted)?);
    Ok(rows.iter().map(|(name, value)| pair(name, value)).collect())
}

pub(super) fn session_status(
    shared: &Shared,
    pseudo: Pseudo<'_>,
    wanted: Wanted<'_>,
) -> SqlResult<Vec<Row>> {
    let totals = shared.server.sessions.totals();
    let mut gauges = gauges(shared);
    crate::binlog::snapshot_status(&shared.server, pseudo, &mut gauges);
    let account = shared.handle.kill.account();
    gauges.insert("memory_used".to_owned(), account.used().to_string());
    gauges.insert("max_memory_used".to_owned(), account.most().to_string());
    let rows = session_rows(&shared.handle.counters, &totals, &gauges, &counters(wanted)?);
    Ok(rows.iter().map(|(name, value)| pair(name, value)).collect())
}

pub(super) fn system_variables(
    shared: &Shared,
    pseudo: Pseudo<'_>,
    wanted: Wanted<'_>,
) -> SqlResult<Vec<Row>> {
    let globals = shared.server.globals.snapshot();
    Ok(chosen(wanted)?.map(|d| definition(shared, &globals, d, pseudo)).collect())
}

fn definition(shared: &Shared, globals: &[VarValue], def: &VarDef, pseudo: Pseudo<'_>) -> Row {
    let optional = |on: bool, value: String| if on { text(value) } else { Value::Null };
    let (min, max, block) = limits(&def.kind);
    let has_names = !def.names.is_empty();
    vec![
        ("VARIABLE_NAME", text(def.name.to_uppercase())),
        (
            "SESSION_VALUE",
            optional(def.has_session_value(), session_value(shared, globals, def, pseudo)),
        ),
        ("GLOBAL_VALUE", optional(def.has_global_value(), shown(shared, globals, def))),
        ("GLOBAL_VALUE_ORIGIN", text("COMPILE-TIME")),
        ("DEFAULT_VALUE", def.default.map_or(Value::Null, text)),
        ("VARIABLE_SCOPE", text(scope_word(def.scope))),
        ("VARIABLE_TYPE", text(type_word(def))),
        ("VARIABLE_COMMENT", text("")),
        ("NUMERIC_MIN_VALUE", min.map_or(Value::Null, text)),
        ("NUMERIC_MAX_VALUE", max.map_or(Value::Null, text)),
        ("NUMERIC_BLOCK_SIZE", block.map_or(Value::Null, text)),
        ("ENUM_VALUE_LIST", optional(has_names, def.names.join(","))),
        ("READ_ONLY", text(if def.access == Access::ReadOnly { "YES" } else { "NO" })),
        ("COMMAND_LINE_ARGUMENT", argument_word(def.argument).map_or(Value::Null, text)),
        ("GLOBAL_VALUE_PATH", Value::Null),
    ]
}

fn limits(kind: &Kind) -> (Option<String>, Option<String>, Option<String>) {
    match kind {
        Kind::Int { min, max, block } => {
            (Some(min.to_string()), Some(max.to_string()), Some(block.to_string()))
        }
        Kind::Uint { min, max, block } => {
            (Some(min.to_string()), Some(max.to_string()), Some(block.to_string()))
        }
        Kind::Double { min, max } => (Some(min.to_string()), Some(max.to_string()), None),
        _ => (None, None, None),
    }
}

fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::Global => "GLOBAL",
        Scope::Session => "SESSION",
        Scope::SessionOnly => "SESSION ONLY",
    }
}

fn type_word(def: &VarDef) -> &'static str {
    match def.kind {
        // Compat: a text that must be a name from a list counts as an enumeration.
        Kind::Text if def.rule.is_some_and(Rule::is_of_names) => "ENUM",
        Kind::Bool => "BOOLEAN",
        Kind::Int { .. } if def.narrow => "INT",
        Kind::Uint { .. } if def.narrow => "INT UNSIGNED",
        Kind::Int { .. } => "BIGINT",
        Kind::Uint { .. } => "BIGINT UNSIGNED",
        Kind::Double { .. } => "DOUBLE",
        Kind::Text => "VARCHAR",
        Kind::Enum => "ENUM",
        Kind::Set => "SET",
        Kind::Flags => "FLAGSET",
    }
}

fn argument_word(argument: OptionArgument) -> Option<&'static str> {
    match argument {
        OptionArgument::NoOption => None,
        OptionArgument::Required => Some("REQUIRED"),
        OptionArgument::Optional => Some("OPTIONAL"),
        OptionArgument::None => Some("NONE"),
    }
}
