//! Texts of SHOW GRANTS and SHOW CREATE USER.
//!
//! Must not check whether the caller may see them.

use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult};

use super::account::{Account, AccountName, TlsRequirement};
use super::acl::Acl;
use super::auth_method::AuthMethod;
use super::change::no_such_account;
use super::grants::{Columns, Grant, GrantTarget, RoutineKind};
use super::listed::{Listed, listed_columns};

/// Owners of the grants that SHOW GRANTS lists.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// An account that logs in.
    pub user: Option<AccountName>,
    /// A role, with the roles granted to it.
    pub role: Option<String>,
    /// Whether the grants to PUBLIC are listed.
    pub public: bool,
}

/// The lines of SHOW GRANTS.
pub fn show_grants(acl: &Acl, shown: &Shown) -> SqlResult<Vec<String>> {
    let mut lines = Vec::new();
    let user = match &shown.user {
        Some(name) => Some(acl.account(name).ok_or_else(|| not_defined(name))?),
        None => None,
    };
    if let Some(account) = user {
        lines.extend(lines_of(acl, account));
        lines.extend(proxy_lines(acl, &account.name));
    }
    if let Some(role) = &shown.role {
        if acl.account(&AccountName::role(role)).is_none() && user.is_none() {
            return Err(not_defined(&AccountName::role(role)));
        }
        for name in acl.with_roles(role) {
            lines.extend(acl.account(&name).iter().flat_map(|role| lines_of(acl, role)));
        }
    }
    if shown.public {
        lines.extend(acl.account(&AccountName::public()).iter().flat_map(|p| lines_of(acl, p)));
    }
    if let Some(account) = user
        && let Some(role) = &account.default_role
    {
        let name = account.name.backquoted();
        lines.push(format!("SET DEFAULT ROLE {} FOR {name}", quote(role)));
    }
    Ok(lines)
}

/// The grants to one account or role itself.
fn lines_of(acl: &Acl, account: &Account) -> Vec<String> {
    let name = &account.name;
    let mut lines = role_lines(acl, name);
    if !name.is_public() || !account.global.is_empty() {
        lines.push(global_line(account));
    }
    let mut list = |grants: Vec<Listed<'_>>| {
        let own = grants.into_iter().filter(|(owner, ..)| *owner == name);
        lines.extend(own.map(|(_, target, grant)| target_line(name, target, grant)));
    };
    list(acl.on_databases());
    list(acl.on_tables());
    for wanted in RoutineKind::ALL {
        list(acl.on_targets(
            &|target| matches!(target, GrantTarget::Routine { kind, .. } if *kind == wanted),
        ));
    }
    lines
}

/// Error 1141.
fn not_defined(name: &AccountName) -> SqlError {
    SqlError::new(&ER_NONEXISTING_GRANT, &[&name.user, &name.host_text()])
}

fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn role_lines(acl: &Acl, name: &AccountName) -> Vec<String> {
    let line = |(role, admin): (&str, bool)| {
        let option = if admin { " WITH ADMIN OPTION" } else { "" };
        format!("GRANT {} TO {}{option}", quote(role), name.backquoted())
    };
    acl.granted_roles(name).map(line).collect()
}

fn proxy_lines(acl: &Acl, name: &AccountName) -> Vec<String> {
    let own = acl.proxies().filter(|(owner, ..)| *owner == name);
    own.map(|(_, proxied, proxy)| {
        let option = if proxy.with_grant { " WITH GRANT OPTION" } else { "" };
        format!("GRANT PROXY ON {} TO {}{option}", proxied.backquoted(), name.backquoted())
    })
    .collect()
}

fn global_line(account: &Account) -> String {
    let mut line = format!(
        "GRANT {} ON *.* TO {}",
        list(account.global, Privileges::ALL),
        account.name.backquoted()
    );
    line.push_str(&identified(account));
    line.push_str(&tls(&account.tls));
    line.push_str(&with(account, account.global.has(Privileges::GRANT_OPTION)));
    line
}

