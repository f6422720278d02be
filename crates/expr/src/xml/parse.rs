//! The parser of XPath expressions.
//!
//! The parser reads one token ahead. An error shows the expression from that token on.

use selkie_types::error::catalogue::{ER_STACK_OVERRUN_NEED_MORE, ER_UNKNOWN_ERROR};
use selkie_types::{SqlError, SqlResult, stack};

use super::path::{Axis, Comparison, Function, Kind, Operator, Tree};

/// Longest part of an expression that an error shows.
const SHOWN: usize = 32;

/// Deepest nesting of expressions.
const DEEPEST: usize = 200;

/// Most tokens of an expression. A tree is no higher than its number of tokens, and dropping or
/// cloning it needs stack for each level (STACK-2).
const MOST_TOKENS: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum T {
    End,
    Bad,
    Name,
    Digits,
    Text,
    /// A name followed by `::`.
    Axis,
    /// A name of a function, and `(`.
    Function(Function),
    /// `node`, `text`, `comment` or `processing-instruction`, and `(`.
    NodeType,
    NotEqual,
    LessEqual,
    GreaterEqual,
    Sign(u8),
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: T,
    start: usize,
    end: usize,
}

/// Functions by name, with the fewest and most arguments.
const FUNCTIONS: &[(&[u8], Function, usize, usize)] = &[
    (b"boolean", Function::Boolean, 1, 1),
    (b"ceiling", Function::Ceiling, 1, 1),
    (b"concat", Function::Concat, 2, 255),
    (b"contains", Function::Contains, 2, 2),
    (b"count", Function::Count, 1, 1),
    (b"false", Function::False, 0, 0),
    (b"floor", Function::Floor, 1, 1),
    (b"last", Function::Last, 0, 0),
    (b"not", Function::Not, 1, 1),
    (b"number", Function::Number, 1, 1),
    (b"position", Function::Position, 0, 0),
    (b"round", Function::Round, 1, 1),
    (b"string-length", Function::StringLength, 0, 1),
    (b"substring", Function::Substring, 2, 3),
    (b"sum", Function::Sum, 1, 1),
    (b"true", Function::True, 0, 0),
];

/// Reason why parsing stopped.
enum Stop {
    /// Syntax error near the token that was read ahead.
    Syntax,
    Because(SqlError),
}

type Parsed<T> = Result<T, Stop>;

