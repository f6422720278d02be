//! Statements about events and servers. None can be created, so every name is unknown; the
//! privilege checks and errors are MariaDB's.

use selkie_sql::ast::{DropStored, ShowWhat, Statement, StoredKind};
use selkie_types::error::catalogue::{
    ER_EVENT_DOES_NOT_EXIST, ER_FOREIGN_SERVER_DOESNT_EXIST, ER_NO_DB_ERROR, ER_SP_DOES_NOT_EXIST,
};
use selkie_types::{Condition, SqlError, SqlResult};

use crate::state::session::{Access, Privilege};
use crate::{Outcome, Session};

/// Runs a statement about an event or a server; `None` for any other.
pub(crate) fn run(session: &mut Session, statement: &Statement) -> SqlResult<Option<Outcome>> {
    match statement {
        Statement::DropStored(drop) if drop.kind == StoredKind::Event => {
            drop_event(session, drop).map(Some)
        }
        Statement::DropStored(drop) if drop.kind == StoredKind::Server => {
            let privilege = Privilege::Federated;
            let access = Access { privilege, schema: "", table: "", columns: &[] };
            session.frame.hooks.check_access(session, &access)?;
            session.commit()?;
            match drop.if_exists {
                true => Ok(Some(Outcome::ok())),
                false => {
                    let name = &drop.name.name.value;
                    Err(SqlError::new(&ER_FOREIGN_SERVER_DOESNT_EXIST, &[name]))
                }
            }
        }
        Statement::Show(show) => match &show.what {
            ShowWhat::CreateEvent(name) => {
                Err(SqlError::new(&ER_EVENT_DOES_NOT_EXIST, &[&name.name.value]))
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

fn drop_event(session: &mut Session, drop: &DropStored) -> SqlResult<Outcome> {
    session.commit()?;
    if drop.name.schema.is_none() && session.frame.schema.is_none() {
        return Err(SqlError::new(&ER_NO_DB_ERROR, &[]));
    }
    let name = &drop.name.name.value;
    if !drop.if_exists {
        return Err(SqlError::new(&ER_EVENT_DOES_NOT_EXIST, &[name]));
    }
    if session.frame.settings.notes.sql_notes {
        let note = Condition::note(&ER_SP_DOES_NOT_EXIST, &[&"Event", name]);
        session.diagnostics.push(note, session.frame.settings.notes.max_error_count);
    }
    Ok(Outcome::ok())
}
