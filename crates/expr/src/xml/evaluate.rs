//! Evaluation of an XPath expression over a document.
//!
//! Scalars follow SQL: strings compare by the collation of the call, and a text that is no number
//! is converted with a warning.

use std::cmp::Ordering;

use selkie_types::number::{Rest, parse_f64, write_f64, write_i64};
use selkie_types::{CollationId, Decimal, Value, stack};

pub(crate) use super::axes::Item;
use super::axes::{numbered, step};
use super::document::Document;
use super::path::{Comparison, Function, Operator, Tree};
use crate::context::EvalContext;
use crate::text::for_message;

/// Result of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Null,
    Nodes(Vec<Item>),
    Truth(bool),
    Integer(i64),
    Double(f64),
    String(Vec<u8>),
}

/// An evaluation in progress.
pub(crate) struct Evaluation<'a> {
    pub(crate) document: &'a Document<'a>,
    pub(crate) context: &'a EvalContext<'a>,
    /// Collation in which strings compare.
    pub(crate) collation: CollationId,
    /// Values of `$name`, by number.
    pub(crate) locals: &'a [Value],
}

const ROOT: Item = Item { node: 0, place: 0, size: 0 };

impl Evaluation<'_> {
    /// The nodes that an expression selects.
    pub(crate) fn nodes(&self, tree: &Tree) -> Vec<Item> {
        self.nodes_at(tree, ROOT)
    }

    /// The value of an expression as text; `None` for NULL.
    pub(crate) fn text(&self, tree: &Tree) -> Option<Vec<u8>> {
        self.string(self.value(tree, ROOT))
    }

    fn nodes_at(&self, tree: &Tree, at: Item) -> Vec<Item> {
        stack::ensure();
        match tree {
            Tree::Root => vec![ROOT],
            Tree::Context => vec![at],
            Tree::Step { from, axis, name } => {
                step(self.document, &self.nodes_at(from, at), *axis, name.as_deref())
            }
            Tree::Filter { from, condition } => {
                self.chosen(from, at, |item| self.truth(self.value(condition, item)))
            }
            Tree::Index { from, index } => self.chosen(from, at, |item| {
                self.index(index, self.value(index, item)) == Some(item.place as i64 + 1)
            }),
            Tree::Union(a, b) => {
                let mut marked = vec![false; self.document.nodes.len()];
                let both = [self.nodes_at(a, at), self.nodes_at(b, at)];
                both.iter().flatten().for_each(|item| marked[item.node] = true);
                numbered(&marked)
            }
            _ => Vec::new(),
        }
    }

    /// The nodes that a predicate keeps, numbered anew.
    fn chosen(&self, from: &Tree, at: Item, keep: impl Fn(Item) -> bool) -> Vec<Item> {
        let items = self.nodes_at(from, at);
        let size = items.len();
        let kept = items.into_iter().filter(|item| keep(Item { size, ..*item }));
        kept.enumerate().map(|(place, item)| Item::new(item.node, place)).collect()
    }

    fn value(&self, tree: &Tree, at: Item) -> Outcome {
        stack::ensure();
        match tree {
            Tree::String(text) => Outcome::String(text.to_vec()),
            Tree::Integer(value) => Outcome::Integer(*value),
            Tree::Double(value) => Outcome::Double(*value),
            Tree::UserVariable(name) => {
                let found = self.context.session.user_variable(name);
                found.map_or(Outcome::Null, |(value, _)| outcome(&value))
            }
            Tree::Local(at) => self.locals.get(*at).map_or(Outcome::Null, outcome),
            Tree::Negate(tree) => match self.value(tree, at) {
                Outcome::Integer(value) => Outcome::Integer(value.wrapping_neg()),
                other => self.double(other).map_or(Outcome::Null, |v| Outcome::Double(-v)),
            },
            Tree::Arithmetic(op, a, b) => {
                self.arithmetic(*op, self.value(a, at), self.value(b, at))
            }
            Tree::CompareNodes(op, nodes, scalar) => {
                let scalar = self.value(scalar, at);
                let holds = self.nodes_at(nodes, at).iter().any(|item| {
                    self.document.texts(item.node).any(|text| {
                        self.compared(*op, &Outcome::String(text.to_vec()), &scalar) == Some(true)
                    })
                });
                Outcome::Truth(holds)
            }
            Tree::Compare(op, a, b) => {
                let holds = self.compared(*op, &self.value(a, at), &self.value(b, at));
                holds.map_or(Outcome::Null, Outcome::Truth)
            }
            Tree::And(a, b) => {
                let holds = self.truth(self.value(a, at)) && self.truth(self.value(b, at));
                Outcome::Truth(holds)
            }
            Tree::Or(a, b) => {
                let holds = self.truth(self.value(a, at)) || self.truth(self.value(b, at));
                Outcome::Truth(holds)
            }
            Tree::Truth(tree) => Outcome::Truth(self.truth(self.value(tree, at))),
            Tree::Call(function, args) => self.call(*function, args, at),
            nodes => Outcome::Nodes(self.nodes_at(nodes, at)),
        }
    }

    fn call(&self, function: Function, args: &[Tree], at: Item) -> Outcome {
        let value = |n: usize| args.get(n).map_or(Outcome::Null, |arg| self.value(arg, at));
        let number = |f: fn(f64) -> f64| match value(0) {
            Outcome::Integer(v) => Outcome::Integer(v),
            other => self.double(other).map_or(Outcome::Null, |v| Outcome::Double(f(v))),
        };
        match function {
            Function::True => Outcome::Truth(true),
            Function::False => Outcome::Truth(false),
            Function::Not => Outcome::Truth(!self.truth(value(0))),
            Function::Boolean => Outcome::Truth(self.truth(value(0))),
            Function::Position => Outcome::Integer(at.place as i64 + 1),
            Function::Last => Outcome::Integer(at.size as i64),
            Function::Floor => number(f64::floor),
            Function::Ceiling => number(f64::ceil),
            Function::Round => number(f64::round_ties_even),
            Function::Number => self.double(value(0)).map_or(Outcome::Null, Outcome::Double),
            Function::Count => self.count(value(0)),
            Function::Sum => self.sum(value(0)),
            Function::Concat => self.concat(args, at),
            Function::Contains => self.contains(value(0), value(1)),
            Function::StringLength => {
                let text = self.string(value(0));
                let count = |t: Vec<u8>| self.collation.charset().char_count(&t) as i64;
                text.map_or(Outcome::Null, |t| Outcome::Integer(count(t)))
            }
            Function::Substring => self.substring(args, at),
        }
    }

    /// Compat: inside a predicate, its one node counts as all nodes the predicate is applied to.
    fn count(&self, nodes: Outcome) -> Outcome {
        match nodes {
            Outcome::Nodes(items) => match items[..] {
                [Item { size, .. }] if size > 0 => Outcome::Integer(size as i64),
                _ => Outcome::Integer(items.len() as i64),
            },
            _ => Outcome::Null,
        }
    }

    fn sum(&self, nodes: Outcome) -> Outcome {
        let Outcome::Nodes(items) = nodes else { return Outcome::Null };
        let nodes: Vec<usize> = items.iter().map(|item| item.node).collect();
        let texts = self.document.texts_of(&nodes).into_iter();
        Outcome::Double(texts.map(|text| parse_f64(text).value).sum())
    }

    fn concat(&self, args: &[Tree], at: Item) -> Outcome {
        let mut out = Vec::new();
        for arg in args {
            let Some(text) = self.string(self.value(arg, at)) else { return Outcome::Null };
            out.extend_from_slice(&text);
        }
        Outcome::String(out)
    }

    fn contains(&self, text: Outcome, part: Outcome) -> Outcome {
        match (self.string(text), self.string(part)) {
            (Some(text), Some(part)) => {
                Outcome::Truth(self.collation.info().find(&text, &part).is_some())
            }
            _ => Outcome::Null,
        }
    }

    /// SUBSTRING as in SQL: a negative start counts from the end; 0 gives an empty text.
    fn substring(&self, args: &[Tree], at: Item) -> Outcome {
        let charset = self.collation.charset();
        let Some(text) = self.string(self.value(&args[0], at)) else { return Outcome::Null };
        let Some(start) = self.integer(self.value(&args[1], at)) else { return Outcome::Null };
        let count = charset.char_count(&text) as i64;
        let wanted = match args.get(2).map(|arg| self.integer(self.value(arg, at))) {
            None => i64::MAX,
            Some(Some(wanted)) => wanted,
            Some(None) => return Outcome::Null,
        };
        let first = if start < 0 { count.saturating_add(start) } else { start - 1 };
        if first < 0 || first >= count || wanted <= 0 {
            return Outcome::String(Vec::new());
        }
        let from = charset.char_offset(&text, first as usize);
        let length = wanted.min(count - first) as usize;
        let to = from + charset.char_offset(&text[from..], length);
        Outcome::String(text[from..to].to_vec())
    }

    fn arithmetic(&self, op: Operator, a: Outcome, b: Outcome) -> Outcome {
        if let (Outcome::Integer(a), Outcome::Integer(b)) = (&a, &b) {
            let exact = match op {
                Operator::Add => a.checked_add(*b),
                Operator::Subtract => a.checked_sub(*b),
                Operator::Multiply => a.checked_mul(*b),
                Operator::Divide => a.checked_div(*b),
                Operator::Modulo => a.checked_rem(*b),
            };
            return exact.map_or(Outcome::Null, Outcome::Integer);
        }
        let (Some(a), Some(b)) = (self.double(a), self.double(b)) else { return Outcome::Null };
        match op {
            Operator::Add => Outcome::Double(a + b),
            Operator::Subtract => Outcome::Double(a - b),
            Operator::Multiply => Outcome::Double(a * b),
            Operator::Divide | Operator::Modulo if b == 0.0 => Outcome::Null,
            // Compat: `div` is SQL's integer division.
            Operator::Divide => Outcome::Integer((a / b).trunc() as i64),
            Operator::Modulo => Outcome::Double(a % b),
        }
    }

    fn compared(&self, op: Comparison, a: &Outcome, b: &Outcome) -> Option<bool> {
        let order = match (a, b) {
            (Outcome::Null, _) | (_, Outcome::Null) => return None,
            (Outcome::String(a), Outcome::String(b)) => self.collation.compare(a, b),
            (Outcome::String(a), Outcome::Integer(b)) => self.decimal(a).cmp(&Decimal::from(*b)),
            (Outcome::Integer(a), Outcome::String(b)) => Decimal::from(*a).cmp(&self.decimal(b)),
            (a, b) => {
                let (a, b) = (self.double(a.clone())?, self.double(b.clone())?);
                a.partial_cmp(&b).unwrap_or(Ordering::Equal)
            }
        };
        Some(match op {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        })
    }

    fn truth(&self, value: Outcome) -> bool {
        match value {
            Outcome::Truth(holds) => holds,
            Outcome::Nodes(items) => !items.is_empty(),
            other => self.double(other).is_some_and(|v| v != 0.0),
        }
    }

    fn string(&self, value: Outcome) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        match value {
            Outcome::Null => return None,
            Outcome::Nodes(items) => out = self.joined(&items),
            Outcome::Truth(holds) => out.push(if holds { b'1' } else { b'0' }),
            Outcome::Integer(value) => write_i64(&mut out, value),
            Outcome::Double(value) => write_f64(&mut out, value),
            Outcome::String(text) => out = text,
        }
        Some(out)
    }

    /// The texts directly inside nodes, each once, in document order, separated by blanks.
    fn joined(&self, items: &[Item]) -> Vec<u8> {
        let mut nodes: Vec<usize> = items.iter().map(|item| item.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut texts: Vec<&[u8]> = self.document.texts_of(&nodes);
        texts.sort_unstable_by_key(|text| text.as_ptr());
        texts.join(&b' ')
    }

    fn double(&self, value: Outcome) -> Option<f64> {
        Some(match value {
            Outcome::Null => return None,
            Outcome::Truth(holds) => f64::from(u8::from(holds)),
            Outcome::Integer(value) => value as f64,
            Outcome::Double(value) => value,
            text @ (Outcome::Nodes(_) | Outcome::String(_)) => {
                let text = self.string(text)?;
                let parsed = parse_f64(&text);
                self.report("DOUBLE", &text, parsed.rest);
                parsed.value
            }
        })
    }

    fn decimal(&self, text: &[u8]) -> Decimal {
        let parsed = Decimal::parse(text);
        self.report("DECIMAL", text, parsed.rest);
        parsed.value
    }

    fn integer(&self, value: Outcome) -> Option<i64> {
        match value {
            Outcome::Integer(value) => Some(value),
            text @ (Outcome::Nodes(_) | Outcome::String(_)) => {
                let text = self.string(text)?;
                let parsed = parse_f64(&text);
                self.report("INTEGER", &text, parsed.rest);
                Some(parsed.value.round_ties_even() as i64)
            }
            other => self.double(other).map(|v| v.round_ties_even() as i64),
        }
    }

    /// Compat: the value of a user variable becomes a number without a warning.
    fn index(&self, tree: &Tree, value: Outcome) -> Option<i64> {
        match (tree, value) {
            (Tree::UserVariable(_), Outcome::String(text)) => Some(parse_f64(&text).value as i64),
            (_, value) => self.integer(value),
        }
    }

    fn report(&self, kind: &str, text: &[u8], rest: Rest) {
        if rest == Rest::Garbage {
            let shown = for_message(text, self.collation);
            let def = &selkie_types::error::catalogue::ER_TRUNCATED_WRONG_VALUE;
            self.context.warn(def, &[&kind, &shown]);
        }
    }
}

/// An SQL value as a result; the binding has converted other types to strings.
fn outcome(value: &Value) -> Outcome {
    match value {
        Value::Null => Outcome::Null,
        Value::Int(v) => Outcome::Integer(*v),
        Value::UInt(v) => i64::try_from(*v).map_or(Outcome::Double(*v as f64), Outcome::Integer),
        Value::Double(v) => Outcome::Double(*v),
        Value::Decimal(v) => Outcome::Double(v.to_f64()),
        Value::Bytes(v) => Outcome::String(v.to_vec()),
        _ => Outcome::Null,
    }
}
