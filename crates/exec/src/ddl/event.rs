//! CREATE, ALTER and DROP of events. An event is a row of `mysql.event`, which changes together
//! with the dictionary. Its body is only checked here and is compiled when it runs.
//!
//! Compat: these statements commit the open transaction even if the account may not run them.

use selkie_catalog::{Event, EventStatus, ProgramContext};
use selkie_expr::VariableScope;
use selkie_sql::ast::{
    self, AccountName, AlterEvent, CreateEvent, DropStored, EventOptions, Statement, StoredKind,
    TableName,
};
use selkie_types::error::catalogue::{
    ER_EVENT_ALREADY_EXISTS, ER_EVENT_CANNOT_ALTER_IN_THE_PAST, ER_EVENT_CANNOT_CREATE_IN_THE_PAST,
    ER_EVENT_DOES_NOT_EXIST, ER_EVENT_EXEC_TIME_IN_THE_PAST, ER_EVENT_SAME_NAME,
    ER_EVENTS_DB_ERROR, ER_SP_DOES_NOT_EXIST, ER_SP_WRONG_NAME, ER_UNKNOWN_ERROR,
};
use selkie_types::temporal::MICROS_PER_SECOND;
use selkie_types::{CollationId, Condition, Level, SqlError, SqlResult, Value};

use super::Ddl;
use super::change::Change;
use crate::event::{EventTable, TABLE, lock_name};
use crate::state::metadata::{LockMode, LockTicket};
use crate::state::session::EventChange;
use crate::{Outcome, program};

/// Whether a statement defines an event.
pub(super) fn is_about_event(statement: &Statement) -> bool {
    match statement {
        Statement::CreateEvent(_) | Statement::AlterEvent(_) => true,
        Statement::DropStored(drop) => drop.kind == StoredKind::Event,
        _ => false,
    }
}

fn status_of(status: ast::EventStatus) -> EventStatus {
    match status {
        ast::EventStatus::Enabled => EventStatus::Enabled,
        ast::EventStatus::Disabled => EventStatus::Disabled,
        ast::EventStatus::DisabledOnSlave => EventStatus::DisabledOnSlave,
    }
}

