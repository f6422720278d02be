//! ALTER TABLE: computes the new definition and the work on stored rows.
//!
//! Actions are applied in order to a draft, but those that drop keys and constraints come first:
//! they name what the table has before the statement. Keys in the draft refer to columns by their
//! old positions, so columns may move and get new names meanwhile. A comparison of the draft with
//! the table gives the storage work: none, some indexes, or a rewrite of all rows.

mod columns;
mod foreign;
mod keys;
mod periods;
mod versioning;

use std::sync::Arc;

use selkie_catalog::{CheckInfo, ColumnInfo, DefaultValue, IndexInfo, TableInfo, TextIndex};
use selkie_engine::{IndexDef, IndexId, IndexKind, IndexPart, TableDef, TextDef};
use selkie_expr::Expr;
use selkie_meter::interruptible;
use selkie_sql::ast::{AlterAction, AlterAlgorithm, AlterLock, AlterTable, TableOption};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_ILLEGAL_HA, ER_KEY_COLUMN_DOES_NOT_EXIST, ER_PARTITION_MGMT_ON_NONPARTITIONED,
    ER_TOO_MANY_FIELDS, ER_UNKNOWN_ERROR,
};
use selkie_types::{CollationId, Condition, SqlError, SqlResult};

use self::columns::Placed;
use self::foreign::After;
use super::algorithm::Work;
use super::columns::{refuse_compressed, refuse_defaults};
use super::foreign::ForeignSpec;
use super::indexes::{self, Key, KeySpec};
use super::instant::{StoredRows, same_primary, stored_rows};
use super::options::{self, Options};
use super::{
    DefineContext, charset, create, engine, expressions, fulltext, partition, period, system_time,
    types,
};
use crate::physical::RowRules;

/// Source of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnSource {
    /// The old column at this position, converted to the new type.
    Old(usize),
    /// The column's default.
    Default,
}

/// Work of an ALTER TABLE.
#[derive(Debug)]
pub struct AlterPlan {
    /// The new definition, with the same id and names and the old version.
    pub table: TableInfo,
    /// New schema and name, if the table is renamed.
    pub rename: Option<(Box<str>, Box<str>)>,
    /// Rows stay in storage, but their columns are read from these sources, one per new column.
    pub reread: Option<Vec<ColumnSource>>,
    /// All rows are rewritten from these sources, one per new column; `None` if rows stay.
    pub rebuild: Option<Vec<ColumnSource>>,
    /// The indexes to build over the existing rows.
    pub added_indexes: AddedIndexes,
    /// Ids of the indexes to remove.
    pub dropped_indexes: Vec<IndexId>,
    /// Names of the new foreign keys.
    pub added_foreign_keys: Vec<String>,
    /// Renamed columns: old and new name.
    pub renamed_columns: Vec<(String, String)>,
    /// Generated columns and checks of the new definition.
    pub rules: RowRules,
    /// Values of new columns whose DEFAULT is an expression, over the other columns.
    pub defaults: Vec<(usize, Expr)>,
    /// MariaDB would copy the table: rows are counted and must pass all checks.
    pub copies: bool,
    /// Only the name changes, or keys are only disabled or enabled.
    pub is_simple: bool,
    /// New AUTO_INCREMENT value.
    pub auto_increment: Option<u64>,
    /// Old columns by which rewritten rows are sorted, each with whether it is descending.
    pub order: Vec<(usize, bool)>,
    /// `ALTER IGNORE`: duplicates in a unique key are skipped.
    pub ignore: bool,
}

/// Positions of new indexes.
#[derive(Debug, Default)]
pub struct AddedIndexes {
    /// In [`TableDef::indexes`].
    pub of_keys: Vec<usize>,
    /// In [`TableDef::texts`].
    pub of_texts: Vec<usize>,
}

