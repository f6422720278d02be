//! Sessions of the event scheduler: its own, which marks due times, and those of runs, which have
//! the definer's privileges and the settings of the event.
//!
//! Must not choose events; the scheduler does.

use std::sync::Arc;

use selkie_catalog::Event;
use selkie_engine::{Moment, note_waits};
use selkie_exec::event::{self, Taken};
use selkie_exec::{Instance, guarded};
use selkie_protocol::Capabilities;
use selkie_types::error::catalogue::{ER_DBACCESS_DENIED_ERROR, ER_NO_SUCH_USER};
use selkie_types::{CollationId, Condition, Level, SqlError, SqlResult};

use super::session::ExecutorSession;
use super::system::Registered;
use crate::accounts::{AccessControl, AccountName, Identity, Privileges};
use crate::backend::EventSession;
use crate::net::Closer;
use crate::server::Server;
use crate::session::Shared;
use crate::sessions::{Door, SessionHandle};
use crate::variables::{VarValue, ids};

/// Name of the scheduler in the process list.
const SCHEDULER: &str = "event_scheduler";
const HOST: &str = "localhost";

/// Membership in the process list.
struct Listed {
    server: Arc<Server>,
    handle: Arc<SessionHandle>,
}

impl Listed {
    fn new(server: &Arc<Server>, user: &str) -> Self {
        let id = server.sessions.next_id();
        let handle = SessionHandle::new(id, HOST.to_owned(), Closer::default(), Door::System);
        handle.set_user(user);
        Self { server: Arc::clone(server), handle: Arc::new(handle) }
    }

    /// Shows it.
    fn show(&self) {
        self.server.sessions.add(Arc::clone(&self.handle));
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.server.sessions.remove(self.handle.id);
    }
}

/// The scheduler's own session.
pub(super) struct SchedulerSession {
    inner: ExecutorSession,
    /// Removes the session from the process list at the very end.
    listed: Listed,
}

impl SchedulerSession {
    pub(super) fn open(
        instance: &Arc<Instance>,
        registered: &Registered,
        server: &Arc<Server>,
    ) -> Self {
        let listed = Listed::new(server, SCHEDULER);
        listed.handle.serve("Daemon");
        let identity = Identity {
            user: SCHEDULER.to_owned(),
            host: HOST.to_owned(),
            ip: String::new(),
            account: AccountName::new("", ""),
            role: None,
            used_password: false,
            proxy: None,
        };
        let access = AccessControl::new(Arc::clone(&server.accounts), identity, true);
        let inner = session(instance, registered, (server, &listed.handle), access, |_| {});
        listed.show();
        Self { inner, listed }
    }
}

/// A session whose variables are changed by `set`.
fn session(
    instance: &Arc<Instance>,
    registered: &Registered,
    (server, handle): (&Arc<Server>, &Arc<SessionHandle>),
    access: AccessControl,
    set: impl FnOnce(&Shared),
) -> ExecutorSession {
    let (server, handle) = (Arc::clone(server), Arc::clone(handle));
    let shared = Shared::new(server, handle, access, Capabilities::NONE);
    set(&shared);
    ExecutorSession::new(Arc::clone(instance), Arc::new(shared), Arc::clone(registered))
}

impl EventSession for SchedulerSession {
    fn handle(&self) -> &Arc<SessionHandle> {
        &self.listed.handle
    }

    fn load(&mut self) -> SqlResult<Vec<Event>> {
        self.inner.refresh();
        event::load(&self.inner.instance, &mut self.inner.session)
    }

    fn take(&mut self, name: (&str, &str), due: i64, now: i64) -> SqlResult<Option<Taken>> {
        self.inner.shared.settings_changed();
        self.inner.refresh();
        let taken = event::take(&self.inner.instance, &mut self.inner.session, name, due, now);
        if let Some(binlog) = self.listed.server.binlog() {
            binlog.after_statement();
        }
        taken
    }
}

