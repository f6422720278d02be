//! The trace of the optimizer for a session that wants it, `information_schema.OPTIMIZER_TRACE`.
//!
//! Must cost nothing in other sessions, and must not change the statement.

use selkie_catalog::TableInfo;
use selkie_plan::explain::{Facts, trace};
use selkie_plan::physical::{Operator, PartsRead, Plan, PlanNode, TableScan};
use selkie_sql::ast::{InsertSource, Statement};

use super::{context_of, exact_rows, part_names};
use crate::query::execution::Execution;

impl Execution<'_> {
    /// Gives the session the trace of a plan. Compat: of a statement that reads the traces there is
    /// none, nor of rows given as values, nor of SHOW.
    pub(crate) fn trace(&self, statement: &Statement, plan: &Plan) {
        let session = &*self.session;
        let is_inner = session.transaction.is_nested() || session.shows;
        if !session.frame.settings.notes.traces || is_inner {
            return;
        }
        let query = match statement {
            Statement::Query(query) => Some(&**query),
            Statement::Insert(insert) => match &insert.source {
                InsertSource::Query(query) => Some(&**query),
                _ => return,
            },
            Statement::Update(_) | Statement::Delete(_) => None,
            _ => return,
        };
        if reads_traces(plan) {
            return;
        }
        let instance = self.instance;
        let eval = context_of(session, self.running.values);
        let exact = |scan: &TableScan| exact_rows(instance, Some(&eval), scan);
        let parts = |table: &TableInfo, read: &PartsRead| part_names(instance, &eval, table, read);
        let facts = Facts { exact: &exact, read: &[], parts: &parts, work: None, nothing: &[] };
        let texts = query.map(|query| self.scope().query_texts(query, self.running));
        let text = trace(plan, &facts, texts.as_ref());
        session.frame.hooks.traced(self.running.text, text);
    }
}

fn reads_traces(plan: &Plan) -> bool {
    let mut found = false;
    let mut visit = |node: &PlanNode| {
        if let Operator::SystemTableScan(scan) = &node.operator {
            found |= scan.table.name() == "OPTIMIZER_TRACE";
        }
    };
    plan.root.visit(&mut visit);
    plan.subplans.iter().for_each(|subplan| subplan.root.visit(&mut visit));
    plan.common_tables.iter().for_each(|common| common.plan.visit(&mut visit));
    found
}
