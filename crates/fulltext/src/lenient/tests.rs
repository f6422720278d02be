//! Results seen on MariaDB: hits in the documents of `testing`.
//! Ranks are written with as many digits as tell neighbouring numbers apart.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::testing::{RowOrder, Stored, hits, rules};
use crate::{Dialect, Hit, Mode, Search, search_index};

fn search(query: &str, mode: Mode) -> String {
    hits(Dialect::Lenient, query, mode).expect("lenient queries are never wrong")
}

fn boolean(query: &str) -> String {
    search(query, Mode::Boolean)
}

#[test]
fn natural_language() {
    assert_eq!(
        search("apple banana", Mode::Natural),
        "0:3.09842205 2:2.09195137 1:1.01791346 13:1.01791346 14:1.01791346 3:0.99528217"
    );
    assert_eq!(
        search("apple apple", Mode::Natural),
        "1:2.03582692 13:2.03582692 14:2.03582692 0:2.01294112 3:1.99056435"
    );
    assert_eq!(
        search("date", Mode::Expansion),
        "3:9.27006626 4:6.34720564 2:2.09195137 1:1.01791346 13:1.01791346 14:1.01791346 \
         0:1.00647056"
    );
}

#[test]
fn operators() {
    assert_eq!(boolean("+wood.craft"), "5:1.33333337 6:1.00000000 7:1.33333337");
    assert_eq!(boolean("~apple banana"), "0:0.50000000 2:1.00000000");
    assert_eq!(boolean("+(apple banana) +cherry"), "2:1.00000000 3:1.00000000");
    assert_eq!(
        boolean("+(>apple <banana) -date -1234"),
        "0:1.72222221 1:1.50000000 2:0.66666669 13:1.50000000 14:1.50000000"
    );
    assert_eq!(
        boolean("+apple >>cherry"),
        "0:1.00000000 1:1.00000000 3:1.75000000 13:1.00000000 14:1.00000000"
    );
    assert_eq!(boolean("-apple"), "");
    assert_eq!(boolean("+zz wood -craft"), "6:1.00000000");
    assert_eq!(boolean("+(the) +apple"), "");
}

#[test]
fn phrases() {
    assert_eq!(boolean("\"craft wood"), "7:1.00000000");
    assert_eq!(boolean("\"wood* craft\""), "5:1.00000000");
    assert_eq!(boolean("-\"wood craft\" wood"), "6:1.00000000");
    assert_eq!(boolean("+\"\" apple"), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_give_a_result(query: Vec<u8>, text: Vec<u8>) {
        for mode in [Mode::Natural, Mode::Boolean, Mode::Expansion] {
            let search = Search::new(rules(Dialect::Lenient).into(), &query, mode);
            let mut search = search.expect("lenient queries are never wrong");
            search.add(&[&text, &query]);
            search.hits();
        }
    }

    #[test]
    fn any_operators_give_a_result(query in "[-+<>()~*@\" a-c]{0,40}") {
        let search = Search::new(rules(Dialect::Lenient).into(), query.as_bytes(), Mode::Boolean);
        let mut search = search.expect("lenient queries are never wrong");
        search.add(&[b"aaaa bbbb", b"cccc"]);
        search.hits();
    }

    /// Documents that are passed over would not have been found: none is if it has a sign beside
    /// ASCII.
    #[test]
    fn passed_over_documents_are_no_hits(
        documents in proptest::collection::vec("([Aa]pple|[bB]anana|appl|ban|cherry|the| |-){0,6}", 1..12),
        query in "([-+<>~(]?\"?([aA]pple|banana|cherry|date|ban|THE)\\*?\"?[) ]){0,4}",
        collation in "utf8mb4_(general_ci|unicode_ci|bin|turkish_ci)",
    ) {
        let collation = selkie_types::CollationId::from_name(&collation).expect("a known collation");
        for mode in [Mode::Natural, Mode::Boolean, Mode::Expansion] {
            let rules = std::sync::Arc::new(crate::Rules { collation, least: 3, ..rules(Dialect::Lenient) });
            let hits = |more: &str| {
                let mut search = Search::new(rules.clone(), query.as_bytes(), mode).expect("lenient queries are never wrong");
                documents.iter().for_each(|text| search.add(&[text.as_bytes(), more.as_bytes()]));
                search.hits()
            };
            proptest::prop_assert_eq!(hits(""), hits("\u{2014}"));
        }
    }

    /// Numbers of documents need not have the order of rows.
    #[test]
    fn an_index_gives_the_same_hits(
        texts in documents(),
        query in "([-+<>~]?(\\(|\"?(apple|date|banana|plum|the))[*]?(\\)|\"| )?){1,6}",
        reversed: bool,
    ) {
        for mode in [Mode::Natural, Mode::Boolean, Mode::Expansion] {
            compare(&texts, &query, mode, reversed)?;
        }
    }

    /// Sums of weights depend on the order of words where these differ.
    #[test]
    fn an_index_adds_weights_in_the_same_order(
        texts in documents(),
        query in "([+]?[<>]{0,3}(apple|date|banana|plum|cherry)[*]? ){3,5}",
        reversed: bool,
    ) {
        compare(&texts, &query, Mode::Boolean, reversed)?;
    }
}

fn documents() -> impl Strategy<Value = Vec<String>> {
    const WORDS: &[&str] = &["Apple", "apple", "banana", "date", "dates", "cherry", "plum", "the"];
    let text = proptest::collection::vec(proptest::sample::select(WORDS), 0..9);
    proptest::collection::vec(text.prop_map(|words| words.join(" ")), 1..12)
}

/// An error if a search in an index gives other hits than one through all documents.
fn compare(texts: &[String], query: &str, mode: Mode, reversed: bool) -> Result<(), TestCaseError> {
    let order = if reversed { RowOrder::Reversed } else { RowOrder::Numbers };
    let rules = Arc::new(crate::Rules { least: 3, expansion: 2, ..rules(Dialect::Lenient) });
    let mut stored = Stored::new(&rules, texts.to_vec(), order);
    let found = search_index(&rules, query.as_bytes(), mode, &mut stored);
    let of_row = |hit: Hit| Hit { document: stored.row(hit.document as u64), ..hit };
    let found: Vec<Hit> =
        found.expect("lenient queries are never wrong").into_iter().map(of_row).collect();
    let mut search =
        Search::new(rules, query.as_bytes(), mode).expect("lenient queries are never wrong");
    texts.iter().for_each(|text| search.add(&[text.as_bytes()]));
    prop_assert_eq!(found, search.hits());
    Ok(())
}
