//! The rules of `replicate_do_db` and its relatives, on lists and on random names.
//!
//! Must hold for every name: two filters with opposite rules take each table once.

use proptest::prelude::*;
use selkie_replication::replica::{BadRule, FilterRule, ReplicaFilter};

fn filter(rules: &[(FilterRule, &str)]) -> ReplicaFilter {
    let mut filter = ReplicaFilter::new(false);
    for (rule, list) in rules {
        filter.set(*rule, list).unwrap();
    }
    filter
}

fn tables(names: &[&str]) -> Vec<(String, String)> {
    let pair = |name: &&str| name.split_once('.').map(|(s, t)| (s.to_owned(), t.to_owned()));
    names.iter().filter_map(pair).collect()
}

#[test]
fn rules_about_databases() {
    let all = filter(&[]);
    assert!(all.is_empty() && all.takes_table("a", "t") && all.takes_statement("", &[]));
    let some = filter(&[(FilterRule::DoDb, "a, b"), (FilterRule::IgnoreDb, "a")]);
    assert!(some.takes_table("a", "t") && !some.takes_table("c", "t"));
    assert!(some.takes_statement("b", &[]) && some.takes_statement("", &[]));
    // The tables' databases do not count, only the default database.
    assert!(some.takes_statement("a", &tables(&["c.t"])));
    assert!(!some.takes_statement("c", &tables(&["a.t"])));
    let others = filter(&[(FilterRule::IgnoreDb, "a")]);
    assert!(!others.takes_table("a", "t") && others.takes_table("A", "t"));
    let mut folding = ReplicaFilter::new(true);
    folding.set(FilterRule::IgnoreDb, "a").unwrap();
    assert!(!folding.takes_table("A", "t"));
}

#[test]
fn the_first_table_with_a_rule_decides() {
    let rules = filter(&[(FilterRule::DoTable, "d.a"), (FilterRule::IgnoreTable, "d.b")]);
    assert!(rules.takes_statement("d", &tables(&["d.a", "d.b"])));
    assert!(!rules.takes_statement("d", &tables(&["d.b", "d.a"])));
    assert!(rules.takes_statement("d", &tables(&["d.c", "d.a"])));
    assert!(!rules.takes_statement("d", &tables(&["d.c"])));
    assert!(rules.takes_statement("d", &[]));
    let wild = filter(&[
        (FilterRule::IgnoreTable, "d.a1"),
        (FilterRule::WildDoTable, r"d.a%,e\_.x"),
        (FilterRule::WildIgnoreTable, "d.%"),
    ]);
    assert!(!wild.takes_table("d", "a1") && wild.takes_table("d", "a2"));
    assert!(!wild.takes_table("d", "b") && !wild.takes_table("f", "x"));
    assert!(wild.takes_table("e_", "x") && !wild.takes_table("ea", "x"));
}

#[test]
fn whole_databases() {
    let wild = filter(&[(FilterRule::WildDoTable, "d.%")]);
    assert!(wild.takes_database("d") && !wild.takes_database("e"));
    assert!(!filter(&[(FilterRule::WildDoTable, "d.t%")]).takes_database("d"));
    let ignored = filter(&[(FilterRule::WildIgnoreTable, "d.%")]);
    assert!(!ignored.takes_database("d") && ignored.takes_database("e"));
    assert!(filter(&[(FilterRule::DoTable, "d.t")]).takes_database("e"));
    assert!(!filter(&[(FilterRule::DoDb, "d")]).takes_database("e"));
}

#[test]
fn other_names_of_databases() {
    let rules = filter(&[(FilterRule::RewriteDb, "a -> b , b->c, a->d")]);
    assert_eq!(rules.text(FilterRule::RewriteDb), "a->b,b->c,a->d");
    assert_eq!((rules.rewritten("a"), rules.rewritten("b"), rules.rewritten("x")), ("b", "c", "x"));
    assert!(!rules.is_empty());
    let mut rules = filter(&[]);
    for bad in ["a", "->a", "a->", "a->b,c"] {
        assert_eq!(rules.set(FilterRule::RewriteDb, bad), Err(BadRule), "{bad}");
    }
    assert_eq!(rules.set(FilterRule::RewriteDb, "a->b->c"), Ok(()));
    assert_eq!(rules.rewritten("a"), "b->c");
}

#[test]
fn lists_are_read_and_shown() {
    let mut rules = filter(&[(FilterRule::DoTable, " a.b,, c.d ")]);
    assert_eq!(rules.text(FilterRule::DoTable), "a.b,c.d");
    assert_eq!(rules.set(FilterRule::DoTable, "e.f,g"), Err(BadRule));
    assert_eq!(rules.text(FilterRule::DoTable), "a.b,c.d");
    let other = filter(&[(FilterRule::DoTable, "x.y"), (FilterRule::IgnoreDb, "z")]);
    rules.complete_from(&other);
    assert_eq!(rules.text(FilterRule::DoTable), "a.b,c.d");
    assert_eq!(rules.text(FilterRule::IgnoreDb), "z");
    rules.set(FilterRule::DoTable, "").unwrap();
    rules.set(FilterRule::IgnoreDb, "").unwrap();
    assert!(rules.is_empty());
    assert_eq!(FilterRule::of("replicate_do_db"), Some(FilterRule::DoDb));
    assert_eq!(FilterRule::of("server_id"), None);
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ab]{1,2}", 0..4)
}

fn rules() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ab%_]{1,2}\\.[ab%_]{0,2}", 1..4)
}

proptest! {
    /// Of two replicas, one of which takes what the other ignores, exactly one takes each table.
    #[test]
    fn complementary_filters_split_all_tables(
        schema in "[ab]{1,2}",
        table in "[ab]{0,2}",
        databases in names(),
        tables in rules(),
    ) {
        let pairs = [
            (FilterRule::DoDb, FilterRule::IgnoreDb, databases.join(",")),
            (FilterRule::DoTable, FilterRule::IgnoreTable, tables.join(",")),
            (FilterRule::WildDoTable, FilterRule::WildIgnoreTable, tables.join(",")),
        ];
        for (takes, ignores, list) in pairs {
            let (takes, ignores) = (filter(&[(takes, &list)]), filter(&[(ignores, &list)]));
            let both = (takes.takes_table(&schema, &table), ignores.takes_table(&schema, &table));
            prop_assert!(list.is_empty() || both.0 != both.1, "{list}: {both:?}");
            let of_statement = vec![(schema.clone(), table.clone())];
            prop_assert_eq!(both.0, takes.takes_statement(&schema, &of_statement));
        }
    }
}
