//! Full-text indexes. One has three trees: K, M and P. K and M have versioned entries of rows, like
//! those of any index; what P has is true of a document for ever, so it has no versions. Must put
//! a document's words into P after its entry in M, and before the statement ends.
//!
//! ```text
//! K  clustered key                   -> ver | tag | 0 u16 | document u64      index id as it is
//! M  document u64 big-endian, clustered key -> ver | tag | 8 u16 | size       index id + 2^30
//! P  0                               -> 0 u64 | 0 u8 | numbers up to here may be given u64
//! P  1, word, first document u64 big-endian -> 0 u64 | 0 u8 | postings        index id + 2^31
//! ```
//!
//! size: words u32 | weights f64, only in lenient indexes
//!
//! *Document*: the texts of a row while they do not change, under a number that is never used
//! again. Words of documents that M does not have are garbage, which readers skip.

mod build;
mod check;
mod lists;
mod search;

pub(super) use search::NativeTextSearch;

use super::TableFiles;
use super::entry::{Action, Outcome, Writer};
use super::handle::NativeTable;
use super::value::ENTRY_AT;
use crate::btree::{Change, Decision, Hint, Tree};
use crate::page::{get_u32, get_u64};
use crate::sync::{Mutex, RwLock};
use selkie_engine::{
    EngineError, EngineResult, IndexId, StopwordList, TableDef, TextDef, TextDialect, TextSize,
};
use selkie_fulltext::{BooleanSyntax, Dialect, Rules, Size, Stopwords, Words};
use selkie_types::Value;
use std::sync::Arc;

/// Added to the id of a full-text index for the tree M.
const BY_DOCUMENT: u32 = 1 << 30;
/// Added to the id of a full-text index for the tree P.
const BY_WORD: u32 = 1 << 31;
/// The key in P with the numbers that may be given.
const NUMBERS: &[u8] = &[0];
/// First byte of keys of words in P.
const WORD: u8 = 1;
/// Numbers of documents taken from P at a time.
const STEP: u64 = 4096;
/// Version word and tag of the values in P.
const UNVERSIONED: [u8; 9] = [0; 9];
/// Bytes of words that a statement keeps before it stores them.
const MOST_BYTES: usize = 8 << 20;

/// The id of an index by that of one of its trees.
pub(crate) fn index_of(tree: IndexId) -> IndexId {
    IndexId(tree.0 & !(BY_DOCUMENT | BY_WORD))
}

/// Whether a tree has lists of documents by word, not entries of rows.
pub(crate) fn has_lists(tree: IndexId) -> bool {
    tree.0 & BY_WORD != 0
}

/// The ids of the trees K, M and P of an index.
pub(crate) fn trees_of(index: IndexId) -> [IndexId; 3] {
    [index, IndexId(index.0 | BY_DOCUMENT), IndexId(index.0 | BY_WORD)]
}

/// State that the handles of an index share.
#[derive(Default)]
pub(crate) struct TextState {
    numbers: Mutex<Numbers>,
    /// Shared by those who read lists or add to them, held alone by those who move postings from
    /// one block to another.
    lists: RwLock<()>,
}

/// Numbers of documents that were taken from P: from `next` up to, not including, `end`.
#[derive(Default)]
struct Numbers {
    next: u64,
    end: u64,
}

/// A full-text index of a table under a definition.
pub(crate) struct TextIndex {
    name: Box<str>,
    rules: Arc<Rules>,
    /// Positions of its columns.
    columns: Vec<usize>,
    by_key: Arc<Tree>,
    by_document: Arc<Tree>,
    by_word: Arc<Tree>,
    state: Arc<TextState>,
}

/// Leaf hints and words of one statement for one index.
pub(super) struct TextTools {
    by_key: Hint,
    by_document: Hint,
    words: Words,
}

fn rules_of(def: &TableDef, text: &TextDef) -> EngineResult<Rules> {
    let first = text.index.parts.first().and_then(|part| def.columns.get(part.column));
    let column = first.ok_or_else(|| {
        EngineError::Corrupt(format!(
            "index {} of table {} has no column",
            text.index.name, def.name
        ))
    })?;
    let dialect = match text.rules.dialect {
        TextDialect::Strict => Dialect::Strict,
        TextDialect::Lenient => Dialect::Lenient,
    };
    let stopwords = match &text.rules.stopwords {
        StopwordList::None => Stopwords::none(),
        StopwordList::Builtin => Stopwords::builtin(dialect),
        StopwordList::Words { collation, words } => {
            Stopwords::new(*collation, words.iter().map(|word| &word[..]))
        }
    };
    Ok(Rules {
        dialect,
        collation: column.ty.collation,
        least: text.rules.least as usize,
        most: text.rules.most as usize,
        stopwords: Arc::new(stopwords),
        syntax: BooleanSyntax::default(),
        expansion: 0,
    })
}

