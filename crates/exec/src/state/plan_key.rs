//! Key of a cached plan: a plan is stale once any part of its key has changed. A new dependency of
//! plans must be added here.

use std::sync::Arc;

use crate::{Instance, Session};

/// Everything outside the statement that its plan depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanKey {
    catalog: u64,
    /// The session and the version of its temporary tables; `None` for every session without any.
    temporary: Option<(u64, u64)>,
    space: u64,
    schema: Option<Arc<str>>,
    locks: (bool, bool),
    privileges: u64,
    acting_as: Option<Arc<str>>,
    /// Number of the LOCK TABLES that was active, if any.
    listed: Option<u64>,
    /// Position of the transaction's snapshot, if an index is younger.
    snapshot: Option<u64>,
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
            snapshot: session.transaction.old_snapshot(),
        }
    }

    /// Whether a plan with this key is still valid: [`Self::new`] would give an equal key.
    pub(crate) fn holds(&self, instance: &Instance, session: &Session) -> bool {
        // Fields are listed by name, so that each is compared.
        let Self { catalog, temporary: of, space, schema, locks, privileges, .. } = self;
        let Self { acting_as, listed, snapshot, .. } = self;
        *catalog == instance.catalog.version()
            && *of == temporary(session)
            && *space == session.plan_space()
            && *schema == session.frame.schema
            && *locks == session.reads_lock()
            && *privileges == session.frame.hooks.privileges_version()
            && *acting_as == session.frame.acting_as
            && *listed == session.lock_list_number()
            && *snapshot == session.transaction.old_snapshot()
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
