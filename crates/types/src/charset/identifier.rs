//! Comparing names of columns, aliases and variables, which have no case.

/// Whether two identifiers are the same name in any case.
pub fn identifier_eq(a: &str, b: &str) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return a.eq_ignore_ascii_case(b);
    }
    a.chars().flat_map(char::to_lowercase).eq(b.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::identifier_eq;

    #[test]
    fn names_have_no_case() {
        assert!(identifier_eq("Id", "iD"));
        assert!(identifier_eq("\u{c4}", "\u{e4}"));
        assert!(!identifier_eq("a", "b"));
    }
}
