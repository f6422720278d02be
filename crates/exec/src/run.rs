//! State of one execution of a plan, shared by its operators. [`Runtime`] borrows the session's
//! transaction, so it must be dropped before the statement ends. It is not shared between threads.

pub(crate) mod defaults;
pub(crate) mod duplicate;
pub(crate) mod examined;
pub(crate) mod history;
pub(crate) mod key_filter;
pub(crate) mod local_times;
mod open_table;
pub(crate) mod rotation;
pub(crate) mod row_filter;
pub(crate) mod rows;
pub(crate) mod rows_out;
pub(crate) mod scan;
pub(crate) mod search;
mod search_kept;
pub(crate) mod search_rules;
pub(crate) mod sequence;
pub(crate) mod spill;
pub(crate) mod stored_rows;
pub(crate) mod subquery_cache;
pub(crate) mod visibility;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::TableId;
use selkie_expr::EvalContext;
use selkie_plan::physical::Plan;
use selkie_types::{Batch, Column, SqlError, SqlResult};

use crate::run::examined::Examined;
use crate::run::key_filter::KeyFilter;
pub(crate) use crate::run::open_table::{
    OpenTable, TableMark, count_definition, count_use, open_table,
};
use crate::run::stored_rows::StoredRows;
use crate::run::subquery_cache::SubqueryCache;
use crate::state::around::{Around, Triggers};
use crate::state::bulk::ParameterRows;
use crate::state::control::Control;
use crate::state::session::bump;
use crate::state::tally::{Tally, WorkCell};
use crate::{Instance, Session};

/// Rows kept for several readers.
pub(crate) type SharedRows = Arc<StoredRows>;

/// Open tables by id; the first one needs no allocation.
#[derive(Default)]
struct OpenTables<'a> {
    first: Option<(TableId, OpenTable<'a>)>,
    others: Vec<(TableId, OpenTable<'a>)>,
}

impl<'a> OpenTables<'a> {
    fn push(&mut self, id: TableId, table: OpenTable<'a>) {
        match self.first {
            None => self.first = Some((id, table)),
            Some(_) => self.others.push((id, table)),
        }
    }

    fn find(&self, wanted: TableId) -> Option<&OpenTable<'a>> {
        let mut all = self.first.iter().chain(&self.others);
        all.find(|(id, _)| *id == wanted).map(|(_, table)| table)
    }
}

/// Results of lookups that expressions ask for.
struct Lookups {
    /// Those of full-text searches, by number.
    searches: RefCell<Vec<Option<Arc<search::Ranks>>>>,
    /// Transactions of the registry that rows have named.
    transactions: visibility::Known,
}

impl Lookups {
    fn of(plan: &Plan) -> Self {
        let searches = RefCell::new(vec![None; plan.searches.len()]);
        Self { searches, transactions: visibility::Known::default() }
    }
}

/// Rows of the common tables of a plan, by number.
pub(crate) struct Commons {
    /// Those that were computed already.
    pub(crate) rows: RefCell<Vec<Option<SharedRows>>>,
    /// Those of the previous round of recursive ones.
    pub(crate) round: RefCell<Vec<Option<SharedRows>>>,
}

impl Commons {
    fn of(plan: &Plan) -> Self {
        let none = || RefCell::new(vec![None; plan.common_tables.len()]);
        Self { rows: none(), round: none() }
    }
}

/// The way in which a statement's rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Batches,
    /// Changes for rows before one that fails stay.
    OneByOne,
    /// One by one: what is done for a row may change later ones, which are taken as they are then
    /// (LIVE-1).
    Live,
}

/// State shared by the operators of one execution.
pub(crate) struct Runtime<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) session: &'a Session,
    pub(crate) control: &'a Control,
    pub(crate) plan: &'a Plan,
    tables: OpenTables<'a>,
    pub(crate) commons: Commons,
    pub(crate) subqueries: RefCell<Vec<SubqueryCache>>,
    lookups: Lookups,
    /// Keys of the build sides of joins, of which scans make filters.
    join_keys: RefCell<Vec<Option<Arc<Column>>>>,
    /// Row numbers in the scan of the last batch that an UPDATE read.
    pub(crate) read: RefCell<Vec<u64>>,
    /// Rows counted for SQL_CALC_FOUND_ROWS.
    pub(crate) found: Cell<u64>,
    /// Rows left under LIMIT ROWS EXAMINED.
    pub(crate) examined: Examined,
    /// The way in which rows are read.
    reading: Reading,
    /// Rows of parameters, for an INSERT in bulk.
    pub(crate) bulk: Option<ParameterRows<'a>>,
    /// Counts of the operators.
    pub(crate) tally: Option<&'a Tally>,
}

