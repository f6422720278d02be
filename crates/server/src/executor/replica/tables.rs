//! Temporary tables, which belong to the primary's threads: statements of one thread must not see
//! those of another.
//!
//! Must not drop tables; the session does.

use selkie_catalog::TemporaryTables;
use selkie_exec::Session;
use selkie_sql::ast::{
    AlterAction, ColumnRef, DeleteTarget, SetItem, Statement, TableFactor, TableName, TableRef,
    Update,
};

use crate::backend::ReplicaScope;

/// The temporary tables that the session has now. Those of other threads are the connection's.
#[derive(Debug, Default)]
pub(super) struct TemporaryOfThread {
    /// The thread whose tables the session has.
    thread: Option<u32>,
}

impl TemporaryOfThread {
    /// Gives the session the tables of a thread; false if it has them already.
    pub(super) fn switch(
        &mut self,
        session: &mut Session,
        scope: &ReplicaScope,
        thread: u32,
    ) -> bool {
        if self.thread == Some(thread) {
            return false;
        }
        self.give_back(session, scope);
        self.thread = Some(thread);
        if let Some(tables) = scope.temporary.lock().remove(&thread) {
            exchange(session, tables);
        }
        true
    }

    /// Gives the session's tables back to the connection, for other sessions.
    pub(super) fn give_back(&mut self, session: &mut Session, scope: &ReplicaScope) {
        let Some(thread) = self.thread.take() else { return };
        if !session.frame.temporary.is_empty() {
            let tables = exchange(session, TemporaryTables::default());
            scope.temporary.lock().insert(thread, tables);
        }
    }

    /// Gives the session the tables of some thread that has any, and returns the thread.
    pub(super) fn next(&mut self, session: &mut Session, scope: &ReplicaScope) -> Option<u32> {
        let thread = scope.temporary.lock().keys().next().copied()?;
        self.switch(session, scope, thread).then_some(thread)
    }
}

/// Gives the session other tables; returns those that it had.
fn exchange(session: &mut Session, mut next: TemporaryTables) -> TemporaryTables {
    let own = &mut session.frame.temporary;
    // A plan over tables of the one thread must not serve the other.
    next.version = next.version.max(own.version) + 1;
    let old = std::mem::replace(own, next);
    session.frame.settings.version += 1;
    old
}

/// The objects that a statement changes, for the filter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changed<'s> {
    /// The database that rules about databases are asked of.
    pub(super) schema: &'s str,
    /// Schemas and names.
    pub(super) tables: Vec<(String, String)>,
}

/// Whether a table has a column; none if there is no such table here. Arguments are its schema, its
/// name and the column.
pub(super) type Known<'k> = &'k dyn Fn(&str, &str, &str) -> Option<bool>;

/// The tables that a statement in the default database `schema` changes.
pub(super) fn changed_tables<'s>(
    statement: &'s Statement,
    schema: &'s str,
    known: Known<'_>,
) -> Changed<'s> {
    let mut names = Vec::new();
    let about = match statement {
        Statement::CreateDatabase(create) => &*create.name.value,
        Statement::AlterDatabase(alter) => alter.name.as_ref().map_or(schema, |name| &name.value),
        Statement::DropDatabase { name, .. } => &name.value,
        other => {
            collect(other, (schema, known), &mut names);
            schema
        }
    };
    let of = |name: &TableName| {
        let own = name.schema.as_ref().map_or(schema, |schema| &schema.value);
        (own.to_owned(), name.name.value.to_string())
    };
    let mut tables: Vec<(String, String)> = names.into_iter().map(of).collect();
    if is_about_accounts(statement) {
        tables.extend(GRANT_TABLES.map(|table| ("mysql".to_owned(), table.to_owned())));
    }
    Changed { schema: about, tables }
}

/// Tables that rules are asked of for accounts and privileges.
const GRANT_TABLES: [&str; 2] = ["global_priv", "db"];

fn is_about_accounts(statement: &Statement) -> bool {
    match statement {
        Statement::CreateUser(_)
        | Statement::CreateRole(_)
        | Statement::DropAccounts(_)
        | Statement::RenameUsers(_)
        | Statement::Grant(_) => true,
        Statement::Set(items) => items
            .iter()
            .any(|item| matches!(item, SetItem::Password { .. } | SetItem::DefaultRole { .. })),
        _ => false,
    }
}