/// Words for privileges: USAGE if there are none, ALL PRIVILEGES, or the list.
fn list(privileges: Privileges, level: Privileges) -> String {
    let granted = privileges.without(Privileges::GRANT_OPTION);
    if granted.is_empty() {
        return "USAGE".to_owned();
    }
    if granted.has(level.without(Privileges::GRANT_OPTION)) {
        return "ALL PRIVILEGES".to_owned();
    }
    granted.names().collect::<Vec<_>>().join(", ")
}

fn identified(account: &Account) -> String {
    let via = |m: &AuthMethod| match m.stored() {
        stored if stored.is_empty() => m.plugin().to_owned(),
        stored => format!("{} USING '{}'", m.plugin(), stored.replace('\'', "''")),
    };
    match &account.auth[..] {
        [] => String::new(),
        [AuthMethod::Native(hash) | AuthMethod::Old(hash)] if hash.is_empty() => String::new(),
        [AuthMethod::Native(hash) | AuthMethod::Old(hash)] => {
            format!(" IDENTIFIED BY PASSWORD '{hash}'")
        }
        methods => {
            format!(" IDENTIFIED VIA {}", methods.iter().map(via).collect::<Vec<_>>().join(" OR "))
        }
    }
}

fn tls(requirement: &TlsRequirement) -> String {
    match requirement {
        TlsRequirement::None => String::new(),
        TlsRequirement::Any => " REQUIRE SSL".to_owned(),
        TlsRequirement::X509 => " REQUIRE X509".to_owned(),
        TlsRequirement::Specified { cipher, issuer, subject } => {
            let parts = [("ISSUER", issuer), ("SUBJECT", subject), ("CIPHER", cipher)];
            let said = parts.iter().filter(|(_, v)| !v.is_empty());
            said.fold(" REQUIRE".to_owned(), |text, (k, v)| {
                format!("{text} {k} '{}'", v.replace('\\', "\\\\").replace('\'', "''"))
            })
        }
    }
}

fn with(account: &Account, grant_option: bool) -> String {
    let limits = &account.limits;
    let mut parts = Vec::new();
    if grant_option {
        parts.push("GRANT OPTION".to_owned());
    }
    let numbers = [
        ("MAX_QUERIES_PER_HOUR", limits.queries),
        ("MAX_UPDATES_PER_HOUR", limits.updates),
        ("MAX_CONNECTIONS_PER_HOUR", limits.connections),
    ];
    parts.extend(numbers.iter().filter(|(_, n)| *n > 0).map(|(k, n)| format!("{k} {n}")));
    if limits.user_connections != 0 {
        parts.push(format!("MAX_USER_CONNECTIONS {}", limits.user_connections));
    }
    if limits.statement_time > 0.0 {
        parts.push(format!("MAX_STATEMENT_TIME {:.6}", limits.statement_time));
    }
    if parts.is_empty() { String::new() } else { format!(" WITH {}", parts.join(" ")) }
}

fn target_line(owner: &AccountName, target: &GrantTarget, grant: &Grant) -> String {
    let (on, words) = match target {
        GrantTarget::Database(schema) => {
            (format!("{}.*", quote(schema)), list(grant.whole, Privileges::DATABASE))
        }
        GrantTarget::Table { schema, table } => {
            (format!("{}.{}", quote(schema), quote(table)), table_words(grant))
        }
        GrantTarget::Routine { kind, schema, name } => {
            let on = format!("{} {}.{}", kind.words(), quote(schema), quote(name));
            let granted = grant.whole.without(Privileges::GRANT_OPTION);
            let words = match granted.is_empty() {
                true => "USAGE".to_owned(),
                false => granted.names().collect::<Vec<_>>().join(", "),
            };
            (on, words)
        }
    };
    let option = if grant.whole.has(Privileges::GRANT_OPTION) { " WITH GRANT OPTION" } else { "" };
    format!("GRANT {words} ON {on} TO {}{option}", owner.backquoted())
}

