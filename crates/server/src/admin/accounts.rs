//! CREATE, ALTER, DROP and RENAME USER, DROP ROLE, SET PASSWORD.
//!
//! Must change accounts through the store only.

use selkie_sql::ast::{self, AuthSpec, PasswordValue, PluginCredential};
use selkie_types::error::catalogue::*;
use selkie_types::{Charset, Condition, Level, SqlError, SqlResult};

use super::answer::Notes;
use super::names;
use crate::accounts::{
    AccountChanges, AccountName, AuthMethod, Expiry, IfExists, LimitChanges, Privileges,
    TlsRequirement,
};
use crate::login::new_scramble;
use crate::session::Shared;

/// Fails (1227) unless the session may manage accounts or change the tables that hold them.
pub(super) fn check_may_manage(shared: &Shared, on_tables: Privileges) -> SqlResult<()> {
    let access = shared.access.lock();
    match access.on_database("mysql").has(on_tables) {
        true => Ok(()),
        false => access.check_global(Privileges::CREATE_USER),
    }
}

/// Fails (1044) unless the account is the session's own or the session may change all accounts.
pub(super) fn check_own_or_all(shared: &Shared, name: &AccountName) -> SqlResult<()> {
    let access = shared.access.lock();
    match access.identity().account == *name {
        true => Ok(()),
        false => access.check_database("mysql", Privileges::UPDATE),
    }
}

/// Fails (1131) for an anonymous account: one user of a shared account must not lock the others
/// out.
pub(super) fn check_is_named(shared: &Shared) -> SqlResult<()> {
    let access = shared.access.lock();
    match access.identity().account.user.is_empty() && !access.is_unrestricted() {
        true => Err(SqlError::new(&ER_PASSWORD_ANONYMOUS_USER, &[])),
        false => Ok(()),
    }
}

/// CREATE USER and ALTER USER.
pub(super) fn create_or_alter(
    shared: &Shared,
    statement: &ast::CreateUser,
    notes: &mut Notes,
) -> SqlResult<()> {
    check_conflict(statement.or_replace, statement.conditional)?;
    let operation = if statement.alter { "ALTER USER" } else { "CREATE USER" };
    let mut wanted = Vec::new();
    for spec in &statement.users {
        let keyword = match spec.account {
            ast::AccountName::CurrentUser => "CURRENT_USER",
            ast::AccountName::CurrentRole => "CURRENT_ROLE",
            _ => "",
        };
        if !statement.alter && !keyword.is_empty() {
            return Err(SqlError::new(&ER_CANNOT_USER, &[&operation, &keyword]));
        }
        let name = names::user(shared, &spec.account)?;
        wanted.push((name, changes(shared, statement, &spec.auth)?));
    }
    // Compat: ALTER USER of the own account needs this right too; SET PASSWORD does not.
    let on_tables = if statement.alter { Privileges::UPDATE } else { Privileges::INSERT };
    check_may_manage(shared, on_tables)?;
    let existing = existing(statement.or_replace, statement.conditional);
    wanted.iter().for_each(|(name, _)| shared.server.usage.forgive(name));
    let store = &shared.server.accounts;
    if statement.alter {
        let absent = store.change(|acl| acl.alter(&wanted, existing))?;
        let given = wanted.iter().filter(|(_, changes)| changes.auth.is_some());
        given.for_each(|(name, _)| shared.password_changed(name));
        if !absent.is_empty() {
            let missing = SqlError::new(&ER_PASSWORD_NO_MATCH, &[]);
            notes.push(Condition::from_error(Level::Error, &missing));
            let names: Vec<String> = absent.iter().map(AccountName::quoted).collect();
            notes.push(Condition::note(&ER_CANNOT_USER, &[&operation, &names.join(",")]));
        }
    } else {
        let skipped = store.change(|acl| acl.create(&wanted, existing))?;
        notes.extend(skipped.iter().map(|n| note(&ER_USER_CREATE_EXISTS, n)));
    }
    Ok(())
}

