//! Comparing names of columns, aliases and variables, which ignore letter case.
//! Shared by name resolution, the catalog and privileges.

use hashbrown::HashSet;

use crate::pace::tick;

/// Whether two identifiers are the same name in any case.
pub fn identifier_eq(a: &str, b: &str) -> bool {
    // Callers search lists of names, which clients can make long.
    tick(8);
    if a.is_ascii() && b.is_ascii() {
        return a.eq_ignore_ascii_case(b);
    }
    a.chars().flat_map(char::to_lowercase).eq(b.chars().flat_map(char::to_lowercase))
}

/// The same text for all equal identifiers: the key for maps of names.
pub fn in_one_case(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).collect()
}

/// The position of the first name that equals an earlier one.
pub fn first_duplicate<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<usize> {
    let mut seen = HashSet::new();
    names.into_iter().position(|name| !seen.insert(in_one_case(name)))
}

#[cfg(test)]
mod tests {
    use super::{first_duplicate, identifier_eq};

    #[test]
    fn duplicates_are_found_in_any_case() {
        assert_eq!(first_duplicate(["a", "b", "c"]), None);
        assert_eq!(first_duplicate(["a", "\u{d6}l", "B", "\u{f6}L", "b"]), Some(3));
    }

    #[test]
    fn names_have_no_case() {
        assert!(identifier_eq("Id", "iD"));
        assert!(identifier_eq("\u{c4}", "\u{e4}"));
        assert!(!identifier_eq("a", "b"));
    }
}
