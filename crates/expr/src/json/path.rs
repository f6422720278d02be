//! JSON paths: `$.name[0].*`, `$**.name`, `$[last-1 to last]`.
//! A path never fails on a document: it leads to no, one or several values.

use selkie_meter::tick;
use selkie_types::stack;

use super::Json;

/// A step from a value to values inside it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A name as written, escapes included.
    Member(Vec<u8>),
    AnyMember,
    /// A position; if negative, from the end, where -1 is the last.
    Item(i64),
    AnyItem,
    /// A range of positions.
    Range(i64, i64),
    /// The value itself and all values below it.
    Descend,
}

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    pub(super) steps: Vec<Step>,
}

impl Path {
    /// The path that leads to the document itself.
    pub(crate) fn root() -> Self {
        Self { steps: Vec::new() }
    }

    /// The path in the form in which JSON_TABLE selects rows.
    ///
    /// Compat: of a range of positions only the first counts, and positions from the end of an
    /// array select nothing.
    pub(crate) fn of_rows(mut self) -> Self {
        for step in &mut self.steps {
            let (Step::Item(from) | Step::Range(from, _)) = *step else { continue };
            *step = Step::Item(if from < 0 { i64::MAX } else { from });
        }
        self
    }

    /// Whether the path can lead to several values.
    pub(crate) fn is_wild(&self) -> bool {
        use Step::{AnyItem, AnyMember, Descend, Range};
        self.steps.iter().any(|s| matches!(s, AnyMember | AnyItem | Descend | Range(..)))
    }

    /// Whether the path leads to the document itself.
    pub(crate) fn is_root(&self) -> bool {
        self.steps.is_empty()
    }

    /// The values the path leads to, in document order, without duplicates.
    pub(crate) fn find<'j, 'a>(&self, root: &'j Json<'a>) -> Vec<&'j Json<'a>> {
        let mut found = vec![root];
        // A step can reach a value twice only if one value lies below another.
        let mut nested = false;
        for step in &self.steps {
            nested |= *step == Step::Descend;
            let mut next: Vec<&'j Json<'a>> = Vec::new();
            found.into_iter().for_each(|value| follow(value, step, &mut next));
            found = if nested { distinct(next) } else { next };
        }
        if let [.., Step::Descend, Step::Item(0) | Step::Range(0, _)] = &self.steps[..] {
            found.extend(self.arrays_of_members(root));
        }
        if nested { in_order(root, &found) } else { found }
    }

    /// Compat: an array that is the value of a member counts as the first item of itself behind
    /// `**`.
    fn arrays_of_members<'j, 'a>(&self, root: &'j Json<'a>) -> Vec<&'j Json<'a>> {
        let above = Self { steps: self.steps[..self.steps.len() - 1].to_vec() };
        let mut arrays = Vec::new();
        for value in above.find(root) {
            let Json::Object(members, _) = value else { continue };
            let values = members.iter().map(|(_, value)| value);
            arrays.extend(values.filter(|value| matches!(value, Json::Array(..))));
        }
        arrays
    }

    /// The value the path leads to, without adding anything; the first of several.
    ///
    /// Compat: a value that is no array counts as an array of itself, but only for positions from
    /// its start.
    pub(crate) fn find_mut<'j, 'a>(&self, root: &'j mut Json<'a>) -> Option<&'j mut Json<'a>> {
        let mut here = root;
        for step in &self.steps {
            here = match (step, here) {
                (Step::Member(name), Json::Object(members, _)) => {
                    tick(members.len() * 8);
                    let named = members.iter_mut().find(|(n, _)| super::same_text(n, name));
                    named.map(|(_, value)| value)?
                }
                (Step::Item(n), Json::Array(items, _)) => {
                    let at = index(*n, items.len())?;
                    items.get_mut(at)?
                }
                (Step::Item(0), other) => other,
                _ => return None,
            };
        }
        Some(here)
    }

    /// The path without its last step, and that step.
    pub(crate) fn split_last(&self) -> Option<(Self, Last<'_>)> {
        let (last, steps) = self.steps.split_last()?;
        let last = match last {
            Step::Member(name) => Last::Member(name),
            Step::Item(n) => Last::Item(*n),
            _ => return None,
        };
        Some((Self { steps: steps.to_vec() }, last))
    }
}

/// Last step of a path without wildcards.
pub(crate) enum Last<'p> {
    /// A name as written.
    Member(&'p [u8]),
    /// A position; from the end if negative.
    Item(i64),
}

/// The position `n` of an array; `None` or a position after the end if it is not in the array.
pub(crate) fn index(n: i64, len: usize) -> Option<usize> {
    let n = if n < 0 { len as i64 + n } else { n };
    usize::try_from(n).ok()
}

/// The values below `root` that are among `found`, in the order of the document.
fn in_order<'j, 'a>(root: &'j Json<'a>, found: &[&'j Json<'a>]) -> Vec<&'j Json<'a>> {
    tick(found.len() * 32);
    let found: hashbrown::HashSet<_> = found.iter().map(|v| std::ptr::from_ref(*v)).collect();
    let mut all = Vec::new();
    descend(root, &mut all);
    all.retain(|value| found.contains(&std::ptr::from_ref(*value)));
    all
}

/// The values without duplicates.
fn distinct<'j, 'a>(found: Vec<&'j Json<'a>>) -> Vec<&'j Json<'a>> {
    tick(found.len() * 32);
    let mut seen = hashbrown::HashSet::new();
    found.into_iter().filter(|value| seen.insert(std::ptr::from_ref(*value))).collect()
}

/// Compat: a value that is no array counts as an array of itself, but only for positions from its
/// start.
fn follow<'j, 'a>(value: &'j Json<'a>, step: &Step, out: &mut Vec<&'j Json<'a>>) {
    tick(8 * (1 + value.width()));
    match (step, value) {
        (Step::Member(name), Json::Object(members, _)) => {
            let named = members.iter().filter(|(n, _)| super::same_text(n, name));
            out.extend(named.map(|(_, value)| value));
        }
        (Step::AnyMember, Json::Object(members, _)) => out.extend(members.iter().map(|(_, v)| v)),
        (Step::AnyItem, Json::Array(items, _)) => out.extend(items),
        (Step::Item(n), Json::Array(items, _)) => {
            out.extend(index(*n, items.len()).and_then(|at| items.get(at)));
        }
        (Step::Item(0), other) => out.push(other),
        (Step::Range(from, to), Json::Array(items, _)) => {
            let from = if *from < 0 { items.len() as i64 + from } else { *from };
            let to = if *to < 0 { items.len() as i64 + to } else { *to };
            let wanted = |at: usize| (from..=to).contains(&(at as i64));
            out.extend(items.iter().enumerate().filter(|(at, _)| wanted(*at)).map(|(_, v)| v));
        }
        (Step::Range(0, _), other) => out.push(other),
        (Step::Descend, value) => descend(value, out),
        _ => {}
    }
}

fn descend<'j, 'a>(value: &'j Json<'a>, out: &mut Vec<&'j Json<'a>>) {
    tick(32);
    stack::ensure();
    out.push(value);
    value.children().into_iter().for_each(|child| descend(child, out));
}
