//! Tables as engines see them: columns by type, indexes by column. Defaults, comments and
//! privileges are not here: they belong to the catalog.

use std::fmt;

use selkie_types::{CollationId, RowLayout, SqlType, Value};
use serde::{Deserialize, Serialize};

/// Permanent identity of a table: never given twice, also not after a drop or a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableId(pub u64);

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Permanent identity of an index within its table, independent of its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IndexId(pub u32);

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnDef {
    /// Name, for messages.
    pub name: Box<str>,
    /// Type.
    pub ty: SqlType,
    /// Whether NULL may be stored.
    pub nullable: bool,
}

/// Kind of an index: its promise about keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexKind {
    /// The clustered, unique, never-null key. If there is one it is at position 0.
    Primary,
    /// The primary key, unique and never null, of a table whose rows lie in insertion order. If
    /// there is one it is at position 0.
    HeapPrimary,
    /// No two rows share a key without NULLs.
    Unique,
    /// Keys may repeat.
    Plain,
    /// Words of texts: [`TextDef`].
    Fulltext,
}

impl IndexKind {
    /// Whether it is the primary key, wherever the rows lie.
    pub fn is_primary(self) -> bool {
        matches!(self, Self::Primary | Self::HeapPrimary)
    }
}

/// One part of an index key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPart {
    /// Position of the column.
    pub column: usize,
    /// Number of leading characters that are indexed (bytes of binary strings); `None`: all.
    pub prefix: Option<u32>,
    /// Descending order.
    pub descending: bool,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexDef {
    /// Stable identity.
    pub id: IndexId,
    /// Name; `PRIMARY` for the primary key.
    pub name: Box<str>,
    /// Its promise about keys.
    pub kind: IndexKind,
    /// Key parts in order.
    pub parts: Vec<IndexPart>,
    /// Keys are hashes of their parts, which may be of any length. Such an index serves uniqueness
    /// only.
    #[serde(default)]
    pub hashed: bool,
    /// The last two parts are end and start of a period: rows with equal other parts, none of them
    /// NULL, have periods that do not overlap. It is a promise of a unique index.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_overlaps: bool,
}

impl IndexDef {
    /// The parts that the index was declared with: without those of a period.
    pub fn own_parts(&self) -> &[IndexPart] {
        let period = if self.without_overlaps { 2 } else { 0 };
        &self.parts[..self.parts.len().saturating_sub(period)]
    }

    /// Whether equal non-null keys are refused.
    pub fn is_unique(&self) -> bool {
        !matches!(self.kind, IndexKind::Plain | IndexKind::Fulltext)
    }

    /// Whether a column is a part of it, uncut.
    pub fn holds(&self, column: usize) -> bool {
        self.parts.iter().any(|part| part.column == column && part.prefix.is_none())
    }
}

/// Words that a full-text index does not keep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopwordList {
    /// None.
    None,
    /// The built-in list.
    #[default]
    Builtin,
    /// A list of its own.
    Words {
        /// The collation under which words are compared with it.
        collation: CollationId,
        /// The words.
        words: Vec<Box<[u8]>>,
    },
}

/// Kind of a full-text index: what is a word, and what is kept of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextDialect {
    /// A single letter before an apostrophe is no word. Only committed documents are found.
    #[default]
    Strict,
    /// Sizes of documents are kept beside their words.
    Lenient,
}

/// Rules by which a full-text index chooses its words. They stay what they were at its creation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRules {
    /// Its kind.
    #[serde(default)]
    pub dialect: TextDialect,
    /// Least length of a word in characters.
    pub least: u32,
    /// Greatest length of a word in characters.
    pub most: u32,
    /// Words that are not kept.
    pub stopwords: StopwordList,
}

impl Default for TextRules {
    fn default() -> Self {
        let (dialect, stopwords) = (TextDialect::Strict, StopwordList::Builtin);
        Self { dialect, least: 3, most: 84, stopwords }
    }
}

/// A full-text index that the engine keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct TextDef {
    /// Identity and columns. The id is never that of another index of the table.
    pub index: IndexDef,
    /// Its rules.
    pub rules: TextRules,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDef {
    /// Stable identity.
    pub id: TableId,
    /// Database name, for messages.
    pub schema: Box<str>,
    /// Table name, for messages.
    pub name: Box<str>,
    /// Columns in stored order.
    pub columns: Vec<ColumnDef>,
    /// Indexes; a primary key is first.
    pub indexes: Vec<IndexDef>,
    /// Full-text indexes that the engine keeps.
    pub texts: Vec<TextDef>,
    /// Position of the AUTO_INCREMENT column.
    pub auto_increment: Option<usize>,
    /// A column, and its value in rows that are not of history. A key without overlaps promises
    /// nothing about rows of history.
    pub current: Option<(usize, Value)>,
    /// The stored form of rows. It follows from `columns`.
    pub layout: RowLayout,
}

impl TableDef {
    /// The layout for `columns`.
    pub fn layout_of(columns: &[ColumnDef]) -> RowLayout {
        RowLayout::new(columns.iter().map(|c| (&c.ty, c.nullable)))
    }

    /// The primary key that rows are clustered by.
    pub fn primary(&self) -> Option<&IndexDef> {
        self.indexes.first().filter(|index| index.kind == IndexKind::Primary)
    }

    /// The parts that follow an index's own in the order of its entries: those of the clustered key
    /// without the columns the index holds whole. None if the index's own parts identify its
    /// entries.
    pub fn parts_behind(&self, index: &IndexDef) -> impl Iterator<Item = &IndexPart> {
        let key = self.primary().filter(|_| !self.is_identified_by(index));
        let parts = key.map_or(&[][..], |key| &key.parts);
        parts.iter().filter(|part| !index.holds(part.column))
    }

    /// Whether no two rows can be equal in the parts of an index.
    pub fn is_identified_by(&self, index: &IndexDef) -> bool {
        index.is_unique() && index.parts.iter().all(|part| !self.columns[part.column].nullable)
    }

    /// Whether there is a primary key, wherever the rows lie.
    pub fn has_primary(&self) -> bool {
        self.indexes.first().is_some_and(|index| index.kind.is_primary())
    }

    /// Position of the index with `id`.
    pub fn index_position(&self, id: IndexId) -> Option<usize> {
        self.indexes.iter().position(|index| index.id == id)
    }
}
