//! Account names as statements write them.
//!
//! Must not look accounts up, except to distinguish a role from a user.

use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use crate::accounts::{AccountName, PUBLIC};
use crate::session::Shared;

/// Longest name of a user.
const MAX_USER: usize = 128;
/// Longest host pattern.
const MAX_HOST: usize = 255;

/// The account that `name` names. Without a host, the host is `%`.
pub(super) fn user(shared: &Shared, name: &ast::AccountName) -> SqlResult<AccountName> {
    match name {
        ast::AccountName::Named { user, host } => {
            check_length(user, "user name", MAX_USER)?;
            let host = host.as_deref().unwrap_or("%");
            check_length(host, "host name", MAX_HOST)?;
            Ok(AccountName::new(user, host))
        }
        other => current(shared, other),
    }
}

/// The role that `name` names; fails (1959) for a reserved name. Trailing spaces do not count.
pub(super) fn role(shared: &Shared, name: &ast::AccountName) -> SqlResult<AccountName> {
    match name {
        ast::AccountName::Named { user, .. } => {
            let name = user.trim_end_matches(' ');
            check_length(name, "user name", MAX_USER)?;
            let reserved = [("", ""), (PUBLIC, PUBLIC), ("NONE", "NONE")];
            match reserved.iter().find(|(word, _)| name.eq_ignore_ascii_case(word)) {
                Some((_, shown)) => Err(SqlError::new(&ER_INVALID_ROLE, &[shown])),
                None => Ok(AccountName::role(name)),
            }
        }
        ast::AccountName::Public => Err(SqlError::new(&ER_INVALID_ROLE, &[&PUBLIC])),
        other => current(shared, other),
    }
}

/// The user that `name` names, or the role if one of this name exists and no host is written.
pub(super) fn user_or_role(shared: &Shared, name: &ast::AccountName) -> SqlResult<AccountName> {
    if let ast::AccountName::Named { user: word, host: None } = name {
        let role = AccountName::role(word);
        if !role.is_public() && shared.server.accounts.current().account(&role).is_some() {
            return Ok(role);
        }
        if word.eq_ignore_ascii_case(PUBLIC) {
            return Ok(AccountName::public());
        }
    }
    user(shared, name)
}

fn current(shared: &Shared, name: &ast::AccountName) -> SqlResult<AccountName> {
    let access = shared.access.lock();
    match name {
        ast::AccountName::CurrentRole => match &access.identity().role {
            Some(role) => Ok(AccountName::role(role)),
            None => Err(SqlError::new(&ER_MALFORMED_DEFINER, &[])),
        },
        ast::AccountName::Public => Ok(AccountName::public()),
        _ => Ok(access.identity().account.clone()),
    }
}

fn check_length(text: &str, what: &str, limit: usize) -> SqlResult<()> {
    match text.chars().count() <= limit {
        true => Ok(()),
        false => Err(SqlError::new(&ER_WRONG_STRING_LENGTH, &[&text, &what, &limit])),
    }
}
