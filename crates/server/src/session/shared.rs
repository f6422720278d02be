//! State of a session that its connection and its statements share.
//!
//! Must not be written by another session's thread; others read `handle`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};

use parking_lot::Mutex;
use selkie_protocol::Capabilities;
use selkie_protocol::track::Changes;
use selkie_types::{Charset, CollationId};

use super::habits::Habits;
use crate::accounts::{AccessControl, AccountName};
use crate::net::Negotiated;
use crate::optimizer_trace::OptimizerTrace;
use crate::profiles::Profiles;
use crate::server::Server;
use crate::sessions::SessionHandle;
use crate::variables::{SessionVars, VarId, VarValue, ids, registry};

/// State shared by the connection, which owns the socket, and by the session's statements.
#[derive(Debug)]
pub struct Shared {
    /// The server.
    pub server: Arc<Server>,
    /// The part that other sessions see.
    pub handle: Arc<SessionHandle>,
    /// System variables.
    pub vars: Mutex<SessionVars>,
    /// Identity and privileges.
    pub access: Mutex<AccessControl>,
    /// Profiles of its last statements.
    pub(crate) profiles: Mutex<Profiles>,
    /// The trace of the last statement that was traced.
    pub(crate) optimizer_trace: Mutex<Option<OptimizerTrace>>,
    /// Privileges of definers that were asked for, with the version of the accounts they are from.
    pub(crate) definers: Mutex<Vec<(Box<str>, u64, AccessControl)>>,
    /// Changes of session state to tell the client.
    pub changes: Mutex<Changes>,
    /// Names of variables that changed in this statement.
    changed: Mutex<Vec<VarId>>,
    capabilities: AtomicU64,
    /// Parameters of the TLS connection, if it is one.
    tls: Option<Arc<Negotiated>>,
    /// Whether the password must be changed before anything else.
    expired: AtomicBool,
    /// Versions of the session's system variables.
    versions: Versions,
    /// Number of the collation of results, set by SET NAMES or the login.
    results: AtomicU16,
    /// Cached values of variables for commands.
    pub(super) habits: Mutex<Option<Habits>>,
}

/// Versions of a session's system variables.
#[derive(Debug)]
struct Versions {
    /// Grows when one changes.
    latest: AtomicU64,
    /// The version that the executor's settings follow.
    followed: AtomicU64,
}

impl Shared {
    /// The session of `handle` with the identity of `access`.
    pub fn new(
        server: Arc<Server>,
        handle: Arc<SessionHandle>,
        access: AccessControl,
        capabilities: Capabilities,
    ) -> Self {
        let mut vars = SessionVars::new(&server.globals);
        vars.set(ids().pseudo_thread_id, VarValue::Uint(handle.id));
        let vars = Mutex::new(vars);
        Self {
            server,
            handle,
            vars,
            access: Mutex::new(access),
            profiles: Mutex::default(),
            optimizer_trace: Mutex::default(),
            definers: Mutex::default(),
            changes: Mutex::default(),
            changed: Mutex::default(),
            capabilities: AtomicU64::new(capabilities.0),
            tls: None,
            expired: AtomicBool::new(false),
            versions: Versions { latest: AtomicU64::new(1), followed: AtomicU64::new(0) },
            results: AtomicU16::new(0),
            habits: Mutex::default(),
        }
    }

    /// This session with the parameters of its TLS connection.
    pub(super) fn over(self, tls: Option<Arc<Negotiated>>) -> Self {
        Self { tls, ..self }
    }

    /// Parameters of the TLS connection, if it is one.
    pub(crate) fn tls(&self) -> Option<&Negotiated> {
        self.tls.as_deref()
    }

    /// Capabilities that client and server agreed on.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities(self.capabilities.load(Ordering::Relaxed))
    }

    /// Adds or removes a capability.
    pub fn set_capability(&self, capability: Capabilities, on: bool) {
        let caps = self.capabilities();
        let caps = if on { caps.with(capability) } else { caps.without(capability) };
        self.capabilities.store(caps.0, Ordering::Relaxed);
    }

    /// Sets whether the password must be changed before anything else.
    pub fn set_expired(&self, expired: bool) {
        self.expired.store(expired, Ordering::Relaxed);
    }

    /// Whether the password must be changed before anything else.
    pub fn is_expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }

    /// Tells the session that the password of an account was changed.
    pub fn password_changed(&self, name: &AccountName) {
        if self.access.lock().identity().account == *name {
            self.set_expired(false);
        }
    }

    /// The session's value of a variable.
    pub fn var(&self, id: VarId) -> VarValue {
        self.vars.lock().get(id).clone()
    }

    /// Stores a session value and notes it for session tracking.
    pub fn set_var(&self, id: VarId, value: VarValue) {
        self.vars.lock().set(id, value);
        self.changed.lock().push(id);
        self.settings_changed();
    }

    /// From now on announces `collation` for results in its character set.
    pub fn announce(&self, collation: CollationId) {
        self.results.store(collation.0, Ordering::Relaxed);
    }

    /// The collation to announce for results in `charset`.
    pub(super) fn announced(&self, charset: Charset) -> CollationId {
        let named = CollationId::from_number(self.results.load(Ordering::Relaxed));
        named.filter(|c| c.charset() == charset).unwrap_or(charset.default_collation())
    }

    /// Marks the system variables as changed.
    pub fn settings_changed(&self) {
        self.versions.latest.fetch_add(1, Ordering::Relaxed);
    }

    /// A number that changes with every change of a system variable.
    pub fn settings_version(&self) -> u64 {
        self.versions.latest.load(Ordering::Relaxed)
    }

    /// Whether the executor's settings are those of the system variables.
    pub fn has_settings(&self) -> bool {
        self.versions.followed.load(Ordering::Relaxed) == self.settings_version()
    }

    /// Notes that the executor's settings were made from this version of the variables.
    pub fn settings_followed(&self, version: u64) {
        self.versions.followed.store(version, Ordering::Relaxed);
    }

    /// Sets the default database.
    pub fn schema_changed(&self, schema: Option<&str>) {
        self.handle.set_schema(schema);
        self.access.lock().use_database(schema);
        if self.var(ids().session_track_schema).as_bool() {
            self.changes.lock().schema(schema.unwrap_or_default());
        }
    }

    /// The changes of session state since the last call, encoded for an OK packet.
    pub fn take_changes(&self) -> Changes {
        let mut changes = std::mem::take(&mut *self.changes.lock());
        let mut changed = self.changed.lock();
        if changed.is_empty() && changes.bytes().is_empty() {
            return changes;
        }
        let vars = self.vars.lock();
        if self.capabilities().has(Capabilities::SESSION_TRACK) {
            track_variables(&vars, &changed, &mut changes);
        }
        changed.clear();
        if !changes.bytes().is_empty() && vars.get(ids().session_track_state_change).as_bool() {
            changes.state_change();
        }
        changes
    }

    /// Drops the changes of a failed statement.
    pub fn drop_changes(&self) {
        self.changed.lock().clear();
        self.changes.lock().clear();
    }
}

/// Adds the variables among `changed` that the session tracks, each once.
fn track_variables(vars: &SessionVars, changed: &[VarId], changes: &mut Changes) {
    let tracked = vars.get(ids().session_track_system_variables).as_str();
    let is_tracked = |name| tracked.split(',').any(|one| one == name || one == "*");
    for (at, id) in changed.iter().enumerate() {
        let def = registry().def(*id);
        if is_tracked(def.name) && !changed[..at].contains(id) {
            let text = vars.get(*id).show(def);
            changes.variables([(def.name, text.as_str())].into_iter());
        }
    }
}
