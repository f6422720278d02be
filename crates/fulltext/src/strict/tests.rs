//! Results seen on MariaDB: hits in the documents of `testing`.
//! Ranks are written with as many digits as tell neighbouring numbers apart.

use crate::testing::{RowOrder, Stored, hits, rules};
use crate::{Dialect, Mode, Search, SearchError, search_index};

fn search(query: &str, mode: Mode) -> Result<String, String> {
    hits(Dialect::Strict, query, mode)
}

fn boolean(query: &str) -> String {
    search(query, Mode::Boolean).unwrap_or_else(|error| error)
}

#[test]
fn operators() {
    assert_eq!(boolean("+wood.craft"), "5:1.59855795 7:1.59855795");
    assert_eq!(boolean("wood-craft"), "6:0.64261442");
    assert_eq!(boolean("~apple banana"), "0:0.95594347 2:0.95594347");
    assert_eq!(boolean("banana ~apple"), "2:0.95594347 0:0.29209247");
    assert_eq!(boolean("+(>apple <banana)"), boolean(">apple <banana"));
    assert_eq!(boolean("<apple -banana -date -123"), "1:-0.66385102");
    assert_eq!(boolean("+(apple banana) +cherry"), "2:1.91188693 3:1.29209244");
    assert_eq!(boolean("+apple +apple -banana -date -123"), "1:0.07770357");
    assert_eq!(boolean("+the +cat"), "");
    assert_eq!(boolean("+apple +(>banana cherry)"), "0:2.29209232 3:1.29209244");
    assert_eq!(boolean("+nothere +(apple) banana"), "0:1.29209244");
    assert_eq!(boolean("(banana) +apple -date -123"), "0:1.29209244 1:0.33614901");
    assert_eq!(boolean("+apple (banana) -date -123 -cherry"), "0:1.29209244 1:0.33614901");
    assert_eq!(boolean("+45 apple"), "");
    assert_eq!(boolean("+o'neil"), "12:1.63521075");
    assert_eq!(boolean("+o.neil"), "");
    assert_eq!(boolean("ap* -banana -date -123"), "1:0.33614901");
}

#[test]
fn phrases() {
    assert_eq!(boolean("\"cat the dog\""), "11:1.10052872");
    assert_eq!(boolean("\"cat dog\""), "9:1.10052872 10:1.10052872");
    assert_eq!(boolean("\"apple cherry\" @3"), "3:1.29209244");
    assert_eq!(boolean("\"cherry apple date\"@2"), "");
    assert_eq!(boolean("+\"the\" apple"), "");
    assert_eq!(boolean("+apple \"\" +banana"), "0:1.29209244");
    assert_eq!(boolean("\"the cat\"").split(' ').count(), 4);
    assert_eq!(boolean("\"cat the\""), "11:0.45791423");
    assert_eq!(boolean("\"wood craft\" app*"), "5:1.59855795");
    assert_eq!(boolean("\"wood craft\" +woo* -\"craft wood\""), "5:1.35113144 6:0.64261442");
    assert_eq!(boolean("banana* banana"), "0:0.45791423 2:0.45791423");
}

#[test]
fn errors() {
    let star = "syntax error, unexpected $end, expecting FTS_TERM or FTS_NUMB or '*'";
    assert_eq!(boolean("app**"), star);
    assert_eq!(search("*", Mode::Natural), Err(star.to_owned()));
    assert_eq!(boolean("++apple"), "syntax error, unexpected '+'");
    assert_eq!(boolean("(apple"), "syntax error, unexpected $end");
    assert_eq!(boolean("apple)"), "syntax error, unexpected ')', expecting $end");
    assert_eq!(boolean("a @2"), "syntax error, unexpected '@', expecting $end");
    assert_eq!(
        boolean("\"apple date\" @x"),
        "syntax error, unexpected FTS_TERM, expecting FTS_NUMB"
    );
}

#[test]
fn deep_nesting_ends() {
    assert_eq!(boolean(&"(".repeat(100_000)), "memory exhausted");
    let query = format!("{}date{}", "(".repeat(900), ")".repeat(900));
    assert_eq!(boolean(&query), boolean("date"));
}

#[test]
fn expansion() {
    let found = search("banana", Mode::Expansion).unwrap_or_default();
    assert!(found.starts_with("2:1.91188693 0:1.29209244 3:1.29209244 1:0.33614901"), "{found}");
    assert_eq!(search("zz", Mode::Expansion), Ok(String::new()));
}

proptest::proptest! {
    #[test]
    fn any_bytes_give_a_result(query: Vec<u8>, text: Vec<u8>) {
        for mode in [Mode::Natural, Mode::Boolean, Mode::Expansion] {
            if let Ok(mut search) = Search::new(rules(Dialect::Strict).into(), &query, mode) {
                search.add(&[&text, &query]);
                search.hits();
            }
        }
    }

    #[test]
    fn any_operators_give_a_result(query in "[-+<>()~*@\" a-c%2]{0,40}") {
        if let Ok(mut search) = Search::new(rules(Dialect::Strict).into(), query.as_bytes(), Mode::Boolean) {
            search.add(&[b"aaa bbb", b"ccc"]);
            search.hits();
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]

    #[test]
    fn an_index_gives_the_same_hits(
        texts in proptest::collection::vec("[aAbc]{2,3}( [abc]{2,4}){0,6}", 0..8),
        query in "([-+<>~]?(\\(|\"?[abc]{2,4})[*]?(\\)|\"|\"@3)? ?){1,5}",
        mode in 0..3usize,
    ) {
        let mode = [Mode::Natural, Mode::Boolean, Mode::Expansion][mode];
        let rules = std::sync::Arc::new(rules(Dialect::Strict));
        let mut stored = Stored::new(&rules, texts.clone(), RowOrder::Numbers);
        let found = search_index(&rules, query.as_bytes(), mode, &mut stored);
        match Search::new(rules, query.as_bytes(), mode) {
            Err(error) => proptest::prop_assert_eq!(found, Err(SearchError::Syntax(error))),
            Ok(mut search) => {
                texts.iter().for_each(|text| search.add(&[text.as_bytes()]));
                proptest::prop_assert_eq!(found, Ok(search.hits()));
            }
        }
    }
}
