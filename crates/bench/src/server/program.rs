//! The programs that can be started, each with the same guarantees: the log is flushed at every
//! commit, pages are protected from torn writes, no binary log, the same sizes of buffer pool and
//! log.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::launch::Settings;
use crate::error::{Failure, Result};

/// A server program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Selkie,
    MariaDb,
    MySql,
}

/// Folders in which packages install servers, and which need not be in PATH.
const PLACES: [&str; 4] = ["/usr/sbin", "/usr/bin", "/usr/libexec", "/usr/local/bin"];

impl Program {
    pub(super) fn find(name: &str) -> Option<Self> {
        match name {
            "selkie" => Some(Self::Selkie),
            "mariadb" => Some(Self::MariaDb),
            "mysql" => Some(Self::MySql),
            _ => None,
        }
    }

    /// The installed program.
    pub(super) fn installed(self) -> Result<PathBuf> {
        match self {
            Self::Selkie => Ok(std::env::current_exe()?),
            Self::MariaDb => search("mariadbd"),
            Self::MySql => search("mysqld"),
        }
    }

    /// The command that creates an empty data directory; `None` if the server does so itself.
    pub(super) fn initialise(self, binary: &Path, datadir: &Path) -> Option<Command> {
        let datadir = format!("--datadir={}", datadir.display());
        match self {
            Self::Selkie => None,
            Self::MariaDb => {
                let beside = binary.parent().map(|p| p.join("../bin/mariadb-install-db"));
                let script = beside.filter(|p| p.exists());
                let mut command = Command::new(script.unwrap_or("mariadb-install-db".into()));
                command.args(["--no-defaults", "--auth-root-authentication-method=normal"]);
                command.args(["--skip-test-db", &datadir]).args(as_root());
                Some(command)
            }
            Self::MySql => {
                let mut command = Command::new(binary);
                command.args(["--no-defaults", "--initialize-insecure", &datadir]).args(as_root());
                Some(command)
            }
        }
    }

    /// Options in addition to those of all servers.
    pub(super) fn options(self, settings: &Settings) -> Vec<String> {
        let log = settings.log_bytes;
        let own: &[&str] = match self {
            Self::Selkie => &[],
            Self::MariaDb => &["--innodb-flush-method=O_DIRECT", "--performance-schema=OFF"],
            Self::MySql => &[
                "--innodb-flush-method=O_DIRECT",
                "--performance-schema=OFF",
                "--mysqlx=OFF",
                "--local-infile=ON",
            ],
        };
        let mut options: Vec<String> = own.iter().map(|&o| o.to_owned()).collect();
        // Thousands of connections prepare each statement of a mix for each table.
        options.push("--max-prepared-stmt-count=1000000".to_owned());
        match self {
            Self::MySql => options.push(format!("--innodb-redo-log-capacity={log}")),
            Self::Selkie | Self::MariaDb => options.push(format!("--innodb-log-file-size={log}")),
        }
        if self != Self::Selkie {
            options.push("--skip-log-bin".to_owned());
            options.extend(as_root().map(str::to_owned));
        }
        options
    }
}

/// The option without which MariaDB and MySQL refuse to run as root.
fn as_root() -> Option<&'static str> {
    rustix::process::geteuid().is_root().then_some("--user=root")
}

fn search(name: &str) -> Result<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = path.split(':').chain(PLACES).map(|folder| Path::new(folder).join(name));
    let found = folders.into_iter().find(|file| file.is_file());
    found.ok_or_else(|| Failure::said(format!("{name} is not installed on this machine")))
}
