//! Registers the server's tables of `information_schema` and `performance_schema` with the
//! executor.
//!
//! Must not compute rows; `tables`, `innodb` and `performance` do.

use std::sync::{Arc, Weak};

use hashbrown::HashMap;
use parking_lot::RwLock;
use selkie_catalog::TableInfo;
use selkie_exec::session::Session;
use selkie_exec::{Instance, SystemRequest, SystemTable};
use selkie_types::{Physical, SqlResult, SqlType, Value};

use super::hooks::pseudo_value;
use crate::innodb;
use crate::performance;
use crate::session::Shared;
use crate::tables::{self, Row};
use crate::variables::lookup;

/// The server's state of each session, by connection number.
pub(crate) type Registered = Arc<RwLock<HashMap<u64, Weak<Shared>>>>;

/// Registers all tables.
pub(super) fn register(instance: &Instance, sessions: &Registered) {
    for name in tables::NAMES.iter().chain(innodb::TABLES) {
        let table = ServerTable { name, sessions: Arc::clone(sessions) };
        instance.add_system_table(name, Arc::new(table));
    }
    for name in performance::NAMES {
        let table = PerformanceTable { name, sessions: Arc::clone(sessions) };
        instance.add_system_table(&format!("performance_schema.{name}"), Arc::new(table));
    }
}

struct ServerTable {
    name: &'static str,
    sessions: Registered,
}

impl SystemTable for ServerTable {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let shared = self.sessions.read().get(&request.session.core.id).and_then(Weak::upgrade);
        let Some(shared) = shared else { return Ok(()) };
        // Compat: SHOW PROCESSLIST shows itself in another state than a query of its table.
        if !(request.session.shows && self.name == "PROCESSLIST") {
            shared.handle.set_state("Filling schema table");
        }
        if innodb::TABLES.contains(&self.name) {
            let asked = innodb::Asked { shared: &shared, instance: request.instance };
            let rows = {
                let _acting = shared.acting(request.session)?;
                innodb::rows(self.name, &asked)?
            };
            let mut rows = rows.into_iter();
            return rows.try_for_each(|row| emit(&arrange(request.table, row)));
        }
        let pseudo = |name: &str| pseudo_text(request.session, name);
        let rows = match self.name {
            "ALL_PLUGINS" | "PLUGINS" => {
                let snapshot = request.instance.catalog.snapshot();
                let has_table = |name: &str| snapshot.table("information_schema", name).is_some();
                tables::plugins::rows(&has_table)
            }
            _ => {
                let _acting = shared.acting(request.session)?;
                tables::rows(self.name, &shared, &pseudo, request.wanted)?
            }
        };
        for row in rows {
            emit(&arrange(request.table, row))?;
        }
        Ok(())
    }
}

struct PerformanceTable {
    name: &'static str,
    sessions: Registered,
}

impl SystemTable for PerformanceTable {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let shared = self.sessions.read().get(&request.session.core.id).and_then(Weak::upgrade);
        let Some(shared) = shared else { return Ok(()) };
        let pseudo = |name: &str| pseudo_text(request.session, name);
        performance::rows(self.name, (&shared, request.instance), &pseudo, &mut |row| {
            emit(&arrange(request.table, row))
        })
    }
}

/// A variable that is kept in the executor's session, as text.
fn pseudo_text(session: &Session, name: &str) -> Option<String> {
    let place = session.snapshot_place();
    match name {
        "binlog_snapshot_file" => return place.map(|place| place.file.to_string()),
        "binlog_snapshot_position" => return place.map(|place| place.offset.to_string()),
        _ => {}
    }
    Some(pseudo_value(session, name)?.show(lookup(name).ok()?))
}

/// The values of a row in the order of the table's columns.
pub(super) fn arrange(table: &TableInfo, mut row: Row) -> Vec<Value> {
    let mut values = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let at = row.iter().position(|(name, _)| name.eq_ignore_ascii_case(&column.name));
        let value = at.map(|at| row.swap_remove(at).1);
        values.push(match value {
            Some(value) => fit(value, &column.ty),
            None if column.nullable => Value::Null,
            None => empty(column.ty.physical()),
        });
    }
    values
}

/// A number, or the name of an enumeration's member, converted to the column's type.
fn fit(value: Value, ty: &SqlType) -> Value {
    match (value, ty.physical()) {
        (Value::Int(v), Physical::UInt) => Value::UInt(v as u64),
        (Value::UInt(v), Physical::Int) => Value::Int(v as i64),
        (Value::Bytes(name), Physical::UInt) => {
            let members = ty.members.iter().flat_map(|members| members.iter());
            let at = members.into_iter().position(|m| m.as_bytes() == &name[..]);
            Value::UInt(at.map_or(0, |at| at as u64 + 1))
        }
        (value, _) => value,
    }
}

fn empty(physical: Physical) -> Value {
    match physical {
        Physical::Int => Value::Int(0),
        Physical::UInt => Value::UInt(0),
        Physical::Double => Value::Double(0.0),
        Physical::Bytes => Value::bytes(""),
        _ => Value::Null,
    }
}
