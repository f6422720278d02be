//! Privileges that each kind of statement requires before it begins, in one table.
//!
//! The table drives the checks and the list that `tests/privileges` compares with MariaDB. A new
//! kind of statement does not compile without an entry here, and must be tried with every shape of
//! account.
//!
//! Must not look at definitions: privileges that depend on them are checked where they are found.

use selkie_sql::ast::{
    AlterAction, CreateSource, CreateTable, CreateTrigger, DeleteTarget, DropTables, Ident,
    MaintenanceAction, PartitionMaintenance, Statement, StoredKind, TableName,
};
use selkie_types::error::catalogue::{
    ER_DBACCESS_DENIED_ERROR, ER_NO_DB_ERROR, ER_TABLEACCESS_DENIED_ERROR,
};
use selkie_types::{Privileges, SqlError, SqlResult};

use crate::Session;

/// Component that checks the privileges that this table does not cover.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// None: the table covers all.
    Nothing,
    /// The binder, for tables, columns and functions, when it resolves names.
    Names,
    /// The statement itself, for the objects it finds.
    Found,
    /// The server, which runs the statement.
    Server,
    /// The statement inside it.
    Inner,
}

macro_rules! kinds {
    ($($kind:ident $rest:ident $name:literal;)*) => {
        /// A kind of statement.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Kind { $($kind),* }

        impl Kind {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$kind),*];

            #[cfg(test)]
            fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),* }
            }

            #[cfg(test)]
            fn rest(self) -> Rest {
                match self { $(Self::$kind => Rest::$rest),* }
            }
        }
    };
}

kinds! {
    Query Names "query";
    Insert Names "insert";
    Update Names "update";
    Delete Names "delete";
    LoadData Names "load data";
    Truncate Nothing "truncate";
    Do Names "do";
    Call Found "call";
    Handler Found "handler";
    CreateTable Found "create table";
    AlterTable Found "alter table";
    CreateIndex Nothing "create index";
    DropIndex Nothing "drop index";
    DropTables Nothing "drop tables";
    RenameTables Nothing "rename tables";
    CreateView Names "create view";
    CreateSequence Nothing "create sequence";
    AlterSequence Nothing "alter sequence";
    CreateDatabase Nothing "create database";
    AlterDatabase Nothing "alter database";
    DropDatabase Nothing "drop database";
    Show Found "show";
    Describe Found "describe";
    Explain Inner "explain";
    Use Found "use";
    Help Nothing "help";
    Binlog Found "binlog";
    Transaction Nothing "transaction";
    Xa Nothing "xa";
    Set Server "set";
    SetStatement Inner "set statement";
    Prepare Inner "prepare";
    Execute Inner "execute";
    ExecuteImmediate Inner "execute immediate";
    Deallocate Nothing "deallocate";
    LockTables Found "lock tables";
    UnlockTables Nothing "unlock tables";
    Kill Server "kill";
    CreateUser Server "create user";
    CreateRole Server "create role";
    DropAccounts Server "drop accounts";
    RenameUsers Server "rename users";
    Grant Server "grant";
    TableMaintenance Found "table maintenance";
    CacheIndexes Found "cache index";
    Flush Server "flush";
    Backup Found "backup";
    Reset Server "reset";
    PurgeLogs Server "purge logs";
    ChangeMaster Server "change master";
    StartStopSlave Server "slave";
    Plugin Server "plugin";
    Shutdown Server "shutdown";
    CreateRoutine Found "create routine";
    CreatePackage Found "create package";
    AlterRoutine Found "alter routine";
    CreateTrigger Found "create trigger";
    CreateEvent Found "create event";
    AlterEvent Found "alter event";
    Compound Inner "compound";
    Signal Nothing "signal";
    GetDiagnostics Nothing "get diagnostics";
    DropStored Found "drop stored";
    DefineServer Found "define server";
    Unsupported Nothing "unsupported";
}

