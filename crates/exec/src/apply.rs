//! Rows events as changes of tables, and the statement BINLOG.
//!
//! # Words
//! *Map*: what a TABLE_MAP event says of a table. *Local*: as the server that applies has it.
//!
//! # Invariants
//! - APPLY-1 An event takes effect whole or not at all, in engines that roll back.
//! - APPLY-2 Nothing of an event is trusted: whatever its bytes are, the result is rows that the
//!   table can hold, or an error.
//!
//! Must not look at privileges, at CHECKs, or at `read_only`: the primary has.

mod change;
mod convert;
mod failure;
mod find;
mod shape;
pub(crate) mod statement;
mod table;
mod touch;

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_expr::EvalContext;
use selkie_plan::RowsChange;
use selkie_replication::codec::{Change, Rows, TableMap, row_flags};
use selkie_types::SqlError;
use selkie_types::error::catalogue::ER_WRONG_OBJECT;

use self::change::Changes;
use self::failure::{Applied, Broken, guarded};
use self::shape::{Prepared, Side};
use self::table::MappedTable;
pub use self::touch::{Sight, Toucher};
use crate::query::execution::{Execution, Scope};
use crate::query::running::Running;
use crate::query::{join_engines, keep_conditions, now_micros};
use crate::run::rotation::open_history;
use crate::run::{Env, Runtime};
use crate::state::control::Control;
use crate::state::gate::Work;
use crate::{Instance, NullSink, Session};

/// Rows events of one stream as changes of tables.
#[derive(Default)]
pub struct Applier {
    /// Tables of the running statement.
    tables: Vec<Arc<MappedTable>>,
    /// Preparations for events of a kind on a table.
    prepared: HashMap<(Box<str>, Box<str>, Kind), Kept>,
    /// Text of the statement that the events are of, if the primary sent it.
    text: Option<Vec<u8>>,
    /// Tables of the running statement whose partitions for history are chosen.
    rotated: Vec<(Box<str>, Box<str>)>,
}

/// Things that an event's preparation depends on beside its table.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    change: RowsChange,
    checks_foreign_keys: bool,
    conversions: Conversions,
}

/// A preparation, and what it was made of.
struct Kept {
    prepared: Arc<Prepared>,
    /// Version of the catalog.
    version: u64,
    described: Box<[u8]>,
    present: Box<[u8]>,
    present_after: Box<[u8]>,
}

/// Preparations that are kept.
const MOST_KEPT: usize = 1024;
/// Bytes of the images of a compressed event.
const MOST_IMAGES: usize = 1 << 30;

/// Rules for rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Types that may differ: `slave_type_conversions`.
    pub conversions: Conversions,
    /// Rows that are there already, or not there, are no errors: `slave_exec_mode=IDEMPOTENT`.
    pub is_idempotent: bool,
    /// `slave_run_triggers_for_rbr`.
    pub run_triggers: RunTriggers,
}

/// `slave_type_conversions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Conversions {
    /// ALL_LOSSY: to types that cannot hold every value.
    pub is_lossy: bool,
    /// ALL_NON_LOSSY: to types that can.
    pub is_non_lossy: bool,
    /// ALL_SIGNED: integers have a sign.
    pub is_signed: bool,
    /// ALL_UNSIGNED: integers have none.
    pub is_unsigned: bool,
}

/// `slave_run_triggers_for_rbr`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunTriggers {
    /// They do not run.
    #[default]
    No,
    /// They run, and the changed rows are logged without theirs.
    Yes,
    /// They run, and their rows are logged too.
    Logging,
    /// As `Logging`, also if the primary's triggers ran.
    Enforce,
}

/// Error of an event.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The error as a statement would end with it.
    pub error: SqlError,
    /// Schema and name of the table, if it is known.
    pub table: Option<(String, String)>,
    /// MariaDB's name of what the engine said, such as `HA_ERR_KEY_NOT_FOUND`.
    pub handler: Option<&'static str>,
}

impl Rules {
    /// From the texts of `slave_type_conversions`, `slave_exec_mode` and
    /// `slave_run_triggers_for_rbr`.
    pub fn of(conversions: &str, mode: &str, triggers: &str) -> Self {
        let has = |name: &str| conversions.split(',').any(|part| part.eq_ignore_ascii_case(name));
        let conversions = Conversions {
            is_lossy: has("ALL_LOSSY"),
            is_non_lossy: has("ALL_NON_LOSSY"),
            is_signed: has("ALL_SIGNED"),
            is_unsigned: has("ALL_UNSIGNED"),
        };
        let run_triggers = match triggers {
            "YES" => RunTriggers::Yes,
            "LOGGING" => RunTriggers::Logging,
            "ENFORCE" => RunTriggers::Enforce,
            _ => RunTriggers::No,
        };
        Self { conversions, is_idempotent: mode == "IDEMPOTENT", run_triggers }
    }
}