impl TextIndex {
    pub(super) fn new(
        files: &TableFiles,
        def: &TableDef,
        text: &TextDef,
    ) -> EngineResult<TextIndex> {
        let indexes = files.indexes.read();
        let tree = |id: IndexId| {
            indexes.get(&id).cloned().ok_or_else(|| {
                EngineError::Corrupt(format!(
                    "index {} of table {} is missing",
                    text.index.name, def.name
                ))
            })
        };
        let [by_key, by_document, by_word] = trees_of(text.index.id);
        Ok(TextIndex {
            name: text.index.name.clone(),
            rules: Arc::new(rules_of(def, text)?),
            columns: text.index.parts.iter().map(|part| part.column).collect(),
            by_key: tree(by_key)?,
            by_document: tree(by_document)?,
            by_word: tree(by_word)?,
            state: files.text(text.index.id),
        })
    }

    pub(super) fn tools(&self) -> TextTools {
        let words = Words::new(self.rules.clone());
        TextTools { by_key: Hint::default(), by_document: Hint::default(), words }
    }

    /// Whether documents have sizes, and are found before they are committed.
    fn is_lenient(&self) -> bool {
        self.rules.dialect == Dialect::Lenient
    }

    fn corrupt(&self, what: &str) -> EngineError {
        let file = self.by_word.file.0;
        EngineError::Corrupt(format!("full-text index {} in file {file} {what}", self.name))
    }

    /// The number of a new document.
    fn number(&self) -> EngineResult<u64> {
        let mut numbers = self.state.numbers.lock();
        if numbers.next == numbers.end {
            let (mut start, mut end) = (0, 0);
            let write = |found: Option<&[u8]>, change: &mut Change| {
                start = found.map_or(1, |value| get_u64(value, UNVERSIONED.len())).max(1);
                end = start + STEP;
                change.value.extend_from_slice(&UNVERSIONED);
                change.value.extend_from_slice(&end.to_le_bytes());
                Decision::Put
            };
            let len = UNVERSIONED.len() + 8;
            self.by_word.write(NUMBERS, len, false, &mut Hint::default(), &|_| false, write)?;
            *numbers = Numbers { next: start, end };
        }
        numbers.next += 1;
        Ok(numbers.next - 1)
    }

    /// Adds the document of a new row.
    fn insert(
        &self,
        writer: &Writer<'_>,
        tools: &mut TextTools,
        row: (&[u8], &[Value]),
    ) -> EngineResult<()> {
        self.put(writer, tools, row, |body| Action::Insert { body, auto: None }).map(drop)
    }

    /// Adds the new document of a row that has one.
    fn replace(
        &self,
        writer: &Writer<'_>,
        tools: &mut TextTools,
        row: (&[u8], &[Value]),
    ) -> EngineResult<()> {
        let before = self.put(writer, tools, row, |body| Action::Update { body, auto: None })?;
        self.forget(writer, tools, get_u64(&before, ENTRY_AT), row.0)
    }

    /// Adds a document: the texts of a row with a clustered key. Returns the value that K had.
    fn put(
        &self,
        writer: &Writer<'_>,
        tools: &mut TextTools,
        (key, texts): (&[u8], &[Value]),
        action: impl Fn(&[u8]) -> Action<'_>,
    ) -> EngineResult<Vec<u8>> {
        let document = self.number()?;
        let texts: Vec<&[u8]> = texts.iter().map(text_of).collect();
        let size = tools.words.add(document, &texts);
        let mut body = vec![0, 0, 0];
        body.extend_from_slice(&document.to_le_bytes());
        let action = action(&body);
        let Outcome::Done(before) =
            writer.change(&self.by_key, &mut tools.by_key, key, action, None)?
        else {
            return Err(self.corrupt("does not agree with the rows"));
        };
        let body = document_body(size);
        let action = Action::Insert { body: &body, auto: None };
        let entry = document_key(document, key);
        let (tree, hint) = (&self.by_document, &mut tools.by_document);
        let Outcome::Done(_) = writer.change(tree, hint, &entry, action, None)? else {
            return Err(self.corrupt("has a document twice"));
        };
        Ok(before)
    }

