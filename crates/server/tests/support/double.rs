//! The backend of the connection tests: a double of the executor.
//!
//! Its statements are a few words, such as `rows 3` for three rows or `sleep` for a wait until a
//! kill.

use std::sync::Arc;
use std::time::Duration;

use selkie_exec::{Outcome, ResultSink, RowCounts, Told};
use selkie_plan::physical::OutputColumn;
use selkie_protocol::Status;
use selkie_server::backend::{
    Backend, BackendSession, Described, SessionFactory, SessionStatus, Step,
};
use selkie_server::session::Shared;
use selkie_sql::ClientText;
use selkie_types::error::catalogue::*;
use selkie_types::{Batch, CollationId, Column, Physical, SqlError, SqlResult, SqlType, Value};

/// Opens sessions of the double.
#[derive(Debug)]
pub(crate) struct Double;

impl Backend for Double {}

impl SessionFactory for Double {
    type Session = DoubleSession;

    fn open(&self, shared: &Arc<Shared>) -> DoubleSession {
        DoubleSession { shared: Arc::clone(shared), status: SessionStatus::default() }
    }
}

pub(crate) struct DoubleSession {
    shared: Arc<Shared>,
    status: SessionStatus,
}

pub(crate) fn column(name: &str, ty: SqlType) -> OutputColumn {
    OutputColumn { nullable: false, ..OutputColumn::computed(name, ty) }
}

fn one_column(
    name: &str,
    ty: &SqlType,
    values: &[Value],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    sink.columns(&[column(name, ty.clone())])?;
    let physical = ty.physical();
    for chunk in values.chunks(1024) {
        let mut data = Column::new(physical, 0, chunk.len());
        chunk.iter().for_each(|v| data.push(v));
        sink.batch(&Batch::new(vec![Arc::new(data)], chunk.len()))?;
    }
    Ok(Outcome { result_set: true, ..Outcome::default() })
}

impl DoubleSession {
    fn run(&mut self, text: &str, sink: &mut dyn ResultSink) -> SqlResult<Outcome> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [] => Err(SqlError::new(&ER_EMPTY_QUERY, &[])),
            ["do", ..] => Ok(Outcome::default()),
            ["changed", n] => Ok(Outcome {
                affected: n.parse().unwrap_or(0),
                insert_id: 7,
                counts: RowCounts { records: 1, changed: 1, ..RowCounts::default() },
                told: Told::Updated,
                ..Outcome::default()
            }),
            ["rows", n] => {
                let n: i64 = n.parse().unwrap_or(0);
                let values: Vec<Value> = (0..n).map(Value::Int).collect();
                one_column("n", &SqlType::bigint(), &values, sink)
            }
            ["sleep"] => loop {
                match self.shared.handle.kill.get() as u8 {
                    0 => std::thread::sleep(Duration::from_millis(2)),
                    1 => return Err(SqlError::interrupted()),
                    _ => return Err(SqlError::new(&ER_CONNECTION_KILLED, &[])),
                }
            },
            ["file", name] => {
                let mut text = Vec::new();
                sink.local_infile(name)?
                    .read_to_end(&mut text)
                    .map_err(|_| SqlError::new(&ER_FILE_NOT_FOUND, &[&name, &2]))?;
                Ok(Outcome { affected: text.len() as u64, ..Outcome::default() })
            }
            ["text", word] => {
                let ty = SqlType::varchar(10, CollationId::UTF8MB4_GENERAL_CI);
                one_column("t", &ty, &[Value::bytes(word)], sink)
            }
            _ => Err(SqlError::parse(text, 1)),
        }
    }
}

impl BackendSession for DoubleSession {
    type Statement = String;
    type Prepared = String;

    fn parse(
        &mut self,
        text: &[u8],
        multi: bool,
        _: Option<&ClientText>,
    ) -> SqlResult<Step<String>> {
        let end = text.iter().position(|b| *b == b';').filter(|_| multi);
        let this = String::from_utf8_lossy(&text[..end.unwrap_or(text.len())]).into_owned();
        let next = end.map(|at| at + 1).filter(|at| *at < text.len());
        Ok(Step { statement: this, next })
    }

    fn query(
        &mut self,
        statement: String,
        _: &[u8],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        self.run(&statement, sink)
    }

    fn prepare(&mut self, text: &[u8], _: Option<&ClientText>) -> SqlResult<Described<String>> {
        let text = String::from_utf8_lossy(text).into_owned();
        let parameters = text.matches('?').count();
        let mut columns: Vec<_> = (0..parameters).map(|_| column("?", SqlType::null())).collect();
        if text.starts_with("rows") {
            columns.push(column("n", SqlType::bigint()));
        }
        Ok(Described { statement: text, parameters, columns })
    }

    fn execute(
        &mut self,
        statement: &String,
        parameters: &[(Value, SqlType)],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        if parameters.is_empty() {
            return self.run(statement, sink);
        }
        let columns: Vec<_> = parameters.iter().map(|(_, ty)| column("?", ty.clone())).collect();
        sink.columns(&columns)?;
        let row = parameters
            .iter()
            .map(|(value, ty)| Arc::new(Column::constant(value, ty.physical(), ty.decimals, 1)));
        sink.batch(&Batch::new(row.collect(), 1))?;
        Ok(Outcome { result_set: true, ..Outcome::default() })
    }

    fn field_list(&mut self, table: &str, _: &[u8]) -> SqlResult<Vec<OutputColumn>> {
        match table {
            "t" => Ok(vec![column("a", SqlType::int())]),
            _ => Err(SqlError::no_such_table("db", table)),
        }
    }

    fn use_schema(&mut self, schema: &str) -> SqlResult<()> {
        if schema != "db" {
            return Err(SqlError::unknown_database(schema));
        }
        self.shared.schema_changed(Some(schema));
        Ok(())
    }

    fn fixed_micros(&self) -> Option<i64> {
        None
    }

    fn status(&self) -> SessionStatus {
        SessionStatus { flags: Status::AUTOCOMMIT, ..self.status }
    }

    fn note_error(&mut self, _: &SqlError) {}

    fn reset(&mut self) {
        debug_assert_eq!(SqlType::bigint().physical(), Physical::Int);
    }
}
