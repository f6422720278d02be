//! SQL errors and conditions. Every statement that fails returns such an error, built from the
//! catalogue.
//!
//! Must not know where an error is sent; packets are the protocol's business.

pub mod catalogue;
mod constructors;
mod format;
mod severity;

use std::fmt;

pub use catalogue::ErrorDef;
pub use severity::Severity;

/// Result of a function that can fail with an error for the client.
pub type SqlResult<T> = Result<T, SqlError>;

/// Longest message a client receives, in bytes.
const MAX_MESSAGE: usize = 511;

/// An error for the client: number, SQLSTATE and text. One pointer wide.
#[derive(Clone, PartialEq, Eq)]
pub struct SqlError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    code: u16,
    sqlstate: [u8; 5],
    message: String,
    details: Details,
    earlier: Option<SqlError>,
    later: Option<SqlError>,
}

/// Items that SIGNAL set for a condition besides its text, by SQL name.
pub type Details = Vec<(&'static str, Box<str>)>;

impl SqlError {
    /// The error `def`; `args` replace the directives of its text in order.
    #[cold]
    pub fn new(def: &ErrorDef, args: &[&dyn fmt::Display]) -> Self {
        Self::raw(def.code, def.sqlstate, def.message(args))
    }

    /// The error `def` with a finished text.
    #[cold]
    pub fn with_message(def: &ErrorDef, message: impl Into<String>) -> Self {
        Self::raw(def.code, def.sqlstate, message.into())
    }

    /// An error outside the catalogue (from `SIGNAL` or another server).
    #[cold]
    pub fn raw(code: u16, sqlstate: [u8; 5], mut message: String) -> Self {
        if message.len() > MAX_MESSAGE {
            message.truncate(message.floor_char_boundary(MAX_MESSAGE));
        }
        Self(Box::new(Inner {
            code,
            sqlstate,
            message,
            details: Details::new(),
            earlier: None,
            later: None,
        }))
    }

    /// The same error with details.
    pub fn with_details(mut self, details: Details) -> Self {
        self.0.details = details;
        self
    }

    /// The same error, in the diagnostics area after the one that caused it.
    pub fn after(mut self, earlier: Self) -> Self {
        self.0.earlier = Some(earlier);
        self
    }

    /// The same error, in the diagnostics area before one that it explains.
    pub fn before(mut self, later: Self) -> Self {
        self.0.later = Some(later);
        self
    }

    /// The error that comes after this one in the diagnostics area.
    pub fn later(&self) -> Option<&Self> {
        self.0.later.as_ref()
    }

    /// The error that comes before this one in the diagnostics area.
    pub fn earlier(&self) -> Option<&Self> {
        self.0.earlier.as_ref()
    }

    /// The MariaDB error number.
    pub fn code(&self) -> u16 {
        self.0.code
    }

    /// The SQLSTATE as text.
    pub fn sqlstate(&self) -> &str {
        std::str::from_utf8(&self.0.sqlstate).unwrap_or("HY000")
    }

    /// The SQLSTATE as the five bytes of the error packet.
    pub fn sqlstate_bytes(&self) -> [u8; 5] {
        self.0.sqlstate
    }

    /// The text.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether this is the error `def`.
    pub fn is(&self, def: &ErrorDef) -> bool {
        self.0.code == def.code
    }

    /// The extent of the rollback that the error causes.
    pub fn severity(&self) -> Severity {
        Severity::of(self.0.code)
    }
}

impl fmt::Debug for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code(), self.sqlstate(), self.message())
    }
}

impl std::error::Error for SqlError {}

/// Level of a condition in the diagnostics area.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `Note`: shown when `sql_notes` is on.
    Note,
    /// `Warning`.
    Warning,
    /// `Error`: the error that ended the statement.
    Error,
}

impl Level {
    /// The word `SHOW WARNINGS` prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "Note",
            Self::Warning => "Warning",
            Self::Error => "Error",
        }
    }
}

/// One entry of the warnings list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Note, warning or error.
    pub level: Level,
    /// The MariaDB error number.
    pub code: u16,
    /// The text.
    pub message: String,
    /// SQLSTATE.
    pub state: [u8; 5],
    /// Items that SIGNAL set.
    pub details: Details,
    /// A warning that strict modes do not turn into an error.
    pub soft: bool,
}

impl Condition {
    /// A warning built from the catalogue.
    pub fn warning(def: &ErrorDef, args: &[&dyn fmt::Display]) -> Self {
        Self::from_error(Level::Warning, &SqlError::new(def, args))
    }

    /// A note built from the catalogue.
    pub fn note(def: &ErrorDef, args: &[&dyn fmt::Display]) -> Self {
        Self::from_error(Level::Note, &SqlError::new(def, args))
    }

    /// A condition with its own text, and the SQLSTATE of its number.
    pub fn raw(level: Level, code: u16, message: String) -> Self {
        let state = catalogue::by_code(code).map_or(*b"HY000", |def| def.sqlstate);
        Self { level, code, message, state, details: Details::new(), soft: false }
    }

    /// The condition that an error adds to the list, at the given level.
    pub fn from_error(level: Level, error: &SqlError) -> Self {
        Self {
            level,
            code: error.code(),
            message: error.message().to_owned(),
            state: error.0.sqlstate,
            details: error.0.details.clone(),
            soft: false,
        }
    }

    /// The SQLSTATE.
    pub fn sqlstate(&self) -> [u8; 5] {
        self.state
    }

    /// The condition as an error.
    pub fn to_error(&self) -> SqlError {
        SqlError::raw(self.code, self.state, self.message.clone())
            .with_details(self.details.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::catalogue::*;
    use super::*;

    #[test]
    fn one_pointer_wide() {
        assert_eq!(size_of::<SqlResult<()>>(), size_of::<usize>());
    }

    #[test]
    fn duplicate_entry() {
        let e = SqlError::new(&ER_DUP_ENTRY, &[&"7", &"PRIMARY"]);
        assert_eq!(e.to_string(), "ERROR 1062 (23000): Duplicate entry '7' for key 'PRIMARY'");
        assert!(e.is(&ER_DUP_ENTRY));
    }

    #[test]
    fn long_messages_are_cut_at_a_character() {
        let e = SqlError::with_message(&ER_UNKNOWN_ERROR, "é".repeat(400));
        assert_eq!(e.message().len(), 510);
    }

    #[test]
    fn catalogue_is_searchable() {
        assert_eq!(by_code(1064).map(|d| d.name), Some("ER_PARSE_ERROR"));
        assert_eq!(by_name("ER_BAD_FIELD_ERROR").map(|d| d.code), Some(1054));
        assert!(by_code(2000).is_none());
    }
}
