//! Rows kept for several readers: the first ones in memory, and those that do not fit in a file.

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
        let ceiling = rt.session.frame.settings.queries.ceilings.table;
        let (mut kept, mut memory) = (Vec::new(), 0);
        let mut rest: Option<Stream> = None;
        while let Some(batch) = next()? {
            selkie_meter::check()?;
            if let Some(rest) = &mut rest {
                rest.push(&batch)?;
                continue;
            }
            memory += batch.memory();
            kept.push(batch);
            if is_full(memory, ceiling) {
                bump(&rt.session.core.counters.created_tmp_disk_tables, 1);
                rest = Some(Stream::new(&create(rt)?));
            }
        }
        let rest = rest.map(Stream::end).transpose()?.map(Arc::new);
        Ok(Self { kept, rest })
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
