//! IN over subqueries that run for each row, in the text of a query: EXISTS over the rows that are
//! equal to the operand, whose results are kept by the values that it reads.
//!
//! Must show an IN as it is written if its rows are found in another way than by a condition.

use selkie_sql::ast::{
    BinaryOp, Expr, ExprKind, FunctionCall, Ident, Query, QueryBody, Select, SelectItem, TableRef,
};
use selkie_sql::{UnparseOptions, unparse_expr};
use selkie_types::charset::identifier_eq;
use selkie_types::stack;

use super::constants::cached;
use super::known::made;
use super::text::Shown;
use crate::planner::bind_constant;

impl Shown<'_> {
    /// A condition that chooses rows, with such subqueries in their own form. The values of
    /// constant tables are in it.
    pub(super) fn run_each(&self, mut condition: Expr) -> Expr {
        stack::ensure();
        match &mut condition.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                let shown = std::mem::take(parts).into_iter().map(|part| self.run_each(part));
                *parts = shown.collect();
                condition
            }
            ExprKind::InSubquery { expr, negated: false, query }
            | ExprKind::Quantified { left: expr, op: BinaryOp::Eq, all: false, query } => {
                self.in_exists(expr, query).unwrap_or(condition)
            }
            _ => condition,
        }
    }

    fn in_exists(&self, operand: &Expr, query: &Query) -> Option<Expr> {
        if operand.has_subquery() || matches!(operand.kind, ExprKind::Row(_)) {
            return None;
        }
        if bind_constant(operand, self.context).is_ok_and(|bound| bound.is_constant()) {
            return None;
        }
        let mut operand = operand.clone();
        self.constants(&mut operand);
        let mut query = query.clone();
        let select = self.plain_select(&mut query)?;
        let [SelectItem::Expr { expr: item, .. }] = &select.items[..] else { return None };
        let (left, right) = (made(call(cached(operand.clone()))), item.clone());
        let (left, right) = (Box::new(left), Box::new(right));
        let equal = made(ExprKind::Binary { op: BinaryOp::Eq, left, right });
        let mut values = vec![self.text_of(&operand)];
        self.outer_values(select, &mut values);
        select.where_clause = Some(match select.where_clause.take() {
            Some(Expr { kind: ExprKind::And(mut parts), span }) => {
                parts.push(equal);
                Expr { kind: ExprKind::And(parts), span }
            }
            Some(own) => made(ExprKind::And(vec![own, equal])),
            None => equal,
        });
        let rows = made(ExprKind::Subquery(Box::new(query)));
        let exists = made(call(FunctionCall::plain(Ident::new("<exists>"), vec![rows])));
        let test = FunctionCall::plain(Ident::new("<in_optimizer>"), vec![operand, exists]);
        let name = format!("<expr_cache><{}>", values.join(","));
        Some(made(call(FunctionCall::plain(Ident::new(name), vec![made(call(test))]))))
    }

    /// The SELECT of a subquery to which a condition is added, if it neither groups nor cuts rows.
    fn plain_select<'q>(&self, query: &'q mut Query) -> Option<&'q mut Select> {
        let plain = query.with.is_none() && query.limit.is_none();
        let QueryBody::Select(select) = &mut query.body else { return None };
        let [SelectItem::Expr { expr: item, .. }] = &select.items[..] else { return None };
        let plain = plain
            && select.group_by.is_empty()
            && select.having.is_none()
            && !select.options.distinct
            && !select.from.is_empty()
            && select.from.iter().all(|table| matches!(table, TableRef::Table(_)))
            && self.is_of_columns(item);
        (plain && !self.is_looked_up(select, item)).then_some(select)
    }

    /// Whether an index finds the rows with a value of the only column, which is shown otherwise.
    fn is_looked_up(&self, select: &Select, item: &Expr) -> bool {
        let ([TableRef::Table(factor)], ExprKind::Column(column)) = (&select.from[..], &item.kind)
        else {
            return false;
        };
        let schema = factor.name.schema.as_ref().map_or("", |schema| &*schema.value);
        let Some(info) = self.context.tables.table(schema, &factor.name.name.value) else {
            return true;
        };
        let leads = |part: &selkie_engine::IndexPart| {
            let found = info.columns.get(part.column);
            found.is_some_and(|own| identifier_eq(&own.name, &column.name.value))
        };
        info.def.indexes.iter().any(|index| index.parts.first().is_some_and(leads))
    }

    /// Adds the columns of outer tables that WHERE of a subquery reads.
    fn outer_values(&self, select: &Select, values: &mut Vec<String>) {
        let aliases: Vec<&str> = select.from.iter().filter_map(alias).collect();
        let Some(condition) = &select.where_clause else { return };
        condition.find(&mut |e| -> Option<()> {
            if let ExprKind::Column(column) = &e.kind
                && let Some(table) = &column.table
                && !aliases.iter().any(|own| identifier_eq(own, &table.value))
            {
                let text = self.text_of(e);
                if !values.contains(&text) {
                    values.push(text);
                }
            }
            None
        });
    }

    fn text_of(&self, e: &Expr) -> String {
        let types = self.context.types;
        let charset = types.collation_connection.charset().name();
        let names = selkie_sql::Names::Quoted;
        let options = UnparseOptions { charset, sql_mode: types.sql_mode, parameters: &[], names };
        unparse_expr(e, &options)
    }
}

fn alias(table: &TableRef) -> Option<&str> {
    let TableRef::Table(factor) = table else { return None };
    Some(&factor.alias.as_ref().unwrap_or(&factor.name.name).value)
}

fn call(call: FunctionCall) -> ExprKind {
    ExprKind::Call(Box::new(call))
}
