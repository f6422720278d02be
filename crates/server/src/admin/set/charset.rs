//! SET NAMES and SET CHARACTER SET.
//!
//! Must not convert anything: it only sets variables.

use selkie_types::error::catalogue::*;
use selkie_types::{Charset, CollationId, SqlError, SqlResult};

use crate::session::Shared;
use crate::variables::{VarValue, ids};

pub(super) fn set_names(
    shared: &Shared,
    charset: Option<&str>,
    collation: Option<&str>,
) -> SqlResult<()> {
    let charset = match charset {
        Some(name) => known_charset(name)?,
        None => default_charset(shared),
    };
    let collation = match collation {
        Some(name) => {
            let Some(found) = CollationId::resolve(name, charset) else {
                // A short name, for collations that only Unicode's character sets have.
                return Err(match CollationId::resolve(name, Charset::Utf8mb4) {
                    Some(_) => {
                        SqlError::new(&ER_COLLATION_CHARSET_MISMATCH, &[&name, &charset.name()])
                    }
                    None => SqlError::new(&ER_UNKNOWN_COLLATION, &[&name]),
                });
            };
            if found.charset() != charset {
                let (collation, charset) = (found.name(), charset.name());
                return Err(SqlError::new(&ER_COLLATION_CHARSET_MISMATCH, &[&collation, &charset]));
            }
            found
        }
        None => charset.default_collation(),
    };
    check_client_charset(charset)?;
    let name = VarValue::text(charset.name());
    shared.announce(collation);
    // Compat: session tracking reports the variables in this order.
    shared.set_var(ids().character_set_client, name.clone());
    shared.set_var(ids().character_set_connection, name.clone());
    shared.set_var(ids().character_set_results, name);
    shared.set_var(ids().collation_connection, VarValue::text(collation.name()));
    Ok(())
}

/// SET CHARACTER SET: sets the client and results to the named character set, the connection to
/// that of the database.
pub(super) fn set_character_set(shared: &Shared, charset: Option<&str>) -> SqlResult<()> {
    let charset = match charset {
        Some(name) => known_charset(name)?,
        None => default_charset(shared),
    };
    check_client_charset(charset)?;
    let name = VarValue::text(charset.name());
    shared.announce(charset.default_collation());
    shared.set_var(ids().character_set_client, name.clone());
    shared.set_var(ids().character_set_results, name);
    shared.set_var(ids().character_set_connection, shared.var(ids().character_set_database));
    shared.set_var(ids().collation_connection, shared.var(ids().collation_database));
    Ok(())
}

fn default_charset(shared: &Shared) -> Charset {
    let name = shared.server.globals.get(ids().character_set_client);
    Charset::from_name(name.as_str()).unwrap_or(Charset::Utf8mb4)
}

fn known_charset(name: &str) -> SqlResult<Charset> {
    Charset::from_name(name).ok_or_else(|| SqlError::new(&ER_UNKNOWN_CHARACTER_SET, &[&name]))
}

fn check_client_charset(charset: Charset) -> SqlResult<()> {
    let name = charset.name();
    match charset.min_len() == 1 {
        true => Ok(()),
        false => Err(SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&"character_set_client", &name])),
    }
}
