//! Accounts and privileges: who may log in and what they may do.
//!
//! Must not read packets or parse SQL: callers bring names, passwords and privileges.

mod account;
mod acl;
mod auth_method;
mod change;
mod check;
mod counts;
mod granting;
mod grants;
mod host;
mod listed;
mod rights;
mod roles;
mod show;
mod stored;
mod usage;

pub use account::{Account, AccountName, Limits, PUBLIC, TlsRequirement};
pub use acl::{Acl, AclStore, Persist, SYSTEM_ACCOUNT};
pub use auth_method::AuthMethod;
pub use change::{AccountChanges, Expiry, IfExists, LimitChanges};
pub use check::{AccessControl, Identity};
pub use granting::check_level;
pub use grants::{Columns, Grant, GrantLevel, GrantTarget, Proxy, RoutineKind};
pub use host::HostPattern;
pub use listed::{Listed, listed_columns};
pub use selkie_types::Privileges;
pub use show::{Shown, show_create_user, show_grants};
pub use stored::{from_json, to_json};
pub(crate) use usage::{Place, Usage};
