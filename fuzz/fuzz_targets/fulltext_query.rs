//! Any bytes as a full-text query, and as a document, in every mode of both dialects: a result or
//! an error of the grammar.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use selkie_fulltext::{BooleanSyntax, Dialect, Mode, Rules, Search, Stopwords};
use selkie_types::CollationId;

fuzz_target!(|input: (&[u8], &[u8])| {
    let (query, document) = input;
    for dialect in [Dialect::Strict, Dialect::Lenient] {
        let rules = Arc::new(Rules {
            dialect,
            collation: CollationId::UTF8MB4_GENERAL_CI,
            least: 1,
            most: 84,
            stopwords: Arc::new(Stopwords::builtin(dialect)),
            syntax: BooleanSyntax::default(),
            expansion: 20,
        });
        for mode in [Mode::Natural, Mode::Boolean, Mode::Expansion] {
            let Ok(mut search) = Search::new(rules.clone(), query, mode) else { continue };
            search.add(&[document, query]);
            search.add(&[query]);
            search.hits();
        }
    }
});