fn note(def: &selkie_types::ErrorDef, name: &AccountName) -> Condition {
    Condition::note(def, &[&name.user, &name.host_text()])
}

/// Fails (1221) if a statement has both OR REPLACE and IF NOT EXISTS.
pub(super) fn check_conflict(or_replace: bool, conditional: bool) -> SqlResult<()> {
    match or_replace && conditional {
        true => Err(SqlError::new(&ER_WRONG_USAGE, &[&"OR REPLACE", &"IF NOT EXISTS"])),
        false => Ok(()),
    }
}

/// Treatment of accounts that exist, or do not, by the clauses of a statement.
pub(super) fn existing(or_replace: bool, conditional: bool) -> IfExists {
    match (or_replace, conditional) {
        (true, _) => IfExists::Replace,
        (_, true) => IfExists::Skip,
        _ => IfExists::Fail,
    }
}

fn changes(
    shared: &Shared,
    statement: &ast::CreateUser,
    auth: &[AuthSpec],
) -> SqlResult<AccountChanges> {
    Ok(AccountChanges {
        auth: methods(shared, auth)?,
        tls: statement.tls.as_ref().map(tls),
        limits: limits(&statement.limits)?,
        locked: statement.locked,
        expiry: statement.password_expiry.map(expiry).transpose()?,
    })
}

fn expiry(said: ast::PasswordExpiry) -> SqlResult<Expiry> {
    Ok(match said {
        ast::PasswordExpiry::Now => Expiry::Now,
        ast::PasswordExpiry::Never => Expiry::After(Some(0)),
        ast::PasswordExpiry::Default => Expiry::After(None),
        ast::PasswordExpiry::Days(days) => match u16::try_from(days) {
            Ok(days) if days > 0 => Expiry::After(Some(days.into())),
            _ => return Err(SqlError::new(&ER_WRONG_VALUE, &[&"DAY", &days])),
        },
    })
}

pub(super) fn methods(shared: &Shared, auth: &[AuthSpec]) -> SqlResult<Option<Vec<AuthMethod>>> {
    if auth.is_empty() {
        return Ok(None);
    }
    auth.iter().map(|spec| method(shared, spec)).collect::<SqlResult<_>>().map(Some)
}

fn text(literal: &ast::StringLiteral) -> String {
    String::from_utf8_lossy(&literal.bytes).into_owned()
}

/// A clear password in the client's character set: a client that logs in sends the bytes of that
/// character set.
fn secret(shared: &Shared, literal: &ast::StringLiteral) -> Vec<u8> {
    let client = shared.habits().client;
    Charset::Utf8mb4.convert(&literal.bytes, client).0.into_owned()
}

fn method(shared: &Shared, spec: &AuthSpec) -> SqlResult<AuthMethod> {
    match spec {
        AuthSpec::Password(password) => Ok(AuthMethod::password(&secret(shared, password))),
        AuthSpec::Hash(hash) => AuthMethod::hashed(&text(hash)),
        AuthSpec::Plugin { plugin, credential } => match credential {
            None => AuthMethod::from_plugin(&plugin.value, None),
            Some(PluginCredential::Hash(hash)) => {
                AuthMethod::from_plugin(&plugin.value, Some(&text(hash)))
            }
            Some(PluginCredential::Plain(password)) => {
                let password = secret(shared, password);
                AuthMethod::from_plugin_password(&plugin.value, &password, new_scramble())
            }
        },
    }
}

pub(super) fn tls(requirement: &ast::TlsRequirement) -> TlsRequirement {
    let part = |p: &Option<Box<str>>| p.as_deref().unwrap_or_default().to_owned();
    match requirement {
        ast::TlsRequirement::None => TlsRequirement::None,
        ast::TlsRequirement::Ssl => TlsRequirement::Any,
        ast::TlsRequirement::X509 => TlsRequirement::X509,
        ast::TlsRequirement::Specified { subject, issuer, cipher } => TlsRequirement::Specified {
            subject: part(subject),
            issuer: part(issuer),
            cipher: part(cipher),
        },
    }
}