struct DraftKey {
    def: IndexDef,
    /// Its name before the statement.
    old_name: Box<str>,
    info: IndexInfo,
    /// Positions in the old table of its parts' columns.
    columns: Vec<usize>,
    /// Name of a dropped column that was a part.
    lost: Option<Box<str>>,
    /// An action has set whether the optimizer ignores it, or has renamed it.
    changed: bool,
    renamed: bool,
}

/// Extent of a statement's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// The table is renamed, and nothing else changes.
    Name,
    /// Keys are disabled or enabled, and nothing else changes.
    Keys,
    Definition,
}

impl Extent {
    fn of(actions: &[AlterAction]) -> Self {
        use AlterAction as A;
        let renames = |action: &A| match action {
            A::Algorithm(algorithm) => *algorithm != AlterAlgorithm::Copy,
            action => matches!(action, A::RenameTable(_) | A::Lock(_)),
        };
        let keys = |action: &A| matches!(action, A::EnableKeys | A::DisableKeys);
        match () {
            () if actions.iter().all(renames) => Self::Name,
            () if actions.iter().all(keys) => Self::Keys,
            () => Self::Definition,
        }
    }
}

/// Collations that an ALTER TABLE gives.
#[derive(Default)]
struct Collations {
    /// That of the table option, the default of new columns.
    of_table: Option<CollationId>,
    /// That of CONVERT TO CHARACTER SET.
    of_columns: Option<CollationId>,
}

struct Draft<'a> {
    context: &'a DefineContext<'a>,
    old: &'a TableInfo,
    table: TableInfo,
    /// Columns in their old order, with their sources.
    columns: Vec<(ColumnInfo, ColumnSource)>,
    /// Columns whose position is determined after all other actions.
    placed: Vec<Placed<'a>>,
    /// Old columns that an action has redefined or renamed.
    redefined: Vec<usize>,
    /// Columns in `redefined` that were only renamed.
    only_renamed: Vec<usize>,
    /// Old columns whose default an action has set.
    defaulted: Vec<usize>,
    /// Names of the columns that the statement adds.
    added_names: Vec<&'a str>,
    /// Old columns of `ORDER BY`, each with whether it is descending.
    order: Vec<(usize, bool)>,
    keys: Vec<DraftKey>,
    added: Vec<KeySpec<'a>>,
    added_foreign: Vec<ForeignSpec<'a>>,
    renamed_columns: Vec<(String, String)>,
    rename: Option<(Box<str>, Box<str>)>,
    auto_increment: Option<u64>,
    /// Collations that the statement gives.
    collations: Collations,
    algorithm: AlterAlgorithm,
    lock: AlterLock,
    force: bool,
    period: period::Altered,
    /// Whether a clause needs a copy of the rows, such as a new table-level CHECK.
    needs_copy: bool,
    /// Names of the dropped columns.
    dropped: Vec<String>,
    extent: Extent,
    /// The action that sets the partitions, if there is one.
    partitions: Option<&'a AlterAction>,
    /// Clauses about system versioning.
    versioning: system_time::Clauses<'a>,
}

/// The result of `statement` on `old`.
pub fn define_alter(
    context: &DefineContext<'_>,
    old: &TableInfo,
    statement: &AlterTable,
) -> SqlResult<AlterPlan> {
    interruptible(|| altered(context, old, statement))?
}

