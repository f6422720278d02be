//! Plans of statements that clients repeatedly send as text with different values.
//!
//! Texts of one shape differ in literals only. A shape that is seen a second time is planned with
//! its literals as parameters. If this gives the same plan as the values did, and no other values
//! could give a much better one, texts of that shape are no longer parsed and planned.
//!
//! The plan of any other query is kept for its one text, like that of a prepared statement without
//! parameters: applications send many joins and reports again and again without a change.
//!
//! Must not run a plan that depends on a value for a text with another value.

use std::sync::Arc;

use selkie_plan::Assumption;
use selkie_plan::physical::Plan;
use selkie_sql::ast::{Span, Statement};
use selkie_sql::{
    Lifted, LiteralKind, LiteralPlace, SHORT_STRING, Shape, lift_literals, string_value,
};
use selkie_types::{SqlType, TypeKind, Value};

use crate::query::execution::Scope;
use crate::query::plan_cache::{Entry, Form, Kept, LONGEST, PlanCache, may_share};
use crate::query::planning::Parameters;
use crate::query::prepared::forget_text;
use crate::query::robust::{is_as_estimated, is_repeatable, is_robust};
use crate::state::plan_key::PlanKey;
use crate::state::prepared::CachedPlan;
use crate::state::session::bump;
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
    Repeated(Repeated),
    /// The text must be parsed and planned.
    Unknown,
}

/// Part of a text that was met before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The text without its literals.
    Shape,
    /// The whole text.
    Text,
}

/// Texts of a refused shape that pass before it is tried again.
const PATIENCE: u32 = 1000;

/// Looks up a text that is a single statement in UTF-8.
pub fn find_text_plan(instance: &Instance, session: &Session, text: &[u8]) -> TextLookup {
    if !may_have_plan(text) || !may_share(session, text) {
        return TextLookup::Unknown;
    }
    let found = look_up(instance, session, text);
    let counters = &session.core.counters;
    match &found {
        TextLookup::Found(_) => bump(&counters.plan_hits, 1),
        TextLookup::Repeated(_) | TextLookup::Unknown => bump(&counters.plan_misses, 1),
    }
    found
}

fn look_up(instance: &Instance, session: &Session, text: &[u8]) -> TextLookup {
    let found =
        PlanCache::with(session, Form::Text, text, |cache| find(cache, instance, session, text));
    match found {
        Some(Shaped::Found(found)) => TextLookup::Found(found),
        Some(Shaped::Repeated) => TextLookup::Repeated(Repeated::Shape),
        Some(Shaped::Met) => TextLookup::Unknown,
        Some(Shaped::Refused) | None if may_be_kept(text) => {
            let found = PlanCache::with(session, Form::Whole, text, |cache| {
                find_whole(cache, instance, session)
            });
            found.unwrap_or(TextLookup::Unknown)
        }
        Some(Shaped::Refused) | None => TextLookup::Unknown,
    }
}

/// Plans a repeated text and caches it; `statement` is the parsed text. `None` if that cannot be.
pub fn keep_text_plan(
    instance: &Instance,
    session: &Session,
    statement: &Statement,
    text: &[u8],
    repeated: Repeated,
) -> Option<TextPlan> {
    let scope = Scope { instance, session };
    match repeated {
        Repeated::Shape => keep_shape(scope, statement, text).or_else(|| {
            PlanCache::with(session, Form::Whole, text, PlanCache::remember);
            None
        }),
        Repeated::Text => PlanCache::with(session, Form::Whole, text, |cache| {
            let made = make_whole(scope, statement, text);
            let kept = keep(cache, scope, made)?;
            Some(whole_plan(&kept))
        })?,
    }
}

/// Plans a text with parameters in the places of its literals. `None` if the plan may depend on the
/// values.
fn keep_shape(scope: Scope<'_>, statement: &Statement, text: &[u8]) -> Option<TextPlan> {
    let session = scope.session;
    PlanCache::with(session, Form::Text, text, |cache| {
        let made = make(&cache.shape, scope, statement, text);
        let kept = keep(cache, scope, made)?;
        Some(text_plan(&cache.shape, &kept, session, text))
    })?
}

/// Caches a statement, or that there is none.
fn keep(cache: &mut PlanCache, scope: Scope<'_>, made: Option<Kept>) -> Option<Arc<Kept>> {
    let Some(kept) = made.map(Arc::new) else {
        cache.put(Entry::Refused { left: PATIENCE });
        return None;
    };
    cache.keep(scope.instance, scope.session, Arc::clone(&kept));
    Some(kept)
}

