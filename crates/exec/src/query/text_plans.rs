//! Plans of statements that clients repeatedly send as text with different values.
//!
//! Texts of one shape differ in literals only. A shape that is seen a second time is planned with
//! its literals as parameters. If this gives the same plan as the values did, and no other values
//! could give a much better one, texts of that shape are no longer parsed and planned.
//!
//! Must not keep a plan that depends on a value: such statements are planned each time.

use std::sync::Arc;

use selkie_sql::ast::{Span, Statement};
use selkie_sql::{LiteralKind, SHORT_STRING, Shape, lift_literals, string_value};
use selkie_types::{SqlType, TypeKind, Value};

use crate::query::execution::Scope;
use crate::query::plan_cache::{Entry, Form, Kept, LONGEST, PlanCache, may_share};
use crate::query::robust::is_robust;
use crate::state::plan_key::PlanKey;
use crate::{Instance, Prepared, Session};

/// A cached statement with the values of one text.
#[derive(Debug)]
pub struct TextPlan {
    /// The statement, with parameters where its texts have literals.
    pub statement: Arc<Prepared>,
    /// Values of these parameters.
    pub values: Vec<(Value, SqlType)>,
}

/// Result of looking a text up.
#[derive(Debug)]
pub enum TextLookup {
    /// The text need not be parsed.
    Found(TextPlan),
    /// Once parsed, it should be passed to [`keep_text_plan`].
    Repeated,
    /// The text must be parsed and planned.
    Unknown,
}

/// Texts of a refused shape that pass before it is tried again.
const PATIENCE: u32 = 1000;

/// Looks up a text that is a single statement in UTF-8.
pub fn find_text_plan(instance: &Instance, session: &Session, text: &[u8]) -> TextLookup {
    if !may_share(session, text) {
        return TextLookup::Unknown;
    }
    let found =
        PlanCache::with(session, Form::Text, text, |cache| find(cache, instance, session, text));
    found.unwrap_or(TextLookup::Unknown)
}

/// Plans a repeated text with parameters and caches it; `statement` is the parsed text. `None` if
/// the plan may depend on the values.
pub fn keep_text_plan(
    instance: &Instance,
    session: &Session,
    statement: &Statement,
    text: &[u8],
) -> Option<TextPlan> {
    let scope = Scope { instance, session };
    PlanCache::with(session, Form::Text, text, |cache| {
        let kept = make(&cache.shape, scope, statement, text).map(Arc::new);
        cache.put(kept.clone().map_or(Entry::Refused { left: PATIENCE }, Entry::Kept));
        kept.map(|kept| text_plan(&cache.shape, &kept, session, text))
    })?
}

fn find(cache: &mut PlanCache, instance: &Instance, session: &Session, text: &[u8]) -> TextLookup {
    let Some(entry) = cache.find() else {
        cache.put(Entry::Seen);
        return TextLookup::Unknown;
    };
    let kept = match entry {
        Entry::Kept(kept) => Arc::clone(kept),
        Entry::Refused { left } if *left > 0 => {
            *left -= 1;
            return TextLookup::Unknown;
        }
        Entry::Seen | Entry::Refused { .. } => return TextLookup::Repeated,
    };
    let same = kept.key.holds(instance, session)
        && kept.fixed.iter().zip(&cache.shape.literals).all(|(fixed, (span, _))| {
            fixed.as_ref().is_none_or(|bytes| **bytes == *span.text(text))
        });
    match same {
        true => TextLookup::Found(text_plan(&cache.shape, &kept, session, text)),
        false => TextLookup::Repeated,
    }
}

fn text_plan(shape: &Shape, kept: &Kept, session: &Session, text: &[u8]) -> TextPlan {
    let values = values(shape, kept, session, text);
    TextPlan { statement: Arc::clone(&kept.statement), values }
}

fn make(shape: &Shape, scope: Scope<'_>, statement: &Statement, text: &[u8]) -> Option<Kept> {
    let Scope { instance, session } = scope;
    let spans: Vec<Span> = shape.literals.iter().map(|(span, _)| *span).collect();
    let mut lifted = statement.clone();
    let is_lifted = lift_literals(&mut lifted, &spans)?;
    let fixed = spans.iter().zip(is_lifted).map(|(span, lifted)| match lifted {
        true => None,
        false => Some(span.text(text).into()),
    });
    let key = PlanKey::new(instance, session);
    let general = Prepared::unplanned(lifted, text.into(), spans.len());
    let kept = Kept { statement: Arc::new(general), key, fixed: fixed.collect() };
    let values = values(shape, &kept, session, text);
    let general = kept.statement.plan(scope, &values).ok()?;
    let special = scope.plan(statement, text, (&[], 0)).ok()?;
    is_robust(&general, &special).then_some(kept)
}

/// Values of a text's literals; NULL for literals that are not parameters.
fn values(shape: &Shape, kept: &Kept, session: &Session, text: &[u8]) -> Vec<(Value, SqlType)> {
    let literals = shape.literals.iter().zip(&kept.fixed);
    literals
        .map(|((span, kind), fixed)| match (fixed, kind) {
            (Some(_), _) => (Value::Null, SqlType::null()),
            (None, kind) => value(*kind, span.text(text), session),
        })
        .collect()
}

/// Value and type of a literal. All literals of a kind have one type, because types are part of a
/// plan's key.
///
/// A type is as long as the kind's longest value. A column that may be too short for it checks each
/// value, as it does for literals.
fn value(kind: LiteralKind, raw: &[u8], session: &Session) -> (Value, SqlType) {
    let int = |ty| {
        let value = raw.iter().fold(0, |n: i64, digit| n * 10 + i64::from(digit - b'0'));
        (Value::Int(value), ty)
    };
    let string = |letters: usize| {
        let bytes = string_value(raw, session.frame.settings.expressions.sql_mode);
        let collation = session.frame.settings.expressions.collation_connection;
        (Value::bytes(&bytes), SqlType::varchar(letters as u32, collation))
    };
    match kind {
        LiteralKind::Int => int(SqlType::new(TypeKind::Int, 9, 0)),
        LiteralKind::BigInt => int(SqlType::new(TypeKind::BigInt, 20, 0)),
        LiteralKind::String => string(SHORT_STRING),
        LiteralKind::LongString => string(LONGEST),
    }
}
