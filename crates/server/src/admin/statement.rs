//! Dispatch of the statements that the server runs itself.
//!
//! Must not contain their implementation.

use selkie_sql::ast::{
    Expr, ExprKind, FunctionCall, Ident, PurgeLogs, ResetTarget, Span, Statement,
};
use selkie_types::error::catalogue::ER_SUBQUERIES_NOT_SUPPORTED;
use selkie_types::{SqlError, SqlResult};

use super::answer::{Answer, Notes};
use super::{accounts, flush, grants, kill, roles, show};
use crate::accounts::Privileges;
use crate::binlog;
use crate::replica;
use crate::session::Shared;

/// Runs `statement` if it is one of the server's. `number` evaluates an expression to a number.
pub(crate) fn run(
    shared: &Shared,
    statement: &Statement,
    number: &mut dyn FnMut(&Expr) -> SqlResult<u64>,
    notes: &mut Notes,
) -> SqlResult<Option<Answer>> {
    match statement {
        Statement::CreateUser(s) => accounts::create_or_alter(shared, s, notes)?,
        Statement::CreateRole(s) => roles::create(shared, s, notes)?,
        Statement::DropAccounts(s) => accounts::drop_accounts(shared, s, notes)?,
        Statement::RenameUsers(pairs) => accounts::rename(shared, pairs)?,
        Statement::Grant(s) => grants::grant(shared, s, notes)?,
        Statement::Kill(s) => kill::kill(shared, s, number)?,
        Statement::Flush(s) => {
            let at = statement_second(number)?;
            flush::flush(shared, s, at, notes)?;
        }
        Statement::Shutdown { .. } => {
            shared.access.lock().check_global(Privileges::SHUTDOWN)?;
            shared.server.stop();
        }
        Statement::Show(s) => return show::show(shared, s),
        Statement::Reset(targets) => {
            let reload = shared.access.lock().check_global(Privileges::RELOAD);
            reload?;
            let at = statement_second(number)?;
            targets.iter().try_for_each(|target| reset(shared, target, at, notes))?;
        }
        Statement::ChangeMaster(s) => replica::change(shared, s, notes)?,
        Statement::StartStopSlave(s) => replica::start_stop(shared, s, notes)?,
        Statement::Plugin(s) => return Err(flush::plugin_error(shared, s)),
        Statement::PurgeLogs(purge) => {
            if matches!(&**purge, PurgeLogs::Before(time) if time.has_subquery()) {
                return Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&"PURGE..BEFORE"]));
            }
            shared.access.lock().check_global(Privileges::SUPER | Privileges::BINLOG_ADMIN)?;
            binlog::purge(&shared.server, &upto(purge, number)?, notes)?;
        }
        _ => return Ok(None),
    }
    Ok(Some(Answer::Done))
}

/// RESET of one thing.
fn reset(shared: &Shared, target: &ResetTarget, at: u32, notes: &mut Notes) -> SqlResult<()> {
    match target {
        ResetTarget::QueryCache => {
            shared.server.backend.forget_results();
            Ok(())
        }
        ResetTarget::Master(to) => binlog::reset(&shared.server, *to, at),
        ResetTarget::Slave { name, all } => replica::reset(shared, name.as_ref(), *all, notes),
    }
}

/// The statement's time in seconds since 1970, which `SET timestamp` may have chosen.
fn statement_second(number: &mut dyn FnMut(&Expr) -> SqlResult<u64>) -> SqlResult<u32> {
    let call = FunctionCall::plain(Ident::new("unix_timestamp"), Vec::new());
    let kind = ExprKind::Call(Box::new(call));
    Ok(number(&Expr { kind, span: Span::default() })? as u32)
}

/// The files that PURGE removes.
fn upto(
    purge: &PurgeLogs,
    number: &mut dyn FnMut(&Expr) -> SqlResult<u64>,
) -> SqlResult<binlog::Upto> {
    Ok(match purge {
        PurgeLogs::To(name) => {
            binlog::Upto::File(String::from_utf8_lossy(&name.bytes).into_owned())
        }
        PurgeLogs::Before(time) => {
            let call = FunctionCall::plain(Ident::new("unix_timestamp"), vec![time.clone()]);
            let kind = ExprKind::Call(Box::new(call));
            binlog::Upto::Time(number(&Expr { kind, span: Span::default() })?)
        }
    })
}
