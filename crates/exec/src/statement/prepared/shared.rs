//! Prepared statements shared between sessions: clients of one program prepare the same texts,
//! often for a single execution. Cached per thread ([`crate::query::plan_cache`]).

use std::sync::Arc;

use selkie_plan::is_planned;
use selkie_sql::ClientText;
use selkie_types::SqlResult;

use super::prepare;
use crate::query::plan_cache::{Entry, Form, Kept, PlanCache, may_share};
use crate::state::prepared::Prepared;
use crate::{Instance, Session};

/// Prepares a client's text, or finds it in the cache.
pub fn prepare_shared(
    instance: &Instance,
    session: &mut Session,
    text: &[u8],
    origin: Option<&ClientText>,
) -> SqlResult<Arc<Prepared>> {
    // A user variable has its own type in each session.
    let may_share = origin.is_none() && !text.contains(&b'@') && may_share(session, text);
    if !may_share {
        return announced(instance, session, text, origin).map(Arc::new);
    }
    if let Some(found) = find(instance, session, text) {
        return Ok(found);
    }
    let prepared = Arc::new(announced(instance, session, text, origin)?);
    // Warnings of PREPARE must be raised each time, so such a statement is not cached.
    if session.diagnostics.raised() == 0 {
        let kept = Arc::new(Kept::of_one_text(instance, session, Arc::clone(&prepared)));
        PlanCache::with(session, Form::Prepared, text, |cache| cache.keep(instance, session, kept));
    }
    Ok(prepared)
}

/// Prepares a text, with the columns that the client is told.
fn announced(
    instance: &Instance,
    session: &mut Session,
    text: &[u8],
    origin: Option<&ClientText>,
) -> SqlResult<Prepared> {
    let mut prepared = prepare(instance, session, text, origin)?;
    if !is_planned(&prepared.statement) && prepared.output.is_empty() {
        prepared.output = super::announced::columns(instance, session, &prepared);
    }
    Ok(prepared)
}

fn find(instance: &Instance, session: &Session, text: &[u8]) -> Option<Arc<Prepared>> {
    PlanCache::with(session, Form::Prepared, text, |cache| match cache.find()? {
        Entry::Kept { variants: kept, .. } => {
            let kept = kept.iter().find(|kept| kept.key.holds(instance, session))?;
            kept.statement.forget_outgrown(instance);
            Some(Arc::clone(&kept.statement))
        }
        _ => None,
    })?
}
