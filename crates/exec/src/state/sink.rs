//! Receiver of a statement's results, and the outcome of a statement.
//!
//! Rows leave the executor as batches; the server makes packets, text and binary forms. No I/O
//! here.

use std::io::Read;
use std::ops::AddAssign;
use std::sync::Arc;

use selkie_plan::physical::OutputColumn;
use selkie_types::error::catalogue::{
    ER_INSERT_INFO, ER_LOAD_INFO, ER_NOT_ALLOWED_COMMAND, ER_UPDATE_INFO,
    ER_UPDATE_INFO_WITH_SYSTEM_VERSIONING,
};
use selkie_types::{Batch, SqlError, SqlResult, Value};

use crate::state::columns::column_of;

/// Receives the result sets of one statement.
///
/// For each result set, `columns` is called once, then `batch` any number of times. `end` ends each
/// result set but the last; the executor's caller ends that one, with the [`Outcome`].
pub trait ResultSink {
    /// Begins a result set.
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()>;

    /// The same for the columns of a plan. An implementation may cache them by their address.
    fn planned_columns(&mut self, columns: &Arc<[OutputColumn]>) -> SqlResult<()> {
        self.columns(columns)
    }

    /// Receives the next rows: values of the announced types, strings in their types' charsets,
    /// TIMESTAMPs already in the session's time zone.
    fn batch(&mut self, batch: &Batch) -> SqlResult<()>;

    /// Ends a result set that another one follows.
    fn end(&mut self) -> SqlResult<()> {
        Ok(())
    }

    /// Whether a query that sends no rows counts as empty.
    fn counts_empty(&self) -> bool {
        true
    }

    /// A number for the form in which rows are written: rows of one form can be sent again where
    /// that form is asked for. `None` if rows cannot be sent again.
    fn form(&self) -> Option<u64> {
        None
    }

    /// Keeps a copy of the rows that follow, as they are written, up to `limit` bytes.
    fn keep_rows(&mut self, _limit: usize) {}

    /// Ends the copy; `None` if it would be too long.
    fn kept_rows(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Sends `count` rows again, behind their columns.
    fn send_again(&mut self, _rows: &[u8], _count: u64) -> SqlResult<()> {
        Err(SqlError::internal("rows cannot be sent again here"))
    }

    /// Whether a value can be assigned to the placeholder of this number (from 0), so that it may
    /// be an OUT argument.
    fn takes_parameter(&self, _number: usize) -> bool {
        false
    }

    /// Receives the values of a procedure's OUT and INOUT parameters whose arguments are
    /// placeholders, which `takes_parameter` allowed.
    fn out_parameters(&mut self, _parameters: Vec<OutParameter>) -> SqlResult<()> {
        Ok(())
    }

    /// Whether [`Self::local_infile`] gives the file of LOAD DATA without LOCAL too: a primary has
    /// sent it.
    fn has_infile(&self) -> bool {
        false
    }

    /// Asks the client for a file (`LOAD DATA LOCAL INFILE`).
    fn local_infile(&mut self, _file: &str) -> SqlResult<Box<dyn Read + '_>> {
        Err(SqlError::new(&ER_NOT_ALLOWED_COMMAND, &[]))
    }
}

/// The sink of a plan's rows.
pub(crate) struct PlanSink<'s> {
    pub(crate) sink: &'s mut dyn ResultSink,
    /// The plan outlives the statement. What is cached for another one's columns would never be
    /// found again.
    pub(crate) is_kept: bool,
}

impl PlanSink<'_> {
    /// Begins the result set of a plan.
    pub(crate) fn begin(&mut self, columns: &Arc<[OutputColumn]>) -> SqlResult<()> {
        match self.is_kept {
            true => self.sink.planned_columns(columns),
            false => self.sink.columns(columns),
        }
    }
}

/// The value of an OUT or INOUT parameter whose argument is a placeholder.
#[derive(Clone, Debug)]
pub struct OutParameter {
    /// Number of the placeholder, from 0.
    pub placeholder: usize,
    /// The parameter as a column of a table that is named like the procedure.
    pub column: OutputColumn,
    /// Its value when the procedure ended.
    pub value: Value,
}

