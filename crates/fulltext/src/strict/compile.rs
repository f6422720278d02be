//! The searchable form of a strict query: its words, and its expressions in the order in which they
//! take effect. Must not look at documents.

use hashbrown::HashMap;
use selkie_types::stack;

use super::parse::{List, Node, Sign};
use crate::Rules;
use crate::token::{Token, Tokens};

/// A word of a query.
#[derive(Debug)]
pub(super) struct QueryWord {
    /// Its key, or the common start of the keys of its words.
    pub key: Vec<u8>,
    /// Whether any word is meant that begins with it.
    pub prefix: bool,
    /// Number of times it is in the query outside of phrases.
    pub times: u64,
    /// Number of the word in ranks. Compat: a word and the words that begin with it are one.
    pub entry: usize,
}

/// Tokens that must be near each other.
#[derive(Debug)]
pub(super) struct Phrase {
    /// The words among them.
    pub words: Vec<usize>,
    /// All tokens, by their place in [`Query::tokens`].
    pub tokens: Vec<u32>,
    /// All are within a stretch of this number of tokens, in any order; otherwise they follow each
    /// other.
    pub within: Option<u64>,
}

/// The demand of an expression on a document.
#[derive(Debug)]
pub(super) enum Demand {
    /// It has the word.
    Word(usize),
    /// It has the phrase at this place.
    Phrase(usize),
    /// No document fulfils it.
    Never,
    /// Expressions in parentheses.
    Group(Vec<(Sign, Demand)>),
}

/// A query.
#[derive(Debug, Default)]
pub(super) struct Query {
    /// Its words, in the order in which they are looked up.
    pub words: Vec<QueryWord>,
    /// Number of words in ranks.
    pub entries: usize,
    /// Its phrases.
    pub phrases: Vec<Phrase>,
    /// Keys of the tokens of all phrases with their numbers.
    pub tokens: HashMap<Vec<u8>, u32>,
    /// Its expressions, in the order in which they take effect.
    pub demands: Vec<(Sign, Demand)>,
}

impl Query {
    /// Number of times that each word was looked up. `leading` is the number of the first words of
    /// each phrase that documents have together: the search for a phrase ends with the first word
    /// that leaves no document.
    pub(super) fn times(&self, leading: &[usize]) -> Vec<u64> {
        let mut times: Vec<u64> = self.words.iter().map(|word| word.times).collect();
        for (phrase, leading) in self.phrases.iter().zip(leading) {
            phrase.words.iter().take(leading + 1).for_each(|word| times[*word] += 1);
        }
        times
    }
}

/// The searchable form of `list`.
pub(super) fn compile(rules: &Rules, list: &List<'_>) -> Query {
    let mut compiler = Compiler {
        rules,
        query: Query::default(),
        places: HashMap::new(),
        entries: HashMap::new(),
        after_phrase: false,
        key: Vec::new(),
    };
    compiler.query.demands = compiler.list(list);
    compiler.query
}

struct Compiler<'r> {
    rules: &'r Rules,
    query: Query,
    places: HashMap<(Vec<u8>, bool), usize>,
    entries: HashMap<Vec<u8>, usize>,
    /// Whether a phrase was looked up before.
    after_phrase: bool,
    key: Vec<u8>,
}

fn pass(sign: Sign) -> u8 {
    match sign {
        Sign::Required => 1,
        Sign::Forbidden => 2,
        _ => 0,
    }
}

