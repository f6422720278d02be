//! Plans of statements that clients send as text again and again with other values.
//!
//! Texts of one shape differ in literals only. A shape seen a second time is planned with parameters
//! for the literals, and if that gives the plan its values gave, and no other values could
//! make another plan much better, texts of that shape are no longer parsed and planned.
//!
//! Each thread keeps plans of its own, so that finding one touches nothing that others write;
//! sessions that agree in everything plans depend on share them. Must not keep a plan that
//! depends on a value: reports are planned each time.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use selkie_sql::ast::{Span, Statement};
use selkie_sql::{LiteralKind, SHORT_STRING, Shape, lift_literals, string_value};
use selkie_types::{SqlType, TypeKind, Value};

use crate::query::planning;
use crate::query::robust::is_robust;
use crate::state::plan_key::PlanKey;
use crate::{Generations, Instance, Prepared, Session};

/// A kept statement with the values of one text.
#[derive(Debug)]
pub struct TextPlan {
    /// The statement, with parameters where its texts have literals.
    pub statement: Arc<Prepared>,
    /// Their values.
    pub values: Vec<(Value, SqlType)>,
}

/// What is known of a text.
#[derive(Debug)]
pub enum TextLookup {
    /// It need not be parsed.
    Found(TextPlan),
    /// Parsed, it may be worth keeping: [`keep_text_plan`].
    Repeated,
    /// Nothing.
    Unknown,
}

/// Longest text that is looked at, in bytes.
const LONGEST: usize = 8 << 10;
/// Shapes kept in each generation of a thread.
const GENERATION: usize = 512;
/// How often a shape that was refused is met before it is tried again.
const PATIENCE: u32 = 1000;

/// A statement that is kept, and for which texts.
#[derive(Debug)]
struct Kept {
    statement: Arc<Prepared>,
    key: PlanKey,
    /// The text of each literal that has to be what it was; the others are parameters.
    fixed: Vec<Option<Box<[u8]>>>,
}

#[derive(Clone, Debug)]
enum Entry {
    Seen,
    Refused { left: u32 },
    Kept(Rc<Kept>),
}

/// Entries by shape.
struct TextPlans {
    /// That of the text at hand.
    shape: Shape,
    entries: Generations<Box<[u8]>, Entry>,
}

impl Default for TextPlans {
    fn default() -> Self {
        Self { shape: Shape::default(), entries: Generations::new(GENERATION) }
    }
}

thread_local! {
    static PLANS: RefCell<TextPlans> = RefCell::default();
}

/// Looks a text up that is one statement in UTF-8.
pub fn find_text_plan(instance: &Instance, session: &Session, text: &[u8]) -> TextLookup {
    if !may_share(session, text) {
        return TextLookup::Unknown;
    }
    PLANS.with_borrow_mut(|plans| match plans.read(session, text) {
        true => plans.find(instance, session, text),
        false => TextLookup::Unknown,
    })
}

/// Plans a text that was met before so that it can be kept, and keeps it; `statement` is what it says.
/// `None` if its plan may depend on its values.
pub fn keep_text_plan(
    instance: &Instance,
    session: &Session,
    statement: &Statement,
    text: &[u8],
) -> Option<TextPlan> {
    PLANS.with_borrow_mut(|plans| {
        if !plans.read(session, text) {
            return None;
        }
        let kept = plans.make(instance, session, statement, text).map(Rc::new);
        let entry = kept.clone().map_or(Entry::Refused { left: PATIENCE }, Entry::Kept);
        plans.put(entry);
        kept.map(|kept| TextPlan {
            values: values(&plans.shape, &kept, session, text),
            statement: Arc::clone(&kept.statement),
        })
    })
}

/// Whether a session's statements mean what they mean in other sessions with its settings.
pub(crate) fn may_share(session: &Session, text: &[u8]) -> bool {
    text.len() <= LONGEST
        && session.frame.temporary.iter().next().is_none()
        && session.locked_tables.is_none()
        && session.frame.acting_as.is_none()
        // Whether a change is refused depends on the plan, which its own values choose.
        && !session.frame.settings.sql_safe_updates
        && session.frame.settings.collation_connection.charset().is_ascii_compatible()
}

