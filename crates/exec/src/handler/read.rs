//! HANDLER ... READ. Opens a new cursor for each READ and keeps only the position. A condition is
//! applied to rows after they are read; LIMIT counts the rows that pass it.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{LockMode, RowSet};
use selkie_expr::store::{Given, StoreMode, StoreTarget, convert_for_column};
use selkie_expr::{EvalContext, Expr};
use selkie_plan::{HandlerRead, HandlerSyntax};
use selkie_sql::ast::{self, BinaryOp, HandlerAction, HandlerPosition};
use selkie_types::error::catalogue::ER_KEY_DOESNT_SUPPORT;
use selkie_types::{Column, SqlError, SqlResult, SqlType, Value};

use super::place::{Start, Stretch};
use super::{position, refused, reopen};
use crate::query::execution::{Execution, Scope};
use crate::query::planning::Parameters;
use crate::run::defaults::default_of_column;
use crate::run::scan::Decoder;
use crate::run::{OpenTable, open_table};
use crate::state::columns::scale_of;
use crate::state::control::Control;
use crate::state::error::from_engine;
use crate::state::handlers::Open;
use crate::state::handlers::{Place, Point};
use crate::state::parts::own_key;
use crate::state::session::bump;
use crate::{Outcome, ResultSink, Session, query};

/// Rows per request to the engine, if more than one may be needed.
const ROWS: usize = 64;

/// Binds the key values and the condition of a READ.
pub(super) fn bind(
    scope: Scope<'_>,
    table: &Arc<TableInfo>,
    handler: &ast::Handler,
    (text, types): (&[u8], (&[SqlType], usize)),
) -> SqlResult<HandlerRead> {
    let HandlerAction::Read { index, position, where_clause, .. } = &handler.action else {
        return Err(SqlError::internal("a HANDLER that reads nothing is bound"));
    };
    let key = match position {
        HandlerPosition::Key(_, values) => &values[..],
        _ => &[],
    };
    let alias = &*handler.table.name.value;
    let filter = where_clause.as_deref();
    let syntax = HandlerSyntax { alias, index: index.as_ref(), key, filter };
    scope.handler_read(table, syntax, text, Parameters::typed(types.0, types.1))
}

/// Rows to skip and rows to send.
fn limits(execution: &mut Execution<'_>, limit: Option<&ast::Limit>) -> SqlResult<(u64, u64)> {
    let mut number = |e: Option<&ast::Expr>, otherwise: u64| match e {
        None => Ok(otherwise),
        Some(e) => Ok(match execution.evaluate(e)?.0 {
            Value::Int(number) => u64::try_from(number).unwrap_or(0),
            Value::UInt(number) => number,
            _ => 0,
        }),
    };
    match limit {
        None => Ok((0, 1)),
        Some(limit) => Ok((number(limit.offset.as_ref(), 0)?, number(limit.count.as_ref(), 1)?)),
    }
}

pub(super) fn run(execution: &mut Execution<'_>, handler: &ast::Handler) -> SqlResult<Outcome> {
    let HandlerAction::Read { position: what, limit, .. } = &handler.action else {
        return Err(SqlError::internal("a HANDLER that reads nothing is run"));
    };
    let at = position(execution.session, &handler.table.name.value)?;
    let limits = limits(execution, limit.as_deref())?;
    reopen(execution, at)?;
    let session = &mut *execution.session;
    session.transaction.check_branch_active()?;
    session.transaction.begin_statement(&session.frame.settings)?;
    let Some(mut open) = session.handlers.0[at].open.take() else { return Ok(Outcome::rows()) };
    let done = read(execution, &mut open, (handler, what), limits);
    execution.session.handlers.0[at].open = Some(open);
    done
}

fn read(
    execution: &mut Execution<'_>,
    open: &mut Open,
    (handler, what): (&ast::Handler, &HandlerPosition),
    limits: (u64, u64),
) -> SqlResult<Outcome> {
    let types = execution.running.types();
    let parameters = (execution.running.text, (&types[..], types.len()));
    let table = open.table.clone();
    let read = bind(execution.scope(), &table, handler, parameters)?;
    let Execution { instance, session, control, running, sink } = execution;
    session.transaction.join(instance.engine_of(&table)?)?;
    let session = &**session;
    let eval =
        EvalContext::new(session.type_context(), session, session.values.statement_start.get());
    eval.set_parameters(running.values.iter().map(|(v, _)| v.clone()));
    session.begin_random(&eval);
    let reader = Reader {
        session,
        control,
        table: &table,
        open: open_table(instance, session, &table)?,
        read: &read,
        eval: &eval,
    };
    let result = reader.run(&mut open.place, what, limits, *sink);
    session.end_random(&eval);
    query::keep_conditions(session, &eval);
    result
}

