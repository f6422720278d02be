//! Scans of computed tables, such as those of `information_schema`. The providers are in
//! [`crate::system`] and in the server; this file only calls them and filters their rows.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_plan::physical::SystemTableScan as Plan;
use selkie_types::{BATCH_ROWS, Batch, Column, Physical, SqlResult, Value};

use super::Operator;
use crate::run::Env;
use crate::run::row_filter::RowFilter;
use crate::state::columns::column_of;
use crate::state::instance::{SystemRequest, SystemTable};
use crate::state::session::bump;

/// Computes all rows on the first call, then gives those that pass the filter.
pub(super) struct SystemScan<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    provider: Option<Arc<dyn SystemTable>>,
    batches: Option<std::vec::IntoIter<Batch>>,
    /// Compat: MariaDB filters names of variables before it stores rows, so only those that pass
    /// are read.
    prefiltered: bool,
}

impl<'r> SystemScan<'r> {
    pub(super) fn open(env: Env<'r>, plan: &'r Plan) -> SqlResult<Self> {
        let tables = env.rt.instance.system_tables.read();
        let name = plan.table.name().to_ascii_uppercase();
        // Other computed schemas have tables of the same names.
        let provider = match plan.table.schema() {
            "information_schema" | "mysql" => tables.get(name.as_str()),
            schema => tables.get(format!("{}.{name}", schema.to_ascii_uppercase()).as_str()),
        }
        .cloned();
        let prefiltered = name.ends_with("_STATUS") || name.ends_with("_VARIABLES");
        Ok(Self { env, plan, provider, batches: None, prefiltered })
    }

    fn hint(&self, e: Option<&Expr>) -> SqlResult<Option<String>> {
        let Some(e) = e else { return Ok(None) };
        Ok(match e.eval_value(self.env.eval)? {
            Value::Bytes(name) => Some(String::from_utf8_lossy(&name).into_owned()),
            _ => None,
        })
    }

    fn empty(&self) -> Vec<Column> {
        let types = self.plan.columns.iter().map(|&at| &self.plan.table.def.columns[at].ty);
        let mut columns: Vec<Column> = types.map(|ty| column_of(ty, 0)).collect();
        if self.plan.numbered {
            columns.push(Column::new(Physical::Bytes, 0, 0));
        }
        columns
    }

    fn compute(&self) -> SqlResult<Vec<Batch>> {
        let Some(provider) = &self.provider else { return Ok(Vec::new()) };
        let schema = self.hint(self.plan.hints.schema.as_ref())?;
        let name = self.hint(self.plan.hints.table.as_ref())?;
        let wanted = |names: &Arc<Column>| match &self.plan.hints.listed {
            Some(condition) => {
                let batch = Batch::new(vec![Arc::clone(names)], names.len());
                condition.eval_filter(self.env.eval, &batch).map(Some)
            }
            None => Ok(None),
        };
        let request = SystemRequest {
            instance: self.env.rt.instance,
            session: self.env.rt.session,
            table: &self.plan.table,
            columns: &self.plan.columns,
            schema: schema.as_deref(),
            name: name.as_deref(),
            wanted: &wanted,
        };
        let mut batches = Vec::new();
        let mut columns = self.empty();
        // A scan without columns still has rows.
        let mut flush = |columns: Vec<Column>, rows: usize| {
            batches.push(Batch::new(columns.into_iter().map(Arc::new).collect(), rows));
        };
        let (mut count, mut number) = (0, 0_u64);
        provider.rows(&request, &mut |values| {
            number += 1;
            let picked = self.plan.columns.iter().map(|&at| &values[at]);
            columns.iter_mut().zip(picked).for_each(|(column, value)| column.push(value));
            if self.plan.numbered
                && let Some(column) = columns.last_mut()
            {
                column.push(&Value::bytes(number.to_be_bytes()));
            }
            count += 1;
            if count == BATCH_ROWS {
                flush(std::mem::replace(&mut columns, self.empty()), count);
                count = 0;
                self.env.check()?;
            }
            Ok(())
        })?;
        if count > 0 {
            flush(columns, count);
        }
        Ok(batches)
    }
}

impl Operator for SystemScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let mut batches = match self.batches.take() {
            Some(batches) => batches,
            None => self.compute()?.into_iter(),
        };
        let mut output = None;
        while output.is_none() {
            let Some(batch) = batches.next() else {
                // Compat: the end of a table counts as a read.
                bump(&self.env.counters().handler_read_rnd_next, 1);
                break;
            };
            let rows = batch.rows();
            output = RowFilter::new(&self.plan.filter).filter(self.env.eval, batch)?;
            let kept = output.as_ref().map_or(0, Batch::rows);
            let read = if self.prefiltered { kept } else { rows };
            bump(&self.env.counters().handler_read_rnd_next, read as u64);
        }
        self.batches = Some(batches);
        Ok(output)
    }
}