fn altered(
    context: &DefineContext<'_>,
    old: &TableInfo,
    statement: &AlterTable,
) -> SqlResult<AlterPlan> {
    system_time::check_alter(context, old, &statement.actions)?;
    let mut draft = Draft::new(context, old);
    draft.set_collation(&statement.actions)?;
    draft.added_names = statement.actions.iter().filter_map(added_name).collect();
    // Each new column is compared with those before it: far too many would take minutes.
    if draft.added_names.len() > create::COLUMNS_MAX {
        return Err(SqlError::new(&ER_TOO_MANY_FIELDS, &[]));
    }
    let (drops, others): (Vec<_>, Vec<_>) = statement.actions.iter().partition(drops_key);
    for action in drops.into_iter().chain(others) {
        draft.apply(action)?;
    }
    draft.check_renamed_keys()?;
    draft.versioning = system_time::Clauses::of_alter(&statement.actions);
    draft.extent = Extent::of(&statement.actions);
    if draft.algorithm == AlterAlgorithm::Default {
        draft.set_algorithm(context.alter_algorithm)?;
    }
    if draft.extent != Extent::Name {
        draft.deprecate_kept();
        refuse_defaults(context, draft.columns.iter().map(|(column, _)| column))?;
    }
    draft.finish(statement.ignore)
}

fn drops_key(action: &&AlterAction) -> bool {
    use AlterAction as A;
    matches!(
        action,
        A::DropPrimaryKey { .. }
            | A::DropIndex { .. }
            | A::DropConstraint { .. }
            | A::DropForeignKey { .. }
    )
}

impl<'a> Draft<'a> {
    fn new(context: &'a DefineContext<'a>, old: &'a TableInfo) -> Self {
        // The parts of a period follow it: they are added last.
        let key = |(def, info): (&IndexDef, Option<&IndexInfo>)| DraftKey {
            columns: def.own_parts().iter().map(|p| p.column).collect(),
            def: IndexDef { parts: def.own_parts().to_vec(), ..def.clone() },
            old_name: (*def.name).into(),
            info: info.cloned().unwrap_or_default(),
            lost: None,
            changed: false,
            renamed: false,
        };
        let columns = old.columns.iter().enumerate();
        Self {
            context,
            old,
            table: old.clone(),
            columns: columns.map(|(at, c)| (c.clone(), ColumnSource::Old(at))).collect(),
            placed: Vec::new(),
            redefined: Vec::new(),
            only_renamed: Vec::new(),
            defaulted: Vec::new(),
            added_names: Vec::new(),
            order: Vec::new(),
            keys: old.all_indexes().map(key).collect(),
            added: Vec::new(),
            added_foreign: Vec::new(),
            renamed_columns: Vec::new(),
            rename: None,
            auto_increment: None,
            collations: Collations::default(),
            algorithm: AlterAlgorithm::Default,
            lock: AlterLock::Default,
            force: false,
            needs_copy: false,
            period: period::Altered::new(old.period.as_ref(), &old.columns),
            dropped: Vec::new(),
            extent: Extent::Definition,
            partitions: None,
            versioning: system_time::Clauses::default(),
        }
    }

    /// Sets the table's collation first: new columns have it, wherever the statement gives it.
    fn set_collation(&mut self, actions: &[AlterAction]) -> SqlResult<()> {
        let said = actions.iter().filter_map(|action| match action {
            AlterAction::Option(o @ (TableOption::Charset(_) | TableOption::Collate(_))) => Some(o),
            _ => None,
        });
        let said: Vec<TableOption> = said.cloned().collect();
        let around = self.context.schema_collation(self.old.schema());
        let read = Options::read_in(&said, self.table.collation, around)?;
        self.collations.of_table = read.collation;
        self.table.collation = read.collation.unwrap_or(self.table.collation);
        Ok(())
    }

    /// Compat: deprecation notes are repeated for unchanged columns.
    fn deprecate_kept(&self) {
        for (column, source) in &self.columns {
            let kept = matches!(source, ColumnSource::Old(at) if !self.redefined.contains(at));
            if kept {
                types::deprecate(self.context.eval, &column.ty);
            }
        }
    }

