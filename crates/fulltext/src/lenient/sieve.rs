//! Passing over documents that cannot be found, before they are cut into words. Must let every
//! document pass of which it is not certain: those with other characters than ASCII, and words
//! whose equals the bytes do not tell.

use selkie_types::CollationId;
use selkie_types::charset::AsciiWord;

/// Words that documents must have to be found.
#[derive(Debug, Default)]
pub(super) struct Sieve {
    /// A document has at least one of them; `None` if bytes do not tell for all of them.
    any: Option<Vec<AsciiWord>>,
    /// A document has each of them.
    each: Vec<AsciiWord>,
}

impl Sieve {
    /// A sieve for words, or starts of words: documents have one of `any` and all of `each`.
    pub(super) fn new<'w>(
        collation: CollationId,
        any: impl Iterator<Item = &'w [u8]>,
        each: impl Iterator<Item = &'w [u8]>,
    ) -> Self {
        let word = |text| AsciiWord::new(collation, text);
        Self { any: any.map(word).collect(), each: each.filter_map(word).collect() }
    }

    /// Whether a document with these texts is certainly not found.
    pub(super) fn holds_back(&self, texts: &[&[u8]]) -> bool {
        let lacks = |word: &AsciiWord| texts.iter().all(|text| word.lacks(text));
        self.each.iter().any(lacks) || self.any.as_ref().is_some_and(|any| any.iter().all(lacks))
    }
}