pub(super) struct Parser<'a> {
    text: &'a [u8],
    locals: &'a [&'a str],
    token: Token,
    /// The parser is inside a predicate, where relative paths begin at its node.
    in_predicate: bool,
    depth: usize,
    /// Number of tokens so far.
    tokens: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a [u8], locals: &'a [&'a str]) -> Self {
        let token = scan(text, 0);
        Self { text, locals, token, in_predicate: false, depth: 0, tokens: 0 }
    }

    /// Parses the whole text as one expression.
    pub(super) fn whole(mut self) -> SqlResult<Tree> {
        let parsed = self.or();
        if self.tokens > MOST_TOKENS {
            let (used, size) = (self.tokens * 1024, stack::SIZE);
            return Err(SqlError::new(
                &ER_STACK_OVERRUN_NEED_MORE,
                &[&used, &size, &stack::RESERVE],
            ));
        }
        match parsed {
            Ok(tree) if self.token.kind == T::End => Ok(tree),
            Err(Stop::Because(error)) => Err(error),
            _ => Err(self.error("XPATH syntax error", self.token.start)),
        }
    }

    fn error(&self, what: &str, from: usize) -> SqlError {
        let rest = &self.text[from.min(self.text.len())..];
        let shown = match rest.len() {
            ..=SHOWN => String::from_utf8_lossy(rest).into_owned(),
            _ => format!("{}...", String::from_utf8_lossy(&rest[..SHOWN - 3])),
        };
        SqlError::with_message(&ER_UNKNOWN_ERROR, format!("{what}: '{shown}'"))
    }

    fn next(&mut self) -> Token {
        let token = self.token;
        self.tokens += 1;
        self.token = match self.tokens {
            ..=MOST_TOKENS => scan(self.text, token.end),
            // Nothing can follow here; `whole` reports the error.
            _ => Token { kind: T::End, ..token },
        };
        token
    }

    fn at(&self, sign: u8) -> bool {
        self.token.kind == T::Sign(sign)
    }

    fn eat(&mut self, sign: u8) -> bool {
        let found = self.at(sign);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: u8) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(Stop::Syntax) }
    }

    fn bytes(&self, token: Token) -> &'a [u8] {
        &self.text[token.start..token.end]
    }

    /// Consumes the next token if it is this word as a name.
    fn eat_word(&mut self, word: &[u8]) -> bool {
        let found = self.token.kind == T::Name && self.bytes(self.token) == word;
        if found {
            self.next();
        }
        found
    }

    fn or(&mut self) -> Parsed<Tree> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Stop::Syntax);
        }
        let mut left = self.and()?;
        while self.eat_word(b"or") {
            let right = self.and()?.truth();
            left = Tree::Or(left.truth().into(), right.into());
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Tree> {
        let mut left = self.equality()?;
        while self.eat_word(b"and") {
            let right = self.equality()?.truth();
            left = Tree::And(left.truth().into(), right.into());
        }
        Ok(left)
    }

    fn equality(&mut self) -> Parsed<Tree> {
        let mut left = self.relation()?;
        loop {
            let comparison = match self.token.kind {
                T::Sign(b'=') => Comparison::Equal,
                T::NotEqual => Comparison::NotEqual,
                _ => return Ok(left),
            };
            let at = self.next().start;
            let right = self.relation()?;
            left = self.comparison(comparison, left, right, at)?;
        }
    }

    fn relation(&mut self) -> Parsed<Tree> {
        let mut left = self.sum()?;
        loop {
            let comparison = match self.token.kind {
                T::Sign(b'<') => Comparison::Less,
                T::Sign(b'>') => Comparison::Greater,
                T::LessEqual => Comparison::LessOrEqual,
                T::GreaterEqual => Comparison::GreaterOrEqual,
                _ => return Ok(left),
            };
            let at = self.next().start;
            let right = self.sum()?;
            left = self.comparison(comparison, left, right, at)?;
        }
    }

    fn comparison(&self, op: Comparison, left: Tree, right: Tree, at: usize) -> Parsed<Tree> {
        let (left, right) = match (left.kind(), right.kind()) {
            (Kind::Nodes, Kind::Nodes) => {
                let what = "XPATH error: comparison of two nodesets is not supported";
                return Err(Stop::Because(self.error(what, at)));
            }
            (Kind::Nodes, _) => return Ok(Tree::CompareNodes(op, left.into(), right.into())),
            (_, Kind::Nodes) => {
                return Ok(Tree::CompareNodes(op.flipped(), right.into(), left.into()));
            }
            _ => (left, right),
        };
        Ok(Tree::Compare(op, left.into(), right.into()))
    }

    fn sum(&mut self) -> Parsed<Tree> {
        let mut left = self.product()?;
        loop {
            let operator = match self.token.kind {
                T::Sign(b'+') => Operator::Add,
                T::Sign(b'-') => Operator::Subtract,
                _ => return Ok(left),
            };
            self.next();
            left = Tree::Arithmetic(operator, left.into(), self.product()?.into());
        }
    }

    fn product(&mut self) -> Parsed<Tree> {
        let mut left = self.negation()?;
        loop {
            let operator = if self.eat(b'*') {
                Operator::Multiply
            } else if self.eat_word(b"div") {
                Operator::Divide
            } else if self.eat_word(b"mod") {
                Operator::Modulo
            } else {
                return Ok(left);
            };
            left = Tree::Arithmetic(operator, left.into(), self.negation()?.into());
        }
    }

    fn negation(&mut self) -> Parsed<Tree> {
        let mut negated = false;
        while self.eat(b'-') {
            negated = !negated;
        }
        let tree = self.union()?;
        Ok(if negated { Tree::Negate(tree.into()) } else { tree })
    }

    fn union(&mut self) -> Parsed<Tree> {
        let mut left = self.path()?;
        while self.at(b'|') {
            self.next();
            if left.kind() != Kind::Nodes {
                return Err(Stop::Syntax);
            }
            let right = self.path()?;
            if right.kind() != Kind::Nodes {
                return Err(Stop::Syntax);
            }
            left = Tree::Union(left.into(), right.into());
        }
        Ok(left)
    }

    fn path(&mut self) -> Parsed<Tree> {
        if self.at(b'/') {
            return self.absolute();
        }
        if self.begins_step() {
            return self.relative(self.start());
        }
        let tree = self.primary()?;
        if !self.at(b'/') {
            return Ok(tree);
        }
        if tree.kind() != Kind::Nodes {
            return Err(Stop::Syntax);
        }
        self.next();
        let from = if self.eat(b'/') { descendants(tree) } else { tree };
        self.relative(from)
    }

    fn start(&self) -> Tree {
        if self.in_predicate { Tree::Context } else { Tree::Root }
    }

    fn absolute(&mut self) -> Parsed<Tree> {
        self.next();
        if self.eat(b'/') {
            return self.relative(descendants(Tree::Root));
        }
        if self.begins_step() { self.relative(Tree::Root) } else { Ok(Tree::Root) }
    }

    fn begins_step(&self) -> bool {
        let signs = matches!(self.token.kind, T::Sign(b'.' | b'@' | b'*'));
        signs || matches!(self.token.kind, T::Name | T::Axis | T::NodeType)
    }

    fn relative(&mut self, from: Tree) -> Parsed<Tree> {
        let mut tree = self.step(from)?;
        while self.eat(b'/') {
            let from = if self.eat(b'/') { descendants(tree) } else { tree };
            tree = self.step(from)?;
        }
        Ok(tree)
    }

    fn step(&mut self, from: Tree) -> Parsed<Tree> {
        if self.eat(b'.') {
            let parent = self.eat(b'.');
            return Ok(if parent { step(from, Axis::Parent, None) } else { from });
        }
        let mut tree = self.node_test(from)?;
        while self.eat(b'[') {
            tree = self.predicate(tree)?;
        }
        Ok(tree)
    }

    fn node_test(&mut self, from: Tree) -> Parsed<Tree> {
        let mut axis = Axis::Child;
        if self.token.kind == T::Axis {
            let token = self.next();
            axis = Axis::named(self.bytes(token)).ok_or(Stop::Syntax)?;
            self.expect(b':')?;
            self.expect(b':')?;
        } else if self.eat(b'@') {
            axis = Axis::Attribute;
        }
        match self.token.kind {
            // Compat: a test of a node type keeps all nodes it is applied to.
            T::NodeType => {
                self.next();
                self.expect(b'(')?;
                if self.token.kind == T::Text {
                    self.next();
                }
                self.expect(b')')?;
                Ok(from)
            }
            T::Sign(b'*') => {
                self.next();
                Ok(step(from, axis, None))
            }
            T::Name => {
                let name = self.qualified()?.into();
                Ok(step(from, axis, Some(name)))
            }
            _ => Err(Stop::Syntax),
        }
    }

    /// `name` or `prefix:name`.
    fn qualified(&mut self) -> Parsed<&'a [u8]> {
        let first = self.next();
        if !self.eat(b':') {
            return Ok(self.bytes(first));
        }
        match self.token.kind {
            T::Name | T::Axis | T::NodeType | T::Function(_) => {
                let last = self.next();
                Ok(&self.text[first.start..last.end])
            }
            _ => Err(Stop::Syntax),
        }
    }

    fn predicate(&mut self, from: Tree) -> Parsed<Tree> {
        let outside = std::mem::replace(&mut self.in_predicate, true);
        let tree = self.or()?;
        self.in_predicate = outside;
        self.expect(b']')?;
        let from = Box::new(from);
        Ok(match tree.kind() {
            Kind::Scalar => Tree::Index { from, index: tree.into() },
            _ => Tree::Filter { from, condition: tree.truth().into() },
        })
    }

    fn primary(&mut self) -> Parsed<Tree> {
        match self.token.kind {
            T::Sign(b'(') => {
                self.next();
                let tree = self.or()?;
                self.expect(b')')?;
                Ok(tree)
            }
            T::Sign(b'$') => self.variable(),
            T::Text => {
                let token = self.next();
                Ok(Tree::String(self.text[token.start + 1..token.end - 1].into()))
            }
            T::Digits => self.number(),
            T::Function(function) => self.call(function),
            _ => Err(Stop::Syntax),
        }
    }

    fn variable(&mut self) -> Parsed<Tree> {
        let at = self.next().start;
        let user = self.eat(b'@');
        if !matches!(self.token.kind, T::Name | T::Axis | T::NodeType | T::Function(_)) {
            return Err(Stop::Syntax);
        }
        let token = self.next();
        let name = String::from_utf8_lossy(self.bytes(token)).into_owned();
        if user {
            return Ok(Tree::UserVariable(name.to_lowercase().into()));
        }
        match self.locals.iter().position(|local| local.eq_ignore_ascii_case(&name)) {
            Some(at) => Ok(Tree::Local(at)),
            None => Err(Stop::Because(self.error("Unknown XPATH variable at", at))),
        }
    }

    fn number(&mut self) -> Parsed<Tree> {
        let whole = self.next();
        let mut end = whole.end;
        let fraction = self.at(b'.');
        if fraction {
            end = self.next().end;
            if self.token.kind == T::Digits {
                end = self.next().end;
            }
        }
        let text = std::str::from_utf8(&self.text[whole.start..end]).unwrap_or_default();
        if let (false, Ok(value)) = (fraction, text.parse()) {
            return Ok(Tree::Integer(value));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Tree::Double(value)),
            _ => {
                let def = &selkie_types::error::catalogue::ER_ILLEGAL_VALUE_FOR_TYPE;
                Err(Stop::Because(SqlError::new(def, &[&"double", &text])))
            }
        }
    }

    fn call(&mut self, function: Function) -> Parsed<Tree> {
        self.next();
        self.expect(b'(')?;
        let mut args = Vec::new();
        let found = FUNCTIONS.iter().find(|f| f.1 == function).map(|f| (f.2, f.3));
        let (fewest, most) = found.unwrap_or((0, 0));
        while args.len() < most && !(args.is_empty() && self.at(b')')) {
            args.push(self.or()?);
            if args.len() == most || !self.eat(b',') {
                break;
            }
        }
        if args.len() < fewest {
            return Err(Stop::Syntax);
        }
        self.expect(b')')?;
        self.made(function, args)
    }

    fn made(&self, function: Function, mut args: Vec<Tree>) -> Parsed<Tree> {
        match function {
            Function::Position | Function::Last if !self.in_predicate => return Err(Stop::Syntax),
            Function::StringLength if args.is_empty() && !self.in_predicate => {
                return Err(Stop::Syntax);
            }
            Function::StringLength if args.is_empty() => args.push(Tree::Context),
            Function::Count | Function::Sum if args[0].kind() != Kind::Nodes => {
                return Err(Stop::Syntax);
            }
            Function::Boolean => return Ok(args.remove(0).truth()),
            Function::Not => args = args.into_iter().map(Tree::truth).collect(),
            _ => {}
        }
        Ok(Tree::Call(function, args))
    }
}

