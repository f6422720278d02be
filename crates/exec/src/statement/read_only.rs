//! Statements that a READ ONLY transaction refuses by their syntax: error 1792. Changes of rows are
//! checked later with the plan, which knows temporary tables.

use selkie_catalog::TableKind;
use selkie_plan::physical::Plan;
use selkie_sql::ast::{LockMode, MaintenanceAction, SetItem, Statement, TableName};
use selkie_types::error::catalogue::ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION;
use selkie_types::{SqlError, SqlResult};

use crate::Session;

fn refused() -> SqlError {
    SqlError::new(&ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, &[])
}

/// Fails for statements that change definitions or accounts.
pub(super) fn check(session: &Session, statement: &Statement) -> SqlResult<()> {
    let (transaction, settings) = (&session.transaction, &session.frame.settings);
    let read_only = match changes(statement) {
        Changes::Nothing => false,
        Changes::Temporary => transaction.is_read_only(settings),
        // Compat: they commit the open transaction first, and run in the next one.
        Changes::Shared if transaction.is_open() => settings.transactions.tx_read_only,
        Changes::Shared => transaction.is_read_only(settings),
    };
    if read_only { Err(refused()) } else { Ok(()) }
}

/// Fails for a query that exclusively locks rows of shared tables.
pub(crate) fn check_locking(
    session: &Session,
    statement: &Statement,
    plan: &Plan,
) -> SqlResult<()> {
    let Statement::Query(query) = statement else { return Ok(()) };
    let for_update = query.locking.is_some_and(|locking| locking.exclusive);
    let shared = || plan.tables.iter().any(|t| matches!(t.kind, TableKind::Base));
    if for_update && session.transaction.is_read_only(&session.frame.settings) && shared() {
        return Err(refused());
    }
    Ok(())
}

/// Whether a statement changes something shared other than rows, and so must enter the gate.
pub(super) fn changes_shared(session: &Session, statement: &Statement) -> bool {
    let own = |name: &TableName| {
        let schema = name.schema.as_ref().map(|s| &*s.value).or(session.frame.schema.as_deref());
        session.frame.temporary.get(schema.unwrap_or_default(), &name.name.value).is_some()
    };
    match statement {
        Statement::LockTables(_) | Statement::Set(_) => false,
        Statement::TableMaintenance(what) => {
            let reads =
                matches!(what.action, MaintenanceAction::Check | MaintenanceAction::Checksum);
            !reads && !what.tables.iter().all(own)
        }
        Statement::AlterTable(alter) => !own(&alter.table),
        Statement::CreateIndex(create) => !own(&create.table),
        Statement::DropIndex(drop) => !own(&drop.table),
        Statement::Truncate { table, .. } => !own(table),
        Statement::RenameTables(rename) => !rename.pairs.iter().all(|(from, _)| own(from)),
        Statement::DropTables(drop) => !drop.temporary && !drop.names.iter().all(own),
        _ => matches!(changes(statement), Changes::Shared),
    }
}

enum Changes {
    Nothing,
    Temporary,
    Shared,
}

fn changes(statement: &Statement) -> Changes {
    let of = |temporary| if temporary { Changes::Temporary } else { Changes::Shared };
    match statement {
        Statement::CreateTable(create) => of(create.temporary),
        Statement::DropTables(drop) => of(drop.temporary),
        Statement::TableMaintenance(what) => match what.action {
            MaintenanceAction::Optimize => Changes::Shared,
            _ => Changes::Nothing,
        },
        Statement::LockTables(lock) => {
            let writes = |mode| matches!(mode, LockMode::Write | LockMode::WriteConcurrent);
            match lock.tables.iter().any(|table| writes(table.mode)) {
                true => Changes::Shared,
                false => Changes::Nothing,
            }
        }
        Statement::Set(items) => match items.first() {
            Some(SetItem::Password { .. } | SetItem::DefaultRole { .. }) => Changes::Shared,
            _ => Changes::Nothing,
        },
        other if other.commits_implicitly() => Changes::Shared,
        _ => Changes::Nothing,
    }
}
