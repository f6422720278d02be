//! Answers as text, for statements whose rows are needed.
//!
//! Not for loads: there only the end of an answer is found (`response`).

use super::packet::Reader;

/// Answer to a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Names of the columns; empty without a result set.
    pub(crate) columns: Vec<String>,
    /// Values as text; `None` is NULL.
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

impl Answer {
    /// The first value, if there is one.
    pub(crate) fn value(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// An error from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerError {
    /// Number of the error.
    pub(crate) code: u16,
    /// Text of the error.
    pub(crate) message: String,
}

impl ServerError {
    /// Parses an ERR packet.
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let mut reader = Reader(payload.get(1..)?);
        let code = reader.fixed(2)? as u16;
        let text = match reader.0.first() {
            Some(b'#') => reader.0.get(6..).unwrap_or_default(),
            _ => reader.0,
        };
        Some(Self { code, message: String::from_utf8_lossy(text).into_owned() })
    }
}

/// Parses a row of the text protocol.
pub(super) fn text_row(payload: &[u8]) -> Option<Vec<Option<String>>> {
    let mut reader = Reader(payload);
    let mut row = Vec::new();
    while let Some(first) = reader.0.first() {
        if *first == 0xFB {
            reader.byte();
            row.push(None);
            continue;
        }
        let length = reader.length_encoded()? as usize;
        row.push(Some(String::from_utf8_lossy(reader.bytes(length)?).into_owned()));
    }
    Some(row)
}

/// The name in a column definition.
pub(super) fn column_name(payload: &[u8]) -> Option<String> {
    let mut reader = Reader(payload);
    // Catalog, schema, table and original table are before it.
    for _ in 0..4 {
        let length = reader.length_encoded()? as usize;
        reader.bytes(length)?;
    }
    let length = reader.length_encoded()? as usize;
    Some(String::from_utf8_lossy(reader.bytes(length)?).into_owned())
}
