//! The statements that a thread keeps with their plans, so that a text met again is not parsed and
//! planned again.
//!
//! A key is what a statement's meaning depends on besides definitions, and its text: as it is for
//! statements that clients prepare ([`Form::Prepared`]), as a shape without literals for texts that
//! they send to be run ([`Form::Text`]). Each thread keeps its own, so that finding one touches
//! nothing that others write; sessions that agree in everything plans depend on share them.
//!
//! Must not keep what means something else in another session: [`may_share`].

use std::cell::RefCell;
use std::sync::Arc;

use selkie_sql::Shape;

use crate::state::plan_key::PlanKey;
use crate::{Generations, Instance, Prepared, Session};

/// Longest text that is looked at, in bytes.
pub(super) const LONGEST: usize = 8 << 10;
/// Statements kept in each generation of a thread.
const GENERATION: usize = 512;

/// How a client sends a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// To be run: its literals are no part of the key.
    Text,
    /// To be prepared.
    Prepared,
}

/// A statement that is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) statement: Arc<Prepared>,
    /// What it was planned under.
    pub(crate) key: PlanKey,
    /// For each literal of its texts, the text it has to have; `None` for those that are
    /// parameters.
    pub(crate) fixed: Vec<Option<Box<[u8]>>>,
}

impl Kept {
    /// A statement that is for one text only.
    pub(crate) fn prepared(
        instance: &Instance,
        session: &Session,
        statement: Arc<Prepared>,
    ) -> Self {
        Self { statement, key: PlanKey::new(instance, session), fixed: Vec::new() }
    }
}

/// What is known of a key.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A text had it.
    Seen,
    /// Its plans depend on its values; how often it is still met before it is tried again.
    Refused {
        left: u32,
    },
    Kept(Arc<Kept>),
}

/// Entries by key.
pub(crate) struct PlanCache {
    /// The key of the text at hand, and its literals.
    pub(super) shape: Shape,
    entries: Generations<Box<[u8]>, Entry>,
}

thread_local! {
    static CACHE: RefCell<PlanCache> = RefCell::new(PlanCache {
        shape: Shape::default(),
        entries: Generations::new(GENERATION),
    });
}

impl PlanCache {
    /// Uses the cache of this thread with the key of a text at hand; `None` if the text has none.
    pub(crate) fn with<R>(
        session: &Session,
        form: Form,
        text: &[u8],
        work: impl FnOnce(&mut Self) -> R,
    ) -> Option<R> {
        CACHE.with_borrow_mut(|cache| cache.read(session, form, text).then(|| work(cache)))
    }

    /// Makes the key of a text.
    fn read(&mut self, session: &Session, form: Form, text: &[u8]) -> bool {
        let key = &mut self.shape.bytes;
        key.clear();
        self.shape.literals.clear();
        key.push(form as u8);
        key.extend_from_slice(&session.plan_space().to_ne_bytes());
        key.extend_from_slice(session.frame.schema.as_deref().unwrap_or_default().as_bytes());
        key.push(0);
        match form {
            Form::Text => self.shape.read(text, session.frame.settings.expressions.sql_mode),
            Form::Prepared => {
                key.extend_from_slice(text);
                true
            }
        }
    }

    /// What is known of the key at hand.
    pub(crate) fn find(&mut self) -> Option<&mut Entry> {
        self.entries.find(&*self.shape.bytes)
    }

    /// Keeps what is known of the key at hand.
    pub(crate) fn put(&mut self, entry: Entry) {
        self.entries.keep(self.shape.bytes.as_slice().into(), entry);
    }
}

/// Whether a session's statements mean what they mean in other sessions with its settings.
pub(crate) fn may_share(session: &Session, text: &[u8]) -> bool {
    text.len() <= LONGEST
        && session.frame.temporary.iter().next().is_none()
        && session.locked_tables.is_none()
        && session.frame.acting_as.is_none()
        // Whether a change is refused depends on the plan, which its own values choose.
        && !session.frame.settings.dml.sql_safe_updates
        && session.frame.settings.expressions.collation_connection.charset().is_ascii_compatible()
}