impl Compiler<'_> {
    /// Expressions in the order in which they take effect: those without `+` and `-`, those with
    /// `+`, those with `-`. Compat: expressions in front of parentheses take effect before all that
    /// follows.
    fn list(&mut self, list: &List<'_>) -> Vec<(Sign, Demand)> {
        stack::ensure();
        let mut out = Vec::new();
        for part in list.chunk_by(|_, (_, next)| !matches!(next, Node::Group(_))) {
            self.part(part, &mut out);
        }
        out
    }

    fn part(&mut self, part: &[(Sign, Node<'_>)], out: &mut Vec<(Sign, Demand)>) {
        for now in 0..3 {
            for (sign, node) in part.iter().filter(|(sign, _)| pass(*sign) == now) {
                match node {
                    Node::Term { text, prefix } => self.term((text, *prefix), *sign, out),
                    Node::Phrase { text, within } => {
                        out.extend(self.phrase(text, *within).map(|demand| (*sign, demand)));
                    }
                    Node::Group(list) => {
                        let group = self.list(list);
                        out.push((*sign, Demand::Group(group)));
                    }
                }
            }
        }
    }

    /// The word whose whole key is `self.key`, or all words whose keys begin with `begins`.
    fn word(&mut self, begins: Option<Vec<u8>>) -> usize {
        let prefix = begins.is_some();
        let key = begins.unwrap_or_else(|| self.key.clone());
        let next = self.entries.len();
        let entry = *self.entries.entry(self.key.clone()).or_insert(next);
        self.query.entries = self.entries.len();
        let words = &mut self.query.words;
        let place = *self.places.entry((key, prefix)).or_insert_with_key(|(key, prefix)| {
            words.push(QueryWord { key: key.clone(), prefix: *prefix, times: 0, entry });
            words.len() - 1
        });
        words[place].times += 1;
        place
    }

    fn whole(&mut self, key: Vec<u8>) -> usize {
        self.key = key;
        self.word(None)
    }

    /// The words of a term, each with the term's operator. Compat: only the first one may be too
    /// short to be found.
    fn term(&mut self, (text, prefix): (&[u8], bool), sign: Sign, out: &mut Vec<(Sign, Demand)>) {
        let charset = self.rules.collation.charset();
        let mut tokens = Tokens::new(charset, text).without_elisions().peekable();
        let mut first = true;
        while let Some(token) = tokens.next() {
            let is_prefix = prefix && tokens.peek().is_none();
            let short = token.characters < self.rules.least;
            if !self.rules.is_short_enough(token) || (short && !first) {
                continue;
            }
            first = false;
            let demand = match is_prefix {
                // Compat: after a phrase, only required prefixes are looked up.
                true if self.after_phrase && sign != Sign::Required => Demand::Never,
                true => {
                    self.rules.put_key(token.text, &mut self.key);
                    Demand::Word(self.word(Some(self.rules.prefix_key(token.text))))
                }
                false => self.single(token),
            };
            out.push((sign, demand));
        }
    }

    fn single(&mut self, token: Token<'_>) -> Demand {
        self.rules.put_key(token.text, &mut self.key);
        match self.rules.is_word(token) {
            true => Demand::Word(self.word(None)),
            false => Demand::Never,
        }
    }

    /// A phrase. Its tokens before the first word do not count; a single token is a word; without
    /// tokens it demands nothing.
    fn phrase(&mut self, text: &[u8], within: Option<u64>) -> Option<Demand> {
        let charset = self.rules.collation.charset();
        let mut keys = Vec::new();
        let mut words = Vec::new();
        let mut is_empty = true;
        for token in Tokens::new(charset, text).without_elisions() {
            is_empty = false;
            if self.rules.is_word(token) {
                self.rules.put_key(token.text, &mut self.key);
                words.push(self.key.clone());
            }
            if !words.is_empty() {
                self.rules.put_key(token.text, &mut self.key);
                keys.push(self.key.clone());
            }
        }
        if is_empty {
            return None;
        }
        self.after_phrase = true;
        if within.is_some() {
            keys.clone_from(&words);
        }
        if keys.len() < 2 {
            let word = words.pop();
            return Some(word.map_or(Demand::Never, |key| Demand::Word(self.whole(key))));
        }
        let tokens = keys.iter().map(|key| {
            let next = self.query.tokens.len() as u32;
            *self.query.tokens.entry(key.clone()).or_insert(next)
        });
        let tokens = tokens.collect();
        let words: Vec<usize> = words.into_iter().map(|key| self.whole(key)).collect();
        // The words of a phrase are counted after the search: see `times`.
        words.iter().for_each(|word| self.query.words[*word].times -= 1);
        self.query.phrases.push(Phrase { words, tokens, within });
        Some(Demand::Phrase(self.query.phrases.len() - 1))
    }
}
