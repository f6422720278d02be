//! Measures that may only shrink: anything over a limit must be listed in `ratchet.txt`, with a
//! size it may not exceed.
//!
//! Must not measure; callers do.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const RATCHET: &str = "crates/tidy/ratchet.txt";

/// Something over the limit of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    /// One word for the thing that is counted, so that a name may be over several limits.
    pub(crate) unit: &'static str,
    /// A file, a function of a file, or a crate.
    pub(crate) what: String,
    pub(crate) size: usize,
}

/// Compares everything over a limit with the list; `update` writes the list again instead.
pub(crate) fn check(root: &Path, found: &[Excess], update: bool) -> Vec<String> {
    let path = root.join(RATCHET);
    if update {
        return fs::write(&path, written(found)).err().map(|e| e.to_string()).into_iter().collect();
    }
    beyond(found, &fs::read_to_string(&path).unwrap_or_default())
}

/// The list of everything over a limit. Equal names keep the largest size.
fn written(found: &[Excess]) -> String {
    let mut largest = BTreeMap::new();
    for excess in found {
        let size = largest.entry((excess.unit, &excess.what)).or_insert(0);
        *size = excess.size.max(*size);
    }
    largest.iter().map(|((unit, what), size)| format!("{size} {unit} {what}\n")).collect()
}

/// Findings: entries that are not in the list, or larger than listed.
fn beyond(found: &[Excess], list: &str) -> Vec<String> {
    let entry = |line: &str| {
        let (size, name) = line.split_once(' ')?;
        Some((name.to_owned(), size.parse::<usize>().ok()?))
    };
    let allowed: BTreeMap<_, _> = list.lines().filter_map(entry).collect();
    let is_allowed = |excess: &&Excess| {
        let name = format!("{} {}", excess.unit, excess.what);
        allowed.get(&name).is_some_and(|most| excess.size <= *most)
    };
    let over = found.iter().filter(|excess| !is_allowed(excess));
    over.map(|Excess { unit, what, size }| format!("{what}: {size} {unit}, over the limit"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grew_or_is_new_is_found() {
        let excess = |what: &str, size| Excess { unit: "lines", what: what.to_owned(), size };
        let list = written(&[excess("a.rs", 900), excess("b.rs", 850), excess("b.rs", 820)]);
        assert_eq!(list, "900 lines a.rs\n850 lines b.rs\n");
        assert!(beyond(&[excess("a.rs", 900), excess("b.rs", 810)], &list).is_empty());
        let found = beyond(&[excess("a.rs", 901), excess("c.rs", 801)], &list);
        let expected = ["a.rs: 901 lines, over the limit", "c.rs: 801 lines, over the limit"];
        assert_eq!(found, expected);
        let other = Excess { unit: "fields", what: "a.rs".to_owned(), size: 20 };
        assert_eq!(beyond(&[other], &list).len(), 1);
    }
}
