//! Paths of server files that statements read and write, checked against `secure_file_priv`. Must
//! not open any file.

use std::path::PathBuf;

use selkie_types::error::catalogue::ER_OPTION_PREVENTS_STATEMENT;
use selkie_types::{SqlError, SqlResult};

use crate::Instance;

/// The directories in which statements may read and write files of the server.
#[derive(Clone, Debug)]
pub struct FilePlaces {
    data_dir: PathBuf,
    /// `secure_file_priv`.
    allowed: Option<PathBuf>,
}

impl FilePlaces {
    pub(crate) fn of(instance: &Instance) -> Self {
        let allowed = instance.secure_file_priv.clone();
        Self { data_dir: instance.data_dir.clone(), allowed }
    }

    /// The path of a file, checked against `secure_file_priv`.
    pub(crate) fn path(&self, name: &str) -> SqlResult<PathBuf> {
        let path = self.data_dir.join(name);
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

/// Path of a server-side file, checked against `secure_file_priv`.
pub(crate) fn server_path(instance: &Instance, name: &str) -> SqlResult<PathBuf> {
    FilePlaces::of(instance).path(name)
}