/// Result of looking a shape up.
enum Shaped {
    Found(TextPlan),
    Repeated,
    /// It was met for the first time.
    Met,
    /// There is no plan for this text's values.
    Refused,
}

fn find(cache: &mut PlanCache, instance: &Instance, session: &Session, text: &[u8]) -> Shaped {
    let (Some(entry), shape) = cache.find_beside() else {
        cache.put(Entry::Seen);
        return Shaped::Met;
    };
    match entry {
        Entry::Kept { variants, misses } => {
            let scope = Scope { instance, session };
            let found = variants.iter().find_map(|kept| fitting(shape, kept, scope, text));
            if let Some(found) = found {
                misses.found();
                return Shaped::Found(found);
            }
            if !misses.missed() {
                return Shaped::Repeated;
            }
            *entry = Entry::Refused { left: PATIENCE };
            Shaped::Refused
        }
        Entry::Refused { left } if *left > 0 => {
            *left -= 1;
            Shaped::Refused
        }
        Entry::Seen | Entry::Refused { .. } => Shaped::Repeated,
    }
}

/// The plan of a kept statement with the values of a text, if it is valid and good for them.
fn fitting(shape: &Shape, kept: &Kept, scope: Scope<'_>, text: &[u8]) -> Option<TextPlan> {
    let Scope { instance, session } = scope;
    let is_same =
        kept.fixed.iter().zip(&shape.literals).all(|(fixed, (span, _))| {
            fixed.as_ref().is_none_or(|bytes| **bytes == *span.text(text))
        });
    let mut strings = kept.integers.iter().zip(&shape.literals).filter(|(integer, _)| **integer);
    let are_integers = strings.all(|(_, (span, kind))| is_integer(*kind, span.text(text)));
    if !is_same || !are_integers || !kept.key.holds(instance, session) {
        return None;
    }
    let plan = text_plan(shape, kept, session, text);
    let rests = !kept.assumptions.is_empty();
    let is_fit = !rests
        || kept.statement.fits_sizes(instance) && scope.holds(&kept.assumptions, &plan.values);
    is_fit.then_some(plan)
}

/// Whether a text may be kept whole: a query without user variables, which have their own types in
/// each session.
fn may_be_kept(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'@') {
        if rest.get(at + 1) != Some(&b'@') {
            return false;
        }
        rest = &rest[at + 2..];
    }
    may_be_query(text.trim_ascii_start())
}

/// Whether a text may be a statement that is planned, or begins with a comment.
fn may_have_plan(text: &[u8]) -> bool {
    const OTHERS: [&str; 7] = ["insert", "update", "delete", "replace", "values", "--", "#"];
    let start = text.trim_ascii_start();
    may_be_query(start) || begins_with(start, &OTHERS)
}

/// Whether a text without blanks before it may be a query, by its first letters.
pub(super) fn may_be_query(text: &[u8]) -> bool {
    begins_with(text, &["select", "with", "(", "/*"])
}

