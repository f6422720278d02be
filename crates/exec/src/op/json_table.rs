//! JSON_TABLE: for each row of the input, the rows of a document.

use std::sync::Arc;

use selkie_expr::json_table::JsonCell;
use selkie_expr::store::{StoreMode, StoreTarget, convert_for_column};
use selkie_plan::physical::{JsonFallback, JsonTableColumn, JsonTableJoin as Plan};
use selkie_types::error::catalogue::{
    ER_JSON_TABLE_ERROR_ON_FIELD, ER_JSON_TABLE_MULTIPLE_MATCHES, ER_JSON_TABLE_SCALAR_EXPECTED,
};
use selkie_types::{Batch, CollationId, Column, SqlError, SqlResult, SqlType, Value, pace};

use super::{BoxOperator, Operator, RowFilter, column_of, scale_of};
use crate::run::Env;

/// The operator.
pub(super) struct JsonTable<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    plan: &'r Plan,
    /// The batch of the input being joined, its documents, and its next row.
    current: Option<(Batch, Arc<Column>, usize)>,
}

impl<'r> JsonTable<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, plan: &'r Plan) -> Self {
        Self { env, input, plan, current: None }
    }

    /// The joined rows of one row of the input.
    fn joined(&self, batch: &Batch, documents: &Column, row: usize) -> SqlResult<Batch> {
        let rows = match documents.value(row) {
            Value::Bytes(document) => self.plan.table.rows.rows(&document)?,
            _ => Vec::new(),
        };
        let mut out = self.with_cells(batch, row, &rows)?;
        if out.rows() > 0 {
            let kept = RowFilter::new(&self.plan.on).filter(self.env.eval, out)?;
            out = match kept {
                Some(kept) => kept,
                None => self.with_cells(batch, row, &[])?,
            };
        }
        if out.rows() == 0 && self.plan.outer {
            let nulls = vec![vec![JsonCell::Null; self.plan.table.columns.len()]];
            out = self.with_cells(batch, row, &nulls)?;
        }
        Ok(out)
    }

    fn with_cells(&self, batch: &Batch, row: usize, rows: &[Vec<JsonCell>]) -> SqlResult<Batch> {
        let picked = vec![row as u32; rows.len()];
        let mut columns: Vec<Arc<Column>> =
            batch.columns().iter().map(|c| Arc::new(c.gather(&picked))).collect();
        for (at, column) in self.plan.table.columns.iter().enumerate() {
            pace::spend(rows.len())?;
            let mut made = column_of(&column.ty, rows.len());
            for cells in rows {
                made.push(&self.value(column, &cells[at])?);
            }
            columns.push(Arc::new(made));
        }
        Ok(Batch::new(columns, rows.len()))
    }

    fn value(&self, column: &JsonTableColumn, cell: &JsonCell) -> SqlResult<Value> {
        let table = &self.plan.table.alias;
        let failed = |def| SqlError::new(def, &[&column.name, table]);
        let stored = match cell {
            JsonCell::Null => return Ok(Value::Null),
            JsonCell::Missing => {
                let error = failed(&ER_JSON_TABLE_ERROR_ON_FIELD);
                return self.fallback(column, &column.on_empty, error);
            }
            JsonCell::NotScalar => Err(failed(&ER_JSON_TABLE_SCALAR_EXPECTED)),
            JsonCell::Several => Err(failed(&ER_JSON_TABLE_MULTIPLE_MATCHES)),
            JsonCell::Number(n) => self.store(column, Value::Int(*n), &SqlType::bigint()),
            JsonCell::Text(text) => {
                let from = SqlType::varchar(text.len() as u32, CollationId::UTF8MB4_BIN);
                self.store(column, Value::bytes(text), &from)
            }
        };
        stored.or_else(|error| self.fallback(column, &column.on_error, error))
    }

    fn fallback(
        &self,
        column: &JsonTableColumn,
        fallback: &JsonFallback,
        error: SqlError,
    ) -> SqlResult<Value> {
        match fallback {
            JsonFallback::Null => Ok(Value::Null),
            JsonFallback::Error => Err(error),
            JsonFallback::Default(value, ty) => self.store(column, value.clone(), ty),
        }
    }

    /// A value as the column holds it.
    ///
    /// Compat: what does not fit is a warning about a table of another name, not an error of the
    /// column.
    fn store(&self, column: &JsonTableColumn, value: Value, from: &SqlType) -> SqlResult<Value> {
        let values = Arc::new(Column::constant(&value, from.physical(), scale_of(from), 1));
        let target = StoreTarget {
            ty: &column.ty,
            schema: "*any*",
            table: "json_table",
            column: &column.name,
            copied: false,
        };
        let stored =
            convert_for_column(&values, from, &target, StoreMode::Lenient, 1, self.env.eval);
        stored.map(|column| column.value(0))
    }
}

impl Operator for JsonTable<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            let Some((batch, documents, row)) = self.current.take() else {
                let Some(batch) = self.input.next()? else { return Ok(None) };
                let documents = self.plan.document.eval(self.env.eval, &batch)?;
                self.current = Some((batch, documents, 0));
                continue;
            };
            self.env.check()?;
            let out = self.joined(&batch, &documents, row)?;
            if row + 1 < batch.rows() {
                self.current = Some((batch, documents, row + 1));
            }
            if out.rows() > 0 {
                return Ok(Some(out));
            }
        }
    }
}
