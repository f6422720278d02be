//! The truth and weight of the groups of a lenient boolean query for one document. Words that the
//! document has are told one after the other; each goes up through its groups as far as it makes
//! them true.

use super::query::{Need, Query};

/// Part of an optional member in a group that has required ones.
const OPTIONAL_PART: f32 = 3.0;

#[derive(Clone, Debug, Default)]
struct Truth {
    /// Required members that are true, or one more than required once an optional one followed.
    fulfilled: u32,
    /// Whether a forbidden member is true.
    refused: bool,
    weight: f32,
}

/// The role of a word on its way up through a group.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    As(Need),
    /// Its group was true before.
    OnlyWeight,
}

/// The state of all groups for one document.
#[derive(Debug)]
pub(super) struct Climb {
    groups: Vec<Truth>,
}

impl Climb {
    pub(super) fn new(query: &Query) -> Self {
        Self { groups: vec![Truth::default(); query.groups.len()] }
    }

    /// Tells that the document has a word of the query. `has_phrase` says whether it has the phrase
    /// of a group.
    pub(super) fn tell(&mut self, query: &Query, word: usize, has_phrase: &dyn Fn(usize) -> bool) {
        let word = &query.words[word];
        let (mut role, mut weight) = (Role::As(word.need), word.weight);
        let mut next = Some(word.group);
        while let Some(at) = next {
            let (group, truth) = (&query.groups[at], &mut self.groups[at]);
            next = group.outer;
            if truth.refused {
                return;
            }
            match role {
                Role::As(Need::Forbidden) => {
                    truth.refused = true;
                    return;
                }
                Role::As(Need::Required) => {
                    truth.weight += weight / group.required as f32;
                    truth.fulfilled += 1;
                    if truth.fulfilled != group.required {
                        return;
                    }
                    role = Role::As(group.need);
                    weight = truth.weight * group.weight;
                    if !has_phrase(at) {
                        return;
                    }
                }
                _ => {
                    if group.required > 0 {
                        weight /= OPTIONAL_PART;
                    }
                    truth.weight += weight;
                    if truth.fulfilled < group.required {
                        return;
                    }
                    if role != Role::OnlyWeight {
                        let first = truth.fulfilled == group.required;
                        truth.fulfilled += 1;
                        role = if first { Role::As(group.need) } else { Role::OnlyWeight };
                    }
                    weight *= group.weight;
                }
            }
        }
    }

    /// The weight of the whole query, if it is true.
    pub(super) fn weight(&self, query: &Query) -> Option<f32> {
        let truth = self.groups.first()?;
        let is_true = !truth.refused
            && truth.weight > 0.0
            && truth.fulfilled >= query.groups.first()?.required;
        is_true.then_some(truth.weight)
    }
}