fn begins_with(text: &[u8], words: &[&str]) -> bool {
    let begins = |word: &&str| {
        text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    words.iter().any(begins)
}

fn find_whole(cache: &mut PlanCache, instance: &Instance, session: &Session) -> TextLookup {
    match cache.find() {
        Some(Entry::Kept { variants: kept, .. }) if kept[0].key.holds(instance, session) => {
            kept[0].statement.forget_outgrown(instance);
            TextLookup::Found(whole_plan(&kept[0]))
        }
        Some(Entry::Refused { left }) if *left > 0 => {
            *left -= 1;
            TextLookup::Unknown
        }
        Some(_) => TextLookup::Repeated(Repeated::Text),
        None => match cache.remember() {
            true => TextLookup::Repeated(Repeated::Text),
            false => TextLookup::Unknown,
        },
    }
}

fn whole_plan(kept: &Kept) -> TextPlan {
    TextPlan { statement: Arc::clone(&kept.statement), values: Vec::new() }
}

/// Plans a query with its values. `None` if not every execution may use the plan.
fn make_whole(scope: Scope<'_>, statement: &Statement, text: &[u8]) -> Option<Kept> {
    let Scope { instance, session } = scope;
    if !matches!(statement, Statement::Query(_)) {
        return None;
    }
    let key = PlanKey::new(instance, session);
    let plan = scope.plan(statement, text, Parameters::none()).ok().filter(is_repeatable)?;
    let prepared = Prepared::unplanned(statement.clone(), text.into(), 0);
    prepared.keep(CachedPlan::new(instance, Arc::new(plan), key, Vec::new()));
    Some(Kept::of_one_text(instance, session, Arc::new(prepared)))
}

fn text_plan(shape: &Shape, kept: &Kept, session: &Session, text: &[u8]) -> TextPlan {
    let values = values(shape, kept, session, text);
    TextPlan { statement: Arc::clone(&kept.statement), values }
}

/// The statement with parameters: as many as possible if their values make no difference, else
/// those whose effect is known to estimates.
fn make(shape: &Shape, scope: Scope<'_>, statement: &Statement, text: &[u8]) -> Option<Kept> {
    let special = scope.plan(statement, text, Parameters::none()).ok()?;
    [Lifted::OfOneTable, Lifted::OfEqualities].into_iter().find_map(|which| {
        let (kept, general) = lifted(shape, scope, (statement, text), &special, which)?;
        let Kept { assumptions, .. } = &kept;
        let is_robust = match which {
            Lifted::OfOneTable => is_robust(&general, &special),
            Lifted::OfEqualities => is_as_estimated(&general, &special, assumptions),
        };
        is_robust.then_some(kept)
    })
}

/// The statement with some of its literals as parameters, and its plan.
fn lifted(
    shape: &Shape,
    scope: Scope<'_>,
    (statement, text): (&Statement, &[u8]),
    special: &Plan,
    which: Lifted,
) -> Option<(Kept, Arc<Plan>)> {
    let Scope { instance, session } = scope;
    let spans: Vec<Span> = shape.literals.iter().map(|(span, _)| *span).collect();
    let mut lifted = statement.clone();
    let places = lift_literals(&mut lifted, &spans, which)?;
    let fixed = spans.iter().zip(&places).map(|(span, place)| match place {
        Some(_) => None,
        None => Some(span.text(text).into()),
    });
    let integers = shape.literals.iter().zip(&places).map(|((span, kind), place)| match place {
        Some(LiteralPlace::Compared(column)) => {
            is_integer(*kind, span.text(text)) && is_integer_column(special, column)
        }
        _ => false,
    });
    let key = PlanKey::new(instance, session);
    let prepared = Prepared::unplanned(lifted, text.into(), spans.len());
    let mut kept = Kept {
        statement: Arc::new(prepared),
        key: key.clone(),
        fixed: fixed.collect(),
        integers: integers.collect(),
        assumptions: Vec::new(),
    };
    let values = values(shape, &kept, session, text);
    let (mut plan, mut assumptions) =
        scope.plan_for_others(&kept.statement.statement, text, &values).ok()?;
    forget_text(&mut plan);
    if which == Lifted::OfOneTable {
        // Ranges make no difference to such a plan.
        assumptions.retain(|one| matches!(one, Assumption::Limit { .. }));
    }
    kept.assumptions = assumptions;
    let plan = Arc::new(plan);
    let types = values.into_iter().map(|(_, ty)| ty).collect();
    kept.statement.keep(CachedPlan::new(instance, Arc::clone(&plan), key, types));
    Some((kept, plan))
}

/// Values of a text's literals; NULL for literals that are not parameters.
fn values(shape: &Shape, kept: &Kept, session: &Session, text: &[u8]) -> Vec<(Value, SqlType)> {
    let literals = shape.literals.iter().zip(&kept.fixed).zip(&kept.integers);
    literals
        .map(|(((span, kind), fixed), is_integer)| match (fixed, is_integer) {
            (Some(_), _) => (Value::Null, SqlType::null()),
            (None, true) => value(LiteralKind::Int, inside(span.text(text)), session),
            (None, false) => value(*kind, span.text(text), session),
        })
        .collect()
}

/// Whether a literal is a string that has the value and the text of an integer of
/// [`LiteralKind::Int`].
fn is_integer(kind: LiteralKind, raw: &[u8]) -> bool {
    const DIGITS: usize = 9;
    let digits = inside(raw);
    kind == LiteralKind::String
        && (1..=DIGITS).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit)
        && (digits.len() == 1 || digits[0] != b'0')
}

/// A string literal without its quotes.
fn inside(raw: &[u8]) -> &[u8] {
    raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default()
}

/// Whether all columns of this name that a plan can mean are integers: they compare with a string
/// that is an integer as with the integer.
fn is_integer_column(plan: &Plan, name: &str) -> bool {
    let columns = plan.tables.iter().flat_map(|table| table.columns.iter());
    let mut same = columns.filter(|column| column.name.eq_ignore_ascii_case(name)).peekable();
    same.peek().is_some() && same.all(|column| column.ty.is_integer())
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
