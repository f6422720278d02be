//! ALTER TABLE, CREATE INDEX and DROP INDEX, which become ALTER TABLE. Others may read the table
//! until the change is ready, unless LOCK=EXCLUSIVE is given; then an exclusive lock waits for the
//! readers. A rebuild copies all rows ([`copy`](super::copy)); any other change builds and removes
//! indexes in place, or adds them while others change rows ([`online`]).

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind, new_version};
use selkie_engine::EngineError;
use selkie_plan::define::{AlterPlan, ColumnSource, define_alter, is_partition_change};
use selkie_sql::ast::{AlterAction, AlterTable, CreateIndex, DropIndex, Ident};
use selkie_types::error::catalogue::{ER_TABLE_EXISTS_ERROR, ER_WRONG_OBJECT};
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::change::{Change, create_storage_now, drop_storage_now, is_temporary, with_new_storage};
use super::create::set_auto_increment;
use super::rename::with_name;
use super::{Ddl, copy, online};
use crate::run::{count_definition, count_use};
use crate::state::error::from_engine;
use crate::state::metadata::{LockMode, LockTicket};
use crate::state::own_transaction::{begin, begin_in, commit_now};
use crate::state::registry::{Registration, TABLE};
use crate::{Outcome, Told};

impl Ddl<'_> {
    pub(super) fn create_index(&mut self, create: &CreateIndex) -> SqlResult<Outcome> {
        let mut actions = Vec::new();
        if create.or_replace
            && let Some(name) = &create.index.name
        {
            actions.push(AlterAction::DropIndex { if_exists: true, name: name.clone() });
        }
        actions.push(AlterAction::AddIndex(Box::new(create.index.clone())));
        actions.extend(create.algorithm.map(AlterAction::Algorithm));
        actions.extend(create.lock.map(AlterAction::Lock));
        self.alter_table(&AlterTable {
            online: false,
            ignore: false,
            if_exists: false,
            table: create.table.clone(),
            wait: create.wait,
            actions,
        })
    }

    pub(super) fn drop_index(&mut self, drop: &DropIndex) -> SqlResult<Outcome> {
        let primary = !drop.name.quoted && drop.name.is("PRIMARY");
        let name: Ident = drop.name.clone();
        let action = match primary {
            true => AlterAction::DropPrimaryKey { if_exists: drop.if_exists },
            false => AlterAction::DropIndex { if_exists: drop.if_exists, name },
        };
        self.alter_table(&AlterTable {
            online: false,
            ignore: false,
            if_exists: false,
            table: drop.table.clone(),
            wait: drop.wait,
            actions: vec![action],
        })
    }

    pub(super) fn alter_table(&mut self, alter: &AlterTable) -> SqlResult<Outcome> {
        let (schema, name) = self.resolve(&alter.table)?;
        self.check_defaults(alter.actions.iter().filter_map(|action| match action {
            AlterAction::AddColumn { column, .. }
            | AlterAction::ChangeColumn { column, .. }
            | AlterAction::ModifyColumn { column, .. } => Some(&**column),
            _ => None,
        }))?;
        let temporary = self.session.frame.temporary.get(&schema, name).is_some();
        if !temporary {
            self.check_listed(&schema, name)?;
        }
        self.session.commit()?;
        let mode = online::first_lock(alter, &schema);
        let _lock = (!temporary).then(|| self.lock_as(&schema, name, mode)).transpose()?;
        let _parents = self.lock_parents_of_alter(alter)?;
        let _other = self.lock_other(&alter.actions)?;
        let snapshot = self.instance.catalog.snapshot();
        let old = match self.base_table(&snapshot, &schema, name) {
            Ok(table) => table,
            Err(error) if alter.if_exists => {
                // Compat: IF EXISTS leaves level Error in the warnings list.
                let condition = Condition::from_error(Level::Error, &error);
                let most = self.session.frame.settings.notes.max_error_count;
                self.session.diagnostics.push(condition, most);
                return Ok(Outcome::ok());
            }
            Err(error) => return Err(error),
        };
        if matches!(old.kind, TableKind::View(_) | TableKind::System) {
            let arguments: [&dyn std::fmt::Display; 3] = [&schema, &name, &"BASE TABLE"];
            return Err(SqlError::new(&ER_WRONG_OBJECT, &arguments));
        }
        count_use(self.instance, self.session, &old);
        if let [action] = &alter.actions[..] {
            if is_partition_change(action) {
                return self.change_partitions(&snapshot, &old, action);
            }
            if let Some(outcome) = self.exchange(&snapshot, &old, action)? {
                return Ok(outcome);
            }
        }
        let plan = self.with_context(&snapshot, |context| define_alter(context, &old, alter));
        let plan = self.explain_foreign(name, plan)?;
        self.check_sequence(&plan.table)?;
        let follows = plan.rename.is_some() || !plan.renamed_columns.is_empty();
        let _children = follows.then(|| self.lock_children(&schema, name)).transpose()?;
        let target = match &plan.rename {
            Some((schema, name)) => Some(self.lock_target(&plan, schema, name)?),
            None => None,
        };
        let is_simple = plan.is_simple;
        let renamed = plan.rename.clone();
        let mut outcome = self.carry_out(mode, &old, plan)?;
        if is_temporary(&old) {
            let renamed = renamed.as_ref().map(|(schema, name)| (&**schema, &**name));
            self.log_changed(renamed.unwrap_or((&schema, name)))?;
        }
        if is_simple {
            outcome.told = Told::Nothing;
        }
        if target.is_some() {
            self.session.unlist(&schema, name);
        }
        Ok(outcome)
    }

    /// Locks the new name, which must be free.
    fn lock_target(
        &self,
        plan: &AlterPlan,
        schema: &str,
        name: &str,
    ) -> SqlResult<crate::state::metadata::LockTicket> {
        let lock = self.lock(schema, name)?;
        let snapshot = self.instance.catalog.snapshot();
        if snapshot.schema(schema).is_none() {
            return Err(SqlError::unknown_database(schema));
        }
        let same = plan.table.schema() == schema && plan.table.name() == name;
        if !same && snapshot.table(schema, name).is_some() {
            return Err(SqlError::new(&ER_TABLE_EXISTS_ERROR, &[&name]));
        }
        Ok(lock)
    }

    pub(super) fn apply(
        &mut self,
        old: &Arc<TableInfo>,
        mut plan: AlterPlan,
    ) -> SqlResult<Outcome> {
        // An index change of a temporary table needs new storage. So does a new index in which a
        // new self-referencing foreign key looks rows up.
        if is_temporary(old) && changes_indexes(&plan) || self.refers_to_new_index(old, &plan) {
            let sources = plan.reread.take();
            let rows_as_they_are = || (0..old.columns.len()).map(ColumnSource::Old).collect();
            let sources = sources.unwrap_or_else(rows_as_they_are);
            plan.rebuild.get_or_insert(sources);
        }
        let retired = self.reread(old, &mut plan)?;
        if plan.rebuild.is_some() {
            return self.rebuild(old, plan);
        }
        let checked = self.check_added_keys(old, &plan)?;
        let table =
            self.final_name(&plan, TableInfo { version: new_version(), ..plan.table.clone() });
        if is_temporary(old) {
            set_auto_increment(self.instance, &table, plan.auto_increment)?;
            self.session.frame.temporary.replace(old, Arc::new(table));
            return Ok(nothing_copied());
        }
        let mut change = self.begin_change()?;
        self.change_indexes(&mut change, old, &table, &plan)?;
        set_auto_increment(self.instance, &table, plan.auto_increment)?;
        let _readers = self.lock_out_readers(old)?;
        if retired {
            // Statistics refer to columns by position, which has changed: they are removed.
            change.remove_table(old.def.id)?;
        }
        change.put_table(&table)?;
        change.redefine(&table);
        self.publish(change, old, table, &plan)?;
        let warnings = self.session.diagnostics.warning_count();
        Ok(copy::Copied::checked(checked.unwrap_or(0)).outcome(warnings, checked.is_some()))
    }

    /// Builds and removes indexes: in the transaction of `change`, or in one of its own that
    /// commits at once if the engine is not the dictionary's.
    fn change_indexes(
        &self,
        change: &mut Change<'_>,
        old: &TableInfo,
        table: &TableInfo,
        plan: &AlterPlan,
    ) -> SqlResult<()> {
        let engine = self.instance.engine_of(table)?.clone();
        let own = match change.is_own(&*engine) {
            true => None,
            false => Some(begin_in(self.instance, table)?.1),
        };
        let trx = own.as_deref().unwrap_or(change.trx());
        let mut built_now = Vec::new();
        // Leaves keep no words.
        let of_texts: &[usize] = match table.partitions {
            None => &plan.added_indexes.of_texts,
            Some(_) => &[],
        };
        for (storage, def) in table.storages() {
            for id in &plan.dropped_indexes {
                let dropped = engine.drop_index(trx, def.id, *id);
                dropped.map_err(|e| from_engine(e, &table.def))?;
            }
            for position in &plan.added_indexes.of_keys {
                let built = engine.create_index(trx, self.control, &def, *position);
                built.map_err(|e| self.index_error(e, old, (table, storage)))?;
                built_now.push((def.id, def.indexes[*position].id));
            }
            for position in of_texts {
                let built = engine.create_text_index(trx, self.control, &def, *position);
                built.map_err(|e| self.index_error(e, old, (table, storage)))?;
            }
        }
        own.map_or(Ok(()), |trx| commit_now(&*engine, trx))?;
        built_now.into_iter().for_each(|(table, id)| change.index_built(&engine, table, id));
        Ok(())
    }

    /// The error of an index build in a table's storage number `storage`.
    pub(super) fn index_error(
        &self,
        error: EngineError,
        old: &TableInfo,
        (new, storage): (&TableInfo, usize),
    ) -> SqlError {
        let error = crate::state::parts::in_storage(error, new, storage);
        let EngineError::DuplicateKey { index, existing, .. } = error else {
            return from_engine(error, &new.def);
        };
        let tables = (old, new);
        copy::duplicate_in_table(self.instance, self.control, tables, index, &existing)
            .unwrap_or_else(|error| error)
    }

    fn final_name(&self, plan: &AlterPlan, table: TableInfo) -> TableInfo {
        match &plan.rename {
            Some((schema, name)) => with_name(&table, (schema, name)),
            None => table,
        }
    }

    pub(super) fn publish(
        &self,
        change: Change<'_>,
        old: &TableInfo,
        mut table: TableInfo,
        plan: &AlterPlan,
    ) -> SqlResult<()> {
        if plan.rename.is_none() || old.columns != table.columns {
            count_definition(self.session, &table);
        }
        let followed = self.follow_statistics(old, &mut table, &plan.renamed_columns);
        let (from, to) = ((old.schema(), old.name()), (table.schema(), table.name()));
        let children = self.put_children(&change, from, to, &plan.renamed_columns)?;
        let triggers = match from == to {
            true => None,
            false => {
                let snapshot = self.instance.catalog.snapshot();
                Some(self.rename_triggers(&change, &snapshot, from, to)?)
            }
        };
        let to = (to.0.to_owned(), to.1.to_owned());
        change.commit(|snapshot| {
            if let Some(list) = triggers {
                snapshot.set_triggers(old.schema(), old.name(), Vec::new());
                snapshot.set_triggers(&to.0, &to.1, list);
            }
            snapshot.remove_table(old.schema(), old.name());
            snapshot.put_table(Arc::new(table));
            children.into_iter().for_each(|child| snapshot.put_table(child));
        })?;
        self.store_statistics(followed);
        Ok(())
    }

    /// Copies all rows into new storage (DDL-2), then replaces the old storage by it.
    fn rebuild(&mut self, old: &Arc<TableInfo>, plan: AlterPlan) -> SqlResult<Outcome> {
        let renamed = self.final_name(&plan, plan.table.clone());
        let new = with_new_storage(self.instance, self.with_row_format(renamed))?;
        let _registry = self.number_rows(&new, &plan)?;
        create_storage_now(self.instance, &new)?;
        let copied =
            copy::copy_rows(self.scope(), self.control, (old, &new), &plan).and_then(|copied| {
                let counter = plan.auto_increment.or(copied.counter);
                set_auto_increment(self.instance, &new, counter)?;
                self.check_added_keys(&new, &plan)?;
                if copied.has_rows() || plan.copies {
                    self.register_rows()?;
                }
                Ok((copied, self.lock_out_readers(old)?))
            });
        let (copied, _readers) = match copied {
            Ok(done) => done,
            Err(error) => {
                drop_storage_now(self.instance, &new)?;
                return Err(error);
            }
        };
        self.replace(old, new, &plan)?;
        let warnings = self.session.diagnostics.warning_count();
        let checked = !plan.added_foreign_keys.is_empty()
            && self.session.frame.settings.planning.foreign_key_checks;
        Ok(copied.outcome(warnings, checked || plan.copies))
    }

    /// Numbers the statement if rows that are copied begin with it, in a table that is versioned by
    /// transaction from now on.
    fn number_rows(&mut self, new: &TableInfo, plan: &AlterPlan) -> SqlResult<Option<LockTicket>> {
        let begins = new.system_time().is_some_and(|period| {
            let sources = plan.rebuild.as_deref().unwrap_or_default();
            sources.get(period.start) == Some(&ColumnSource::Default)
        });
        if !begins || !new.is_versioned_by_transaction() {
            return Ok(None);
        }
        let lock = self.lock_as(TABLE.0, TABLE.1, LockMode::Write)?;
        let began = self.session.values.statement_start.get();
        let own = Registration::new(self.instance, self.control, began)?;
        self.session.transaction.set_registration(own);
        Ok(Some(lock))
    }

    /// Puts the statement into the registry of transactions if it is numbered, before the table
    /// with its rows is published.
    fn register_rows(&self) -> SqlResult<()> {
        let Some(own) = self.session.transaction.registration() else { return Ok(()) };
        let trx = begin(&**own.engine())?;
        let isolation = self.session.frame.settings.transactions.isolation;
        own.register(&*trx, self.control, (self.session.clock(), isolation))?;
        commit_now(&**own.engine(), trx)
    }

    /// Waits until no statement reads the table any more; readers are allowed until then.
    pub(super) fn lock_out_readers(&self, table: &TableInfo) -> SqlResult<Option<LockTicket>> {
        let shared = !is_temporary(table);
        shared.then(|| self.lock(table.schema(), table.name())).transpose()
    }

    fn replace(&mut self, old: &Arc<TableInfo>, new: TableInfo, plan: &AlterPlan) -> SqlResult<()> {
        if is_temporary(old) {
            return self.replace_own(old, new);
        }
        let mut change = self.begin_change()?;
        change.remove_table(old.def.id)?;
        change.put_table(&new)?;
        change.drop_storage(old)?;
        self.publish(change, old, new, plan)
    }
}

/// The outcome of a change that copies no rows.
pub(super) fn nothing_copied() -> Outcome {
    copy::Copied::default().outcome(0, false)
}

fn changes_indexes(plan: &AlterPlan) -> bool {
    !plan.added_indexes.of_keys.is_empty() || !plan.dropped_indexes.is_empty()
}
