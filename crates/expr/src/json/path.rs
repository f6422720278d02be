//! JSON paths: `$.name[0].*`, `$**.name`.

use super::Json;

/// A step from a value to values inside it.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Member(Vec<u8>),
    AnyMember,
    Item(i64),
    AnyItem,
    /// The value itself and all values below it.
    Descend,
}

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

impl Path {
    /// The path of a text; the position of the first error otherwise.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, usize> {
        let mut at = text.iter().position(|b| *b != b' ').unwrap_or(text.len());
        if text.get(at) != Some(&b'$') {
            return Err(at + 1);
        }
        at += 1;
        let mut steps = Vec::new();
        while at < text.len() {
            let (step, next) = Self::step(text, at).ok_or(at + 1)?;
            steps.push(step);
            at = next;
        }
        Ok(Self { steps })
    }

    fn step(text: &[u8], at: usize) -> Option<(Step, usize)> {
        match &text[at..] {
            [b'*', b'*', ..] => Some((Step::Descend, at + 2)),
            [b'.', b'*', ..] => Some((Step::AnyMember, at + 2)),
            [b'.', b'"', ..] => {
                let end = at + 2 + text[at + 2..].iter().position(|b| *b == b'"')?;
                Some((Step::Member(text[at + 2..end].to_vec()), end + 1))
            }
            [b'.', rest @ ..] => {
                let end = rest.iter().position(|b| matches!(b, b'.' | b'[' | b'*'));
                let name = &rest[..end.unwrap_or(rest.len())];
                (!name.is_empty()).then(|| (Step::Member(name.to_vec()), at + 1 + name.len()))
            }
            [b'[', rest @ ..] => {
                let end = rest.iter().position(|b| *b == b']')?;
                let inside = std::str::from_utf8(&rest[..end]).ok()?.trim();
                let step = if inside == "*" {
                    Step::AnyItem
                } else if let Some(from_end) = inside.strip_prefix("last") {
                    let n = from_end
                        .trim()
                        .strip_prefix('-')
                        .map_or(Some(0), |n| n.trim().parse().ok());
                    Step::Item(-1 - n?)
                } else {
                    Step::Item(inside.parse().ok()?)
                };
                Some((step, at + end + 2))
            }
            _ => None,
        }
    }

    /// Whether the path can lead to several values.
    pub(crate) fn is_wild(&self) -> bool {
        self.steps.iter().any(|s| matches!(s, Step::AnyMember | Step::AnyItem | Step::Descend))
    }

    /// The values the path leads to, in the order of the document.
    pub(crate) fn find<'j>(&self, root: &'j Json) -> Vec<&'j Json> {
        let mut found = vec![root];
        for step in &self.steps {
            found = found.into_iter().flat_map(|v| follow(v, step)).collect();
        }
        found
    }

    /// The place the path leads to; a missing last member or item is added if `add`.
    pub(crate) fn find_mut<'j>(&self, root: &'j mut Json, add: bool) -> Option<&'j mut Json> {
        let mut here = root;
        for (at, step) in self.steps.iter().enumerate() {
            let last = at + 1 == self.steps.len();
            here = match (step, here) {
                (Step::Member(name), Json::Object(members)) => {
                    match members.iter().position(|(n, _)| n == name) {
                        Some(i) => &mut members[i].1,
                        None if add && last => {
                            members.push((name.clone(), Json::Null));
                            &mut members.last_mut()?.1
                        }
                        None => return None,
                    }
                }
                (Step::Item(n), Json::Array(items)) => match index(*n, items.len()) {
                    Some(i) if i < items.len() => &mut items[i],
                    Some(_) if add && last => {
                        items.push(Json::Null);
                        items.last_mut()?
                    }
                    _ => return None,
                },
                (Step::Item(0 | -1), other) => other,
                _ => return None,
            };
        }
        Some(here)
    }

    /// Removes the value the path leads to.
    pub(crate) fn remove(&self, root: &mut Json) {
        let Some((last, parents)) = self.steps.split_last() else { return };
        let parent = Self { steps: parents.to_vec() };
        match (last, parent.find_mut(root, false)) {
            (Step::Member(name), Some(Json::Object(members))) => members.retain(|(n, _)| n != name),
            (Step::Item(n), Some(Json::Array(items))) => {
                if let Some(i) = index(*n, items.len()).filter(|i| *i < items.len()) {
                    items.remove(i);
                }
            }
            _ => {}
        }
    }
}

fn index(n: i64, len: usize) -> Option<usize> {
    let n = if n < 0 { len as i64 + n } else { n };
    usize::try_from(n).ok()
}

fn follow<'j>(value: &'j Json, step: &Step) -> Vec<&'j Json> {
    match (step, value) {
        (Step::Member(name), Json::Object(members)) => {
            members.iter().filter(|(n, _)| n == name).map(|(_, v)| v).take(1).collect()
        }
        (Step::AnyMember, Json::Object(members)) => members.iter().map(|(_, v)| v).collect(),
        (Step::Item(n), Json::Array(items)) => {
            index(*n, items.len()).and_then(|i| items.get(i)).into_iter().collect()
        }
        (Step::Item(0 | -1), other) => vec![other],
        (Step::AnyItem, Json::Array(items)) => items.iter().collect(),
        (Step::Descend, value) => {
            let mut all = vec![value];
            let below: Vec<&Json> = match value {
                Json::Array(items) => items.iter().collect(),
                Json::Object(members) => members.iter().map(|(_, v)| v).collect(),
                _ => Vec::new(),
            };
            all.extend(below.into_iter().flat_map(|v| follow(v, step)));
            all
        }
        _ => Vec::new(),
    }
}
