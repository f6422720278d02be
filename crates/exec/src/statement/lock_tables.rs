//! LOCK TABLES and UNLOCK TABLES.
//!
//! Locking a view also locks the tables that its query reads, in the same mode and under the names
//! used there. What triggers, functions and foreign keys of the tables use is locked too.

use hashbrown::HashSet;
use std::sync::Arc;
use std::time::Duration;

use selkie_catalog::{Namespace, TableInfo, TableKind};
use selkie_sql::ast::{self, Statement};
use selkie_types::error::catalogue::{
    ER_BACKUP_LOCK_IS_ACTIVE, ER_DBACCESS_DENIED_ERROR, ER_LOCK_DEADLOCK,
    ER_LOCK_OR_ACTIVE_TRANSACTION, ER_NONUNIQ_TABLE, ER_TABLEACCESS_DENIED_ERROR, ER_VIEW_INVALID,
    ER_WRONG_LOCK_OF_SYSTEM_TABLE,
};
use selkie_types::{Privileges, SqlError, SqlResult};

use crate::program::reached_by_locks;
use crate::query::execution::{Execution, Scope};
use crate::query::planning::Parameters;
use crate::state::gate::Work;
use crate::state::metadata::{LockMode, LockTicket};
use crate::state::session::{Access, LockList, LockedTable, Privilege};
use crate::{Instance, Outcome, Session};

/// Purpose of the locks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// LOCK TABLES.
    Lock,
    /// FLUSH TABLES ... WITH READ LOCK and FOR EXPORT: such locks exclude each other and ignore
    /// temporary tables.
    Flush,
}

