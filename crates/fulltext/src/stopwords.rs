//! Stopwords: words that no index keeps. A list has a collation of its own; it must not follow that
//! of the texts.

use std::sync::{Arc, LazyLock};

use hashbrown::HashSet;
use selkie_types::{CollationId, key};

use crate::Dialect;

/// The list of lenient indexes: those of its words that can be a token.
const LENIENT: &str = include_str!("../data/stopwords.txt");

/// The list of strict indexes.
const STRICT: &[&str] = &[
    "a", "about", "an", "are", "as", "at", "be", "by", "com", "de", "en", "for", "from", "how",
    "i", "in", "is", "it", "la", "of", "on", "or", "that", "the", "this", "to", "was", "what",
    "when", "where", "who", "will", "with", "und", "the", "www",
];

/// The words of the built-in list of a dialect, in the order in which they are shown. Compat: one
/// of the strict list is there twice.
pub fn builtin_stopwords(dialect: Dialect) -> Box<dyn Iterator<Item = &'static str>> {
    match dialect {
        Dialect::Strict => Box::new(STRICT.iter().copied()),
        Dialect::Lenient => Box::new(LENIENT.split_ascii_whitespace()),
    }
}

/// A list of stopwords.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopwords {
    /// Compat: the bytes of a token are compared under this collation, whatever their own is.
    collation: CollationId,
    keys: Arc<HashSet<Box<[u8]>>>,
    /// No word of the list is equal to a longer token.
    longest: usize,
}

impl Stopwords {
    /// A list of words under their collation.
    pub fn new<'w>(collation: CollationId, words: impl IntoIterator<Item = &'w [u8]>) -> Self {
        let keys = words.into_iter().map(|word| key_of(collation, word).into_boxed_slice());
        Self { collation, keys: Arc::new(keys.collect()), longest: usize::MAX }
    }

    /// The built-in list of a dialect. It is made once: every search asks for it.
    pub fn builtin(dialect: Dialect) -> Self {
        static LENIENT: LazyLock<Stopwords> = LazyLock::new(|| builtin(Dialect::Lenient));
        static STRICT: LazyLock<Stopwords> = LazyLock::new(|| builtin(Dialect::Strict));
        match dialect {
            Dialect::Lenient => LENIENT.clone(),
            Dialect::Strict => STRICT.clone(),
        }
    }

    /// No stopwords.
    pub fn none() -> Self {
        Self { collation: CollationId::BINARY, keys: Arc::default(), longest: 0 }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether a token is in the list.
    pub(crate) fn contains(&self, text: &[u8]) -> bool {
        !self.keys.is_empty()
            && text.len() <= self.longest
            && self.keys.contains(&key_of(self.collation, text)[..])
    }
}

fn builtin(dialect: Dialect) -> Stopwords {
    let collation = CollationId::from_name("latin1_swedish_ci").unwrap_or(CollationId::BINARY);
    // Under this collation a character is equal to single characters only.
    let longest = builtin_stopwords(dialect).map(str::len).max().unwrap_or(0);
    let list = Stopwords::new(collation, builtin_stopwords(dialect).map(str::as_bytes));
    Stopwords { longest, ..list }
}

fn key_of(collation: CollationId, text: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    key::put_text(&mut key, collation, text);
    key
}
