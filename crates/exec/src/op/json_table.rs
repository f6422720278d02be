//! JSON_TABLE: for each row of the input, the rows of a document. Takes one input row at a time.
//! Conversion is lenient; conditions must come in row order, so a column is converted whole only if
//! that raises none.

use std::sync::Arc;

use selkie_expr::json_table::JsonCell;
use selkie_expr::store::{Given, StoreMode, StoreTarget, convert_for_column};
use selkie_meter::interruptible;
use selkie_plan::physical::{JsonFallback, JsonTableColumn, JsonTableJoin as Plan};
use selkie_types::error::catalogue::{
    ER_JSON_TABLE_ERROR_ON_FIELD, ER_JSON_TABLE_MULTIPLE_MATCHES, ER_JSON_TABLE_SCALAR_EXPECTED,
};
use selkie_types::{Batch, CollationId, Column, SqlError, SqlResult, SqlType, Value, pace};

use super::{BoxOperator, Operator};
use crate::run::Env;
use crate::run::row_filter::RowFilter;
use crate::state::columns::{column_of, scale_of};

/// The operator.
pub(super) struct JsonTable<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    plan: &'r Plan,
    /// Current input batch, its documents, and the next row.
    current: Option<(Batch, Arc<Column>, usize)>,
    /// Last document and its rows, if they raised no condition.
    known: Option<(Vec<u8>, Cells)>,
}

/// Columns of JSON_TABLE for one document.
#[derive(Clone)]
struct Cells {
    columns: Vec<Arc<Column>>,
    rows: usize,
}