/// Object on which a privilege is required.
#[derive(Clone, Copy, Debug, PartialEq)]
enum On<'s> {
    /// The schema a table is in.
    SchemaOf(&'s TableName),
    /// A schema; the current one if `None`.
    Schema(Option<&'s str>),
    /// A whole table, unless it is a temporary table of the session.
    Table(&'s TableName),
    /// A new name, even if the session has a temporary table of that name.
    New(&'s TableName),
    /// The new name of a table (second), unless the old name is a temporary table.
    NewFrom(&'s TableName, &'s TableName),
    /// The table of a trigger; its schema may come from the trigger's name.
    OfTrigger(&'s CreateTrigger),
}

/// Privileges checked together: an error names all missing ones.
type Need<'s> = (Privileges, On<'s>);

/// The requirements of one statement.
struct Required<'s> {
    #[allow(dead_code, reason = "the list that is compared with MariaDB is made from it")]
    kind: Kind,
    /// Checked before the statement begins, in this order.
    first: Vec<Need<'s>>,
    /// Whether it counts against MAX_UPDATES_PER_HOUR.
    is_update: bool,
}

fn kind_about_logs(statement: &Statement) -> Kind {
    match statement {
        Statement::Reset(_) => Kind::Reset,
        Statement::PurgeLogs(_) => Kind::PurgeLogs,
        Statement::ChangeMaster(_) => Kind::ChangeMaster,
        _ => Kind::StartStopSlave,
    }
}

/// Requirements of a statement: the table itself.
fn required(statement: &Statement) -> Required<'_> {
    use Privileges as P;
    let of = |kind, first, is_update| Required { kind, first, is_update };
    let reads = |kind| of(kind, Vec::new(), false);
    let writes = |kind| of(kind, Vec::new(), true);
    let on_table = |kind, wanted, table| of(kind, vec![(wanted, On::Table(table))], true);
    let on_schema = |kind, wanted, table| of(kind, vec![(wanted, On::SchemaOf(table))], true);
    let of_program = |kind, name| on_schema(kind, P::CREATE_ROUTINE, name);
    match statement {
        Statement::Query(_) => reads(Kind::Query),
        Statement::Insert(_) => writes(Kind::Insert),
        Statement::Update(_) => writes(Kind::Update),
        Statement::Delete(_) => writes(Kind::Delete),
        Statement::LoadData(_) => writes(Kind::LoadData),
        Statement::Truncate { table, .. } => on_table(Kind::Truncate, P::DROP, table),
        Statement::Do(_) => reads(Kind::Do),
        Statement::Call(_) => reads(Kind::Call),
        Statement::Handler(_) => reads(Kind::Handler),
        Statement::CreateTable(create) => of(Kind::CreateTable, of_create(create), true),
        Statement::AlterTable(alter) => {
            of(Kind::AlterTable, of_alter(&alter.table, &alter.actions), true)
        }
        Statement::CreateIndex(create) => on_table(Kind::CreateIndex, P::INDEX, &create.table),
        Statement::DropIndex(drop) => on_table(Kind::DropIndex, P::INDEX, &drop.table),
        Statement::DropTables(drop) => of(Kind::DropTables, of_drop(drop), true),
        Statement::RenameTables(rename) => {
            // Compat: renaming temporary tables needs no privilege in this statement.
            let pairs =
                rename.pairs.iter().flat_map(|(from, to)| of_rename(from, On::NewFrom(from, to)));
            of(Kind::RenameTables, pairs.collect(), true)
        }
        Statement::CreateView(create) => {
            let replaces = create.or_replace || create.alter;
            let drop = replaces.then_some((P::DROP, On::New(&create.name)));
            let create = [(P::CREATE_VIEW, On::New(&create.name))];
            of(Kind::CreateView, create.into_iter().chain(drop).collect(), true)
        }
        Statement::CreateSequence(create) => {
            let first = of_new(&create.name, create.temporary, create.or_replace, P::NONE);
            of(Kind::CreateSequence, vec![first], true)
        }
        Statement::AlterSequence(alter) => on_table(Kind::AlterSequence, P::ALTER, &alter.name),
        Statement::CreateDatabase(create) => {
            let drop = if create.or_replace { P::DROP } else { P::NONE };
            let on = On::Schema(Some(&create.name.value));
            of(Kind::CreateDatabase, vec![(P::CREATE | drop, on)], true)
        }
        Statement::AlterDatabase(alter) => {
            let on = On::Schema(alter.name.as_ref().map(|name| &*name.value));
            of(Kind::AlterDatabase, vec![(P::ALTER, on)], true)
        }
        Statement::DropDatabase { name, .. } => {
            of(Kind::DropDatabase, vec![(P::DROP, On::Schema(Some(&name.value)))], true)
        }
        Statement::Show(_) => reads(Kind::Show),
        Statement::Describe(_) => reads(Kind::Describe),
        Statement::Explain(explain) => of(Kind::Explain, Vec::new(), is_update(&explain.statement)),
        Statement::Use(_) => reads(Kind::Use),
        Statement::Help(_) => reads(Kind::Help),
        Statement::Binlog(_) => reads(Kind::Binlog),
        Statement::Transaction(_) => reads(Kind::Transaction),
        Statement::Xa(_) => reads(Kind::Xa),
        Statement::Set(_) => reads(Kind::Set),
        Statement::SetStatement { statement, .. } => {
            of(Kind::SetStatement, Vec::new(), is_update(statement))
        }
        Statement::Prepare(_) => reads(Kind::Prepare),
        Statement::Execute(_) => reads(Kind::Execute),
        Statement::ExecuteImmediate(_) => reads(Kind::ExecuteImmediate),
        Statement::Deallocate(_) => reads(Kind::Deallocate),
        Statement::LockTables(_) => reads(Kind::LockTables),
        Statement::UnlockTables => reads(Kind::UnlockTables),
        Statement::Kill(_) => reads(Kind::Kill),
        Statement::CreateUser(_) => writes(Kind::CreateUser),
        Statement::CreateRole(_) => writes(Kind::CreateRole),
        // Compat: DROP ROLE does not count as an update.
        Statement::DropAccounts(drop) => of(Kind::DropAccounts, Vec::new(), !drop.roles),
        Statement::RenameUsers(_) => writes(Kind::RenameUsers),
        Statement::Grant(_) => writes(Kind::Grant),
        Statement::TableMaintenance(what) => {
            of(Kind::TableMaintenance, Vec::new(), what.action == MaintenanceAction::Optimize)
        }
        Statement::CacheIndexes(_) => reads(Kind::CacheIndexes),
        Statement::Flush(_) => reads(Kind::Flush),
        Statement::Backup(_) => reads(Kind::Backup),
        Statement::Reset(_)
        | Statement::PurgeLogs(_)
        | Statement::ChangeMaster(_)
        | Statement::StartStopSlave(_) => reads(kind_about_logs(statement)),
        Statement::Plugin(_) => writes(Kind::Plugin),
        Statement::Shutdown { .. } => reads(Kind::Shutdown),
        Statement::CreateRoutine(create) => of_program(Kind::CreateRoutine, &create.name),
        Statement::CreatePackage(create) => of_program(Kind::CreatePackage, &create.name),
        Statement::AlterRoutine(_) => writes(Kind::AlterRoutine),
        Statement::CreateTrigger(create) => {
            of(Kind::CreateTrigger, vec![(P::TRIGGER, On::OfTrigger(create))], true)
        }
        Statement::CreateEvent(create) => on_schema(Kind::CreateEvent, P::EVENT, &create.name),
        Statement::AlterEvent(alter) => {
            let names = [&alter.name].into_iter().chain(&alter.rename);
            let needs = names.map(|name| (P::EVENT, On::SchemaOf(name)));
            of(Kind::AlterEvent, needs.collect(), true)
        }
        Statement::Compound(_) => reads(Kind::Compound),
        Statement::Signal(_) => reads(Kind::Signal),
        Statement::GetDiagnostics(_) => reads(Kind::GetDiagnostics),
        Statement::DropStored(drop) => {
            let needs = [(P::EVENT, On::SchemaOf(&drop.name))].into_iter();
            let needs = needs.filter(|_| drop.kind == StoredKind::Event);
            of(Kind::DropStored, needs.collect(), drop.kind != StoredKind::Server)
        }
        Statement::DefineServer(_) => reads(Kind::DefineServer),
        Statement::Unsupported { .. } => reads(Kind::Unsupported),
    }
}

/// Requirement of a new table or sequence; a temporary one needs a privilege on its schema.
fn of_new(name: &TableName, temporary: bool, replaces: bool, more: Privileges) -> Need<'_> {
    let drop = if replaces { Privileges::DROP } else { Privileges::NONE };
    match temporary {
        true => (Privileges::CREATE_TEMPORARY_TABLES, On::SchemaOf(name)),
        false => (Privileges::CREATE | drop | more, On::New(name)),
    }
}