impl TextPlans {
    /// Makes the key of a text in `shape`: what its plan depends on besides definitions, and its shape.
    fn read(&mut self, session: &Session, text: &[u8]) -> bool {
        let shape = &mut self.shape;
        shape.bytes.clear();
        shape.literals.clear();
        shape.bytes.extend_from_slice(&session.plan_space().to_ne_bytes());
        shape
            .bytes
            .extend_from_slice(session.frame.schema.as_deref().unwrap_or_default().as_bytes());
        shape.bytes.push(0);
        shape.read(text, session.frame.settings.sql_mode)
    }

    fn find(&mut self, instance: &Instance, session: &Session, text: &[u8]) -> TextLookup {
        let Some(entry) = self.entries.find(&*self.shape.bytes) else {
            self.put(Entry::Seen);
            return TextLookup::Unknown;
        };
        let kept = match entry {
            Entry::Kept(kept) => Rc::clone(kept),
            Entry::Refused { left } if *left > 0 => {
                *left -= 1;
                return TextLookup::Unknown;
            }
            Entry::Seen | Entry::Refused { .. } => return TextLookup::Repeated,
        };
        let same = kept.key.holds(instance, session)
            && kept.fixed.iter().zip(&self.shape.literals).all(|(fixed, (span, _))| {
                fixed.as_ref().is_none_or(|bytes| **bytes == *span.text(text))
            });
        if !same {
            return TextLookup::Repeated;
        }
        let values = values(&self.shape, &kept, session, text);
        TextLookup::Found(TextPlan { statement: Arc::clone(&kept.statement), values })
    }

    fn put(&mut self, entry: Entry) {
        self.entries.keep(self.shape.bytes.as_slice().into(), entry);
    }

    fn make(
        &self,
        instance: &Instance,
        session: &Session,
        statement: &Statement,
        text: &[u8],
    ) -> Option<Kept> {
        let literals = &self.shape.literals;
        let spans: Vec<Span> = literals.iter().map(|(span, _)| *span).collect();
        let mut lifted = statement.clone();
        let is_lifted = lift_literals(&mut lifted, &spans)?;
        let fixed = spans.iter().zip(is_lifted).map(|(span, lifted)| match lifted {
            true => None,
            false => Some(span.text(text).into()),
        });
        let key = PlanKey::new(instance, session);
        let general = Prepared::unplanned(lifted, text.into(), spans.len());
        let kept = Kept { statement: Arc::new(general), key, fixed: fixed.collect() };
        let values = values(&self.shape, &kept, session, text);
        let general = kept.statement.plan(instance, session, &values).ok()?;
        let special = planning::plan(instance, session, statement, text, (&[], 0)).ok()?;
        is_robust(&general, &special).then_some(kept)
    }
}

/// The values of a text's literals; NULL for those that are no parameters.
fn values(shape: &Shape, kept: &Kept, session: &Session, text: &[u8]) -> Vec<(Value, SqlType)> {
    let literals = shape.literals.iter().zip(&kept.fixed);
    literals
        .map(|((span, kind), fixed)| match (fixed, kind) {
            (Some(_), _) => (Value::Null, SqlType::null()),
            (None, kind) => value(*kind, span.text(text), session),
        })
        .collect()
}

/// The type is the same for all of a kind, as it is part of what a plan was made for.
///
/// A kind's longest value is as long as its type says: a column for which that is too long checks
/// each value, as it does literals.
fn value(kind: LiteralKind, raw: &[u8], session: &Session) -> (Value, SqlType) {
    let int = |ty| {
        let value = raw.iter().fold(0, |n: i64, digit| n * 10 + i64::from(digit - b'0'));
        (Value::Int(value), ty)
    };
    let string = |letters: usize| {
        let bytes = string_value(raw, session.frame.settings.sql_mode);
        let collation = session.frame.settings.collation_connection;
        (Value::bytes(&bytes), SqlType::varchar(letters as u32, collation))
    };
    match kind {
        LiteralKind::Int => int(SqlType::new(TypeKind::Int, 9, 0)),
        LiteralKind::BigInt => int(SqlType::new(TypeKind::BigInt, 20, 0)),
        LiteralKind::String => string(SHORT_STRING),
        LiteralKind::LongString => string(LONGEST),
    }
}