fn step(from: Tree, axis: Axis, name: Option<Box<[u8]>>) -> Tree {
    Tree::Step { from: from.into(), axis, name }
}

fn descendants(from: Tree) -> Tree {
    step(from, Axis::DescendantOrSelf, None)
}

fn begins_name(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b >= 0x80
}

fn continues_name(b: u8) -> bool {
    begins_name(b) || b.is_ascii_digit() || matches!(b, b'-' | b'.')
}

/// The first token at or after `from`.
fn scan(text: &[u8], from: usize) -> Token {
    let is_space = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
    let start = from + text[from..].iter().take_while(|b| is_space(b)).count();
    let rest = &text[start..];
    let (kind, length) = match rest {
        [] => (T::End, 0),
        [b'!', b'=', ..] => (T::NotEqual, 2),
        [b'<', b'=', ..] => (T::LessEqual, 2),
        [b'>', b'=', ..] => (T::GreaterEqual, 2),
        [quote @ (b'"' | b'\''), inside @ ..] => match inside.iter().position(|b| b == quote) {
            Some(length) => (T::Text, length + 2),
            None => (T::Bad, rest.len()),
        },
        [b'0'..=b'9', ..] => (T::Digits, rest.iter().take_while(|b| b.is_ascii_digit()).count()),
        [b, ..] if begins_name(*b) => {
            let length = rest.iter().take_while(|b| continues_name(**b)).count();
            (name_kind(&rest[..length], &rest[length..]), length)
        }
        [b, ..] if b"()[].,@:*/|+-=<>$".contains(b) => (T::Sign(*b), 1),
        _ => (T::Bad, 1),
    };
    Token { kind, start, end: start + length }
}

/// A name is a function or an axis only before the token that belongs to it.
fn name_kind(name: &[u8], rest: &[u8]) -> T {
    if rest.starts_with(b"::") && Axis::named(name).is_some() {
        return T::Axis;
    }
    let called = rest.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'(');
    if !called {
        return T::Name;
    }
    if matches!(name, b"node" | b"text" | b"comment" | b"processing-instruction") {
        return T::NodeType;
    }
    FUNCTIONS.iter().find(|f| f.0 == name).map_or(T::Name, |f| T::Function(f.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_expressions_are_refused() {
        let parse = |text: String| Parser::new(text.as_bytes(), &[]).whole();
        assert!(parse("/a".repeat(900)).is_ok());
        for part in ["/a", "//a", "[1]", "/..", "|/a", " or 1", "+1"] {
            let error = parse(format!("/a{}", part.repeat(300_000))).unwrap_err();
            assert!(error.is(&ER_STACK_OVERRUN_NEED_MORE), "{part}");
        }
    }
}
