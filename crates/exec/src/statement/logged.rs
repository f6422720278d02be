//! Statements that the binary log gets as they are, once they have succeeded: those about accounts,
//! and those that flush or maintain tables.
//!
//! Must not log a statement that says LOCAL. Statements about definitions are not here: they ride
//! with the transaction that makes them true.

use selkie_sql::ast::{
    AccountName, Flush, FlushTarget, MaintenanceAction, PasswordValue, SetItem, Statement,
};
use selkie_types::error::catalogue::{ER_CANNOT_USER, ER_REVOKE_GRANTS};
use selkie_types::{SqlError, SqlResult, quote_string};

use crate::query::execution::Execution;
use crate::state::binlog::Form;

/// Logs a statement that has succeeded, if it is one of these.
pub(super) fn after(execution: &Execution<'_>, statement: &Statement) -> SqlResult<()> {
    let (session, running) = (&*execution.session, execution.running);
    if session.log().is_none() || session.transaction.is_nested() {
        return Ok(());
    }
    match statement {
        Statement::Set(items) => items.iter().try_for_each(|item| match item {
            SetItem::Password { account, password } => {
                let account = text_of(account.as_ref(), &session.frame.account.account);
                let text = format!("SET PASSWORD FOR {account}={}", password_text(password));
                session.log_definition(text.as_bytes(), &Form::default())
            }
            SetItem::DefaultRole { role, account } => {
                let role = match role {
                    Some(AccountName::Named { user, .. }) => quote_string(user),
                    _ => "NONE".to_owned(),
                };
                let account = text_of(account.as_ref(), &session.frame.account.account);
                let text = format!("SET DEFAULT ROLE {role} FOR {account}");
                session.log_definition(text.as_bytes(), &Form::default())
            }
            _ => Ok(()),
        }),
        statement if is_logged(statement) => {
            session.log_definition(running.own_text(), &Form::default())
        }
        _ => Ok(()),
    }
}

/// Logs a statement about accounts that has failed for some of them: the others are changed.
pub(super) fn after_failure(
    execution: &Execution<'_>,
    statement: &Statement,
    error: &SqlError,
) -> SqlResult<()> {
    let (session, running) = (&*execution.session, execution.running);
    let is_partial = error.is(&ER_CANNOT_USER) || error.is(&ER_REVOKE_GRANTS);
    if !is_partial || session.log().is_none() || !is_logged(statement) {
        return Ok(());
    }
    let form = Form { error: error.code(), ..Form::default() };
    session.log_definition(running.own_text(), &form)
}

fn is_logged(statement: &Statement) -> bool {
    match statement {
        Statement::CreateUser(_)
        | Statement::CreateRole(_)
        | Statement::DropAccounts(_)
        | Statement::RenameUsers(_)
        | Statement::Grant(_) => true,
        Statement::Flush(flush) => is_flush_logged(flush),
        Statement::TableMaintenance(what) => {
            use MaintenanceAction::{Analyze, Optimize, Repair};
            !what.local && matches!(what.action, Analyze | Optimize | Repair)
        }
        _ => false,
    }
}

/// Compat: FLUSH is logged unless it is about logs or takes locks.
fn is_flush_logged(flush: &Flush) -> bool {
    let is_about_logs = |target: &FlushTarget| match target {
        FlushTarget::Tables { read_lock, export, .. } => *read_lock || *export,
        FlushTarget::Logs(_)
        | FlushTarget::RelayLogs(_)
        | FlushTarget::Slave(_)
        | FlushTarget::DeleteDomainIds(_) => true,
        _ => false,
    };
    !flush.local && !flush.targets.iter().any(is_about_logs)
}

/// An account in a statement; `own` is the client's, as `user@host`.
fn text_of(account: Option<&AccountName>, own: &str) -> String {
    let (user, host) = match account {
        Some(AccountName::Named { user, host, .. }) => (&**user, host.as_deref().unwrap_or("%")),
        _ => own.rsplit_once('@').unwrap_or((own, "")),
    };
    format!("{}@{}", quote_string(user), quote_string(host))
}

/// A new password in a statement. Compat: MariaDB writes the hash of a text.
fn password_text(password: &PasswordValue) -> String {
    let quoted =
        |text: &selkie_sql::ast::StringLiteral| quote_string(&String::from_utf8_lossy(&text.bytes));
    match password {
        PasswordValue::Plain(text) => quote_string(&selkie_expr::password_hash(&text.bytes)),
        PasswordValue::Old(text) => format!("OLD_PASSWORD({})", quoted(text)),
        PasswordValue::Hash(hash) => quoted(hash),
    }
}
