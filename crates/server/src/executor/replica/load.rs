//! Files of LOAD DATA: the primary sends them in blocks before the statement.
//!
//! Must not outlive the session: whatever the group's end, its files are removed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use selkie_exec::ResultSink;
use selkie_plan::physical::OutputColumn;
use selkie_replication::codec::{ExecuteLoad, LoadBlock};
use selkie_types::error::catalogue::{ER_CANT_CREATE_FILE, ER_ERROR_ON_WRITE, ER_FILE_NOT_FOUND};
use selkie_types::{Batch, SqlError, SqlResult};

use super::failures;
use super::options::load_directory;
use crate::backend::Failed;
use crate::server::Server;
use crate::variables::ids;

/// Files that are here, by their numbers.
#[derive(Debug)]
pub(super) struct LoadFiles {
    directory: PathBuf,
    own_id: u64,
    files: HashMap<u32, PathBuf>,
}

impl LoadFiles {
    pub(super) fn new(server: &Server) -> Self {
        let own_id = server.globals.get(ids().server_id).as_u64();
        Self { directory: load_directory(server), own_id, files: HashMap::new() }
    }

    /// Makes a file from its first block.
    pub(super) fn begin(&mut self, primary: u32, block: &LoadBlock<'_>) -> Result<(), Failed> {
        self.remove(block.file_id);
        let name = format!("SQL_LOAD-{}-{primary}-{}.data", self.own_id, block.file_id);
        let path = self.directory.join(name);
        // One that an earlier life of the server has left.
        let _ = std::fs::remove_file(&path);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&path).map_err(|error| unmade(&path, &error))?;
        self.files.insert(block.file_id, path.clone());
        file.write_all(block.block).map_err(|error| unwritten(&path, &error))
    }

    /// Appends a block.
    pub(super) fn append(&mut self, block: &LoadBlock<'_>) -> Result<(), Failed> {
        let path = self.path(block.file_id)?;
        let opened = OpenOptions::new().append(true).open(path);
        let mut file = opened.map_err(|error| unmade(path, &error))?;
        file.write_all(block.block).map_err(|error| unwritten(path, &error))
    }

    fn path(&self, id: u32) -> Result<&Path, Failed> {
        let path = self.files.get(&id).map(PathBuf::as_path);
        path.ok_or_else(|| failures::of_text("a file for LOAD DATA that did not begin"))
    }

    /// The statement's text with the name of the file here, and the file's number.
    pub(super) fn statement(&self, load: &ExecuteLoad<'_>) -> Result<(Vec<u8>, u32), Failed> {
        let path = self.path(load.file_id)?;
        let text = load.query.text;
        let (start, end) = (load.name_start as usize, load.name_end as usize);
        let (Some(before), Some(behind)) = (text.get(..start), text.get(end.max(start)..)) else {
            return Err(failures::of_text("place of a file's name"));
        };
        let duplicates = match load.duplicates {
            1 => " IGNORE",
            2 => " REPLACE",
            _ => "",
        };
        // Quotes are doubled and backslashes not touched: the name only shows where the rows are
        // from.
        let name = path.to_string_lossy().replace('\\', "/").replace('\'', "''");
        let mut whole = before.to_vec();
        whole.extend(format!(" INFILE '{name}'{duplicates} INTO").into_bytes());
        whole.extend_from_slice(behind);
        Ok((whole, load.file_id))
    }

    /// The rows of a file.
    pub(super) fn source(&self, id: u32) -> Result<Source, Failed> {
        Ok(Source(self.path(id)?.to_owned()))
    }

    /// Removes a file.
    pub(super) fn remove(&mut self, id: u32) {
        if let Some(path) = self.files.remove(&id) {
            remove(&path);
        }
    }

    /// Removes all files.
    pub(super) fn clear(&mut self) {
        self.files.drain().for_each(|(_, path)| remove(&path));
    }
}

impl Drop for LoadFiles {
    fn drop(&mut self) {
        self.clear();
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!("{}: {error}", path.display());
    }
}

/// The number of a system's error.
fn number(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |number| number.to_string())
}

fn unmade(path: &Path, error: &io::Error) -> Failed {
    failed(SqlError::new(&ER_CANT_CREATE_FILE, &[&path.display(), &number(error)]))
}

fn unwritten(path: &Path, error: &io::Error) -> Failed {
    failed(SqlError::new(&ER_ERROR_ON_WRITE, &[&path.display(), &number(error)]))
}

fn failed(error: SqlError) -> Failed {
    let text = failures::cut(error.message().to_owned());
    Failed { error, text, is_transient: false, shows_place: false }
}

/// A sink that gives the statement its file.
#[derive(Debug)]
pub(super) struct Source(PathBuf);

impl ResultSink for Source {
    fn columns(&mut self, _: &[OutputColumn]) -> SqlResult<()> {
        Ok(())
    }

    fn batch(&mut self, _: &Batch) -> SqlResult<()> {
        Ok(())
    }

    fn has_infile(&self) -> bool {
        true
    }

    fn local_infile(&mut self, name: &str) -> SqlResult<Box<dyn Read + '_>> {
        let unread =
            |error: io::Error| SqlError::new(&ER_FILE_NOT_FOUND, &[&name, &number(&error)]);
        Ok(Box::new(File::open(&self.0).map_err(unread)?))
    }
}
