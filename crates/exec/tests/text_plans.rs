//! Texts that differ in a literal share a plan, whatever collation the column beside it has: a
//! conversion that changes nothing must not hide that the literal is compared as it is.

#[allow(dead_code)]
mod sql;

use selkie_exec::{TextLookup, find_text_plan, keep_text_plan};
use selkie_sql::ParseOptions;

use sql::world::World;

const KEYS: [&str; 4] = [
    "VARCHAR(20) COLLATE utf8mb4_general_ci",
    "VARCHAR(20) COLLATE utf8mb4_unicode_ci",
    "VARCHAR(20) COLLATE utf8mb4_bin",
    "VARBINARY(20)",
];

/// Whether the third of some texts is found by the plan that the second one left.
fn is_shared(world: &mut World, texts: [&str; 3]) -> bool {
    let (instance, session) = world.parts("a");
    let [first, second, third] = texts.map(str::as_bytes);
    assert!(matches!(find_text_plan(instance, session, first), TextLookup::Unknown));
    let TextLookup::Repeated(again) = find_text_plan(instance, session, second) else {
        return false;
    };
    let parsed = selkie_sql::parse(second, &ParseOptions::default()).expect("a statement");
    keep_text_plan(instance, session, &parsed.statement, second, again);
    matches!(find_text_plan(instance, session, third), TextLookup::Found(_))
}

#[test]
fn a_key_of_any_collation_finds_its_plan() {
    let mut world = World::new();
    for (number, key) in KEYS.iter().enumerate() {
        let table = format!("t{number}");
        let definition = format!("CREATE TABLE {table} (k {key} PRIMARY KEY, b INT)");
        world.run("a", &definition).expect("a table");
        world.run("a", &format!("INSERT INTO {table} VALUES ('1', 1), ('2', 2)")).expect("rows");
        for statement in ["SELECT b FROM", "DELETE FROM"] {
            let texts = ["1", "2", "3"].map(|k| format!("{statement} {table} WHERE k = '{k}'"));
            assert!(is_shared(&mut world, texts.each_ref().map(|t| t.as_str())), "{}", texts[0]);
        }
        let texts = ["1", "2", "3"].map(|k| format!("UPDATE {table} SET b = 7 WHERE k = '{k}'"));
        assert!(is_shared(&mut world, texts.each_ref().map(|t| t.as_str())), "{}", texts[0]);
    }
}
