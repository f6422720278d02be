//! Facts about a process from Linux: CPU time, memory, processors, listening sockets.
//!
//! A measurement is `None` if the process cannot be read; only pinning can fail.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::Result;
use crate::wire::Address;

/// User and system time the process has used.
pub(super) fn cpu(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain any characters; it ends with the last bracket.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = ticks(11)? + ticks(12)?;
    Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}

/// Resident memory in MiB.
pub(super) fn resident_mib(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}

/// Binds all threads of a process to some processors.
pub(super) fn pin(pid: u32, cores: &[usize]) -> Result<()> {
    let set = set_of(cores);
    for entry in fs::read_dir(format!("/proc/{pid}/task"))?.flatten() {
        let thread = entry.file_name().to_string_lossy().parse().ok().and_then(Pid::from_raw);
        if let Some(thread) = thread {
            sched_setaffinity(Some(thread), &set).map_err(io::Error::from)?;
        }
    }
    Ok(())
}

/// Binds the calling thread, and the threads it will start, to some processors. Returns its
/// processors from before.
pub(crate) fn pin_this_thread(cores: &[usize]) -> Result<CpuSet> {
    let before = sched_getaffinity(None).map_err(io::Error::from)?;
    sched_setaffinity(None, &set_of(cores)).map_err(io::Error::from)?;
    Ok(before)
}

/// Undoes [`pin_this_thread`].
pub(super) fn unpin_this_thread(before: CpuSet) -> Result<()> {
    Ok(sched_setaffinity(None, &before).map_err(io::Error::from)?)
}

fn set_of(cores: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    cores.iter().filter(|core| **core < CpuSet::MAX_CPU).for_each(|core| set.set(*core));
    set
}

/// The process on this machine that listens on an address, if this process may see it.
pub(super) fn listening_at(address: &Address) -> Option<u32> {
    let inode = match address {
        Address::Tcp(address) if address.ip().is_loopback() => tcp_inode(address)?,
        Address::Tcp(_) => return None,
        Address::Unix(path) => unix_inode(&path.to_string_lossy())?,
    };
    let wanted = format!("socket:[{inode}]");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let pids =
        processes.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    pids.into_iter().find(|pid| holds(*pid, &wanted))
}

fn holds(pid: u32, socket: &str) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    files
        .into_iter()
        .any(|file| fs::read_link(file.path()).is_ok_and(|link| link.as_os_str() == socket))
}

fn tcp_inode(address: &SocketAddr) -> Option<String> {
    const LISTENING: &str = "0A";
    let port = format!(":{:04X}", address.port());
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
        let text = fs::read_to_string(table).ok()?;
        text.lines().find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let hit = fields.get(1)?.ends_with(&port) && fields.get(3) == Some(&LISTENING);
            hit.then(|| fields.get(9).map(|inode| (*inode).to_owned()))?
        })
    })
}

fn unix_inode(path: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/net/unix").ok()?;
    text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        (fields.get(7) == Some(&path)).then(|| fields.get(6).map(|inode| (*inode).to_owned()))?
    })
}
