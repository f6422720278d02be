//! SQL errors and conditions: the value every failing statement returns, built from the catalogue.
//!
//! Must not know where an error is sent; packets are the protocol's business.

pub mod catalogue;
mod constructors;
mod format;
mod severity;

use std::fmt;

pub use catalogue::ErrorDef;
pub use severity::Severity;

/// Result of anything that can fail with an error a client sees.
pub type SqlResult<T> = Result<T, SqlError>;

/// Longest message a client receives, in bytes.
const MAX_MESSAGE: usize = 511;

/// An error as a client sees it: number, SQLSTATE and text. One pointer wide.
#[derive(Clone, PartialEq, Eq)]
pub struct SqlError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    code: u16,
    sqlstate: [u8; 5],
    message: String,
    details: Details,
}

/// What SIGNAL says of a condition besides its text: items by SQL name.
pub type Details = Vec<(&'static str, Box<str>)>;

impl SqlError {
    /// The error `def` with its directives replaced by `args` in order.
    #[cold]
    pub fn new(def: &ErrorDef, args: &[&dyn fmt::Display]) -> Self {
        Self::raw(def.code, def.sqlstate, def.message(args))
    }

    /// The error `def` with a text that is already complete.
    #[cold]
    pub fn with_message(def: &ErrorDef, message: impl Into<String>) -> Self {
        Self::raw(def.code, def.sqlstate, message.into())
    }

    /// An error outside the catalogue (`SIGNAL`, errors received from another server).
    #[cold]
    pub fn raw(code: u16, sqlstate: [u8; 5], mut message: String) -> Self {
        if message.len() > MAX_MESSAGE {
            message.truncate(message.floor_char_boundary(MAX_MESSAGE));
        }
        Self(Box::new(Inner { code, sqlstate, message, details: Details::new() }))
    }

    /// The same error with details.
    pub fn with_details(mut self, details: Details) -> Self {
        self.0.details = details;
        self
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

    /// What the error takes down with it.
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
    /// `Error`: the statement failed with it.
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
    /// How serious it is.
    pub level: Level,
    /// The MariaDB error number.
    pub code: u16,
    /// The text.
    pub message: String,
    /// SQLSTATE.
    pub state: [u8; 5],
    /// What SIGNAL said of it.
    pub details: Details,
    /// A warning that strict modes leave one.
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

    /// A condition with a text of its own, and the SQLSTATE that belongs to its number.
    pub fn raw(level: Level, code: u16, message: String) -> Self {
        let state = catalogue::by_code(code).map_or(*b"HY000", |def| def.sqlstate);
        Self { level, code, message, state, details: Details::new(), soft: false }
    }

    /// The condition an error leaves in the list, at the given level.
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

    /// The error it is or would be.
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
