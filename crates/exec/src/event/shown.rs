//! Rows of `information_schema.EVENTS`. Accounts see events of schemas on which they have EVENT.
//!
//! Must not show events of other schemas.

use selkie_catalog::Event;
use selkie_types::{SqlResult, Value};

use super::EventTable;
use crate::state::control::Control;
use crate::state::instance::{SystemRequest, SystemTable};
use crate::state::session::{Access, Privilege};

/// The table `information_schema.EVENTS`.
pub(crate) struct EventList;

impl SystemTable for EventList {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let session = request.session;
        let control = Control::new(session);
        let events =
            EventTable::open(request.instance, &control)?.all(request.instance, request.schema)?;
        let sees = |event: &&Event| {
            let (privilege, schema) = (Privilege::Event, &*event.schema);
            let access = Access { privilege, schema, table: "", columns: &[] };
            session.frame.hooks.check_access(session, &access).is_ok()
        };
        events.iter().filter(sees).try_for_each(|event| emit(&event.information_row()?))
    }
}
