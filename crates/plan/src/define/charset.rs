//! CHARACTER SET and COLLATE clauses of columns, tables and schemas. Several clauses may stand side
//! by side; all must agree.

use selkie_sql::ast::{CharsetName, SchemaOption};
use selkie_types::error::catalogue::{
    ER_COLLATION_CHARSET_MISMATCH, ER_CONFLICTING_DECLARATIONS, ER_UNKNOWN_CHARACTER_SET,
    ER_UNKNOWN_COLLATION,
};
use selkie_types::{Charset, CollationId, SqlError, SqlResult};

/// The character set `name`, or error 1115.
pub(super) fn charset_named(name: &str) -> SqlResult<Charset> {
    Charset::from_name(name).ok_or_else(|| SqlError::new(&ER_UNKNOWN_CHARACTER_SET, &[&name]))
}

/// The word in a COLLATE clause that names no collation.
const DEFAULT: &str = "default";

/// CHARACTER SET and COLLATE clauses, collected in the order of the text.
#[derive(Default)]
pub(super) struct Clauses<'a> {
    charset: Option<&'a CharsetName>,
    /// `BINARY`.
    binary: bool,
    /// Names in COLLATE clauses. A name may be short, to be completed by the character set.
    collations: Vec<&'a str>,
}

impl<'a> Clauses<'a> {
    /// Adds a CHARACTER SET clause; it must agree with earlier ones.
    pub(super) fn charset(&mut self, name: &'a CharsetName) -> SqlResult<()> {
        if let CharsetName::Named(name) = name {
            let new = charset_named(name)?;
            if let Some(CharsetName::Named(old)) = self.charset
                && charset_named(old)? != new
            {
                return Err(conflict("CHARACTER SET ", old, "CHARACTER SET ", name));
            }
        }
        if !matches!((self.charset, name), (Some(CharsetName::Named(_)), CharsetName::Default)) {
            self.charset = Some(name);
        }
        Ok(())
    }

    /// Adds a COLLATE clause; [`Self::resolve`] checks that all agree.
    pub(super) fn collate(&mut self, name: &'a str) {
        self.collations.push(name);
    }

    /// Adds the attribute BINARY.
    pub(super) fn binary(&mut self) {
        self.binary = true;
    }

    /// Whether there is no clause.
    pub(super) fn is_empty(&self) -> bool {
        self.charset.is_none() && self.collations.is_empty() && !self.binary
    }

    /// As [`Self::resolve_in`], for what has no default of its own yet.
    pub(super) fn resolve(&self, default: CollationId) -> SqlResult<CollationId> {
        self.resolve_in(default, default)
    }

    /// The collation of all clauses; `default` applies where there is none, and CHARACTER SET
    /// DEFAULT means that of `around`, the schema or the server. COLLATE must belong to the
    /// CHARACTER SET.
    pub(super) fn resolve_in(
        &self,
        default: CollationId,
        around: CollationId,
    ) -> SqlResult<CollationId> {
        let charset = match self.charset {
            Some(CharsetName::Named(name)) => Some(charset_named(name)?),
            Some(CharsetName::Default) => Some(around.charset()),
            None => None,
        };
        let plain = self.collations.contains(&DEFAULT);
        let Some(collation) = self.collation(charset.unwrap_or(default.charset()))? else {
            let charset = charset.or((plain || self.binary).then(|| default.charset()));
            return Ok(match charset {
                Some(charset) if self.binary => charset.bin_collation(),
                Some(charset) => charset.default_collation(),
                None => default,
            });
        };
        if let Some(charset) = charset.filter(|charset| *charset != collation.charset()) {
            let arguments: [&dyn std::fmt::Display; 2] = [&collation.name(), &charset.name()];
            return Err(SqlError::new(&ER_COLLATION_CHARSET_MISMATCH, &arguments));
        }
        if plain && !collation.is_default() {
            return Err(conflict("COLLATE ", "DEFAULT", "COLLATE ", collation.name()));
        }
        if self.binary && collation != collation.charset().bin_collation() {
            return Err(conflict("", "BINARY", "COLLATE ", collation.name()));
        }
        Ok(collation)
    }
}

impl Clauses<'_> {
    /// The collation that is named, if any; all names must mean the same one.
    fn collation(&self, charset: Charset) -> SqlResult<Option<CollationId>> {
        let mut found: Option<CollationId> = None;
        for name in self.collations.iter().filter(|name| **name != DEFAULT) {
            let new = named_collation(name, charset)?;
            if let Some(old) = found.filter(|old| *old != new) {
                return Err(conflict("COLLATE ", old.name(), "COLLATE ", new.name()));
            }
            found = Some(new);
        }
        Ok(found)
    }
}

/// The collation with this name for `charset`. Error 1273 for an unknown name, 1253 for a short
/// name that the character set has no collation for.
pub(crate) fn named_collation(name: &str, charset: Charset) -> SqlResult<CollationId> {
    CollationId::resolve(name, charset).ok_or_else(|| {
        match CollationId::resolve(name, Charset::Utf8mb4) {
            Some(_) => SqlError::new(&ER_COLLATION_CHARSET_MISMATCH, &[&name, &charset.name()]),
            None => SqlError::new(&ER_UNKNOWN_COLLATION, &[&name]),
        }
    })
}

/// Error 1302.
fn conflict(kind: &str, name: &str, other_kind: &str, other: &str) -> SqlError {
    SqlError::new(&ER_CONFLICTING_DECLARATIONS, &[&kind, &name, &other_kind, &other])
}

/// Options of CREATE and ALTER DATABASE.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaCharset {
    /// Default collation.
    pub collation: CollationId,
    /// Comment, if given.
    pub comment: Option<Box<str>>,
}

/// The options of a schema. `default` is the collation if the options have none, `around` that of
/// the server.
pub fn schema_options(
    options: &[SchemaOption],
    default: CollationId,
    around: CollationId,
) -> SqlResult<SchemaCharset> {
    let (mut clauses, mut comment) = (Clauses::default(), None);
    for option in options {
        match option {
            SchemaOption::Charset(name) => clauses.charset(name)?,
            SchemaOption::Collate(name) => clauses.collate(name),
            SchemaOption::Comment(text) => comment = Some(text.clone()),
        }
    }
    Ok(SchemaCharset { collation: clauses.resolve_in(default, around)?, comment })
}