impl OutParameter {
    /// The values as the columns and the only row of a result set.
    pub fn one_row(parameters: Vec<Self>) -> (Vec<OutputColumn>, Batch) {
        let mut columns = Vec::with_capacity(parameters.len());
        let mut values = Vec::with_capacity(parameters.len());
        for Self { column, value, .. } in parameters {
            let mut one = column_of(&column.ty, 1);
            one.push(&value);
            values.push(Arc::new(one));
            columns.push(column);
        }
        (columns, Batch::new(values, 1))
    }
}

/// A sink that drops everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl ResultSink for NullSink {
    fn columns(&mut self, _: &[OutputColumn]) -> SqlResult<()> {
        Ok(())
    }

    fn batch(&mut self, _: &Batch) -> SqlResult<()> {
        Ok(())
    }

    fn counts_empty(&self) -> bool {
        false
    }
}

/// Rows that a statement counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Rows taken from the source, or found by an UPDATE.
    pub records: u64,
    /// Existing rows that conflicted with new ones.
    pub duplicates: u64,
    /// Rows that an UPDATE changed.
    pub changed: u64,
    /// Rows of history that an UPDATE made.
    pub kept: u64,
    /// Rows that LOAD DATA replaced.
    pub deleted: u64,
    /// Rows of a file that were not stored.
    pub skipped: u64,
    /// Rows that an UPDATE inserted.
    pub inserted: u64,
    /// Conditions raised.
    pub warnings: u64,
}

impl AddAssign for RowCounts {
    fn add_assign(&mut self, more: Self) {
        self.records += more.records;
        self.duplicates += more.duplicates;
        self.changed += more.changed;
        self.kept += more.kept;
        self.deleted += more.deleted;
        self.skipped += more.skipped;
        self.inserted += more.inserted;
        self.warnings += more.warnings;
    }
}

/// Counts that are reported to the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Told {
    /// None: most statements.
    #[default]
    Nothing,
    /// Counts of an INSERT.
    Inserted,
    /// Counts of an UPDATE.
    Updated,
    /// Counts of an UPDATE of one versioned table.
    UpdatedVersions,
    /// Counts of an UPDATE that inserts rows.
    UpdatedAndInserted,
    /// Counts of LOAD DATA.
    Loaded,
    /// No counts: a statement was prepared.
    Prepared,
}

/// Outcome of a statement. Warnings are in [`crate::Session::diagnostics`].
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Whether a result set was sent: the client gets its end instead of an OK packet.
    pub result_set: bool,
    /// Rows changed (`ROW_COUNT()` is −1 for result sets).
    pub affected: u64,
    /// AUTO_INCREMENT value for the OK packet.
    pub insert_id: u64,
    /// Rows counted.
    pub counts: RowCounts,
    /// Counts reported to the client as text.
    pub told: Told,
    /// Whether the client asked to end the connection (`COMMIT RELEASE`).
    pub release: bool,
}

impl Outcome {
    /// Success with nothing to report.
    pub fn ok() -> Self {
        Self::default()
    }

    /// A result set was sent.
    pub fn rows() -> Self {
        Self { result_set: true, ..Self::default() }
    }

    /// Text for the client, empty for most statements.
    pub fn info(&self) -> String {
        let RowCounts { records, duplicates, changed, kept, deleted, skipped, inserted, warnings } =
            &self.counts;
        match self.told {
            Told::Nothing => String::new(),
            Told::Inserted => ER_INSERT_INFO.message(&[records, duplicates, warnings]),
            Told::Updated => ER_UPDATE_INFO.message(&[records, changed, warnings]),
            Told::UpdatedVersions => {
                let counts: [&dyn std::fmt::Display; 4] = [records, changed, kept, warnings];
                ER_UPDATE_INFO_WITH_SYSTEM_VERSIONING.message(&counts)
            }
            Told::UpdatedAndInserted => ER_UPDATE_INFO_WITH_SYSTEM_VERSIONING
                .message(&[records, changed, inserted, warnings]),
            Told::Loaded => ER_LOAD_INFO.message(&[records, deleted, skipped, warnings]),
            Told::Prepared => "Statement prepared".into(),
        }
    }

    /// Rows were changed.
    pub fn changed(affected: u64) -> Self {
        Self { affected, ..Self::default() }
    }
}
