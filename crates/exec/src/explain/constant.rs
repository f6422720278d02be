//! Constant tables: tables with at most one matching row, which EXPLAIN reads. Its lines about the
//! other tables and its text of the query depend on that row. Must not lock rows.

use selkie_catalog::{ColumnInfo, TableInfo};
use selkie_engine::LockMode;
use selkie_expr::text::write_value;
use selkie_plan::explain::{ConstantTable, ConstantValue, ExactRows, Known, Never};
use selkie_plan::physical::{
    Access, ColumnType, JoinKind, Operator, OutputColumn, Plan, PlanNode, TableScan,
};
use selkie_sql::ast::{Expr, ExprKind, Literal, StringLiteral, UnaryOp};
use selkie_types::{Batch, Charset, SqlResult, SqlType, TypeKind, Value, stack};

use crate::ResultSink;
use crate::query::execution::Execution;

/// Nodes of a block that are scans of constant tables.
pub(super) fn find<'p>(block: &'p PlanNode, exact: ExactRows<'_>) -> Vec<&'p PlanNode> {
    let mut found = Vec::new();
    candidates(block, exact, &mut found);
    found
}

/// The tables without rows on the inner side of outer joins: their columns are NULL.
pub(super) fn empty_tables(
    plan: &Plan,
    block: &PlanNode,
    exact: ExactRows<'_>,
) -> Vec<ConstantTable> {
    let mut found = Vec::new();
    block.visit(&mut |node| {
        let right = match &node.operator {
            Operator::HashJoin(join) if join.kind == JoinKind::Left => &join.right,
            Operator::NestedLoopJoin(join) if join.kind == JoinKind::Left => &join.right,
            _ => return,
        };
        let Operator::TableScan(scan) = &right.operator else { return };
        if is_whole(scan) && exact(scan) == Some(0) {
            let table = constant_table(scan, &whole_row(plan, scan).1, None);
            found.push(ConstantTable { alone: true, ..table });
        }
    });
    found
}

/// The scans of the nodes `found`, whose rows it reads, and the facts known from these rows.
pub(super) fn read<'p>(
    execution: &mut Execution<'_>,
    plan: &'p Plan,
    found: Vec<&'p PlanNode>,
) -> SqlResult<(Vec<&'p TableScan>, Known)> {
    let mut known = Known { eliminated: plan.told.eliminated.clone(), ..Known::default() };
    let mut scans = Vec::new();
    let found_rows = execution.session.values.found_rows.get();
    for node in found {
        let Operator::TableScan(scan) = &node.operator else { continue };
        let mut run = |plan: &Plan| {
            let mut rows = Rows::default();
            execution.with_sink(&mut rows).run_plan(plan)?;
            SqlResult::Ok(rows.0)
        };
        let (whole, columns) = whole_row(plan, scan);
        let row = run(&whole)?.into_iter().next();
        let empty = row.is_none() && scan.filter.is_empty() && is_whole(scan);
        let passes =
            row.is_some() && (scan.filter.is_empty() || !run(&alone(plan, node))?.is_empty());
        if !passes && !empty {
            known.never = Some(Never::Where);
        }
        known.tables.push(constant_table(scan, &columns, row));
        scans.push(&**scan);
    }
    execution.session.values.found_rows.set(found_rows);
    Ok((scans, known))
}

/// Sink that keeps rows as values.
#[derive(Default)]
struct Rows(Vec<Vec<Value>>);

impl ResultSink for Rows {
    fn columns(&mut self, _: &[OutputColumn]) -> SqlResult<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        let columns = batch.columns().len();
        let row = |row| (0..columns).map(|column| batch.value(column, row)).collect();
        self.0.extend((0..batch.rows()).map(row));
        Ok(())
    }

    fn counts_empty(&self) -> bool {
        false
    }
}

/// Scans of the outermost query that give at most one row, which is part of every result row.
fn candidates<'p>(node: &'p PlanNode, exact: ExactRows<'_>, found: &mut Vec<&'p PlanNode>) {
    stack::ensure();
    let (left, right) = match &node.operator {
        Operator::TableScan(scan) => {
            if is_single(scan, exact) {
                found.push(node);
            }
            return;
        }
        Operator::HashJoin(join) => {
            (&join.left, (join.kind == JoinKind::Inner).then_some(&join.right))
        }
        Operator::NestedLoopJoin(join) => {
            (&join.left, (join.kind == JoinKind::Inner).then_some(&join.right))
        }
        Operator::IndexJoin(join) => (&join.left, None),
        Operator::Filter { .. }
        | Operator::Project { .. }
        | Operator::Aggregate(_)
        | Operator::Window(_)
        | Operator::Sort(_)
        | Operator::TopN(_)
        | Operator::Limit(_)
        | Operator::Distinct(_) => {
            node.inputs().into_iter().for_each(|input| candidates(input, exact, found));
            return;
        }
        _ => return,
    };
    candidates(left, exact, found);
    right.into_iter().for_each(|right| candidates(right, exact, found));
}

