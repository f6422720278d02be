//! The command line of `selkie inspect` and its exit codes: 0 nothing wrong, 1 something wrong, 2
//! not readable.
//!
//! Must not know formats; the other modules do.

use super::overlay::Overlay;
use super::{check, files, log, pages, tree, undo};
use crate::disk::Disk;
use crate::engine::{IgnoredRiders, NativeOptions};
use crate::error::StorageError;
use rustix::fs::FlockOperation;
use std::fs;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const USAGE: &str = "\
Usage: selkie inspect WHAT DATADIR [ARGUMENTS]

  files DATADIR                table, index and size of each data file
  pages DATADIR FILE [PAGE]    headers of a file's pages, or a page with its entries
  tree DATADIR FILE            shape and fill of the tree in a file
  log DATADIR [LSN]            segments, then groups and records from the checkpoint (or LSN) on
  undo DATADIR                 unfinished transactions by the last checkpoint and the log
  check DATADIR                checksums of all pages, trees, agreement of indexes with rows
  binlog FILE                  events of a binary log, in the form of mariadb-binlog -vv

Nothing is written. A directory in use is read again if it changes meanwhile.
Exit codes: 0 nothing wrong, 1 something wrong, 2 not readable.
";

/// Number of attempts to read a directory that is in use, before a fault is believed.
const ATTEMPTS: usize = 5;

/// Reason why there is no answer.
pub(super) enum Failure {
    /// The arguments are invalid.
    Usage,
    /// Something is damaged or was just being changed.
    Storage(StorageError),
    /// The answer cannot be written to the output.
    Output,
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Failure {
        Failure::Storage(error)
    }
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Failure {
        Failure::Output
    }
}

/// Number of faults found.
pub(super) type Findings = Result<usize, Failure>;

/// The directory to inspect.
pub(super) struct Directory {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) options: NativeOptions,
}

/// Runs `selkie inspect` with the arguments after it; returns the exit code.
pub fn inspect(arguments: &[String], out: &mut dyn Write) -> u8 {
    let [what, dir, rest @ ..] = arguments else {
        let _ = out.write_all(USAGE.as_bytes());
        return if arguments.iter().any(|a| a == "--help") { 0 } else { 2 };
    };
    let dir = Path::new(dir);
    if !dir.join("control").is_file() {
        let _ = writeln!(out, "{} is not a data directory", dir.display());
        return 2;
    }
    let attempts = if is_in_use(dir) { ATTEMPTS } else { 1 };
    let (mut text, mut code) = (Vec::new(), 2);
    for attempt in 0..attempts {
        if attempt > 0 {
            std::thread::sleep(Duration::from_millis(200));
        }
        text.clear();
        // Data that changes while it is read may break assumptions of the code.
        let found = catch_unwind(AssertUnwindSafe(|| look(what, dir, rest, &mut text)));
        code = found.unwrap_or(1);
        if code == 0 {
            break;
        }
    }
    if attempts > 1 && code == 1 {
        let _ = writeln!(
            text,
            "a server is using the directory, so this may be no damage: stop the server and repeat"
        );
    }
    match out.write_all(&text) {
        Ok(()) => code,
        Err(_) => 2,
    }
}

fn look(what: &str, dir: &Path, rest: &[String], out: &mut Vec<u8>) -> u8 {
    let options = NativeOptions {
        background: false,
        doublewrite: false,
        rider_files: Some(Arc::new(IgnoredRiders)),
        ..NativeOptions::default()
    };
    let directory = Directory { disk: Arc::new(Overlay::new(dir)), options };
    let answer = match what {
        "files" => files::list(&directory, out),
        "pages" => pages::show(&directory, rest, out),
        "tree" => tree::show(&directory, rest, out),
        "log" => log::show(&directory, rest, out),
        "undo" => undo::show(&directory, out),
        "check" => check::all(&directory, out),
        _ => Err(Failure::Usage),
    };
    match answer {
        Ok(0) => 0,
        Ok(_) => 1,
        Err(Failure::Usage) => {
            out.extend_from_slice(USAGE.as_bytes());
            2
        }
        Err(Failure::Storage(error @ StorageError::Corrupt { .. })) => {
            let _ = writeln!(out, "{error}");
            1
        }
        Err(Failure::Storage(error)) => {
            let _ = writeln!(out, "{error}");
            2
        }
        Err(Failure::Output) => 2,
    }
}

/// Whether a server has the directory open.
fn is_in_use(dir: &Path) -> bool {
    let Ok(lock) = fs::File::open(dir.join("lock")) else { return false };
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared).is_err()
}

/// Parses argument `at` as a number, if there is one.
pub(super) fn number(rest: &[String], at: usize) -> Result<Option<u64>, Failure> {
    rest.get(at).map(|text| text.parse().map_err(|_| Failure::Usage)).transpose()
}