impl Applier {
    /// For a stream at its begin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the text of the statement that the events behind it are of.
    pub fn annotate(&mut self, text: &[u8]) {
        self.text = Some(text.to_vec());
    }

    /// A TABLE_MAP event. `target`: `None` if rows of it are to be passed over; otherwise its
    /// schema, which may be another than the event's, and its name.
    pub fn table_map(
        &mut self,
        instance: &Instance,
        session: &mut Session,
        map: &TableMap<'_>,
        target: Option<(&str, &str)>,
    ) -> Result<(), Failure> {
        let mapped = MappedTable::new(map, target);
        let mapped = mapped.map_err(|error| Broken::from(error).on(target))?;
        if self.tables.is_empty() {
            self.begin_statement(instance, session);
        }
        if let Some((schema, name)) = target
            && session.log().is_some()
            && let Ok(info) = (Scope { instance, session }).table(schema, name)
        {
            let expected = session.expect_changes(instance, &info);
            expected.map_err(|error| Broken::from(error).on(target))?;
        }
        self.tables.retain(|table| table.id != map.table_id);
        self.tables.push(Arc::new(mapped));
        Ok(())
    }

    /// A rows event. The last one of a statement closes the tables' maps.
    pub fn rows(
        &mut self,
        instance: &Instance,
        session: &mut Session,
        rules: &Rules,
        rows: &Rows<'_>,
    ) -> Result<(), Failure> {
        let mapped = self.tables.iter().find(|table| table.id == rows.table_id).cloned();
        let target = mapped.as_ref().and_then(|mapped| mapped.target.as_ref());
        let target = target.map(|(schema, name)| (&**schema, &**name));
        if let (Some(mapped), Some(target)) = (&mapped, target) {
            let applied = self.change(instance, session, rules, (mapped, target), rows);
            applied.map_err(|broken| broken.on(Some(target)))?;
        }
        if rows.flags & row_flags::STMT_END != 0 {
            self.clear();
            if let Some(log) = session.transaction.log() {
                log.end_statement();
            }
        }
        Ok(())
    }

    /// Forgets the running statement's maps: its group has ended, or is broken off.
    pub fn clear(&mut self) {
        self.tables.clear();
        self.rotated.clear();
        self.text = None;
    }

    fn begin_statement(&self, instance: &Instance, session: &mut Session) {
        session.join_binlog(instance);
        session.values.statement_start.set(now_micros(session));
        // Within a function or trigger the changes are the calling statement's.
        if let Some(log) = session.log().filter(|_| !session.transaction.is_nested()) {
            session.begin_in_log(log, self.text.as_deref());
        }
    }

    /// Applies an event with the checks that the primary's session had.
    fn change(
        &mut self,
        instance: &Instance,
        session: &mut Session,
        rules: &Rules,
        table: (&MappedTable, (&str, &str)),
        rows: &Rows<'_>,
    ) -> Applied<()> {
        let settings = &mut session.frame.settings;
        let own = (settings.planning.foreign_key_checks, settings.binlog.unique_checks);
        settings.planning.foreign_key_checks = rows.flags & row_flags::NO_FOREIGN_KEYS == 0;
        settings.binlog.unique_checks = rows.flags & row_flags::RELAXED_UNIQUE == 0;
        let control = &Control::new(session);
        let (running, sink) = (Running::new(&[], &[]), &mut NullSink);
        let entered = session.enter(control, Work::Rows);
        let result = entered.map_err(Broken::from).and_then(|entered| {
            let mut execution = Execution { instance, session, control, running, sink };
            let result = guarded(|| self.run(&mut execution, rules, table, rows));
            if entered {
                execution.session.leave();
            }
            result
        });
        let settings = &mut session.frame.settings;
        (settings.planning.foreign_key_checks, settings.binlog.unique_checks) = own;
        result
    }

