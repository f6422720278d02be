//! GRANT and REVOKE of privileges and proxies.
//!
//! Must not look up the objects of a grant; the caller checks that they exist.

use selkie_sql::ast::{self, Granted, PrivilegeLevel};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::accounts::{check_may_manage, check_own_or_all, limits, methods, tls};
use super::answer::Notes;
use super::{names, roles};
use crate::accounts::{
    AccountChanges, AccountName, Acl, Columns, GrantLevel, GrantTarget, IfExists, Privileges,
    Proxy, RoutineKind, check_level,
};
use crate::session::Shared;
use crate::variables::ids;

/// GRANT and REVOKE. The caller has checked that the objects exist and that the session may do it.
pub(super) fn grant(shared: &Shared, statement: &ast::Grant, notes: &mut Notes) -> SqlResult<()> {
    match &statement.what {
        Granted::Roles(list) => roles::grant_roles(shared, statement, list, notes),
        Granted::Proxy(proxied) => grant_proxy(shared, statement, proxied),
        Granted::Everything => {
            check_may_manage(shared, Privileges::UPDATE)?;
            let list = statement.accounts.iter().map(|a| names::user_or_role(shared, &a.account));
            let list: Vec<AccountName> = list.collect::<SqlResult<_>>()?;
            shared.server.accounts.change(|acl| acl.revoke_all(&list))
        }
        Granted::Privileges { privileges, on } => {
            let level = level(shared, on)?;
            let wanted = wanted(privileges, &level, statement.grant_option)?;
            grant_privileges(shared, statement, &level, &wanted)
        }
    }
}

/// Nobody may grant on this database: its tables are computed, and everybody may read them.
const INFORMATION: &str = "information_schema";

fn schema_of(level: &GrantLevel) -> Option<&str> {
    match level {
        GrantLevel::Global => None,
        GrantLevel::On(GrantTarget::Database(schema))
        | GrantLevel::On(GrantTarget::Table { schema, .. })
        | GrantLevel::On(GrantTarget::Routine { schema, .. }) => Some(schema),
    }
}

/// Privileges on the whole object, and on single columns.
type Wanted = (Privileges, Columns);

/// Fails (1143) unless the session has, on every listed column, the privileges it grants there. The
/// caller has checked that the columns exist.
pub(crate) fn check_may_grant_columns(shared: &Shared, statement: &ast::Grant) -> SqlResult<()> {
    let Granted::Privileges { privileges, on: on @ PrivilegeLevel::Table(_) } = &statement.what
    else {
        return Ok(());
    };
    if statement.revoke {
        return Ok(());
    }
    let level = level(shared, on)?;
    let (_, columns) = wanted(privileges, &level, statement.grant_option)?;
    let GrantLevel::On(GrantTarget::Table { schema, table }) = &level else { return Ok(()) };
    let access = shared.access.lock();
    columns.iter().try_for_each(|(name, wanted)| access.check_column(schema, table, name, *wanted))
}

/// Fails unless the session may grant the privileges of the statement. For columns of a table, it
/// must have the privileges on some column of the table.
pub(crate) fn check_may_grant(shared: &Shared, statement: &ast::Grant) -> SqlResult<()> {
    let Granted::Privileges { privileges, on } = &statement.what else { return Ok(()) };
    let level = level(shared, on)?;
    let (whole, columns) = wanted(privileges, &level, statement.grant_option)?;
    let access = shared.access.lock();
    if let Some(schema) = schema_of(&level).filter(|s| s.eq_ignore_ascii_case(INFORMATION)) {
        return Err(access.database_denied(schema));
    }
    let needed = columns.iter().fold(whole, |all, (_, p)| all | *p) | Privileges::GRANT_OPTION;
    match &level {
        GrantLevel::Global if access.global().has(needed) => {}
        GrantLevel::Global => return Err(access.denied_login()),
        GrantLevel::On(GrantTarget::Database(pattern)) => {
            if !access.on_pattern(pattern).has(needed) {
                return Err(access.database_denied(pattern));
            }
        }
        GrantLevel::On(GrantTarget::Table { schema, table }) if statement.revoke => {
            // Compat: a privilege on one column is enough to revoke on the table and on other
            // columns.
            access.check_any_column(schema, table, needed)?;
        }
        GrantLevel::On(GrantTarget::Table { schema, table }) => {
            access.check_may_pass_on(
                (schema, table),
                whole | Privileges::GRANT_OPTION,
                &columns,
            )?;
        }
        GrantLevel::On(GrantTarget::Routine { kind, schema, name }) => {
            access.check_routine(*kind, schema, name, needed)?;
        }
    }
    match &level {
        GrantLevel::On(target) => check_level(target, whole),
        GrantLevel::Global => Ok(()),
    }
}

