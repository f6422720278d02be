//! The forms in which results reach a connection. Must not hold behaviour.
#![allow(missing_docs)]
use selkie_types::*;
use std::io::Read;
use std::sync::Arc;
#[derive(Clone, Debug)]
pub struct OutputColumn {
    pub name: Arc<str>,
    pub ty: SqlType,
    pub nullable: bool,
    pub schema: Arc<str>,
    pub table: Arc<str>,
    pub org_table: Arc<str>,
    pub org_name: Arc<str>,
    pub primary_key: bool,
    pub unique_key: bool,
    pub multiple_key: bool,
    pub auto_increment: bool,
    pub no_default: bool,
    pub on_update_now: bool,
}
pub trait ResultSink {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()>;
    fn batch(&mut self, batch: &Batch) -> SqlResult<()>;
    fn end(&mut self) -> SqlResult<()> {
        Ok(())
    }
    fn local_infile(&mut self, _file: &str) -> SqlResult<Box<dyn Read + '_>> {
        Err(SqlError::new(&selkie_types::error::catalogue::ER_NOT_ALLOWED_COMMAND, &[]))
    }
}
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub result_set: bool,
    pub affected: u64,
    pub insert_id: u64,
    pub info: String,
    pub release: bool,
}
