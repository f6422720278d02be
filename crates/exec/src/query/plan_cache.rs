//! Statements and their plans, cached per thread, so that a repeated text is neither parsed nor
//! planned again.
//!
//! A key consists of the settings and schema that a statement's meaning depends on, and of the
//! text: unchanged for statements that clients prepare ([`Form::Prepared`]), and as a shape without
//! literals for statements that they send as text ([`Form::Text`]). A text whose plan depends on
//! its values is kept unchanged, too ([`Form::Whole`]). Each thread has its own cache, so that a
//! lookup touches no memory that other threads write. Sessions with the same settings share the
//! entries.
//!
//! Must not keep a statement that means something else in another session: see [`may_share`].

use std::cell::RefCell;
use std::sync::Arc;

use selkie_plan::Assumption;
use selkie_sql::Shape;
use smallvec::SmallVec;

use crate::state::generations::hash_of;
use crate::state::plan_key::PlanKey;
use crate::{Generations, Instance, Prepared, Session};

/// Longest text that is cached, in bytes.
pub(super) const LONGEST: usize = 8 << 10;
/// Statements kept in each generation of a thread.
const GENERATION: usize = 512;
/// Whole texts kept in each generation. Their plans are those of joins and reports: larger ones.
const WHOLE_GENERATION: usize = 128;
/// Whole texts remembered after one use.
const REMEMBERED: usize = 1 << 10;

/// Way in which a client sends a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// Sent to be executed: its literals are not part of the key.
    Text,
    /// Sent to be prepared.
    Prepared,
    /// Sent to be executed: its literals are part of the key.
    Whole,
}

/// A cached statement.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) statement: Arc<Prepared>,
    /// Versions and settings it was planned under.
    pub(crate) key: PlanKey,
    /// For each literal, the text it must have; `None` if the literal is a parameter.
    pub(crate) fixed: Vec<Option<Box<[u8]>>>,
    /// For each literal, whether it is a string that must be a plain integer: a column of integers
    /// is compared with it.
    pub(crate) integers: Vec<bool>,
    /// Estimates for the parameters on which the choice of the plan rests.
    pub(crate) assumptions: Vec<Assumption>,
}

impl Kept {
    /// A statement cached for one text only.
    pub(crate) fn of_one_text(
        instance: &Instance,
        session: &Session,
        statement: Arc<Prepared>,
    ) -> Self {
        Self {
            statement,
            key: PlanKey::new(instance, session),
            fixed: Vec::new(),
            integers: Vec::new(),
            assumptions: Vec::new(),
        }
    }

    /// Whether it is for the same texts as `other`.
    fn is_like(&self, other: &Self) -> bool {
        self.fixed == other.fixed && self.integers == other.integers && self.assumptions.is_empty()
    }
}

/// State of a key.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// One text with this key was seen.
    Seen,
    /// The plans depend on the values; `left` more texts are ignored before the next attempt.
    Refused { left: u32 },
    /// Statements that are kept.
    Kept { variants: Variants, misses: Misses },
}

/// Texts that found no fitting statement among those kept for their shape.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Misses(u16);

impl Misses {
    /// Cost of a text without a statement, in texts with one.
    const COST: u16 = 8;
    /// Too many of them: statements are made more often than they are used.
    const MOST: u16 = 12 * Self::COST;

    /// Counts a text that found one.
    pub(crate) fn found(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }

    /// Counts a text that found none; true if there are too many.
    pub(crate) fn missed(&mut self) -> bool {
        self.0 += Self::COST;
        self.0 > Self::MOST
    }
}

/// Statements of one key whose fixed literals or assumptions differ; the newest first.
pub(crate) type Variants = SmallVec<[Arc<Kept>; 1]>;

/// Most statements of one key.
const VARIANTS: usize = 4;

