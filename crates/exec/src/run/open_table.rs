//! A table that a statement uses, in its transaction. Changes of rows go through here, so that the
//! binary log gets them.
//!
//! Must not log rows that a foreign key changes with others: callers use the engine's table for
//! those.

use std::borrow::Cow;
use std::sync::Arc;

use selkie_catalog::{ColumnInfo, DefaultValue, TableInfo, TableKind};
use selkie_engine::{
    EngineError, EngineResult, EngineTrx, InsertInfo, LockMode, RowSet, Scan, StatementContext,
};
use selkie_expr::EvalContext;
use selkie_plan::physical::{Assignment, ComputedColumns, InsertValue, Operator, Plan};
use selkie_types::{Batch, ByteRows, Column, SqlError, SqlResult};

use crate::run::duplicate::duplicate_error;
use crate::run::history::History;
use crate::run::scan::computed::computed;
use crate::state::binlog::{EventsMark, RowLog};
use crate::state::error::corrupt;
use crate::state::instance::OwnHandle;
use crate::state::session::bump;
use crate::state::uses::Uses;
use crate::{Instance, Session};

/// An open table with the transaction that reads it.
pub(crate) struct OpenTable<'a> {
    pub(crate) handle: Arc<OwnHandle>,
    pub(crate) trx: &'a dyn EngineTrx,
    /// Leaves to which rows may go, rising; all if `None`.
    allowed: Option<Arc<[u16]>>,
    /// Receiver of the changed rows; none if they are not logged.
    log: Option<RowLog<'a>>,
    /// Columns that the log has and rows as they are stored have not.
    computed: Option<Computed<'a>>,
    /// Maker of rows of history; none if the statement makes none.
    history: Option<History>,
    /// Counts of its uses, if uses are counted.
    pub(crate) uses: Option<Uses>,
    /// The definition and the session, for errors of history.
    info: Option<(Arc<TableInfo>, &'a Session)>,
}

/// Columns that are computed when rows are read.
struct Computed<'a> {
    session: &'a Session,
    columns: &'a ComputedColumns,
}

/// A point in the changes of a table's engine.
pub(crate) struct TableMark {
    engine: u64,
    log: Option<EventsMark>,
}

/// Counts what a definition has that is counted. Compat: MariaDB does so when a definition is made,
/// and when a statement uses it for the first time.
pub(crate) fn count_definition(session: &Session, info: &TableInfo) {
    let counters = &session.core.counters;
    if info.system_time().is_some() {
        bump(&counters.feature_system_versioning, 1);
    }
    let is_counted = |column: &&ColumnInfo| column.invisible && column.system.is_plain();
    let invisible = info.columns.iter().filter(is_counted).count();
    if invisible > 0 {
        bump(&counters.feature_invisible_columns, invisible as u64);
    }
}

/// Counts the definition of a table that a statement reads without opening it.
pub(crate) fn count_use(instance: &Instance, session: &Session, info: &TableInfo) {
    let stored = matches!(info.kind, TableKind::Base | TableKind::Temporary);
    let handle = stored.then(|| instance.look_into(info)).flatten();
    if handle.is_some_and(|handle| handle.is_first_use()) {
        count_definition(session, info);
    }
}

/// Opens a table in the session's transaction, which its engine must have joined.
pub(crate) fn open_table<'a>(
    instance: &Instance,
    session: &'a Session,
    info: &TableInfo,
) -> SqlResult<OpenTable<'a>> {
    let handle = instance.open_own(info)?;
    // Most definitions are in use already; only the flag is read.
    if handle.is_first_use() {
        count_definition(session, info);
    }
    let trx = session.transaction.part(&handle.engine);
    let trx =
        trx.ok_or_else(|| SqlError::internal("an engine takes no part in the transaction"))?;
    Ok(OpenTable {
        handle,
        trx,
        allowed: None,
        log: None,
        computed: None,
        history: None,
        uses: instance.uses().of(info),
        info: None,
    })
}

impl<'a> OpenTable<'a> {
    /// The same table, whose rows may only go to the leaves that a plan allows.
    pub(crate) fn with_parts(self, info: &TableInfo, plan: &Plan) -> Self {
        let allowed = match &plan.root.operator {
            _ if info.partitions.is_none() => None,
            Operator::Insert(insert) if insert.table.def.id == info.def.id => insert.parts.clone(),
            Operator::Update(update) => {
                let mut targets = update.targets.iter();
                targets.find(|t| t.table.def.id == info.def.id).and_then(|t| t.parts.clone())
            }
            _ => None,
        };
        Self { allowed, ..self }
    }