impl<'a> Runtime<'a> {
    /// Opens the tables of `plan` in the session's transaction; their engines must have joined it.
    pub(crate) fn new(
        instance: &'a Instance,
        session: &'a Session,
        control: &'a Control,
        plan: &'a Plan,
    ) -> SqlResult<Self> {
        let mut tables = OpenTables::default();
        let related = plan.foreign.touched().map(|(info, _)| info);
        for info in plan.tables.iter().filter(|info| info.has_storage()).chain(related) {
            if tables.find(info.def.id).is_none() {
                let open = open_table(instance, session, info)?;
                let open = open.with_parts(info, plan).with_log(session, info, plan);
                let open = open.with_history(session, info, plan)?;
                tables.push(info.def.id, open);
            }
        }
        Ok(Self {
            instance,
            session,
            control,
            plan,
            tables,
            commons: Commons::of(plan),
            subqueries: RefCell::new(vec![SubqueryCache::default(); plan.subplans.len()]),
            lookups: Lookups::of(plan),
            join_keys: RefCell::new(vec![None; plan.sizes.filters as usize]),
            read: RefCell::default(),
            found: Cell::new(0),
            examined: Examined::default(),
            reading: Reading::Batches,
            bulk: None,
            tally: None,
        })
    }

    /// The same runtime, which reads rows this way.
    pub(crate) fn with_reading(self, reading: Reading) -> Self {
        Self { reading, ..self }
    }

    /// Whether rows are read one by one.
    pub(crate) fn row_by_row(&self) -> bool {
        self.reading != Reading::Batches
    }

    /// Whether what is done for a row may change others that the statement comes to later.
    pub(crate) fn is_live(&self) -> bool {
        self.reading == Reading::Live
    }

    /// The same runtime for rows of parameters.
    pub(crate) fn with_bulk(self, bulk: Option<ParameterRows<'a>>) -> Self {
        Self { bulk, ..self }
    }

    /// The same runtime with counts of its operators.
    pub(crate) fn with_tally(self, tally: Option<&'a Tally>) -> Self {
        Self { tally, ..self }
    }

    /// Drops cached results, because the parameters they depend on have changed.
    pub(crate) fn forget_results(&self) {
        self.subqueries.borrow_mut().fill(SubqueryCache::default());
        self.commons.rows.borrow_mut().fill(None);
        self.commons.round.borrow_mut().fill(None);
        self.lookups.searches.borrow_mut().fill(None);
    }

    /// Sets or removes the keys of a join for the filter with a number.
    pub(crate) fn set_join_keys(&self, slot: u32, keys: Option<Arc<Column>>) {
        if let Some(place) = self.join_keys.borrow_mut().get_mut(slot as usize) {
            *place = keys;
        }
    }

    /// The filter with a number, if its join has read its build side and the keys are numbers. A
    /// join whose other side is not read by groups never pays for it.
    pub(crate) fn filter(&self, slot: u32) -> Option<KeyFilter> {
        KeyFilter::of(self.join_keys.borrow().get(slot as usize)?.as_deref()?)
    }

    /// The open table of `info`.
    pub(crate) fn table(&self, info: &TableInfo) -> SqlResult<&OpenTable<'a>> {
        self.tables.find(info.def.id).ok_or_else(|| {
            SqlError::internal(format_args!("table {} is not among the plan's", info.name()))
        })
    }
}

/// Context passed to every operator.
#[derive(Clone, Copy)]
pub(crate) struct Env<'r> {
    pub(crate) rt: &'r Runtime<'r>,
    pub(crate) eval: &'r EvalContext<'r>,
    /// Counts of the operator that has this context, if anything is counted.
    pub(crate) cell: Option<&'r WorkCell>,
    /// Rows after which the operator above asks for no more, if it is a LIMIT.
    pub(crate) wanted: Option<u32>,
}

impl<'r> Env<'r> {
    /// Counts rows read from a table, by an index of its definition or in stored order.
    #[inline]
    pub(crate) fn count_read(&self, open: &OpenTable<'_>, index: Option<usize>, rows: usize) {
        bump(&self.counters().rows_read, rows as u64);
        if let Some(uses) = &open.uses {
            uses.read(index, rows);
        }
        if let Some(cell) = self.cell {
            cell.read(rows);
        }
    }

    /// Counts rows of a result in between that was kept as a whole, as they are read from it.
    #[inline]
    pub(crate) fn count_kept(&self, batch: Option<Batch>) -> Option<Batch> {
        bump(&self.counters().rows_tmp_read, batch.as_ref().map_or(0, Batch::rows) as u64);
        batch
    }

    /// Whether the session's outer joins give rows without a match as MariaDB's join buffers do.
    pub(crate) fn buffers_outer_joins(&self) -> bool {
        self.rt.session.frame.settings.queries.buffers_outer_joins
    }

    /// Counters of the session.
    pub(crate) fn counters(&self) -> &'r crate::state::session::Counters {
        &self.rt.session.core.counters
    }

    /// The running statement as functions and triggers see it.
    pub(crate) fn around(&self) -> Around<'r> {
        let Runtime { instance, session, control, plan, .. } = self.rt;
        Around { instance, session, control, plan, eval: self.eval }
    }

    /// Triggers for an event on a table; `None` if there are none.
    pub(crate) fn triggers(
        &self,
        table: &'r Arc<TableInfo>,
        event: &str,
    ) -> SqlResult<Option<Box<dyn Triggers + 'r>>> {
        self.rt.instance.programs.triggers(self.around(), table, event)
    }

    /// Fails if the statement was killed.
    pub(crate) fn check(&self) -> SqlResult<()> {
        self.rt.control.check()
    }
}
