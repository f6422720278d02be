//! An instance over the MEMORY engine with transactions, and sessions by name. CREATE TABLE and
//! DROP TABLE bypass the executor's DDL.

use hashbrown::HashMap;
use std::sync::Arc;

use selkie_catalog::{Catalog, Dictionary, Namespace, Schema, TemporaryTables};
use selkie_engine::testing::TRANSACTIONAL;
use selkie_engine::{Engine, Isolation, TableId};
use selkie_exec::session::{Account, NoHooks};
use selkie_exec::{
    Engines, Instance, Outcome, Prepared, ResultSink, Session, execute_prepared, execute_statement,
    prepare_shared,
};
use selkie_expr::{EvalContext, NoSession, TypeContext};
use selkie_memory::MemoryEngine;
use selkie_plan::define::{DefineContext, define_table};
use selkie_plan::physical::OutputColumn;
use selkie_sql::ParseOptions;
use selkie_sql::ast::{CreateTable, DropTables, Statement};
use selkie_types::{Batch, CollationId, SqlResult, SqlType, Value, write_value};

/// Sink that keeps rows as lines of text.
#[derive(Default)]
struct Lines {
    types: Vec<SqlType>,
    rows: Vec<String>,
}

impl ResultSink for Lines {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()> {
        self.types = columns.iter().map(|c| c.ty.clone()).collect();
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        for row in 0..batch.rows() {
            let field = |at: usize| match batch.value(at, row) {
                Value::Null => "NULL".to_owned(),
                value => {
                    let mut text = Vec::new();
                    write_value(&self.types[at], &value, &mut text);
                    if text.is_empty() {
                        "(empty)".into()
                    } else {
                        String::from_utf8_lossy(&text).into_owned()
                    }
                }
            };
            self.rows.push((0..self.types.len()).map(field).collect::<Vec<_>>().join("|"));
        }
        Ok(())
    }
}

/// One server and its sessions.
pub(crate) struct World {
    instance: Instance,
    engine: Arc<dyn Engine>,
    sessions: HashMap<String, Session>,
}

impl World {
    pub(crate) fn new() -> Self {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::model_of(&TRANSACTIONAL));
        let mut engines = Engines::default();
        engines.add(engine.clone());
        let named = |name: &str| engines.personality(name);
        let dictionary = Dictionary::open(engine.clone(), &named);
        let (dictionary, snapshot) = dictionary.expect("a dictionary");
        let catalog = Catalog::new(snapshot);
        catalog.publish(|snapshot| {
            snapshot.put_schema(Schema {
                name: "test".into(),
                collation: CollationId::UTF8MB4_GENERAL_CI,
                comment: String::new(),
                tables: Default::default(),
            });
        });
        let instance = Instance::new(catalog, dictionary, engines);
        Self { instance, engine, sessions: HashMap::new() }
    }

    /// Runs a statement and returns its rows.
    pub(crate) fn run(&mut self, session: &str, sql: &str) -> SqlResult<Vec<String>> {
        let session = session_of(&mut self.sessions, session);
        let options = ParseOptions { sql_mode: session.frame.settings.expressions.sql_mode };
        let parsed = selkie_sql::parse(sql.as_bytes(), &options)?;
        match &parsed.statement {
            Statement::CreateTable(create) => {
                create_table(&self.instance, &self.engine, create, sql)?
            }
            Statement::DropTables(drop) => drop_tables(&self.instance, drop),
            statement => {
                let mut lines = Lines::default();
                let outcome = execute_statement(
                    &self.instance,
                    session,
                    statement,
                    sql.as_bytes(),
                    &[],
                    &mut lines,
                )?;
                return Ok(shown(outcome, lines));
            }
        }
        Ok(Vec::new())
    }
}

impl World {
    /// The session called `name`.
    pub(crate) fn session(&mut self, name: &str) -> &mut Session {
        self.parts(name).1
    }

    /// The instance, and the session called `name`.
    pub(crate) fn parts(&mut self, name: &str) -> (&Instance, &mut Session) {
        (&self.instance, session_of(&mut self.sessions, name))
    }

    /// Prepares a statement as a client does.
    pub(crate) fn prepare(&mut self, session: &str, sql: &str) -> SqlResult<Arc<Prepared>> {
        let session = session_of(&mut self.sessions, session);
        prepare_shared(&self.instance, session, sql.as_bytes(), None)
    }

    /// Runs a prepared statement and returns its rows.
    pub(crate) fn execute(
        &mut self,
        session: &str,
        prepared: &Prepared,
        values: &[(Value, SqlType)],
    ) -> SqlResult<Vec<String>> {
        let session = session_of(&mut self.sessions, session);
        let mut lines = Lines::default();
        let outcome =
            execute_prepared(&self.instance, session, (prepared, None), values, &mut lines)?;
        Ok(shown(outcome, lines))
    }
}

fn session_of<'s>(sessions: &'s mut HashMap<String, Session>, name: &str) -> &'s mut Session {
    let id = sessions.len() as u64 + 1;
    sessions.entry(name.to_owned()).or_insert_with(|| {
        let mut session = Session::new(id, Account::default(), Arc::new(NoHooks));
        session.frame.schema = Some("test".into());
        session
    })
}

fn shown(outcome: Outcome, lines: Lines) -> Vec<String> {
    if outcome.result_set {
        return lines.rows;
    }
    let info = outcome.info();
    let info = if info.is_empty() { info } else { format!(" {info}") };
    vec![format!("affected {}{info}", outcome.affected)]
}

fn create_table(
    instance: &Instance,
    engine: &Arc<dyn Engine>,
    create: &CreateTable,
    sql: &str,
) -> SqlResult<()> {
    let snapshot = instance.catalog.snapshot();
    let temporary = TemporaryTables::default();
    let eval = EvalContext::new(TypeContext::default(), &NoSession, 0);
    let context = DefineContext {
        enforced_engine: None,
        schema: None,
        names: Namespace { snapshot: &snapshot, temporary: &temporary },
        eval: &eval,
        default_engine: TRANSACTIONAL.name,
        engines: &[&TRANSACTIONAL],
        text: sql.as_bytes(),
        now_seconds: 0,
        foreign_key_checks: true,
        after_error: &|_| (),
        environment: &selkie_plan::NoEnvironment,
        keeps_history: false,
        stopwords: Default::default(),
        alter_algorithm: selkie_sql::ast::AlterAlgorithm::Default,
    };
    let (mut info, auto_increment) = define_table(&context, create, "test")?;
    let id = instance.dictionary.new_table_id().expect("an id");
    let mut def = (*info.def).clone();
    def.id = TableId(id.0 + 1000);
    info.def = Arc::new(def);
    if let Some(partitions) = &mut info.partitions {
        let new = || instance.dictionary.new_table_id().map(|id| TableId(id.0 + 1000));
        Arc::make_mut(partitions).renumber(new).expect("ids");
    }
    let trx = engine.begin(Isolation::RepeatableRead, false).expect("a transaction");
    for (_, def) in info.storages() {
        engine.create_table(&*trx, &def).expect("a table");
    }
    if let Some(next) = auto_increment {
        let table = engine.open_table(&info.def).expect("the table");
        table.set_auto_increment(&*trx, next).expect("a counter");
    }
    trx.commit(None).expect("a commit");
    instance.catalog.publish(|snapshot| snapshot.put_table(Arc::new(info)));
    Ok(())
}

fn drop_tables(instance: &Instance, drop: &DropTables) {
    for name in &drop.names {
        instance.catalog.publish(|snapshot| snapshot.remove_table("test", &name.name.value));
    }
}
