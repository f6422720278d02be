//! CREATE ROLE, GRANT and REVOKE of roles, SET ROLE, SET DEFAULT ROLE.
//!
//! Must not decide what a role allows; privileges are granted to it like to an account.

use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::accounts::{
    check_conflict, check_is_named, check_may_manage, check_own_or_all, existing, methods, unnamed,
};
use super::answer::Notes;
use super::grants::check_may_create;
use super::names;
use crate::accounts::{AccountChanges, AccountName, Acl, IfExists, Privileges};
use crate::session::Shared;

/// CREATE ROLE.
pub(super) fn create(
    shared: &Shared,
    statement: &ast::CreateRole,
    notes: &mut Notes,
) -> SqlResult<()> {
    check_conflict(statement.or_replace, statement.if_not_exists)?;
    check_may_manage(shared, Privileges::INSERT)?;
    let admin = admin(shared, statement.admin.as_ref(), notes)?;
    let mut roles = Vec::new();
    for said in &statement.roles {
        let failed = |e| unnamed(said, "CREATE ROLE", e, notes);
        roles.push(match said {
            ast::AccountName::CurrentRole => {
                names::role(shared, said).or_else(failed)?;
                return Err(SqlError::new(&ER_CANNOT_USER, &[&"CREATE ROLE", &"CURRENT_ROLE"]));
            }
            said => names::role(shared, said)?,
        });
    }
    let wanted: Vec<(AccountName, AccountChanges)> =
        roles.iter().map(|r| (r.clone(), AccountChanges::default())).collect();
    let existing = existing(statement.or_replace, statement.if_not_exists);
    let skipped = shared.server.accounts.change(|acl| {
        let before: Vec<bool> = roles.iter().map(|r| acl.account(r).is_some()).collect();
        let result = acl.create(&wanted, existing);
        let skipped = result.as_ref().map(Vec::as_slice).unwrap_or_default();
        // Compat: the creator of a role gets it, with the right to grant it to others.
        for (role, existed) in roles.iter().zip(before) {
            let created = existing == IfExists::Replace || !existed;
            if created && !skipped.contains(role) {
                acl.grant_role(&role.user, &admin, true);
            }
        }
        result
    })?;
    notes.extend(skipped.iter().map(|r| Condition::note(&ER_ROLE_CREATE_EXISTS, &[&r.user])));
    Ok(())
}

/// First member of the new roles: the account of WITH ADMIN, or the session's own.
fn admin(
    shared: &Shared,
    said: Option<&ast::AccountName>,
    notes: &mut Notes,
) -> SqlResult<AccountName> {
    let access = || shared.access.lock();
    let Some(said) = said else { return Ok(access().identity().account.clone()) };
    let admin = names::user_or_role(shared, said)?;
    let (own, role) = {
        let access = access();
        (access.identity().account == admin, access.identity().role.clone())
    };
    if !own && role.is_none_or(|role| AccountName::role(&role) != admin) {
        access().check_global(Privileges::SUPER | Privileges::SET_USER)?;
    }
    if shared.server.accounts.current().account(&admin).is_none() {
        notes.push(Condition::note(&ER_NO_SUCH_USER, &[&admin.user, &admin.host_text()]));
    }
    Ok(admin)
}

/// GRANT and REVOKE of roles.
pub(super) fn grant_roles(
    shared: &Shared,
    statement: &ast::Grant,
    roles: &[ast::AccountName],
    notes: &mut Notes,
) -> SqlResult<()> {
    for role in roles {
        let role = names::role(shared, role)?;
        let acl = shared.server.accounts.current();
        acl.check_role(&role.user)?;
        check_may_pass_on(shared, &acl, &role.user)?;
        let mut members = Vec::new();
        for spec in &statement.accounts {
            let member = names::user_or_role(shared, &spec.account)?;
            let auth = methods(shared, &spec.auth)?;
            if auth.is_some() {
                check_own_or_all(shared, &member)?;
            }
            members.push((member, AccountChanges { auth, ..AccountChanges::default() }));
        }
        grant_one(shared, statement, &role.user, &members, notes)?;
    }
    Ok(())
}

