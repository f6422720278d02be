//! Turns the difference of two states of the accounts into statements on the privilege tables.
//!
//! Compat: the timestamp columns carry no information.
//!
//! Must not run the statements.

use std::collections::BTreeMap;

use super::definitions::DATABASE_COLUMNS;
use crate::accounts::{AccountName, Acl, Grant, GrantTarget, Privileges, Proxy, to_json};

/// Statements that turn the tables of `old` into those of `new`.
pub(super) fn statements(old: &Acl, new: &Acl) -> Vec<String> {
    let mut out = Vec::new();
    accounts(old, new, &mut out);
    grants(old, new, &mut out);
    members(old, new, &mut out);
    proxies(old, new, &mut out);
    out
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Host and user of a row; a role has no host.
fn owner(name: &AccountName) -> (String, String) {
    (quote(name.host_text()), quote(&name.user))
}

fn of_owner(name: &AccountName) -> String {
    let (host, user) = owner(name);
    format!("Host = {host} AND User = {user}")
}

fn accounts(old: &Acl, new: &Acl, out: &mut Vec<String>) {
    for account in old.accounts().filter(|a| new.account(&a.name).is_none()) {
        out.push(format!("DELETE FROM mysql.global_priv WHERE {}", of_owner(&account.name)));
    }
    for account in new.accounts().filter(|a| old.account(&a.name) != Some(*a)) {
        let (host, user) = owner(&account.name);
        let json = quote(&to_json(account));
        out.push(format!(
            "REPLACE INTO mysql.global_priv (Host, User, Priv) VALUES ({host}, {user}, {json})"
        ));
    }
}

fn grants(old: &Acl, new: &Acl, out: &mut Vec<String>) {
    type ByTarget<'a> = BTreeMap<(&'a AccountName, &'a GrantTarget), &'a Grant>;
    let before: ByTarget<'_> = old.grants().map(|(n, t, g)| ((n, t), g)).collect();
    let after: ByTarget<'_> = new.grants().map(|(n, t, g)| ((n, t), g)).collect();
    for ((name, target), _) in before.iter().filter(|(k, v)| after.get(*k) != Some(v)) {
        out.extend(delete(name, target));
    }
    for ((name, target), grant) in after.iter().filter(|(k, v)| before.get(*k) != Some(v)) {
        out.extend(insert(name, target, grant));
    }
}

fn delete(name: &AccountName, target: &GrantTarget) -> Vec<String> {
    let whose = of_owner(name);
    match target {
        GrantTarget::Database(schema) => {
            vec![format!("DELETE FROM mysql.db WHERE {whose} AND Db = {}", quote(schema))]
        }
        GrantTarget::Table { schema, table } => {
            let which =
                format!("{whose} AND Db = {} AND Table_name = {}", quote(schema), quote(table));
            vec![
                format!("DELETE FROM mysql.tables_priv WHERE {which}"),
                format!("DELETE FROM mysql.columns_priv WHERE {which}"),
            ]
        }
        GrantTarget::Routine { kind, schema, name } => vec![format!(
            "DELETE FROM mysql.procs_priv WHERE {whose} AND Db = {} AND Routine_name = {} \
             AND Routine_type = {}",
            quote(schema),
            quote(name),
            quote(kind.words())
        )],
    }
}

fn insert(name: &AccountName, target: &GrantTarget, grant: &Grant) -> Vec<String> {
    let (host, user) = owner(name);
    let grantor = quote(&grant.grantor);
    match target {
        GrantTarget::Database(schema) => vec![insert_database(&host, &user, schema, grant.whole)],
        GrantTarget::Table { schema, table } => {
            let place = format!("{host}, {}, {user}, {}", quote(schema), quote(table));
            let mut out = vec![format!(
                "REPLACE INTO mysql.tables_priv (Host, Db, User, Table_name, Grantor, Timestamp, \
                 Table_priv, Column_priv) VALUES ({place}, {grantor}, 0, {}, {})",
                quote(&words(grant.whole)),
                quote(&words(grant.on_any_column()))
            )];
            out.extend(grant.columns.iter().map(|(column, privileges)| {
                format!(
                    "REPLACE INTO mysql.columns_priv (Host, Db, User, Table_name, Column_name, \
                     Timestamp, Column_priv) VALUES ({place}, {}, 0, {})",
                    quote(column),
                    quote(&words(*privileges))
                )
            }));
            out
        }
        GrantTarget::Routine { kind, schema, name } => vec![format!(
            "REPLACE INTO mysql.procs_priv (Host, Db, User, Routine_name, Routine_type, Grantor, \
             Timestamp, Proc_priv) VALUES ({host}, {}, {user}, {}, {}, {grantor}, 0, {})",
            quote(schema),
            quote(name),
            quote(kind.words()),
            quote(&words(grant.whole))
        )],
    }
}

fn insert_database(host: &str, user: &str, schema: &str, whole: Privileges) -> String {
    let granted = DATABASE_COLUMNS
        .iter()
        .filter(|(_, name)| Privileges::from_name(name).is_some_and(|p| whole.has(p)));
    let columns: String = granted.clone().map(|(column, _)| format!(", {column}")).collect();
    let values: String = granted.map(|_| ", 'Y'").collect();
    format!(
        "REPLACE INTO mysql.db (Host, Db, User{columns}) VALUES ({host}, {}, {user}{values})",
        quote(schema)
    )
}

/// The words of a SET column for privileges.
fn words(privileges: Privileges) -> String {
    let word = |name: &'static str| match name {
        "GRANT OPTION" => "Grant".to_owned(),
        "DELETE HISTORY" => "Delete versioning rows".to_owned(),
        other => other.to_ascii_lowercase(),
    };
    privileges.names().map(word).collect::<Vec<_>>().join(",")
}

