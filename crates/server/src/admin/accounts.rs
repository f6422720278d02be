//! CREATE, ALTER, DROP and RENAME USER, GRANT and REVOKE.
//!
//! Must not change accounts in any other way than through the store.

use selkie_sql::ast::{self, AuthSpec, Granted, PluginCredential, PrivilegeLevel};
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, SqlError, SqlResult};

use super::answer::Notes;
use super::{names, roles};
use crate::accounts::{
    AccountChanges, AccountName, AuthMethod, GrantLevel, GrantTarget, IfExists, Limits, Privileges,
    TlsRequirement,
};
use crate::login::new_scramble;
use crate::session::Shared;
use crate::variables::ids;

/// CREATE USER and ALTER USER.
pub(super) fn create_or_alter(
    shared: &Shared,
    statement: &ast::CreateUser,
    notes: &mut Notes,
) -> SqlResult<()> {
    let own = shared.access.lock().identity().account.clone();
    let mut wanted = Vec::new();
    let mut only_own_password = statement.alter;
    for spec in &statement.users {
        let name = names::user(shared, &spec.account)?;
        only_own_password &= name == own && !spec.auth.is_empty();
        wanted.push((name, changes(statement, &spec.auth)?));
    }
    if !only_own_password {
        shared.access.lock().check_global(Privileges::CREATE_USER)?;
    }
    let existing = existing(statement.or_replace, statement.conditional);
    let store = &shared.server.accounts;
    if statement.alter {
        let absent = store.change(|acl| acl.alter(&wanted, existing))?;
        notes.extend(absent.iter().map(|n| note(&ER_USER_DROP_EXISTS, n)));
    } else {
        let skipped = store.change(|acl| acl.create(&wanted, existing))?;
        notes.extend(skipped.iter().map(|n| note(&ER_USER_CREATE_EXISTS, n)));
    }
    Ok(())
}

fn note(def: &selkie_types::ErrorDef, name: &AccountName) -> Condition {
    Condition::note(def, &[&name.user, &name.host_text()])
}

/// How a statement meets accounts that exist, or do not.
pub(super) fn existing(or_replace: bool, conditional: bool) -> IfExists {
    match (or_replace, conditional) {
        (true, _) => IfExists::Replace,
        (_, true) => IfExists::Skip,
        _ => IfExists::Fail,
    }
}

fn changes(statement: &ast::CreateUser, auth: &[AuthSpec]) -> SqlResult<AccountChanges> {
    Ok(AccountChanges {
        auth: methods(auth)?,
        tls: statement.tls.as_ref().map(tls),
        limits: limits(&statement.limits),
        locked: statement.locked,
        expired: statement.password_expiry.map(|e| e == ast::PasswordExpiry::Now),
    })
}

fn methods(auth: &[AuthSpec]) -> SqlResult<Option<Vec<AuthMethod>>> {
    if auth.is_empty() {
        return Ok(None);
    }
    auth.iter().map(method).collect::<SqlResult<_>>().map(Some)
}

fn text(literal: &ast::StringLiteral) -> String {
    String::from_utf8_lossy(&literal.bytes).into_owned()
}

fn method(spec: &AuthSpec) -> SqlResult<AuthMethod> {
    match spec {
        AuthSpec::Password(password) => Ok(AuthMethod::password(&text(password))),
        AuthSpec::Hash(hash) => AuthMethod::hashed(&text(hash)),
        AuthSpec::Plugin { plugin, credential } => match credential {
            None => AuthMethod::from_plugin(&plugin.value, None),
            Some(PluginCredential::Hash(hash)) => {
                AuthMethod::from_plugin(&plugin.value, Some(&text(hash)))
            }
            Some(PluginCredential::Plain(password)) => {
                AuthMethod::from_plugin_password(&plugin.value, &text(password), new_scramble())
            }
        },
    }
}

