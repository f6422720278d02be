//! Facts about the machine of a report, read from `/proc` and `uname`.
//!
//! A fact that cannot be read is no failure: it is shown as unknown or with its least value.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Facts about a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// The processor's name.
    pub(crate) processor: String,
    /// Number of processors.
    pub(crate) cores: usize,
    /// Memory in MiB.
    pub(crate) memory_mib: u64,
    /// The operating system.
    pub(crate) system: String,
}

impl Machine {
    /// The facts about this machine.
    pub(crate) fn this() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = field(&cpuinfo, "model name").unwrap_or("unknown").to_owned();
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let memory =
            field(&meminfo, "MemTotal").and_then(|m| m.split(' ').next()?.parse::<u64>().ok());
        let system = rustix::system::uname();
        Self {
            processor,
            // All processors, not those this process may use: `--client-cores` limits that.
            cores: cpuinfo.lines().filter(|line| line.starts_with("processor")).count().max(1),
            memory_mib: memory.unwrap_or_default() / 1024,
            system: format!(
                "{} {} {}",
                system.sysname().to_string_lossy(),
                system.release().to_string_lossy(),
                system.machine().to_string_lossy()
            ),
        }
    }
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}

/// Processor time that this process has used.
pub(crate) fn process_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