fn grant_privileges(
    shared: &Shared,
    statement: &ast::Grant,
    level: &GrantLevel,
    wanted: &Wanted,
) -> SqlResult<()> {
    each_account(shared, statement, |acl, name, extra| {
        let (whole, columns) = wanted;
        if statement.revoke {
            return acl.revoke(name, level, (*whole, columns));
        }
        prepare_account(shared, acl, name, extra)?;
        acl.grant(name, level, (*whole, columns), &grantor(shared))
    })
}

/// Runs `change` for every account of the statement. The first error is returned after all of them.
fn each_account(
    shared: &Shared,
    statement: &ast::Grant,
    mut change: impl FnMut(&mut Acl, &AccountName, &AccountChanges) -> SqlResult<()>,
) -> SqlResult<()> {
    let mut accounts = Vec::new();
    for spec in &statement.accounts {
        let name = names::user_or_role(shared, &spec.account)?;
        let auth = methods(shared, &spec.auth)?;
        if auth.is_some() {
            check_own_or_all(shared, &name)?;
        }
        let (tls, limits) = (statement.tls.as_ref().map(tls), limits(&statement.limits)?);
        shared.server.usage.forgive(&name);
        accounts.push((name, AccountChanges { auth, tls, limits, ..AccountChanges::default() }));
    }
    shared.server.accounts.change(|acl| {
        let mut result = Ok(());
        for (name, extra) in &accounts {
            result = result.and(change(acl, name, extra));
        }
        result
    })
}

/// Creates an account if GRANT may create it, or changes how an existing one logs in.
fn prepare_account(
    shared: &Shared,
    acl: &mut Acl,
    name: &AccountName,
    extra: &AccountChanges,
) -> SqlResult<()> {
    let one = [(name.clone(), extra.clone())];
    if acl.account(name).is_some() {
        return match name.host {
            Some(_) => acl.alter(&one, IfExists::Skip).map(|_| ()),
            None => Ok(()),
        };
    }
    check_may_create(shared, name, extra)?;
    acl.create(&one, IfExists::Skip).map(|_| ())
}

/// Compat: GRANT creates an account if it names an authentication method or if `sql_mode` allows
/// it. The first GRANT to PUBLIC creates PUBLIC.
pub(super) fn check_may_create(
    shared: &Shared,
    name: &AccountName,
    extra: &AccountChanges,
) -> SqlResult<()> {
    let mode = shared.var(ids().sql_mode).as_u64();
    let forbidden = mode & selkie_types::SqlMode::NO_AUTO_CREATE_USER.bits() != 0;
    if forbidden && extra.auth.is_none() && !name.is_public() {
        return Err(SqlError::new(&ER_PASSWORD_NO_MATCH, &[]));
    }
    check_may_manage(shared, Privileges::INSERT)
        .map_err(|_| SqlError::new(&ER_CANT_CREATE_USER_WITH_GRANT, &[]))
}

/// Follows a CREATE or DROP of a routine, if `automatic_sp_privileges` is on. The creator gets the
/// privileges to run and change the routine. The grants on a dropped routine are removed.
pub(crate) fn routine_changed(
    shared: &Shared,
    kind: RoutineKind,
    (schema, name): (&str, &str),
    made: bool,
) -> SqlResult<()> {
    if !shared.server.globals.get(ids().automatic_sp_privileges).as_bool() {
        return Ok(());
    }
    let target =
        GrantTarget::Routine { kind, schema: schema.to_owned(), name: name.to_lowercase() };
    if !made {
        return shared.server.accounts.change(|acl| {
            acl.forget_target(&target);
            Ok(())
        });
    }
    let own = Privileges::EXECUTE | Privileges::ALTER_ROUTINE;
    let (account, has) = {
        let access = shared.access.lock();
        (access.identity().account.clone(), access.on_routine(kind, schema, name))
    };
    if has.has(own) || shared.server.accounts.current().account(&account).is_none() {
        return Ok(());
    }
    let (level, grantor) = (GrantLevel::On(target), grantor(shared));
    let wanted = (own, &Columns::new());
    shared.server.accounts.change(|acl| acl.grant(&account, &level, wanted, &grantor))
}

/// The session's account as the tables store a grantor.
fn grantor(shared: &Shared) -> String {
    shared.access.lock().identity().account.to_string()
}

/// GRANT PROXY and REVOKE PROXY.
fn grant_proxy(
    shared: &Shared,
    statement: &ast::Grant,
    proxied: &ast::AccountName,
) -> SqlResult<()> {
    let proxied = names::user(shared, proxied)?;
    check_may_grant_proxy(shared, &proxied)?;
    each_account(shared, statement, |acl, name, extra| {
        if statement.revoke {
            return acl.revoke_proxy(name, &proxied);
        }
        prepare_account(shared, acl, name, extra)?;
        let (with_grant, grantor) = (statement.grant_option, grantor(shared));
        acl.grant_proxy(name, &proxied, Proxy { with_grant, grantor })
    })
}

