//! Computed tables that the executor can answer: what follows from definitions and engines.

use std::sync::Arc;

use selkie_catalog::{
    InformationSource, Namespace, TableInfo, TableKind, information_rows, information_schema,
};
use selkie_engine::TableStatistics;
use selkie_types::{SqlResult, Value};

use crate::Instance;
use crate::instance::{SystemRequest, SystemTable};

/// Registers the tables of `information_schema` that need no server.
pub fn register_system_tables(instance: &Instance) {
    let definitions: Arc<dyn SystemTable> = Arc::new(Definitions);
    for table in information_schema() {
        instance.add_system_table(table.name(), definitions.clone());
    }
    instance.add_system_table("ENGINES", Arc::new(EngineList));
}

/// Tables answered by [`information_rows`]; those it does not know have no rows, as there is
/// nothing of their kind (routines, triggers, events, partitions).
struct Definitions;

impl SystemTable for Definitions {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let (instance, session) = (request.instance, request.session);
        let snapshot = instance.catalog.snapshot();
        let statistics = |table: &TableInfo| statistics_of(instance, table);
        let visible = |schema: &str, name: &str| match snapshot.table(schema, name) {
            Some(table) => session.hooks.is_visible(session, table),
            None => true,
        };
        let source = InformationSource {
            names: Namespace { snapshot: &snapshot, temporary: &session.temporary },
            statistics: &statistics,
            visible: &visible,
            schema: request.schema,
            table: request.name,
        };
        let rows = information_rows(&source, request.table.name());
        rows.unwrap_or_default().iter().try_for_each(|row| emit(row))
    }
}

/// What the engine knows; nothing of tables without storage or that cannot be opened.
fn statistics_of(instance: &Instance, table: &TableInfo) -> TableStatistics {
    match table.kind {
        TableKind::Base | TableKind::Temporary => {
            instance.open_table(table).map(|handle| handle.table.statistics()).unwrap_or_default()
        }
        _ => TableStatistics::default(),
    }
}

struct EngineList;

impl SystemTable for EngineList {
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        for engine in request.instance.engines.iter() {
            let yes_no = |yes: bool| Value::bytes(if yes { "YES" } else { "NO" });
            let default = *engine.name() == *request.session.settings.default_storage_engine;
            let transactional = engine.capabilities().transactional;
            emit(&[
                Value::bytes(engine.name()),
                Value::bytes(if default { "DEFAULT" } else { "YES" }),
                Value::bytes(comment(engine.name())),
                yes_no(transactional),
                yes_no(transactional),
                yes_no(transactional),
            ])?;
        }
        let texts = [selkie_catalog::SERIES_ENGINE, "YES", "Tables of numbers, by name", "YES"];
        let mut row: Vec<Value> = texts.iter().map(|text| Value::bytes(*text)).collect();
        row.extend([Value::bytes("NO"), Value::bytes("YES")]);
        emit(&row)?;
        Ok(())
    }
}

fn comment(engine: &str) -> &'static str {
    match engine {
        "InnoDB" => "Transactions, row locks, crash recovery",
        "MEMORY" => "Kept in memory, useful for temporary tables",
        "MyISAM" => "Tables without transactions",
        "Aria" => "Tables without transactions, crash recovery",
        "CSV" => "Tables without transactions or indexes",
        _ => "",
    }
}
