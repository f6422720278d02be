//! JSON_TABLE: the rows that paths select from a document, as cells that are not yet converted.
//!
//! Must not know the types of columns: the caller stores the cells.

use selkie_types::error::catalogue::{
    ER_JSON_BAD_CHR, ER_JSON_DEPTH, ER_JSON_EOS, ER_JSON_NOT_JSON_CHR, ER_JSON_PATH_DEPTH,
    ER_JSON_PATH_EOS, ER_JSON_PATH_SYNTAX, ER_JSON_SYNTAX,
};
use selkie_types::{SqlError, SqlResult, pace};

use crate::json::{ErrorKind, Json, JsonError, MAX_DEPTH, Path, parse, unescape, write_loose};

/// Rows selected by a path, and their columns.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonRows {
    path: Path,
    columns: Vec<JsonColumn>,
}

/// A column, or nested rows with a path of their own.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonColumn {
    /// The number of the row.
    Ordinality,
    /// The value at a path.
    Value(JsonPath),
    /// The value at a path as text, even if it is an array or an object.
    Document(JsonPath),
    /// Whether the path leads to a value.
    Exists(JsonPath),
    /// Rows inside the row.
    Nested(JsonRows),
}

/// The path of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath(Path);

/// Content of a column in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonCell {
    /// JSON null, or a column of nested rows that do not exist.
    Null,
    /// A row number, or whether a path exists.
    Number(i64),
    /// A truth value.
    Truth(bool),
    /// A scalar or a document, as text in utf8mb4.
    Text(Vec<u8>),
    /// The path leads nowhere.
    Missing,
    /// The path leads to an array or an object.
    NotScalar,
    /// The path leads to several values.
    Several,
}

fn path_error(error: JsonError) -> SqlError {
    let (argument, name, place) = (2, "JSON_TABLE", error.position);
    match error.kind {
        ErrorKind::End => SqlError::new(&ER_JSON_PATH_EOS, &[&argument, &name]),
        ErrorKind::Depth => {
            SqlError::new(&ER_JSON_PATH_DEPTH, &[&MAX_DEPTH, &argument, &name, &place])
        }
        _ => SqlError::new(&ER_JSON_PATH_SYNTAX, &[&argument, &name, &place]),
    }
}

fn document_error(error: JsonError) -> SqlError {
    let (argument, name, place) = (1, "JSON_TABLE", error.position);
    match error.kind {
        ErrorKind::BadCharacter => SqlError::new(&ER_JSON_BAD_CHR, &[&argument, &name, &place]),
        ErrorKind::NotAllowed => SqlError::new(&ER_JSON_NOT_JSON_CHR, &[&argument, &name, &place]),
        ErrorKind::End => SqlError::new(&ER_JSON_EOS, &[&argument, &name]),
        ErrorKind::Syntax => SqlError::new(&ER_JSON_SYNTAX, &[&argument, &name, &place]),
        ErrorKind::Depth => SqlError::new(&ER_JSON_DEPTH, &[&MAX_DEPTH, &argument, &name, &place]),
    }
}

impl JsonPath {
    /// Parses a path given in utf8mb4.
    pub fn parse(text: &[u8]) -> SqlResult<Self> {
        Path::parse(text).map(Self).map_err(path_error)
    }
}

impl JsonRows {
    /// Rows selected by `path`.
    pub fn new(path: JsonPath, columns: Vec<JsonColumn>) -> Self {
        Self { path: path.0.of_rows(), columns }
    }

    /// Number of columns, including those of nested rows.
    pub fn width(&self) -> usize {
        let width = |column: &JsonColumn| match column {
            JsonColumn::Nested(rows) => rows.width(),
            _ => 1,
        };
        self.columns.iter().map(width).sum()
    }

    /// The rows of a document in utf8mb4. Columns of nested rows stand at their place of
    /// definition.
    pub fn rows(&self, document: &[u8]) -> SqlResult<Vec<Vec<JsonCell>>> {
        let root = parse(document).map_err(document_error)?;
        self.rows_of(&root)
    }

    fn rows_of(&self, json: &Json<'_>) -> SqlResult<Vec<Vec<JsonCell>>> {
        let mut rows = Vec::new();
        for (row, number) in self.path.find(json).into_iter().zip(1..) {
            rows.append(&mut self.row(row, number)?);
        }
        Ok(rows)
    }

    /// The rows for one value. Sets of nested rows come one after the other; without nested rows
    /// there is one row.
    fn row(&self, json: &Json<'_>, number: i64) -> SqlResult<Vec<Vec<JsonCell>>> {
        pace::spend(self.columns.len())?;
        let mut plain = Vec::new();
        let mut nested = Vec::new();
        for column in &self.columns {
            match column {
                JsonColumn::Ordinality => plain.push(JsonCell::Number(number)),
                JsonColumn::Value(path) => plain.push(scalar(&path.0.find(json))),
                JsonColumn::Document(path) => plain.push(document(&path.0.find(json))),
                JsonColumn::Exists(path) => {
                    plain.push(JsonCell::Number((!path.0.find(json).is_empty()).into()));
                }
                JsonColumn::Nested(rows) => {
                    nested.push((plain.len(), rows.width(), rows.rows_of(json)?));
                    plain.extend(std::iter::repeat_n(JsonCell::Null, rows.width()));
                }
            }
        }
        let mut out = Vec::new();
        for (start, width, rows) in nested {
            for cells in rows {
                pace::spend(plain.len())?;
                let mut row = plain.clone();
                row.splice(start..start + width, cells);
                out.push(row);
            }
        }
        Ok(if out.is_empty() { vec![plain] } else { out })
    }
}

fn scalar(found: &[&Json<'_>]) -> JsonCell {
    match found {
        [] => JsonCell::Missing,
        [Json::Null] => JsonCell::Null,
        [Json::Bool(value)] => JsonCell::Truth(*value),
        [Json::Number(digits)] => JsonCell::Text(digits.to_vec()),
        [Json::String(inside)] => {
            let mut text = Vec::new();
            match unescape(inside, &mut text) {
                Ok(()) => JsonCell::Text(text),
                Err(_) => JsonCell::Text(inside.to_vec()),
            }
        }
        [_] => JsonCell::NotScalar,
        _ => JsonCell::Several,
    }
}

fn document(found: &[&Json<'_>]) -> JsonCell {
    match found {
        [] => JsonCell::Missing,
        [Json::Array(_, text) | Json::Object(_, text)] => JsonCell::Text(text.to_vec()),
        [json] => {
            let mut text = Vec::new();
            write_loose(&mut text, json);
            JsonCell::Text(text)
        }
        _ => JsonCell::Several,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> JsonPath {
        JsonPath::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn nested_rows() {
        let inner = JsonRows::new(
            path("$.b[*]"),
            vec![JsonColumn::Ordinality, JsonColumn::Value(path("$"))],
        );
        let columns = vec![JsonColumn::Value(path("$.a")), JsonColumn::Nested(inner)];
        let table = JsonRows::new(path("$[*]"), columns);
        let rows = table.rows(br#"[{"a": 1, "b": ["x", [2]]}, {"a": null}]"#).unwrap();
        use JsonCell::{NotScalar, Null, Number, Text};
        assert_eq!(
            rows,
            vec![
                vec![Text(b"1".to_vec()), Number(1), Text(b"x".to_vec())],
                vec![Text(b"1".to_vec()), Number(2), NotScalar],
                vec![Null, Null, Null],
            ]
        );
        assert_eq!(table.rows(b"[{").unwrap_err().code(), 4037);
    }
}
