//! Paths of server files that statements read and write, checked against `secure_file_priv`, and
//! the directories of schemas for such files. Must not open any file.

use std::path::PathBuf;
use std::sync::Arc;

use selkie_engine::Engine;
use selkie_types::error::catalogue::ER_OPTION_PREVENTS_STATEMENT;
use selkie_types::{SqlError, SqlResult, filename};

use crate::Instance;

/// The directories in which statements may read and write files of the server.
#[derive(Clone, Debug)]
pub struct FilePlaces {
    data_dir: PathBuf,
    /// `secure_file_priv`.
    allowed: Option<PathBuf>,
}

impl FilePlaces {
    /// Relative names refer to `data_dir`. `allowed` is `secure_file_priv`: `None` allows any
    /// directory.
    pub fn new(data_dir: PathBuf, allowed: Option<PathBuf>) -> Self {
        Self { data_dir, allowed }
    }

    /// The path of a file, checked against `secure_file_priv`.
    pub(crate) fn path(&self, name: &str) -> SqlResult<PathBuf> {
        let path: PathBuf = self.data_dir.join(name).components().collect();
        let Some(allowed) = &self.allowed else { return Ok(path) };
        // An existing file may be a link to elsewhere, so the real path is checked.
        let parent = || path.parent().and_then(|p| p.canonicalize().ok());
        let real = path.canonicalize().ok().or_else(parent);
        match (real, allowed.canonicalize().ok()) {
            (Some(real), Some(allowed)) if real.starts_with(&allowed) => Ok(path),
            _ => Err(SqlError::new(&ER_OPTION_PREVENTS_STATEMENT, &[&"--secure-file-priv"])),
        }
    }
}

/// Path of a file of a statement in the schema `schema`, checked against `secure_file_priv`.
///
/// Compat: a name without a directory is that of a file in the schema's directory, which holds
/// nothing else here.
pub(crate) fn server_path(
    instance: &Instance,
    name: &str,
    schema: Option<&str>,
) -> SqlResult<PathBuf> {
    let places = &instance.places;
    match schema {
        Some(schema) if !name.contains('/') => {
            let directory = filename(schema);
            make_directory(instance, schema);
            places.path(&format!("{directory}/{name}"))
        }
        _ => places.path(name),
    }
}

/// Makes the directory of a schema, unless an engine needs a file of that name. One that cannot be
/// made is missed where a file is opened.
pub(crate) fn make_directory(instance: &Instance, schema: &str) {
    let name = filename(schema);
    let is_taken = |engine: &Arc<dyn Engine>| engine.own_files().contains(&&*name);
    if !instance.engines.iter().any(is_taken) {
        let _ = std::fs::create_dir(instance.places.data_dir.join(&*name));
    }
}

/// Removes the directory of a schema that is gone, unless it has files.
pub(crate) fn remove_directory(instance: &Instance, schema: &str) {
    let _ = std::fs::remove_dir(instance.places.data_dir.join(filename(schema)));
}
