//! Accounts as the JSON of `mysql.global_priv`.
//!
//! Must not do I/O. Unknown members are ignored, so that rows written by a MariaDB are readable.

use serde_json::{Map, Value, json};

use super::account::{Account, AccountName, Limits, TlsRequirement};
use super::auth_method::AuthMethod;
use super::privileges::Privileges;

/// Version number written beside the privileges.
const VERSION_ID: u64 = 101_119;
/// The first version in which SUPER does not include READ_ONLY ADMIN.
const READ_ONLY_APART: u64 = 101_100;

/// The `Priv` column of an account or role.
pub fn to_json(account: &Account) -> String {
    let mut map = Map::new();
    map.insert("access".into(), json!(account.global.0));
    map.insert("version_id".into(), json!(VERSION_ID));
    if account.is_role() {
        map.insert("is_role".into(), json!(true));
        return Value::Object(map).to_string();
    }
    put_auth(&mut map, &account.auth);
    // Compat: zero says that the password has expired.
    let changed = if account.expired { 0 } else { account.password_changed };
    if changed >= 0 {
        map.insert("password_last_changed".into(), json!(changed));
    }
    if account.locked {
        map.insert("account_locked".into(), json!(true));
    }
    if let Some(role) = &account.default_role {
        map.insert("default_role".into(), json!(role));
    }
    put_tls(&mut map, &account.tls);
    put_limits(&mut map, &account.limits);
    Value::Object(map).to_string()
}

fn put_auth(map: &mut Map<String, Value>, methods: &[AuthMethod]) {
    let Some((last, alternatives)) = methods.split_last() else { return };
    map.insert("plugin".into(), json!(last.plugin()));
    map.insert("authentication_string".into(), json!(last.stored()));
    if !alternatives.is_empty() {
        let mut list: Vec<Value> = alternatives
            .iter()
            .map(|m| json!({"plugin": m.plugin(), "authentication_string": m.stored()}))
            .collect();
        list.push(json!({}));
        map.insert("auth_or".into(), Value::Array(list));
    }
}

fn put_tls(map: &mut Map<String, Value>, requirement: &TlsRequirement) {
    let kind = match requirement {
        TlsRequirement::None => return,
        TlsRequirement::Any => 1,
        TlsRequirement::X509 => 2,
        TlsRequirement::Specified { cipher, issuer, subject } => {
            map.insert("ssl_cipher".into(), json!(cipher));
            map.insert("x509_issuer".into(), json!(issuer));
            map.insert("x509_subject".into(), json!(subject));
            3
        }
    };
    map.insert("ssl_type".into(), json!(kind));
}

fn put_limits(map: &mut Map<String, Value>, limits: &Limits) {
    let counts = [
        ("max_questions", limits.queries),
        ("max_updates", limits.updates),
        ("max_connections", limits.connections),
    ];
    for (name, value) in counts.into_iter().filter(|(_, v)| *v > 0) {
        map.insert(name.into(), json!(value));
    }
    if limits.user_connections != 0 {
        map.insert("max_user_connections".into(), json!(limits.user_connections));
    }
    if limits.statement_time > 0.0 {
        map.insert("max_statement_time".into(), json!(limits.statement_time));
    }
}

/// The account of a row, or `None` if the JSON is not an object or names an unknown plugin.
pub fn from_json(host: &str, user: &str, text: &str) -> Option<Account> {
    let value: Value = serde_json::from_str(text).ok()?;
    let map = value.as_object()?;
    let is_role = map.get("is_role").and_then(Value::as_bool).unwrap_or(false);
    let name = if is_role { AccountName::role(user) } else { AccountName::new(user, host) };
    let mut account = Account::new(name);
    let number = |key: &str| map.get(key).and_then(Value::as_u64).unwrap_or(0);
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    account.global = Privileges(number("access")) & Privileges::ALL;
    // Compat: before this version SUPER could do what READ_ONLY ADMIN can.
    if number("version_id") < READ_ONLY_APART && account.global.has(Privileges::SUPER) {
        account.global = account.global | Privileges::READ_ONLY_ADMIN;
    }
    if is_role {
        return Some(account);
    }
    account.auth = read_auth(map)?;
    account.locked = map.get("account_locked").and_then(Value::as_bool).unwrap_or(false);
    account.password_changed =
        map.get("password_last_changed").and_then(Value::as_i64).unwrap_or(-1);
    account.expired = account.password_changed == 0;
    account.default_role = Some(text("default_role")).filter(|r| !r.is_empty());
    account.tls = match number("ssl_type") {
        0 => TlsRequirement::None,
        1 => TlsRequirement::Any,
        2 => TlsRequirement::X509,
        _ => TlsRequirement::Specified {
            cipher: text("ssl_cipher"),
            issuer: text("x509_issuer"),
            subject: text("x509_subject"),
        },
    };
    account.limits = Limits {
        queries: number("max_questions"),
        updates: number("max_updates"),
        connections: number("max_connections"),
        user_connections: map.get("max_user_connections").and_then(Value::as_i64).unwrap_or(0),
        statement_time: map.get("max_statement_time").and_then(Value::as_f64).unwrap_or(0.0),
    };
    Some(account)
}

fn read_auth(map: &Map<String, Value>) -> Option<Vec<AuthMethod>> {
    let method = |m: &Map<String, Value>| {
        let plugin = m.get("plugin").and_then(Value::as_str).unwrap_or("mysql_native_password");
        let data = m.get("authentication_string").and_then(Value::as_str);
        AuthMethod::from_plugin(plugin, data).ok()
    };
    let Some(list) = map.get("auth_or").and_then(Value::as_array) else {
        return Some(vec![method(map)?]);
    };
    // An empty element stands for the method beside the list.
    let of = |v: &Value| v.as_object().and_then(|m| method(if m.is_empty() { map } else { m }));
    list.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let mut account = Account::new(AccountName::new("a", "%"));
        account.auth = vec![AuthMethod::UnixSocket(String::new()), AuthMethod::password("x")];
        account.global = Privileges::SELECT | Privileges::SUPER;
        account.password_changed = 5;
        account.locked = true;
        account.limits.user_connections = 3;
        account.tls = TlsRequirement::X509;
        assert_eq!(from_json("%", "a", &to_json(&account)), Some(account));
        let role = Account::new(AccountName::role("r"));
        assert_eq!(from_json("", "r", &to_json(&role)), Some(role));
    }

    #[test]
    fn rows_of_a_mariadb() {
        let row = from_json("localhost", "root", r#"{"access":18446744073709551615}"#).unwrap();
        assert_eq!(row.global, Privileges::ALL);
        assert!(row.is_open());
        assert_eq!(from_json("", "x", "[]"), None);
    }
}
