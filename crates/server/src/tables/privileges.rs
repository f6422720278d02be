//! Who may do what, as far as the session may know.
//!
//! Must not show others' privileges to those who may not read the accounts.

use selkie_types::Value;

use super::{Row, text};
use crate::accounts::{AccountName, Acl, GrantTarget, Privileges};
use crate::session::Shared;

/// The accounts whose privileges the session sees.
fn visible(shared: &Shared, acl: &Acl) -> Vec<AccountName> {
    let access = shared.access.lock();
    let sees_all = access.check_database("mysql", Privileges::SELECT).is_ok();
    let identity = access.identity();
    let role = identity.role.as_deref().map(AccountName::role);
    let names = acl.accounts().map(|a| a.name.clone());
    names.filter(|n| sees_all || *n == identity.account || Some(n) == role.as_ref()).collect()
}

fn yes(on: bool) -> Value {
    text(if on { "YES" } else { "NO" })
}

/// One row for each privilege; none at all is `USAGE`.
fn expand(
    grantee: &AccountName,
    privileges: Privileges,
    usage: bool,
    place: &[(&'static str, Value)],
) -> Vec<Row> {
    let grantable = privileges.has(Privileges::GRANT_OPTION);
    let mut names: Vec<&str> = privileges.without(Privileges::GRANT_OPTION).names().collect();
    if names.is_empty() && usage {
        names.push("USAGE");
    }
    let row = |name: &str| {
        let mut row = vec![("GRANTEE", text(grantee.quoted())), ("TABLE_CATALOG", text("def"))];
        row.extend(place.iter().cloned());
        row.push(("PRIVILEGE_TYPE", text(name)));
        row.push(("IS_GRANTABLE", yes(grantable)));
        row
    };
    names.into_iter().map(row).collect()
}

pub(super) fn user_privileges(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    let names = visible(shared, &acl);
    let accounts = acl.accounts().filter(|a| names.contains(&a.name));
    accounts.flat_map(|a| expand(&a.name, a.global, true, &[])).collect()
}

pub(super) fn schema_privileges(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    let names = visible(shared, &acl);
    let mut rows = Vec::new();
    for (name, target, whole, _) in acl.grants().filter(|(n, ..)| names.contains(n)) {
        if let GrantTarget::Database(schema) = target {
            rows.extend(expand(name, whole, true, &[("TABLE_SCHEMA", text(schema))]));
        }
    }
    rows
}

pub(super) fn table_privileges(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    let names = visible(shared, &acl);
    let mut rows = Vec::new();
    for (name, target, whole, _) in acl.grants().filter(|(n, ..)| names.contains(n)) {
        if let GrantTarget::Table { schema, table } = target {
            let place = [("TABLE_SCHEMA", text(schema)), ("TABLE_NAME", text(table))];
            rows.extend(expand(name, whole, false, &place));
        }
    }
    rows
}

pub(super) fn column_privileges(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    let names = visible(shared, &acl);
    let mut rows = Vec::new();
    for (name, target, whole, columns) in acl.grants().filter(|(n, ..)| names.contains(n)) {
        let GrantTarget::Table { schema, table } = target else { continue };
        for (column, privileges) in columns {
            let place = [
                ("TABLE_SCHEMA", text(schema)),
                ("TABLE_NAME", text(table)),
                ("COLUMN_NAME", text(column)),
            ];
            let grantable = whole & Privileges::GRANT_OPTION;
            rows.extend(expand(name, *privileges | grantable, false, &place));
        }
    }
    rows
}

pub(super) fn applicable_roles(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    let own = shared.access.lock().identity().account.clone();
    let default = acl.account(&own).and_then(|a| a.default_role.clone());
    let mut members = vec![own.clone()];
    members.extend(acl.roles_of(&own).iter().map(|r| AccountName::role(r)));
    let of_members = acl.members().filter(|(member, ..)| members.contains(member));
    of_members
        .map(|(member, role, admin)| {
            let is_default = *member == own && default.as_deref() == Some(role);
            vec![
                ("GRANTEE", text(member.to_string())),
                ("ROLE_NAME", text(role)),
                ("IS_GRANTABLE", yes(admin)),
                ("IS_DEFAULT", if *member == own { yes(is_default) } else { Value::Null }),
            ]
        })
        .collect()
}

pub(super) fn enabled_roles(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    let Some(role) = shared.access.lock().identity().role.clone() else {
        return vec![vec![("ROLE_NAME", Value::Null)]];
    };
    let mut names = vec![role.clone()];
    names.extend(acl.roles_of(&AccountName::role(&role)));
    names.iter().map(|n| vec![("ROLE_NAME", text(n))]).collect()
}
