//! Limits of connections: all of them, and those of one account.
//!
//! Must not close connections: a check runs before its session begins.

use selkie_protocol::Capabilities;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::credentials::Authenticated;
use crate::accounts::{Place, Privileges};
use crate::server::Server;
use crate::sessions::Door;
use crate::variables::ids;

/// Fails (1040, 1203, 1226) if the client exceeds a limit.
///
/// One connection more than `max_connections` is reserved for an account that may end other
/// sessions. The returned place counts as a connection of the account until it is dropped.
pub(crate) fn check_limits(
    server: &Server,
    who: &Authenticated,
    door: Door,
) -> SqlResult<Option<Place>> {
    let admin = Privileges::CONNECTION_ADMIN | Privileges::SUPER;
    let is_admin = who.account.global.has_any(admin);
    if server.sessions.count_by(door) > server.most_connections(door) && !is_admin {
        return Err(SqlError::new(&ER_CON_COUNT_ERROR, &[]));
    }
    place_of(server, who, is_admin)
}

/// Fails (1862) if the password has expired and the client cannot handle that state.
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

fn place_of(server: &Server, who: &Authenticated, is_admin: bool) -> SqlResult<Option<Place>> {
    let general = match server.globals.get(ids().max_user_connections) {
        crate::variables::VarValue::Int(v) => v,
        other => other.as_u64() as i64,
    };
    server.usage.log_in(&who.account, if is_admin { 0 } else { general })
}