fn table_words(grant: &Grant) -> String {
    if grant.columns.is_empty()
        || grant.whole.has(Privileges::TABLE.without(Privileges::GRANT_OPTION))
    {
        return list(grant.whole, Privileges::TABLE);
    }
    let all = grant.whole | grant.on_any_column();
    if all.without(Privileges::GRANT_OPTION).is_empty() {
        return "USAGE".to_owned();
    }
    let words = all.without(Privileges::GRANT_OPTION).each().map(|(bit, name)| {
        let columns = columns_with(&grant.columns, bit);
        match (grant.whole.has(bit), columns.is_empty()) {
            (_, true) => name.to_owned(),
            // Compat: both are listed.
            (true, false) => format!("{name}, {name} ({columns})"),
            (false, false) => format!("{name} ({columns})"),
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

fn columns_with(columns: &Columns, bit: Privileges) -> String {
    let columns = listed_columns(columns);
    let with = columns.iter().filter(|(_, p)| p.has(bit)).map(|(c, _)| quote(c));
    with.collect::<Vec<_>>().join(", ")
}

/// SHOW CREATE USER: one statement. A second one follows if an expired password also has a
/// lifetime.
pub fn show_create_user(acl: &Acl, name: &AccountName) -> SqlResult<Vec<String>> {
    let account = acl.account(name).filter(|a| !a.is_role()).ok_or_else(no_such_account)?;
    let mut text = format!("CREATE USER {}", name.backquoted());
    text.push_str(&identified(account));
    text.push_str(&tls(&account.tls));
    text.push_str(&with(account, false));
    if account.locked {
        text.push_str(" ACCOUNT LOCK");
    }
    let lifetime = match account.lifetime {
        None => String::new(),
        Some(0) => " PASSWORD EXPIRE NEVER".to_owned(),
        Some(days) => format!(" PASSWORD EXPIRE INTERVAL {days} DAY"),
    };
    let mut lines = Vec::new();
    if !account.expired {
        text.push_str(&lifetime);
    } else {
        text.push_str(" PASSWORD EXPIRE");
        if !lifetime.is_empty() {
            lines.push(format!("ALTER USER {}{lifetime}", name.backquoted()));
        }
    }
    lines.insert(0, text);
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::super::{GrantLevel, IfExists};
    use super::*;

    fn table(schema: &str, table: &str) -> GrantLevel {
        GrantLevel::On(GrantTarget::Table { schema: schema.into(), table: table.into() })
    }

    #[test]
    fn lines_of_an_account() {
        let mut acl = Acl::default();
        let name = AccountName::new("pu", "localhost");
        acl.create(&[(name.clone(), Default::default())], IfExists::Fail).unwrap();
        acl.set_password(&name, |_| Ok(AuthMethod::password(b"x"))).unwrap();
        let none = Columns::new();
        let mut grant = |level: &GrantLevel, whole, columns: &Columns| {
            acl.grant(&name, level, (whole, columns), "").unwrap();
        };
        grant(&GrantLevel::Global, Privileges::GRANT_OPTION, &none);
        grant(&GrantLevel::On(GrantTarget::Database("d1".into())), Privileges::DATABASE, &none);
        let columns = vec![
            ("a".to_owned(), Privileges::INSERT | Privileges::UPDATE),
            ("b".to_owned(), Privileges::UPDATE),
        ];
        grant(&table("d1", "t"), Privileges::SELECT, &columns);
        let shown = |user| Shown { user: Some(user), ..Shown::default() };
        assert_eq!(
            show_grants(&acl, &shown(name)).unwrap(),
            [
                "GRANT USAGE ON *.* TO `pu`@`localhost` IDENTIFIED BY PASSWORD \
                 '*B69027D44F6E5EDC07F1AEAD1477967B16F28227' WITH GRANT OPTION",
                "GRANT ALL PRIVILEGES ON `d1`.* TO `pu`@`localhost` WITH GRANT OPTION",
                "GRANT SELECT, INSERT (`a`), UPDATE (`a`, `b`) ON `d1`.`t` TO `pu`@`localhost`",
            ]
        );
        let nobody = shown(AccountName::new("x", "%"));
        assert_eq!(show_grants(&acl, &nobody).unwrap_err().code(), 1141);
    }
}
