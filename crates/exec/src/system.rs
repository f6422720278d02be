//! Computed tables that depend on definitions and engines only; the server registers the others.
//! Rows that the account may not see must be left out.

use std::sync::Arc;

use selkie_catalog::{
    Asked, InformationSource, NAME_COLUMNS, Namespace, Routine, TableInfo, TableKind,
    TemporaryTables, View, information_rows, information_schema,
};
use selkie_engine::TableStatistics;
use selkie_plan::Permissions;
use selkie_types::{
    Bitmap, Column, Condition, Level, Physical, Privileges, SqlError, SqlResult, Value,
};

use crate::Instance;
use crate::admin::maintained_checksum;
use crate::event::EventList;
use crate::query::execution::Scope;
use crate::show::view_fault;
use crate::state::instance::{SystemRequest, SystemTable};
use crate::state::session::{Access, Privilege, bump};

/// Registers the tables of `information_schema` that need no server.
pub fn register_system_tables(instance: &Instance) {
    let definitions: Arc<dyn SystemTable> = Arc::new(Definitions);
    for table in information_schema() {
        instance.add_system_table(table.name(), definitions.clone());
    }
    instance.add_system_table("PROC", definitions);
    instance.add_system_table("EVENTS", Arc::new(EventList));
    instance.add_system_table("ENGINES", Arc::new(EngineList));
    instance.add_system_table("USER_VARIABLES", Arc::new(UserVariables));
    instance.add_system_table("TABLE_STATISTICS", Arc::new(UsesOfTables));
    instance.add_system_table("INDEX_STATISTICS", Arc::new(UsesOfIndexes));
}

/// Tables whose rows [`information_rows`] computes; a table that it does not know is empty.
struct Definitions;

impl SystemTable for Definitions {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let (instance, session) = (request.instance, request.session);
        check_engine_table(request)?;
        let snapshot = instance.catalog.snapshot();
        let statistics = |table: &TableInfo| statistics_of(instance, table);
        let changed = |table: &TableInfo| changed(instance, table);
        let visible = |schema: &str, name: &str| match snapshot.table(schema, name) {
            Some(table) => session.frame.hooks.is_visible(session, table),
            None if name.is_empty() => session.frame.hooks.sees_schema(session, schema),
            None => true,
        };
        let may = |privilege: Privilege, r: &Routine| {
            let (schema, name) = (&r.schema, &r.name);
            session.frame.hooks.check_routine(session, privilege, r.form(), schema, name).is_ok()
        };
        let on_table =
            |schema: &str, table: &str| Permissions::granted(session, None, schema, table);
        let routine_visible =
            |r: &Routine| may(Privilege::Any, r) || may(Privilege::ShowRoutine, r);
        let routine_body_visible = |r: &Routine| {
            *r.context.definer == *session.frame.account.account || may(Privilege::ShowRoutine, r)
        };
        let view_body_visible = |table: &TableInfo, view: &View| {
            let wanted = Privileges::SHOW_VIEW | Privileges::SELECT;
            *view.definer == *session.frame.account.account
                || Permissions::granted(session, None, table.schema(), table.name()).has(wanted)
        };
        let on_column = |table: &TableInfo, column: &str| match table.kind {
            TableKind::System => Privileges::SELECT,
            TableKind::Temporary => Privileges::COLUMN,
            _ if session.frame.account.global.has(Privileges::COLUMN) => {
                session.frame.account.global
            }
            _ => session.frame.hooks.on_column(session, (table.schema(), table.name(), column)),
        };
        // Compat: information_schema has no temporary tables; SHOW sees those it names.
        let none = TemporaryTables::default();
        let temporary = if session.shows { &session.frame.temporary } else { &none };
        let with_checksums = asks_for(request, "CHECKSUM");
        let checksum = |table: &TableInfo| {
            with_checksums.then(|| maintained_checksum(instance, session, table))?
        };
        // An error of the condition comes again with the rows.
        let wanted = |names| (request.wanted)(&Arc::new(names)).ok().flatten();
        let source = InformationSource {
            checksum: &checksum,
            on_table: &on_table,
            routine_visible: &routine_visible,
            view_body_visible: &view_body_visible,
            view_fault: &|table, view| warned_fault(Scope { instance, session }, table, view),
            routine_body_visible: &routine_body_visible,
            names: Namespace { snapshot: &snapshot, temporary },
            statistics: &statistics,
            leaf_statistics: &|table| leaf_statistics(request.instance, table),
            changed: &changed,
            visible: &visible,
            on_column: &on_column,
            sql_mode: session.frame.settings.expressions.sql_mode,
            zone: &session.frame.settings.expressions.time_zone,
            asked: asked(request, &wanted),
        };
        let rows = information_rows(&source, request.table.name());
        count_reads_of_routines(request, &source);
        note_missing_definers(request, &source);
        rows.unwrap_or_default().iter().try_for_each(|row| emit(row))
    }
}

