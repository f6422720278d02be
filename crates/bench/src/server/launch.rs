//! Starts a server on its own directory, and stops it in every case.
//!
//! Must not leave a process or a directory behind: dropping [`Started`] stops the server and
//! removes its directory.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::program::Program;
use crate::error::{Failure, Result};
use crate::stop;
use crate::wire::{Address, Connection};

/// Settings that all started servers get.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Bytes of the buffer pool.
    pub(crate) pool_bytes: u64,
    /// Bytes of the log.
    pub(crate) log_bytes: u64,
    /// Processors that the servers may use.
    pub(crate) server_cores: Option<Vec<usize>>,
    /// Folder for their directories.
    pub(crate) folder: PathBuf,
    /// Whether to connect over the socket file.
    pub(crate) socket: bool,
    /// Additional options, each with the name of its server.
    pub(crate) options: Vec<(String, String)>,
}

/// Maximum time until a server answers.
const PATIENCE: Duration = Duration::from_secs(300);

/// A server that was started here. When this is dropped, the server is stopped and its directory
/// removed.
#[derive(Debug)]
pub(crate) struct Started {
    child: Child,
    binary: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    port: u16,
    cores: Option<Vec<usize>>,
}

impl Started {
    pub(super) fn start(
        program: Program,
        binary: Option<&Path>,
        settings: &Settings,
    ) -> Result<Self> {
        let binary = binary.map_or_else(|| program.installed(), |path| Ok(path.to_owned()))?;
        let port = free_port()?;
        let folder = settings.folder.join(format!("selkie-bench-{port}"));
        fs::create_dir_all(&folder)
            .map_err(|e| Failure::said(format!("{}: {e}", folder.display())))?;
        let datadir = folder.join("data");
        if let Some(command) = program.initialise(&binary, &datadir) {
            initialise(command, &folder).inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
        }
        let mut arguments = Vec::new();
        if program == Program::Selkie {
            arguments.push("serve".to_owned());
        }
        arguments.extend([
            "--no-defaults".to_owned(),
            format!("--datadir={}", datadir.display()),
            format!("--port={port}"),
            format!("--socket={}", folder.join("s.sock").display()),
            "--bind-address=127.0.0.1".to_owned(),
            "--max-connections=5000".to_owned(),
            "--innodb-flush-log-at-trx-commit=1".to_owned(),
            "--innodb-doublewrite=ON".to_owned(),
            format!("--innodb-buffer-pool-size={}", settings.pool_bytes),
        ]);
        arguments.extend(program.options(settings));
        let name = format!("{program:?}").to_lowercase();
        let more = settings.options.iter().filter(|(server, _)| *server == name);
        arguments.extend(more.map(|(_, option)| option.clone()));
        let cores = settings.server_cores.clone();
        let child = spawn(&binary, &arguments, &folder, cores.as_deref())
            .inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
        let mut started = Self { child, binary, arguments, folder, port, cores };
        started.wait_until_it_answers()?;
        Ok(started)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn address(&self, socket: bool) -> Address {
        match socket {
            true => Address::Unix(self.folder.join("s.sock")),
            false => Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))),
        }
    }

    pub(super) fn command(&self) -> String {
        format!("{} {}", self.binary.display(), self.arguments.join(" "))
    }

    pub(super) fn crash_and_recover(&mut self) -> Result<Duration> {
        self.child.kill()?;
        self.child.wait()?;
        let begun = Instant::now();
        self.start_again()?;
        Ok(begun.elapsed())
    }

    pub(super) fn restart(&mut self) -> Result<()> {
        self.stop();
        self.start_again()
    }

    fn start_again(&mut self) -> Result<()> {
        self.child = spawn(&self.binary, &self.arguments, &self.folder, self.cores.as_deref())?;
        self.wait_until_it_answers()
    }

    fn wait_until_it_answers(&mut self) -> Result<()> {
        let begun = Instant::now();
        let address = self.address(false);
        loop {
            if Connection::open(&address, "root", "", "").is_ok() {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(Failure::said(format!(
                    "{} ended with {status}:\n{}",
                    self.binary.display(),
                    last_lines(&self.folder.join("log"))
                )));
            }
            if stop::requested() {
                return Err(Failure::Interrupted);
            }
            if begun.elapsed() > PATIENCE {
                return Err(Failure::said(format!("{} does not answer", self.binary.display())));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Asks the process to end, and kills it if it does not.
    fn stop(&mut self) {
        let asked =
            Pid::from_raw(self.child.id() as i32).map(|pid| kill_process(pid, Signal::TERM));
        let begun = Instant::now();
        while asked.is_some() && begun.elapsed() < Duration::from_secs(60) {
            if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.stop();
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("{}: {error}", self.folder.display());
        }
    }
}

fn initialise(mut command: Command, folder: &Path) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let log = File::create(folder.join("log"))?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    command.env("TMPDIR", folder);
    let status = command.status().map_err(|e| Failure::said(format!("{name}: {e}")))?;
    match status.success() {
        true => Ok(()),
        false => {
            Err(Failure::said(format!("{name}: {status}:\n{}", last_lines(&folder.join("log")))))
        }
    }
}

/// Starts a process in its own process group, so that Ctrl-C reaches only this program.
fn spawn(
    binary: &Path,
    arguments: &[String],
    folder: &Path,
    cores: Option<&[usize]>,
) -> Result<Child> {
    let log = File::options().create(true).append(true).open(folder.join("log"))?;
    let mut command = Command::new(binary);
    command.args(arguments).process_group(0).stdin(Stdio::null());
    // A MariaDB that starts removes temporary tables from there, also those of other servers.
    command.env("TMPDIR", folder);
    command.stdout(log.try_clone()?).stderr(log);
    // A child inherits the processors of the thread that starts it.
    let before = cores.map(super::process::pin_this_thread).transpose()?;
    let child = command.spawn().map_err(|e| Failure::said(format!("{}: {e}", binary.display())));
    before.map(super::process::unpin_this_thread).transpose()?;
    child
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn last_lines(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}