    fn apply(&mut self, action: &'a AlterAction) -> SqlResult<()> {
        use AlterAction as A;
        match action {
            A::AddColumn { if_not_exists, column, position } => {
                self.add_column(column, position.as_ref(), *if_not_exists)
            }
            A::DropColumn { if_exists, name } => self.drop_column(name, *if_exists),
            A::ModifyColumn { if_exists, column, position } => {
                self.change(&column.name.value, column, position.as_ref(), *if_exists)
            }
            A::ChangeColumn { if_exists, old_name, column, position } => {
                self.change(&old_name.value, column, position.as_ref(), *if_exists)
            }
            A::RenameColumn { if_exists, from, to } => self.rename_column(from, to, *if_exists),
            A::SetDefault { .. } | A::DropDefault { .. } => self.set_default(action),
            A::AddIndex(index) => self.add_index(index),
            A::DropPrimaryKey { if_exists } => self.drop_key("PRIMARY", *if_exists),
            A::DropIndex { if_exists, name } => self.drop_key(&name.value, *if_exists),
            A::DropConstraint { if_exists, name } => self.drop_constraint(name, *if_exists),
            A::RenameIndex { if_exists, from, to } => self.rename_key(from, to, *if_exists),
            A::SetIndexIgnored { if_exists, name, ignored } => {
                let Some(at) = self.key_or(name, *if_exists)? else { return Ok(()) };
                self.keys[at].info.ignored = *ignored;
                self.keys[at].changed = true;
                Ok(())
            }
            A::RenameTable(name) => {
                let schema = name.schema.as_ref().map_or(self.old.schema(), |s| &s.value);
                self.rename = Some((schema.into(), create::table_name(&name.name.value)?.into()));
                Ok(())
            }
            A::ConvertTo { charset, collation } => self.convert_to(charset, collation.as_deref()),
            A::Option(option) => self.option(option),
            A::Algorithm(algorithm) => self.set_algorithm(*algorithm),
            A::Force => {
                self.force = true;
                Ok(())
            }
            A::Lock(lock) => {
                self.lock = *lock;
                Ok(())
            }
            A::EnableKeys => self.set_keys_disabled(false),
            A::DisableKeys => self.set_keys_disabled(true),
            A::OrderBy(items) => self.order_by(items),
            A::AddForeignKey(key) => self.add_foreign_key(key),
            A::DropForeignKey { if_exists, name } => self.drop_foreign_key(name, *if_exists),
            A::AddCheck(check) => self.add_check(check),
            A::AddPeriod { name, .. } | A::DropPeriod { name, .. }
                if !system_time::is_period(name) =>
            {
                self.period.apply(self.context, action)
            }
            A::AddPeriod { .. }
            | A::DropPeriod { .. }
            | A::AddSystemVersioning
            | A::DropSystemVersioning => self.apply_period(action),
            A::DiscardTablespace | A::ImportTablespace => {
                Err(SqlError::not_supported("tablespace import"))
            }
            _ => {
                self.partitions = Some(action);
                self.force = true;
                Ok(())
            }
        }
    }

    fn set_algorithm(&mut self, algorithm: AlterAlgorithm) -> SqlResult<()> {
        self.algorithm = algorithm;
        self.force |= algorithm == AlterAlgorithm::Copy;
        Ok(())
    }

    fn stored_rows(
        &self,
        columns: &[ColumnInfo],
        sources: &[ColumnSource],
        indexes: &[IndexDef],
    ) -> StoredRows {
        match self.force {
            true => StoredRows::Rewritten,
            false => stored_rows(self.old, columns, sources, indexes),
        }
    }

    fn add_check(&mut self, check: &selkie_sql::ast::CheckDef) -> SqlResult<()> {
        let before = self.table.checks.len();
        expressions::add_check(self.context, &mut self.table.checks, check)?;
        self.needs_copy |= self.table.checks.len() > before;
        Ok(())
    }

    /// `DISABLE KEYS`: a note for engines that cannot do it.
    fn set_keys_disabled(&mut self, disabled: bool) -> SqlResult<()> {
        let engine = self.table.engine;
        if engine.keys.can_be_disabled {
            self.table.options.keys_disabled = disabled;
        } else {
            let arguments: [&dyn std::fmt::Display; 3] =
                [&engine.name, &self.old.schema(), &self.old.name()];
            self.context.eval.note(&ER_ILLEGAL_HA, &arguments);
        }
        Ok(())
    }

