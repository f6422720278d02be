//! Accounts and privileges: who may log in and what they may do.
//!
//! Must not read packets or parse SQL: callers bring names, passwords and privileges.

mod account;
mod acl;
mod auth_method;
mod change;
mod check;
mod grants;
mod host;
mod privileges;
mod show;
mod stored;

pub use account::{Account, AccountName, Limits, TlsRequirement};
pub use acl::{Acl, AclStore, Persist};
pub use auth_method::AuthMethod;
pub use change::{AccountChanges, IfExists};
pub use check::{AccessControl, Identity};
pub use grants::{GrantLevel, GrantTarget};
pub use host::HostPattern;
pub use privileges::Privileges;
pub use show::{show_create_user, show_grants};
pub use stored::{from_json, to_json};
