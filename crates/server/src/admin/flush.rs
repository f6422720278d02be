//! FLUSH, and INSTALL and UNINSTALL of plugins, which always fail: no plugin can be loaded.
//!
//! Must not flush the engines' caches; the engines do so themselves.

use selkie_sql::ast::{Flush, FlushTarget, LogKind, Plugin};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::answer::Notes;
use crate::accounts::Privileges;
use crate::backend::Uses;
use crate::binlog;
use crate::replica;
use crate::session::Shared;
use crate::thread_pool::ThreadPool;

/// Runs FLUSH, in second `at`.
pub(super) fn flush(
    shared: &Shared,
    statement: &Flush,
    at: u32,
    notes: &mut Notes,
) -> SqlResult<()> {
    for target in &statement.targets {
        let status_of_session = matches!(target, FlushTarget::Status(Some(_)));
        if !status_of_session {
            shared.access.lock().check_global(Privileges::RELOAD)?;
        }
        flush_one(shared, target, at, notes)?;
    }
    Ok(())
}

/// Columns of `mysql.servers` that are read.
const COLUMNS_OF_SERVERS: usize = 9;
/// Columns of `mysql.plugin` that are read.
const COLUMNS_OF_PLUGINS: usize = 2;

fn flush_one(shared: &Shared, target: &FlushTarget, at: u32, notes: &mut Notes) -> SqlResult<()> {
    match target {
        FlushTarget::Status(_) => {
            shared.server.flush_status(&shared.handle.counters);
            Ok(())
        }
        FlushTarget::DeleteDomainIds(domains) => {
            binlog::delete_domains(&shared.server, domains, notes)
        }
        FlushTarget::Privileges => {
            shared.server.password_cache.write().clear();
            shared.server.usage.forgive_all();
            shared.server.accounts.refresh()?;
            shared.server.backend.check_loadable("servers", COLUMNS_OF_SERVERS)
        }
        FlushTarget::Logs(which) => {
            let chosen = |kind: LogKind| which.is_none_or(|w| w == kind);
            shared.server.logs.queries.reopen(chosen(LogKind::General), chosen(LogKind::Slow));
            if chosen(LogKind::Binary) {
                binlog::flush(&shared.server, at)?;
            }
            if which.is_none() { replica::flush_first_relay(shared) } else { Ok(()) }
        }
        FlushTarget::RelayLogs(name) => replica::flush_relay(shared, name.as_ref()),
        FlushTarget::Slave(name) => replica::reset(shared, name.as_ref(), false, notes),
        // These have no cached state that could be out of date.
        FlushTarget::Tables { .. }
        | FlushTarget::Hosts
        | FlushTarget::DesKeyFile
        | FlushTarget::QueryCache => Ok(()),
        FlushTarget::UserResources => {
            shared.server.usage.begin_hour();
            Ok(())
        }
        FlushTarget::Ssl => shared.server.tls.reload().map_err(|e| {
            let text = format!("Failed to refresh SSL, error: {e}");
            SqlError::with_message(&ER_UNKNOWN_ERROR, text)
        }),
        FlushTarget::Other(name) if name.value.eq_ignore_ascii_case("thread_pool_stats") => {
            shared.server.pool().into_iter().for_each(ThreadPool::reset_counts);
            Ok(())
        }
        FlushTarget::Other(name) if name.value.eq_ignore_ascii_case("thread_pool_waits") => {
            shared.server.pool().into_iter().for_each(ThreadPool::reset_waits);
            Ok(())
        }
        FlushTarget::Other(name) if name.value.eq_ignore_ascii_case("user_statistics") => {
            shared.server.sessions.users.forget_users();
            Ok(())
        }
        FlushTarget::Other(name) if name.value.eq_ignore_ascii_case("client_statistics") => {
            shared.server.sessions.users.forget_clients();
            Ok(())
        }
        FlushTarget::Other(name) if name.value.eq_ignore_ascii_case("table_statistics") => {
            shared.server.backend.forget_uses(Uses::Tables);
            Ok(())
        }
        FlushTarget::Other(name) if name.value.eq_ignore_ascii_case("index_statistics") => {
            shared.server.backend.forget_uses(Uses::Indexes);
            Ok(())
        }
        FlushTarget::Other(name) => {
            Err(SqlError::not_supported(format!("FLUSH {}", name.value.to_uppercase())))
        }
    }
}

/// The error of INSTALL and UNINSTALL.
pub(super) fn plugin_error(shared: &Shared, statement: &Plugin) -> SqlError {
    let wanted = match statement {
        Plugin::Install { .. } => Privileges::INSERT,
        Plugin::Uninstall { .. } | Plugin::UninstallLibrary { .. } => Privileges::DELETE,
    };
    // Compat: plugins are rows of a table; the right to change that table is the right to load
    // them.
    if let Err(denied) = shared.access.lock().check("mysql", "plugin", wanted) {
        return denied;
    }
    if let Err(error) = shared.server.backend.check_loadable("plugin", COLUMNS_OF_PLUGINS) {
        return error;
    }
    match statement {
        Plugin::Install { library, .. } => {
            let library = String::from_utf8_lossy(&library.bytes).into_owned();
            SqlError::new(&ER_CANT_OPEN_LIBRARY, &[&library, &2, &"no libraries can be loaded"])
        }
        Plugin::Uninstall { name, .. } => {
            SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"PLUGIN", &name.value])
        }
        Plugin::UninstallLibrary { library, .. } => {
            let library = String::from_utf8_lossy(&library.bytes).into_owned();
            SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"SONAME", &library])
        }
    }
}