impl<'r> JsonTable<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, plan: &'r Plan) -> Self {
        Self { env, input, plan, current: None, known: None }
    }

    /// Joined rows of one input row.
    fn joined(&mut self, batch: &Batch, documents: &Column, row: usize) -> SqlResult<Batch> {
        let cells = match documents.value(row) {
            Value::Bytes(document) => self.cells_of(&document)?,
            _ => self.cells(&[])?,
        };
        let mut out = self.with_cells(batch, row, cells)?;
        if out.rows() > 0 {
            let kept = RowFilter::new(&self.plan.on).filter(self.env.eval, out)?;
            out = match kept {
                Some(kept) => kept,
                None => self.with_cells(batch, row, self.cells(&[])?)?,
            };
        }
        if out.rows() == 0 && self.plan.outer {
            let nulls = vec![vec![JsonCell::Null; self.plan.table.columns.len()]];
            out = self.with_cells(batch, row, self.cells(&nulls)?)?;
        }
        Ok(out)
    }

    /// Rows of a document; cached, because a lateral join asks for the same one repeatedly.
    fn cells_of(&mut self, document: &[u8]) -> SqlResult<Cells> {
        if let Some((_, cells)) = self.known.as_ref().filter(|(known, _)| known == document) {
            return Ok(cells.clone());
        }
        let rows = interruptible(|| self.plan.table.rows.rows(document))??;
        let (cells, quiet) = self.quietly(|| self.cells(&rows))?;
        self.known = quiet.then(|| (document.to_vec(), cells.clone()));
        Ok(cells)
    }

    /// Result of `make`, and whether it raised no condition.
    fn quietly<T>(&self, make: impl FnOnce() -> SqlResult<T>) -> SqlResult<(T, bool)> {
        let conditions = &self.env.eval.conditions;
        let told = conditions.borrow().count();
        let made = make()?;
        let quiet = conditions.borrow().count() == told;
        Ok((made, quiet))
    }

    /// Columns of a document's rows. Compat: values that do not fit are warnings even of strict
    /// statements, and columns that nothing reads are not converted.
    fn cells(&self, rows: &[Vec<JsonCell>]) -> SqlResult<Cells> {
        let columns = self.plan.table.columns.iter().enumerate();
        let whole = columns.map(|(at, column)| match self.plan.used.contains(&at) {
            true => self.whole_column(column, at, rows),
            false => self.unread_column(column, at, rows).map(Some),
        });
        let whole = whole.collect::<SqlResult<Vec<_>>>()?;
        let mark = self.env.eval.conditions.borrow().mark();
        let made = self.row_by_row(rows, &whole);
        self.env.eval.conditions.borrow_mut().soften_since(mark);
        let (mut made, whole) = (made?.into_iter(), whole.into_iter());
        let columns = whole.filter_map(|whole| whole.or_else(|| made.next().map(Arc::new)));
        Ok(Cells { columns: columns.collect(), rows: rows.len() })
    }

    /// A column that nothing reads, whose values are not converted. A path without a usable value
    /// may still be an error.
    fn unread_column(
        &self,
        column: &JsonTableColumn,
        at: usize,
        rows: &[Vec<JsonCell>],
    ) -> SqlResult<Arc<Column>> {
        let may_fail = [&column.on_empty, &column.on_error].contains(&&JsonFallback::Error);
        for cells in rows.iter().filter(|_| may_fail) {
            pace::spend(16)?;
            let (fallback, def) = match &cells[at] {
                JsonCell::Missing => (&column.on_empty, &ER_JSON_TABLE_ERROR_ON_FIELD),
                JsonCell::NotScalar => (&column.on_error, &ER_JSON_TABLE_SCALAR_EXPECTED),
                JsonCell::Several => (&column.on_error, &ER_JSON_TABLE_MULTIPLE_MATCHES),
                _ => continue,
            };
            if *fallback == JsonFallback::Error {
                return Err(SqlError::new(def, &[&column.name, &self.plan.table.alias]));
            }
        }
        Ok(Arc::new(Column::nulls(column.ty.physical(), scale_of(&column.ty), rows.len())))
    }

    /// The columns that are not converted as a whole.
    fn row_by_row(
        &self,
        rows: &[Vec<JsonCell>],
        whole: &[Option<Arc<Column>>],
    ) -> SqlResult<Vec<Column>> {
        let columns = self.plan.table.columns.iter().enumerate().zip(whole);
        let missing = columns.filter(|(_, whole)| whole.is_none()).map(|(column, _)| column);
        let missing: Vec<(usize, &JsonTableColumn)> = missing.collect();
        let empty = |(_, column): &(usize, &JsonTableColumn)| column_of(&column.ty, rows.len());
        let mut made: Vec<Column> = missing.iter().map(empty).collect();
        for (row, cells) in (1..).zip(rows) {
            for ((at, column), made) in missing.iter().zip(&mut made) {
                pace::spend(256)?;
                made.push(&self.value(column, &cells[*at], row)?);
            }
        }
        Ok(made)
    }

    /// All values of a column converted at once; `None` if that would raise a condition.
    fn whole_column(
        &self,
        column: &JsonTableColumn,
        at: usize,
        rows: &[Vec<JsonCell>],
    ) -> SqlResult<Option<Arc<Column>>> {
        let mut longest = 0;
        let mut numbers = 0;
        for cells in rows {
            pace::spend(16)?;
            match &cells[at] {
                JsonCell::Text(text) => longest = longest.max(text.len()),
                JsonCell::Number(_) => numbers += 1,
                JsonCell::Null => {}
                _ => return Ok(None),
            }
        }
        let from = match numbers {
            0 => SqlType::varchar(longest as u32, CollationId::UTF8MB4_BIN),
            _ if numbers == rows.len() => SqlType::bigint(),
            _ => return Ok(None),
        };
        let mut values = column_of(&from, rows.len());
        for cells in rows {
            pace::spend(64)?;
            values.push(&match &cells[at] {
                JsonCell::Text(text) => Value::bytes(text),
                JsonCell::Number(number) => Value::Int(*number),
                _ => Value::Null,
            });
        }
        let conditions = &self.env.eval.conditions;
        let before = conditions.borrow().mark();
        let stored = self.store_all(column, &Arc::new(values), &from, 1);
        let told = conditions.borrow_mut().forget_since(before);
        Ok(stored.ok().filter(|_| !told))
    }

    fn with_cells(&self, batch: &Batch, row: usize, cells: Cells) -> SqlResult<Batch> {
        let picked = vec![row as u32; cells.rows];
        let mut columns: Vec<Arc<Column>> =
            batch.columns().iter().map(|c| Arc::new(c.gather(&picked))).collect();
        columns.extend(cells.columns);
        Ok(Batch::new(columns, cells.rows))
    }

    fn value(&self, column: &JsonTableColumn, cell: &JsonCell, row: u64) -> SqlResult<Value> {
        let table = &self.plan.table.alias;
        let failed = |def| SqlError::new(def, &[&column.name, table]);
        let stored = match cell {
            JsonCell::Null => return Ok(Value::Null),
            JsonCell::Missing => {
                let error = failed(&ER_JSON_TABLE_ERROR_ON_FIELD);
                return self.fallback(column, &column.on_empty, error, row);
            }
            JsonCell::NotScalar => Err(failed(&ER_JSON_TABLE_SCALAR_EXPECTED)),
            JsonCell::Several => Err(failed(&ER_JSON_TABLE_MULTIPLE_MATCHES)),
            JsonCell::Number(n) => self.store(column, Value::Int(*n), &SqlType::bigint(), row),
            JsonCell::Text(text) => self.store_text(column, text, row),
            JsonCell::Truth(value) if column.ty.is_string() => {
                self.store_text(column, if *value { b"true" } else { b"false" }, row)
            }
            JsonCell::Truth(value) => {
                self.store(column, Value::Int((*value).into()), &SqlType::bigint(), row)
            }
        };
        stored.or_else(|error| self.fallback(column, &column.on_error, error, row))
    }

    fn fallback(
        &self,
        column: &JsonTableColumn,
        fallback: &JsonFallback,
        error: SqlError,
        row: u64,
    ) -> SqlResult<Value> {
        match fallback {
            JsonFallback::Null => Ok(Value::Null),
            JsonFallback::Error => Err(error),
            JsonFallback::Default(value, ty) => self.store(column, value.clone(), ty, row),
        }
    }

    fn store_text(&self, column: &JsonTableColumn, text: &[u8], row: u64) -> SqlResult<Value> {
        let from = SqlType::varchar(text.len() as u32, CollationId::UTF8MB4_BIN);
        self.store(column, Value::bytes(text), &from, row)
    }

    /// Converts a value to the column's type.
    ///
    /// Compat: a value that does not fit raises a warning that names the table "json_table", not an
    /// error of the column.
    fn store(
        &self,
        column: &JsonTableColumn,
        value: Value,
        from: &SqlType,
        row: u64,
    ) -> SqlResult<Value> {
        let values = Arc::new(Column::constant(&value, from.physical(), scale_of(from), 1));
        self.store_all(column, &values, from, row).map(|column| column.value(0))
    }

    fn store_all(
        &self,
        column: &JsonTableColumn,
        values: &Arc<Column>,
        from: &SqlType,
        first_row: u64,
    ) -> SqlResult<Arc<Column>> {
        let target = StoreTarget {
            ty: &column.ty,
            schema: "*any*",
            table: "json_table",
            column: &column.name,
            given: Given::Computed,
        };
        convert_for_column(values, from, &target, StoreMode::Lenient, first_row, self.env.eval)
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
