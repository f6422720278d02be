//! CREATE, ALTER and DROP SEQUENCE. A sequence is a table with one row; [`crate::run::sequence`]
//! reads and writes that row.

use selkie_catalog::{SequenceChange, SequenceDef, TableInfo, TableKind, sequence_fault};
use selkie_plan::define::define_sequence;
use selkie_sql::ast::{AlterSequence, ColumnDef, CreateSequence, DropTables, SequenceOptions};
use selkie_types::error::catalogue::{
    ER_IT_IS_A_VIEW, ER_NOT_SEQUENCE, ER_NOT_SEQUENCE2, ER_SEQUENCE_INVALID_DATA,
    ER_SEQUENCE_INVALID_TABLE_STRUCTURE, ER_TABLE_EXISTS_ERROR, ER_UNKNOWN_SEQUENCES,
};
use selkie_types::{Condition, ErrorDef, SqlError, SqlResult};

use super::Ddl;
use super::temporary::DroppedOwn;
use crate::Outcome;
use crate::run::sequence;
use crate::state::session::Privilege;

fn change_of(options: &SequenceOptions) -> SequenceChange {
    SequenceChange {
        start: options.start,
        increment: options.increment,
        min: options.min_value,
        max: options.max_value,
        cache: options.cache,
        cycle: options.cycle,
        restart: options.restart,
    }
}

/// Object that DROP SEQUENCE found under a name.
enum Found {
    Sequence,
    Nothing,
    /// Another object, with the error to report.
    Other(&'static ErrorDef),
}

impl Ddl<'_> {
    pub(super) fn create_sequence(&mut self, create: &CreateSequence) -> SqlResult<Outcome> {
        let (schema, name) = self.resolve(&create.name)?;
        let temporary = create.temporary;
        let invalid = || SqlError::new(&ER_SEQUENCE_INVALID_DATA, &[&schema, &name]);
        let def = SequenceDef::new(&change_of(&create.options)).ok_or_else(invalid)?;
        if !temporary {
            self.check_listed(&schema, name)?;
        }
        // Compat: that of a temporary sequence commits too, its DROP does not.
        self.session.commit()?;
        let _lock = (!temporary).then(|| self.lock(&schema, name)).transpose()?;
        let snapshot = self.instance.catalog.snapshot();
        if snapshot.schema(&schema).is_none() {
            return Err(SqlError::unknown_database(&schema));
        }
        let old = self.existing_table(&snapshot, temporary, &schema, name);
        if old.is_some() && create.if_not_exists {
            self.note(Condition::note(&ER_TABLE_EXISTS_ERROR, &[&name]));
            return Ok(Outcome::ok());
        }
        if old.is_some() && !create.or_replace {
            return Err(SqlError::new(&ER_TABLE_EXISTS_ERROR, &[&name]));
        }
        self.check_replaceable(old.as_deref())?;
        self.replacing(old, |ddl, old| {
            let snapshot = ddl.snapshot_without(old);
            let table = ddl.with_context(&snapshot, |context| {
                define_sequence(context, &schema, name, temporary, &create.table_options)
            })?;
            ddl.create_filled((table, None), old, |ddl, table| {
                sequence::create_row(ddl.instance, ddl.session, ddl.control, table, &def)?;
                Ok(Outcome::ok())
            })
        })
    }

    /// Inserts the row of a table declared as a sequence; it copies the definition of `like` if
    /// that is a sequence.
    pub(super) fn begin_sequence(
        &self,
        table: &TableInfo,
        like: Option<&TableInfo>,
    ) -> SqlResult<()> {
        if !table.is_sequence() {
            return Ok(());
        }
        let (instance, session, control) = (self.instance, &*self.session, self.control);
        let like = like.filter(|like| like.is_sequence());
        let def = match like {
            Some(like) => {
                let def = sequence::read_row(instance, session, control, like)?;
                SequenceDef { reserved_until: def.start, round: 0, ..def }
            }
            None => SequenceDef::new(&SequenceChange::default())
                .ok_or_else(|| SqlError::internal("a sequence of defaults is not valid"))?,
        };
        sequence::create_row(instance, session, control, table, &def)
    }

    /// Refuses tables declared as sequences that lack the columns of one.
    pub(super) fn check_sequence(&self, table: &TableInfo) -> SqlResult<()> {
        match sequence_fault(table).filter(|_| table.is_sequence()) {
            Some(fault) => {
                let arguments: [&dyn std::fmt::Display; 3] =
                    [&table.schema(), &table.name(), &fault];
                Err(SqlError::new(&ER_SEQUENCE_INVALID_TABLE_STRUCTURE, &arguments))
            }
            None => Ok(()),
        }
    }

