//! EXCHANGE PARTITION and CONVERT: storage changes hands between a leaf and a table. Only ids in
//! the dictionary change; rows are read to see that they belong to the leaf.

use std::sync::Arc;

use selkie_catalog::{Snapshot, TableInfo, TableKind, new_version};
use selkie_engine::{TableDef, TableId};
use selkie_plan::define::{Converted, check_exchange, define_convert_in, define_convert_out};
use selkie_sql::ast::{AlterAction, Ident, PartitionDef, TableName};
use selkie_types::error::catalogue::{
    ER_NONUNIQ_TABLE, ER_PARTITION_EXCHANGE_FOREIGN_KEY, ER_TABLE_EXISTS_ERROR, ER_WRONG_OBJECT,
};
use selkie_types::{SqlError, SqlResult};

use super::Ddl;
use super::alter::nothing_copied;
use super::change::with_new_id;
use crate::Outcome;
use crate::state::error::from_engine;
use crate::state::metadata::LockTicket;
use crate::state::own_transaction::begin_in;

impl Ddl<'_> {
    /// Locks the table that takes part in an action beside the altered one.
    pub(super) fn lock_other(&self, actions: &[AlterAction]) -> SqlResult<Option<LockTicket>> {
        let Some((name, is_new)) = actions.iter().find_map(other_table) else { return Ok(None) };
        let (schema, table) = self.resolve(name)?;
        if self.session.frame.temporary.get(&schema, table).is_some() && !is_new {
            return Ok(None);
        }
        match is_new {
            true => self.check_no_lock_tables()?,
            false => self.check_listed(&schema, table)?,
        }
        self.lock(&schema, table).map(Some)
    }

    /// Runs an action that needs another table; `None` if it is none of them.
    pub(super) fn exchange(
        &mut self,
        snapshot: &Snapshot,
        old: &Arc<TableInfo>,
        action: &AlterAction,
    ) -> SqlResult<Option<Outcome>> {
        Ok(Some(match action {
            AlterAction::ExchangePartition { name, table } => {
                self.exchange_partition(snapshot, old, (name, table))?
            }
            AlterAction::ConvertPartitionToTable { name, table } => {
                self.convert_out(snapshot, old, (name, table))?
            }
            AlterAction::ConvertTableToPartition { table, partition } => {
                self.convert_in(snapshot, old, (table, partition))?
            }
            _ => return Ok(None),
        }))
    }

    fn exchange_partition(
        &mut self,
        snapshot: &Snapshot,
        old: &Arc<TableInfo>,
        (name, table): (&Ident, &TableName),
    ) -> SqlResult<Outcome> {
        let other = self.other_of(snapshot, old, table)?;
        let diagnostics = &self.session.diagnostics;
        let after_error = |condition| diagnostics.after_error(condition);
        let leaf = check_exchange(old, name, &other, &after_error)?;
        self.check_fits(old, leaf, &other)?;
        let name = (other.schema(), other.name());
        if self.check_unreferenced(name, &[]).is_err() {
            return Err(SqlError::new(&ER_PARTITION_EXCHANGE_FOREIGN_KEY, &[&other.name()]));
        }
        let id = old.storage_ids().get(leaf).copied().unwrap_or(TableId(0));
        let new = with_new_id(self.instance, with_leaf(old, leaf, other.def.id))?;
        let def = TableDef { id, ..(*other.def).clone() };
        let other_new = TableInfo {
            def: Arc::new(def),
            version: new_version(),
            statistics: None,
            ..(*other).clone()
        };
        let _readers = self.lock_out_readers(old)?;
        let mut change = self.begin_change()?;
        for table in [old, &other] {
            change.remove_table(table.def.id)?;
            change.redefine(table);
        }
        change.put_table(&new)?;
        change.put_table(&other_new)?;
        change.redefine(&other_new);
        change.commit(|snapshot| {
            snapshot.put_table(Arc::new(new));
            snapshot.put_table(Arc::new(other_new));
        })?;
        Ok(Outcome::ok())
    }

    fn convert_out(
        &mut self,
        snapshot: &Snapshot,
        old: &Arc<TableInfo>,
        (name, table): (&Ident, &TableName),
    ) -> SqlResult<Outcome> {
        let (schema, to) = self.resolve(table)?;
        let converted = self.with_context(snapshot, |context| {
            define_convert_out(context, old, name, (&schema, to))
        })?;
        if snapshot.schema(&schema).is_none() {
            return Err(SqlError::unknown_database(&schema));
        }
        if snapshot.table(&schema, to).is_some() {
            return Err(SqlError::new(&ER_TABLE_EXISTS_ERROR, &[&to]));
        }
        self.check_path(&schema, to)?;
        let Converted { table: new, other, .. } = converted;
        let new = with_new_id(self.instance, new)?;
        let other = TableInfo { version: new_version(), ..other };
        let _readers = self.lock_out_readers(old)?;
        let mut change = self.begin_change()?;
        change.remove_table(old.def.id)?;
        change.redefine(old);
        change.put_table(&new)?;
        change.put_table(&other)?;
        change.commit(|snapshot| {
            snapshot.put_table(Arc::new(new));
            snapshot.put_table(Arc::new(other));
        })?;
        Ok(nothing_copied())
    }

    fn convert_in(
        &mut self,
        snapshot: &Snapshot,
        old: &Arc<TableInfo>,
        (table, partition): (&TableName, &PartitionDef),
    ) -> SqlResult<Outcome> {
        let other = self.other_of(snapshot, old, table)?;
        let converted = self
            .with_context(snapshot, |context| define_convert_in(context, old, &other, partition))?;
        let Converted { table: new, leaf, .. } = converted;
        self.check_fits(&new, leaf, &other)?;
        let (schema, name) = (other.schema(), other.name());
        self.check_unreferenced((schema, name), &[])?;
        let new = with_new_id(self.instance, new)?;
        let _readers = self.lock_out_readers(old)?;
        let mut change = self.begin_change()?;
        self.remove_definition(&mut change, &other)?;
        change.remove_table(old.def.id)?;
        change.redefine(old);
        change.redefine(&other);
        change.put_table(&new)?;
        change.commit(|snapshot| {
            snapshot.remove_table(schema, name);
            snapshot.set_triggers(schema, name, Vec::new());
            snapshot.put_table(Arc::new(new));
        })?;
        self.session.frame.hooks.dropped(self.session, schema, name);
        self.session.unlist(schema, name);
        Ok(nothing_copied())
    }

    /// The table that a leaf of `old` changes places with.
    fn other_of(
        &self,
        snapshot: &Snapshot,
        old: &TableInfo,
        name: &TableName,
    ) -> SqlResult<Arc<TableInfo>> {
        let (schema, name) = self.resolve(name)?;
        let other = self.base_table(snapshot, &schema, name)?;
        if matches!(other.kind, TableKind::View(_) | TableKind::System) || other.is_sequence() {
            let arguments: [&dyn std::fmt::Display; 3] = [&schema, &name, &"BASE TABLE"];
            return Err(SqlError::new(&ER_WRONG_OBJECT, &arguments));
        }
        if (other.schema(), other.name()) == (old.schema(), old.name()) {
            return Err(SqlError::new(&ER_NONUNIQ_TABLE, &[&other.name()]));
        }
        Ok(other)
    }

    /// Fails at a row of `other` that does not belong to a leaf of `table`.
    fn check_fits(&self, table: &TableInfo, leaf: usize, other: &TableInfo) -> SqlResult<()> {
        let parts = self.instance.parts_of(table)?;
        let source = self.instance.open_table(other)?;
        let (_engine, reader) = begin_in(self.instance, other)?;
        let checked = parts.check_fits((&*reader, self.control), &*source.table, leaf);
        let checked = checked.map_err(|e| from_engine(e, &table.def));
        reader.rollback().map_err(|e| from_engine(e, &other.def))?;
        checked
    }
}

/// `table` with other storage for a leaf.
fn with_leaf(table: &TableInfo, leaf: usize, id: TableId) -> TableInfo {
    let partitions = table.partitions.as_ref().map(|partitions| {
        let mut partitions = (**partitions).clone();
        partitions.set_storage(leaf, id);
        Arc::new(partitions)
    });
    TableInfo { partitions, ..table.clone() }
}

/// The other table of an action, and whether the action makes it.
fn other_table(action: &AlterAction) -> Option<(&TableName, bool)> {
    match action {
        AlterAction::ExchangePartition { table, .. }
        | AlterAction::ConvertTableToPartition { table, .. } => Some((table, false)),
        AlterAction::ConvertPartitionToTable { table, .. } => Some((table, true)),
        _ => None,
    }
}
