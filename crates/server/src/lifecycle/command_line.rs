//! The program: its arguments, its log, its exit code.
//!
//! Must not implement subcommands.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::signals;
use super::start::{OpenBackend, Start, start};
use crate::backend::SessionFactory;
use crate::log::LogTarget;
use crate::options::{Settings, apply, collect};
use crate::variables::{VERSION, VarValue, registry, startup_values};

/// Default data directory.
const DEFAULT_DATA_DIR: &str = "./selkie-data";

const USAGE: &str = "\
Usage: selkie [serve] [--datadir=DIR] [--port=N] [--socket=PATH] [--bind-address=ADDRESS]
                      [--defaults-file=FILE | --no-defaults] [--any-variable=value ...]

Starts the server. Without arguments: data in ./selkie-data, TCP on 127.0.0.1:3306 and a Unix
socket in the data directory. Every system variable of MariaDB 10.11 that has a startup option can
be given, here or in an option file.

`selkie inspect` shows the contents of a data directory; see `selkie inspect --help`.
";

/// Runs the program and returns its exit code.
#[expect(clippy::print_stdout, reason = "it answers the command line")]
pub(crate) fn main<B: SessionFactory>(arguments: &[String], backend: &OpenBackend<B>) -> ExitCode {
    match arguments.first().map(String::as_str) {
        Some("--help" | "-?" | "help") => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        Some("--version" | "-V" | "version") => {
            println!(
                "selkie  Ver {VERSION} for {} on {}",
                std::env::consts::OS,
                std::env::consts::ARCH
            );
            ExitCode::SUCCESS
        }
        Some("serve") => run(&arguments[1..], backend),
        _ => run(arguments, backend),
    }
}

fn run<B: SessionFactory>(arguments: &[String], backend: &OpenBackend<B>) -> ExitCode {
    let log = LogTarget::stderr();
    log.install();
    crate::panics::watch();
    match serve(arguments, &log, backend) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            tracing::error!("{reason}");
            tracing::error!("Aborting");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "it answers the command line")]
fn serve<B: SessionFactory>(
    arguments: &[String],
    log: &LogTarget,
    backend: &OpenBackend<B>,
) -> Result<(), String> {
    let named = |e: String| format!("selkie: {e}");
    let sources = collect(arguments).map_err(named)?;
    let mut settings = apply(startup_values(), &sources).map_err(named)?;
    if !settings.is_given("datadir") {
        settings.derive("datadir", VarValue::text(DEFAULT_DATA_DIR));
    }
    let logged_to_file = switch_log(&mut settings, log)?;
    tracing::info!("Starting Selkie {VERSION} as process {}", std::process::id());
    for warning in std::mem::take(&mut settings.warnings) {
        tracing::warn!("{warning}");
    }
    let without_effect = settings.without_effect();
    if !without_effect.is_empty() {
        tracing::info!("Options without effect: {}", without_effect.join(", "));
    }
    let running = start(Start { settings, backend })?;
    signals::watch(&running.server).map_err(|e| format!("Can't watch signals: {e}"))?;
    if !logged_to_file {
        println!("Connect with: {}", running.how_to_connect());
    }
    running.server.wait_for_stop();
    tracing::info!("selkie: Normal shutdown");
    running.stop();
    Ok(())
}

/// `--log-error[=FILE]`: a relative name is in the data directory; a name without an extension gets
/// `.err`. Returns whether the log goes to a file.
fn switch_log(settings: &mut Settings, log: &LogTarget) -> Result<bool, String> {
    let shown = |name: &str| {
        registry().find(name).map_or(String::new(), |d| settings.get(d).as_str().to_owned())
    };
    if !settings.is_given("log_error") {
        settings.derive("log_error", VarValue::text(""));
        return Ok(false);
    }
    let mut name = shown("log_error");
    if name.is_empty() {
        name = settings.binlog.base.clone().unwrap_or_else(|| shown("hostname"));
    }
    let mut path = PathBuf::from(name);
    if path.extension().is_none() {
        path.set_extension("err");
    }
    let data_dir = PathBuf::from(shown("datadir"));
    let full = data_dir.join(&path);
    if let Some(parent) = full.parent().filter(|p| *p != Path::new("")) {
        let _ = std::fs::create_dir_all(parent);
    }
    log.switch_to(&full).map_err(|e| format!("Can't open log file '{}': {e}", full.display()))?;
    settings.derive("log_error", VarValue::text(full.to_string_lossy()));
    Ok(true)
}