/// The error of a view that reads what is gone, as a warning too.
fn warned_fault(scope: Scope<'_>, table: &TableInfo, view: &View) -> Option<SqlError> {
    let fault = view_fault(scope, table, view)?;
    let max = scope.session.frame.settings.notes.max_error_count;
    scope.session.diagnostics.push(Condition::from_error(Level::Warning, &fault), max);
    Some(fault)
}

/// Fails if the account may not read an engine's table, which lists what belongs to all accounts.
fn check_engine_table(request: &SystemRequest<'_>) -> SqlResult<()> {
    let table = request.table;
    if table.schema() != "information_schema" || !table.name().starts_with("INNODB_") {
        return Ok(());
    }
    let access = Access { privilege: Privilege::Process, schema: "", table: "", columns: &[] };
    request.session.frame.hooks.check_access(request.session, &access)
}

fn asked<'a>(
    request: &SystemRequest<'a>,
    wanted: &'a dyn Fn(Column) -> Option<Bitmap>,
) -> Asked<'a> {
    Asked {
        schema: request.schema,
        table: request.name,
        only_names: !asks_for_more_than_names(request),
        opens_views: asks_for(request, "TABLE_ROWS"),
        wanted,
    }
}

/// Whether a column of TABLES is asked for. CHECKSUM takes a look at each row; TABLE_ROWS stands
/// for all that a view has to be opened for.
fn asks_for(request: &SystemRequest<'_>, name: &str) -> bool {
    let mut columns = request.columns.iter().map(|at| &request.table.columns[*at]);
    request.table.name() == "TABLES" && columns.any(|column| &*column.name == name)
}

/// Counts what MariaDB reads of `mysql.proc` for a table that is made of it: the entries of one
/// schema by its primary key, or all entries.
fn count_reads_of_routines(request: &SystemRequest<'_>, source: &InformationSource<'_>) {
    if !matches!(request.table.name(), "ROUTINES" | "PARAMETERS") {
        return;
    }
    let counters = &request.session.core.counters;
    let (begun, read) = match request.schema {
        Some(_) => (&counters.handler_read_key, source.requested_routines().count()),
        None => (&counters.handler_read_first, source.names.snapshot.routines().count()),
    };
    bump(begun, 1);
    bump(&counters.handler_read_next, read as u64);
}

/// Whether a query of TABLES reads more than names and kinds of tables.
fn asks_for_more_than_names(request: &SystemRequest<'_>) -> bool {
    request.columns.iter().any(|at| *at >= NAME_COLUMNS)
}

/// Adds note 1449 for views whose definer does not exist. Compat: only if a query of TABLES reads
/// more than names.
fn note_missing_definers(request: &SystemRequest<'_>, source: &InformationSource<'_>) {
    let session = request.session;
    let opens = asks_for_more_than_names(request);
    if request.table.name() != "TABLES" || !opens || !session.frame.settings.notes.sql_notes {
        return;
    }
    for table in source.tables() {
        let TableKind::View(view) = &table.kind else { continue };
        if let Err(error) = Permissions::check_definer(session, &view.definer) {
            let note = Condition::from_error(Level::Note, &error);
            session.diagnostics.push(note, session.frame.settings.notes.max_error_count);
        }
    }
}