/// A READ in progress.
struct Reader<'a> {
    session: &'a Session,
    control: &'a Control,
    table: &'a TableInfo,
    open: OpenTable<'a>,
    read: &'a HandlerRead,
    eval: &'a EvalContext<'a>,
}

/// Progress of a READ.
struct Found {
    /// Rows still to skip.
    skip: u64,
    /// Rows still to find, including those to skip.
    left: u64,
    sent: u64,
}

impl Reader<'_> {
    fn run(
        &self,
        place: &mut Option<Place>,
        what: &HandlerPosition,
        (skip, count): (u64, u64),
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        let index = self.read.index;
        let here = place.as_ref().filter(|place| place.index == index).map(|place| &place.point);
        let stretch = self.stretch(what, here)?;
        sink.columns(&self.read.output)?;
        let mut found = Found { skip, left: skip.saturating_add(count), sent: 0 };
        if let Some(stretch) = &stretch
            && found.left > 0
        {
            let point = self.go(stretch, &mut found, sink)?;
            *place = Some(Place { index, point });
        }
        bump(&self.session.core.counters.rows_sent, found.sent);
        Ok(Outcome { affected: found.sent, ..Outcome::rows() })
    }

    /// The range to scan; `None` if it is empty.
    fn stretch(&self, what: &HandlerPosition, here: Option<&Point>) -> SqlResult<Option<Stretch>> {
        let forward = matches!(what, HandlerPosition::First | HandlerPosition::Next);
        Ok(match (what, here) {
            (HandlerPosition::Key(op, _), _) => Some(Stretch::compared(*op, &self.key(*op)?)),
            (HandlerPosition::Next, Some(point)) => Stretch::after(point),
            (HandlerPosition::Prev, Some(point)) => Stretch::before(point),
            _ if self.read.index.is_some_and(|index| self.is_hash(index)) => {
                return Err(refused(self.table));
            }
            _ if forward => Some(Stretch::first()),
            _ => Some(Stretch::last()),
        })
    }

    /// Whether the key is a hash in MariaDB, so that it has no order.
    fn is_hash(&self, index: usize) -> bool {
        let algorithm = self.table.indexes[index].algorithm.as_deref();
        let by_default = self.table.engine.keys.unordered && algorithm != Some("BTREE");
        by_default || self.table.def.indexes[index].hashed
    }

    /// Encodes the search key, which may be a prefix of the index's key.
    fn key(&self, op: BinaryOp) -> SqlResult<Vec<u8>> {
        let Some(at) = self.read.index else { return Ok(Vec::new()) };
        let index = &self.table.def.indexes[at];
        let whole = self.read.key.len() == index.parts.len();
        if self.is_hash(at) && (op != BinaryOp::Eq || !whole) {
            return Err(SqlError::new(&ER_KEY_DOESNT_SUPPORT, &[&"HASH", &index.name]));
        }
        let mut values = Vec::with_capacity(self.read.key.len());
        for (part, e) in index.parts.iter().zip(&self.read.key) {
            values.push(self.part(part.column, e.as_ref())?);
        }
        let mut key = Vec::new();
        self.open.handle.codecs[at].key_of_values(&values, &mut key);
        Ok(key)
    }

    /// A key value converted to the column's type.
    fn part(&self, column: usize, e: Option<&Expr>) -> SqlResult<Value> {
        let info = &self.table.columns[column];
        let zero = || Value::zero_of(&info.ty);
        let Some(e) = e else {
            return Ok(default_of_column(self.eval, info).unwrap_or_else(zero));
        };
        let value = e.eval_value(self.eval)?;
        let raised = self.eval.conditions.borrow().mark();
        let given = Column::constant(&value, e.ty.physical(), scale_of(&e.ty), 1);
        let target = StoreTarget {
            ty: &info.ty,
            schema: self.table.schema(),
            table: self.table.name(),
            column: &info.name,
            given: Given::Computed,
        };
        let mode = StoreMode::Lenient;
        let kept = convert_for_column(&Arc::new(given), &e.ty, &target, mode, 1, self.eval)?;
        // Compat: a conversion that changes the value raises no warning.
        self.eval.conditions.borrow_mut().forget_since(raised);
        match kept.value(0) {
            Value::Null if !info.nullable => Ok(zero()),
            value => Ok(value),
        }
    }

    /// Scans until enough rows are found; returns the new position.
    fn go(
        &self,
        stretch: &Stretch,
        found: &mut Found,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Point> {
        let mut scan = stretch.scan(self.read.index);
        if self.session.transaction.locks_reads(&self.session.frame.settings) {
            scan.lock = LockMode::Shared;
        }
        let ask = if found.left == 1 && self.read.filter.is_empty() { 1 } else { ROWS };
        let error = |e| from_engine(e, &self.table.def);
        let table = &self.open.handle.table;
        let mut cursor = table.scan(self.open.trx, self.control, &scan).map_err(error)?;
        let (mut set, mut last, mut read) = (RowSet::default(), None, 0);
        while found.left > 0 {
            self.control.check()?;
            set.clear();
            let more = cursor.next_batch(&mut set, ask).map_err(error)?;
            let used = self.take(&set, found, sink)?;
            read += used as u64;
            if used > 0 {
                last = Some(self.key_of(&set, used - 1)?);
            }
            if !more && found.left > 0 {
                self.count(stretch, read + 1);
                self.count_rows(read);
                let missed = stretch.missed.clone();
                return Ok(match (last, &stretch.passed) {
                    (None, _) => missed,
                    (Some(_), Some(end)) => end.clone(),
                    (Some(key), None) => Point::Row(key),
                });
            }
        }
        self.count(stretch, read);
        self.count_rows(read);
        Ok(last.map_or_else(|| stretch.missed.clone(), Point::Row))
    }

    /// Sends the wanted rows of a batch; returns the number of rows looked at.
    fn take(&self, set: &RowSet, found: &mut Found, sink: &mut dyn ResultSink) -> SqlResult<usize> {
        let places: Vec<usize> = (0..self.table.columns.len()).collect();
        let decoder = Decoder::new(self.table, &places)
            .with_computed(&self.read.computed, &places)
            .with_filter(&self.read.filter, &[])
            .with_padding(self.eval);
        let Some((batch, numbers)) = decoder.decode(self.eval, set)? else {
            return Ok(set.rows.len());
        };
        let enough = found.left <= batch.rows() as u64;
        let wanted = batch.rows().min(usize::try_from(found.left).unwrap_or(usize::MAX));
        let skipped = wanted.min(usize::try_from(found.skip).unwrap_or(usize::MAX));
        found.left -= wanted as u64;
        found.skip -= skipped as u64;
        if skipped < wanted {
            let rows: Vec<u32> = (skipped as u32..wanted as u32).collect();
            let batch = crate::run::local_times::to_client(
                self.eval,
                &self.read.output,
                batch.gather(&rows),
            );
            sink.batch(&batch)?;
            found.sent += rows.len() as u64;
        }
        let last = wanted.saturating_sub(1);
        let used = numbers.map_or(last, |numbers| numbers[last] as usize) + 1;
        Ok(if enough { used } else { set.rows.len() })
    }

    /// The full key of a row in the order of the scan.
    fn key_of(&self, set: &RowSet, row: usize) -> SqlResult<Vec<u8>> {
        let clustered = set.keys.get(row);
        let Some(at) = self.read.index.filter(|at| self.is_secondary(*at)) else {
            // A primary key tells rows apart without the leaf.
            let keys = self.read.index.map(|_| &self.open.handle.parts);
            return match keys {
                Some(Some(_)) => own_key(clustered).map_err(|e| from_engine(e, &self.table.def)),
                _ => Ok(clustered.to_vec()),
            };
        };
        let mut key = Vec::new();
        let codec = &self.open.handle.codecs[at];
        codec
            .key_of_row(&self.table.def.layout, set.rows.get(row), &mut key)
            .map_err(|e| from_engine(e, &self.table.def))?;
        key.extend_from_slice(clustered);
        Ok(key)
    }

    fn is_secondary(&self, index: usize) -> bool {
        index > 0 || self.table.def.primary().is_none()
    }

    fn count_rows(&self, rows: u64) {
        bump(&self.session.core.counters.rows_read, rows);
        if let Some(uses) = &self.open.uses {
            uses.read(self.read.index, rows as usize);
        }
    }

    /// Adds rows requested to the status counters, including the request that found none.
    fn count(&self, stretch: &Stretch, rows: u64) {
        let counters = &self.session.core.counters;
        if self.read.index.is_none() {
            bump(&counters.handler_read_rnd_next, rows);
            return;
        }
        let onward = match stretch.reverse {
            true => &counters.handler_read_prev,
            false => &counters.handler_read_next,
        };
        let first = match stretch.start {
            Start::First => &counters.handler_read_first,
            Start::Last => &counters.handler_read_last,
            Start::Key => &counters.handler_read_key,
            Start::Onward => onward,
        };
        bump(first, 1);
        bump(onward, rows.saturating_sub(1));
    }
}
