//! Texts that differ in literals share a plan: whatever collation the column beside one has, and in
//! joins while the estimates for their values are alike.

#[allow(dead_code)]
mod sql;

use selkie_exec::{TextLookup, find_text_plan, keep_text_plan};
use selkie_sql::ParseOptions;

use sql::world::World;

const KEYS: [&str; 8] = [
    "VARCHAR(20) COLLATE utf8mb4_general_ci",
    "VARCHAR(20) COLLATE utf8mb4_unicode_ci",
    "VARCHAR(20) COLLATE utf8mb4_bin",
    "VARBINARY(20)",
    "VARCHAR(20) CHARACTER SET latin1",
    "VARCHAR(20) CHARACTER SET utf8mb3",
    "VARCHAR(20) CHARACTER SET ascii",
    "CHAR(20) CHARACTER SET latin1 COLLATE latin1_bin",
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

/// Number of some texts that are found by the plans that earlier ones left.
fn found(world: &mut World, texts: &[String]) -> usize {
    let (instance, session) = world.parts("a");
    let mut found = 0;
    for text in texts.iter().map(|text| text.as_bytes()) {
        match find_text_plan(instance, session, text) {
            TextLookup::Found(_) => found += 1,
            TextLookup::Unknown => {}
            TextLookup::Repeated(again) => {
                let parsed = selkie_sql::parse(text, &ParseOptions::default()).expect("a text");
                keep_text_plan(instance, session, &parsed.statement, text, again);
            }
        }
    }
    found
}

/// Tables: `p` of 400 rows, `c` with one row for most of them and 300 for one, `l` in latin1.
fn parents_and_children() -> World {
    let mut world = World::new();
    let statements = [
        "CREATE TABLE p (id INT PRIMARY KEY, n INT, KEY(n))",
        "CREATE TABLE c (id INT PRIMARY KEY, p INT, k VARCHAR(20), KEY(p), KEY(k))",
        "CREATE TABLE l (p INT, k VARCHAR(20) CHARACTER SET latin1, KEY(k))",
        "INSERT INTO l SELECT seq, CONCAT('k', seq) FROM seq_1_to_400",
        "INSERT INTO p SELECT seq, seq MOD 100 FROM seq_1_to_400",
        "INSERT INTO c SELECT seq, seq, CONCAT('k', seq MOD 7) FROM seq_1_to_400",
        "INSERT INTO c SELECT seq, 7, 'many' FROM seq_1001_to_1300",
    ];
    statements.into_iter().for_each(|text| {
        world.run("a", text).expect(text);
    });
    world
}

fn texts(form: &str, values: impl IntoIterator<Item = u32>) -> Vec<String> {
    values.into_iter().map(|value| form.replace('?', &value.to_string())).collect()
}

#[test]
fn joins_with_other_values_share_a_plan() {
    for form in [
        "SELECT p.n, c.k FROM p JOIN c ON c.p = p.id WHERE p.id = ?",
        "SELECT p.n, c.k FROM p LEFT JOIN c ON c.p = p.id AND c.k = 'k?' WHERE p.id = ?",
        "SELECT c.k, p.n FROM c, p WHERE c.p = ? AND p.id = c.id ORDER BY c.id LIMIT ?",
        "SELECT COUNT(*) FROM p INNER JOIN c ON c.p = p.id WHERE p.id IN (?, 1)",
        "SELECT p.n, l.k FROM p JOIN l ON l.p = p.id WHERE l.k = 'k?'",
        "SELECT n FROM p WHERE id = ? AND EXISTS (SELECT 1 FROM c WHERE c.p = p.id AND c.k = 'k1')",
        "SELECT n FROM p WHERE id IN (SELECT c.p FROM c WHERE c.id = ?)",
        "SELECT n, (SELECT MAX(k) FROM c WHERE c.p = p.id) FROM p WHERE id = ?",
        "SELECT n, (SELECT MAX(k) FROM c WHERE c.p = ?) AS k FROM p WHERE id = ?",
        "SELECT n FROM p WHERE id = (SELECT p FROM c WHERE id = ?)",
        "SELECT d.m, p.n FROM p JOIN (SELECT p, MAX(k) m FROM c WHERE c.p = ? GROUP BY p) d ON d.p = p.id",
    ] {
        let mut world = parents_and_children();
        assert_eq!(found(&mut world, &texts(form, 20..30)), 8, "{form}");
    }
}

#[test]
fn integers_in_quotes_share_a_plan() {
    let mut world = parents_and_children();
    for form in [
        "SELECT n FROM p WHERE id = '?'",
        "SELECT p.n, c.k FROM p JOIN c ON c.p = p.id WHERE p.id = '?' AND c.k <> 'x'",
        "UPDATE p SET n = '?' WHERE id = '?'",
        "SELECT n FROM p WHERE id IN ('?', '?')",
    ] {
        assert_eq!(found(&mut world, &texts(form, 20..30)), 8, "{form}");
    }
    // Another string needs a plan of its own.
    let form = "SELECT n FROM p WHERE n = '?x' AND id = 5";
    assert_eq!(found(&mut world, &texts(form, 20..30)), 0);
    let odd = ["'07'", "' 7'", "''", "'7.0'", "'1234567890'", "'-7'"];
    let odd = odd.map(|value| format!("SELECT n FROM p WHERE id = {value}"));
    assert_eq!(found(&mut world, &odd), 0);
}

#[test]
fn pages_of_a_list_share_a_plan() {
    let mut world = parents_and_children();
    let form = "SELECT id FROM c WHERE k = 'k1' ORDER BY id LIMIT ?, 5";
    assert_eq!(found(&mut world, &texts(form, 1..11)), 8);
}

#[test]
fn values_with_other_estimates_do_not_share_a_plan() {
    let mut world = parents_and_children();
    let form = "SELECT p.n FROM c, p WHERE c.p = ? AND p.id = c.id";
    assert_eq!(found(&mut world, &texts(form, 20..24)), 2);
    // 300 rows, then few again: the plans are kept side by side.
    assert_eq!(found(&mut world, &texts(form, [7])), 0);
    assert_eq!(found(&mut world, &texts(form, [7, 30, 7, 31])), 4);
    // Pages far behind read more rows.
    let form = "SELECT id FROM c ORDER BY k, id LIMIT ?, 5";
    assert_eq!(found(&mut world, &texts(form, [1, 2, 3])), 1);
    assert_eq!(found(&mut world, &texts(form, [300])), 0);
}

#[test]
fn ranges_of_joins_are_planned_each() {
    let mut world = parents_and_children();
    let form = "SELECT p.n FROM c JOIN p ON p.id = c.p WHERE c.id > ? AND p.n < 30";
    assert_eq!(found(&mut world, &texts(form, 20..30)), 0);
}

#[test]
fn tables_that_grow_are_planned_anew() {
    let mut world = parents_and_children();
    let form = "SELECT p.n, c.k FROM p JOIN c ON c.p = p.id WHERE p.id = ?";
    assert_eq!(found(&mut world, &texts(form, [20, 21, 22])), 1);
    world.run("a", "INSERT INTO p SELECT seq, 1 FROM seq_1001_to_9000").expect("rows");
    assert_eq!(found(&mut world, &texts(form, [23])), 0);
    assert_eq!(found(&mut world, &texts(form, [24])), 1);
}

#[test]
fn names_of_columns_have_their_literals() {
    let mut world = parents_and_children();
    for form in [
        "SELECT n, (SELECT MAX(k) FROM c WHERE c.p = ?) FROM p WHERE id = 5",
        "SELECT (SELECT k FROM c WHERE c.id = 5 LIMIT ?) FROM p WHERE id = 5",
        "SELECT * FROM (SELECT (SELECT k FROM c WHERE c.id = ?) FROM p WHERE id = 5) d",
    ] {
        assert_eq!(found(&mut world, &texts(form, 1..20)), 0, "{form}");
    }
}

#[test]
fn shapes_that_always_differ_are_given_up() {
    let mut world = parents_and_children();
    // The select list is part of the text, so each needs a statement of its own.
    let form = "SELECT p.n + ?, c.k FROM p JOIN c ON c.p = p.id WHERE p.id = 5";
    assert_eq!(found(&mut world, &texts(form, 1..40)), 0);
    // A shape that is kept asks for a plan of this text; one that is given up does not.
    let (instance, session) = world.parts("a");
    let next = form.replace('?', "40");
    assert!(matches!(find_text_plan(instance, session, next.as_bytes()), TextLookup::Unknown));
}

#[test]
fn what_estimates_do_not_know_is_planned_each() {
    let many = ["?"; 9].map(|one| format!("c.p = {one} AND c.k = 'k{one}'"));
    let many = many
        .iter()
        .enumerate()
        .map(|(at, on)| format!(" JOIN c c{at} ON {}", on.replace("c.", &format!("c{at}."))));
    for form in [
        // More ranges than are counted.
        format!(
            "SELECT p.n, c.k FROM p JOIN c ON c.p = p.id WHERE p.id IN ({})",
            ["?"; 17].join(",")
        ),
        // More estimates than are worth it.
        format!("SELECT p.n FROM p{} WHERE p.id = 5", many.collect::<String>()),
        // A value that is converted.
        "SELECT p.n, c.k FROM p JOIN c ON c.p = p.id WHERE c.k = ?".to_owned(),
        "SELECT p.n, c.k FROM p JOIN c ON c.p = p.id WHERE p.id = 'x?'".to_owned(),
        // A column that is computed.
        "SELECT p.n, c.k FROM p JOIN c ON c.p = p.id WHERE p.id + 1 = ?".to_owned(),
    ] {
        let mut world = parents_and_children();
        assert_eq!(found(&mut world, &texts(&form, 20..26)), 0, "{form}");
    }
}
