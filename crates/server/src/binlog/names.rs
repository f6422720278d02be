//! Names of the binary log: its directory, the base name of its files, its index.
//!
//! Must not open files: it computes paths from options and the data directory.

use std::path::{Path, PathBuf};

use selkie_replication::log::FileNumber;

/// Digits of a file's number; a larger number has more.
const DIGITS: usize = 6;

/// Names of a log's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogNames {
    /// Directory of the files.
    pub(crate) directory: PathBuf,
    /// Start of the files' names.
    pub(crate) base: String,
    /// The index file.
    pub(crate) index: PathBuf,
    /// The directory as lines of the index have it, with a slash.
    pub(crate) prefix: String,
    /// `log_bin_basename`.
    pub(crate) shown_base: String,
    /// `log_bin_index`.
    pub(crate) shown_index: String,
}

impl LogNames {
    /// The names for `--log-bin=name --log-bin-index=index`. An empty name stands for `default`.
    pub(crate) fn new(name: &str, index: Option<&str>, default: &str, data_dir: &Path) -> Self {
        let name = if name.is_empty() { default } else { name };
        let (directory, file) = match name.rsplit_once('/') {
            Some((directory, file)) => (Some(directory), file),
            None => (None, name),
        };
        let base = without_ending(file).to_owned();
        // Compat: a name with a directory is shown as it is, one without is shown as a full path.
        let shown = |directory: Option<&str>, file: &str| match directory {
            Some(directory) => format!("{directory}/{file}"),
            None => data_dir.join(file).to_string_lossy().into_owned(),
        };
        let (index_directory, index) = match index {
            Some(index) => match index.rsplit_once('/') {
                Some((directory, file)) => (Some(directory), file),
                None => (None, index),
            },
            None => (directory, file),
        };
        let index = format!("{}.index", without_ending(index));
        Self {
            directory: data_dir.join(directory.unwrap_or_default()),
            shown_base: shown(directory, &base),
            shown_index: shown(index_directory, &index),
            index: data_dir.join(index_directory.unwrap_or_default()).join(index),
            prefix: format!("{}/", directory.unwrap_or(".")),
            base,
        }
    }

    /// Name of a file, without a directory.
    pub(crate) fn file(&self, number: FileNumber) -> String {
        format!("{}.{number:0DIGITS$}", self.base)
    }

    /// Name of a group file.
    pub(super) fn group(&self, id: u64) -> String {
        format!("{}.group.{id}", self.base)
    }

    /// The number of a file by its name.
    pub(crate) fn number(&self, name: &str) -> Option<FileNumber> {
        let digits = name.strip_prefix(&*self.base)?.strip_prefix('.')?;
        let number = digits.parse().ok().filter(|number| *number > 0)?;
        (self.file(number) == name).then_some(number)
    }

    /// The id of a group file by its name.
    pub(super) fn group_id(&self, name: &str) -> Option<u64> {
        name.strip_prefix(&*self.base)?.strip_prefix(".group.")?.parse().ok()
    }
}

/// A file name without what begins at its last dot.
fn without_ending(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(base, _)| base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str, index: Option<&str>) -> LogNames {
        LogNames::new(name, index, "host-bin", Path::new("/data"))
    }

    #[test]
    fn names_are_mariadbs() {
        let plain = names("abc.foo", None);
        assert_eq!((&*plain.shown_base, &*plain.shown_index), ("/data/abc", "/data/abc.index"));
        assert_eq!((&*plain.prefix, plain.file(7)), ("./", "abc.000007".to_owned()));
        let default = names("", Some("idx.foo"));
        assert_eq!(default.shown_base, "/data/host-bin");
        assert_eq!(default.shown_index, "/data/idx.index");
        let inside = names("sub/bl", None);
        assert_eq!((&*inside.shown_base, &*inside.shown_index), ("sub/bl", "sub/bl.index"));
        assert_eq!(inside.directory, Path::new("/data/sub"));
        assert_eq!(inside.index, Path::new("/data/sub/bl.index"));
        assert_eq!(inside.prefix, "sub/");
        let elsewhere = names("/logs/bl", Some("i"));
        assert_eq!(elsewhere.directory, Path::new("/logs"));
        assert_eq!((&*elsewhere.shown_index, &*elsewhere.prefix), ("/data/i.index", "/logs/"));
    }

    #[test]
    fn numbers_are_found_in_names() {
        let names = names("bl", None);
        assert_eq!(names.number("bl.000012"), Some(12));
        assert_eq!(names.number("bl.1234567"), Some(1_234_567));
        for other in ["bl.000000", "bl.12", "bl.0000012", "bl.index", "bl", "x.000001", "bl.+00001"]
        {
            assert_eq!(names.number(other), None, "{other}");
        }
        assert_eq!(names.group_id(&names.group(9)), Some(9));
        assert_eq!(names.group_id("bl.000001"), None);
    }
}
