//! CREATE and DROP of triggers. A trigger lives in the schema of its table, and its name is unique
//! there. Its name is locked before its table. The body is only checked here and is compiled when
//! it runs.

use std::sync::Arc;

use selkie_catalog::{ProgramContext, TableInfo, TableKind, Trigger};
use selkie_sql::ast::{CreateTrigger, DropStored, Span, TableName, TriggerEvent, TriggerTiming};
use selkie_types::error::catalogue::{
    ER_NO_TRIGGERS_ON_SYSTEM_SCHEMA, ER_REFERENCED_TRG_DOES_NOT_EXIST, ER_TRG_ALREADY_EXISTS,
    ER_TRG_DOES_NOT_EXIST, ER_TRG_IN_WRONG_SCHEMA, ER_TRG_ON_VIEW_OR_TEMP_TABLE, ER_WRONG_OBJECT,
};
use selkie_types::{Condition, SqlError, SqlResult};

use super::Ddl;
use super::change::Change;
use crate::state::metadata::LockTicket;
use crate::state::session::LoggedProgram;
use crate::state::session::Privilege;
use crate::{Outcome, program};

/// Whether the schema's tables cannot have triggers.
fn is_system(schema: &str) -> bool {
    let names = ["mysql", "information_schema", "performance_schema"];
    names.iter().any(|name| schema.eq_ignore_ascii_case(name))
}

fn event_word(event: TriggerEvent) -> &'static str {
    match event {
        TriggerEvent::Insert => "INSERT",
        TriggerEvent::Update => "UPDATE",
        TriggerEvent::Delete => "DELETE",
    }
}

/// Name of the trigger's table; without a schema it is in the trigger's schema.
fn table_of(create: &CreateTrigger) -> TableName {
    let mut named = create.table.clone();
    if named.schema.is_none() {
        named.schema.clone_from(&create.name.schema);
    }
    named
}

/// Fails unless the trigger is in its table's schema, or if that is a system schema.
fn check_schema(create: &CreateTrigger, schema: &str) -> SqlResult<()> {
    if is_system(schema) {
        return Err(SqlError::new(&ER_NO_TRIGGERS_ON_SYSTEM_SCHEMA, &[]));
    }
    match &create.name.schema {
        Some(own) if *own.value != *schema => Err(SqlError::new(&ER_TRG_IN_WRONG_SCHEMA, &[])),
        _ => Ok(()),
    }
}

fn check_may_have_triggers(info: &TableInfo, schema: &str, table: &str) -> SqlResult<()> {
    match info.kind {
        TableKind::Base => Ok(()),
        TableKind::View(_) => {
            Err(SqlError::new(&ER_WRONG_OBJECT, &[&schema, &table, &"BASE TABLE"]))
        }
        _ => Err(SqlError::new(&ER_TRG_ON_VIEW_OR_TEMP_TABLE, &[&table])),
    }
}

