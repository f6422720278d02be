//! INSERT and REPLACE: rows, values of all columns, ON DUPLICATE KEY UPDATE and RETURNING. Values
//! are converted to column types by the executor, not here.

use std::sync::Arc;

use selkie_catalog::{DefaultValue, TableInfo, TableKind, is_transaction_bound};
use selkie_expr::store::Given;
use selkie_expr::{Expr, ExprKind, build};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult, SqlType, pace, stack};

use super::from::listed_parts;
use super::insert_target::{BoundView, InsertTarget, loads, not_insertable};
use super::row_number::RowNumbers;
use super::scope::{Clause, Source};
use super::system_time::refuse_parts_of_history;
use super::{Binder, Named, insert_query};
use crate::logical::{ColumnId, ColumnSet, Logical};
use crate::physical::{InsertMode, InsertValue, OwnValue, RowRules};

/// A bound INSERT.
pub(crate) struct BoundInsert {
    pub table: Arc<TableInfo>,
    pub source: Logical,
    pub is_query: bool,
    /// Columns of the source in the order `values` counts them.
    pub source_columns: Vec<ColumnId>,
    pub values: Vec<InsertValue>,
    pub own: OwnValues,
    pub default_flags: Vec<Option<usize>>,
    pub mode: InsertMode,
    /// Assignments of ON DUPLICATE KEY UPDATE; values over column numbers.
    pub on_duplicate: Vec<(usize, Option<Expr>)>,
    /// Numbers of the columns of the existing row, of the row to be inserted.
    pub rows: Option<(ColumnId, ColumnId)>,
    pub rules: RowRules,
    /// Leaves that a `PARTITION` clause allows.
    pub parts: Option<Arc<[u16]>>,
    /// The view the rows go through.
    pub view: Option<BoundView>,
    /// RETURNING over column numbers; `returning_first` is the number of the row's first column.
    pub returning: Vec<(Named, Expr)>,
    pub returning_first: ColumnId,
}

/// The rows of an INSERT, and the columns of its values.
struct Rows {
    plan: Logical,
    ids: Vec<ColumnId>,
    flags: Vec<Option<usize>>,
    own: OwnValues,
}

/// Values that read the new row.
#[derive(Default)]
pub(crate) struct OwnValues {
    /// They are over column numbers.
    pub values: Vec<OwnValue>,
    /// Number of the row's first column.
    pub first: ColumnId,
}

