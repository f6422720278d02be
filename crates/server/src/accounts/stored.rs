//! Accounts as the JSON of `mysql.global_priv`.
//!
//! Must not do I/O. Unknown members keep their text and their place: rows are also written by hand,
//! and by other servers.

use serde_json::{Map, Value, json};

use selkie_types::Privileges;

use super::account::{Account, AccountName, Limits, TlsRequirement};
use super::auth_method::AuthMethod;

/// Version number written beside the privileges.
const VERSION_ID: u64 = 101_119;
/// The first version in which SUPER does not include READ_ONLY ADMIN.
const READ_ONLY_APART: u64 = 101_100;

/// A JSON object; its members keep their order and their text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document(Vec<(String, String)>);

impl Document {
    /// Reads an object.
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim_start().strip_prefix('{')?.trim_start();
        let mut members = Vec::new();
        while !rest.starts_with('}') {
            let (key, after) = value_at(rest)?;
            let key = key.as_str()?.to_owned();
            rest = after.trim_start().strip_prefix(':')?.trim_start();
            let (_, after) = value_at(rest)?;
            members.push((key, rest[..rest.len() - after.len()].trim_end().to_owned()));
            rest = after.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Self(members))
    }

    /// Gives a member a value if it has none. From then on the member is always written.
    pub fn touch(&mut self, key: &str, value: &str) {
        if !self.has(key) {
            self.set(key, value);
        }
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(k, _)| k == key)
    }

    /// Replaces the value of a member in its place, or adds the member at the end.
    fn set(&mut self, key: &str, value: impl std::fmt::Display) {
        match self.0.iter_mut().find(|(k, _)| k == key) {
            Some((_, old)) => *old = value.to_string(),
            None => self.0.push((key.to_owned(), value.to_string())),
        }
    }

    fn remove(&mut self, key: &str) {
        self.0.retain(|(k, _)| k != key);
    }

    /// Sets a member. It is left out as long as its value is `default` and it was never written.
    fn set_unless<T: PartialEq + std::fmt::Display>(&mut self, key: &str, value: T, default: T) {
        if value != default || self.has(key) {
            self.set(key, value);
        }
    }

    /// The JSON object of an account.
    pub(super) fn of(account: &Account) -> Self {
        Self::parse(&to_json(account)).unwrap_or_default()
    }

    fn text(&self) -> String {
        let member = |(key, value): &(String, String)| format!("{}:{value}", json!(key));
        format!("{{{}}}", self.0.iter().map(member).collect::<Vec<_>>().join(","))
    }
}

/// The JSON value at the start of a text, and the rest of the text.
fn value_at(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

/// The `Priv` column of an account or role. The old text is kept if it still describes the account.
pub fn to_json(account: &Account) -> String {
    let mut document = account.document.clone();
    let text = document.text();
    if from_json(account.name.host_text(), &account.name.user, &text).as_ref() == Some(account) {
        return text;
    }
    document.set("access", account.global.0);
    document.set("version_id", VERSION_ID);
    if account.is_role() {
        document.set("is_role", true);
        return document.text();
    }
    put_auth(&mut document, &account.auth);
    put_tls(&mut document, &account.tls);
    put_limits(&mut document, &account.limits);
    document.set_unless("account_locked", account.locked, false);
    // Compat: zero means that the password has expired.
    let changed = if account.expired { 0 } else { account.password_changed };
    document.set_unless("password_last_changed", changed, -1);
    let lifetime = account.lifetime.map_or(-1, i64::from);
    document.set_unless("password_lifetime", lifetime, -1);
    let role = account.default_role.as_deref().unwrap_or_default();
    document.set_unless("default_role", json!(role), json!(""));
    document.text()
}

fn put_auth(document: &mut Document, methods: &[AuthMethod]) {
    let Some((last, alternatives)) = methods.split_last() else { return };
    document.set("plugin", json!(last.plugin()));
    document.set("authentication_string", json!(last.stored()));
    if alternatives.is_empty() {
        document.remove("auth_or");
        return;
    }
    let one = |m: &AuthMethod| match (json!(m.plugin()), m.stored()) {
        (plugin, stored) if stored.is_empty() => format!("{{\"plugin\":{plugin}}}"),
        (plugin, stored) => {
            format!("{{\"plugin\":{plugin},\"authentication_string\":{}}}", json!(stored))
        }
    };
    let list: Vec<String> = alternatives.iter().map(one).collect();
    // An empty element stands for the method that is stored beside the list.
    document.set("auth_or", format!("[{},{{}}]", list.join(",")));
}

fn put_tls(document: &mut Document, requirement: &TlsRequirement) {
    let kind = match requirement {
        TlsRequirement::None => 0,
        TlsRequirement::Any => 1,
        TlsRequirement::X509 => 2,
        TlsRequirement::Specified { .. } => 3,
    };
    if kind == 0 && !document.has("ssl_type") {
        return;
    }
    let empty = String::new();
    let (cipher, issuer, subject) = match requirement {
        TlsRequirement::Specified { cipher, issuer, subject } => (cipher, issuer, subject),
        _ => (&empty, &empty, &empty),
    };
    document.set("ssl_type", kind);
    document.set("ssl_cipher", json!(cipher));
    document.set("x509_issuer", json!(issuer));
    document.set("x509_subject", json!(subject));
}

fn put_limits(document: &mut Document, limits: &Limits) {
    document.set_unless("max_questions", limits.queries, 0);
    document.set_unless("max_updates", limits.updates, 0);
    document.set_unless("max_connections", limits.connections, 0);
    document.set_unless("max_user_connections", limits.user_connections, 0);
    let seconds = format!("{:.6}", limits.statement_time);
    document.set_unless("max_statement_time", seconds.as_str(), "0.000000");
}

/// The account of a row, or `None` if the text is not a JSON object.
pub fn from_json(host: &str, user: &str, text: &str) -> Option<Account> {
    let document = Document::parse(text)?;
    let value: Value = serde_json::from_str(text).ok()?;
    let map = value.as_object()?;
    let is_role = map.get("is_role").and_then(Value::as_bool).unwrap_or(false);
    let name = if is_role { AccountName::role(user) } else { AccountName::new(user, host) };
    let mut account = Account::new(name);
    account.document = document;
    let number = |key: &str| map.get(key).and_then(Value::as_u64).unwrap_or(0);
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    account.global = split(Privileges(number("access")), number("version_id"));
    if is_role {
        return Some(account);
    }
    account.auth = read_auth(map);
    account.locked = map.get("account_locked").and_then(Value::as_bool).unwrap_or(false);
    account.password_changed = whole(map, "password_last_changed").unwrap_or(-1);
    account.expired = account.password_changed == 0;
    account.lifetime = whole(map, "password_lifetime").and_then(|days| u32::try_from(days).ok());
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
        user_connections: whole(map, "max_user_connections").unwrap_or(0),
        statement_time: map.get("max_statement_time").and_then(Value::as_f64).unwrap_or(0.0),
    };
    Some(account)
}

