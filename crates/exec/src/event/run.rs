//! The run of an event: its statement as a program with the definer's privileges and the settings
//! at its creation.

use selkie_catalog::Event;
use selkie_types::SqlResult;

use crate::query::execution::Execution;
use crate::query::running::Running;
use crate::state::control::Control;
use crate::state::guard;
use crate::{Instance, NullSink, Session, program, query};

/// Runs an event in a session of its own. Rows that it selects go nowhere; its conditions stay in
/// the session.
pub fn run(instance: &Instance, session: &mut Session, event: &Event) -> SqlResult<()> {
    session.core.files.get_or_init(|| instance.places.clone());
    session.join_binlog(instance);
    session.values.statement_start.set(query::now_micros(session));
    session.start_clock();
    session.diagnostics.clear();
    let begun = session.diagnostics.mark();
    let control = &Control::new(session);
    let result = guard::whole(session, |session| {
        let (running, sink) = (Running::new(b"", &[]), &mut NullSink);
        program::run_event(&mut Execution { instance, session, control, running, sink }, event)
    });
    if let Err(error) = &result
        && !session.diagnostics.has_error_since(begun, error)
    {
        session.diagnostics.push_error(error, session.frame.settings.notes.max_error_count);
    }
    result
}
