//! Common table expressions.
//!
//! A common table that is read once replaces its reference after binding; others are computed once
//! and read many times. Tables that read themselves or each other are in `recursion.rs`.

use std::sync::Arc;

use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::Binder;
use crate::logical::{ColumnId, Logical, UnitId};
use crate::physical::UnitKind;

/// Maximum number of common tables in a statement. Each may read the previous one, so their number
/// is a limit of the plan's depth.
const MOST_TABLES: usize = 256;

/// A common table of the statement.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// Its name.
    pub name: Box<str>,
    /// Names of its columns.
    pub names: Vec<Box<str>>,
    /// Source of its rows, after it is bound.
    pub plan: Logical,
    /// Its columns.
    pub ids: Vec<ColumnId>,
    /// Compat: whether it is not merged into the queries that read it.
    pub kept: bool,
    /// Number of references.
    pub references: usize,
    /// Whether it reads itself, directly or through others.
    pub recursive: bool,
    /// The other table with which it is computed, if any.
    pub computed_with: Option<usize>,
    /// Its unit.
    pub unit: UnitId,
    pub(super) state: State,
    /// Its definition, if nothing that it names can have another meaning where it is read.
    pub(super) definition: Option<Arc<ast::CommonTable>>,
}

/// Meaning of a reference to a common table while tables are bound.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// A reference is an error: the columns are not known yet.
    Anchor,
    /// A reference reads the previous round.
    Step,
    /// A reference is replaced by the definition, because the table has no anchor.
    Inline(Arc<ast::CommonTable>),
    /// The table is bound.
    Done,
}

