//! The file of a query log, in MariaDB's format, which other programs read.
//!
//! Must not decide what is logged.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use selkie_catalog::quote_identifier;

use super::{GeneralEntry, SlowEntry};
use crate::variables::{Globals, VERSION, VERSION_COMMENT, ids};

/// A log file. It is opened when the first entry is written.
#[derive(Debug, Default)]
pub(super) struct LogFile {
    file: Option<File>,
    path: PathBuf,
    /// Whether writing has failed. Then nothing is written until the file gets another name.
    failed: bool,
    /// Second and database of the last entry.
    told: (String, String),
}

impl LogFile {
    /// Makes sure that `path` is open.
    pub(super) fn open(&mut self, path: &Path, globals: &Globals) -> io::Result<()> {
        if self.path == path && (self.file.is_some() || self.failed) {
            return Ok(());
        }
        self.close();
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        let port = globals.get(ids().port).as_u64();
        let socket = globals.get(ids().socket);
        write!(
            file,
            "selkie, Version: {VERSION} ({VERSION_COMMENT}). started with:\n\
             Tcp port: {port}  Unix socket: {}\n\
             Time\t\t    Id Command\tArgument\n",
            socket.as_str()
        )?;
        self.file = Some(file);
        path.clone_into(&mut self.path);
        Ok(())
    }

    /// Closes the file; the next entry opens it again.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }

    /// Marks the file as not writable.
    pub(super) fn give_up(&mut self, path: &Path) {
        *self = Self { failed: true, path: path.to_owned(), ..Self::default() };
    }

    fn put(&mut self, text: &[u8]) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(text),
            None => Ok(()),
        }
    }

    /// Writes a line of the general log, with the time if its second differs from the last line's.
    pub(super) fn general(&mut self, entry: &GeneralEntry) -> io::Result<()> {
        let second = short_time(entry.at);
        let time = if self.told.0 == second { "\t\t".to_owned() } else { format!("{second}\t") };
        self.told.0 = second;
        let line = format!("{time}{:6} {}\t{}\n", entry.thread_id, entry.command, entry.argument);
        self.put(line.as_bytes())
    }

    /// Writes an entry of the slow log.
    pub(super) fn slow(&mut self, entry: &SlowEntry) -> io::Result<()> {
        let mut text = String::new();
        let second = short_time(entry.at);
        if self.told.0 != second {
            text.push_str(&format!("# Time: {second}\n"));
            self.told.0 = second;
        }
        let seconds = |micros: u64| micros as f64 / 1e6;
        text.push_str(&format!(
            "# User@Host: {}\n\
             # Thread_id: {}  Schema: {}  QC_hit: No\n\
             # Query_time: {:.6}  Lock_time: {:.6}  Rows_sent: {}  Rows_examined: {}\n\
             # Rows_affected: {}  Bytes_sent: {}\n",
            entry.user_host,
            entry.thread_id,
            entry.schema,
            seconds(entry.query_micros),
            seconds(entry.lock_micros),
            entry.rows_sent,
            entry.rows_examined,
            entry.rows_affected,
            entry.bytes_sent,
        ));
        text.push_str(&entry.remarks);
        if self.told.1 != entry.schema {
            text.push_str(&format!("use {};\n", quote_identifier(&entry.schema)));
            self.told.1.clone_from(&entry.schema);
        }
        if entry.last_insert_id != 0 {
            text.push_str(&format!("SET last_insert_id={};\n", entry.last_insert_id));
        }
        if entry.insert_id != 0 {
            text.push_str(&format!("SET insert_id={};\n", entry.insert_id));
        }
        let since = entry.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        text.push_str(&format!("SET timestamp={};\n{};\n", since.as_secs(), entry.text));
        self.put(text.as_bytes())
    }
}

/// `yymmdd hh:mm:ss`; the hour has no leading zero.
fn short_time(at: SystemTime) -> String {
    let stamp = jiff::Timestamp::try_from(at).unwrap_or_default();
    let local = stamp.to_zoned_datetime(jiff::tz::TimeZone::system());
    let (date, time) = (local.date(), local.time());
    format!(
        "{:02}{:02}{:02} {:2}:{:02}:{:02}",
        date.year() % 100,
        date.month(),
        date.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(short_time(SystemTime::UNIX_EPOCH).len(), 15);
    }
}