    fn convert_to(
        &mut self,
        charset: &selkie_sql::ast::CharsetName,
        collation: Option<&str>,
    ) -> SqlResult<()> {
        let mut clauses = charset::Clauses::default();
        clauses.charset(charset)?;
        collation.into_iter().for_each(|name| clauses.collate(name));
        let around = self.context.schema_collation(self.old.schema());
        let to = clauses.resolve_in(self.table.collation, around)?;
        // The option says the default of new columns, wherever it stands.
        self.table.collation = self.collations.of_table.unwrap_or(to);
        self.collations.of_columns = Some(to);
        for (column, _) in &mut self.columns {
            types::convert_to(self.context.eval, column, to, true)?;
        }
        Ok(())
    }

    fn option(&mut self, option: &'a TableOption) -> SqlResult<()> {
        let read = Options::read(std::slice::from_ref(option), self.table.collation)?;
        if let Some(engine) = &read.engine {
            self.table.engine = engine::named(self.context, Some(engine), self.old.name())?;
            self.force |= true;
        }
        if let Some(comment) = &read.comment {
            let name = self.old.name();
            self.table.options.comment = options::table_comment(self.context, Some(comment), name)?;
        }
        self.auto_increment = read.auto_increment.or(self.auto_increment);
        options::check_table(self.context, self.table.engine, std::slice::from_ref(option))?;
        read.merge_shown(&mut self.table.options.shown);
        Ok(())
    }

    /// The old keys over the final column positions.
    fn keys(
        &mut self,
        columns: &mut [ColumnInfo],
        sources: &[ColumnSource],
    ) -> SqlResult<Vec<Key>> {
        let mut out = Vec::with_capacity(self.keys.len());
        for key in std::mem::take(&mut self.keys) {
            let (mut def, mut info) = (key.def, key.info);
            if def.parts.is_empty() {
                continue;
            }
            if let Some(column) = key.lost.filter(|_| def.is_unique()) {
                // Nothing is left but the hidden end of a period.
                if key.columns.iter().all(|old| self.old.columns[*old].is_hidden()) {
                    continue;
                }
                return Err(SqlError::new(&ER_KEY_COLUMN_DOES_NOT_EXIST, &[&column]));
            }
            for (part, old) in def.parts.iter_mut().zip(&key.columns) {
                self.keep_part(def.kind, part, *old, (&mut *columns, sources))?;
                refuse_compressed(&columns[part.column])?;
            }
            if def.kind == IndexKind::Fulltext {
                fulltext::check_columns(columns, &def.parts)?;
                out.push((def, info));
                continue;
            }
            if def.without_overlaps {
                self.add_period_parts(columns, sources, &mut def)?;
            }
            let mut key = (def, info);
            system_time::complete_key(columns, &mut key);
            (def, info) = key;
            self.force |= indexes::hash_texts(self.table.engine, columns, &mut def, &mut info);
            indexes::check_length(self.table.engine, columns, &def)?;
            out.push((def, info));
        }
        Ok(out)
    }

    /// Sets a part of a kept key to the new position of its old column, or to a new column of the
    /// same name.
    fn keep_part(
        &mut self,
        kind: IndexKind,
        part: &mut IndexPart,
        old: usize,
        (columns, sources): (&mut [ColumnInfo], &[ColumnSource]),
    ) -> SqlResult<()> {
        let before = &self.old.columns[old];
        let kept = sources.iter().position(|source| *source == ColumnSource::Old(old));
        let again = || columns.iter().position(|c| identifier_eq(&c.name, &before.name));
        let missing = || SqlError::internal("a key over a column that is gone");
        part.column = kept.or_else(again).ok_or_else(missing)?;
        // A primary key makes it NOT NULL, even if MODIFY allowed NULL before the key was dropped.
        columns[part.column].nullable &= !kind.is_primary();
        if kind == IndexKind::Fulltext {
            return Ok(());
        }
        let (prefix, now) = (part.prefix, &columns[part.column].ty);
        match kept {
            Some(_) => {
                let engine = self.table.engine;
                indexes::keep_prefix(self.context, engine, kind, part, &before.ty, now);
            }
            None => part.prefix = indexes::prefix_again(prefix, &before.ty, now)?,
        }
        self.force |= part.prefix != prefix;
        Ok(())
    }

