//! Converts TIMESTAMPs from UTC to the session's time zone when they leave the executor. Must not
//! be used for stored values.

use std::sync::Arc;

use selkie_expr::EvalContext;
use selkie_plan::physical::OutputColumn;
use selkie_types::{Batch, Column, ColumnData, SqlType, TypeKind};

/// A batch as the client sees it: TIMESTAMPs in local time.
pub(crate) fn to_client(eval: &EvalContext<'_>, output: &[OutputColumn], batch: Batch) -> Batch {
    let zone = &eval.types.time_zone;
    let is_instant = |c: &OutputColumn| c.ty.kind == TypeKind::Timestamp;
    if !output.iter().any(is_instant) || zone.is_utc() {
        return batch;
    }
    let rows = batch.rows();
    let columns = batch.into_columns().into_iter().zip(output).map(|(column, out)| {
        match (is_instant(out), column.data()) {
            (true, ColumnData::DateTime(values)) => {
                let local = values.iter().map(|v| zone.to_local(*v)).collect();
                let data = ColumnData::DateTime(local);
                let local = Column::from_data(data, column.validity().cloned());
                Arc::new(if column.is_constant() { repeat(&local, rows) } else { local })
            }
            _ => column,
        }
    });
    Batch::new(columns.collect(), rows)
}

/// Type of a column after [`to_client`]: a TIMESTAMP has become a local DATETIME.
pub(crate) fn local_type(ty: SqlType) -> SqlType {
    if ty.kind == TypeKind::Timestamp { SqlType::datetime(ty.decimals) } else { ty }
}

fn repeat(column: &Column, rows: usize) -> Column {
    column.gather(&vec![0; rows])
}