fn tls(requirement: &ast::TlsRequirement) -> TlsRequirement {
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

fn limits(said: &ast::ResourceLimits) -> Option<Limits> {
    (*said != ast::ResourceLimits::default()).then(|| Limits {
        queries: said.queries_per_hour.unwrap_or(0),
        updates: said.updates_per_hour.unwrap_or(0),
        connections: said.connections_per_hour.unwrap_or(0),
        user_connections: said.user_connections.unwrap_or(0),
        statement_time: said.statement_time.as_deref().and_then(|t| t.parse().ok()).unwrap_or(0.0),
    })
}

/// DROP USER and DROP ROLE.
pub(super) fn drop_accounts(
    shared: &Shared,
    statement: &ast::DropAccounts,
    notes: &mut Notes,
) -> SqlResult<()> {
    shared.access.lock().check_global(Privileges::CREATE_USER)?;
    let name = if statement.roles { names::role } else { names::user };
    let list: Vec<AccountName> =
        statement.names.iter().map(|n| name(shared, n)).collect::<SqlResult<_>>()?;
    let missing = existing(false, statement.if_exists);
    let absent = shared.server.accounts.change(|acl| acl.drop_accounts(&list, missing))?;
    let def = if statement.roles { &ER_ROLE_DROP_EXISTS } else { &ER_USER_DROP_EXISTS };
    notes.extend(absent.iter().map(|n| note(def, n)));
    Ok(())
}

/// RENAME USER.
pub(super) fn rename(
    shared: &Shared,
    pairs: &[(ast::AccountName, ast::AccountName)],
) -> SqlResult<()> {
    shared.access.lock().check_global(Privileges::CREATE_USER)?;
    let pairs: Vec<(AccountName, AccountName)> = pairs
        .iter()
        .map(|(from, to)| Ok((names::user(shared, from)?, names::user(shared, to)?)))
        .collect::<SqlResult<_>>()?;
    shared.server.accounts.change(|acl| acl.rename(&pairs))
}

/// GRANT and REVOKE.
pub(super) fn grant(shared: &Shared, statement: &ast::Grant) -> SqlResult<()> {
    match &statement.what {
        Granted::Roles(list) => roles::grant_roles(shared, statement, list),
        Granted::Proxy(_) => Err(SqlError::not_supported("GRANT PROXY")),
        Granted::Everything => {
            shared.access.lock().check_global(Privileges::CREATE_USER)?;
            let list = statement.accounts.iter().map(|a| names::user_or_role(shared, &a.account));
            let list: Vec<AccountName> = list.collect::<SqlResult<_>>()?;
            shared.server.accounts.change(|acl| acl.revoke_all(&list))
        }
        Granted::Privileges { privileges, on } => {
            grant_privileges(shared, statement, privileges, on)
        }
    }
}

fn grant_privileges(
    shared: &Shared,
    statement: &ast::Grant,
    privileges: &[ast::Privilege],
    on: &PrivilegeLevel,
) -> SqlResult<()> {
    let level = level(shared, on)?;
    let (mut whole, columns) = wanted(privileges, &level)?;
    if statement.grant_option {
        whole = whole | Privileges::GRANT_OPTION;
    }
    check_may_grant(shared, &level, whole, &columns)?;
    for spec in &statement.accounts {
        let name = names::user_or_role(shared, &spec.account)?;
        let auth = methods(&spec.auth)?;
        let extra = AccountChanges {
            auth,
            tls: statement.tls.as_ref().map(tls),
            limits: limits(&statement.limits),
            ..AccountChanges::default()
        };
        shared.server.accounts.change(|acl| {
            if statement.revoke {
                return acl.revoke(&name, &level, whole, &columns);
            }
            if acl.account(&name).is_none() {
                may_create(shared, &extra)?;
                acl.create(&[(name.clone(), extra.clone())], IfExists::Skip)?;
            } else if name.host.is_some() {
                acl.alter(&[(name.clone(), extra.clone())], IfExists::Skip)?;
            }
            acl.grant(&name, &level, whole, &columns)
        })?;
    }
    Ok(())
}

/// Compat: GRANT creates an account when it is given a way to log in, or when `sql_mode` lets it.
fn may_create(shared: &Shared, extra: &AccountChanges) -> SqlResult<()> {
    let mode = shared.var(ids().sql_mode).as_u64();
    let forbidden = mode & selkie_types::SqlMode::NO_AUTO_CREATE_USER.bits() != 0;
    if forbidden && extra.auth.is_none() {
        return Err(SqlError::new(&ER_PASSWORD_NO_MATCH, &[]));
    }
    shared.access.lock().check_global(Privileges::CREATE_USER)
}

fn level(shared: &Shared, on: &PrivilegeLevel) -> SqlResult<GrantLevel> {
    let current = || shared.handle.schema().ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]));
    let schema_of = |name: &ast::TableName| match &name.schema {
        Some(schema) => Ok(schema.value.to_string()),
        None => current(),
    };
    Ok(match on {
        PrivilegeLevel::Global => GrantLevel::Global,
        PrivilegeLevel::Schema(Some(name)) => {
            GrantLevel::On(GrantTarget::Database(name.value.to_string()))
        }
        PrivilegeLevel::Schema(None) => GrantLevel::On(GrantTarget::Database(current()?)),
        PrivilegeLevel::Table(name) => GrantLevel::On(GrantTarget::Table {
            schema: schema_of(name)?,
            table: name.name.value.to_string(),
        }),
        PrivilegeLevel::Routine(kind, name) => GrantLevel::On(GrantTarget::Routine {
            schema: schema_of(name)?,
            name: name.name.value.to_lowercase(),
            is_function: *kind == ast::RoutineKind::Function,
        }),
    })
}