/// The tables that an UPDATE changes. Compat: a column that no table here has is one of a table
/// that is not here.
fn updated<'s>(update: &'s Update, (schema, known): (&str, Known<'_>)) -> Vec<&'s TableName> {
    let mut all = Vec::new();
    update.tables.iter().for_each(|table| factors(table, &mut all));
    let [_, _, ..] = &all[..] else { return all.into_iter().map(|table| &table.name).collect() };
    let has = |table: &TableFactor, column: &str| {
        let own = table.name.schema.as_ref().map_or(schema, |schema| &schema.value);
        known(own, &table.name.name.value, column)
    };
    let mut is_changed = vec![false; all.len()];
    for ColumnRef { table, name, .. } in update.assignments.iter().map(|one| &one.column) {
        let is_it = |at: &TableFactor| match table {
            Some(table) => {
                let said = at.alias.as_ref().unwrap_or(&at.name.name);
                said.value.eq_ignore_ascii_case(&table.value)
            }
            None => has(at, &name.value) == Some(true),
        };
        match all.iter().position(|at| is_it(at)) {
            Some(at) => is_changed[at] = true,
            None => {
                let absent = all.iter().map(|at| has(at, &name.value).is_none());
                is_changed.iter_mut().zip(absent).for_each(|(one, absent)| *one |= absent);
            }
        }
    }
    let is_none = !is_changed.contains(&true);
    let changed = all.into_iter().zip(is_changed).filter(|(_, changed)| is_none || *changed);
    changed.map(|(table, _)| &table.name).collect()
}

fn collect<'s>(statement: &'s Statement, here: (&str, Known<'_>), names: &mut Vec<&'s TableName>) {
    match statement {
        Statement::Insert(insert) => names.push(&insert.table),
        Statement::Update(update) => names.extend(updated(update, here)),
        Statement::Delete(delete) => match &delete.target {
            DeleteTarget::Single(table) => names.push(&table.name),
            DeleteTarget::Multi { targets, from } => {
                let mut all = Vec::new();
                from.iter().for_each(|table| factors(table, &mut all));
                names.extend(targets.iter().map(|target| behind(target, &all)));
            }
        },
        Statement::LoadData(load) => names.push(&load.table),
        Statement::Truncate { table, .. } => names.push(table),
        Statement::CreateTable(create) => names.push(&create.name),
        Statement::AlterTable(alter) => {
            names.push(&alter.table);
            for action in &alter.actions {
                match action {
                    AlterAction::RenameTable(to)
                    | AlterAction::ExchangePartition { table: to, .. }
                    | AlterAction::ConvertTableToPartition { table: to, .. }
                    | AlterAction::ConvertPartitionToTable { table: to, .. } => names.push(to),
                    _ => {}
                }
            }
        }
        Statement::CreateIndex(create) => names.push(&create.table),
        Statement::DropIndex(drop) => names.push(&drop.table),
        Statement::DropTables(drop) => names.extend(&drop.names),
        Statement::RenameTables(rename) => {
            rename.pairs.iter().for_each(|(from, to)| names.extend([from, to]));
        }
        Statement::CreateView(create) => names.push(&create.name),
        Statement::CreateSequence(create) => names.push(&create.name),
        Statement::AlterSequence(alter) => names.push(&alter.name),
        Statement::CreateTrigger(create) => names.push(&create.table),
        Statement::TableMaintenance(what) => names.extend(&what.tables),
        Statement::SetStatement { statement, .. } => collect(statement, here, names),
        _ => {}
    }
}

/// The tables of a FROM.
fn factors<'s>(table: &'s TableRef, all: &mut Vec<&'s TableFactor>) {
    match table {
        TableRef::Table(table) => all.push(table),
        TableRef::Join(join) => {
            factors(&join.left, all);
            factors(&join.right, all);
        }
        TableRef::Derived(_) | TableRef::JsonTable(_) => {}
    }
}

/// The table that a target of DELETE stands for: it may be an alias.
fn behind<'s>(target: &'s TableName, all: &[&'s TableFactor]) -> &'s TableName {
    let is_alias = |table: &&&TableFactor| {
        let alias = table.alias.as_ref();
        target.schema.is_none()
            && alias.is_some_and(|alias| alias.value.eq_ignore_ascii_case(&target.name.value))
    };
    all.iter().find(is_alias).map_or(target, |table| &table.name)
}
