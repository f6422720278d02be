//! Errors of applying: their texts, which of them are expected, and which are skipped.
//!
//! Must not know where in the log an event is; the applier adds that.

use selkie_exec::apply::Failure;
use selkie_replication::DecodeError;
use selkie_types::SqlError;
use selkie_types::error::catalogue::{
    self, ER_SLAVE_CONVERSION_FAILED, ER_SLAVE_RELAY_LOG_READ_FAILURE,
};

use super::options::Options;
use crate::backend::Failed;

/// Bytes of a text that SHOW SLAVE STATUS has room for.
const LONGEST: usize = 1023;

/// `slave_skip_errors`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum SkippedErrors {
    /// None.
    #[default]
    None,
    /// Every one.
    All,
    /// These.
    Listed(Vec<u16>),
}

/// Errors that `ddl_exist_errors` stands for. MariaDB does not know the word.
const EXIST_ERRORS: [u16; 10] = [1007, 1008, 1050, 1051, 1054, 1060, 1061, 1068, 1091, 1146];

impl SkippedErrors {
    /// Reads the variable: OFF, ALL, or numbers and `ddl_exist_errors`.
    pub(super) fn parse(text: &str) -> Self {
        let words = || text.split(',').map(str::trim);
        if words().any(|word| word.eq_ignore_ascii_case("all")) {
            return Self::All;
        }
        let mut listed = Vec::new();
        for word in words() {
            match word.eq_ignore_ascii_case("ddl_exist_errors") {
                true => listed.extend(EXIST_ERRORS),
                false => listed.extend(word.parse::<u16>().ok()),
            }
        }
        if listed.is_empty() { Self::None } else { Self::Listed(listed) }
    }

    /// Whether an error is skipped.
    pub(super) fn has(&self, code: u16) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Listed(codes) => codes.contains(&code),
        }
    }
}

/// Whether an error depends on what other sessions do: no replica can have it at the same place.
fn is_of_concurrency(code: u16) -> bool {
    matches!(code, 1205 | 1213 | 1614)
}

/// Whether two numbers stand for one error.
fn is_same(one: u16, other: u16) -> bool {
    let class = |code| match code {
        1022 | 1586 => 1062,
        1932 => 1146,
        code => code,
    };
    class(one) == class(other)
}

/// Whether the primary broke a statement off, so that nobody knows what it has changed.
pub(super) fn is_partial(code: u16) -> bool {
    matches!(code, 1053 | 1158 | 1160 | 1184 | 1317 | 1927)
}

/// A statement, as errors name it.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) schema: &'a str,
    pub(super) text: &'a [u8],
    /// The error it ended with on the primary.
    pub(super) expected: u16,
}

/// Verdict on a statement's end.
#[derive(Debug)]
pub(super) enum Verdict {
    /// As on the primary.
    Right,
    /// The error is skipped.
    Skipped,
    Wrong(Failed),
}

impl Named<'_> {
    /// Compares a statement's end with its end on the primary.
    pub(super) fn judge(&self, actual: Option<SqlError>, options: &Options) -> Verdict {
        let code = actual.as_ref().map_or(0, SqlError::code);
        let expected = self.expected;
        let skipped = |code: u16| code != 0 && options.skipped.has(code);
        let is_binding = expected != 0 && !is_of_concurrency(expected);
        if is_binding && !is_same(expected, code) && !skipped(code) && !skipped(expected) {
            return Verdict::Wrong(self.different(actual));
        }
        match actual {
            None => Verdict::Right,
            Some(_) if is_binding && is_same(expected, code) => Verdict::Right,
            Some(_) if skipped(code) => Verdict::Skipped,
            Some(error) => Verdict::Wrong(self.plain(error, options)),
        }
    }

    /// It fails here, and did not fail so on the primary.
    fn plain(&self, error: SqlError, options: &Options) -> Failed {
        let text = format!(
            "Error '{}' on query. Default database: '{}'. Query: '{}'",
            error.message(),
            self.schema,
            self.shown()
        );
        let is_transient = options.is_transient(error.code());
        Failed { error, text: cut(text), is_transient, shows_place: false }
    }

    /// Its errors differ. Compat: if there is an error here, it alone is told in the end.
    fn different(&self, actual: Option<SqlError>) -> Failed {
        let format = match self.expected {
            // Compat: the server shows the text it had for this number long ago.
            1062 => "Duplicate entry '%-.192T' for key %d",
            expected => catalogue::by_code(expected).map_or("", |def| def.text),
        };
        let (message, code) = match &actual {
            Some(error) => (error.message(), error.code()),
            None => ("no error", 0),
        };
        let text = format!(
            "Query caused different errors on master and slave.     Error on master: message \
             (format)='{format}' error code={} ; Error on slave: actual message='{message}', error \
             code={code}. Default database: '{}'. Query: '{}'",
            self.expected,
            self.schema,
            self.shown()
        );
        match actual {
            Some(error) => {
                tracing::error!("Slave SQL: {text}");
                let text = cut(error.message().to_owned());
                Failed { error, text, is_transient: false, shows_place: false }
            }
            None => {
                let text = cut(text);
                let error = SqlError::raw(0, *b"HY000", text.clone());
                Failed { error, text, is_transient: false, shows_place: false }
            }
        }
    }

    /// The primary has broken it off.
    pub(super) fn partial(&self) -> Failed {
        let text = format!(
            "Query partially completed on the master (error on master: {}) and was aborted. There \
             is a chance that your master is inconsistent at this point. If you are sure that your \
             master is ok, run this query manually on the slave and then restart the slave with \
             SET GLOBAL SQL_SLAVE_SKIP_COUNTER=1; START SLAVE; . Query: '{}'",
            self.expected,
            self.shown()
        );
        let text = cut(text);
        let error = SqlError::raw(self.expected, *b"HY000", text.clone());
        Failed { error, text, is_transient: false, shows_place: false }
    }

    fn shown(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.text)
    }
}

