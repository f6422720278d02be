//! PROCEDURE of a query. There is one, ANALYSE, and it is put on top of a finished plan: the query
//! below must be planned as if it stood alone, but for its LIMIT.

use selkie_catalog::TableKind;
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{CollationId, SqlError, SqlResult, SqlType, TypeKind, stack};

use super::{Done, PlanContext};
use crate::physical::{
    Analyse, AnalysedColumn, ColumnType, Operator, OutputColumn, PlanNode, TextOf,
};

/// The number of different numbers and the bytes of different texts that are listed.
type Limits = (u64, u64);

const DEFAULT: Limits = (256, 8192);

/// Checks the procedure of a query before the query is bound.
pub(super) fn check(query: &ast::Query, context: &PlanContext<'_>) -> SqlResult<Option<Limits>> {
    let Some(procedure) = &query.procedure else { return Ok(None) };
    // Compat: this is the first error, even before that of an unknown procedure.
    if procedure.args.iter().any(ast::Expr::has_subquery) {
        return Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&"PROCEDURE"]));
    }
    let ast::QueryBody::Select(select) = select_of(&query.body) else {
        return Err(SqlError::new(&ER_CANT_USE_OPTION_HERE, &[&"PROCEDURE"]));
    };
    if !procedure.name.is("analyse") {
        return Err(SqlError::new(&ER_UNKNOWN_PROCEDURE, &[&procedure.name]));
    }
    if !query.order_by.is_empty() {
        return Err(SqlError::new(&ER_ORDER_WITH_PROC, &[]));
    }
    select.from.iter().try_for_each(|table| check_table(table, context))?;
    let mut limits = DEFAULT;
    if procedure.args.len() > 2 {
        return Err(SqlError::new(&ER_WRONG_PARAMCOUNT_TO_PROCEDURE, &[&"analyse"]));
    }
    for (argument, limit) in procedure.args.iter().zip([&mut limits.0, &mut limits.1]) {
        let ast::ExprKind::Literal(ast::Literal::Int(n)) = &argument.kind else {
            return Err(SqlError::new(&ER_WRONG_PARAMETERS_TO_PROCEDURE, &[&"analyse"]));
        };
        *limit = *n;
    }
    Ok(Some(limits))
}

/// The body without parentheses that have no clauses of their own.
fn select_of(body: &ast::QueryBody) -> &ast::QueryBody {
    stack::ensure();
    match body {
        ast::QueryBody::Nested(query) => select_of(&query.body),
        body => body,
    }
}

/// An error for a table whose columns are not those of a stored one.
fn check_table(table: &ast::TableRef, context: &PlanContext<'_>) -> SqlResult<()> {
    stack::ensure();
    let refused = |what: &str| Err(SqlError::new(&ER_WRONG_USAGE, &[&"PROCEDURE", &what]));
    match table {
        ast::TableRef::Table(factor) => {
            let name = &factor.name;
            let schema = name.schema.as_ref().map(|schema| &*schema.value);
            let Some(schema) = schema.or(context.settings.schema) else { return Ok(()) };
            let found = context.tables.table(schema, &name.name.value);
            match found.is_some_and(|table| matches!(table.kind, TableKind::View(_))) {
                true => refused("view"),
                false => Ok(()),
            }
        }
        ast::TableRef::Join(join) => {
            check_table(&join.left, context)?;
            check_table(&join.right, context)
        }
        ast::TableRef::Derived(_) => refused("subquery"),
        ast::TableRef::JsonTable(_) => Ok(()),
    }
}

/// Puts ANALYSE on top of a plan with these result columns; returns those that it gives itself.
pub(super) fn analysed(
    done: &mut Done,
    output: &[OutputColumn],
    (most_values, most_bytes): Limits,
) -> Vec<OutputColumn> {
    let analysed = |column: &OutputColumn| {
        let is_stored = !column.table.is_empty();
        let name = match is_stored {
            true => format!("{}.{}.{}", column.schema, column.table, column.org_name),
            false => column.name.to_string(),
        };
        let kind = is_stored.then_some(column.ty.kind);
        AnalysedColumn { name, kind, zerofill: column.ty.zerofill }
    };
    let columns: Vec<AnalysedColumn> = output.iter().map(analysed).collect();
    let shown = shown_columns();
    let types = shown.iter().map(|c| ColumnType { ty: c.ty.clone(), nullable: c.nullable });
    let types = types.collect();
    let none = PlanNode::new(Operator::Empty, Vec::new(), 0.0, 0.0);
    let input = std::mem::replace(&mut done.root.node, none);
    let (rows, cost) = (columns.len() as f64, input.cost + input.rows);
    let analyse = Analyse { input, columns, most_values, most_bytes };
    done.root.node = PlanNode::new(Operator::Analyse(Box::new(analyse)), types, rows, cost);
    shown
}

fn shown_columns() -> Vec<OutputColumn> {
    let text = |length| SqlType::varchar(length, CollationId::BINARY);
    let number = || SqlType::new(TypeKind::BigInt, 11, 0);
    let column = |name: &str, ty: SqlType, nullable| OutputColumn {
        nullable,
        text: if ty.is_string() { TextOf::Function } else { TextOf::Expression },
        ..OutputColumn::computed(name, ty)
    };
    vec![
        column("Field_name", text(255), false),
        column("Min_value", text(255), true),
        column("Max_value", text(255), true),
        column("Min_length", number(), false),
        column("Max_length", number(), false),
        column("Empties_or_zeros", number(), false),
        column("Nulls", number(), false),
        column("Avg_value_or_avg_length", text(255), false),
        column("Std", text(255), true),
        column("Optimal_fieldtype", text(1024), false),
    ]
}