/// Cache of one thread.
pub(crate) struct PlanCache {
    /// Key of the current text, and its literals.
    pub(super) shape: Shape,
    /// The current text is kept whole.
    is_whole: bool,
    entries: Generations<Box<[u8]>, Entry>,
    whole: Generations<Box<[u8]>, Entry>,
    /// Hashes of whole texts that were used once, each at the place it gives. Most are of texts
    /// that never come again, and would displace those that do.
    remembered: Box<[u64]>,
}

thread_local! {
    static CACHE: RefCell<PlanCache> = RefCell::new(PlanCache {
        shape: Shape::default(),
        is_whole: false,
        entries: Generations::new(GENERATION),
        whole: Generations::new(WHOLE_GENERATION),
        remembered: vec![0; REMEMBERED].into(),
    });
}

impl PlanCache {
    /// Runs `work` on this thread's cache with the key of `text`; `None` if the text has no key.
    pub(crate) fn with<R>(
        session: &Session,
        form: Form,
        text: &[u8],
        work: impl FnOnce(&mut Self) -> R,
    ) -> Option<R> {
        CACHE.with_borrow_mut(|cache| cache.read(session, form, text).then(|| work(cache)))
    }

    /// Builds the key of a text; false if it has none.
    fn read(&mut self, session: &Session, form: Form, text: &[u8]) -> bool {
        let key = &mut self.shape.bytes;
        self.is_whole = matches!(form, Form::Whole);
        key.clear();
        self.shape.literals.clear();
        key.push(form as u8);
        key.extend_from_slice(&session.plan_space().to_ne_bytes());
        key.extend_from_slice(session.frame.schema.as_deref().unwrap_or_default().as_bytes());
        key.push(0);
        match form {
            Form::Text => self.shape.read(text, session.frame.settings.expressions.sql_mode),
            Form::Prepared | Form::Whole => {
                key.extend_from_slice(text);
                true
            }
        }
    }

    /// The entry of the current key.
    pub(crate) fn find(&mut self) -> Option<&mut Entry> {
        self.find_beside().0
    }

    /// The entry of the current key, and the key.
    pub(super) fn find_beside(&mut self) -> (Option<&mut Entry>, &Shape) {
        let entries = if self.is_whole { &mut self.whole } else { &mut self.entries };
        (entries.find(&*self.shape.bytes), &self.shape)
    }

    /// Stores the entry of the current key.
    pub(crate) fn put(&mut self, entry: Entry) {
        let entries = if self.is_whole { &mut self.whole } else { &mut self.entries };
        entries.keep(self.shape.bytes.as_slice().into(), entry);
    }

    /// Stores a statement of the current key, in place of those that no longer hold or that have
    /// the same fixed literals.
    pub(crate) fn keep(&mut self, instance: &Instance, session: &Session, kept: Arc<Kept>) {
        let (mut variants, misses) = match self.find() {
            Some(Entry::Kept { variants, misses }) => (std::mem::take(variants), *misses),
            _ => (Variants::new(), Misses::default()),
        };
        variants.retain(|one| one.key.holds(instance, session) && !one.is_like(&kept));
        variants.truncate(VARIANTS - 1);
        variants.insert(0, kept);
        self.put(Entry::Kept { variants, misses });
    }

    /// Remembers the current key; true if it was used lately.
    pub(crate) fn remember(&mut self) -> bool {
        let hash = hash_of(&*self.shape.bytes);
        let place = &mut self.remembered[hash as usize % REMEMBERED];
        std::mem::replace(place, hash) == hash
    }
}

/// Whether a session's statements mean the same in other sessions with its settings.
pub(crate) fn may_share(session: &Session, text: &[u8]) -> bool {
    text.len() <= LONGEST
        && session.frame.temporary.iter().next().is_none()
        && session.lock_list.is_none()
        && session.frame.acting_as.is_none()
        // Safe updates refuse a statement depending on its plan, and so on its values.
        && !session.frame.settings.dml.sql_safe_updates
        // A trace needs the statement itself.
        && !session.frame.settings.notes.traces
        && session.frame.settings.expressions.collation_connection.charset().is_ascii_compatible()
}