/// Runs an event and tells the error log of its conditions.
pub(super) fn run(
    instance: &Arc<Instance>,
    registered: &Registered,
    server: &Arc<Server>,
    event: &Event,
) {
    let definer = &event.context.definer;
    let (user, host) = definer.rsplit_once('@').unwrap_or((definer, ""));
    let listed = Listed::new(server, user);
    let log = Log { connection: listed.handle.id, event };
    let access = match access(server, event, (user, host)) {
        Ok(access) => access,
        Err(refused) => return log.refused(&refused),
    };
    let query = server.sessions.next_query_id();
    listed.handle.begin("Connect", Some((*event.body).into()), query, Moment::now());
    let set = |shared: &Shared| set_variables(shared, event);
    let mut inner = session(instance, registered, (server, &listed.handle), access, set);
    inner.session.frame.schema = Some((*event.schema).into());
    listed.show();
    let _charged = selkie_meter::attach(listed.handle.kill.account());
    listed.handle.kill.account().begin_command();
    let before = note_waits(Some(Arc::clone(&listed.handle.waits)));
    let result = guarded(|| event::run(&inner.instance, &mut inner.session, event));
    note_waits(before);
    for condition in inner.session.diagnostics.list() {
        log.condition(&condition);
    }
    if let Err(error) = result
        && inner.session.diagnostics.list().is_empty()
    {
        log.condition(&Condition::from_error(Level::Error, &error));
    }
    inner.report();
}

/// A run that may not begin: the reason, and errors.
struct Refused(&'static str, Vec<SqlError>);

/// The definer's privileges, if they suffice.
fn access(
    server: &Server,
    event: &Event,
    (user, host): (&str, &str),
) -> Result<AccessControl, Refused> {
    let denied = |user: &str, host: &str| {
        SqlError::new(&ER_DBACCESS_DENIED_ERROR, &[&user, &host, &event.schema])
    };
    let unknown = "failed to authenticate the user.";
    let Some(access) = AccessControl::of_definer(&server.accounts, user, host) else {
        let missing = SqlError::new(&ER_NO_SUCH_USER, &[&user, &host]);
        return Err(Refused(unknown, vec![missing, denied("", "")]));
    };
    if !access.may_use(&event.schema) {
        return Err(Refused(unknown, vec![denied(user, host), denied(user, host)]));
    }
    match access.check_database(&event.schema, Privileges::EVENT) {
        Ok(()) => Ok(access),
        Err(error) => Err(Refused("user no longer has EVENT privilege.", vec![error])),
    }
}

/// Gives a session the settings of an event.
fn set_variables(shared: &Shared, event: &Event) {
    let (ids, context) = (ids(), &event.context);
    shared.schema_changed(Some(&event.schema));
    let mut vars = shared.vars.lock();
    vars.set(ids.sql_mode, VarValue::Uint(context.sql_mode));
    vars.set(ids.time_zone, VarValue::text(&*event.zone));
    vars.set(ids.character_set_client, VarValue::text(&*context.client_charset));
    if let Some(collation) = CollationId::from_name(&context.connection_collation) {
        let charset = collation.charset().name();
        vars.set(ids.character_set_connection, VarValue::text(charset));
        vars.set(ids.collation_connection, VarValue::text(collation.name()));
    }
    if let Some(collation) = CollationId::from_name(&context.database_collation) {
        let charset = collation.charset().name();
        vars.set(ids.character_set_database, VarValue::text(charset));
        vars.set(ids.collation_database, VarValue::text(collation.name()));
    }
}

/// The error log's lines about a run.
struct Log<'a> {
    connection: u64,
    event: &'a Event,
}

impl Log<'_> {
    fn refused(&self, Refused(reason, errors): &Refused) {
        let (connection, Event { schema, name, context, .. }) = (self.connection, self.event);
        tracing::error!(
            connection,
            "Event Scheduler: [{}].[{schema}.{name}] execution failed, {reason}",
            context.definer
        );
        for error in errors {
            self.condition(&Condition::from_error(Level::Error, error));
        }
    }

    fn condition(&self, condition: &Condition) {
        let (connection, Event { schema, name, context, .. }) = (self.connection, self.event);
        let text = format!(
            "Event Scheduler: [{}][{schema}.{name}] {}",
            context.definer, condition.message
        );
        match condition.level {
            Level::Error => tracing::error!(connection, "{text}"),
            Level::Warning => tracing::warn!(connection, "{text}"),
            _ => tracing::info!(connection, "{text}"),
        }
    }
}
