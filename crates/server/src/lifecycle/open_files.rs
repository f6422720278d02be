//! The process's limit of open files, and its division between connections, data files and the
//! rest: logs, temporary files, the listening sockets.
//!
//! Must not let connections use up the descriptors that a write of the log or of a page needs.

use rustix::process::Resource;

use super::start::number;
use crate::options::Settings;
use crate::variables::VarValue;

/// Descriptors that neither connections nor data files may use.
const RESERVED: u64 = 64;
/// Data files that a server must be able to have open at once.
const FEWEST_DATA_FILES: u64 = 16;
/// The limit that counts if the system has none.
const UNLIMITED: u64 = 1 << 20;

/// Raises the limit and fits the variables that share it: `open_files_limit`, `max_connections` and
/// `innodb_open_files`.
pub(super) fn share(settings: &mut Settings) {
    let limit = raise();
    let wanted = number(settings, "open_files_limit");
    if limit < wanted {
        tracing::warn!(
            "Could not increase number of max_open_files to more than {limit} (request: {wanted})"
        );
    }
    settings.derive("open_files_limit", VarValue::Uint(limit));
    let connections = number(settings, "max_connections");
    let possible = most_connections(limit);
    if possible < connections {
        tracing::warn!(
            "Changed limits: max_open_files: {limit}  max_connections: {possible} (was {connections})"
        );
        settings.derive("max_connections", VarValue::Uint(possible));
    }
    let asked = match number(settings, "innodb_open_files") {
        0 => number(settings, "table_open_cache"),
        asked => asked,
    };
    let left = limit.saturating_sub(RESERVED + connections.min(possible));
    let files = asked.min(left).max(FEWEST_DATA_FILES);
    settings.derive("innodb_open_files", VarValue::Uint(files));
}

/// The number of connections that leave enough of `limit` descriptors for files.
pub(crate) fn most_connections(limit: u64) -> u64 {
    limit.saturating_sub(RESERVED + FEWEST_DATA_FILES).max(1)
}

/// Raises the process's limit to the highest that it may have, and returns it.
fn raise() -> u64 {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    let raised = rustix::process::setrlimit(Resource::Nofile, limit);
    let current = if raised.is_ok() { limit.current } else { before };
    current.unwrap_or(UNLIMITED)
}