/// Everybody may grant a proxy for the own account. A proxy for another account needs the right to
/// grant that proxy.
fn check_may_grant_proxy(shared: &Shared, proxied: &AccountName) -> SqlResult<()> {
    let access = shared.access.lock();
    let own = &access.identity().account;
    let acl = shared.server.accounts.current();
    let covers = |granted: &AccountName| {
        let host = granted.host.as_ref();
        (granted.user.is_empty() || granted.user == proxied.user)
            && host.is_none_or(|h| h.as_str() == "%" || h.as_str() == proxied.host_text())
    };
    let given = |(name, granted, proxy): (&AccountName, &AccountName, &Proxy)| {
        name == own && proxy.with_grant && covers(granted)
    };
    match own == proxied || access.is_unrestricted() || acl.proxies().any(given) {
        true => Ok(()),
        false => Err(access.denied()),
    }
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
            kind: crate::executor::routine_kind(*kind),
            schema: schema_of(name)?,
            name: name.name.value.to_lowercase(),
        }),
    })
}

fn wanted(
    privileges: &[ast::Privilege],
    level: &GrantLevel,
    grant_option: bool,
) -> SqlResult<Wanted> {
    let all = match level {
        GrantLevel::Global => Privileges::ALL,
        GrantLevel::On(GrantTarget::Database(_)) => Privileges::DATABASE,
        GrantLevel::On(GrantTarget::Table { .. }) => Privileges::TABLE,
        GrantLevel::On(GrantTarget::Routine { .. }) => Privileges::ROUTINE,
    };
    if privileges.is_empty() {
        let all = all.without(Privileges::GRANT_OPTION);
        return Ok((if grant_option { all | Privileges::GRANT_OPTION } else { all }, Vec::new()));
    }
    let is_table = matches!(level, GrantLevel::On(GrantTarget::Table { .. }));
    let option = if grant_option { Privileges::GRANT_OPTION } else { Privileges::NONE };
    let (mut whole, mut columns) = (option, Columns::new());
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

/// Bits of a privilege.
pub(super) fn bits(kind: ast::PrivilegeKind) -> Privileges {
    use ast::PrivilegeKind as Kind;
    match kind {
        Kind::Usage => Privileges::NONE,
        Kind::ReplicationClient => Privileges::BINLOG_MONITOR,
        Kind::Select => Privileges::SELECT,
        Kind::Insert => Privileges::INSERT,
        Kind::Update => Privileges::UPDATE,
        Kind::Delete => Privileges::DELETE,
        Kind::References => Privileges::REFERENCES,
        Kind::Index => Privileges::INDEX,
        Kind::Alter => Privileges::ALTER,
        Kind::Create => Privileges::CREATE,
        Kind::Drop => Privileges::DROP,
        Kind::Execute => Privileges::EXECUTE,
        Kind::Reload => Privileges::RELOAD,
        Kind::Shutdown => Privileges::SHUTDOWN,
        Kind::Process => Privileges::PROCESS,
        Kind::File => Privileges::FILE,
        Kind::GrantOption => Privileges::GRANT_OPTION,
        Kind::ShowDatabases => Privileges::SHOW_DATABASES,
        Kind::Super => Privileges::SUPER,
        Kind::CreateTemporaryTables => Privileges::CREATE_TEMPORARY_TABLES,
        Kind::LockTables => Privileges::LOCK_TABLES,
        Kind::ReplicationSlave => Privileges::REPLICATION_SLAVE,
        Kind::BinlogMonitor => Privileges::BINLOG_MONITOR,
        Kind::BinlogAdmin => Privileges::BINLOG_ADMIN,
        Kind::BinlogReplay => Privileges::BINLOG_REPLAY,
        Kind::ReplicationMasterAdmin => Privileges::REPLICATION_MASTER_ADMIN,
        Kind::ReplicationSlaveAdmin => Privileges::REPLICATION_SLAVE_ADMIN,
        Kind::SlaveMonitor => Privileges::SLAVE_MONITOR,
        Kind::ConnectionAdmin => Privileges::CONNECTION_ADMIN,
        Kind::FederatedAdmin => Privileges::FEDERATED_ADMIN,
        Kind::ReadOnlyAdmin => Privileges::READ_ONLY_ADMIN,
        Kind::SetUser => Privileges::SET_USER,
        Kind::CreateView => Privileges::CREATE_VIEW,
        Kind::ShowView => Privileges::SHOW_VIEW,
        Kind::CreateRoutine => Privileges::CREATE_ROUTINE,
        Kind::AlterRoutine => Privileges::ALTER_ROUTINE,
        Kind::CreateUser => Privileges::CREATE_USER,
        Kind::Event => Privileges::EVENT,
        Kind::Trigger => Privileges::TRIGGER,
        Kind::CreateTablespace => Privileges::CREATE_TABLESPACE,
        Kind::DeleteHistory => Privileges::DELETE_HISTORY,
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