/// A whole number; JSON functions may have written it as a decimal.
fn whole(map: &Map<String, Value>, key: &str) -> Option<i64> {
    let value = map.get(key)?;
    value.as_i64().or_else(|| value.as_f64().map(|v| v as i64))
}

/// Privileges as a server of `version` wrote them. Privileges that were part of others then are
/// added.
fn split(stored: Privileges, version: u64) -> Privileges {
    let mut all = stored & Privileges::ALL;
    // Compat: before this version SUPER included READ_ONLY ADMIN.
    if version < READ_ONLY_APART && stored.has(Privileges::SUPER) {
        all = all | Privileges::READ_ONLY_ADMIN;
    }
    if version < 100_501 {
        if stored.has(Privileges::SUPER) {
            all = all | Privileges::SPLIT_FROM_SUPER;
        }
        if stored.has(Privileges::REPLICATION_SLAVE) {
            all = all | Privileges::REPLICATION_MASTER_ADMIN;
        }
    }
    if version <= 100_508 && all.has(Privileges::REPLICATION_SLAVE_ADMIN) {
        all = all | Privileges::SLAVE_MONITOR;
    }
    all
}

fn read_auth(map: &Map<String, Value>) -> Vec<AuthMethod> {
    let method = |m: &Map<String, Value>| {
        let plugin = m.get("plugin").and_then(Value::as_str).unwrap_or_default();
        let plugin = if plugin.is_empty() { "mysql_native_password" } else { plugin };
        let data = m.get("authentication_string").and_then(Value::as_str);
        AuthMethod::stored_by(plugin, data.unwrap_or_default())
    };
    let Some(list) = map.get("auth_or").and_then(Value::as_array) else {
        return vec![method(map)];
    };
    // An empty element stands for the method that is stored beside the list.
    let of = |v: &Value| v.as_object().map(|m| method(if m.is_empty() { map } else { m }));
    list.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The account read back from its own text, without the row it came from.
    fn read_back(account: &Account, host: &str) -> Option<Account> {
        let read = from_json(host, &account.name.user, &to_json(account))?;
        Some(Account { document: Document::default(), ..read })
    }

    #[test]
    fn round_trip() {
        let mut account = Account::new(AccountName::new("a", "%"));
        account.auth = vec![AuthMethod::UnixSocket(String::new()), AuthMethod::password(b"x")];
        account.global = Privileges::SELECT | Privileges::SUPER;
        account.password_changed = 5;
        account.locked = true;
        account.lifetime = Some(3);
        account.limits.user_connections = 3;
        account.tls = TlsRequirement::X509;
        assert_eq!(read_back(&account, "%"), Some(account));
        let role = Account::new(AccountName::role("r"));
        assert_eq!(read_back(&role, ""), Some(role));
    }

    #[test]
    fn rows_of_a_mariadb() {
        let row = from_json("localhost", "root", r#"{"access":18446744073709551615}"#).unwrap();
        assert_eq!(row.global, Privileges::ALL);
        assert!(row.is_open());
        assert_eq!(from_json("", "x", "[]"), None);
        let old = from_json("h", "u", r#"{"access":274877906943,"version_id":100508}"#).unwrap();
        assert_eq!(old.global, Privileges::ALL);
        let new = from_json("h", "u", r#"{"access":274877906943,"version_id":100509}"#).unwrap();
        assert!(!new.global.has(Privileges::SLAVE_MONITOR));
    }

    #[test]
    fn what_is_not_known_stays() {
        let text = r#"{"access":1, "mine": [1, {"a": 2}], "plugin":"mysql_native_password"}"#;
        let mut account = from_json("h", "u", text).unwrap();
        let unchanged = to_json(&account);
        assert!(
            unchanged.contains("\"mine\":[1, {\"a\": 2}]") && !unchanged.contains("version_id")
        );
        account.locked = true;
        assert_eq!(
            to_json(&account),
            "{\"access\":1,\"mine\":[1, {\"a\": 2}],\"plugin\":\"mysql_native_password\",\
             \"version_id\":101119,\"authentication_string\":\"\",\"account_locked\":true}"
        );
    }
}
