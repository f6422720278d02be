//! Prepared statements that sessions share: thousands of connections of one program prepare the same texts, and what is
//! known of each lies in the processor's caches once.
//!
//! Each thread shares those that were prepared on it. Must not share what means something else in another session: a
//! statement is found again only under the same settings, account and database, without temporary or locked tables
//! and variables.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use selkie_sql::ClientText;
use selkie_types::SqlResult;

use super::prepare;
use crate::query::text_plans::may_share;
use crate::state::plan_key::PlanKey;
use crate::state::prepared::Prepared;
use crate::{Instance, Session};

/// Statements remembered until those are forgotten that no session has any more.
const MANY: usize = 1024;

/// What a statement was prepared under, and it, as long as somebody has it.
type Shared = (PlanKey, Weak<Prepared>);

thread_local! {
    static SHARED: RefCell<HashMap<Box<[u8]>, Shared, FixedState>> = RefCell::default();
}

/// Prepares what a client sent, or finds that another session has done so.
pub fn prepare_shared(
    instance: &Instance,
    session: &mut Session,
    text: &[u8],
    origin: Option<&ClientText>,
) -> SqlResult<Arc<Prepared>> {
    // A variable has a type of its own in each session.
    let may_share = origin.is_none() && !text.contains(&b'@') && may_share(session, text);
    if !may_share {
        return prepare(instance, session, text, origin).map(Arc::new);
    }
    let name = name_of(session, text);
    if let Some(found) = find(instance, session, &name) {
        return Ok(found);
    }
    let prepared = Arc::new(prepare(instance, session, text, origin)?);
    if session.diagnostics.raised() == 0 {
        let entry = (PlanKey::new(instance, session), Arc::downgrade(&prepared));
        SHARED.with_borrow_mut(|shared| {
            if shared.len() >= MANY {
                shared.retain(|_, (_, statement)| statement.strong_count() > 0);
            }
            if shared.len() < MANY {
                shared.insert(name, entry);
            }
        });
    }
    Ok(prepared)
}

/// The text, behind what it is looked at under.
fn name_of(session: &Session, text: &[u8]) -> Box<[u8]> {
    let schema = session.frame.schema.as_deref().unwrap_or_default();
    [&session.plan_space().to_ne_bytes(), schema.as_bytes(), &[0], text].concat().into()
}

fn find(instance: &Instance, session: &Session, name: &[u8]) -> Option<Arc<Prepared>> {
    SHARED.with_borrow(|shared| {
        let (key, statement) = shared.get(name)?;
        key.holds(instance, session).then(|| statement.upgrade()).flatten()
    })
}