    /// Marks the entry of a document in M.
    fn forget(
        &self,
        writer: &Writer<'_>,
        tools: &mut TextTools,
        document: u64,
        key: &[u8],
    ) -> EngineResult<()> {
        let entry = document_key(document, key);
        let (tree, hint) = (&self.by_document, &mut tools.by_document);
        match writer.change(tree, hint, &entry, Action::Delete, None)? {
            Outcome::Done(_) => Ok(()),
            _ => Err(self.corrupt("lacks a document")),
        }
    }

    fn remove(&self, writer: &Writer<'_>, tools: &mut TextTools, key: &[u8]) -> EngineResult<()> {
        let outcome = writer.change(&self.by_key, &mut tools.by_key, key, Action::Delete, None)?;
        let Outcome::Done(before) = outcome else {
            return Err(self.corrupt("lacks the document of a row"));
        };
        self.forget(writer, tools, get_u64(&before, ENTRY_AT), key)
    }

    fn texts(&self, def: &TableDef, row: &[u8]) -> EngineResult<Vec<Value>> {
        let texts = self.columns.iter().map(|column| def.layout.value(row, *column));
        Ok(texts.collect::<Result<_, _>>()?)
    }
}

fn document_key(document: u64, clustered: &[u8]) -> Vec<u8> {
    [&document.to_be_bytes(), clustered].concat()
}

/// The value of a document in M, behind the version word.
fn document_body(size: Option<Size>) -> Vec<u8> {
    let mut body = vec![0, 8, 0];
    if let Some(size) = size {
        body.extend_from_slice(&size.words.to_le_bytes());
        body.extend_from_slice(&size.weights.to_le_bytes());
    }
    body
}

/// The size in a value of M; one without words in a strict index.
fn size_of(value: &[u8]) -> TextSize {
    if value.len() < ENTRY_AT + 12 {
        return TextSize::default();
    }
    let words = get_u32(value, ENTRY_AT);
    TextSize { words, weights: f64::from_bits(get_u64(value, ENTRY_AT + 4)) }
}

fn text_of(value: &Value) -> &[u8] {
    match value {
        Value::Bytes(text) => text,
        _ => &[],
    }
}

impl NativeTable {
    /// Adds the document of a new row to every full-text index.
    pub(super) fn insert_texts(
        &self,
        writer: &Writer<'_>,
        tools: &mut [TextTools],
        key: &[u8],
        row: &[u8],
    ) -> EngineResult<()> {
        for (index, tools) in self.texts.iter().zip(tools) {
            let texts = index.texts(&self.def, row)?;
            index.insert(writer, tools, (key, &texts))?;
        }
        Ok(())
    }

    /// Removes the document of a row from every full-text index.
    pub(super) fn delete_texts(
        &self,
        writer: &Writer<'_>,
        tools: &mut [TextTools],
        key: &[u8],
    ) -> EngineResult<()> {
        let mut each = self.texts.iter().zip(tools);
        each.try_for_each(|(index, tools)| index.remove(writer, tools, key))
    }

    /// Gives a row a new document where its texts, or its clustered key, have changed.
    pub(super) fn update_texts(
        &self,
        writer: &Writer<'_>,
        tools: &mut [TextTools],
        (old_key, old): (&[u8], &[u8]),
        (key, row): (&[u8], &[u8]),
    ) -> EngineResult<()> {
        for (index, tools) in self.texts.iter().zip(tools) {
            let texts = index.texts(&self.def, row)?;
            if old_key != key {
                index.remove(writer, tools, old_key)?;
                index.insert(writer, tools, (key, &texts))?;
            } else if texts != index.texts(&self.def, old)? {
                index.replace(writer, tools, (key, &texts))?;
            }
        }
        Ok(())
    }

    /// Stores the words of new documents if there are many.
    pub(super) fn store_many_words(
        &self,
        writer: &Writer<'_>,
        tools: &mut [TextTools],
    ) -> EngineResult<()> {
        let each = self.texts.iter().zip(tools);
        let mut many = each.filter(|(_, tools)| tools.words.bytes() > MOST_BYTES);
        many.try_for_each(|(index, tools)| index.store(writer.context, &mut tools.words))
    }

    /// Stores the words of the rows before a failure too, because they stay; if that fails, all are
    /// undone. `outcome` is that of the changes.
    pub(super) fn end_words<T>(
        &self,
        writer: &Writer<'_>,
        tools: &mut [TextTools],
        outcome: EngineResult<T>,
    ) -> EngineResult<T> {
        if matches!(outcome, Err(EngineError::Deadlock)) {
            return outcome;
        }
        let mut each = self.texts.iter().zip(tools);
        each.try_for_each(|(index, tools)| index.store(writer.context, &mut tools.words))?;
        outcome
    }
}
