//! CHECKSUM TABLE: a number that is the same for the same rows, also on another server.
//!
//! Compat: the value is the sum of one CRC-32 per row over MariaDB's in-memory form of the row.
//! [`image`] writes that form; nothing else uses it.

mod image;

use selkie_catalog::{TableInfo, TableKind};
use selkie_engine::{EngineTrx, RowSet, Scan, Table};
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{MaintenanceAction, TableMaintenance};
use selkie_types::{Condition, Level, Privileges, SqlResult, SqlType, TypeKind, Value};

use crate::query::execution::Execution;
use crate::run::open_table;
use crate::run::rows_out::{send, text};
use crate::state::control::Control;
use crate::state::error::from_engine;
use crate::state::own_transaction;
use crate::{Instance, Outcome, Session};

use image::RowImage;

/// Rows read at a time.
const BATCH: usize = 1024;

/// Runs the statement over its tables. An error of one table goes to the warnings list, and its
/// checksum is NULL.
pub(super) fn run(
    execution: &mut Execution<'_>,
    statement: &TableMaintenance,
) -> SqlResult<Outcome> {
    let session = &*execution.session;
    for name in &statement.tables {
        let (schema, table) = (session.schema_of(name)?, &*name.name.value);
        let own = session.frame.temporary.get(schema, table).is_some();
        if !own && !schema.eq_ignore_ascii_case("information_schema") {
            let permissions: &dyn selkie_plan::Permissions = session;
            permissions.check_table(None, schema, table, Privileges::SELECT)?;
        }
    }
    let quick = statement.options.contains(&"QUICK");
    let mut rows = Vec::new();
    for name in &statement.tables {
        let schema = execution.session.schema_of(name)?.to_owned();
        let shown = format!("{schema}.{}", name.name);
        let sum = match checksum(execution, (&schema, &name.name.value), quick) {
            Ok(sum) => sum,
            Err(error) => {
                let condition = Condition::from_error(Level::Error, &error);
                let session = &*execution.session;
                session.diagnostics.push(condition, session.frame.settings.notes.max_error_count);
                None
            }
        };
        rows.push(vec![Value::bytes(shown), sum.map_or(Value::Null, |sum| Value::Int(sum.into()))]);
    }
    send(execution.sink, &columns(), &rows)
}

/// Columns of the result.
pub(super) fn columns() -> [OutputColumn; 2] {
    let number = SqlType::new(TypeKind::BigInt, 21, 0);
    [OutputColumn::computed("Table", text(128)), OutputColumn::computed("Checksum", number)]
}

fn checksum(
    execution: &mut Execution<'_>,
    name: (&str, &str),
    quick: bool,
) -> SqlResult<Option<u32>> {
    let table = super::find_locked(execution, name, MaintenanceAction::Checksum)?;
    if table.kind != TableKind::Base && table.kind != TableKind::Temporary {
        return Ok(None);
    }
    execution.begin_on(&table)?;
    // Compat: QUICK uses only a maintained checksum.
    let sum = match quick && !keeps_checksum(&table) {
        true => None,
        false => {
            let Execution { instance, session, control, .. } = execution;
            let open = open_table(instance, session, &table)?;
            Some(sum_rows(&table, (&*open.handle.table, open.trx), control)?)
        }
    };
    if !execution.session.in_transaction() {
        execution.session.commit()?;
    }
    Ok(sum)
}

/// Whether MariaDB maintains a checksum for a table: it has the option CHECKSUM, in some engines.
fn keeps_checksum(table: &TableInfo) -> bool {
    table.options.shown.iter().any(|(name, _)| name == "CHECKSUM")
        && table.engine.maintenance.keeps_checksum
}

/// The checksum that MariaDB would have maintained, if it would, of the committed rows.
pub(crate) fn maintained(instance: &Instance, session: &Session, table: &TableInfo) -> Option<u32> {
    if !keeps_checksum(table) || table.kind != TableKind::Base {
        return None;
    }
    let (engine, trx) = own_transaction::begin_in(instance, table).ok()?;
    let handle = instance.look_into(table)?;
    let sum = sum_rows(table, (&*handle.table, &*trx), &Control::new(session));
    own_transaction::commit_now(&*engine, trx).ok()?;
    sum.ok()
}

fn sum_rows(
    table: &TableInfo,
    (rows, trx): (&dyn Table, &dyn EngineTrx),
    control: &Control,
) -> SqlResult<u32> {
    let failed = |e| from_engine(e, &table.def);
    let mut cursor = rows.scan(trx, control, &Scan::default()).map_err(failed)?;
    let image = RowImage::new(table);
    let (mut rows, mut bytes, mut sum) = (RowSet::default(), Vec::new(), 0u32);
    while cursor.next_batch(&mut rows, BATCH).map_err(failed)? {
        for row in rows.rows.iter() {
            bytes.clear();
            image.write(row, &mut bytes)?;
            sum = sum.wrapping_add(image::crc32(&bytes));
        }
        rows.clear();
    }
    Ok(sum)
}