    /// The error of the first row that must not go to its leaf, with the number of rows before it.
    fn misplaced(&self, rows: &ByteRows) -> EngineResult<Option<(usize, EngineError)>> {
        let (Some(allowed), Some(parts)) = (&self.allowed, &self.handle.parts) else {
            return Ok(None);
        };
        match parts.check_within(rows, allowed) {
            Err(EngineError::Misplaced { row, error }) => {
                Ok(Some((row, EngineError::Misplaced { row, error })))
            }
            other => other.map(|()| None),
        }
    }

    /// The same table, whose rows are logged as a plan changes them.
    pub(crate) fn with_log(self, session: &'a Session, info: &TableInfo, plan: &'a Plan) -> Self {
        let is_temporary = info.kind == TableKind::Temporary;
        if session.log().is_none() && !is_temporary || !is_target(plan, info) {
            return self;
        }
        let log = session.row_log(info, &self.handle, |at| is_assigned(plan, info, at));
        let of_table = |c: &&ComputedColumns| c.table.def.id == info.def.id;
        let columns = plan.changes.computed.iter().find(of_table).filter(|_| log.is_some());
        Self { log, computed: columns.map(|columns| Computed { session, columns }), ..self }
    }
}

impl<'a> OpenTable<'a> {
    /// The same table, whose rows of history are made as a plan changes others.
    pub(crate) fn with_history(
        self,
        session: &'a Session,
        info: &Arc<TableInfo>,
        plan: &Plan,
    ) -> SqlResult<Self> {
        let makes_history = match &plan.root.operator {
            Operator::Insert(_) | Operator::Update(_) | Operator::Delete(_) => true,
            // The rows of an applied event come with their history, not those of foreign keys, and
            // not those that have numbers of transactions.
            Operator::Empty => {
                info.is_versioned_by_transaction()
                    || plan.tables.iter().all(|table| table.def.id != info.def.id)
            }
            _ => false,
        };
        if !makes_history {
            return Ok(self);
        }
        let Some(history) = History::of(session, info)? else { return Ok(self) };
        Ok(Self { history: Some(history), info: Some((info.clone(), session)), ..self })
    }
}

/// Whether a plan may change rows of a table by itself, not by a foreign key.
fn is_target(plan: &Plan, info: &TableInfo) -> bool {
    let is_it = |table: &TableInfo| table.def.id == info.def.id;
    match &plan.root.operator {
        Operator::Insert(insert) => is_it(&insert.table),
        Operator::Update(update) => update.targets.iter().any(|target| is_it(&target.table)),
        Operator::Delete(delete) => delete.targets.iter().any(|target| is_it(&target.table)),
        // The rows of an applied event have a plan that changes nothing by itself.
        _ => info.kind == TableKind::Base,
    }
}

/// Whether a plan gives a column of its target a value that a replica does not find by itself: all
/// but literal defaults of columns that an INSERT leaves out. Triggers may assign any column.
fn is_assigned(plan: &Plan, info: &TableInfo, at: usize) -> bool {
    let is_in = |list: &[Assignment]| list.iter().any(|assigned| assigned.column == at);
    match &plan.root.operator {
        _ if !plan.changes.triggers.is_empty() => true,
        // A row of history has all its values from the row that it was.
        _ if info.system_time().is_some() => true,
        Operator::Insert(insert) => {
            let column = &info.columns[at];
            let is_left_out = matches!(insert.values.get(at), Some(InsertValue::Default))
                && matches!(column.default, DefaultValue::Literal(_) | DefaultValue::Implicit)
                && !column.auto_increment;
            let on_duplicate = insert.on_duplicate.as_ref();
            let is_updated = on_duplicate
                .is_some_and(|rule| is_in(&rule.assignments) || insert.on_update_now.contains(&at));
            !is_left_out || is_updated
        }
        Operator::Update(update) => {
            let mut targets = update.targets.iter().filter(|t| t.table.def.id == info.def.id);
            targets.any(|t| {
                t.portion.is_some() || is_in(&t.assignments) || t.on_update_now.contains(&at)
            })
        }
        _ => true,
    }
}

