//! Sizes of what is kept: the variables `performance_schema_..._size`.
//!
//! Must not change after the start.

use crate::options::Settings;
use crate::variables::{VarValue, registry};

/// The sizes. A size of -1 that nothing else decides is [`UNLIMITED`].
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Sizes {
    pub(super) accounts: usize,
    pub(super) users: usize,
    pub(super) hosts: usize,
    /// Digests.
    pub(super) digests: usize,
    /// Longest part of a text that has a digest, in bytes of its tokens.
    pub(super) digest_length: usize,
    /// Longest text of an event.
    pub(super) text: usize,
    /// Last statements of each session.
    pub(super) history: usize,
    /// Last statements of all sessions.
    pub(super) long: usize,
    /// Bytes of the attributes of a session.
    pub(super) attributes: usize,
    /// Rows of `setup_actors`.
    pub(super) actors: usize,
    /// Rows of `setup_objects`.
    pub(super) objects: usize,
}

/// The size that stands for -1: more than a server fills.
const UNLIMITED: usize = 1 << 20;

/// Whether a value is -1.
fn is_open(value: &VarValue) -> bool {
    matches!(value, VarValue::Int(..0))
}

fn size(settings: &Settings, name: &str) -> usize {
    let Some(def) = registry().find(&format!("performance_schema_{name}")) else { return 0 };
    let value = settings.get(def);
    if is_open(value) { UNLIMITED } else { value.as_u64() as usize }
}

impl Sizes {
    /// The sizes that the variables give, after [`derive_sizes`].
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            accounts: size(settings, "accounts_size"),
            users: size(settings, "users_size"),
            hosts: size(settings, "hosts_size"),
            digests: size(settings, "digests_size"),
            digest_length: size(settings, "max_digest_length"),
            text: size(settings, "max_sql_text_length"),
            history: size(settings, "events_statements_history_size"),
            long: size(settings, "events_statements_history_long_size"),
            attributes: size(settings, "session_connect_attrs_size"),
            actors: size(settings, "setup_actors_size"),
            objects: size(settings, "setup_objects_size"),
        }
    }
}

/// Chooses some of the sizes that are -1, so that variables show the choice. Compat: a server for
/// many connections or tables keeps more digests and longer histories; other sizes stay -1.
pub(crate) fn derive_sizes(settings: &mut Settings) {
    let number = |name: &str| registry().find(name).map_or(0, |def| settings.get(def).as_u64());
    let is_large = number("max_connections") > 302
        || number("table_open_cache") > 4000
        || number("table_definition_cache") > 800;
    let long = if is_large { 10_000 } else { 1000 };
    let digests = if is_large { 10_000 } else { 5000 };
    let mut chosen = vec![("digests_size".to_owned(), digests)];
    chosen.push(("session_connect_attrs_size".to_owned(), 512));
    for kind in ["stages", "statements", "transactions", "waits"] {
        chosen.push((format!("events_{kind}_history_size"), 10));
        chosen.push((format!("events_{kind}_history_long_size"), long));
    }
    for (name, value) in chosen {
        let name = format!("performance_schema_{name}");
        let Some(def) = registry().find(&name) else { continue };
        if is_open(settings.get(def)) {
            settings.derive(&name, VarValue::Int(value));
        }
    }
}