    /// Rows are sorted only if no key determines their order. Returns whether the statement orders
    /// them.
    fn settle_order(&mut self, indexes: &[IndexDef]) -> bool {
        if self.order.is_empty() {
            return false;
        }
        if indexes.iter().any(|index| index.kind == IndexKind::Primary) {
            if self.table.engine.keys.clustered {
                let message = format!(
                    "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
                    self.old.name()
                );
                let warning = Condition::warning(&ER_UNKNOWN_ERROR, &[]);
                self.context.eval.push(Condition { message, ..warning });
            }
            self.order.clear();
        }
        self.force |= !self.order.is_empty();
        true
    }

    /// All keys, old and new, after the engine's checks of columns.
    fn settled_keys(
        &mut self,
        columns: &mut [ColumnInfo],
        sources: &[ColumnSource],
    ) -> SqlResult<Vec<Key>> {
        let mut keys = self.keys(columns, sources)?;
        let specs = std::mem::take(&mut self.added);
        let engine = self.table.engine;
        engine::check_columns(engine, columns)?;
        let period = self.table.period.as_ref();
        let is_moved = engine.name != self.old.engine.name;
        keys.iter()
            .filter(|_| is_moved)
            .try_for_each(|(def, _)| indexes::refuse_reserved(self.context, engine, &def.name))
            .and_then(|()| {
                indexes::add_keys(self.context, engine, columns, &mut keys, specs, period)
            })
            .inspect_err(|error| {
                if is_moved {
                    indexes::note_refused(self.context, engine, error);
                }
            })?;
        engine::check_nulls(engine, columns)?;
        let (before, first) = (self.old.def.indexes.first(), keys.first_mut());
        if let (Some(before), Some((first, _))) = (before, first)
            && first.kind.is_primary()
            && same_primary(self.old, sources, Some(first))
        {
            // The rows' primary key stays the first one, so it keeps its id.
            first.id = before.id;
        }
        self.table.next_index = indexes::number(&mut keys, self.old.first_new_index());
        Ok(keys)
    }

    /// The fate of stored rows, and whether MariaDB copies them itself. `leaves_out`: duplicates in
    /// a new unique key are skipped.
    fn settle_rows(&self, mut work: Work<'_>, leaves_out: bool) -> SqlResult<(StoredRows, bool)> {
        let stay = work.rows != StoredRows::Rewritten;
        work.adds_index &= stay;
        work.adds_text &= stay;
        work.drops_index &= stay;
        let computed = |(column, source): (&ColumnInfo, &ColumnSource)| match &column.default {
            DefaultValue::Expression(text) if *source == ColumnSource::Default => {
                expressions::is_computed(self.context, text)
            }
            _ => false,
        };
        work.needs_copy |= work.columns.iter().zip(work.sources).any(computed);
        work.check(self.algorithm, self.lock)?;
        let checks = !self.table.checks.is_empty()
            || self.table.period.is_some()
            || work.columns.iter().any(|c| c.check.is_some());
        let refers = !self.added_foreign.is_empty() && self.context.foreign_key_checks;
        let copies = work.copies_rows(self.algorithm)
            || leaves_out
            || (checks && refers)
            || self.partitions.is_some();
        Ok((if copies { StoredRows::Rewritten } else { work.rows }, copies))
    }

