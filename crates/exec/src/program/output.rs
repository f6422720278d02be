//! Result sets of a program's statements: sent to the client one after the other, or refused.
//!
//! Must not send an OK packet: the statement around ends the reply.

use std::io::Read;

use selkie_plan::physical::OutputColumn;
use selkie_types::error::catalogue::ER_SP_NO_RETSET;
use selkie_types::{Batch, SqlError, SqlResult};

use crate::{OutParameter, ResultSink};

/// The client's sink, and whether a result set is open in it.
pub(super) struct ProgramSink<'a> {
    inner: &'a mut dyn ResultSink,
    open: bool,
    /// OUT values of the last EXECUTE, whose placeholders are variables of the program.
    given_back: Vec<OutParameter>,
}

impl<'a> ProgramSink<'a> {
    pub(super) fn new(inner: &'a mut dyn ResultSink) -> Self {
        Self { inner, open: false, given_back: Vec::new() }
    }

    /// Takes what the last statement gave back.
    pub(super) fn take_given_back(&mut self) -> Vec<OutParameter> {
        std::mem::take(&mut self.given_back)
    }

    /// A statement has ended: so has its result set, and more answers follow.
    pub(super) fn end_statement(&mut self) -> SqlResult<()> {
        match std::mem::take(&mut self.open) {
            true => self.inner.end(),
            false => Ok(()),
        }
    }
}

impl ResultSink for ProgramSink<'_> {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()> {
        self.end_statement()?;
        self.inner.columns(columns)?;
        self.open = true;
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        self.inner.batch(batch)
    }

    fn end(&mut self) -> SqlResult<()> {
        self.end_statement()
    }

    fn takes_parameter(&self, _number: usize) -> bool {
        true
    }

    fn out_parameters(&mut self, parameters: Vec<OutParameter>) -> SqlResult<()> {
        self.given_back.extend(parameters);
        Ok(())
    }

    fn local_infile(&mut self, file: &str) -> SqlResult<Box<dyn Read + '_>> {
        self.inner.local_infile(file)
    }
}

/// Of functions and triggers, which give no result sets.
pub(super) struct NoResults(pub(super) &'static str);

impl ResultSink for NoResults {
    fn columns(&mut self, _: &[OutputColumn]) -> SqlResult<()> {
        Err(SqlError::new(&ER_SP_NO_RETSET, &[&self.0]))
    }

    fn batch(&mut self, _: &Batch) -> SqlResult<()> {
        Ok(())
    }
}