impl Binder<'_> {
    pub(super) fn with(&mut self, with: &ast::With) -> SqlResult<()> {
        if self.common.len() > MOST_TABLES {
            return Err(SqlError::new(&ER_TOO_MANY_DEFINITIONS_IN_WITH_CLAUSE, &[]));
        }
        for (at, table) in with.tables.iter().enumerate() {
            let same = |other: &ast::CommonTable| other.name.is(&table.name.value);
            if with.tables[..at].iter().any(same) {
                return Err(SqlError::new(&ER_DUP_QUERY_NAME, &[&table.name]));
            }
        }
        match with.recursive {
            true => self.recursive_tables(&with.tables),
            false => with.tables.iter().try_for_each(|table| self.plain_table(table)),
        }
    }

    /// A table that does not read itself.
    pub(super) fn plain_table(&mut self, table: &ast::CommonTable) -> SqlResult<()> {
        let around = self.columns.units.open(UnitKind::Merged, &table.name.value);
        let query = self.closed_query(&table.query)?;
        let unit = self.columns.units.close(around);
        // Its number follows those of the tables inside it.
        let number = self.new_common(table, State::Anchor);
        let merges = self.merges(&table.query, &query);
        self.defined(table, number, query)?;
        self.common[number].unit = unit;
        if !merges || !self.settings.variables.derived.merge {
            let common = &self.common[number];
            let columns: Vec<_> = common.names.iter().cloned().zip(common.ids.clone()).collect();
            self.columns.units.keep(unit, &common.plan, &columns);
        }
        self.common[number].definition = Some(Arc::new(table.clone()));
        self.visible.push((table.name.value.clone(), number));
        Ok(())
    }

    pub(super) fn new_common(&mut self, table: &ast::CommonTable, state: State) -> usize {
        self.common.push(Common {
            name: table.name.value.clone(),
            names: Vec::new(),
            plan: Logical::OneRow,
            ids: Vec::new(),
            kept: true,
            references: 0,
            recursive: false,
            computed_with: None,
            unit: 0,
            state,
            definition: None,
        });
        self.common.len() - 1
    }

    /// Binds a definition whose references are all known.
    pub(super) fn define_common(
        &mut self,
        table: &ast::CommonTable,
        number: usize,
    ) -> SqlResult<()> {
        let query = self.closed_query(&table.query)?;
        self.defined(table, number, query)
    }

    fn defined(
        &mut self,
        table: &ast::CommonTable,
        number: usize,
        mut query: super::Query,
    ) -> SqlResult<()> {
        self.keep_digits(&mut query, &table.query);
        let names = self.derived_names(&query, &table.columns)?;
        self.note_hex(&query);
        let common = &mut self.common[number];
        common.names = names;
        common.ids = query.columns.iter().map(|c| c.id).collect();
        common.kept = common.recursive || !query.plan.is_merged();
        common.plan = query.plan;
        common.state = State::Done;
        Ok(())
    }

    /// The common table called `name`, read under `alias`.
    pub(super) fn common_table(
        &mut self,
        name: &ast::Ident,
        alias: &str,
        time: Option<&ast::SystemTime>,
    ) -> SqlResult<Option<Logical>> {
        let found = self.visible.iter().rev().find(|(n, _)| identifier_eq(n, &name.value));
        let Some(&(_, table)) = found else { return Ok(None) };
        if time.is_some() || self.reading.outer_time.is_some() {
            return self.common_table_at(table, alias, time).map(Some);
        }
        let first_round = match self.common[table].state.clone() {
            State::Anchor => {
                return Err(SqlError::new(&ER_RECURSIVE_WITHOUT_ANCHORS, &[&name]));
            }
            State::Inline(definition) => return self.inlined(&definition, alias).map(Some),
            State::Step => true,
            State::Done => false,
        };
        let (names, ids) = (self.common[table].names.clone(), self.common[table].ids.clone());
        let is_kept = first_round || self.common[table].kept;
        let mut columns = Vec::with_capacity(ids.len());
        for id in ids {
            let info = self.columns.get(id).clone();
            let column = self.columns.add(info.ty, info.nullable || first_round);
            let kept = self.columns.get_mut(column);
            (kept.hex, kept.shown) = (info.hex, info.shown);
            (kept.kept, kept.announced) = (is_kept, info.origin.or(info.announced));
            kept.coercibility = info.coercibility;
            columns.push(column);
        }
        if !first_round && !self.common[table].recursive {
            self.read_unit(table, alias, &columns);
        }
        self.add_listed(alias, names, columns.clone());
        if first_round {
            return Ok(Some(Logical::WorkScan { table, columns }));
        }
        let common = &mut self.common[table];
        common.references += 1;
        if let Some(first) = common.computed_with {
            self.common[first].references += 1;
        }
        Ok(Some(Logical::CommonScan { table, columns }))
    }

    /// Notes a reference to a common table whose rows are kept. Compat: each is a unit of its own.
    fn read_unit(&mut self, table: usize, alias: &str, columns: &[ColumnId]) {
        let common = &self.common[table];
        let unit = self.columns.units.read_again(common.unit, alias, common.references);
        self.columns.units.name_columns(unit, &common.names, columns);
        columns.iter().for_each(|id| self.columns.get_mut(*id).unit = unit);
    }

    /// The common table as it was at another time: its definition in place of the reference.
    fn common_table_at(
        &mut self,
        table: usize,
        alias: &str,
        time: Option<&ast::SystemTime>,
    ) -> SqlResult<Logical> {
        let definition = self.common[table].definition.clone();
        let Some(definition) = definition.filter(|_| !self.common[table].recursive) else {
            return Err(SqlError::not_supported("FOR SYSTEM_TIME of a recursive common table"));
        };
        // It names those before it only.
        let own = self.visible.iter().position(|(_, number)| *number == table).unwrap_or(0);
        let before = self.visible[..own].to_vec();
        let visible = std::mem::replace(&mut self.visible, before);
        let bound = self.at_time(time, alias, |b| b.inlined(&definition, alias));
        self.visible = visible;
        bound
    }

    /// Binds a definition in place of a reference, like a derived table.
    fn inlined(&mut self, table: &ast::CommonTable, alias: &str) -> SqlResult<Logical> {
        let around = self.columns.units.open_text(UnitKind::Merged, alias);
        let mut query = self.closed_query(&table.query)?;
        let unit = self.columns.units.close(around);
        self.keep_digits(&mut query, &table.query);
        let names = self.derived_names(&query, &table.columns)?;
        self.keep_columns(&query);
        let merges = self.merges(&table.query, &query);
        self.keep_unit(unit, &query, (merges, &names));
        let ids = query.ids();
        self.add_listed(alias, names, ids);
        Ok(query.plan)
    }
}
