//! Searches in the full-text indexes of a table. An engine gives lists of documents that a
//! transaction finds; their ranks are not its business.

use selkie_types::ByteRows;

use crate::EngineResult;

/// Documents of a word in order, each with the number of its occurrences.
pub type TextList<'l> = &'l [(u64, u32)];

/// Words by their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedWords<'k> {
    /// The word with this key.
    Whole(&'k [u8]),
    /// All words whose keys begin so.
    Begun(&'k [u8]),
}

/// Size of a document, which ranks in lenient indexes depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextSize {
    /// Number of different words.
    pub words: u32,
    /// Sum of the weights of their occurrences.
    pub weights: f64,
}

/// A search in a full-text index, with one view of it.
///
/// A document is found if the transaction sees it. In a strict index it must be committed too, and
/// not changed by the transaction.
pub trait TextSearch {
    /// Number of rows of the table.
    fn documents(&self) -> u64;

    /// Calls `each` with the wanted words, by their keys and in order, and their documents.
    fn lists(
        &mut self,
        wanted: WantedWords<'_>,
        each: &mut dyn FnMut(&[u8], TextList<'_>),
    ) -> EngineResult<()>;

    /// Appends the clustered keys of found documents, which are in order; an empty one for a
    /// document that is gone.
    fn keys(&mut self, documents: &[u64], out: &mut ByteRows) -> EngineResult<()>;

    /// The same, with the sizes of documents of a lenient index.
    fn sizes(
        &mut self,
        documents: &[u64],
        keys: &mut ByteRows,
        out: &mut Vec<TextSize>,
    ) -> EngineResult<()>;
}
