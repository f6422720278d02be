//! How many connections there may be, altogether and for one account.
//!
//! Must not close anything: it answers before a session begins.

use selkie_protocol::Capabilities;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::credentials::Authenticated;
use crate::accounts::Privileges;
use crate::server::Server;
use crate::sessions::Door;
use crate::variables::ids;

/// 1040, 1203 or 1226 if the client comes on top of too many others.
///
/// One connection more than `max_connections` is kept for an account that may end others.
pub(crate) fn check_limits(server: &Server, who: &Authenticated, door: Door) -> SqlResult<()> {
    let admin = Privileges::CONNECTION_ADMIN | Privileges::SUPER;
    let is_admin = who.account.global.has_any(admin);
    if server.sessions.count_by(door) > server.most_connections(door) && !is_admin {
        return Err(SqlError::new(&ER_CON_COUNT_ERROR, &[]));
    }
    check_account(server, who, is_admin)
}

/// 1862 if the password has expired and the client could not be told to change it.
pub(crate) fn check_expired(
    server: &Server,
    who: &Authenticated,
    caps: Capabilities,
) -> SqlResult<()> {
    let told = caps.has(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS);
    let disconnects = server.globals.get(ids().disconnect_on_expired_password).as_bool();
    match who.expired && disconnects && !told {
        true => Err(SqlError::new(&ER_MUST_CHANGE_PASSWORD_LOGIN, &[])),
        false => Ok(()),
    }
}

fn check_account(server: &Server, who: &Authenticated, is_admin: bool) -> SqlResult<()> {
    let own = who.account.limits.user_connections;
    let general = server.globals.get(ids().max_user_connections);
    let general = match general {
        crate::variables::VarValue::Int(v) => v,
        other => other.as_u64() as i64,
    };
    let limit = if own != 0 { own } else { general };
    if limit == 0 || is_admin && own == 0 {
        return Ok(());
    }
    let user = &who.identity.user;
    let connected = server.sessions.list().iter().filter(|s| s.user() == *user).count() as i64;
    if limit > 0 && connected < limit {
        return Ok(());
    }
    if own != 0 {
        return Err(SqlError::new(&ER_USER_LIMIT_REACHED, &[user, &"max_user_connections", &own]));
    }
    Err(SqlError::new(&ER_TOO_MANY_USER_CONNECTIONS, &[user]))
}