fn of_create(create: &CreateTable) -> Vec<Need<'_>> {
    let filled = if create.select.is_some() { Privileges::INSERT } else { Privileges::NONE };
    let mut needs = vec![of_new(&create.name, create.temporary, create.or_replace, filled)];
    if let CreateSource::Like(source) = &create.source {
        needs.push((Privileges::SELECT, On::Table(source)));
    }
    needs
}

fn of_rename<'s>(from: &'s TableName, to: On<'s>) -> [Need<'s>; 2] {
    let old = Privileges::ALTER | Privileges::DROP;
    [(old, On::Table(from)), (Privileges::CREATE | Privileges::INSERT, to)]
}

fn of_alter<'s>(table: &'s TableName, actions: &'s [AlterAction]) -> Vec<Need<'s>> {
    if let [action] = actions
        && let Some(needs) = of_partition_action(table, action)
    {
        return needs;
    }
    let renamed = actions.iter().find_map(|action| match action {
        AlterAction::RenameTable(to) => Some(to),
        _ => None,
    });
    match renamed {
        Some(to) => of_rename(table, On::New(to)).into(),
        None => vec![(Privileges::ALTER, On::Table(table))],
    }
}

/// Privileges that an action on partitions needs, if it is not ALTER alone.
fn of_partition_action<'s>(table: &'s TableName, action: &'s AlterAction) -> Option<Vec<Need<'s>>> {
    use AlterAction as A;
    let (alter, drop) = (Privileges::ALTER, Privileges::DROP);
    let fill = Privileges::INSERT | Privileges::CREATE;
    Some(match action {
        A::DropPartition { .. } => vec![(alter | drop, On::Table(table))],
        A::MaintainPartitions { action: PartitionMaintenance::Truncate, .. } => {
            vec![(drop, On::Table(table))]
        }
        A::ExchangePartition { table: other, .. } => {
            let wanted = alter | drop | fill;
            vec![(wanted, On::Table(table)), (wanted, On::Table(other))]
        }
        A::ConvertPartitionToTable { table: new, .. } => {
            vec![(alter | drop, On::Table(table)), (fill, On::New(new))]
        }
        A::ConvertTableToPartition { table: other, .. } => {
            vec![(alter | fill, On::Table(table)), (alter | drop, On::Table(other))]
        }
        _ => return None,
    })
}

