//! Tables of a printed statement by their aliases.

use selkie_types::charset::identifier_eq;

/// The position of the table that `alias` names. An alias in the same case comes first: where the
/// case of names matters, `t` and `T` are two tables, and elsewhere only one of them can exist.
pub(super) fn position<'a>(
    aliases: impl Iterator<Item = &'a str> + Clone,
    alias: &str,
) -> Option<usize> {
    let exact = aliases.clone().position(|a| a == alias);
    exact.or_else(|| aliases.clone().position(|a| identifier_eq(a, alias)))
}
