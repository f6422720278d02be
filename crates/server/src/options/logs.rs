//! Names of the logs that options give, and the databases that the binary log takes or leaves out.
//!
//! Must not decide paths: the life of the log does, when the data directory is known.

use super::apply::{Parsed, Settings};
use crate::variables::VarValue;

/// Options of the binary log that are no variables, or whose variable says something else.
#[derive(Clone, Debug, Default)]
pub struct BinlogOptions {
    /// Base name of the log's files, empty for the default; nothing if there is no log.
    pub name: Option<String>,
    /// Name of the index file.
    pub index: Option<String>,
    /// `--binlog-do-db`.
    pub databases: Vec<String>,
    /// `--binlog-ignore-db`.
    pub ignored: Vec<String>,
    /// `--relay-log-index`.
    pub relay_index: Option<String>,
    /// `--log-basename`.
    pub base: Option<String>,
}

/// An option about a log's name.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum LogOption {
    Bin,
    BinIndex,
    RelayIndex,
    Basename,
    DoDb,
    IgnoreDb,
}

impl LogOption {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "log_bin" => Self::Bin,
            "log_bin_index" => Self::BinIndex,
            "relay_log_index" => Self::RelayIndex,
            "log_basename" => Self::Basename,
            "binlog_do_db" => Self::DoDb,
            "binlog_ignore_db" => Self::IgnoreDb,
            _ => return None,
        })
    }
}

/// Applies one of these options. All but `--log-bin` need a value.
pub(super) fn apply(
    settings: &mut Settings,
    option: LogOption,
    parsed: &Parsed<'_>,
) -> Result<(), String> {
    let value = parsed.value.unwrap_or_default().to_owned();
    let binlog = &mut settings.binlog;
    if option == LogOption::Bin {
        binlog.name = (parsed.switch != Some(false)).then_some(value);
        return Ok(());
    }
    if parsed.switch.is_some() || parsed.value.is_none() {
        return Err(format!("option '--{}' requires an argument", parsed.text));
    }
    match option {
        LogOption::BinIndex => binlog.index = Some(value),
        LogOption::RelayIndex => binlog.relay_index = Some(value),
        LogOption::DoDb => binlog.databases.push(value),
        LogOption::IgnoreDb => binlog.ignored.push(value),
        LogOption::Basename => basename(settings, &value)?,
        LogOption::Bin => {}
    }
    Ok(())
}

/// `--log-basename`: the start of the names of all logs. Compat: options before it lose their
/// names.
fn basename(settings: &mut Settings, base: &str) -> Result<(), String> {
    if base.is_empty() || base.contains(['.', '/']) {
        return Err(format!(
            "Wrong argument for --log-basename. It can't be empty or contain '.' or '/'. \
             It was '{base}'"
        ));
    }
    let names = [
        ("general_log_file", ".log"),
        ("slow_query_log_file", "-slow.log"),
        ("log_slow_query_file", "-slow.log"),
        ("relay_log", "-relay-bin"),
    ];
    for (variable, ending) in names {
        settings.derive(variable, VarValue::text(format!("{base}{ending}")));
    }
    if settings.is_given("log_error") {
        settings.derive("log_error", VarValue::text(base));
    }
    let binlog = &mut settings.binlog;
    // A log that is named before keeps no name of its own.
    binlog.name = binlog.name.take().map(|_| format!("{base}-bin"));
    binlog.index = Some(format!("{base}-bin.index"));
    binlog.relay_index = Some(format!("{base}-relay-bin.index"));
    binlog.base = Some(base.to_owned());
    Ok(())
}
