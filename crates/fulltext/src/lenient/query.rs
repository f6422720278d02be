//! The language of lenient boolean queries. It has no errors: what makes no sense is skipped.
//! Groups are in one list and refer to each other by place, so depth has no limit.

use crate::token::letter;
use crate::{BooleanSyntax, Rules};

/// Steps in which a word's weight goes up and down.
const STEP: f64 = 1.5;
/// Number of steps up or down that count.
const STEPS: i32 = 5;
/// Factor of a negated word.
const NEGATED: f64 = -0.5;

/// Whether an expression must be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Optional,
    Required,
    Forbidden,
}

/// A word of a query.
#[derive(Debug)]
pub(super) struct QueryWord {
    /// Its key, or the common start of the keys of its words.
    pub key: Vec<u8>,
    /// As it is in the query.
    pub text: Vec<u8>,
    /// Whether any word is meant that begins with it.
    pub prefix: bool,
    pub need: Need,
    pub weight: f32,
    /// The group it is in.
    pub group: usize,
    /// Depth of the group; one more for forbidden words.
    pub depth: usize,
}

impl QueryWord {
    /// Whether no document without it is found.
    pub(super) fn is_required(&self) -> bool {
        self.group == 0 && self.need == Need::Required
    }
}

/// A group of words and groups: parentheses or a phrase. The first group is the whole query.
#[derive(Debug)]
pub(super) struct Group {
    pub need: Need,
    pub weight: f32,
    /// The group it is in, if it is not the whole query.
    pub outer: Option<usize>,
    /// Number of required members.
    pub required: u32,
    /// Keys of all tokens of a phrase.
    pub phrase: Option<Vec<Vec<u8>>>,
}

/// A query.
#[derive(Debug)]
pub(super) struct Query {
    pub words: Vec<QueryWord>,
    pub groups: Vec<Group>,
    /// Whether documents found by their words must be read again: the query has a phrase or a
    /// prefix.
    pub rereads: bool,
}

impl Query {
    /// Whether ranks are the same in whatever order words are told: there is one group, whose words
    /// all have the same need and weight, so that sums have equal parts.
    pub(super) fn is_free_of_order(&self) -> bool {
        let same = |a: &QueryWord, b: &QueryWord| a.need == b.need && a.weight == b.weight;
        self.groups.len() == 1 && self.words.windows(2).all(|pair| same(&pair[0], &pair[1]))
    }
}

/// Operators in front of a word or group.
#[derive(Clone, Copy)]
struct Prefix {
    need: Need,
    steps: i32,
    negated: bool,
}

impl Prefix {
    fn weight(self) -> f32 {
        let weight = STEP.powi(self.steps.clamp(-STEPS, STEPS));
        (if self.negated { weight * NEGATED } else { weight }) as f32
    }
}

/// Reads a query.
pub(super) fn parse(rules: &Rules, text: &[u8]) -> Query {
    let whole = Group { need: Need::Optional, weight: 1.0, outer: None, required: 0, phrase: None };
    let query = Query { words: Vec::new(), groups: vec![whole], rereads: false };
    let mut parser = Parser {
        rules,
        syntax: rules.syntax,
        text,
        at: 0,
        previous: b' ',
        query,
        group: 0,
        depth: 0,
        quoted: false,
        key: Vec::new(),
    };
    while parser.step() {}
    parser.query
}

struct Parser<'r> {
    rules: &'r Rules,
    syntax: BooleanSyntax,
    text: &'r [u8],
    at: usize,
    /// The byte before, a letter for a word.
    previous: u8,
    query: Query,
    /// The group that is open.
    group: usize,
    depth: usize,
    quoted: bool,
    key: Vec<u8>,
}

impl Parser<'_> {
    fn none(&self) -> Prefix {
        let required = self.quoted || self.syntax.required() == b' ';
        let need = if required { Need::Required } else { Need::Optional };
        Prefix { need, steps: 0, negated: false }
    }

    /// Reads operators and then one word, parenthesis or quote; false at the end.
    fn step(&mut self) -> bool {
        let mut prefix = self.none();
        let charset = self.rules.collation.charset();
        while let Some(&sign) = self.text.get(self.at) {
            let length = match letter(charset, &self.text[self.at..]) {
                Ok(_) => {
                    self.word(prefix);
                    return true;
                }
                Err(length) => length,
            };
            if self.bracket(sign, prefix) {
                return true;
            }
            self.at += length;
            if !self.operator(sign, &mut prefix) {
                self.previous = sign;
                prefix = self.none();
            }
        }
        false
    }

    /// Handles an opening or closing sign.
    fn bracket(&mut self, sign: u8, prefix: Prefix) -> bool {
        let syntax = self.syntax;
        let closes = if self.quoted { syntax.close_quote() } else { syntax.close() };
        if sign == closes {
            self.close();
        } else if self.quoted || (sign != syntax.open() && sign != syntax.open_quote()) {
            return false;
        } else {
            self.quoted = sign == syntax.open_quote();
            self.open(prefix);
        }
        self.at += 1;
        true
    }

    /// Handles an operator behind a space.
    fn operator(&self, sign: u8, prefix: &mut Prefix) -> bool {
        let syntax = self.syntax;
        if self.quoted || self.previous != b' ' {
            return false;
        }
        if sign == syntax.required() {
            prefix.need = Need::Required;
        } else if sign == syntax.optional() {
            prefix.need = Need::Optional;
        } else if sign == syntax.forbidden() {
            prefix.need = Need::Forbidden;
        } else if sign == syntax.more() {
            prefix.steps = prefix.steps.saturating_add(1);
        } else if sign == syntax.less() {
            prefix.steps = prefix.steps.saturating_sub(1);
        } else if sign == syntax.negate() {
            prefix.negated = !prefix.negated;
        } else {
            return false;
        }
        true
    }

    fn require(&mut self, need: Need, group: usize) {
        self.query.groups[group].required += u32::from(need == Need::Required);
    }

    fn open(&mut self, prefix: Prefix) {
        let need = prefix.need;
        self.require(need, self.group);
        self.query.rereads |= self.quoted;
        self.query.groups.push(Group {
            need,
            weight: prefix.weight(),
            outer: Some(self.group),
            required: 0,
            phrase: self.quoted.then(Vec::new),
        });
        self.group = self.query.groups.len() - 1;
        self.depth += 1;
    }

    fn close(&mut self) {
        self.quoted = false;
        if let Some(outer) = self.query.groups[self.group].outer {
            self.group = outer;
            self.depth -= 1;
        }
    }

    fn word(&mut self, prefix: Prefix) {
        let charset = self.rules.collation.charset();
        let token = crate::token::Tokens::new(charset, &self.text[self.at..]).next();
        let Some(token) = token else { return };
        self.at += token.text.len();
        self.previous = b'A';
        let cut = self.text.get(self.at) == Some(&self.syntax.truncate());
        self.at += usize::from(cut);
        self.rules.put_key(token.text, &mut self.key);
        if let Some(phrase) = &mut self.query.groups[self.group].phrase {
            phrase.push(self.key.clone());
        }
        let is_word = cut || self.rules.is_word(token);
        if !is_word || !self.rules.is_short_enough(token) {
            return;
        }
        self.require(prefix.need, self.group);
        self.query.rereads |= cut;
        self.query.words.push(QueryWord {
            text: token.text.to_vec(),
            key: if cut { self.rules.prefix_key(token.text) } else { self.key.clone() },
            prefix: cut,
            need: prefix.need,
            weight: prefix.weight(),
            group: self.group,
            depth: self.depth + usize::from(prefix.need == Need::Forbidden),
        });
    }
}
