//! Names of connections: in statements, in variables, in names of files.
//!
//! Must not change connections.

use std::sync::Arc;

use selkie_sql::ast::StringLiteral;
use selkie_types::error::catalogue::{ER_WRONG_ARGUMENTS, WARN_NO_MASTER_INFO};
use selkie_types::{SqlError, SqlResult};

use super::connection::Connection;
use crate::server::Server;
use crate::session::Shared;
use crate::variables::ids;

/// Longest name, in bytes.
const LONGEST: usize = 191;

/// The name of the session's connection.
pub(super) fn default_name(shared: &Shared) -> String {
    shared.var(ids().default_master_connection).as_str().to_owned()
}

/// The name that a statement says, or else the session's.
pub(super) fn said(shared: &Shared, name: Option<&StringLiteral>) -> SqlResult<String> {
    let Some(name) = name else { return Ok(default_name(shared)) };
    let name = text(name);
    match name.len() > LONGEST {
        true => Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"MASTER_CONNECTION_NAME"])),
        false => Ok(name),
    }
}

/// A text of a statement.
pub(super) fn text(literal: &StringLiteral) -> String {
    String::from_utf8_lossy(&literal.bytes).into_owned()
}

/// The connection of a name, or error 1617.
pub(super) fn find(server: &Server, name: &str) -> SqlResult<Arc<Connection>> {
    server.replica.find(name).ok_or_else(|| unknown(name))
}

/// The error for a name that no connection has.
pub(super) fn unknown(name: &str) -> SqlError {
    SqlError::new(&WARN_NO_MASTER_INFO, &[&name])
}

/// A name of a file with a connection's name before its ending. Compat: encoded as names of tables
/// are; letters outside of ASCII always by their number.
pub(crate) fn with_suffix(file: &str, connection: &str) -> String {
    if connection.is_empty() {
        return file.to_owned();
    }
    let mut encoded = String::new();
    for letter in connection.to_lowercase().encode_utf16() {
        match u8::try_from(letter).map(char::from) {
            Ok(plain) if plain.is_ascii_alphanumeric() || plain == '_' => encoded.push(plain),
            _ => encoded += &format!("@{letter:04x}"),
        }
    }
    let start = file.rfind('/').map_or(0, |slash| slash + 1);
    match file.get(start..).and_then(|name| name.rfind('.')) {
        Some(dot) => {
            let (stem, ending) = file.split_at(start + dot);
            format!("{stem}-{encoded}{ending}")
        }
        None => format!("{file}-{encoded}"),
    }
}

#[cfg(test)]
mod tests {
    use super::with_suffix;

    #[test]
    fn names_of_files() {
        assert_eq!(with_suffix("master.info", ""), "master.info");
        assert_eq!(with_suffix("master.info", "MASTER 2.2"), "master-master@00202@002e2.info");
        assert_eq!(with_suffix("a.b/master", "x_Y-1"), "a.b/master-x_y@002d1");
    }
}
