//! The binary log as options ask for it.
//!
//! Must not write anything: the log begins when the engine is open.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use selkie_replication::DatabaseFilter;
use selkie_replication::codec::Checksum;
use selkie_replication::log::{CacheLimits, Place, Settings as LogSettings};

use super::files::DiskLogFiles;
use super::life::Binlog;
use super::names::LogNames;
use crate::options::Settings;
use crate::variables::{VERSION, VarDef, VarValue, registry};

/// Values of variables that this server's log does not do, by variable and name or ON.
const UNBUILT: &[(&str, &str)] = &[
    ("binlog_alter_two_phase", "ON"),
    ("binlog_row_metadata", "MINIMAL"),
    ("binlog_row_metadata", "FULL"),
    ("encrypt_binlog", "ON"),
    ("log_bin_compress", "ON"),
];

/// The assignment in words, if a server with a binary log cannot do what it says.
pub(crate) fn unbuilt(def: &VarDef, value: &VarValue) -> Option<String> {
    let shown = value.show(def);
    let found = UNBUILT.iter().any(|(name, value)| *name == def.name && *value == shown);
    found.then(|| format!("{}={shown}", def.name))
}

/// The names in variables about logs, `data_dir` being the directory of the data.
pub(crate) fn derive_names(settings: &mut Settings, data_dir: &Path) {
    if let Some(names) = names(settings, data_dir) {
        settings.derive("log_bin", VarValue::Bool(true));
        settings.derive("log_bin_basename", VarValue::text(&names.shown_base));
        settings.derive("log_bin_index", VarValue::text(&names.shown_index));
    }
    let relay_log = text(settings, "relay_log");
    if !relay_log.is_empty() {
        let index = settings.binlog.relay_index.clone();
        let names = LogNames::new(&relay_log, index.as_deref(), "", data_dir);
        settings.derive("relay_log_basename", VarValue::text(&names.shown_base));
        settings.derive("relay_log_index", VarValue::text(&names.shown_index));
    }
    derive_expiry(settings);
}

/// The two variables for the age of files have one value.
fn derive_expiry(settings: &mut Settings) {
    const DAY: f64 = 86_400.0;
    if settings.is_given("binlog_expire_logs_seconds") {
        let seconds = value(settings, "binlog_expire_logs_seconds").as_u64();
        settings.derive("expire_logs_days", VarValue::Double(seconds as f64 / DAY));
    } else if settings.is_given("expire_logs_days") {
        let days = value(settings, "expire_logs_days").as_f64();
        settings.derive("binlog_expire_logs_seconds", VarValue::Uint((days * DAY) as u64));
    }
}

/// The log, if there is to be one; the error is a sentence for the error log.
pub(crate) fn set_up(settings: &Settings, data_dir: &Path) -> Result<Option<Arc<Binlog>>, String> {
    let Some(names) = names(settings, data_dir) else {
        if value(settings, "log_slave_updates").as_bool() {
            tracing::warn!("You need to use --log-bin to make --log-slave-updates work.");
        }
        return Ok(None);
    };
    if value(settings, "log_slave_updates").as_bool() && settings.replica.takes_own_groups {
        let text = "using --replicate-same-server-id in conjunction with --log-slave-updates is \
                    impossible, it would lead to infinite loops in this server.";
        return Err(text.to_owned());
    }
    for def in registry().all() {
        if let Some(what) = unbuilt(def, settings.get(def)) {
            return Err(format!("The binary log cannot be written with --{what} yet"));
        }
    }
    if settings.binlog.name.as_deref() == Some("") && settings.binlog.base.is_none() {
        tracing::warn!(
            "No argument was provided to --log-bin and --log-basename was not used; replication \
             may break when this server acts as a primary and its host name changes. Please use \
             '--log-bin={}' to avoid this problem.",
            names.file(1).trim_end_matches(".000001")
        );
    }
    let files = DiskLogFiles::new(names);
    files.check()?;
    let filter = DatabaseFilter {
        databases: settings.binlog.databases.clone(),
        ignored: settings.binlog.ignored.clone(),
    };
    let log_settings = LogSettings {
        max_size: value(settings, "max_binlog_size").as_u64(),
        checksum: checksum(value(settings, "binlog_checksum")),
        server_id: value(settings, "server_id").as_u64() as u32,
    };
    let limits = cache_limits(&|name| value(settings, name).as_u64());
    let binlog = Binlog::new(files, VERSION, log_settings, filter);
    let is_strict = value(settings, "gtid_strict_mode").as_bool();
    binlog.strict.store(is_strict, Ordering::Relaxed);
    binlog.log().set_cache_limits(limits);
    binlog.set_expiry(value(settings, "binlog_expire_logs_seconds").as_u64());
    binlog.semi.set(semi_sync(&|name| value(settings, name).clone()));
    if value(settings, "rpl_semi_sync_master_enabled").as_bool() {
        // Nobody waits for groups of the server's last life, wherever they end.
        binlog.semi.enable(Place::default());
    }
    Ok(Some(Arc::new(binlog)))
}

/// The limits of caches. Compat: what fits into a cache's memory is never too large.
pub(super) fn cache_limits(number: &dyn Fn(&str) -> u64) -> CacheLimits {
    CacheLimits {
        transaction: number("max_binlog_cache_size").max(number("binlog_cache_size")),
        statement: number("max_binlog_stmt_cache_size").max(number("binlog_stmt_cache_size")),
    }
}

/// The variables of semi-synchronous replication.
pub(super) fn semi_sync(value: &dyn Fn(&str) -> VarValue) -> crate::semi_sync::Settings {
    crate::semi_sync::Settings {
        timeout: Duration::from_millis(value("rpl_semi_sync_master_timeout").as_u64()),
        waits_alone: value("rpl_semi_sync_master_wait_no_slave").as_bool(),
    }
}

/// The algorithm of a value of `binlog_checksum`.
pub(super) fn checksum(value: &VarValue) -> Checksum {
    if value.as_u64() == 0 { Checksum::None } else { Checksum::Crc32 }
}

fn names(settings: &Settings, data_dir: &Path) -> Option<LogNames> {
    let options = &settings.binlog;
    let pid_file = text(settings, "pid_file");
    let stem = Path::new(&pid_file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    // Compat: the default name comes from the pid file, whose default is the host's name.
    let default = format!("{}-bin", stem.unwrap_or_else(|| text(settings, "hostname")));
    let index = options.index.as_deref();
    options.name.as_deref().map(|name| LogNames::new(name, index, &default, data_dir))
}

fn value<'s>(settings: &'s Settings, name: &str) -> &'s VarValue {
    settings.get(registry().find(name).expect("a variable of the table"))
}

fn text(settings: &Settings, name: &str) -> String {
    value(settings, name).as_str().to_owned()
}