/// The text as far as there is room for it.
pub(super) fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(LONGEST));
    text
}

/// The end of a group has failed.
pub(super) fn of_commit(error: SqlError, options: &Options) -> Failed {
    let (text, is_transient) = (error.message().to_owned(), options.is_transient(error.code()));
    Failed { error, text: cut(text), is_transient, shows_place: false }
}

/// An event of rows was not applied. `event` is its name.
pub(super) fn of_rows(event: &str, failure: Failure, options: &Options) -> Failed {
    let Failure { error, table, handler } = failure;
    let message = error.message();
    let (text, shows_place) = match (&table, handler) {
        (Some((schema, name)), Some(handler)) => {
            let code = error.code();
            let text = format!(
                "Could not execute {event} event on table {schema}.{name}; {message}, Error_code: \
                 {code}; handler error {handler}"
            );
            (text, true)
        }
        _ if error.is(&ER_SLAVE_CONVERSION_FAILED) => (message.to_owned(), false),
        _ => (format!("Error executing row event: '{message}'"), false),
    };
    let is_transient = options.is_transient(error.code());
    Failed { error, text: cut(text), is_transient, shows_place }
}

/// An event's bytes make no sense.
pub(super) fn unreadable(error: &DecodeError) -> Failed {
    of_text(&error.to_string())
}

/// As [`unreadable`], for what is wrong with the event.
pub(super) fn of_text(what: &str) -> Failed {
    let error = SqlError::new(&ER_SLAVE_RELAY_LOG_READ_FAILURE, &[&what]);
    let text = error.message().to_owned();
    Failed { error, text, is_transient: false, shows_place: false }
}

#[cfg(test)]
mod tests {
    use selkie_types::error::catalogue::{ER_DUP_ENTRY, ER_NO_SUCH_TABLE};

    use super::*;

    #[test]
    fn skipped_errors_are_numbers_or_words() {
        let has = |text: &str, code| SkippedErrors::parse(text).has(code);
        assert!(!has("OFF", 1062) && !has("", 1062));
        assert!(has("all", 1062));
        assert!(has("1146, 1062", 1062) && !has("1146,1062", 1050));
        assert!(has("ddl_exist_errors,1062", 1050) && has("ddl_exist_errors,1062", 1062));
    }

    #[test]
    fn rows_have_texts_of_their_own() {
        let options = Options::default();
        let table = Some(("d".to_owned(), "t".to_owned()));
        let error = SqlError::new(&ER_DUP_ENTRY, &[&"1", &"PRIMARY"]);
        let failure = Failure { error, table, handler: Some("HA_ERR_FOUND_DUPP_KEY") };
        let failed = of_rows("Write_rows_v1", failure, &options);
        let text = "Could not execute Write_rows_v1 event on table d.t; Duplicate entry '1' for key \
                    'PRIMARY', Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY";
        assert_eq!((&*failed.text, failed.shows_place), (text, true));
        let error = SqlError::new(&ER_NO_SUCH_TABLE, &[&"d", &"t"]);
        let failed = of_rows("Table_map", Failure { error, table: None, handler: None }, &options);
        let text = "Error executing row event: 'Table 'd.t' doesn't exist'";
        assert_eq!((&*failed.text, failed.shows_place), (text, false));
    }
}