pub(super) fn limits(said: &ast::ResourceLimits) -> SqlResult<LimitChanges> {
    let seconds = match said.statement_time.as_deref() {
        Some(text) => Some(text.parse().map_err(|_| SqlError::internal("a number"))?),
        None => None,
    };
    Ok(LimitChanges {
        queries: said.queries_per_hour,
        updates: said.updates_per_hour,
        connections: said.connections_per_hour,
        user_connections: said.user_connections,
        statement_time: seconds,
    })
}

/// DROP USER and DROP ROLE.
pub(super) fn drop_accounts(
    shared: &Shared,
    statement: &ast::DropAccounts,
    notes: &mut Notes,
) -> SqlResult<()> {
    check_may_manage(shared, Privileges::DELETE)?;
    let name = if statement.roles { names::role } else { names::user };
    let mut list = Vec::new();
    for said in &statement.names {
        selkie_meter::spend(2048)?;
        list.push(name(shared, said).or_else(|e| unnamed(said, "DROP ROLE", e, notes))?);
    }
    let missing = existing(false, statement.if_exists);
    list.iter().for_each(|name| shared.server.usage.forgive(name));
    let absent = shared.server.accounts.change(|acl| acl.drop_accounts(&list, missing))?;
    let def = if statement.roles { &ER_ROLE_DROP_EXISTS } else { &ER_USER_DROP_EXISTS };
    notes.extend(absent.iter().map(|n| note(def, n)));
    Ok(())
}

/// Error 1396 about CURRENT_ROLE if no role is active.
pub(super) fn unnamed(
    said: &ast::AccountName,
    operation: &str,
    error: SqlError,
    notes: &mut Notes,
) -> SqlResult<AccountName> {
    if *said != ast::AccountName::CurrentRole {
        return Err(error);
    }
    notes.push(Condition::from_error(Level::Error, &error));
    Err(SqlError::new(&ER_CANNOT_USER, &[&operation, &"CURRENT_ROLE"]))
}

/// RENAME USER.
pub(super) fn rename(
    shared: &Shared,
    pairs: &[(ast::AccountName, ast::AccountName)],
) -> SqlResult<()> {
    check_may_manage(shared, Privileges::UPDATE)?;
    let pairs: Vec<(AccountName, AccountName)> = pairs
        .iter()
        .map(|(from, to)| Ok((names::user(shared, from)?, names::user(shared, to)?)))
        .collect::<SqlResult<_>>()?;
    shared.server.accounts.change(|acl| acl.rename(&pairs))
}

/// SET PASSWORD.
pub(super) fn set_password(
    shared: &Shared,
    account: Option<&ast::AccountName>,
    password: &PasswordValue,
) -> SqlResult<()> {
    check_is_named(shared)?;
    let own = shared.access.lock().identity().account.clone();
    let name = account.map_or(Ok(own), |a| names::user(shared, a))?;
    check_own_or_all(shared, &name)?;
    shared.server.accounts.change(|acl| {
        acl.set_password(&name, |present| match password {
            PasswordValue::Hash(hash) => present.with_hash(&text(hash)),
            PasswordValue::Old(password) => Ok(AuthMethod::old_password(&secret(shared, password))),
            PasswordValue::Plain(password) => match present {
                AuthMethod::Native(_) | AuthMethod::Old(_) => {
                    Ok(AuthMethod::password(&secret(shared, password)))
                }
                other => {
                    let password = secret(shared, password);
                    AuthMethod::from_plugin_password(other.plugin(), &password, new_scramble())
                }
            },
        })
    })?;
    shared.password_changed(&name);
    Ok(())
}
