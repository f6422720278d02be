//! Memory of the server: limits from its variables, and use for the status variables.
//!
//! Must not count anything itself: the allocator does.

use std::fs;
use std::sync::OnceLock;

use selkie_meter::{most_used, set_limits, total_used};

use crate::status::Gauges;
use crate::variables::{Globals, ids, registry};

/// Minimum of the limit for all statements together, in bytes.
const LEAST: u64 = 256 << 20;

/// Default limit of one statement, in bytes.
const ONE: u64 = 4 << 30;

/// Bytes in use at the end of the start.
static INITIAL: OnceLock<i64> = OnceLock::new();

/// Applies the memory limits of the server's variables.
pub(crate) fn apply(globals: &Globals) {
    let pool = registry().find("innodb_buffer_pool_size").map(|def| globals.get(def.id).as_u64());
    let auto = (machine().saturating_sub(pool.unwrap_or(0)) / 2).max(LEAST);
    let all = or(globals.get(ids().selkie_memory_limit).as_u64(), auto);
    let one = or(globals.get(ids().selkie_statement_memory).as_u64(), (all / 2).min(ONE));
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    set_limits(signed(all), signed(one));
}

/// Limit of the memory of column groups, in bytes, if the variable has this value: 0 means an
/// eighth of the machine's memory.
pub(crate) fn of_columns(said: u64) -> u64 {
    or(said, machine() / 8)
}

fn or(said: u64, otherwise: u64) -> u64 {
    if said == 0 { otherwise } else { said }
}

/// Memory of the machine, or the limit of this process's control group if that is less.
fn machine() -> u64 {
    let system = rustix::system::sysinfo();
    let whole = system.totalram.saturating_mul(u64::from(system.mem_unit));
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    group.and_then(|text| text.trim().parse().ok()).map_or(whole, |most: u64| most.min(whole))
}

/// Notes the memory in use at the end of the start.
pub(crate) fn note_start() {
    let _ = INITIAL.set(total_used());
}

/// Sets the status variables about memory.
pub(crate) fn status(gauges: &mut Gauges) {
    let mut put = |name: &str, value: i64| gauges.insert(name.to_owned(), value.max(0).to_string());
    put("memory_used", total_used());
    put("memory_used_initial", INITIAL.get().copied().unwrap_or(0));
    put("max_memory_used", most_used());
}
