//! Patterns of `replicate_wild_do_table`: as those of LIKE, with `\` before a sign that stands for
//! itself. Compat: letter case never counts.
//!
//! Must take time linear in pattern times name for any pattern.

use super::folded;

/// A sign of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `%`.
    Any,
    /// `_`.
    One,
    /// A letter.
    Letter(char),
}

/// Whether one of the patterns has the form of a name.
pub(super) fn any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (signs(&folded(pattern)), folded(name).chars().collect::<Vec<_>>());
    let (mut at, mut place) = (0, 0);
    // The place to go on with one letter more for the last `%`.
    let mut retry = None;
    while place < name.len() {
        match pattern.get(at) {
            Some(Sign::Any) => {
                at += 1;
                retry = Some((at, place + 1));
            }
            Some(Sign::One) => (at, place) = (at + 1, place + 1),
            Some(Sign::Letter(letter)) if name.get(place) == Some(letter) => {
                (at, place) = (at + 1, place + 1);
            }
            _ => {
                let Some((behind, next)) = retry else { return false };
                (at, place) = (behind, next);
                retry = Some((behind, next + 1));
            }
        }
    }
    pattern.iter().skip(at).all(|sign| *sign == Sign::Any)
}

fn signs(pattern: &str) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        signs.push(match letter {
            '%' => Sign::Any,
            '_' => Sign::One,
            '\\' => Sign::Letter(letters.next().unwrap_or('\\')),
            letter => Sign::Letter(letter),
        });
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn signs_of_patterns() {
        for (pattern, name, is_match) in [
            ("d.t%", "d.t1", true),
            ("d.t%", "d.t", true),
            ("d%.t_", "d1.tx", true),
            ("d%.t_", "d1.t", false),
            (r"d\_1.%", "d_1.t", true),
            (r"d\_1.%", "dx1.t", false),
            ("%.%a%b", "x.aab", true),
            ("%.%a%b", "x.aabc", false),
            ("D.T", "d.t", true),
            ("%", "anything.at.all", true),
            ("d.%", "d.", true),
            (r"d.t\", r"d.t\", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }
}
