//! Transactions of the server itself, separate from those of sessions: for the dictionary,
//! sequences, and copies of tables. They commit even if the session's transaction rolls back.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{Engine, EngineTrx, Isolation};
use selkie_types::SqlResult;

use super::error::from_engine_commit;
use crate::Instance;

pub(crate) fn begin(engine: &dyn Engine) -> SqlResult<Box<dyn EngineTrx>> {
    let trx = engine.begin(Isolation::ReadCommitted, false).map_err(from_engine_commit)?;
    trx.statement_begin(Isolation::ReadCommitted, false).map_err(from_engine_commit)?;
    Ok(trx)
}

/// Commits and waits for durability.
pub(crate) fn commit_now(engine: &dyn Engine, trx: Box<dyn EngineTrx>) -> SqlResult<()> {
    match trx.commit(None).map_err(from_engine_commit)? {
        Some(lsn) => engine.wait_durable(lsn).map_err(from_engine_commit),
        None => Ok(()),
    }
}

/// Begins a separate transaction in the engine of `table`.
pub(crate) fn begin_in(
    instance: &Instance,
    table: &TableInfo,
) -> SqlResult<(Arc<dyn Engine>, Box<dyn EngineTrx>)> {
    let engine = instance.engine_of(table)?.clone();
    let trx = begin(&*engine)?;
    Ok((engine, trx))
}