/// Time of the last change to a table's rows, in seconds since 1970, if the engine knows it.
fn changed(instance: &Instance, table: &TableInfo) -> Option<u64> {
    match table.kind {
        TableKind::Base => instance.look_into(table)?.changed(),
        _ => None,
    }
}

/// Statistics of the engine; empty for tables without storage or that cannot be opened.
fn statistics_of(instance: &Instance, table: &TableInfo) -> TableStatistics {
    match table.kind {
        TableKind::Base | TableKind::Temporary => {
            instance.look_into(table).map(|handle| handle.table.statistics()).unwrap_or_default()
        }
        _ => TableStatistics::default(),
    }
}

/// The statistics of each leaf of a partitioned table; none if it cannot be opened.
fn leaf_statistics(instance: &Instance, table: &TableInfo) -> Vec<TableStatistics> {
    let handle = instance.look_into(table);
    handle.and_then(|handle| handle.parts.as_ref().map(|p| p.each())).unwrap_or_default()
}

/// The session's `@name` variables.
struct UserVariables;

impl SystemTable for UserVariables {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        for (name, (value, ty)) in request.session.core.variables.lock().iter() {
            let mut shown = Vec::new();
            selkie_types::write_value(ty, value, &mut shown);
            let shown = if value.is_null() { Value::Null } else { Value::bytes(shown) };
            let kind = match ty.physical() {
                Physical::Int | Physical::UInt => "INT",
                Physical::Double => "DOUBLE",
                Physical::Decimal => "DECIMAL",
                _ => "VARCHAR",
            };
            let charset = ty.collation.charset().name();
            emit(&[Value::bytes(&**name), shown, Value::bytes(kind), Value::bytes(charset)])?;
        }
        Ok(())
    }
}

/// `TABLE_STATISTICS`.
struct UsesOfTables;

impl SystemTable for UsesOfTables {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        for uses in request.instance.uses().tables() {
            if may_read(request, &uses.schema, &uses.table) {
                let [schema, table] = [&uses.schema, &uses.table].map(|name| Value::bytes(&**name));
                let counts = [uses.read, uses.changed, uses.changed_by_indexes];
                let [read, changed, by_indexes] = counts.map(|count| Value::Int(count as i64));
                emit(&[schema, table, read, changed, by_indexes])?;
            }
        }
        Ok(())
    }
}

/// `INDEX_STATISTICS`.
struct UsesOfIndexes;

impl SystemTable for UsesOfIndexes {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        for uses in request.instance.uses().indexes() {
            if may_read(request, &uses.schema, &uses.table) {
                let names = [&uses.schema, &uses.table, &uses.index];
                let [schema, table, index] = names.map(|name| Value::bytes(&**name));
                emit(&[schema, table, index, Value::Int(uses.read as i64)])?;
            }
        }
        Ok(())
    }
}

/// Whether the account may read some column of a table.
fn may_read(request: &SystemRequest<'_>, schema: &str, table: &str) -> bool {
    let session = request.session;
    session.frame.hooks.check_table(session, None, schema, table, Privileges::SELECT).is_ok()
}

struct EngineList;

impl SystemTable for EngineList {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let engines = &request.instance.engines;
        for engine in engines.shown() {
            let yes_no = |yes: bool| if yes { "YES" } else { "NO" };
            let default = *engine.name == *request.session.frame.settings.engines.default;
            let support = if default { "DEFAULT" } else { "YES" };
            let xa = engine.transactional && engines.of(engine).is_some();
            let (transactional, savepoints) = (engine.transactional, engine.transactional);
            let row = [
                engine.name,
                support,
                engine.comment,
                yes_no(transactional),
                yes_no(xa),
                yes_no(savepoints),
            ];
            emit(&row.map(Value::bytes))?;
        }
        Ok(())
    }
}