impl Ddl<'_> {
    /// Fails if no account could create the trigger in this schema.
    pub(super) fn check_trigger_form(&self, create: &CreateTrigger) -> SqlResult<()> {
        let named = table_of(create);
        let (schema, _) = self.resolve(&named)?;
        check_schema(create, &schema)
    }

    pub(super) fn create_trigger(&mut self, create: &CreateTrigger) -> SqlResult<Outcome> {
        self.session.frame.hooks.check_logged(self.session, LoggedProgram::Trigger)?;
        let (own, name) = self.resolve(&create.name)?;
        let named = table_of(create);
        let (schema, table) = self.resolve(&named)?;
        let context = self.program_context(&schema, create.definer.as_ref())?;
        self.check_listed(&schema, table)?;
        self.session.commit()?;
        let _name = self.lock_trigger(&schema, name)?;
        let _lock = self.lock(&schema, table)?;
        let snapshot = self.instance.catalog.snapshot();
        let info = self.base_table(&snapshot, &schema, table)?;
        check_may_have_triggers(&info, &schema, table)?;
        if own != schema {
            return Err(SqlError::new(&ER_TRG_IN_WRONG_SCHEMA, &[]));
        }
        let old = snapshot.trigger(&schema, name);
        let replaces = |old: &Trigger| create.or_replace && *old.table == *table;
        if old.is_some_and(|old| create.if_not_exists || !replaces(old)) {
            let full = format!("{schema}.{name}");
            if create.if_not_exists {
                self.note(Condition::note(&ER_TRG_ALREADY_EXISTS, &[&full]));
                return Ok(Outcome::ok());
            }
            return Err(SqlError::new(&ER_TRG_ALREADY_EXISTS, &[&full]));
        }
        program::check_trigger(self.session, &create.body, &info)?;
        let collation = program::schema_collation(self.instance, &schema);
        program::check_types(self.scope(), &create.body, collation, self.running.text)?;
        let rest = self.running.behind(create.head_span.start as usize);
        let verb = if create.or_replace { "CREATE OR REPLACE" } else { "CREATE" };
        self.say_create(verb, &context.definer, rest);
        let trigger = self.trigger(create, &schema, table, context);
        let mut list = snapshot.triggers(&schema, table).to_vec();
        list.retain(|t| t.name != name);
        let list = place(list, trigger, create.order.as_ref().map(|(b, n)| (*b, &*n.value)))?;
        self.publish_triggers(&schema, table, old.map(|old| &**old), list)
    }

    /// Locks a trigger's name, which is unique in the schema, not only in the table.
    fn lock_trigger(&self, schema: &str, name: &str) -> SqlResult<LockTicket> {
        self.lock(schema, &format!("trigger {name}"))
    }

    /// Finds a trigger and locks its table; `None` if there is none.
    fn locked_trigger(
        &self,
        schema: &str,
        name: &str,
    ) -> SqlResult<Option<(Arc<Trigger>, LockTicket)>> {
        loop {
            let find = || self.instance.catalog.snapshot().trigger(schema, name).cloned();
            let Some(found) = find() else { return Ok(None) };
            self.check(Privilege::Trigger, schema, &found.table)?;
            self.check_listed(schema, &found.table)?;
            let lock = self.lock(schema, &found.table)?;
            // The table may have been renamed meanwhile.
            if find().is_some_and(|now| now.table == found.table) {
                return Ok(Some((found, lock)));
            }
        }
    }

    /// The trigger with order 0; [`place`] sets the order.
    fn trigger(
        &self,
        create: &CreateTrigger,
        schema: &str,
        table: &str,
        context: ProgramContext,
    ) -> Trigger {
        let text = |span: Span| String::from_utf8_lossy(span.text(self.running.text)).into_owned();
        Trigger {
            schema: schema.to_owned(),
            name: create.name.name.value.to_string(),
            table: table.to_owned(),
            before: create.timing == TriggerTiming::Before,
            event: event_word(create.event).to_owned(),
            order: 0,
            head: text(create.head_span) + &text(create.gap_span),
            table_at: within(create.on_span, create.head_span),
            body: text(create.body_span),
            context,
        }
    }

    /// Stores a table's triggers, and makes cached plans over the table stale.
    fn publish_triggers(
        &self,
        schema: &str,
        table: &str,
        gone: Option<&Trigger>,
        list: Vec<Arc<Trigger>>,
    ) -> SqlResult<Outcome> {
        let change = self.begin_change()?;
        if let Some(gone) = gone {
            change.remove_trigger(gone)?;
        }
        list.iter().try_for_each(|trigger| change.put_trigger(trigger))?;
        change.commit(|snapshot| {
            snapshot.set_triggers(schema, table, list);
            snapshot.touch_table(schema, table);
        })?;
        Ok(Outcome::ok())
    }

    /// Stores the triggers of a renamed table under its new name and returns them for publishing.
    pub(super) fn rename_triggers(
        &self,
        change: &Change<'_>,
        snapshot: &selkie_catalog::Snapshot,
        (schema, from): (&str, &str),
        (to_schema, to): (&str, &str),
    ) -> SqlResult<Vec<Arc<Trigger>>> {
        let old = snapshot.triggers(schema, from);
        if !old.is_empty() && schema != to_schema {
            return Err(SqlError::new(&ER_TRG_IN_WRONG_SCHEMA, &[]));
        }
        let list: Vec<_> = old.iter().map(|t| Arc::new(t.with_table(to))).collect();
        list.iter().try_for_each(|trigger| change.put_trigger(trigger))?;
        Ok(list)
    }

    pub(super) fn drop_trigger(&mut self, drop: &DropStored) -> SqlResult<Outcome> {
        self.session.frame.hooks.check_logged(self.session, LoggedProgram::Trigger)?;
        let (schema, name) = self.resolve(&drop.name)?;
        self.session.commit()?;
        let _name = self.lock_trigger(&schema, name)?;
        let Some((found, _lock)) = self.locked_trigger(&schema, name)? else {
            if !drop.if_exists {
                return Err(SqlError::new(&ER_TRG_DOES_NOT_EXIST, &[]));
            }
            self.note(Condition::note(&ER_TRG_DOES_NOT_EXIST, &[]));
            return Ok(Outcome::ok());
        };
        let snapshot = self.instance.catalog.snapshot();
        let mut list = snapshot.triggers(&schema, &found.table).to_vec();
        list.retain(|t| t.name != found.name);
        let list = renumbered(list);
        self.publish_triggers(&schema, &found.table, Some(&found), list)
    }
}

/// Offsets of `part` within `of`.
fn within(part: Span, of: Span) -> (usize, usize) {
    let at = |end: u32| end.saturating_sub(of.start) as usize;
    (at(part.start), at(part.end))
}

/// Inserts a trigger at the position of its order clause, or last.
fn place(
    mut list: Vec<Arc<Trigger>>,
    trigger: Trigger,
    order: Option<(bool, &str)>,
) -> SqlResult<Vec<Arc<Trigger>>> {
    let same = |t: &Trigger| t.before == trigger.before && t.event == trigger.event;
    let at = match order {
        None => list.len(),
        Some((before, other)) => {
            let found = list.iter().position(|t| same(t) && t.name == other);
            let missing = || SqlError::new(&ER_REFERENCED_TRG_DOES_NOT_EXIST, &[&other]);
            found.ok_or_else(missing)? + usize::from(!before)
        }
    };
    list.insert(at, Arc::new(trigger));
    Ok(renumbered(list))
}

/// Numbers the triggers of each timing and event from 1.
fn renumbered(list: Vec<Arc<Trigger>>) -> Vec<Arc<Trigger>> {
    let mut out: Vec<Arc<Trigger>> = Vec::with_capacity(list.len());
    for trigger in list {
        let same = |t: &&Arc<Trigger>| t.before == trigger.before && t.event == trigger.event;
        let order = out.iter().filter(same).count() as u32 + 1;
        out.push(Arc::new(Trigger { order, ..(*trigger).clone() }));
    }
    out
}