impl Binder<'_> {
    pub(crate) fn insert(&mut self, insert: &ast::Insert) -> SqlResult<BoundInsert> {
        self.ignore = insert.ignore;
        // A row that is there may be one of history, which nothing changes.
        self.gives_bounds &= !insert.replace && insert.on_duplicate.is_empty();
        let target = self.insert_target(insert)?;
        let table = target.table.clone();
        if (insert.replace || !insert.on_duplicate.is_empty()) && table.refuses_overlaps() {
            return Err(SqlError::not_supported("WITHOUT OVERLAPS"));
        }
        // Compat: a PARTITION clause on a view has no effect.
        let named = if target.view.is_some() { &[][..] } else { &insert.partitions[..] };
        let parts = listed_parts(&table, named)?;
        if (insert.replace || !insert.on_duplicate.is_empty()) && parts.is_some() {
            refuse_parts_of_history(&table)?;
        }
        let targets = self.insert_columns(&target, insert)?;
        self.push_scope();
        self.scope().rows.numbers = RowNumbers::of_values(insert);
        let mut source = self.insert_source(&target, &targets, &insert.source)?;
        let mut values = self.insert_values(&table, &targets, &source)?;
        if matches!(insert.source, ast::InsertSource::Query(_)) && !is_listed(insert) {
            // Compat: copied rows may have values for the bounds, which are set anew.
            let bounds =
                |at: &usize| table.columns[*at].system.is_bound() && !self.gives_bound(&table, *at);
            let bounds = (0..table.columns.len()).filter(bounds);
            bounds.for_each(|at| values[at] = InsertValue::Generated(None));
        }
        let default_flags = flags_of(&table, &targets, &source.flags);
        self.scope().rows.numbers = RowNumbers::Accepted(None);
        let (on_duplicate, rows) = self.duplicate_update(&target, insert)?;
        let updates = on_duplicate.iter().filter_map(|(_, e)| e.as_ref());
        let carried = self.carried_columns(updates);
        insert_query::carry(&mut source.plan, &self.columns, &carried);
        source.ids.extend(carried);
        self.number_source(&mut source);
        self.pop_scope();
        let (returning, returning_first) = self.inserted_rows(&target, insert)?;
        let returned = |at| returning.iter().any(|(_, e)| reads(e, returning_first + at));
        let all = rows.is_some() || target.view.is_some();
        // Compat: a column in the list of columns is computed, even if its value is DEFAULT.
        let mut rules =
            self.row_rules(&table, &|at| all || targets.contains(&at) || returned(at))?;
        rules.is_given_period = targets.iter().any(|at| self.gives_bound(&table, *at));
        rules.bounds.retain(|at| !targets.contains(at) || !self.gives_bound(&table, *at));
        let is_set = matches!(insert.source, ast::InsertSource::Set(_));
        let creates = insert.origin == ast::InsertOrigin::Create;
        rules.lenient = creates || !is_listed(insert) && !is_set;
        let mode = match (insert.replace, insert.ignore) {
            (true, _) => InsertMode::Replace,
            (false, true) => InsertMode::Ignore,
            _ => InsertMode::Insert,
        };
        Ok(BoundInsert {
            table,
            source: source.plan,
            is_query: matches!(insert.source, ast::InsertSource::Query(_)),
            source_columns: source.ids,
            values,
            own: source.own,
            default_flags,
            mode,
            on_duplicate,
            rows,
            rules,
            parts,
            view: target.view,
            returning,
            returning_first,
        })
    }

    /// Adds the numbers of the rows to be inserted, if ON DUPLICATE KEY UPDATE reads them.
    fn number_source(&mut self, source: &mut Rows) {
        let plan = std::mem::replace(&mut source.plan, Logical::OneRow);
        let mut numbers = ColumnSet::default();
        source.plan = self.numbered(plan, &mut numbers);
        source.ids.extend(numbers.iter());
    }

    /// Positions of the columns that get values.
    fn insert_columns(
        &mut self,
        target: &InsertTarget,
        insert: &ast::Insert,
    ) -> SqlResult<Vec<usize>> {
        let names: Vec<&ast::ColumnRef> = match (&insert.columns, &insert.source) {
            (_, ast::InsertSource::Set(list)) => list.iter().map(|a| &a.column).collect(),
            (Some(columns), _) if !columns.is_empty() => columns.iter().collect(),
            // Compat: an empty list counts as no list.
            (_, source) => {
                let names = target.columns.iter().map(|(name, _)| &**name);
                self.check_all_columns(target.guard.as_deref(), names, Privileges::INSERT)?;
                // Compat: an empty first row gives values to no column, except in a view.
                let empty = matches!(source, ast::InsertSource::Values(rows)
                    if rows.first().is_some_and(Vec::is_empty));
                if empty && target.view.is_none() {
                    return Ok(Vec::new());
                }
                return Ok(target.columns.iter().map(|(_, at)| *at).collect());
            }
        };
        let mut targets = Vec::with_capacity(names.len());
        for (number, name) in names.iter().enumerate() {
            let at = self.insert_position(target, name, target.clause(Clause::Into))?;
            if !loads(insert) && targets.contains(&at) {
                let twice = names[..number].iter().any(|n| n.name.is(&name.name.value));
                return Err(match twice {
                    true => {
                        let column = &target.table.columns[at].name;
                        SqlError::new(&ER_FIELD_SPECIFIED_TWICE, &[column])
                    }
                    false => not_insertable(&target.name),
                });
            }
            targets.push(at);
        }
        Ok(targets)
    }

    fn insert_source(
        &mut self,
        target: &InsertTarget,
        targets: &[usize],
        source: &ast::InsertSource,
    ) -> SqlResult<Rows> {
        match source {
            ast::InsertSource::Values(rows) => {
                let rows: Vec<Vec<&ast::Expr>> = rows.iter().map(|r| r.iter().collect()).collect();
                self.value_rows(target, targets, &rows)
            }
            ast::InsertSource::Set(list) => {
                let row = list.iter().map(|a| &a.value).collect();
                self.value_rows(target, targets, &[row])
            }
            ast::InsertSource::Query(query) => {
                let mut bound = self.inserted_query(query)?;
                self.give_digits(&mut bound.plan);
                if bound.columns.len() != targets.len() {
                    return Err(SqlError::new(&ER_WRONG_VALUE_COUNT_ON_ROW, &[&1]));
                }
                Ok(Rows {
                    ids: bound.ids(),
                    plan: bound.plan,
                    flags: vec![None; targets.len()],
                    own: OwnValues::default(),
                })
            }
        }
    }

    /// VALUES rows. A position that is DEFAULT in some rows gets a second column that marks them.
    fn value_rows(
        &mut self,
        target: &InsertTarget,
        targets: &[usize],
        rows: &[Vec<&ast::Expr>],
    ) -> SqlResult<Rows> {
        let mut bound: Vec<Vec<Expr>> = Vec::with_capacity(rows.len());
        let mut defaults = vec![false; targets.len()];
        let new = self.target_row(target)?;
        let first = new.first;
        self.scope().sources.push(new.source.clone());
        self.row_table = Some((target.table.clone(), first));
        for (number, row) in rows.iter().enumerate() {
            pace::spend(64)?;
            if let RowNumbers::Fixed(n) = &mut self.scope().rows.numbers {
                *n = number as u64 + 1;
            }
            if row.len() != targets.len() {
                return Err(SqlError::new(&ER_WRONG_VALUE_COUNT_ON_ROW, &[&(number + 1)]));
            }
            let mut values = self.value_row((target, first), targets, row, &mut defaults)?;
            values.iter_mut().for_each(build::unround);
            // Compat: only in the first row must types of values be assignable.
            if number == 0 && !self.ignore && self.types.sql_mode.is_strict() {
                let given = values.iter().zip(targets).zip(row).filter(|(_, e)| !is_default(e));
                let mut pairs = given.map(|(pair, _)| pair);
                pairs.try_for_each(|(e, at)| refuse_assignment(&e.ty, &target.table, *at))?;
            }
            bound.push(values);
        }
        self.row_table = None;
        self.scope().sources.pop();
        self.refuse_other_tables(target, &new, bound.iter().flatten())?;
        let ordered = bound.iter().flatten().any(Expr::has_side_effects)
            && self.has_ordered_defaults(&target.table)?;
        let mut own = self.own_values((&target.table, first), &mut bound, targets, ordered);
        let mut flags = vec![None; targets.len()];
        let mut width = targets.len();
        for at in (0..targets.len()).filter(|at| defaults[*at]) {
            flags[at] = Some(width);
            width += 1;
            for (row, syntax) in bound.iter_mut().zip(rows) {
                let default = syntax.get(at).is_none_or(|e| is_default(e));
                row.push(Expr::int(default.into()));
            }
        }
        if !own.is_empty() {
            own.iter_mut().for_each(|own| own.number = width);
            let numbered = bound.iter_mut().zip(0..);
            numbered.for_each(|(row, number)| row.push(Expr::int(number)));
            width += 1;
        }
        let ids = self.common_types(&mut bound, width);
        let plan = Logical::Values { rows: bound, columns: ids.clone() };
        Ok(Rows { plan, ids, flags, own: OwnValues { values: own, first } })
    }

    /// The values of a row; an empty row has only DEFAULT. An expression default is an ordinary
    /// value that reads the row so far.
    fn value_row(
        &mut self,
        (target, first): (&InsertTarget, ColumnId),
        targets: &[usize],
        row: &[&ast::Expr],
        defaults: &mut [bool],
    ) -> SqlResult<Vec<Expr>> {
        let (table, clause) = (&*target.table, target.clause(Clause::Values));
        let mut values = Vec::with_capacity(targets.len());
        for (place, &at) in targets.iter().enumerate() {
            row.get(place).map_or(Ok(()), |value| self.refuse_given(table, at, value))?;
            let value =
                match (row.get(place).filter(|e| !is_default(e)), &table.columns[at].default) {
                    (Some(value), _) => self.in_clause(clause, |b| b.scalar(value))?,
                    (None, DefaultValue::Expression(_)) => self.default_expr(table, at, first)?,
                    (None, _) => {
                        defaults[place] = true;
                        Expr::null()
                    }
                };
            pace::spend(1)?;
            values.push(value);
        }
        Ok(values)
    }

    /// Whether defaults must be computed row by row in the order of columns.
    fn has_ordered_defaults(&mut self, table: &TableInfo) -> SqlResult<bool> {
        for column in &table.columns {
            if let DefaultValue::Expression(text) = &column.default
                && self.row_expr(table, text)?.has_side_effects()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves values out of the rows that must be computed per row: those that read columns of the
    /// new row, whose first is `first`, those that must not be mixed, and, if `ordered`, those with
    /// side effects.
    fn own_values(
        &self,
        (table, first): (&TableInfo, ColumnId),
        rows: &mut [Vec<Expr>],
        targets: &[usize],
        ordered: bool,
    ) -> Vec<OwnValue> {
        let row = first..first + table.columns.len();
        let mut own = Vec::new();
        for (place, &column) in targets.iter().enumerate() {
            let to_text = table.columns[column].ty.is_string();
            let again = targets[..place].contains(&column);
            let computed =
                |e: &Expr| again || self.reads_row(e, &row) || (ordered && e.has_side_effects());
            if !is_mixed(rows, place, to_text) && !rows.iter().any(|row| computed(&row[place])) {
                continue;
            }
            let taken = rows.iter_mut().map(|row| std::mem::replace(&mut row[place], Expr::null()));
            let values = taken.collect();
            own.push(OwnValue { column, values, number: 0, before: targets[..place].to_vec() });
        }
        own
    }

    /// Whether an expression or one of its subqueries reads a column of `row`.
    pub(super) fn reads_row(&self, e: &Expr, row: &std::ops::Range<ColumnId>) -> bool {
        stack::ensure();
        e.any(&mut |e| match &e.kind {
            ExprKind::Column(id) => row.contains(id),
            ExprKind::Subquery(subquery) => {
                let mut reads = false;
                let plan = &self.subqueries[subquery.id.0 as usize].plan;
                plan.for_each_expr_deep(&mut |e| reads = reads || self.reads_row(e, row));
                reads
            }
            _ => false,
        })
    }

    /// Columns for rows of values. Rows of equal type keep it; others are converted.
    fn common_types(&mut self, rows: &mut [Vec<Expr>], width: usize) -> Vec<ColumnId> {
        let mut ids = Vec::with_capacity(width);
        for at in 0..width {
            let tys: Vec<&SqlType> = rows.iter().map(|row| &row[at].ty).collect();
            let ty = match tys.windows(2).all(|pair| pair[0] == pair[1]) {
                true => tys.first().map_or(SqlType::null(), |ty| (*ty).clone()),
                false => {
                    let values: Vec<&Expr> = rows.iter().map(|row| &row[at]).collect();
                    selkie_expr::union_type::aggregate_values(&values, self.types)
                }
            };
            rows.iter_mut().for_each(|row| self.convert(&mut row[at], &ty));
            let nullable = rows.iter().any(|row| row[at].nullable);
            ids.push(self.columns.add(ty, nullable));
        }
        ids
    }

    /// The source of each column's value.
    fn insert_values(
        &mut self,
        table: &TableInfo,
        targets: &[usize],
        source: &Rows,
    ) -> SqlResult<Vec<InsertValue>> {
        let mut values = Vec::with_capacity(table.columns.len());
        let is_temporary = table.kind == TableKind::Temporary;
        for (at, column) in table.columns.iter().enumerate() {
            let given = targets.iter().position(|t| *t == at);
            if let (Some(place), true) = (given, self.gives_bound(table, at)) {
                values.push(InsertValue::Source(place, Given::Computed));
                continue;
            }
            values.push(match (&column.generated, given, &column.default) {
                // Compat: CREATE TABLE .. SELECT gives no row its bounds. No other temporary table
                // has them.
                (Some(_), Some(_), _) if is_temporary && column.system.is_bound() => {
                    InsertValue::Generated(None)
                }
                (Some(_), Some(place), _) => InsertValue::Generated(Some(place)),
                (Some(_), ..) => InsertValue::Generated(None),
                (None, Some(place), _)
                    if source.own.values.iter().any(|own| own.before.len() == place) =>
                {
                    InsertValue::Own
                }
                (None, Some(place), _) => {
                    let info = self.columns.get(source.ids[place]);
                    let given = match info.kept || info.origin.is_some() {
                        true => Given::Column,
                        false => Given::Computed,
                    };
                    InsertValue::Source(place, given)
                }
                (None, None, DefaultValue::Expression(text)) => {
                    InsertValue::Expr(self.row_expr(table, text)?)
                }
                (None, None, _) => InsertValue::Default,
            });
        }
        Ok(values)
    }

    /// Whether a value given for the column at a position is the bound of a row's period.
    fn gives_bound(&self, table: &TableInfo, at: usize) -> bool {
        let column = &table.columns[at];
        self.gives_bounds && column.system.is_bound() && !is_transaction_bound(column)
    }

    /// Compat: `DEFAULT(column)` counts as a value for the generated column `at`, whatever it is.
    fn refuse_given(&self, table: &TableInfo, at: usize, value: &ast::Expr) -> SqlResult<()> {
        let strict = self.types.sql_mode.is_strict() && !self.ignore;
        let given = matches!(value.kind, ast::ExprKind::Default(Some(_)));
        let generated = table.columns[at].generated.is_some() && !self.gives_bound(table, at);
        if given && strict && generated {
            let error = &ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN;
            return Err(SqlError::new(error, &[&table.columns[at].name, &table.name()]));
        }
        Ok(())
    }

    /// New numbers for the columns of a row of `table`.
    pub(super) fn new_row(&mut self, table: &TableInfo) -> ColumnId {
        let first = self.columns.len();
        for column in &table.columns {
            self.columns.add(column.ty.clone(), true);
        }
        first
    }

    /// ON DUPLICATE KEY UPDATE: assignments, and the first columns of the existing and the new row.
    #[allow(clippy::type_complexity)]
    fn duplicate_update(
        &mut self,
        target: &InsertTarget,
        insert: &ast::Insert,
    ) -> SqlResult<(Vec<(usize, Option<Expr>)>, Option<(ColumnId, ColumnId)>)> {
        if insert.on_duplicate.is_empty() {
            return Ok((Vec::new(), None));
        }
        let (row, new) = (self.target_row(target)?, self.new_row(&target.table));
        let existing = row.first;
        self.scope().sources.push(row.source.clone());
        self.inserted.places = Some((existing, new));
        // Compat: the error names UPDATE only if the source is a query.
        let clause = match insert.source {
            ast::InsertSource::Query(_) => Clause::Duplicate,
            _ => Clause::Fields,
        };
        self.row_table = Some((target.table.clone(), existing));
        let bound = self.assignments(target, existing, &insert.on_duplicate, clause);
        (self.inserted.places, self.row_table) = (None, None);
        let bound = bound?;
        let values = bound.iter().filter_map(|(_, value)| value.as_ref());
        self.refuse_other_tables(target, &row, values)?;
        Ok((bound, Some((existing, new))))
    }

    /// Assignments to columns of the target; `first` is the first column of its row.
    fn assignments(
        &mut self,
        target: &InsertTarget,
        first: ColumnId,
        list: &[ast::Assignment],
        clause: Clause,
    ) -> SqlResult<Vec<(usize, Option<Expr>)>> {
        let mut bound = Vec::with_capacity(list.len());
        for assignment in list {
            let at = self.insert_position(target, &assignment.column, Clause::Duplicate)?;
            let row = (&*target.table, first);
            let value = self.assigned_value(row, at, &assignment.value, clause)?;
            bound.push((at, value));
        }
        Ok(bound)
    }

    /// The value assigned to a column of the row that begins with column `first`; `None` for the
    /// column's default.
    pub(super) fn assigned_value(
        &mut self,
        (table, first): (&TableInfo, ColumnId),
        at: usize,
        value: &ast::Expr,
        clause: Clause,
    ) -> SqlResult<Option<Expr>> {
        if is_default(value) {
            return match &table.columns[at].default {
                DefaultValue::Expression(_) => self.default_expr(table, at, first).map(Some),
                _ => Ok(None),
            };
        }
        self.refuse_given(table, at, value)?;
        let mut value = self.in_clause(clause, |b| b.scalar(value))?;
        // Compat: all computed digits are stored, including those not shown.
        build::unround(&mut value);
        if !self.ignore && self.types.sql_mode.is_strict() {
            refuse_assignment(&value.ty, table, at)?;
        }
        Ok(Some(value))
    }

    /// `VALUES(column)`: the value that was to be inserted; NULL in other statements.
    pub(super) fn inserted_value(&mut self, name: &ast::ColumnRef) -> SqlResult<Expr> {
        let bare = ast::ColumnRef::bare(name.name.clone());
        let Some((existing, new)) = self.inserted.places else {
            self.column(name)?;
            return Ok(Expr::null());
        };
        let scope = self.scope();
        let Some(source) = scope.sources.last().cloned() else {
            return Err(SqlError::unknown_column(&bare, Clause::Fields.name()));
        };
        match self.source_column(&source, &bare.name.value) {
            // Compat: the error does not name the column.
            Some((_, id)) if self.inserted.computed.contains_key(&id) => {
                Err(SqlError::new(&ER_BAD_FIELD_ERROR, &[&"", &"VALUES() function"]))
            }
            Some((_, id)) => Ok(self.columns.expr(id - existing + new)),
            None => Err(SqlError::unknown_column(&bare, Clause::Fields.name())),
        }
    }

    /// RETURNING of an INSERT: its columns, and the number of the row's first column.
    fn inserted_rows(
        &mut self,
        target: &InsertTarget,
        insert: &ast::Insert,
    ) -> SqlResult<(Vec<(Named, Expr)>, ColumnId)> {
        if insert.returning.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let (source, first) = match target.view {
            Some(_) => {
                let row = self.target_row(target)?;
                self.give_defaults(&row);
                (row.source, row.first)
            }
            None => self.returned_row(&target.table)?,
        };
        // Compat: the rows of a query are complete before the first one is inserted.
        if matches!(insert.source, ast::InsertSource::Query(_)) {
            return Ok((self.returned_from(source, &insert.returning)?, first));
        }
        self.watch_all_reads();
        let returned = self.returned_from(source, &insert.returning)?;
        let view = target.view.as_ref().map(|view| (&*view.schema, &*view.name));
        self.refuse_inserted_read(&target.table, &target.alias, (&target.name, view))?;
        Ok((returned, first))
    }

    /// RETURNING: its columns, and the number of the row's first column.
    pub(super) fn returning(
        &mut self,
        table: &Arc<TableInfo>,
        items: &[ast::SelectItem],
    ) -> SqlResult<(Vec<(Named, Expr)>, ColumnId)> {
        if items.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let (source, first) = self.returned_row(table)?;
        Ok((self.returned_from(source, items)?, first))
    }

    /// The row of a table that RETURNING reads, and the number of its first column.
    fn returned_row(&mut self, table: &Arc<TableInfo>) -> SqlResult<(Source, ColumnId)> {
        self.push_scope();
        let relation = self.add_table(table.clone(), table.name())?;
        let source = self.pop_scope().sources.remove(0);
        Ok((source, self.columns.relations[relation].first))
    }

    /// RETURNING over the columns of a source.
    pub(super) fn returned_from(
        &mut self,
        source: Source,
        items: &[ast::SelectItem],
    ) -> SqlResult<Vec<(Named, Expr)>> {
        self.push_scope();
        self.scope().sources.push(source);
        self.scope().rows.numbers = RowNumbers::Counted;
        let bound = self.in_clause(Clause::Returning, |b| b.items(items));
        self.pop_scope();
        let mut returned = Vec::new();
        for item in bound? {
            let id = self.output_column(&item.expr);
            let super::select::Item { expr, name, schema, table, column } = item;
            let named = Named { schema, table, column, ..Named::plain(id, name) };
            returned.push((named, expr));
        }
        Ok(returned)
    }
}

/// For each column of the table, the column of the source that marks DEFAULT in it.
fn flags_of(table: &TableInfo, targets: &[usize], flags: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut of_columns = vec![None; table.columns.len()];
    targets.iter().zip(flags).for_each(|(position, flag)| of_columns[*position] = *flag);
    of_columns
}

/// Whether an expression reads a column.
fn reads(expr: &Expr, column: ColumnId) -> bool {
    let mut found = false;
    expr.for_each_column(&mut |id| found |= id == column);
    found
}

/// Whether values of one position must be stored one by one, not as their common type: they are of
/// different families, strings of different character sets, numbers of different decimals that
/// become texts, doubles among other values that become texts, or some of them are hexadecimal.
fn is_mixed(rows: &[Vec<Expr>], place: usize, to_text: bool) -> bool {
    let mixed = match to_text {
        true => has_scales(rows, place) || has_doubles_among_others(rows, place),
        false => has_families(rows, place),
    };
    if mixed {
        return true;
    }
    let kinds = rows.iter().map(|row| &row[place]).filter(|e| e.ty.is_string());
    let mut kinds = kinds.map(|e| (e.ty.collation.charset(), e.is_hex()));
    let first = kinds.next();
    let digits = |kind: (_, bool)| kind.1 && !to_text && rows.len() > 1;
    first.is_some_and(|first| digits(first) || kinds.any(|kind| kind != first))
}

/// Whether values of one position mix families: strings, addresses, exact numbers, doubles, kinds
/// of dates.
fn has_families(rows: &[Vec<Expr>], place: usize) -> bool {
    let is_double = |e: &Expr| e.ty.physical() == selkie_types::Physical::Double;
    let date_kind = |e: &Expr| e.ty.is_temporal().then_some(e.ty.kind);
    let family = |e: &Expr| (e.ty.is_string(), e.ty.fixed_binary(), date_kind(e), is_double(e));
    let given =
        rows.iter().map(|row| &row[place]).filter(|e| e.ty.kind != selkie_types::TypeKind::Null);
    let mut families = given.map(family);
    families.next().is_some_and(|first| families.any(|other| other != first))
}

/// Whether doubles are mixed with other types. The digits of a double depend on the available
/// length.
fn has_doubles_among_others(rows: &[Vec<Expr>], place: usize) -> bool {
    let double =
        |e: &Expr| (e.ty.physical() == selkie_types::Physical::Double).then_some(e.ty.kind);
    let given =
        rows.iter().map(|row| &row[place]).filter(|e| e.ty.kind != selkie_types::TypeKind::Null);
    let mut kinds = given.map(double);
    kinds.next().is_some_and(|first| kinds.any(|other| other != first))
}

/// Whether numbers of one position have different decimals.
fn has_scales(rows: &[Vec<Expr>], place: usize) -> bool {
    let numbers = rows.iter().map(|row| &row[place]).filter(|e| e.ty.is_numeric());
    let mut scales = numbers.map(|e| e.ty.decimals);
    scales.next().is_some_and(|first| scales.any(|other| other != first))
}

/// Error 4078 if the column's type cannot hold the value's type.
fn refuse_assignment(from: &SqlType, table: &TableInfo, column: usize) -> SqlResult<()> {
    let column = &table.columns[column];
    let target = selkie_expr::store::StoreTarget {
        ty: &column.ty,
        schema: table.schema(),
        table: table.name(),
        column: &column.name,
        given: Given::Computed,
    };
    selkie_expr::store::refuse_assignment(from, &target)
}

/// Whether an INSERT lists columns.
fn is_listed(insert: &ast::Insert) -> bool {
    insert.columns.as_ref().is_some_and(|columns| !columns.is_empty())
}

fn is_default(value: &ast::Expr) -> bool {
    matches!(value.kind, ast::ExprKind::Default(None) | ast::ExprKind::Ignore)
}
