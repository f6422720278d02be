//! Privileges and roles in `information_schema`, as far as the session may see them.
//!
//! Must not show privileges of others to sessions that may not read the accounts.

use selkie_types::Value;

use super::{Row, text};
use crate::accounts::{AccountName, Grant, GrantTarget, Listed, Privileges, listed_columns};
use crate::session::Shared;

/// The accounts and roles whose privileges the session sees. Compat: without the right to read all,
/// that is only its account; not its role, and not PUBLIC.
struct Visible {
    /// Whether it sees all accounts.
    all: bool,
    own: AccountName,
}

impl Visible {
    fn of(shared: &Shared) -> Self {
        let access = shared.access.lock();
        let all = access.check_database("mysql", Privileges::SELECT).is_ok();
        Self { all, own: access.identity().account.clone() }
    }

    fn sees(&self, name: &AccountName) -> bool {
        self.all || *name == self.own
    }
}

fn yes(on: bool) -> Value {
    text(if on { "YES" } else { "NO" })
}

/// One row for each privilege; a row with `USAGE` if there is none.
fn expand(
    grantee: &AccountName,
    privileges: Privileges,
    grantable: bool,
    place: &[(&'static str, Value)],
) -> Vec<Row> {
    let mut names: Vec<&str> = privileges.without(Privileges::GRANT_OPTION).names().collect();
    if names.is_empty() {
        names.push("USAGE");
    }
    // Compat: a role has an empty host here.
    let in_full = match grantee.host.is_none() {
        true => format!("{}@''", grantee.quoted()),
        false => grantee.quoted(),
    };
    let row = |name: &str| {
        let mut row = vec![("GRANTEE", text(&in_full)), ("TABLE_CATALOG", text("def"))];
        row.extend(place.iter().cloned());
        row.push(("PRIVILEGE_TYPE", text(name)));
        row.push(("IS_GRANTABLE", yes(grantable)));
        row
    };
    names.into_iter().map(row).collect()
}

/// Compat: roles are not listed.
pub(super) fn user_privileges(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    let visible = Visible::of(shared);
    let accounts = acl.accounts().filter(|a| !a.is_role() && visible.sees(&a.name));
    accounts
        .flat_map(|a| expand(&a.name, a.global, a.global.has(Privileges::GRANT_OPTION), &[]))
        .collect()
}

/// The rows that `rows` makes of each of these grants that the session sees.
fn of_grants(
    shared: &Shared,
    grants: Vec<Listed<'_>>,
    rows: impl Fn(&AccountName, &GrantTarget, &Grant) -> Vec<Row>,
) -> Vec<Row> {
    let visible = Visible::of(shared);
    let grants = grants.into_iter().filter(|(name, ..)| visible.sees(name));
    grants.flat_map(|(name, target, grant)| rows(name, target, grant)).collect()
}

pub(super) fn schema_privileges(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    of_grants(shared, acl.on_databases(), |name, target, grant| match target {
        GrantTarget::Database(schema) => {
            let grantable = grant.whole.has(Privileges::GRANT_OPTION);
            expand(name, grant.whole, grantable, &[("TABLE_SCHEMA", text(schema))])
        }
        _ => Vec::new(),
    })
}

/// Compat: a table with grants on columns only has no row.
pub(super) fn table_privileges(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    of_grants(shared, acl.on_tables(), |name, target, grant| match target {
        GrantTarget::Table { schema, table } => {
            let place = [("TABLE_SCHEMA", text(schema)), ("TABLE_NAME", text(table))];
            let grantable = grant.whole.has(Privileges::GRANT_OPTION);
            let granted = grant.whole.without(Privileges::GRANT_OPTION);
            match granted.is_empty() && !grant.columns.is_empty() {
                true => Vec::new(),
                false => expand(name, granted, grantable, &place),
            }
        }
        _ => Vec::new(),
    })
}

pub(super) fn column_privileges(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    of_grants(shared, acl.on_tables(), |name, target, grant| {
        let GrantTarget::Table { schema, table } = target else { return Vec::new() };
        let grantable = grant.whole.has(Privileges::GRANT_OPTION);
        let columns = listed_columns(&grant.columns);
        let mut rows = Vec::new();
        for (bit, _) in grant.on_any_column().each() {
            for (column, _) in columns.iter().filter(|(_, privileges)| privileges.has(bit)) {
                let place = [
                    ("TABLE_SCHEMA", text(schema)),
                    ("TABLE_NAME", text(table)),
                    ("COLUMN_NAME", text(column)),
                ];
                rows.extend(expand(name, bit, grantable, &place));
            }
        }
        rows
    })
}

pub(super) fn applicable_roles(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    let own = shared.access.lock().identity().account.clone();
    let default = acl.account(&own).and_then(|a| a.default_role.clone());
    let mut members = vec![own.clone()];
    members.extend(acl.roles_of(&own).iter().map(|r| AccountName::role(r)));
    let mut rows = Vec::new();
    for member in &members {
        for (role, admin) in acl.granted_roles(member) {
            let is_default = match *member == own {
                true => yes(default.as_deref() == Some(role)),
                false => Value::Null,
            };
            rows.push(vec![
                ("GRANTEE", text(member.to_string())),
                ("ROLE_NAME", text(role)),
                ("IS_GRANTABLE", yes(admin)),
                ("IS_DEFAULT", is_default),
            ]);
        }
    }
    rows
}

pub(super) fn enabled_roles(shared: &Shared) -> Vec<Row> {
    let acl = shared.server.accounts.current();
    let role = shared.access.lock().identity().role.clone();
    let Some(role) = role.filter(|role| acl.has_role(role)) else {
        return vec![vec![("ROLE_NAME", Value::Null)]];
    };
    acl.with_roles(&role).iter().map(|name| vec![("ROLE_NAME", text(&name.user))]).collect()
}
