//! The rules by which an index chooses its words. They are the same for documents and queries, so
//! both must ask here.

use std::sync::Arc;

use selkie_types::{CollationId, key};

use crate::token::Token;
use crate::{BooleanSyntax, Stopwords};

/// Kind of a full-text index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Queries have a grammar and fail if they violate it. Documents are ranked by the frequency of
    /// words in the document and in the table, in every mode.
    Strict,
    /// A query is never wrong. Boolean queries are ranked by their structure alone.
    Lenient,
}

/// Rules of an index, and of searches in it.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Its kind.
    pub dialect: Dialect,
    /// The collation of its columns, under which words are equal or not.
    pub collation: CollationId,
    /// Least length of a word, in characters.
    pub least: usize,
    /// Greatest length of a word, in characters. Compat: lenient indexes keep shorter ones only.
    pub most: usize,
    /// Words that are not kept.
    pub stopwords: Arc<Stopwords>,
    /// Operators of lenient boolean queries.
    pub syntax: BooleanSyntax,
    /// Number of documents whose words a lenient query takes up by expansion.
    pub expansion: usize,
}

impl Rules {
    /// The key of a token: equal for tokens that are equal under the collation.
    pub(crate) fn put_key(&self, text: &[u8], out: &mut Vec<u8>) {
        out.clear();
        key::put_text(out, self.collation, text);
    }

    /// The key of a token in lower case.
    pub(crate) fn put_lower_key(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut lower = Vec::with_capacity(text.len());
        self.collation.info().lower(text, &mut lower);
        self.put_key(&lower, out);
    }

    /// The common start of the keys of all words that begin with `text`.
    pub(crate) fn prefix_key(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        key::put_text_prefix(&mut out, self.collation, text);
        out
    }

    /// Whether a token is short enough to be a word.
    pub(crate) fn is_short_enough(&self, token: Token<'_>) -> bool {
        match self.dialect {
            Dialect::Strict => token.characters <= self.most,
            Dialect::Lenient => token.characters < self.most,
        }
    }

    /// Whether a token is a word.
    pub(crate) fn is_word(&self, token: Token<'_>) -> bool {
        token.characters >= self.least
            && self.is_short_enough(token)
            && !self.stopwords.contains(token.text)
    }
}