    /// Fails unless the account may use the sequences that defaults of `columns` refer to.
    pub(super) fn check_defaults<'c>(
        &self,
        columns: impl Iterator<Item = &'c ColumnDef>,
    ) -> SqlResult<()> {
        let mut names = Vec::new();
        for default in columns.filter_map(|column| column.default.as_ref()) {
            default.clone().for_each_sequence_mut(&mut |name| names.push(name.clone()));
        }
        for name in &names {
            let (schema, name) = self.resolve(name)?;
            let temporary = self.session.frame.temporary.get(&schema, name).is_some();
            let snapshot = self.instance.catalog.snapshot();
            if !temporary && snapshot.table(&schema, name).is_some_and(|t| t.is_sequence()) {
                self.check(Privilege::TakeNumbers, &schema, name)?;
            }
        }
        Ok(())
    }

    pub(super) fn alter_sequence(&mut self, alter: &AlterSequence) -> SqlResult<Outcome> {
        let (schema, name) = self.resolve(&alter.name)?;
        let temporary = self.session.frame.temporary.get(&schema, name).is_some();
        if !temporary {
            self.check_listed(&schema, name)?;
            self.session.commit()?;
        }
        let _lock = (!temporary).then(|| self.lock(&schema, name)).transpose()?;
        let snapshot = self.instance.catalog.snapshot();
        let table = match self.base_table(&snapshot, &schema, name) {
            Ok(table) => table,
            Err(_) if alter.if_exists => {
                let full = format!("{schema}.{name}");
                self.note(Condition::note(&ER_UNKNOWN_SEQUENCES, &[&full]));
                return Ok(Outcome::ok());
            }
            Err(error) => {
                return Err(SqlError::new(&ER_UNKNOWN_SEQUENCES, &[&name]).before(error));
            }
        };
        if !table.is_sequence() {
            return Err(SqlError::new(&ER_NOT_SEQUENCE, &[&schema, &name]));
        }
        let change = change_of(&alter.options);
        let (instance, session) = (self.instance, &*self.session);
        sequence::alter_row(instance, session, self.control, &table, &mut |def| {
            def.altered(&change)
        })?;
        Ok(Outcome::ok())
    }

    pub(super) fn drop_sequences(&mut self, drop: &DropTables) -> SqlResult<Outcome> {
        if !drop.temporary {
            self.session.commit()?;
        }
        let mut missing = Vec::new();
        let mut refused = None;
        let mut own = DroppedOwn::default();
        for name in &drop.names {
            let (schema, name) = self.resolve(name)?;
            let full = format!("{schema}.{name}");
            match self.drop_sequence(drop.temporary, (&schema, name), &mut own)? {
                Found::Sequence => {}
                Found::Nothing => missing.push(full),
                Found::Other(def) if drop.if_exists => self.note(Condition::note(def, &[&full])),
                Found::Other(def) => refused = refused.or(Some(SqlError::new(def, &[&full]))),
            }
        }
        self.log_dropped_by(drop, &own)?;
        self.end_lock_tables_without_tables();
        if let Some(error) = refused {
            return Err(error);
        }
        if missing.is_empty() {
            return Ok(Outcome::ok());
        }
        let missing = missing.join(",");
        if !drop.if_exists {
            return Err(SqlError::new(&ER_UNKNOWN_SEQUENCES, &[&missing]));
        }
        self.note(Condition::note(&ER_UNKNOWN_SEQUENCES, &[&missing]));
        Ok(Outcome::ok())
    }

    /// Drops the object of a name if it is a sequence.
    fn drop_sequence(
        &mut self,
        temporary: bool,
        (schema, name): (&str, &str),
        dropped: &mut DroppedOwn,
    ) -> SqlResult<Found> {
        let own = self.session.frame.temporary.get(schema, name).cloned();
        if let Some(own) = own.filter(|own| own.is_sequence()) {
            self.drop_own(&own, dropped)?;
            return Ok(Found::Sequence);
        }
        let snapshot = self.instance.catalog.snapshot();
        let Some(table) = snapshot.table(schema, name).filter(|_| !temporary) else {
            return Ok(Found::Nothing);
        };
        if !table.is_sequence() {
            let is_view = matches!(table.kind, TableKind::View(_));
            return Ok(Found::Other(if is_view { &ER_IT_IS_A_VIEW } else { &ER_NOT_SEQUENCE2 }));
        }
        self.check_listed(schema, name)?;
        let lock = self.lock(schema, name)?;
        // While this waited for the lock, the sequence may have been dropped and its name reused.
        let snapshot = self.instance.catalog.snapshot();
        if !snapshot.table(schema, name).is_some_and(|table| table.is_sequence()) {
            drop(lock);
            return self.drop_sequence(temporary, (schema, name), dropped);
        }
        self.say_drop_sequence(schema, name);
        self.drop_one(schema, name, false)?;
        self.session.unlist(schema, name);
        Ok(Found::Sequence)
    }
}
