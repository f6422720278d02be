//! Dispatch of the statements that the server runs itself.
//!
//! Must not contain their implementation.

use selkie_sql::ast::{PurgeLogs, ResetTarget, Statement};
use selkie_types::error::catalogue::ER_SUBQUERIES_NOT_SUPPORTED;
use selkie_types::{SqlError, SqlResult};

use super::answer::{Answer, Notes};
use super::{accounts, flush, grants, kill, roles, show};
use crate::accounts::Privileges;
use crate::session::Shared;

/// Runs `statement` if it is one of the server's. `number` evaluates an expression to a number.
pub(crate) fn run(
    shared: &Shared,
    statement: &Statement,
    number: &mut dyn FnMut(&selkie_sql::ast::Expr) -> SqlResult<u64>,
    notes: &mut Notes,
) -> SqlResult<Option<Answer>> {
    match statement {
        Statement::CreateUser(s) => accounts::create_or_alter(shared, s, notes)?,
        Statement::CreateRole(s) => roles::create(shared, s, notes)?,
        Statement::DropAccounts(s) => accounts::drop_accounts(shared, s, notes)?,
        Statement::RenameUsers(pairs) => accounts::rename(shared, pairs)?,
        Statement::Grant(s) => grants::grant(shared, s, notes)?,
        Statement::Kill(s) => kill::kill(shared, s, number)?,
        Statement::Flush(s) => flush::flush(shared, s)?,
        Statement::Shutdown { .. } => {
            shared.access.lock().check_global(Privileges::SHUTDOWN)?;
            shared.server.stop();
        }
        Statement::Show(s) => return show::show(shared, s),
        Statement::Reset(targets) => {
            let reload = shared.access.lock().check_global(Privileges::RELOAD);
            reload?;
            if targets.iter().any(|t| !matches!(t, ResetTarget::QueryCache)) {
                return Err(SqlError::not_supported("replication"));
            }
        }
        Statement::Plugin(s) => return Err(flush::plugin_error(shared, s)),
        Statement::PurgeLogs(purge) => {
            if matches!(&**purge, PurgeLogs::Before(time) if time.has_subquery()) {
                return Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&"PURGE..BEFORE"]));
            }
            // Compat: without a binary log there is nothing to purge, and that is not an error.
            shared.access.lock().check_global(Privileges::SUPER | Privileges::BINLOG_ADMIN)?;
        }
        _ => return Ok(None),
    }
    Ok(Some(Answer::Done))
}
