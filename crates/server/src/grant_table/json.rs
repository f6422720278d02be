//! What an account has below the global level, as JSON members beside MariaDB's.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::accounts::{Account, AccountName, Acl, GrantTarget, Privileges, from_json, to_json};

const GRANTS: &str = "selkie_grants";
const ROLES: &str = "selkie_roles";

/// The `Priv` column of an account.
pub(super) fn write(acl: &Acl, account: &Account) -> String {
    let mut map = match serde_json::from_str(&to_json(account)) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    let grants: Vec<Value> = acl
        .grants()
        .filter(|(name, ..)| **name == account.name)
        .map(|(_, target, whole, columns)| grant(target, whole, columns))
        .collect();
    if !grants.is_empty() {
        map.insert(GRANTS.into(), Value::Array(grants));
    }
    let roles: Vec<Value> = acl
        .members()
        .filter(|(name, ..)| **name == account.name)
        .map(|(_, role, admin)| json!({"role": role, "admin": admin}))
        .collect();
    if !roles.is_empty() {
        map.insert(ROLES.into(), Value::Array(roles));
    }
    Value::Object(map).to_string()
}

fn grant(target: &GrantTarget, whole: Privileges, columns: &BTreeMap<String, Privileges>) -> Value {
    let columns: Map<String, Value> =
        columns.iter().map(|(name, p)| (name.clone(), json!(p.0))).collect();
    let mut map = match target {
        GrantTarget::Database(schema) => json!({"schema": schema}),
        GrantTarget::Table { schema, table } => json!({"schema": schema, "table": table}),
        GrantTarget::Routine { schema, name, is_function } => {
            json!({"schema": schema, "routine": name, "function": is_function})
        }
    };
    map["access"] = json!(whole.0);
    if !columns.is_empty() {
        map["columns"] = Value::Object(columns);
    }
    map
}

/// Adds the account of a row to `acl`; false if the row makes no sense.
pub(super) fn read(acl: &mut Acl, host: &str, user: &str, text: &str) -> bool {
    let Some(account) = from_json(host, user, text) else { return false };
    let name = account.name.clone();
    acl.insert(account);
    let map: Value = serde_json::from_str(text).unwrap_or_default();
    let list = |key: &str| map[key].as_array().cloned().unwrap_or_default();
    list(GRANTS).iter().for_each(|grant| read_grant(acl, &name, grant));
    for role in list(ROLES) {
        let admin = role["admin"].as_bool().unwrap_or(false);
        let role = role["role"].as_str().unwrap_or_default().to_owned();
        acl.insert_member(name.clone(), role, admin);
    }
    true
}

fn read_grant(acl: &mut Acl, name: &AccountName, grant: &Value) {
    let text = |key: &str| grant[key].as_str().map(str::to_owned);
    let Some(schema) = text("schema") else { return };
    let target = match (text("table"), text("routine")) {
        (Some(table), _) => GrantTarget::Table { schema, table },
        (None, Some(name)) => {
            let is_function = grant["function"].as_bool().unwrap_or(false);
            GrantTarget::Routine { schema, name, is_function }
        }
        (None, None) => GrantTarget::Database(schema),
    };
    let access = |value: &Value| Privileges(value.as_u64().unwrap_or(0));
    let columns = grant["columns"].as_object().into_iter().flatten();
    let columns = columns.map(|(name, value)| (name.clone(), access(value))).collect();
    acl.insert_grant(name.clone(), target, access(&grant["access"]), columns);
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use crate::accounts::{Account, AccountName, Acl, GrantTarget, Privileges};

    #[test]
    fn grants_and_roles_round_trip() {
        let mut acl = Acl::default();
        let name = AccountName::new("app", "%");
        acl.insert(Account::new(name.clone()));
        let target = GrantTarget::Table { schema: "shop".into(), table: "orders".into() };
        let columns = [("id".to_owned(), Privileges::SELECT)].into();
        acl.insert_grant(name.clone(), target, Privileges::INSERT, columns);
        acl.insert_member(name.clone(), "reader".into(), true);
        let text = write(&acl, acl.account(&name).unwrap());
        let mut again = Acl::default();
        assert!(read(&mut again, "%", "app", &text));
        assert_eq!(again, acl);
    }
}