/// Whether a scan reads the only row of a table, or one row by a unique key with literal values.
fn is_single(scan: &TableScan, exact: ExactRows<'_>) -> bool {
    match &scan.access {
        Access::Index(range) if range.unique => {
            let mut values = range.ranges.iter().flat_map(|r| &r.equal);
            values.all(|value| value.as_literal().is_some())
        }
        Access::Index(range) if !range.ranges.is_empty() => false,
        _ => exact(scan).is_some_and(|rows| rows <= 1),
    }
}

/// A plan of a single node of `plan`; it takes no row locks.
fn alone(plan: &Plan, node: &PlanNode) -> Plan {
    let mut root = node.clone();
    if let Operator::TableScan(scan) = &mut root.operator {
        scan.lock.mode = LockMode::None;
    }
    Plan {
        root,
        output: std::sync::Arc::default(),
        result: Default::default(),
        rows_examined: None,
        warnings: Default::default(),
        ..plan.clone()
    }
}

/// A plan that reads the row of a scan with all its stored columns and without its filters.
fn whole_row(plan: &Plan, scan: &TableScan) -> (Plan, Vec<usize>) {
    let table: &TableInfo = &scan.table;
    let is_stored = |c: &ColumnInfo| c.generated.is_none() || c.system.is_bound();
    let stored = |at: &usize| is_stored(&table.columns[*at]);
    let columns: Vec<usize> = (0..table.columns.len()).filter(stored).collect();
    let mut access = scan.access.clone();
    if let Access::Index(range) = &mut access {
        range.covering = false;
    }
    let row = TableScan {
        columns: columns.clone(),
        output: (0..columns.len()).collect(),
        access,
        computed: Vec::new(),
        filter: Vec::new(),
        filter_columns: vec![false; columns.len()],
        filters: Vec::new(),
        row_keys: false,
        ..scan.clone()
    };
    let of = |at: &usize| &table.columns[*at];
    let types = columns.iter().map(of);
    let types = types.map(|c| ColumnType { ty: c.ty.clone(), nullable: c.nullable }).collect();
    let node = PlanNode::new(Operator::TableScan(Box::new(row)), types, 1.0, 0.0);
    let output =
        columns.iter().map(of).map(|c| OutputColumn::computed(&c.name, c.ty.clone())).collect();
    (Plan { output, ..alone(plan, &node) }, columns)
}

/// Whether the scan does not find its row by a unique key.
fn is_whole(scan: &TableScan) -> bool {
    !matches!(&scan.access, Access::Index(range) if range.unique)
}

fn constant_table(scan: &TableScan, columns: &[usize], row: Option<Vec<Value>>) -> ConstantTable {
    let alone = is_whole(scan) && row.is_some();
    let row = row.unwrap_or_else(|| vec![Value::Null; columns.len()]);
    let values = columns.iter().zip(&row).map(|(at, value)| {
        let column = &scan.table.columns[*at];
        let (name, ty) = (column.name.clone(), column.ty.clone());
        ConstantValue { name, literal: literal(value, &ty), ty }
    });
    ConstantTable { alias: scan.alias.clone(), values: values.collect(), alone }
}

/// A value as an SQL literal.
fn literal(value: &Value, ty: &SqlType) -> Expr {
    let mut text = Vec::new();
    write_value(&mut text, value, &SqlType { zerofill: false, ..ty.clone() });
    let negative = text.first() == Some(&b'-');
    let digits = || String::from_utf8_lossy(&text).trim_start_matches('-').to_owned();
    let kind = match value {
        Value::Null => Literal::Null,
        Value::UInt(bits) if ty.kind == TypeKind::Bit => Literal::Int(*bits),
        Value::Int(n) => Literal::Int(n.unsigned_abs()),
        Value::UInt(n) if ty.is_integer() || ty.kind == TypeKind::Year => Literal::Int(*n),
        Value::Double(_) | Value::Decimal(_) => Literal::Decimal(digits().into()),
        Value::Bytes(bytes) => {
            let (utf8, _) = ty.collation.charset().convert(bytes, Charset::Utf8mb4);
            let bytes = if ty.collation.is_binary() { bytes.to_vec() } else { utf8.into_owned() };
            Literal::String(StringLiteral::utf8(bytes))
        }
        _ => Literal::String(StringLiteral::utf8(text.clone())),
    };
    let signed = negative && matches!(kind, Literal::Int(_) | Literal::Decimal(_));
    let number = Expr { kind: ExprKind::Literal(kind), span: Default::default() };
    match signed {
        true => {
            let kind = ExprKind::Unary { op: UnaryOp::Neg, expr: Box::new(number) };
            Expr { kind, span: Default::default() }
        }
        false => number,
    }
}