/// Compat: DROP TEMPORARY needs no privilege.
fn of_drop(drop: &DropTables) -> Vec<Need<'_>> {
    let names = drop.names.iter().filter(|_| !drop.temporary);
    names.map(|name| (Privileges::DROP, On::Table(name))).collect()
}

/// Whether a statement counts against MAX_UPDATES_PER_HOUR.
pub fn is_update(statement: &Statement) -> bool {
    required(statement).is_update
}

/// Fails (1142, 1044) unless the account may begin the statement. All privileges are checked before
/// the statement changes anything.
pub(crate) fn check(session: &Session, statement: &Statement) -> SqlResult<()> {
    let first = required(statement).first;
    // A change of information_schema is refused before any missing privilege is reported.
    for (wanted, on) in &first {
        check_computed(session, *wanted, &resolved(session, on)?)?;
    }
    for (wanted, on) in &first {
        let (schema, table) = resolved(session, on)?;
        let computed = schema.eq_ignore_ascii_case("information_schema");
        if !computed && !is_own(session, on)? {
            session.frame.hooks.check_needs(session, schema, table, *wanted)?;
        }
    }
    Ok(())
}

/// Fails (1044) for a statement that changes a table it says to be in `information_schema`. Compat:
/// statements that are prepared or part of a program are refused before they run, except UPDATE, a
/// DELETE of several tables, and an ALTER TABLE that renames a table into it.
pub(crate) fn refuse_computed(session: &Session, statement: &Statement) -> SqlResult<()> {
    let changes = Privileges::INSERT;
    let needs = match statement {
        Statement::Insert(insert) => vec![(changes, On::Table(&insert.table))],
        Statement::LoadData(load) => vec![(changes, On::Table(&load.table))],
        Statement::Delete(delete) => match &delete.target {
            DeleteTarget::Single(factor) => vec![(changes, On::Table(&factor.name))],
            DeleteTarget::Multi { .. } => Vec::new(),
        },
        Statement::AlterTable(alter) => vec![(changes, On::Table(&alter.table))],
        _ => required(statement).first,
    };
    needs.iter().try_for_each(|(wanted, on)| match on {
        On::Table(name) | On::New(name) | On::NewFrom(_, name) => match &name.schema {
            Some(schema) if schema.value.eq_ignore_ascii_case("information_schema") => {
                check_computed(session, *wanted, &(&schema.value, &name.name.value))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    })
}

/// Whether the object is a temporary table of the session.
fn is_own(session: &Session, on: &On<'_>) -> SqlResult<bool> {
    let (On::Table(name) | On::NewFrom(name, _)) = on else { return Ok(false) };
    let (schema, table) = resolved(session, &On::New(name))?;
    Ok(session.frame.temporary.get(schema, table).is_some())
}

fn resolved<'a>(session: &'a Session, on: &On<'a>) -> SqlResult<(&'a str, &'a str)> {
    let (schema, table) = match *on {
        On::Schema(schema) => (schema, ""),
        On::SchemaOf(name) => (name.schema.as_ref().map(value), ""),
        On::Table(name) | On::New(name) | On::NewFrom(_, name) => {
            (name.schema.as_ref().map(value), &*name.name.value)
        }
        On::OfTrigger(create) => {
            let schema = create.table.schema.as_ref().or(create.name.schema.as_ref());
            (schema.map(value), &*create.table.name.value)
        }
    };
    let schema = schema.or(session.frame.schema.as_deref());
    Ok((schema.ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]))?, table))
}

