//! Reads accounts and grants from the privilege tables.
//!
//! Must not fail on a row it does not understand: it skips the row and logs a warning.

use std::collections::BTreeMap;

use selkie_types::SqlResult;

use super::AccountTables;
use super::definitions::DATABASE_COLUMNS;
use crate::accounts::{
    AccountName, Acl, Columns, Grant, GrantTarget, Privileges, Proxy, RoutineKind, from_json,
};

/// The account of a row. A row without a host belongs to the role of this name, if there is one.
fn name(acl: &Acl, host: &str, user: &str) -> AccountName {
    match host.is_empty() && acl.has_role(user) {
        true => AccountName::role(user),
        false => AccountName::new(user, host),
    }
}

/// Privileges from the words of a SET column.
fn words(text: &str) -> Privileges {
    text.split(',').fold(Privileges::NONE, |all, word| {
        let name = if word.eq_ignore_ascii_case("Grant") { "GRANT OPTION" } else { word };
        all | Privileges::from_name(name).unwrap_or(Privileges::NONE)
    })
}

type TableKey = (AccountName, String, String);

impl AccountTables {
    /// Reads all privilege tables.
    pub(super) fn load(&self) -> SqlResult<Acl> {
        let mut acl = Acl::default();
        for row in self.rows("SELECT Host, User, Priv FROM mysql.global_priv")? {
            let [host, user, json] = &row[..] else { continue };
            match from_json(host, user, json) {
                Some(account) => acl.insert(account),
                None => tracing::warn!(
                    "mysql.global_priv: '{user}'@'{host}' has an invalid Priv and is ignored"
                ),
            }
        }
        self.load_databases(&mut acl)?;
        self.load_tables(&mut acl)?;
        self.load_routines(&mut acl)?;
        for row in self.rows("SELECT Host, User, Role, Admin_option FROM mysql.roles_mapping")? {
            let [host, user, role, admin] = &row[..] else { continue };
            let member = name(&acl, host, user);
            if !acl.has_role(role) {
                let of = member.quoted();
                tracing::warn!("mysql.roles_mapping: role '{role}' of {of} does not exist");
                continue;
            }
            acl.insert_member(member, role.clone(), admin == "Y");
        }
        self.load_proxies(&mut acl)?;
        Ok(acl)
    }

    fn load_databases(&self, acl: &mut Acl) -> SqlResult<()> {
        let columns: Vec<&str> = DATABASE_COLUMNS.iter().map(|(column, _)| *column).collect();
        let text = format!("SELECT Host, User, Db, {} FROM mysql.db", columns.join(", "));
        for row in self.rows(&text)? {
            let [host, user, schema, flags @ ..] = &row[..] else { continue };
            let granted = DATABASE_COLUMNS.iter().zip(flags).filter(|(_, flag)| *flag == "Y");
            let whole = granted.fold(Privileges::NONE, |all, ((_, name), _)| {
                all | Privileges::from_name(name).unwrap_or(Privileges::NONE)
            });
            let owner = name(acl, host, user);
            let grant = Grant { whole, ..Grant::default() };
            acl.insert_grant(owner, GrantTarget::Database(schema.clone()), grant);
        }
        Ok(())
    }

    fn load_tables(&self, acl: &mut Acl) -> SqlResult<()> {
        let mut columns: BTreeMap<TableKey, Columns> = BTreeMap::new();
        let text = "SELECT Host, User, Db, Table_name, Column_name, Column_priv \
             FROM mysql.columns_priv";
        for row in self.rows(text)? {
            let [host, user, schema, table, column, privileges] = &row[..] else { continue };
            let key = (name(acl, host, user), schema.clone(), table.clone());
            columns.entry(key).or_default().push((column.clone(), words(privileges)));
        }
        let text = "SELECT Host, User, Db, Table_name, Table_priv, Grantor FROM mysql.tables_priv";
        for row in self.rows(text)? {
            let [host, user, schema, table, privileges, grantor] = &row[..] else { continue };
            let owner = name(acl, host, user);
            let key = (owner.clone(), schema.clone(), table.clone());
            let target = GrantTarget::Table { schema: schema.clone(), table: table.clone() };
            let columns = columns.remove(&key).unwrap_or_default();
            let (whole, grantor) = (words(privileges), grantor.clone());
            let grant = Grant { whole, columns, grantor, ..Grant::default() };
            acl.insert_grant(owner, target, grant);
        }
        Ok(())
    }

    fn load_routines(&self, acl: &mut Acl) -> SqlResult<()> {
        let text = "SELECT Host, User, Db, Routine_name, Routine_type, Proc_priv, Grantor \
             FROM mysql.procs_priv";
        for row in self.rows(text)? {
            let [host, user, schema, routine, kind, privileges, grantor] = &row[..] else {
                continue;
            };
            let Some(kind) = RoutineKind::from_words(kind) else { continue };
            let (schema, name_) = (schema.clone(), routine.to_lowercase());
            let target = GrantTarget::Routine { kind, schema, name: name_ };
            let owner = name(acl, host, user);
            let whole = words(privileges);
            let grant = Grant { whole, grantor: grantor.clone(), ..Grant::default() };
            acl.insert_grant(owner, target, grant);
        }
        Ok(())
    }

    fn load_proxies(&self, acl: &mut Acl) -> SqlResult<()> {
        let text = "SELECT Host, User, Proxied_host, Proxied_user, With_grant, Grantor \
             FROM mysql.proxies_priv";
        for row in self.rows(text)? {
            let [host, user, proxied_host, proxied_user, with_grant, grantor] = &row[..] else {
                continue;
            };
            let with_grant = with_grant != "0";
            let proxy = Proxy { with_grant, grantor: grantor.clone() };
            let proxied = AccountName::new(proxied_user, proxied_host);
            acl.insert_proxy(AccountName::new(user, host), proxied, proxy);
        }
        Ok(())
    }
}
