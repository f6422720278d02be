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

/// The scan of a constant table.
#[derive(Clone, Copy)]
pub(super) struct Found<'p> {
    node: &'p PlanNode,
    /// Number of rows of a table with at most one; `None` if a unique key finds the row.
    rows: Option<u64>,
}

/// Scans of constant tables of a block.
pub(super) fn find<'p>(block: &'p PlanNode, exact: ExactRows<'_>) -> Vec<Found<'p>> {
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
            let table = constant_table(scan, &whole_row(plan, scan, Some(0)).1, None);
            found.push(ConstantTable { alone: true, ..table });
        }
    });
    found
}

/// The scans that were `found`, whose rows it reads, and the facts known from these rows.
pub(super) fn read<'p>(
    execution: &mut Execution<'_>,
    plan: &'p Plan,
    found: Vec<Found<'p>>,
) -> SqlResult<(Vec<&'p TableScan>, Known)> {
    let mut known = Known { eliminated: plan.told.eliminated.clone(), ..Known::default() };
    let mut scans = Vec::new();
    let found_rows = execution.session.values.found_rows.get();
    for Found { node, rows } in found {
        let Operator::TableScan(scan) = &node.operator else { continue };
        let mut run = |plan: &Plan| {
            let mut given = Rows::default();
            execution.with_sink(&mut given).run_plan(plan)?;
            SqlResult::Ok(given.0)
        };
        let (whole, columns) = whole_row(plan, scan, rows);
        let row = run(&whole)?.into_iter().next();
        let every = scan.filter.is_empty() && is_whole(scan);
        let empty = row.is_none() && every;
        let passes = row.is_some()
            && (every
                || rows.is_none() && scan.filter.is_empty()
                || !run(&alone(plan, node))?.is_empty());
        if !passes && !empty {
            known.never = Some(Never::Where);
        }
        let alone = rows.is_some() && row.is_some();
        let table = constant_table(scan, &columns, row);
        known.tables.push(ConstantTable { alone, ..table });
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
fn candidates<'p>(node: &'p PlanNode, exact: ExactRows<'_>, found: &mut Vec<Found<'p>>) {
    stack::ensure();
    let (left, right) = match &node.operator {
        Operator::TableScan(scan) => {
            let rows = exact(scan).filter(|rows| *rows <= 1 && is_read_in_order(scan));
            if rows.is_some() || is_by_unique_key(scan) {
                found.push(Found { node, rows });
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

/// Whether a scan reads one row by a unique key with literal values.
fn is_by_unique_key(scan: &TableScan) -> bool {
    let Access::Index(range) = &scan.access else { return false };
    let mut values = range.ranges.iter().flat_map(|r| &r.equal);
    range.unique && values.all(|value| value.as_literal().is_some())
}

/// Whether a scan reads a table, or ranges of one index, and no union of indexes.
fn is_read_in_order(scan: &TableScan) -> bool {
    matches!(scan.access, Access::Index(_) | Access::Full { .. })
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

/// A plan that reads the row of a scan with all its stored columns and without its filters. The
/// only row of a table, which has `rows`, is read without a key.
fn whole_row(plan: &Plan, scan: &TableScan, rows: Option<u64>) -> (Plan, Vec<usize>) {
    let table: &TableInfo = &scan.table;
    let is_stored = |c: &ColumnInfo| c.generated.is_none() || c.system.is_bound();
    let stored = |at: &usize| is_stored(&table.columns[*at]);
    let columns: Vec<usize> = (0..table.columns.len()).filter(stored).collect();
    let mut access = scan.access.clone();
    if rows.is_some() {
        access = Access::Full { reverse: false };
    } else if let Access::Index(range) = &mut access {
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

/// Whether a scan reads all rows of its table.
fn is_whole(scan: &TableScan) -> bool {
    match &scan.access {
        Access::Full { .. } => true,
        Access::Index(range) => range.ranges.is_empty(),
        Access::Union(_) | Access::Text(_) => false,
    }
}

fn constant_table(scan: &TableScan, columns: &[usize], row: Option<Vec<Value>>) -> ConstantTable {
    let row = row.unwrap_or_else(|| vec![Value::Null; columns.len()]);
    let values = columns.iter().zip(&row).map(|(at, value)| {
        let column = &scan.table.columns[*at];
        let (name, ty) = (column.name.clone(), column.ty.clone());
        ConstantValue { name, literal: literal(value, &ty), ty }
    });
    ConstantTable { alias: scan.alias.clone(), values: values.collect(), alone: false }
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