    /// Drops checks over dropped columns and names the others.
    fn settle_checks(&mut self) {
        if !self.dropped.is_empty() {
            let is_old = |check: &CheckInfo| self.old.checks.contains(check);
            expressions::drop_checks(self.context, &mut self.table.checks, &self.dropped, is_old);
        }
        expressions::name_checks(&mut self.table.checks, 1);
    }

    fn new_def(&self, columns: &[ColumnInfo], defs: Vec<IndexDef>, rows: StoredRows) -> TableDef {
        let (id, schema, name) = (self.old.def.id, self.old.schema(), self.old.name());
        let mut def = TableInfo::make_def(id, schema, name, columns, defs);
        if rows == StoredRows::Fit {
            def.layout = def.layout.with_earlier(self.old.def.layout.earlier());
        }
        def
    }

    /// Sets the partitions of a table that is otherwise complete.
    fn set_partitions(&mut self) -> SqlResult<()> {
        let table = self.table.clone();
        self.table = match self.partitions {
            Some(AlterAction::PartitionBy(by)) => partition::partitioned(self.context, table, by)?,
            Some(AlterAction::RemovePartitioning) => {
                if self.old.partitions.is_none() {
                    return Err(SqlError::new(&ER_PARTITION_MGMT_ON_NONPARTITIONED, &[]));
                }
                TableInfo { partitions: None, ..table }
            }
            Some(_) => return Err(SqlError::not_supported("this change of partitions")),
            None => partition::again(self.context, self.old, table, &self.renamed_columns)?,
        };
        Ok(())
    }

    fn finish(mut self, ignore: bool) -> SqlResult<AlterPlan> {
        let (mut columns, sources) = self.placed_columns()?;
        self.settle_period(&mut columns)?;
        let keys = self.settled_keys(&mut columns, &sources)?;
        let engine = self.table.engine;
        let (defs, infos, mut texts) =
            fulltext::split(self.context, engine, keys, &self.old.fulltext);
        fulltext::check_kind(&self.table.kind, self.table.engine, &texts)?;
        let is_new = |def: &IndexDef| self.old.def.index_position(def.id).is_none();
        // Only a copy can skip rows.
        let leaves_out = ignore && defs.iter().any(|def| def.is_unique() && is_new(def));
        self.force |= leaves_out | fulltext::changes_texts(self.old, &texts, &columns, &sources);
        self.force |= self.may_route_anew(&defs, &columns, &sources);
        let after = After { columns: &columns, sources: &sources, indexes: &defs };
        self.check_foreign_keys(&after)?;
        let orders = self.settle_order(&defs);
        let added = position_of_new(&defs, &self.old.def.indexes);
        let mut dropped = ids_of_gone(&self.old.def.indexes, &defs);
        let work = Work {
            old: self.old,
            engine: self.table.engine,
            columns: &columns,
            sources: &sources,
            indexes: &defs,
            rows: self.stored_rows(&columns, &sources, &defs),
            adds_index: !added.is_empty(),
            adds_text: has_other(&texts, &self.old.fulltext),
            drops_index: !dropped.is_empty() || has_other(&self.old.fulltext, &texts),
            needs_copy: self.needs_copy || orders || self.period.is_new(),
            orders_periods: added.iter().any(|at| defs[*at].without_overlaps),
            adds_foreign: !self.added_foreign.is_empty() && self.context.foreign_key_checks,
            only_renames: self.extent == Extent::Name,
        };
        let (rows, copies) = self.settle_rows(work, leaves_out)?;
        let rebuild = rows == StoredRows::Rewritten;
        if rebuild {
            fulltext::keep_all(self.context, engine, &mut texts);
        }
        let kept = TextIndex::kept(&texts);
        let of_texts = others(&kept, &self.old.def.texts).collect();
        let added = AddedIndexes { of_keys: added, of_texts };
        dropped.extend(self.gone_texts(&kept));
        let def = self.new_def(&columns, defs, rows);
        self.table.def = Arc::new(TableDef { texts: kept, ..def });
        self.table.columns = columns;
        self.table.indexes = infos;
        self.table.fulltext = texts;
        self.settle_checks();
        let added_foreign_keys = self.add_foreign_keys()?;
        expressions::check(self.context, &self.table)?;
        self.set_partitions()?;
        let defaults = expressions::defaults(self.context, &self.table, &sources)?;
        Ok(AlterPlan {
            added_foreign_keys,
            renamed_columns: self.renamed_columns,
            rules: expressions::rules(self.context, &self.table)?,
            defaults,
            copies,
            is_simple: self.extent != Extent::Definition,
            table: self.table,
            rename: self.rename,
            reread: (rows == StoredRows::Earlier).then(|| sources.clone()),
            rebuild: rebuild.then_some(sources),
            added_indexes: if rebuild { AddedIndexes::default() } else { added },
            dropped_indexes: if rebuild { Vec::new() } else { dropped },
            auto_increment: self.auto_increment,
            order: self.order,
            ignore,
        })
    }
}

