//! Values of variables before any option: the table's defaults, and facts about the machine.
//!
//! Must not read option files.

use super::assign::parse_option;
use super::def::{Kind, VarDef};
use super::registry::registry;
use super::value::VarValue;

/// Result of `VERSION()`.
pub const VERSION: &str = concat!("10.11.19-MariaDB-selkie-", env!("CARGO_PKG_VERSION"));
/// Value of `@@version_comment`.
pub const VERSION_COMMENT: &str = concat!("Selkie ", env!("CARGO_PKG_VERSION"));

/// Value of each variable of the registry.
pub fn startup_values() -> Vec<VarValue> {
    registry().all().iter().map(initial).collect()
}

fn initial(def: &VarDef) -> VarValue {
    if let Some(text) = computed(def.name).or_else(|| def.start.map(str::to_owned)) {
        return parse_option(def, &text).map_or_else(|_| VarValue::text(&text), |(v, _)| v);
    }
    if def.unset {
        return VarValue::null();
    }
    let parsed = def.default.and_then(|text| parse_option(def, text).ok());
    parsed.map_or_else(|| zero(def), |(value, _)| value)
}

fn zero(def: &VarDef) -> VarValue {
    match def.kind {
        Kind::Bool => VarValue::Bool(false),
        Kind::Int { .. } => VarValue::Int(0),
        Kind::Uint { .. } | Kind::Set | Kind::Flags => VarValue::Uint(0),
        Kind::Double { .. } => VarValue::Double(0.0),
        Kind::Enum => VarValue::Enum(0),
        Kind::Text if def.default.is_none() => VarValue::null(),
        Kind::Text => VarValue::text(""),
    }
}

fn computed(name: &str) -> Option<String> {
    Some(match name {
        "hostname" => host_name(),
        "version" => VERSION.to_owned(),
        "version_comment" => VERSION_COMMENT.to_owned(),
        "version_source_revision" => String::new(),
        "version_ssl_library" => "rustls 0.23".to_owned(),
        "version_compile_machine" => std::env::consts::ARCH.to_owned(),
        "version_compile_os" => capitalised(std::env::consts::OS),
        "system_time_zone" => system_time_zone(),
        "thread_pool_size" => parallelism().to_string(),
        "selkie_lanes" => parallelism().min(64).to_string(),
        "tmpdir" | "slave_load_tmpdir" => std::env::temp_dir().to_string_lossy().into_owned(),
        "general_log_file" => format!("{}.log", host_name()),
        "slow_query_log_file" | "log_slow_query_file" => format!("{}-slow.log", host_name()),
        _ => return None,
    })
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "localhost".to_owned() } else { name.trim().to_owned() }
}

fn parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |c| c.to_ascii_uppercase().to_string() + chars.as_str())
}

/// The abbreviation of the machine's time zone at the start.
fn system_time_zone() -> String {
    let now = jiff::ZonedDateTime::now();
    now.time_zone().to_offset_info(now.timestamp()).abbreviation().to_owned()
}