/// Runs LOCK TABLES.
pub(super) fn lock(
    execution: &mut Execution<'_>,
    statement: &ast::LockTables,
) -> SqlResult<Outcome> {
    let session = &mut *execution.session;
    session.transaction.check_no_branch()?;
    if session.backup.stage.is_some() {
        return Err(SqlError::new(&ER_BACKUP_LOCK_IS_ACTIVE, &[]));
    }
    if session.backup.table.is_some() {
        return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    release(session);
    session.commit()?;
    session.handlers.give_way(execution.instance);
    take(execution, statement, Purpose::Lock)?;
    if let Err(error) = execution.complete_locked() {
        release(execution.session);
        return Err(error);
    }
    Ok(Outcome::ok())
}

/// Locks a schema's table.
type LockName<'a> = &'a dyn Fn((&str, &str), LockMode) -> SqlResult<LockTicket>;

/// Times that a list is locked anew after a deadlock.
const DEADLOCKS: usize = 20;

/// Takes locks in the order of names, but those first that are only implied. Compat: where two
/// sessions would deadlock, one gives its locks back and begins anew.
pub(super) fn take(
    execution: &mut Execution<'_>,
    statement: &ast::LockTables,
    purpose: Purpose,
) -> SqlResult<()> {
    let limit = match statement.wait {
        Some(ast::LockWait::NoWait) => Duration::ZERO,
        Some(ast::LockWait::Wait(seconds)) => Duration::from_secs(seconds),
        _ => execution.session.lock_wait(),
    };
    let mut list = list_of(execution, statement, purpose)?;
    if list.iter().any(|table| table.write) {
        execution.session.check_writable()?;
    }
    let Execution { instance, session, control, .. } = execution;
    // Tables that are only implied come first: a session that waits for one holds nothing that
    // those who use it need. The strongest lock on a name comes before its others, so
    // that no other session gets between them.
    list.sort_by_cached_key(|l| (!l.is_implied, l.schema.clone(), l.table.clone(), !l.write));
    let inside = match list.iter().any(|table| table.write) {
        true => Some(session.gate.enter(control, session.core.id, Work::Rows, limit)?),
        false => None,
    };
    let owner = session.core.id;
    let lock = |name: (&str, &str), mode| instance.locks.lock(control, owner, name, mode, limit);
    let mut tickets = tickets_of(&list, purpose, &lock);
    for _ in 0..DEADLOCKS {
        if tickets.as_ref().is_err_and(|error| error.is(&ER_LOCK_DEADLOCK)) {
            tickets = tickets_of(&list, purpose, &lock);
        }
    }
    let mut tickets = tickets?;
    if execution.session.frame.settings.queries.results_wait_for_locks {
        tickets.iter_mut().for_each(LockTicket::note_change);
    }
    // The tables may have been dropped while this waited for their locks.
    list_of(execution, statement, purpose)?;
    let session = &mut *execution.session;
    session.locked_tables = Some(tickets);
    session.locked_inside = inside;
    session.lock_list = Some(Arc::new(LockList::new(list)));
    Ok(())
}

/// The locks of a list; none is kept if one fails.
fn tickets_of(
    list: &[LockedTable],
    purpose: Purpose,
    lock: LockName<'_>,
) -> SqlResult<Vec<LockTicket>> {
    let mut tickets = Vec::new();
    let name_of = |l: &LockedTable| (l.schema.clone(), l.table.clone());
    let named: HashSet<_> = list.iter().filter(|l| !l.is_implied).map(name_of).collect();
    let changed = list.iter().filter(|l| l.is_implied && l.write);
    let changed: HashSet<_> = changed.map(name_of).collect();
    for table in list {
        selkie_meter::spend(1024)?;
        if table.is_implied && named.contains(&name_of(table)) {
            // The lock of its name suffices.
            continue;
        }
        let mode = match (purpose, table.write) {
            _ if table.is_view => LockMode::Read,
            // Compat: others may use what the statement does not name.
            (_, true) if table.is_implied => LockMode::Write,
            (_, false) if table.is_implied => LockMode::Read,
            (_, true) => LockMode::Alone,
            (_, false) if changed.contains(&name_of(table)) => LockMode::Alone,
            (Purpose::Lock, false) => LockMode::NoWrite,
            (Purpose::Flush, false) => LockMode::Upgradable,
        };
        tickets.push(lock((&*table.schema, &*table.table), mode)?);
    }
    Ok(tickets)
}

/// Tables that a statement names, and those of its views.
fn list_of(
    execution: &mut Execution<'_>,
    statement: &ast::LockTables,
    purpose: Purpose,
) -> SqlResult<Vec<LockedTable>> {
    let (mut list, mut found) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for lock in &statement.tables {
        selkie_meter::spend(1024)?;
        let Some(table) = find(execution.scope(), lock, purpose)? else { continue };
        let alias = lock.alias.as_ref().map_or(table.name(), |alias| &alias.value);
        let write = matches!(lock.mode, ast::LockMode::Write | ast::LockMode::WriteConcurrent);
        let named = locked(&table, alias, write);
        if !seen.insert((named.alias.clone(), named.schema.clone())) {
            return Err(SqlError::new(&ER_NONUNIQ_TABLE, &[&alias]));
        }
        list.push(named);
        below(execution, &table, (write, purpose), &mut (&mut list, &mut found))?;
        found.push((table, write));
    }
    if purpose == Purpose::Lock {
        add_implied(execution, &found, &mut list);
    }
    let (changed, others): (Vec<_>, Vec<_>) =
        list.iter().partition(|table| table.write && is_system(&table.schema, &table.table));
    match !changed.is_empty() && !others.is_empty() {
        true => Err(SqlError::new(&ER_WRONG_LOCK_OF_SYSTEM_TABLE, &[])),
        false => Ok(list),
    }
}

/// Compat: tables that are locked for writing alone, since MariaDB locks them in other statements
/// too.
fn is_system(schema: &str, table: &str) -> bool {
    let names = ["event", "proc", "column_stats", "table_stats", "index_stats"];
    let families = ["help_", "time_zone"];
    schema == "mysql"
        && (names.contains(&table) || families.iter().any(|family| table.starts_with(family)))
}

fn locked(table: &TableInfo, alias: &str, write: bool) -> LockedTable {
    LockedTable {
        schema: table.schema().into(),
        table: table.name().into(),
        alias: alias.into(),
        write,
        is_view: matches!(table.kind, TableKind::View(_)),
        is_implied: false,
    }
}

/// Adds the tables that others of LOCK TABLES, some of which are changed, need.
fn add_implied(
    execution: &mut Execution<'_>,
    found: &[(Arc<TableInfo>, bool)],
    list: &mut Vec<LockedTable>,
) {
    for reached in reached_by_locks(execution.scope(), found) {
        let table = reached.table;
        if !matches!(table.kind, TableKind::Base | TableKind::View(_)) {
            continue;
        }
        let named = locked(&table, &reached.alias, reached.is_changed);
        if !list.iter().any(|lock| lock.covers(&named)) {
            list.push(LockedTable { is_implied: true, ..named });
        }
    }
}

/// Adds the tables that a view's query reads.
fn below(
    execution: &mut Execution<'_>,
    view: &Arc<TableInfo>,
    (write, purpose): (bool, Purpose),
    into: &mut (&mut Vec<LockedTable>, &mut Vec<(Arc<TableInfo>, bool)>),
) -> SqlResult<()> {
    let TableKind::View(definition) = &view.kind else { return Ok(()) };
    let text = definition.select.as_bytes();
    let parsed = selkie_sql::parse(text, &selkie_sql::ParseOptions::default())?;
    let Statement::Query(query) = &parsed.statement else { return Ok(()) };
    let Execution { instance, session, .. } = execution;
    let before = (session.frame.acting_as.clone(), session.frame.schema.clone());
    if !definition.security_invoker {
        session.frame.acting_as = Some(definition.definer.as_str().into());
    }
    session.frame.schema = Some(view.schema().into());
    let found = (Scope { instance, session })
        .plan(&parsed.statement, text, Parameters::none())
        .map_err(|_| invalid(view))
        .and_then(|plan| check_below(session, view, &plan.tables, purpose));
    (session.frame.acting_as, session.frame.schema) = before;
    found?;
    for (table, alias) in read_by(instance, view, query) {
        let named = locked(&table, &alias, write);
        // A table that the statement also names is locked as named there.
        if !into.0.iter().any(|lock| lock.covers(&named)) {
            into.0.push(named);
        }
        below(execution, &table, (write, purpose), into)?;
        into.1.push((table, write));
    }
    Ok(())
}

/// Tables and views that a view's query names, each with its alias there.
fn read_by(
    instance: &Instance,
    view: &TableInfo,
    query: &ast::Query,
) -> Vec<(Arc<TableInfo>, Box<str>)> {
    let snapshot = instance.catalog.snapshot();
    let mut found = Vec::new();
    query.clone().for_each_mention(&mut |mention| {
        let ast::Mention::Table(factor) = mention else { return };
        let schema = factor.name.schema.as_ref().map_or(view.schema(), |schema| &schema.value);
        let name = &factor.name.name.value;
        let Some(table) = snapshot.table(schema, name) else { return };
        let alias = factor.alias.as_ref().map_or(name, |alias| &alias.value);
        found.push((table.clone(), alias.clone()));
    });
    found
}

fn check_below(
    session: &Session,
    view: &TableInfo,
    tables: &[Arc<TableInfo>],
    purpose: Purpose,
) -> SqlResult<()> {
    for table in tables {
        if table.kind == TableKind::System && purpose == Purpose::Lock {
            continue;
        }
        let denied = |error: SqlError| match error.is(&ER_TABLEACCESS_DENIED_ERROR) {
            true => invalid(view),
            false => error,
        };
        check(session, table.schema(), table.name()).map_err(denied)?;
    }
    Ok(())
}

fn invalid(view: &TableInfo) -> SqlError {
    SqlError::new(&ER_VIEW_INVALID, &[&view.schema(), &view.name()])
}

/// Finds a named table; `None` for a temporary table, which needs no lock.
fn find(
    scope: Scope<'_>,
    lock: &ast::LockTable,
    purpose: Purpose,
) -> SqlResult<Option<Arc<TableInfo>>> {
    let Scope { instance, session } = scope;
    let schema = session.schema_of(&lock.table)?;
    let name = &*lock.table.name.value;
    let snapshot = instance.catalog.snapshot();
    let names = Namespace { snapshot: &snapshot, temporary: &session.frame.temporary };
    let table = match purpose {
        Purpose::Lock => names.table(schema, name),
        Purpose::Flush => snapshot.table(schema, name),
    };
    if table.is_some_and(|table| table.kind == TableKind::Temporary) {
        return Ok(None);
    }
    check(session, schema, name)?;
    Ok(Some(table.ok_or_else(|| SqlError::no_such_table(schema, name))?.clone()))
}

/// Fails unless the account may lock a table.
fn check(session: &Session, schema: &str, table: &str) -> SqlResult<()> {
    let account = &session.frame.account;
    if schema.eq_ignore_ascii_case("information_schema") {
        let arguments: [&dyn std::fmt::Display; 3] = [&account.user, &account.host, &schema];
        return Err(SqlError::new(&ER_DBACCESS_DENIED_ERROR, &arguments));
    }
    if schema.eq_ignore_ascii_case("performance_schema") {
        let words = &"SELECT, LOCK TABLES";
        let arguments: [&dyn std::fmt::Display; 5] =
            [words, &account.user, &account.host, &schema, &table];
        return Err(SqlError::new(&ER_TABLEACCESS_DENIED_ERROR, &arguments));
    }
    let access = Access { privilege: Privilege::LockTables, schema, table, columns: &[] };
    session.frame.hooks.check_access(session, &access)?;
    session.frame.hooks.check_needs(session, schema, table, Privileges::SELECT)
}

/// Releases the locks of LOCK TABLES.
pub(super) fn release(session: &mut Session) {
    session.end_lock_tables();
}

/// Runs UNLOCK TABLES. Compat: it commits if tables were locked.
pub(super) fn unlock(session: &mut Session) -> SqlResult<Outcome> {
    if session.locked_tables.is_some() {
        session.commit()?;
    }
    release(session);
    session.read_lock.clear();
    Ok(Outcome::ok())
}
