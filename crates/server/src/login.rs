//! From an accepted stream to an authenticated session: greeting, login, authentication.
//!
//! Must not serve commands. COM_CHANGE_USER runs the same exchange again.

mod credentials;
mod greet;
mod limits;
mod requirements;

pub(crate) use credentials::{Authenticated, Claim, authenticate};
pub(crate) use greet::{CAPABILITIES, Exchange, greet, handshake_error, new_scramble};
pub(crate) use limits::{check_expired, check_limits};
