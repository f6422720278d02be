//! Privilege tables to accounts and grants.
//!
//! Must not fail on rows it does not understand: they are left out with a line in the log.

use std::collections::BTreeMap;

use selkie_types::SqlResult;

use super::AccountTables;
use super::definitions::DATABASE_COLUMNS;
use crate::accounts::{AccountName, Acl, GrantTarget, Privileges, from_json};

/// The account of a row; a row without host that is a role's belongs to the role.
fn name(acl: &Acl, host: &str, user: &str) -> AccountName {
    let role = AccountName::role(user);
    if host.is_empty() && acl.account(&role).is_some() {
        role
    } else {
        AccountName::new(user, host)
    }
}

/// The words of a SET column as privileges.
fn words(text: &str) -> Privileges {
    text.split(',').fold(Privileges::NONE, |all, word| {
        let name = if word.eq_ignore_ascii_case("Grant") { "GRANT OPTION" } else { word };
        all | Privileges::from_name(name).unwrap_or(Privileges::NONE)
    })
}

type TableKey = (AccountName, String, String);

impl AccountTables {
    /// Reads everything.
    pub(super) fn load(&self) -> SqlResult<Acl> {
        let mut acl = Acl::default();
        for row in self.rows("SELECT Host, User, Priv FROM mysql.global_priv")? {
            let [host, user, json] = &row[..] else { continue };
            match from_json(host, user, json) {
                Some(account) => acl.insert(account),
                None => tracing::warn!("mysql.global_priv: '{user}'@'{host}' is ignored"),
            }
        }
        self.load_databases(&mut acl)?;
        self.load_tables(&mut acl)?;
        self.load_routines(&mut acl)?;
        for row in self.rows("SELECT Host, User, Role, Admin_option FROM mysql.roles_mapping")? {
            let [host, user, role, admin] = &row[..] else { continue };
            let member = name(&acl, host, user);
            acl.insert_member(member, role.clone(), admin == "Y");
        }
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
            acl.insert_grant(owner, GrantTarget::Database(schema.clone()), whole, BTreeMap::new());
        }
        Ok(())
    }

    fn load_tables(&self, acl: &mut Acl) -> SqlResult<()> {
        let mut columns: BTreeMap<TableKey, BTreeMap<String, Privileges>> = BTreeMap::new();
        let text = "SELECT Host, User, Db, Table_name, Column_name, Column_priv \
             FROM mysql.columns_priv";
        for row in self.rows(text)? {
            let [host, user, schema, table, column, privileges] = &row[..] else { continue };
            let key = (name(acl, host, user), schema.clone(), table.clone());
            columns.entry(key).or_default().insert(column.clone(), words(privileges));
        }
        let text = "SELECT Host, User, Db, Table_name, Table_priv FROM mysql.tables_priv";
        for row in self.rows(text)? {
            let [host, user, schema, table, privileges] = &row[..] else { continue };
            let owner = name(acl, host, user);
            let key = (owner.clone(), schema.clone(), table.clone());
            let target = GrantTarget::Table { schema: schema.clone(), table: table.clone() };
            let of_columns = columns.remove(&key).unwrap_or_default();
            acl.insert_grant(owner, target, words(privileges), of_columns);
        }
        Ok(())
    }

    fn load_routines(&self, acl: &mut Acl) -> SqlResult<()> {
        let text = "SELECT Host, User, Db, Routine_name, Routine_type, Proc_priv \
             FROM mysql.procs_priv";
        for row in self.rows(text)? {
            let [host, user, schema, routine, kind, privileges] = &row[..] else { continue };
            let target = GrantTarget::Routine {
                schema: schema.clone(),
                name: routine.clone(),
                is_function: kind == "FUNCTION",
            };
            let owner = name(acl, host, user);
            acl.insert_grant(owner, target, words(privileges), BTreeMap::new());
        }
        Ok(())
    }
}
