//! SHOW GRANTS and SHOW CREATE USER.
//!
//! Must not check whether the caller may see them.

use std::collections::BTreeMap;

use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::account::{Account, AccountName, TlsRequirement};
use super::acl::Acl;
use super::auth_method::AuthMethod;
use super::grants::{Grant, GrantTarget};
use super::privileges::Privileges;

/// The lines of SHOW GRANTS FOR `name`.
pub fn show_grants(acl: &Acl, name: &AccountName) -> SqlResult<Vec<String>> {
    let account = acl.account(name).ok_or_else(|| not_defined(name))?;
    let mut lines = role_lines(acl, name);
    lines.push(global_line(account));
    let mut nested = vec![name.clone()];
    if account.is_role() {
        nested.extend(acl.roles_of(name).iter().map(|r| AccountName::role(r)));
    }
    for owner in &nested {
        if owner != name {
            lines.extend(role_lines(acl, owner));
            lines.extend(acl.account(owner).map(global_line));
        }
    }
    for kind in 0..3 {
        for owner in &nested {
            lines.extend(target_lines(acl, owner, kind));
        }
    }
    lines.extend(
        account
            .default_role
            .as_ref()
            .map(|role| format!("SET DEFAULT ROLE {} FOR {}", quote(role), name.backquoted())),
    );
    Ok(lines)
}

fn not_defined(name: &AccountName) -> SqlError {
    SqlError::new(&ER_NONEXISTING_GRANT, &[&name.user, &name.host_text()])
}

fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn role_lines(acl: &Acl, name: &AccountName) -> Vec<String> {
    let of_name = acl.members().filter(|(member, ..)| *member == name);
    of_name
        .map(|(_, role, admin)| {
            let option = if admin { " WITH ADMIN OPTION" } else { "" };
            format!("GRANT {} TO {}{option}", quote(role), name.backquoted())
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

/// Privileges in words: none, all that the level has, or each.
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
        [AuthMethod::Native(hash)] if hash.is_empty() => String::new(),
        [AuthMethod::Native(hash)] => format!(" IDENTIFIED BY PASSWORD '{hash}'"),
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
            said.fold(" REQUIRE".to_owned(), |text, (k, v)| format!("{text} {k} '{v}'"))
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

fn target_lines(acl: &Acl, owner: &AccountName, kind: usize) -> Vec<String> {
    let of_owner = acl.grants.iter().filter(|((name, _), _)| name == owner);
    of_owner.filter_map(|((_, target), grant)| target_line(owner, target, grant, kind)).collect()
}

fn target_line(
    owner: &AccountName,
    target: &GrantTarget,
    grant: &Grant,
    kind: usize,
) -> Option<String> {
    let (found, on, words) = match target {
        GrantTarget::Database(schema) => {
            (0, format!("{}.*", quote(schema)), list(grant.whole, Privileges::DATABASE))
        }
        GrantTarget::Table { schema, table } => {
            (1, format!("{}.{}", quote(schema), quote(table)), table_words(grant))
        }
        GrantTarget::Routine { schema, name, is_function } => {
            let what = if *is_function { "FUNCTION" } else { "PROCEDURE" };
            let on = format!("{what} {}.{}", quote(schema), quote(name));
            (
                2,
                on,
                grant
                    .whole
                    .without(Privileges::GRANT_OPTION)
                    .names()
                    .collect::<Vec<_>>()
                    .join(", "),
            )
        }
    };
    if found != kind {
        return None;
    }
    let option = if grant.whole.has(Privileges::GRANT_OPTION) { " WITH GRANT OPTION" } else { "" };
    Some(format!("GRANT {words} ON {on} TO {}{option}", owner.backquoted()))
}

fn table_words(grant: &Grant) -> String {
    if grant.columns.is_empty()
        || grant.whole.has(Privileges::TABLE.without(Privileges::GRANT_OPTION))
    {
        return list(grant.whole, Privileges::TABLE);
    }
    let all = grant.columns.values().fold(grant.whole, |a, p| a | *p);
    let words = all.without(Privileges::GRANT_OPTION).each().map(|(bit, name)| {
        let columns = columns_with(&grant.columns, bit);
        if grant.whole.has(bit) || columns.is_empty() {
            name.to_owned()
        } else {
            format!("{name} ({columns})")
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

fn columns_with(columns: &BTreeMap<String, Privileges>, bit: Privileges) -> String {
    let with = columns.iter().filter(|(_, p)| p.has(bit)).map(|(c, _)| quote(c));
    with.collect::<Vec<_>>().join(", ")
}

/// SHOW CREATE USER.
pub fn show_create_user(acl: &Acl, name: &AccountName) -> SqlResult<String> {
    let account = acl.account(name).filter(|a| !a.is_role()).ok_or_else(|| not_defined(name))?;
    let mut text = format!("CREATE USER {}", name.backquoted());
    text.push_str(&identified(account));
    text.push_str(&tls(&account.tls));
    text.push_str(&with(account, false));
    if account.locked {
        text.push_str(" ACCOUNT LOCK");
    }
    if account.expired {
        text.push_str(" PASSWORD EXPIRE");
    }
    Ok(text)
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
        acl.set_password(&name, AuthMethod::password("x")).unwrap();
        acl.grant(&name, &GrantLevel::Global, Privileges::GRANT_OPTION, &[]).unwrap();
        let d1 = GrantLevel::On(GrantTarget::Database("d1".into()));
        acl.grant(&name, &d1, Privileges::DATABASE, &[]).unwrap();
        let columns = [
            ("a".to_owned(), Privileges::INSERT | Privileges::UPDATE),
            ("b".to_owned(), Privileges::UPDATE),
        ];
        acl.grant(&name, &table("d1", "t"), Privileges::SELECT, &columns).unwrap();
        assert_eq!(
            show_grants(&acl, &name).unwrap(),
            [
                "GRANT USAGE ON *.* TO `pu`@`localhost` IDENTIFIED BY PASSWORD \
                 '*B69027D44F6E5EDC07F1AEAD1477967B16F28227' WITH GRANT OPTION",
                "GRANT ALL PRIVILEGES ON `d1`.* TO `pu`@`localhost` WITH GRANT OPTION",
                "GRANT SELECT, INSERT (`a`), UPDATE (`a`, `b`) ON `d1`.`t` TO `pu`@`localhost`",
            ]
        );
        assert_eq!(show_grants(&acl, &AccountName::new("x", "%")).unwrap_err().code(), 1141);
    }
}