impl Computed<'_> {
    /// The rows with the values that are computed when they are read; an empty row stays empty.
    fn whole(&self, rows: &ByteRows) -> SqlResult<ByteRows> {
        let (table, session) = (&*self.columns.table, self.session);
        let layout = &table.def.layout;
        let there: Vec<u32> =
            (0..rows.len() as u32).filter(|row| !rows.get(*row as usize).is_empty()).collect();
        let decode = |at| layout.decode_selected(rows, at, &there).map(Arc::new).map_err(corrupt);
        let columns: SqlResult<Vec<Arc<Column>>> = (0..table.columns.len()).map(decode).collect();
        let mut columns = columns?;
        let now = session.values.statement_start.get();
        let eval = EvalContext::new(session.type_context(), session, now);
        for (at, e) in &self.columns.columns {
            let input = Batch::new(columns.clone(), there.len());
            columns[*at] = computed(&eval, table, *at, e, &input)?;
        }
        let views: Vec<&Column> = columns.iter().map(|column| &**column).collect();
        let (mut out, mut next) = (ByteRows::with_capacity(rows.len()), 0);
        for row in rows.iter() {
            if !row.is_empty() {
                layout.encode(&views, next, out.buffer());
                next += 1;
            }
            out.end_row();
        }
        Ok(out)
    }
}