/// Grants or revokes one role. One error names all members for which it failed.
fn grant_one(
    shared: &Shared,
    statement: &ast::Grant,
    role: &str,
    members: &[(AccountName, AccountChanges)],
    notes: &mut Notes,
) -> SqlResult<()> {
    let (failed, first) = shared.server.accounts.change(|acl| {
        let (mut failed, mut first) = (Vec::new(), None);
        for (member, extra) in members {
            let done = match (statement.revoke, statement.grant_option) {
                (true, false) => acl.revoke_role(role, member),
                (true, true) => acl.revoke_admin_option(role, member),
                (false, admin) => match prepare_member(shared, acl, member, extra) {
                    Ok(()) => acl.grant_role(role, member, admin),
                    Err(error) => {
                        first.get_or_insert(error);
                        false
                    }
                },
            };
            if !done {
                failed.push(member.quoted());
            }
        }
        Ok((failed, first))
    })?;
    if failed.is_empty() {
        return Ok(());
    }
    let def = if statement.revoke { &ER_CANNOT_REVOKE_ROLE } else { &ER_CANNOT_GRANT_ROLE };
    let all = SqlError::new(def, &[&role, &failed.join(",")]);
    // Compat: the statement fails with the error of an account that may not be created.
    Err(match first {
        Some(error) => {
            notes.push(Condition::from_error(Level::Error, &all));
            error
        }
        None => all,
    })
}

fn prepare_member(
    shared: &Shared,
    acl: &mut Acl,
    member: &AccountName,
    extra: &AccountChanges,
) -> SqlResult<()> {
    let one = [(member.clone(), extra.clone())];
    if acl.account(member).is_some() {
        let changes = member.host.is_some() && extra.auth.is_some();
        return if changes { acl.alter(&one, IfExists::Skip).map(|_| ()) } else { Ok(()) };
    }
    check_may_create(shared, member, extra)?;
    acl.create(&one, IfExists::Skip).map(|_| ())
}

/// Fails (1698) unless the session has the role with ADMIN OPTION, which the grant of it needs.
fn check_may_pass_on(shared: &Shared, acl: &Acl, role: &str) -> SqlResult<()> {
    let access = shared.access.lock();
    match access.is_unrestricted() || acl.may_pass_on(&access.identity().account, role) {
        true => Ok(()),
        false => Err(access.denied()),
    }
}

/// Fails (1959) unless `role` was granted to the account directly.
fn check_may_set(shared: &Shared, account: &AccountName, role: &str) -> SqlResult<()> {
    let acl = shared.server.accounts.current();
    let access = shared.access.lock();
    let identity = access.identity();
    let (host, ip) = match *account == identity.account {
        true => (identity.host.as_str(), identity.ip.as_str()),
        false => (account.host_text(), ""),
    };
    if acl.has_role(role) && acl.may_set_role(&account.user, host, ip, role) {
        return Ok(());
    }
    // Compat: the message confirms that the role exists only to sessions that can see it anyway, as
    // one of those that roles of the account have.
    let is_seen = || {
        access.check_database("mysql", Privileges::SELECT).is_ok()
            || acl.roles_of(&identity.account).iter().any(|of_role| of_role == role)
    };
    if acl.has_role(role) && is_seen() {
        let quoted = format!("`{}`", role.replace('`', "``"));
        let message = format!("User {} has not been granted role {quoted}", account.backquoted());
        return Err(SqlError::with_message(&ER_INVALID_ROLE, message));
    }
    Err(SqlError::new(&ER_INVALID_ROLE, &[&role]))
}

/// SET ROLE; `None` is NONE.
pub(super) fn set_role(shared: &Shared, role: Option<&str>) -> SqlResult<()> {
    let role = role.filter(|r| !r.eq_ignore_ascii_case("none"));
    if let Some(role) = role {
        let own = shared.access.lock().identity().account.clone();
        check_may_set(shared, &own, role)?;
    }
    shared.access.lock().set_role(role.map(str::to_owned));
    Ok(())
}

/// SET DEFAULT ROLE; `None` is NONE.
pub(super) fn set_default_role(
    shared: &Shared,
    role: Option<&ast::AccountName>,
    account: Option<&ast::AccountName>,
) -> SqlResult<()> {
    check_is_named(shared)?;
    let own = shared.access.lock().identity().account.clone();
    let name = account.map_or(Ok(own), |a| names::user(shared, a))?;
    check_own_or_all(shared, &name)?;
    let role = match role {
        Some(ast::AccountName::Named { user, .. }) if user.eq_ignore_ascii_case("none") => None,
        Some(ast::AccountName::Named { user, .. }) => Some(user.to_string()),
        Some(other) => Some(names::role(shared, other)?.user),
        None => None,
    };
    if shared.server.accounts.current().account(&name).is_none() {
        return Err(SqlError::new(&ER_INVALID_CURRENT_USER, &[]));
    }
    if let Some(role) = &role {
        check_may_set(shared, &name, role)?;
    }
    shared.server.accounts.change(|acl| acl.set_default_role(&name, role.as_deref()))
}
