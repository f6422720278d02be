//! Distinguishes statements that name tables, by their syntax alone. Must not look any table up.
//! Used to decide which statements clear the warnings list.

use selkie_sql::ast::{
    Expr, FlushTarget, Granted, Mention, PrivilegeLevel, Query, QueryBody, SetItem, ShowWhat,
    Statement,
};

/// Whether `statement` names a table; only such a statement clears the warnings of the previous
/// one.
///
/// Compat: COMMIT, USE, SET, CREATE DATABASE or a query of constants keep the list until they raise
/// a condition themselves. In a program, each statement is judged on its own.
pub(super) fn names_tables(statement: &Statement) -> bool {
    match statement {
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::LoadData(_)
        | Statement::Truncate { .. }
        | Statement::Handler(_)
        | Statement::LockTables(_)
        | Statement::TableMaintenance(_)
        | Statement::CacheIndexes(_)
        | Statement::Describe(_) => true,
        Statement::Query(query) => query_names_table(query),
        Statement::Show(show) => matches!(
            show.what,
            ShowWhat::CreateTable(_) | ShowWhat::CreateView(_) | ShowWhat::CreateSequence(_)
        ),
        Statement::Do(what) => what.exprs.iter().any(expr_names_table),
        Statement::Set(items) => items.iter().any(|item| value(item).is_some_and(expr_names_table)),
        Statement::SetStatement { statement, .. } => names_tables(statement),
        Statement::Explain(explain) => names_tables(&explain.statement),
        Statement::Flush(flush) => flush.targets.iter().any(
            |target| matches!(target, FlushTarget::Tables { tables, .. } if !tables.is_empty()),
        ),
        Statement::Grant(grant) => {
            matches!(grant.what, Granted::Privileges { on: PrivilegeLevel::Table(_), .. })
        }
        other => defines_table(other),
    }
}

fn defines_table(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::CreateTable(_)
            | Statement::AlterTable(_)
            | Statement::CreateIndex(_)
            | Statement::DropIndex(_)
            | Statement::DropTables(_)
            | Statement::RenameTables(_)
            | Statement::CreateView(_)
            | Statement::CreateSequence(_)
            | Statement::AlterSequence(_)
            | Statement::CreateTrigger(_)
    )
}

fn query_names_table(query: &Query) -> bool {
    if let QueryBody::Select(select) = &query.body
        && !select.from.is_empty()
    {
        return true;
    }
    let mut found = false;
    query.clone().for_each_mention(&mut |mention| found |= is_table(mention));
    found
}

fn expr_names_table(e: &Expr) -> bool {
    let mut found = false;
    if e.has_subquery() {
        e.clone().for_each_mention(&mut |mention| found |= is_table(mention));
    }
    found
}

fn is_table(mention: Mention<'_>) -> bool {
    matches!(mention, Mention::Table(_))
}

fn value(item: &SetItem) -> Option<&Expr> {
    match item {
        SetItem::UserVar { value, .. } => Some(value),
        SetItem::SystemVar { value, .. } | SetItem::Local { value, .. } => value.as_ref(),
        _ => None,
    }
}
