//! The files of the corpus, recorded from MariaDB 10.11 by `tests/replication/record_corpus.py`.
//!
//! Must not change a recorded byte. A missing corpus fails a test: it does not pass for empty.

use std::fs;
use std::path::PathBuf;

/// A file of the corpus.
pub(crate) struct Recorded {
    /// Name of the recorded scenario.
    pub(crate) name: String,
    /// The binary log.
    pub(crate) log: Vec<u8>,
    /// Lines that `mariadb-binlog -vv` prints for the rows.
    #[allow(dead_code, reason = "not all tests compare texts")]
    pub(crate) rows: Vec<u8>,
    /// Rows of `SHOW BINLOG EVENTS`, recorded by `tests/replication/record_events.py`.
    #[allow(dead_code, reason = "not all tests compare texts")]
    pub(crate) events: String,
}

/// All files of the corpus with lines of rows, by name.
pub(crate) fn corpus() -> Vec<Recorded> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "binlog") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            // No tool shows the rows of an encrypted file.
            let Ok(rows) = fs::read(path.with_extension("rows")) else { continue };
            let events = fs::read_to_string(path.with_extension("events")).unwrap();
            found.push(Recorded { name, log: fs::read(&path).unwrap(), rows, events });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() > 10, "the corpus is not there");
    found
}