fn value(name: &Ident) -> &str {
    &name.value
}

fn check_computed(
    session: &Session,
    wanted: Privileges,
    (schema, table): &(&str, &str),
) -> SqlResult<()> {
    let changes = !wanted.without(Privileges::SELECT).is_empty();
    if changes && schema.eq_ignore_ascii_case("information_schema") {
        return Err(session.frame.hooks.schema_denied(
            session,
            session.frame.acting_as.as_deref(),
            schema,
        ));
    }
    let (user, host) = (&session.frame.account.user, &session.frame.account.host);
    if changes && *schema == "performance_schema" && !table.is_empty() {
        if wanted == Privileges::ALTER {
            return Err(SqlError::new(&ER_DBACCESS_DENIED_ERROR, &[user, host, schema]));
        }
        let words = wanted.refused();
        let arguments: [&dyn std::fmt::Display; 5] = [&words, user, host, schema, table];
        return Err(SqlError::new(&ER_TABLEACCESS_DENIED_ERROR, &arguments));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds that `tests/privileges` must try, each with the component that checks the rest.
    #[test]
    fn every_kind_is_compared() {
        let listed = include_str!("../../../tests/privileges/kinds.txt");
        let line = |kind: &Kind| format!("{}: {:?}\n", kind.name(), kind.rest()).to_lowercase();
        let known: String = Kind::ALL.iter().map(line).collect();
        assert_eq!(listed, known, "tests/privileges/kinds.txt lists other kinds");
        let recorded = include_str!("../../../tests/privileges/recorded.txt");
        let tried = |kind: &Kind| recorded.contains(&format!("\n> {}: ", kind.name()));
        let mut untried = Kind::ALL.iter().filter(|kind| !tried(kind));
        // SHUTDOWN is not tried, because it ends the server.
        assert_eq!(untried.next(), Some(&Kind::Shutdown));
        assert_eq!(untried.next(), None, "tests/privileges/statements.py has none of these");
    }

    #[test]
    fn the_target_of_a_new_name_is_asked_for() {
        let first = |text: &str| {
            let parsed = selkie_sql::parse(text.as_bytes(), &Default::default()).unwrap();
            let asked = required(&parsed.statement).first;
            let words = asked.iter().map(|(wanted, on)| match on {
                On::Table(name) => format!("{} of {}", wanted.refused(), name.name),
                On::New(name) | On::NewFrom(_, name) => {
                    format!("{} for {}", wanted.refused(), name.name)
                }
                On::SchemaOf(name) => format!("{} beside {}", wanted.refused(), name.name),
                On::Schema(name) => format!("{} in {name:?}", wanted.refused()),
                On::OfTrigger(create) => format!("{} of {}", wanted.refused(), create.table.name),
            });
            words.collect::<Vec<_>>().join("; ")
        };
        let renamed = "DROP, ALTER of t; INSERT, CREATE for u";
        assert_eq!(first("ALTER TABLE a.t ADD c INT, RENAME b.u"), renamed);
        assert_eq!(first("RENAME TABLE a.t TO b.u"), renamed);
        assert_eq!(first("CREATE OR REPLACE TABLE t SELECT 1"), "INSERT, CREATE, DROP for t");
        assert_eq!(first("DROP TEMPORARY TABLE t"), "");
    }
}
