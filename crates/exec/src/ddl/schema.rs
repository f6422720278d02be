//! CREATE, ALTER and DROP DATABASE. A schema's lock is the name with an empty table name. Each
//! statement that changes an object in a schema holds it in mode Read (see `Ddl::lock_as`), so a
//! drop waits for it.

use selkie_catalog::Schema;
use selkie_expr::VariableScope;
use selkie_plan::define::schema_options;
use selkie_sql::ast::{AlterDatabase, CreateDatabase, Ident};
use selkie_types::error::catalogue::{
    ER_DB_CREATE_EXISTS, ER_DB_DROP_EXISTS, ER_NO_DB_ERROR, ER_WRONG_DB_NAME,
};
use selkie_types::{CollationId, Condition, SqlError, SqlResult, Value};

use super::Ddl;
use crate::Outcome;
use crate::state::files;
use crate::state::session::{EventChange, Privilege};

/// Fails with 1102 if `name` cannot name a schema.
pub(crate) fn check_name(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') || name.chars().count() > super::NAME_MAX {
        return Err(SqlError::new(&ER_WRONG_DB_NAME, &[&name]));
    }
    Ok(())
}

impl Ddl<'_> {
    pub(super) fn create_database(&mut self, create: &CreateDatabase) -> SqlResult<Outcome> {
        let name = &*create.name.value;
        let server = self.server_collation();
        let said = schema_options(&create.options, server, server)?;
        self.check_no_lock_tables()?;
        self.session.commit()?;
        let _lock = self.lock(name, "")?;
        let exists = self.instance.catalog.snapshot().schema(name).is_some();
        if exists && create.if_not_exists {
            self.note(Condition::note(&ER_DB_CREATE_EXISTS, &[&name]));
            return Ok(Outcome::ok());
        }
        if exists && !create.or_replace {
            return Err(SqlError::new(&ER_DB_CREATE_EXISTS, &[&name]));
        }
        let schema = Schema {
            name: name.into(),
            collation: said.collation,
            comment: said.comment.unwrap_or_default().into(),
            tables: Default::default(),
        };
        if !exists {
            self.publish_schema(schema)?;
            files::make_directory(self.instance, name);
            return Ok(Outcome::changed(1));
        }
        self.remove_database(name, Some(schema))?;
        // Compat: OR REPLACE counts the old database and the new one; the new one does not become
        // the current database.
        Ok(Outcome::changed(2))
    }

    /// Value of `collation_server`, the default for new schemas. A session without variables (the
    /// server's own) gets the default collation.
    fn server_collation(&self) -> CollationId {
        let hooks = &self.session.frame.hooks;
        let value = hooks.variable(self.session, VariableScope::Session, "collation_server");
        let name = match &value {
            Ok(Value::Bytes(name)) => std::str::from_utf8(name).ok(),
            _ => None,
        };
        name.and_then(CollationId::from_name).unwrap_or(CollationId::UTF8MB4_GENERAL_CI)
    }

    fn publish_schema(&self, schema: Schema) -> SqlResult<()> {
        let change = self.begin_change()?;
        change.put_schema(&schema)?;
        change.commit(|snapshot| snapshot.put_schema(schema))
    }

    pub(super) fn alter_database(&mut self, alter: &AlterDatabase) -> SqlResult<Outcome> {
        let name = alter.name.as_ref().map(|n| &*n.value).or(self.session.frame.schema.as_deref());
        let name: Box<str> = name.ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]))?.into();
        self.check_no_lock_tables()?;
        self.session.commit()?;
        let _lock = self.lock(&name, "")?;
        if &*name == "performance_schema" {
            return Err(self.denied_in_performance_schema(Privilege::Alter, ""));
        }
        let snapshot = self.instance.catalog.snapshot();
        let old = snapshot.schema(&name).ok_or_else(|| SqlError::unknown_database(&name))?;
        let said = schema_options(&alter.options, old.collation, self.server_collation())?;
        let mut schema = (**old).clone();
        schema.collation = said.collation;
        if let Some(comment) = said.comment {
            schema.comment = comment.into();
        }
        self.publish_schema(schema)?;
        Ok(Outcome::changed(1))
    }

    pub(super) fn drop_database(&mut self, if_exists: bool, name: &Ident) -> SqlResult<Outcome> {
        let name = &*name.value;
        self.check_no_lock_tables()?;
        self.session.commit()?;
        let _lock = self.lock(name, "")?;
        if self.instance.catalog.snapshot().schema(name).is_none() {
            if if_exists {
                self.note(Condition::note(&ER_DB_DROP_EXISTS, &[&name]));
                return Ok(Outcome::ok());
            }
            return Err(SqlError::new(&ER_DB_DROP_EXISTS, &[&name]));
        }
        let tables = self.remove_database(name, None)?;
        files::remove_directory(self.instance, name);
        Ok(Outcome::changed(tables))
    }

    /// Drops a schema with its tables and returns their number. `new` replaces it in the same
    /// change: no session finds neither of them, and a crash leaves exactly one.
    fn remove_database(&mut self, name: &str, new: Option<Schema>) -> SqlResult<u64> {
        let snapshot = self.instance.catalog.snapshot();
        let schema = snapshot.schema(name).ok_or_else(|| SqlError::unknown_database(name))?;
        let tables: Vec<_> = schema.tables.values().cloned().collect();
        let locks: SqlResult<Vec<_>> = tables.iter().map(|t| self.lock(name, t.name())).collect();
        let _locks = locks?;
        for table in &tables {
            self.check_unreferenced((name, table.name()), &tables)?;
        }
        let mut change = self.begin_change()?;
        for table in &tables {
            change.remove_table(table.def.id)?;
            if table.has_storage() {
                change.drop_storage(table)?;
            }
        }
        for routine in snapshot.routines().filter(|r| r.schema == name) {
            change.remove_routine(routine)?;
        }
        for trigger in snapshot.all_triggers().filter(|t| t.schema == name) {
            change.remove_trigger(trigger)?;
        }
        let _events = self.remove_events(&change, name)?;
        change.remove_schema(name)?;
        new.iter().try_for_each(|new| change.put_schema(new))?;
        change.commit(|snapshot| {
            snapshot.remove_schema(name);
            new.into_iter().for_each(|new| snapshot.put_schema(new));
        })?;
        self.forget_statistics(&tables);
        self.session.frame.hooks.dropped(self.session, name, "");
        self.session.frame.hooks.event_changed(self.session, EventChange::SchemaDropped(name));
        if self.session.frame.schema.as_deref() == Some(name) {
            self.session.frame.schema = None;
        }
        Ok(tables.len() as u64)
    }
}
