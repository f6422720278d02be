//! The key of a kept plan: a plan is stale once any part of its key has changed.

use std::sync::Arc;

use crate::{Instance, Session};

/// Everything outside the statement that its plan was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanKey {
    catalog: u64,
    /// The session with the version of its temporary tables; without any it does not matter whose
    /// they were.
    temporary: Option<(u64, u64)>,
    space: u64,
    schema: Option<Arc<str>>,
    locks: (bool, bool),
    privileges: u64,
    acting_as: Option<Arc<str>>,
    /// The number of the LOCK TABLES under which it was made, if under any.
    listed: Option<u64>,
}

impl PlanKey {
    pub(crate) fn new(instance: &Instance, session: &Session) -> Self {
        Self {
            catalog: instance.catalog.version(),
            temporary: temporary(session),
            space: session.plan_space(),
            schema: session.frame.schema.clone(),
            locks: session.reads_lock(),
            privileges: session.frame.hooks.privileges_version(),
            acting_as: session.frame.acting_as.clone(),
            listed: session.lock_list_number(),
        }
    }

    /// Whether a plan made under this one is good still: [`Self::new`] would say the same.
    pub(crate) fn holds(&self, instance: &Instance, session: &Session) -> bool {
        // All of them by name: one that is added cannot be forgotten here.
        let Self { catalog, temporary: of, space, schema, locks, privileges, .. } = self;
        let Self { acting_as, listed, .. } = self;
        *catalog == instance.catalog.version()
            && *of == temporary(session)
            && *space == session.plan_space()
            && *schema == session.frame.schema
            && *locks == session.reads_lock()
            && *privileges == session.frame.hooks.privileges_version()
            && *acting_as == session.frame.acting_as
            && *listed == session.lock_list_number()
    }
}

fn temporary(session: &Session) -> Option<(u64, u64)> {
    session
        .frame
        .temporary
        .iter()
        .next()
        .map(|_| (session.core.id, session.frame.temporary.version))
}