impl Draft<'_> {
    /// Indexes of words that go; leaves of partitions have none.
    fn gone_texts(&self, kept: &[TextDef]) -> Vec<IndexId> {
        let before: &[TextDef] = match self.old.partitions {
            None => &self.old.def.texts,
            Some(_) => &[],
        };
        others(before, kept).map(|at| before[at].index.id).collect()
    }

    /// Whether rows may belong to other leaves than before: a KEY without columns follows a unique
    /// key, which may be another one now, or the type of a text with bounds changes.
    fn may_route_anew(
        &self,
        indexes: &[IndexDef],
        columns: &[ColumnInfo],
        sources: &[ColumnSource],
    ) -> bool {
        let Some(partitions) = &self.old.partitions else { return false };
        let has_primary =
            |indexes: &[IndexDef]| indexes.first().is_some_and(|index| index.kind.is_primary());
        let keyed = has_primary(&self.old.def.indexes) && has_primary(indexes);
        let other_text = columns.iter().zip(sources).any(|(column, source)| match source {
            ColumnSource::Old(at) => {
                let old = &self.old.columns[*at];
                old.ty.is_string() && old.ty != column.ty && partitions.reads(self.old, *at)
            }
            _ => false,
        });
        partitions.follows_primary() && !keyed || other_text
    }
}

fn ids_of_gone(old: &[IndexDef], new: &[IndexDef]) -> Vec<IndexId> {
    let gone = |index: &&IndexDef| !new.iter().any(|kept| kept.id == index.id);
    old.iter().filter(gone).map(|index| index.id).collect()
}

/// The name of a column that an action adds.
fn added_name(action: &AlterAction) -> Option<&str> {
    match action {
        AlterAction::AddColumn { if_not_exists: false, column, .. } => Some(&column.name.value),
        _ => None,
    }
}

/// Positions of those of `these` that are not among `those`.
fn others<'t>(these: &'t [TextDef], those: &'t [TextDef]) -> impl Iterator<Item = usize> + 't {
    let is_new = |text: &TextDef| !those.iter().any(|other| other.index.id == text.index.id);
    (0..these.len()).filter(move |at| is_new(&these[*at]))
}

/// Whether one of `these` is not among `those`.
fn has_other(these: &[TextIndex], those: &[TextIndex]) -> bool {
    these.iter().any(|index| !those.iter().any(|other| other.def.id == index.def.id))
}

fn position_of_new(new: &[IndexDef], old: &[IndexDef]) -> Vec<usize> {
    let is_new = |def: &IndexDef| !old.iter().any(|o| o.id == def.id);
    new.iter().enumerate().filter(|(_, def)| is_new(def)).map(|(at, _)| at).collect()
}