impl OpenTable<'_> {
    /// Rows as the log has them.
    fn logged<'r>(&self, rows: &'r ByteRows) -> EngineResult<Cow<'r, ByteRows>> {
        let Some(computed) = &self.computed else { return Ok(Cow::Borrowed(rows)) };
        let whole = computed.whole(rows);
        whole.map(Cow::Owned).map_err(|error| EngineError::Refused(Box::new(error)))
    }

    /// Inserts rows.
    pub(crate) fn insert(
        &self,
        context: &dyn StatementContext,
        rows: &ByteRows,
    ) -> EngineResult<InsertInfo> {
        if let Some((row, error)) = self.misplaced(rows)? {
            let before = first(rows, row);
            return self.insert_allowed(context, &before).and(Err(error));
        }
        self.insert_allowed(context, rows)
    }

    fn insert_allowed(
        &self,
        context: &dyn StatementContext,
        rows: &ByteRows,
    ) -> EngineResult<InsertInfo> {
        self.check_numbered()?;
        let result = self.handle.table.insert(self.trx, context, rows);
        self.note_change(stored(&result, rows.len()));
        self.count_changed(stored(&result, rows.len()) as u64);
        if let Some(log) = &self.log {
            log.inserted(&*self.logged(rows)?, stored(&result, rows.len()))?;
        }
        result
    }

    /// Replaces the rows with the clustered keys `at` by `new`. Returns the number of rows changed.
    pub(crate) fn update(
        &self,
        context: &dyn StatementContext,
        at: &ByteRows,
        new: &ByteRows,
    ) -> EngineResult<u64> {
        if let Some((row, error)) = self.misplaced(new)? {
            let before = self.update_allowed(context, &first(at, row), &first(new, row));
            return before.and(Err(error));
        }
        self.update_allowed(context, at, new)
    }

    fn update_allowed(
        &self,
        context: &dyn StatementContext,
        at: &ByteRows,
        new: &ByteRows,
    ) -> EngineResult<u64> {
        let result = self.replace(context, at, new, self.log.as_ref());
        self.count_changed(*result.as_ref().unwrap_or(&0));
        result
    }

    /// As [`Self::update`], for rows that change with others: no log has them.
    pub(crate) fn update_unlogged(
        &self,
        context: &dyn StatementContext,
        at: &ByteRows,
        new: &ByteRows,
    ) -> EngineResult<u64> {
        self.replace(context, at, new, None)
    }

    fn replace(
        &self,
        context: &dyn StatementContext,
        at: &ByteRows,
        new: &ByteRows,
        log: Option<&RowLog<'_>>,
    ) -> EngineResult<u64> {
        self.check_numbered()?;
        if log.is_none() && self.history.is_none() {
            return self.handle.table.update(self.trx, context, at, new, None);
        }
        let mut before = ByteRows::with_capacity(at.len());
        let result = self.handle.table.update(self.trx, context, at, new, Some(&mut before));
        let count = stored(&result, at.len());
        if let Some(log) = log {
            log.updated(&*self.logged(&before)?, &*self.logged(new)?, count)?;
        }
        if let Some(history) = &self.history {
            let layout = &self.handle.table.def().layout;
            let ended = history.replaced(layout, &before, new, count)?;
            self.keep(context, &ended)?;
            if let Some(log) = self.history_log(log) {
                log.inserted(&*self.logged(&ended)?, ended.len())?;
            }
        }
        result
    }

    /// Deletes the rows with the clustered keys `at`; returns how many existed.
    pub(crate) fn delete(
        &self,
        context: &dyn StatementContext,
        at: &ByteRows,
    ) -> EngineResult<u64> {
        let result = self.remove(context, at, self.log.as_ref());
        self.count_changed(*result.as_ref().unwrap_or(&0));
        result
    }

    /// As [`Self::delete`], for rows that go with others: no log has them.
    pub(crate) fn delete_unlogged(
        &self,
        context: &dyn StatementContext,
        at: &ByteRows,
    ) -> EngineResult<u64> {
        self.remove(context, at, None)
    }

    fn remove(
        &self,
        context: &dyn StatementContext,
        at: &ByteRows,
        log: Option<&RowLog<'_>>,
    ) -> EngineResult<u64> {
        if log.is_none() && self.history.is_none() {
            return self.handle.table.delete(self.trx, context, at, None);
        }
        let Some(history) = &self.history else {
            let mut before = ByteRows::with_capacity(at.len());
            let result = self.handle.table.delete(self.trx, context, at, Some(&mut before));
            if let Some(log) = log {
                log.deleted(&*self.logged(&before)?, stored(&result, at.len()))?;
            }
            return result;
        };
        self.check_numbered()?;
        let result = self.end(context, at, history, log);
        self.note_change(stored(&result, at.len()));
        result
    }

    fn count_changed(&self, rows: u64) {
        if let Some(uses) = &self.uses {
            uses.changed(rows);
        }
    }

    fn check_numbered(&self) -> EngineResult<()> {
        self.history.as_ref().map_or(Ok(()), History::check_numbered)
    }

    /// Notes that rows were changed, which may have the transaction's number.
    fn note_change(&self, count: usize) {
        if let Some(history) = self.history.as_ref().filter(|_| count > 0) {
            history.note_change();
        }
    }

    /// The log of rows of history: a replica makes its own of those that have numbers.
    fn history_log<'l>(&self, log: Option<&'l RowLog<'l>>) -> Option<&'l RowLog<'l>> {
        log.filter(|_| self.history.as_ref().is_none_or(|history| !history.is_numbered()))
    }

    /// Deletes rows of a versioned table: those that are current become history.
    fn end(
        &self,
        context: &dyn StatementContext,
        at: &ByteRows,
        history: &History,
        log: Option<&RowLog<'_>>,
    ) -> EngineResult<u64> {
        if !history.clusters {
            return self.end_in_place(context, at, history, log);
        }
        let mut before = ByteRows::with_capacity(at.len());
        let result = self.handle.table.delete(self.trx, context, at, Some(&mut before));
        let count = stored(&result, at.len());
        let ended = history.deleted(&self.handle.table.def().layout, &before)?;
        let ended = self.keep_deleted(context, ended)?;
        if let Some(log) = log {
            // Compat: a row that becomes history is updated, to the log.
            let (before, ended) = (self.logged(&before)?, self.logged(&ended)?);
            for row in 0..count.min(before.len()) {
                let (before, ended) = (one(&before, row), one(&ended, row));
                let is_told = !ended.get(0).is_empty() && self.history_log(Some(log)).is_some();
                match is_told {
                    false => log.deleted(&before, 1)?,
                    true => log.updated(&before, &ended, 1)?,
                }
            }
        }
        result
    }

    /// As [`Self::end`], for rows whose place does not depend on their values. Compat: they stay
    /// where they are.
    fn end_in_place(
        &self,
        context: &dyn StatementContext,
        at: &ByteRows,
        history: &History,
        log: Option<&RowLog<'_>>,
    ) -> EngineResult<u64> {
        let table = &self.handle.table;
        let scan = Scan { lock: LockMode::Exclusive, ..Scan::default() };
        let mut set = RowSet::default();
        table.lookup(self.trx, context, &scan, at, &mut set)?;
        let ended = history.deleted(&table.def().layout, &set.rows)?;
        let mut done = 0;
        for (number, key) in set.found_by.iter().enumerate() {
            let (key, before) = (one(at, *key as usize), one(&set.rows, number));
            let after = one(&ended, number);
            let moved = match after.get(0).is_empty() {
                true => None,
                false => Some(table.update(self.trx, context, &key, &after, None)),
            };
            done += match moved {
                Some(Ok(count)) => {
                    match (log, self.history_log(log)) {
                        (_, Some(log)) => {
                            log.updated(&*self.logged(&before)?, &*self.logged(&after)?, 1)?;
                        }
                        (Some(log), None) => log.deleted(&*self.logged(&before)?, 1)?,
                        (None, None) => {}
                    }
                    count
                }
                None | Some(Err(EngineError::DuplicateKey { .. })) => {
                    if let Some(log) = log {
                        log.deleted(&*self.logged(&before)?, 1)?;
                    }
                    table.delete(self.trx, context, &key, None)?
                }
                Some(Err(error)) => return Err(error),
            };
        }
        Ok(done)
    }

    /// Stores rows of history for deleted ones, a row for each or an empty one; those stored.
    ///
    /// Compat: a row whose key has a version that ended at the same time goes without history.
    fn keep_deleted(
        &self,
        context: &dyn StatementContext,
        ended: ByteRows,
    ) -> EngineResult<ByteRows> {
        let mut left: Vec<usize> =
            (0..ended.len()).filter(|at| !ended.get(*at).is_empty()).collect();
        let mut gone = Vec::new();
        while !left.is_empty() {
            let mut rows = ByteRows::with_capacity(left.len());
            left.iter().for_each(|at| rows.push(ended.get(*at)));
            match self.handle.table.insert(self.trx, context, &rows) {
                Ok(_) => left.clear(),
                Err(EngineError::DuplicateKey { row, .. }) => {
                    gone.push(left[row]);
                    left.drain(..=row);
                }
                Err(error) => return Err(error),
            }
        }
        if gone.is_empty() {
            return Ok(ended);
        }
        let mut kept = ByteRows::with_capacity(ended.len());
        for (at, row) in ended.iter().enumerate() {
            kept.push(if gone.contains(&at) { &[] } else { row });
        }
        Ok(kept)
    }

    /// Stores rows of history. One that is there already is an error that nothing pardons.
    fn keep(&self, context: &dyn StatementContext, rows: &ByteRows) -> EngineResult<()> {
        if rows.is_empty() {
            return Ok(());
        }
        match (self.handle.table.insert(self.trx, context, rows), &self.info) {
            (Err(EngineError::DuplicateKey { index, row, .. }), Some((info, session))) => {
                let zone = &session.type_context().time_zone;
                let error = duplicate_error(info, index, rows, row, zone);
                Err(EngineError::Refused(Box::new(error)))
            }
            (result, _) => result.map(drop),
        }
    }

    /// Marks the current state of the table's engine.
    pub(crate) fn mark(&self) -> EngineResult<TableMark> {
        let engine = self.trx.savepoint()?;
        Ok(TableMark { engine, log: self.log.as_ref().map(RowLog::mark) })
    }

    /// Undoes the changes since `mark` in the table's engine.
    pub(crate) fn undo(&self, mark: TableMark) -> EngineResult<()> {
        if let (Some(log), Some(mark)) = (&self.log, mark.log) {
            log.cut(&mark)?;
        }
        self.trx.rollback_to(mark.engine)
    }
}

fn first(rows: &ByteRows, count: usize) -> ByteRows {
    let mut out = ByteRows::with_capacity(count);
    rows.iter().take(count).for_each(|row| out.push(row));
    out
}

fn one(rows: &ByteRows, row: usize) -> ByteRows {
    let mut out = ByteRows::with_capacity(1);
    out.push(rows.get(row));
    out
}

/// Number of rows of a batch of `all` that are stored: those before a duplicate stay.
fn stored<T>(result: &EngineResult<T>, all: usize) -> usize {
    match result {
        Ok(_) => all,
        Err(EngineError::DuplicateKey { row, .. } | EngineError::Misplaced { row, .. }) => *row,
        Err(_) => 0,
    }
}