type Wanted = (Privileges, Vec<(String, Privileges)>);

fn wanted(privileges: &[ast::Privilege], level: &GrantLevel) -> SqlResult<Wanted> {
    let all = match level {
        GrantLevel::Global => Privileges::ALL,
        GrantLevel::On(GrantTarget::Database(_)) => Privileges::DATABASE,
        GrantLevel::On(GrantTarget::Table { .. }) => Privileges::TABLE,
        GrantLevel::On(GrantTarget::Routine { .. }) => Privileges::ROUTINE,
    };
    if privileges.is_empty() {
        return Ok((all.without(Privileges::GRANT_OPTION), Vec::new()));
    }
    let is_table = matches!(level, GrantLevel::On(GrantTarget::Table { .. }));
    let (mut whole, mut columns) = (Privileges::NONE, Vec::new());
    for privilege in privileges {
        let bits = bits(privilege.kind);
        if privilege.columns.is_empty() {
            whole = whole | bits;
        } else if !is_table || !Privileges::COLUMN.has(bits) {
            return Err(SqlError::new(&ER_ILLEGAL_GRANT_FOR_TABLE, &[]));
        }
        columns.extend(privilege.columns.iter().map(|c| (c.value.to_string(), bits)));
    }
    Ok((whole, columns))
}

/// The bits of a privilege, found by its SQL words.
pub(super) fn bits(kind: ast::PrivilegeKind) -> Privileges {
    use ast::PrivilegeKind as Kind;
    match kind {
        Kind::Usage => Privileges::NONE,
        Kind::ReplicationClient => Privileges::BINLOG_MONITOR,
        Kind::ReadOnlyAdmin => Privileges::READ_ONLY_ADMIN,
        other => Privileges::from_name(&words(&format!("{other:?}"))).unwrap_or(Privileges::NONE),
    }
}

/// `CreateTemporaryTables` as `CREATE TEMPORARY TABLES`.
fn words(camel: &str) -> String {
    let mut out = String::new();
    for (at, c) in camel.char_indices() {
        if at > 0 && c.is_ascii_uppercase() {
            out.push(' ');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

/// Who grants must have the right to grant, and what is granted.
fn check_may_grant(
    shared: &Shared,
    level: &GrantLevel,
    whole: Privileges,
    columns: &[(String, Privileges)],
) -> SqlResult<()> {
    let access = shared.access.lock();
    let needed = columns.iter().fold(whole, |all, (_, p)| all | *p) | Privileges::GRANT_OPTION;
    let identity = access.identity();
    let denied = |user: &str| {
        let using = "YES";
        SqlError::new(&ER_ACCESS_DENIED_ERROR, &[&user, &identity.host, &using])
    };
    match level {
        GrantLevel::Global => match access.global().has(needed) {
            true => Ok(()),
            false => Err(denied(&identity.user)),
        },
        GrantLevel::On(GrantTarget::Database(schema)) => access.check_database(schema, needed),
        GrantLevel::On(GrantTarget::Table { schema, table }) => access.check(schema, table, needed),
        GrantLevel::On(GrantTarget::Routine { schema, .. }) => {
            access.check_database(schema, needed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ast::PrivilegeKind as Kind;

    #[test]
    fn every_privilege_has_bits() {
        for kind in [
            Kind::Select,
            Kind::GrantOption,
            Kind::ShowDatabases,
            Kind::CreateTemporaryTables,
            Kind::ReplicationSlaveAdmin,
            Kind::BinlogMonitor,
            Kind::ReadOnlyAdmin,
            Kind::SetUser,
            Kind::DeleteHistory,
            Kind::CreateTablespace,
        ] {
            assert_eq!(bits(kind).names().count(), 1, "{kind:?}");
        }
    }
}
