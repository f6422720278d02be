//! Spans and names.
//! Names are never resolved or folded to lower case here: both depend on catalog and settings.

use std::fmt;

use selkie_types::charset::identifier_eq;

/// Byte offsets of a piece of the statement text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span around both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The text the span covers; empty when it lies outside of `text`.
    pub fn text(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// An identifier as written, quotes removed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The name.
    pub value: Box<str>,
    /// Its position in the text.
    pub span: Span,
    /// Whether it was quoted.
    pub quoted: bool,
}

impl Ident {
    /// An unquoted identifier without a position.
    pub fn new(value: impl Into<Box<str>>) -> Self {
        Self { value: value.into(), span: Span::default(), quoted: false }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// Whether the name is `other` in any case.
    pub fn is(&self, other: &str) -> bool {
        identifier_eq(&self.value, other)
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.value)
    }
}

/// Name of a table, view, sequence or routine: `[schema.]name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableName {
    /// The schema, if given.
    pub schema: Option<Ident>,
    /// The object.
    pub name: Ident,
}

impl TableName {
    /// Position of the whole name.
    pub fn span(&self) -> Span {
        match &self.schema {
            Some(schema) => schema.span.to(self.name.span),
            None => self.name.span,
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.name),
            None => self.name.fmt(f),
        }
    }
}

/// Name of a column: `[[schema.]table.]name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnRef {
    /// The schema, if given.
    pub schema: Option<Box<Ident>>,
    /// The table or alias, if given.
    pub table: Option<Box<Ident>>,
    /// The column.
    pub name: Ident,
}

impl ColumnRef {
    /// An unqualified column.
    pub fn bare(name: Ident) -> Self {
        Self { schema: None, table: None, name }
    }
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.schema, &self.table].into_iter().flatten() {
            write!(f, "{part}.")?;
        }
        self.name.fmt(f)
    }
}
