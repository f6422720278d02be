//! CREATE ROLE, GRANT and REVOKE of roles, SET ROLE.
//!
//! Must not decide what a role may do; privileges are granted to it like to an account.

use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, SqlError, SqlResult};

use super::accounts::existing;
use super::answer::Notes;
use super::names;
use crate::accounts::{AccountChanges, AccountName, Privileges};
use crate::session::Shared;

/// CREATE ROLE.
pub(super) fn create(
    shared: &Shared,
    statement: &ast::CreateRole,
    notes: &mut Notes,
) -> SqlResult<()> {
    shared.access.lock().check_global(Privileges::CREATE_USER)?;
    let roles: Vec<AccountName> =
        statement.roles.iter().map(|r| names::role(shared, r)).collect::<SqlResult<_>>()?;
    if let Some(role) = roles.iter().find(|r| is_reserved(&r.user)) {
        return Err(SqlError::new(&ER_INVALID_ROLE, &[&role.user]));
    }
    let admin = match &statement.admin {
        Some(name) => names::user_or_role(shared, name)?,
        None => shared.access.lock().identity().account.clone(),
    };
    let wanted: Vec<(AccountName, AccountChanges)> =
        roles.iter().map(|r| (r.clone(), AccountChanges::default())).collect();
    let existing = existing(statement.or_replace, statement.if_not_exists);
    let skipped = shared.server.accounts.change(|acl| {
        let skipped = acl.create(&wanted, existing)?;
        // Compat: who creates a role has it, with the right to pass it on.
        for role in roles.iter().filter(|r| !skipped.contains(r)) {
            acl.grant_role(&role.user, &admin, true)?;
        }
        Ok(skipped)
    })?;
    notes.extend(skipped.iter().map(|r| Condition::note(&ER_ROLE_CREATE_EXISTS, &[&r.user])));
    Ok(())
}

fn is_reserved(name: &str) -> bool {
    name.is_empty() || name.eq_ignore_ascii_case("none") || name.eq_ignore_ascii_case("public")
}

/// GRANT and REVOKE of roles.
pub(super) fn grant_roles(
    shared: &Shared,
    statement: &ast::Grant,
    roles: &[ast::AccountName],
) -> SqlResult<()> {
    let roles: Vec<AccountName> =
        roles.iter().map(|r| names::role(shared, r)).collect::<SqlResult<_>>()?;
    for role in &roles {
        check_may_pass_on(shared, role)?;
    }
    for spec in &statement.accounts {
        let member = names::user_or_role(shared, &spec.account)?;
        shared.server.accounts.change(|acl| {
            for role in &roles {
                match (statement.revoke, statement.grant_option) {
                    (true, false) => acl.revoke_role(&role.user, &member)?,
                    (true, true) => acl.revoke_admin_option(&role.user, &member)?,
                    (false, admin) => acl.grant_role(&role.user, &member, admin)?,
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// A role is passed on by those who have it with ADMIN OPTION.
fn check_may_pass_on(shared: &Shared, role: &AccountName) -> SqlResult<()> {
    let acl = shared.server.accounts.current();
    if acl.account(role).is_none() {
        return Err(SqlError::new(&ER_INVALID_ROLE, &[&role.user]));
    }
    let access = shared.access.lock();
    let own = &access.identity().account;
    let may = acl.members().any(|(member, r, admin)| member == own && r == role.user && admin);
    if may || access.has_global(Privileges::SUPER) {
        return Ok(());
    }
    let identity = access.identity();
    Err(SqlError::new(&ER_ACCESS_DENIED_ERROR, &[&identity.user, &identity.host, &"NO"]))
}

/// SET ROLE; `None` is NONE.
pub(super) fn set_role(shared: &Shared, role: Option<&str>) -> SqlResult<()> {
    let mut access = shared.access.lock();
    if let Some(role) = role {
        let held = shared.server.accounts.current().roles_of(&access.identity().account);
        if !held.contains(role) {
            return Err(SqlError::new(&ER_INVALID_ROLE, &[&role]));
        }
    }
    access.set_role(role.map(str::to_owned));
    Ok(())
}

/// SET DEFAULT ROLE.
pub(super) fn set_default_role(
    shared: &Shared,
    role: Option<&str>,
    account: Option<&ast::AccountName>,
) -> SqlResult<()> {
    let own = shared.access.lock().identity().account.clone();
    let name = account.map_or(Ok(own.clone()), |a| names::user(shared, a))?;
    if name != own {
        shared.access.lock().check_global(Privileges::CREATE_USER)?;
    }
    shared.server.accounts.change(|acl| acl.set_default_role(&name, role))
}
