//! Names of stored procedures, functions, triggers, events and servers. None can be created, so
//! every name of one is unknown.

use selkie_sql::ast::{DropStored, RoutineKind, ShowWhat, Statement, StoredKind, TableName};
use selkie_types::error::catalogue::{
    ER_EVENT_DOES_NOT_EXIST, ER_FOREIGN_SERVER_DOESNT_EXIST, ER_NO_DB_ERROR, ER_SP_DOES_NOT_EXIST,
    ER_TRG_DOES_NOT_EXIST,
};
use selkie_types::{Condition, SqlError, SqlResult};

use crate::{Outcome, Session};

/// Runs a statement about a stored object; `None` if it is not one.
pub(crate) fn run(session: &mut Session, statement: &Statement) -> SqlResult<Option<Outcome>> {
    match statement {
        Statement::DropStored(drop) => drop_stored(session, drop).map(Some),
        Statement::Call(call) => Err(unknown("PROCEDURE", &qualified(session, &call.name)?)),
        Statement::Show(show) => check_shown(&show.what).map(|()| None),
        _ => Ok(None),
    }
}

fn check_shown(what: &ShowWhat) -> SqlResult<()> {
    match what {
        ShowWhat::CreateRoutine(kind, name) => {
            let kind = match kind {
                RoutineKind::Procedure => "PROCEDURE",
                RoutineKind::Function => "FUNCTION",
                RoutineKind::Package => "PACKAGE",
                RoutineKind::PackageBody => "PACKAGE BODY",
            };
            Err(unknown(kind, &name.name.value))
        }
        ShowWhat::CreateTrigger(_) => Err(SqlError::new(&ER_TRG_DOES_NOT_EXIST, &[])),
        ShowWhat::CreateEvent(name) => {
            Err(SqlError::new(&ER_EVENT_DOES_NOT_EXIST, &[&name.name.value]))
        }
        _ => Ok(()),
    }
}

fn unknown(kind: &str, name: &str) -> SqlError {
    SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&kind, &name])
}

fn qualified(session: &Session, name: &TableName) -> SqlResult<String> {
    let current = session.schema.as_deref();
    let schema = name.schema.as_ref().map(|s| &*s.value).or(current);
    let schema = schema.ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]))?;
    Ok(format!("{schema}.{}", name.name.value))
}

fn drop_stored(session: &mut Session, drop: &DropStored) -> SqlResult<Outcome> {
    session.commit()?;
    let name = &drop.name.name.value;
    let full = match drop.kind {
        StoredKind::Server => String::new(),
        _ => qualified(session, &drop.name)?,
    };
    let (error, note) = match drop.kind {
        StoredKind::Procedure | StoredKind::Function => {
            let kind = if drop.kind == StoredKind::Procedure { "PROCEDURE" } else { "FUNCTION" };
            let note = Condition::note(&ER_SP_DOES_NOT_EXIST, &[&kind, &full]);
            (unknown(kind, &full), Some(note))
        }
        StoredKind::Trigger => (
            SqlError::new(&ER_TRG_DOES_NOT_EXIST, &[]),
            Some(Condition::note(&ER_TRG_DOES_NOT_EXIST, &[])),
        ),
        StoredKind::Event => (
            SqlError::new(&ER_EVENT_DOES_NOT_EXIST, &[name]),
            Some(Condition::note(&ER_SP_DOES_NOT_EXIST, &[&"Event", name])),
        ),
        StoredKind::Server => (SqlError::new(&ER_FOREIGN_SERVER_DOESNT_EXIST, &[name]), None),
    };
    if !drop.if_exists {
        return Err(error);
    }
    if let Some(note) = note.filter(|_| session.settings.sql_notes) {
        session.diagnostics.push(note, session.settings.max_error_count);
    }
    Ok(Outcome::ok())
}
