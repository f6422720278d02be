//! Reads the rows that a full-text search has found, in its order. Must not lock rows: a row may
//! have changed since the search.

use std::sync::Arc;

use selkie_engine::Scan;
use selkie_expr::SearchId;
use selkie_plan::physical::TableScan as Plan;
use selkie_types::{BATCH_ROWS, Batch, SqlResult};

use super::Operator;
use super::buffers::{self, Buffers};
use super::examined::examine;
use crate::run::scan::Decoder;
use crate::run::search::Ranks;
use crate::run::{Env, OpenTable};
use crate::state::error::from_engine;
use crate::state::session::bump;

/// Reads rows by the clustered keys of hits.
pub(super) struct SearchScan<'r> {
    env: Env<'r>,
    open: &'r OpenTable<'r>,
    plan: &'r Plan,
    decoder: Decoder<'r>,
    scan: Scan,
    ranks: Arc<Ranks>,
    /// Number of hits that were read.
    done: usize,
    buffers: selkie_engine::Kept<Buffers>,
}

impl<'r> SearchScan<'r> {
    pub(super) fn open(
        env: Env<'r>,
        open: &'r OpenTable<'r>,
        plan: &'r Plan,
        decoder: Decoder<'r>,
        (scan, search): (Scan, SearchId),
    ) -> SqlResult<Self> {
        let ranks = env.rt.search(search, env.eval)?;
        Ok(Self { env, open, plan, decoder, scan, ranks, done: 0, buffers: buffers::take() })
    }
}

impl Operator for SearchScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            let Buffers { keys, set } = &mut *self.buffers;
            keys.clear();
            let end = (self.done + BATCH_ROWS).min(self.ranks.keys.len());
            (self.done..end).for_each(|at| keys.push(self.ranks.keys.get(at)));
            self.done = end;
            if keys.is_empty() {
                return Ok(None);
            }
            self.env.check()?;
            set.clear();
            let (table, control) = (&self.open.handle.table, self.env.rt.control);
            table
                .lookup(self.open.trx, control, &self.scan, keys, set)
                .map_err(|e| from_engine(e, &self.plan.table.def))?;
            let counters = self.env.counters();
            bump(&counters.handler_read_key, keys.len() as u64);
            self.env.count_read(self.open, None, set.count());
            keys.clear();
            examine(self.env, set.count())?;
            if let Some((batch, _)) = self.decoder.decode(self.env.eval, set)? {
                return Ok(Some(batch));
            }
        }
    }
}
