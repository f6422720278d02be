//! Result sets built from single values, for maintenance statements, EXPLAIN, HELP and SHOW.
//! Columns have no origin table. Results of queries go through [`crate::query`] instead.

use std::sync::Arc;

use selkie_plan::physical::OutputColumn;
use selkie_types::{Batch, CollationId, SqlResult, SqlType, Value};

use crate::state::columns::column_of;
use crate::{Outcome, ResultSink};

/// String type of metadata columns.
pub(crate) fn text(characters: u32) -> SqlType {
    SqlType::varchar(characters, CollationId::UTF8MB3_GENERAL_CI)
}

/// Sends rows, each with a value for every column.
pub(crate) fn send(
    sink: &mut dyn ResultSink,
    columns: &[OutputColumn],
    rows: &[Vec<Value>],
) -> SqlResult<Outcome> {
    sink.columns(columns)?;
    for rows in rows.chunks(selkie_types::BATCH_ROWS) {
        let mut out: Vec<_> = columns.iter().map(|c| column_of(&c.ty, rows.len())).collect();
        for row in rows {
            out.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        sink.batch(&Batch::new(out.into_iter().map(Arc::new).collect(), rows.len()))?;
    }
    Ok(Outcome { affected: rows.len() as u64, ..Outcome::rows() })
}
