//! Lookup of a table by its alias in a printed statement. Here the names are text, not the binder's
//! resolved columns.

use selkie_types::charset::identifier_eq;

/// Position of the table with the alias `alias`. An alias in the same case is preferred: if names
/// are case-sensitive, `t` and `T` are two tables; otherwise only one of them can exist.
pub(super) fn position<'a>(
    aliases: impl Iterator<Item = &'a str> + Clone,
    alias: &str,
) -> Option<usize> {
    let exact = aliases.clone().position(|a| a == alias);
    exact.or_else(|| aliases.clone().position(|a| identifier_eq(a, alias)))
}