impl Ddl<'_> {
    /// Begins a statement about events. Compat: the privilege to name a definer comes first.
    pub(super) fn begin_event_statement(&mut self, statement: &Statement) -> SqlResult<()> {
        self.check_no_lock_tables()?;
        self.session.commit()?;
        let definer = match statement {
            Statement::CreateEvent(create) => create.definer.as_ref(),
            Statement::AlterEvent(alter) => alter.definer.as_ref(),
            _ => None,
        };
        self.check_may_define(&self.account_named(definer))?;
        match self.scheduler()?.as_str() {
            "DISABLED" => Err(SqlError::new(&ER_EVENTS_DB_ERROR, &[])),
            _ => Ok(()),
        }
    }

    /// Value of `event_scheduler`; empty without a server.
    fn scheduler(&self) -> SqlResult<String> {
        let hooks = &self.session.frame.hooks;
        Ok(match hooks.variable(self.session, VariableScope::Global, "event_scheduler") {
            Ok(Value::Bytes(name)) => String::from_utf8_lossy(&name).into_owned(),
            _ => String::new(),
        })
    }

    pub(super) fn create_event(&mut self, create: &CreateEvent) -> SqlResult<Outcome> {
        let (schema, name) = self.event_name(&create.name)?;
        let context = self.event_context(&schema, create.definer.as_ref())?;
        let timing = self.timing(&create.schedule)?;
        let _locks = self.lock_event(&schema, name)?;
        if self.instance.catalog.snapshot().schema(&schema).is_none() {
            return Err(SqlError::unknown_database(&schema));
        }
        let event = Event {
            schema: schema.to_string(),
            name: name.to_owned(),
            body: self.event_body(&create.body),
            context,
            timing,
            last_executed: None,
            status: EventStatus::Enabled,
            preserve: false,
            comment: String::new(),
            originator: self.session.frame.settings.binlog.server_id,
            zone: self.zone_name(),
        };
        let Some(event) = self.with_options(event, &create.options)? else {
            self.note(Condition::note(&ER_EVENT_CANNOT_CREATE_IN_THE_PAST, &[]));
            self.said.suppress();
            return Ok(Outcome::ok());
        };
        let control = self.control;
        let table = EventTable::open(self.instance, control)?;
        let rest = self.running.behind(create.start as usize);
        let verb = if create.or_replace { "CREATE OR REPLACE" } else { "CREATE" };
        self.say_create(verb, &event.context.definer, rest);
        if !create.or_replace && table.find(self.instance, &schema, name)?.is_some() {
            if create.if_not_exists {
                self.note(Condition::note(&ER_EVENT_ALREADY_EXISTS, &[&name]));
                self.warn_of_scheduler()?;
                return Ok(Outcome::ok());
            }
            return Err(SqlError::new(&ER_EVENT_ALREADY_EXISTS, &[&name]));
        }
        self.check_event_body(&create.body, &schema)?;
        let change = self.begin_change()?;
        table.put(change.trx(), &event)?;
        change.commit(|_| {})?;
        self.session.frame.hooks.event_changed(self.session, EventChange::Created(&event));
        self.warn_of_scheduler()?;
        Ok(Outcome::ok())
    }

    /// 1105 if no event would run.
    fn warn_of_scheduler(&self) -> SqlResult<()> {
        if self.scheduler()? == "OFF" {
            let text = "Event scheduler is switched off, use SET GLOBAL event_scheduler=ON to \
                        enable it.";
            let warning = Condition::from_error(
                Level::Warning,
                &SqlError::with_message(&ER_UNKNOWN_ERROR, text),
            );
            self.note_always(warning);
        }
        Ok(())
    }

    /// Definer and settings, as of the time that NOW is in the statement: an interval that begins
    /// now begins at the same time.
    fn event_context(
        &self,
        schema: &str,
        definer: Option<&AccountName>,
    ) -> SqlResult<ProgramContext> {
        let now = self.session.values.statement_start.get();
        let context = self.program_context(schema, definer)?;
        Ok(ProgramContext { created: now, modified: now, ..context })
    }

    /// A warning, whether notes are wanted or not.
    fn note_always(&self, condition: Condition) {
        let most = self.session.frame.settings.notes.max_error_count;
        self.session.diagnostics.push(condition, most);
    }

    pub(super) fn alter_event(&mut self, alter: &AlterEvent) -> SqlResult<Outcome> {
        let (schema, name) = self.event_name(&alter.name)?;
        let context = self.event_context(&schema, alter.definer.as_ref())?;
        let timing = alter.schedule.as_ref().map(|s| self.timing(s)).transpose()?;
        let to = alter.rename.as_ref().map(|to| self.event_name(to)).transpose()?;
        if let Some((to_schema, to)) = &to
            && *to_schema == schema
            && is_same(name, to)
        {
            return Err(SqlError::new(&ER_EVENT_SAME_NAME, &[]));
        }
        let _locks = self.lock_event(&schema, name)?;
        let table = EventTable::open(self.instance, self.control)?;
        let _new = match &to {
            Some((schema, to)) => Some(self.lock_new_name(&table, schema, to)?),
            None => None,
        };
        let unknown = || SqlError::new(&ER_EVENT_DOES_NOT_EXIST, &[&name]);
        let old = table.find(self.instance, &schema, name)?.ok_or_else(unknown)?;
        let mut event = old.clone();
        event.originator = self.session.frame.settings.binlog.server_id;
        event.context.definer.clone_from(&context.definer);
        event.context.modified = context.modified;
        if let Some(timing) = timing {
            event.timing = timing;
            event.zone = self.zone_name();
        }
        if let Some(body) = &alter.body {
            self.check_event_body(body, &old.schema)?;
            event.body = self.event_body(body);
            event.context = ProgramContext { created: old.context.created, ..context };
        }
        if let Some((schema, name)) = to {
            event.schema = schema.to_string();
            event.name = name.to_owned();
        }
        let is_scheduled = alter.schedule.is_some();
        let event = match is_scheduled {
            true => self.with_options(event, &alter.options)?.ok_or_else(in_the_past)?,
            false => with_clauses(event, &alter.options),
        };
        let change = self.begin_change()?;
        table.remove(change.trx(), &old.schema, &old.name)?;
        table.put(change.trx(), &event)?;
        change.commit(|_| {})?;
        let change = EventChange::Altered { old: (&old.schema, &old.name), new: &event };
        self.session.frame.hooks.event_changed(self.session, change);
        Ok(Outcome::ok())
    }

    pub(super) fn drop_event(&mut self, drop: &DropStored) -> SqlResult<Outcome> {
        let (schema, name) = self.event_name(&drop.name)?;
        let _locks = self.lock_event(&schema, name)?;
        let table = EventTable::open(self.instance, self.control)?;
        let Some(old) = table.find(self.instance, &schema, name)? else {
            if !drop.if_exists {
                return Err(SqlError::new(&ER_EVENT_DOES_NOT_EXIST, &[&name]));
            }
            self.note(Condition::note(&ER_SP_DOES_NOT_EXIST, &[&"Event", &name]));
            return Ok(Outcome::ok());
        };
        let change = self.begin_change()?;
        table.remove(change.trx(), &old.schema, &old.name)?;
        change.commit(|_| {})?;
        let change = EventChange::Dropped(&old.schema, &old.name);
        self.session.frame.hooks.event_changed(self.session, change);
        Ok(Outcome::ok())
    }

    /// Removes the events of a schema that is dropped. Compat: what is wrong with `mysql.event` is
    /// told, and the schema is dropped all the same.
    pub(super) fn remove_events(
        &self,
        change: &Change<'_>,
        schema: &str,
    ) -> SqlResult<Option<LockTicket>> {
        if schema == TABLE.0 {
            return Ok(None);
        }
        let lock = self.lock_as(TABLE.0, TABLE.1, LockMode::Write)?;
        match EventTable::open(self.instance, self.control) {
            Ok(table) => {
                for event in table.all_in(change.trx(), Some(schema))? {
                    table.remove(change.trx(), &event.schema, &event.name)?;
                }
            }
            Err(error) => self.note_always(Condition::from_error(Level::Error, &error)),
        }
        Ok(Some(lock))
    }

    /// Schema and name of an event; 1458 for a name that none can have.
    fn event_name<'n>(&self, name: &'n TableName) -> SqlResult<(Box<str>, &'n str)> {
        let schema = self.session.schema_of(name)?.into();
        let name = &*name.name.value;
        match name.is_empty() || name.ends_with(' ') {
            true => Err(SqlError::new(&ER_SP_WRONG_NAME, &[&name])),
            false => Ok((schema, name)),
        }
    }

    /// Locks the name of an event, and the table of events against another definition.
    fn lock_event(&self, schema: &str, name: &str) -> SqlResult<[LockTicket; 2]> {
        Ok([self.lock(schema, &lock_name(name))?, self.lock_as(TABLE.0, TABLE.1, LockMode::Write)?])
    }

    /// Locks the new name of an event, which must not be taken.
    fn lock_new_name(
        &self,
        table: &EventTable<'_>,
        schema: &str,
        name: &str,
    ) -> SqlResult<LockTicket> {
        let lock = self.lock(schema, &lock_name(name))?;
        if self.instance.catalog.snapshot().schema(schema).is_none() {
            return Err(SqlError::unknown_database(schema));
        }
        match table.find(self.instance, schema, name)? {
            Some(_) => Err(SqlError::new(&ER_EVENT_ALREADY_EXISTS, &[&name])),
            None => Ok(lock),
        }
    }

    fn check_event_body(&self, body: &ast::EventBody, schema: &str) -> SqlResult<()> {
        program::check_body(self.session, &body.program)?;
        let collation = program::schema_collation(self.instance, schema);
        program::check_types(self.scope(), &body.program, collation, self.running.text)
    }

    fn event_body(&self, body: &ast::EventBody) -> String {
        String::from_utf8_lossy(body.span.text(self.running.text)).into_owned()
    }

    fn zone_name(&self) -> String {
        self.session.frame.settings.expressions.time_zone.name().to_string()
    }

    /// The event with the clauses of a statement that gives it its times. `None` if it would never
    /// run and not be kept.
    fn with_options(&self, event: Event, options: &EventOptions) -> SqlResult<Option<Event>> {
        let now = self.session.values.statement_start.get().div_euclid(MICROS_PER_SECOND);
        let mut event = with_clauses(event, options);
        if event.timing.is_over(now) {
            if !event.preserve {
                return Ok(None);
            }
            // Compat: without a status in the statement a disabled event counts as an enabled one.
            let told = options.status.map_or(EventStatus::Enabled, status_of);
            if told == EventStatus::Enabled {
                event.status = EventStatus::Disabled;
                self.note(Condition::note(&ER_EVENT_EXEC_TIME_IN_THE_PAST, &[]));
            }
        }
        Ok(Some(event))
    }
}

fn in_the_past() -> SqlError {
    SqlError::new(&ER_EVENT_CANNOT_ALTER_IN_THE_PAST, &[])
}

fn with_clauses(mut event: Event, options: &EventOptions) -> Event {
    event.preserve = options.preserve.unwrap_or(event.preserve);
    event.status = options.status.map_or(event.status, status_of);
    if let Some(comment) = &options.comment {
        event.comment = comment.to_string();
    }
    event
}

/// Whether two names mean the same event.
fn is_same(a: &str, b: &str) -> bool {
    CollationId::UTF8MB3_GENERAL_CI.compare(a.as_bytes(), b.as_bytes()).is_eq()
}
