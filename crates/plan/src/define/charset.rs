//! CHARACTER SET and COLLATE clauses.

use selkie_sql::ast::{CharsetName, SchemaOption};
use selkie_types::error::catalogue::{
    ER_COLLATION_CHARSET_MISMATCH, ER_UNKNOWN_CHARACTER_SET, ER_UNKNOWN_COLLATION,
};
use selkie_types::{Charset, CollationId, SqlError, SqlResult};

/// The charset called `name`, or error 1115.
pub(super) fn charset_named(name: &str) -> SqlResult<Charset> {
    Charset::from_name(name).ok_or_else(|| SqlError::new(&ER_UNKNOWN_CHARACTER_SET, &[&name]))
}

/// The collation called `name`, or error 1273.
pub(super) fn collation_named(name: &str) -> SqlResult<CollationId> {
    CollationId::from_name(name).ok_or_else(|| SqlError::new(&ER_UNKNOWN_COLLATION, &[&name]))
}

/// The collation of optional clauses, `default` if there are none. COLLATE must fit CHARACTER SET.
pub(super) fn resolve(
    charset: Option<&CharsetName>,
    collation: Option<&str>,
    default: CollationId,
) -> SqlResult<CollationId> {
    let charset = match charset {
        Some(CharsetName::Named(name)) => Some(charset_named(name)?),
        Some(CharsetName::Default) => Some(default.charset()),
        None => None,
    };
    let Some(name) = collation else {
        return Ok(charset.map_or(default, Charset::default_collation));
    };
    let collation = collation_named(name)?;
    match charset {
        Some(charset) if collation.charset() != charset => {
            let arguments: [&dyn std::fmt::Display; 2] = [&collation.name(), &charset.name()];
            Err(SqlError::new(&ER_COLLATION_CHARSET_MISMATCH, &arguments))
        }
        _ => Ok(collation),
    }
}

/// What CREATE and ALTER DATABASE say of a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaCharset {
    /// Default collation.
    pub collation: CollationId,
    /// Comment, if given.
    pub comment: Option<Box<str>>,
}

/// The options of a schema whose collation is `default` unless they say otherwise.
pub fn schema_options(options: &[SchemaOption], default: CollationId) -> SqlResult<SchemaCharset> {
    let (mut charset, mut collation, mut comment) = (None, None, None);
    for option in options {
        match option {
            SchemaOption::Charset(name) => charset = Some(name),
            SchemaOption::Collate(name) => collation = Some(&**name),
            SchemaOption::Comment(text) => comment = Some(text.clone()),
        }
    }
    Ok(SchemaCharset { collation: resolve(charset, collation, default)?, comment })
}
