//! Statements about definitions that may have run before: what they make or drop may be there, or
//! gone, already.
//!
//! Must not change a statement's text: it is logged as the primary sent it.

use selkie_catalog::Namespace;
use selkie_sql::ast::EventStatus::{self, Enabled};
use selkie_sql::ast::{AlterAction, SetItem, Statement, StoredKind, TableKind, TableName};

use super::super::session::ExecutorSession;

/// Assumptions about statements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// `slave_ddl_exec_mode=IDEMPOTENT`.
    pub(super) is_idempotent: bool,
    /// `sql_if_exists` of the primary's session.
    pub(super) implies_if_exists: bool,
}

/// Adapts a statement.
pub(super) fn adapt(statement: &mut Statement, rules: &Rules, inner: &ExecutorSession) {
    // Compat: a trigger that is gone already is no error in any mode.
    if let Statement::DropStored(drop) = statement
        && drop.kind == StoredKind::Trigger
    {
        drop.if_exists = true;
    }
    // Compat: an event runs on the primary only.
    let status = match statement {
        Statement::CreateEvent(create) => Some(create.options.status.get_or_insert(Enabled)),
        Statement::AlterEvent(alter) => alter.options.status.as_mut(),
        _ => None,
    };
    if let Some(status) = status {
        *status = EventStatus::DisabledOnSlave;
    }
    if rules.is_idempotent {
        idempotent(statement, inner);
    }
    if rules.implies_if_exists {
        if_exists(statement);
    }
    if let Statement::SetStatement { items, statement } = statement {
        // It says only how the primary logs the ALTER.
        items.retain(|item| !is_about_phases(item));
        adapt(statement, rules, inner);
    }
}

fn is_about_phases(item: &SetItem) -> bool {
    match item {
        SetItem::SystemVar { name, .. } => {
            name.value.eq_ignore_ascii_case("binlog_alter_two_phase")
        }
        _ => false,
    }
}

/// Compat: tables, sequences and databases only.
fn idempotent(statement: &mut Statement, inner: &ExecutorSession) {
    match statement {
        Statement::CreateTable(create) if !create.if_not_exists => {
            create.or_replace |= exists(inner, &create.name);
        }
        Statement::CreateSequence(create) if !create.if_not_exists => {
            create.or_replace |= exists(inner, &create.name);
        }
        Statement::CreateDatabase(create) if !create.or_replace => create.if_not_exists = true,
        Statement::DropTables(drop) if drop.kind != TableKind::View => drop.if_exists = true,
        Statement::DropDatabase { if_exists, .. } => *if_exists = true,
        _ => {}
    }
}

fn if_exists(statement: &mut Statement) {
    match statement {
        Statement::AlterTable(alter) => {
            alter.if_exists = true;
            for action in &mut alter.actions {
                if let AlterAction::DropColumn { if_exists, .. } = action {
                    *if_exists = true;
                }
            }
        }
        Statement::DropTables(drop) => drop.if_exists = true,
        Statement::DropIndex(drop) => drop.if_exists = true,
        Statement::DropStored(drop) => drop.if_exists = true,
        Statement::DropDatabase { if_exists, .. } => *if_exists = true,
        Statement::RenameTables(rename) => rename.if_exists = true,
        _ => {}
    }
}

/// Whether there is a table of a name.
fn exists(inner: &ExecutorSession, name: &TableName) -> bool {
    let frame = &inner.session.frame;
    let schema = name.schema.as_ref().map(|schema| &*schema.value).or(frame.schema.as_deref());
    let snapshot = inner.instance.catalog.snapshot();
    let names = Namespace { snapshot: &snapshot, temporary: &frame.temporary };
    schema.is_some_and(|schema| names.table(schema, &name.name.value).is_some())
}