fn members(old: &Acl, new: &Acl, out: &mut Vec<String>) {
    let list = |acl: &Acl| -> BTreeMap<(AccountName, String), bool> {
        acl.members().map(|(n, role, admin)| ((n.clone(), role.to_owned()), admin)).collect()
    };
    let (before, after) = (list(old), list(new));
    for ((name, role), _) in before.iter().filter(|(k, v)| after.get(k) != Some(v)) {
        let role = quote(role);
        out.push(format!(
            "DELETE FROM mysql.roles_mapping WHERE {} AND Role = {role}",
            of_owner(name)
        ));
    }
    for ((name, role), admin) in after.iter().filter(|(k, v)| before.get(k) != Some(v)) {
        let (host, user) = owner(name);
        let (role, admin) = (quote(role), if *admin { "'Y'" } else { "'N'" });
        out.push(format!(
            "REPLACE INTO mysql.roles_mapping (Host, User, Role, Admin_option) \
             VALUES ({host}, {user}, {role}, {admin})"
        ));
    }
}

fn proxies(old: &Acl, new: &Acl, out: &mut Vec<String>) {
    type ByNames<'a> = BTreeMap<(&'a AccountName, &'a AccountName), &'a Proxy>;
    let before: ByNames<'_> = old.proxies().map(|(n, p, x)| ((n, p), x)).collect();
    let after: ByNames<'_> = new.proxies().map(|(n, p, x)| ((n, p), x)).collect();
    for ((name, proxied), _) in before.iter().filter(|(k, v)| after.get(*k) != Some(v)) {
        let (host, user) = owner(proxied);
        out.push(format!(
            "DELETE FROM mysql.proxies_priv WHERE {} AND Proxied_host = {host} AND \
             Proxied_user = {user}",
            of_owner(name)
        ));
    }
    for ((name, proxied), proxy) in after.iter().filter(|(k, v)| before.get(*k) != Some(v)) {
        let ((host, user), (proxied_host, proxied_user)) = (owner(name), owner(proxied));
        let (with_grant, grantor) = (u8::from(proxy.with_grant), quote(&proxy.grantor));
        out.push(format!(
            "REPLACE INTO mysql.proxies_priv (Host, User, Proxied_host, Proxied_user, With_grant, \
             Grantor) VALUES ({host}, {user}, {proxied_host}, {proxied_user}, {with_grant}, \
             {grantor})"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::{Columns, GrantLevel};

    #[test]
    fn differences() {
        let old = Acl::initial("");
        assert!(statements(&old, &old).is_empty());
        let mut new = old.clone();
        let root = AccountName::new("root", "localhost");
        let level = GrantLevel::On(GrantTarget::Database("it's".into()));
        new.grant(&root, &level, (Privileges::SELECT, &Columns::new()), "").unwrap();
        assert_eq!(
            statements(&old, &new),
            ["REPLACE INTO mysql.db (Host, Db, User, Select_priv) \
              VALUES ('localhost', 'it''s', 'root', 'Y')"]
        );
        assert_eq!(statements(&new, &old).len(), 1);
        let mut other = new.clone();
        other.drop_accounts(&[root], crate::accounts::IfExists::Fail).unwrap();
        let dropped = statements(&new, &other);
        assert_eq!(dropped.len(), 3, "{dropped:?}");
        assert!(dropped.iter().all(|text| text.starts_with("DELETE FROM mysql.")), "{dropped:?}");
    }
}
