//! Files that may go: PURGE BINARY LOGS and expiry.
//!
//! Must not remove anything: [`BinaryLog::purged`] does. Must never give up the current file.

use crate::log::binary_log::BinaryLog;
use crate::log::files::FileNumber;

impl BinaryLog {
    /// The number of a file by its name; none if the log has no such file.
    pub fn number_of(&self, name: &str) -> Option<FileNumber> {
        let files = self.files();
        files.into_iter().map(|(file, _)| file).find(|file| self.files.name(*file) == name)
    }

    /// PURGE BINARY LOGS TO: the lowest file to keep. None if the log has no such file.
    pub fn purge_to(&self, name: &str) -> Option<FileNumber> {
        self.number_of(name)
    }

    /// PURGE BINARY LOGS BEFORE: the lowest file to keep, the first one that was changed at or
    /// after `time`. None if the log has no file. `changed` tells the time of a file's last change;
    /// a file without one stays.
    pub fn purge_before(
        &self,
        time: u64,
        changed: impl Fn(FileNumber) -> Option<u64>,
    ) -> Option<FileNumber> {
        let files = self.files();
        let (current, _) = *files.last()?;
        let mut files = files.into_iter().map(|(file, _)| file);
        let is_kept = |file: &FileNumber| changed(*file).is_none_or(|at| at >= time);
        files.find(is_kept).or(Some(current))
    }
}
