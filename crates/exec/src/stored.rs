//! Statements about servers. None can be created, so every name is unknown; the privilege checks
//! and errors are MariaDB's.

use selkie_sql::ast::{Statement, StoredKind};
use selkie_types::error::catalogue::ER_FOREIGN_SERVER_DOESNT_EXIST;
use selkie_types::{SqlError, SqlResult};

use crate::state::session::{Access, Privilege};
use crate::{Outcome, Session};

/// Runs a statement about a server; `None` for any other.
pub(crate) fn run(session: &mut Session, statement: &Statement) -> SqlResult<Option<Outcome>> {
    match statement {
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
        _ => Ok(None),
    }
}