    fn run(
        &mut self,
        execution: &mut Execution<'_>,
        rules: &Rules,
        (mapped, target): (&MappedTable, (&str, &str)),
        rows: &Rows<'_>,
    ) -> Applied<()> {
        let images = rows.plain_images(MOST_IMAGES)?;
        if rows.columns != mapped.columns.len() as u64 {
            return Err(selkie_replication::DecodeError::Invalid("count of columns").into());
        }
        // A statement chooses the partitions for history once, before its first rows.
        let is_it = |(schema, name): &(Box<str>, Box<str>)| (&**schema, &**name) == target;
        let ends = rows.change != Change::Write && !self.rotated.iter().any(is_it);
        let prepared = self.prepare(execution, rules, (mapped, target), (rows, ends))?;
        if ends && prepared.info.rotation().is_some() {
            self.rotated.push((target.0.into(), target.1.into()));
        }
        let _alone = execution.lock_event_rows(&prepared.info)?;
        let (instance, control) = (execution.instance, execution.control);
        execution.session.transaction.note_shared_change();
        join_engines(instance, execution.session, &prepared.plan.plan)?;
        match prepared.info.is_versioned_by_transaction() {
            true => execution.give_number()?,
            false => execution.number_transaction(&prepared.plan.plan)?,
        }
        let session = &mut *execution.session;
        instance.upkeep.maintained.changed(&prepared.info);
        let mark = session.transaction.mark()?;
        let session = &*session;
        let result = guarded(|| {
            let plan = &prepared.plan.plan;
            let runtime = Runtime::new(instance, session, control, plan)?;
            if ends {
                open_history(&runtime, &prepared.info)?;
            }
            let now = session.values.statement_start.get();
            let mut eval = EvalContext::new(session.type_context(), session, now);
            eval.subqueries = &runtime;
            let env = Env { rt: &runtime, eval: &eval, cell: None, wanted: None };
            let result = Changes::new(env, &prepared, rules)
                .map_err(Broken::from)
                .and_then(|changes| changes.run(rows.change, &images));
            runtime.table(&prepared.info)?.handle.note_change(now);
            keep_conditions(session, &eval);
            result
        });
        if result.is_err() {
            session.transaction.undo(&mark)?;
        }
        result
    }

    /// The preparation for an event, with its table locked.
    fn prepare(
        &mut self,
        execution: &mut Execution<'_>,
        rules: &Rules,
        (mapped, (schema, name)): (&MappedTable, (&str, &str)),
        (rows, ends): (&Rows<'_>, bool),
    ) -> Applied<Arc<Prepared>> {
        let change = match rows.change {
            Change::Write if rules.is_idempotent => RowsChange::Replace,
            Change::Write => RowsChange::Insert,
            Change::Update => RowsChange::Update,
            Change::Delete => RowsChange::Delete,
        };
        let checks_foreign_keys = rows.flags & row_flags::NO_FOREIGN_KEYS == 0;
        let kind = Kind { change, checks_foreign_keys, conversions: rules.conversions };
        let key = (Box::from(schema), Box::from(name), kind);
        let kept = self.prepared.get(&key).filter(|kept| kept.is_of(mapped, rows));
        let mut found = kept.map(|kept| (kept.version, Arc::clone(&kept.prepared)));
        let has_temporary = execution.session.frame.temporary.get(schema, name).is_some();
        let mut broken = None;
        let make = |scope: Scope<'_>| {
            let version = scope.instance.catalog.version();
            if let Some((of, prepared)) = &found
                && *of == version
                && !has_temporary
            {
                return Ok(Arc::clone(&prepared.plan.plan));
            }
            let prepared = prepare(scope, rules, (mapped, (schema, name)), (change, rows));
            let prepared = prepared.map_err(|error| error.noting(&mut broken))?;
            let plan = Arc::clone(&prepared.plan.plan);
            found = Some((version, Arc::new(prepared)));
            Ok(plan)
        };
        let locked = match ends {
            true => execution.locked_event(make),
            false => execution.locked_plan(make),
        };
        locked.map_err(|error| Broken::noted(error, broken))?;
        let missing = || SqlError::internal("an event was not prepared");
        let (version, prepared) = found.ok_or_else(missing)?;
        if self.prepared.len() >= MOST_KEPT {
            self.prepared.clear();
        }
        let (present, present_after) = (rows.present.into(), rows.present_after.into());
        let (described, made) = (mapped.described.clone(), Arc::clone(&prepared));
        self.prepared
            .insert(key, Kept { prepared: made, version, described, present, present_after });
        Ok(prepared)
    }
}

impl Kept {
    fn is_of(&self, mapped: &MappedTable, rows: &Rows<'_>) -> bool {
        *self.present == *rows.present
            && *self.present_after == *rows.present_after
            && self.described == mapped.described
    }
}

/// Finds the way of an event's rows into their table.
fn prepare(
    scope: Scope<'_>,
    rules: &Rules,
    (mapped, (schema, name)): (&MappedTable, (&str, &str)),
    (change, rows): (RowsChange, &Rows<'_>),
) -> Applied<Prepared> {
    if rules.run_triggers != RunTriggers::No {
        return Err(SqlError::not_supported("slave_run_triggers_for_rbr").into());
    }
    let info = scope.table(schema, name)?;
    if !info.has_storage() {
        return Err(SqlError::new(&ER_WRONG_OBJECT, &[&schema, &name, &"BASE TABLE"]).into());
    }
    let plan = scope.rows_plan(&info, change)?;
    let side = |present| Side::new(mapped, present, &info, &plan.rules, rules.conversions);
    let (before, after) = match rows.change {
        Change::Write => (None, Some(side(rows.present)?)),
        Change::Update => (Some(side(rows.present)?), Some(side(rows.present_after)?)),
        Change::Delete => (Some(side(rows.present)?), None),
    };
    Ok(Prepared { info, plan, before, after })
}
