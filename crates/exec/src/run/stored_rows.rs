//! Rows kept for several readers: the first ones in memory, and those that do not fit in a file.
//!
//! Must not change rows or their order. A store does not change once it is complete, so that
//! readers are independent.

use std::sync::Arc;

use selkie_types::{Batch, SqlResult};

use crate::run::Runtime;
use crate::run::spill::{Reader, Stream, Written, create, is_full};
use crate::state::session::bump;

/// Rows in their order.
#[derive(Debug, Default)]
pub(crate) struct StoredRows {
    kept: Vec<Batch>,
    rest: Option<Arc<Written>>,
}

impl StoredRows {
    /// Rows that are all in memory.
    pub(crate) fn of(kept: Vec<Batch>) -> Self {
        Self { kept, rest: None }
    }

    /// Stores the rows that `next` gives until it gives none.
    pub(crate) fn collect(
        rt: &Runtime<'_>,
        mut next: impl FnMut() -> SqlResult<Option<Batch>>,
    ) -> SqlResult<Self> {
        let mut storing = Storing::new(rt);
        while let Some(batch) = next()? {
            selkie_meter::check()?;
            storing.push(batch)?;
        }
        storing.end()
    }

    /// Calls `each` with all rows, batch by batch.
    pub(crate) fn each(&self, mut each: impl FnMut(&Batch) -> SqlResult<()>) -> SqlResult<()> {
        self.kept.iter().try_for_each(&mut each)?;
        let Some(rest) = &self.rest else { return Ok(()) };
        let mut rest = Reader::new(&**rest);
        while let Some(batch) = rest.next()? {
            each(&batch)?;
        }
        Ok(())
    }
}

/// Rows that are being stored.
pub(crate) struct Storing<'r> {
    rt: &'r Runtime<'r>,
    kept: Vec<Batch>,
    memory: usize,
    rest: Option<Stream>,
}

impl<'r> Storing<'r> {
    /// No rows yet. As many are kept in memory as the session allows a table.
    pub(crate) fn new(rt: &'r Runtime<'r>) -> Self {
        Self { rt, kept: Vec::new(), memory: 0, rest: None }
    }

    /// Adds rows.
    pub(crate) fn push(&mut self, batch: Batch) -> SqlResult<()> {
        if let Some(rest) = &mut self.rest {
            return rest.push(&batch);
        }
        self.memory += batch.memory();
        self.kept.push(batch);
        let session = self.rt.session;
        if is_full(self.rt, self.memory, session.frame.settings.queries.ceilings.table) {
            bump(&session.core.counters.created_tmp_disk_tables, 1);
            self.rest = Some(Stream::new(&create(self.rt)?));
        }
        Ok(())
    }

    /// Ends the store.
    pub(crate) fn end(self) -> SqlResult<StoredRows> {
        let rest = self.rest.map(Stream::end).transpose()?.map(Arc::new);
        Ok(StoredRows { kept: self.kept, rest })
    }
}

/// Gives the rows of a store.
pub(crate) struct Replay {
    rows: Arc<StoredRows>,
    at: usize,
    rest: Option<Reader<Arc<Written>>>,
}

impl Replay {
    /// A reader at the first row.
    pub(crate) fn new(rows: Arc<StoredRows>) -> Self {
        let rest = rows.rest.clone().map(Reader::new);
        Self { rows, at: 0, rest }
    }

    /// The next rows; `None` after the last.
    pub(crate) fn next(&mut self) -> SqlResult<Option<Batch>> {
        if let Some(batch) = self.rows.kept.get(self.at) {
            self.at += 1;
            return Ok(Some(batch.clone()));
        }
        self.rest.as_mut().map_or(Ok(None), Reader::next)
    }
}
