//! Routing: from a stored row to the number of its leaf. A pure function of the table's definition
//! and the row, the same in every session.
//!
//! Numbers agree with MariaDB's, since clients see in which partition a row is.

mod hash;
mod history;
mod prune;
mod rule;

use std::sync::Arc;

use selkie_catalog::{PartitionLimit, PartitionMethod, PartitionValue, Partitioning, TableInfo};
use selkie_expr::{EvalContext, Expr, TypeContext};
use selkie_types::key::KeyPart;
use selkie_types::{Batch, ByteRows, RowLayout, SqlError, SqlResult, SqlType, Value};

use crate::bind::{Binder, Clause, Names};
use crate::settings::{Environment, NoEnvironment, Settings};
pub use prune::{Dimension, End};
use rule::Rule;

/// Reason why a row has no leaf.
#[derive(Clone, Debug)]
pub enum RouteError {
    /// No partition holds its value, which is given as a text for the message.
    NoPartition(String),
    /// The function of the partitioning failed.
    Function(SqlError),
}

/// Finds the leaves of rows.
#[derive(Clone, Debug)]
pub struct Router {
    part: Rule,
    sub: Option<Rule>,
    /// Leaves of each partition.
    each: usize,
    /// Leaves.
    count: usize,
    types: TypeContext,
    /// The layout of rows in which every column may be NULL.
    loose: RowLayout,
}

impl Router {
    /// The router of a partitioned table.
    pub fn new(table: &TableInfo, partitions: &Partitioning) -> SqlResult<Self> {
        let limits: Vec<&PartitionLimit> = partitions.parts.iter().map(|p| &p.limit).collect();
        let each = partitions.leaves_each();
        let part = Rule::new(table, &partitions.method, &limits)?;
        let slots = vec![&PartitionLimit::Slot; each];
        let sub = partitions.sub.as_ref().map(|sub| Rule::new(table, sub, &slots)).transpose()?;
        let loose = RowLayout::new(table.columns.iter().map(|column| (&column.ty, true)));
        let count = partitions.leaf_count();
        Ok(Self { part, sub, each, count, types: TypeContext::default(), loose })
    }

    /// The number of each row's leaf.
    pub fn leaves(
        &self,
        layout: &RowLayout,
        rows: &ByteRows,
    ) -> SqlResult<Vec<Result<usize, RouteError>>> {
        let eval = EvalContext::detached(&self.types);
        let parts = self.part.slots(&eval, layout, rows)?;
        let Some(sub) = &self.sub else { return Ok(parts) };
        let subs = sub.slots(&eval, layout, rows)?;
        let both = |(part, sub): (Result<usize, RouteError>, Result<usize, RouteError>)| {
            Ok(part? * self.each + sub?)
        };
        Ok(parts.into_iter().zip(subs).map(both).collect())
    }

    /// Lets new rows of history go to a partition, where no time tells theirs.
    pub fn open_history(&self, part: usize) {
        if let Rule::SystemTime(rule) = &self.part {
            rule.set_open(part);
        }
    }

    /// The partition that takes new rows of history, where no time tells theirs.
    pub fn opened_history(&self) -> Option<usize> {
        match &self.part {
            Rule::SystemTime(rule) => rule.opened(),
            _ => None,
        }
    }

    /// Leaves of each partition.
    pub fn leaves_each(&self) -> usize {
        self.each
    }

    /// Whether rows that the router sends to one leaf may lie in another.
    pub fn may_be_in(&self, own: usize, other: usize) -> bool {
        match &self.part {
            Rule::SystemTime(rule) => {
                let each = self.each;
                own % each == other % each && rule.may_be_in(own / each, other / each)
            }
            _ => own == other,
        }
    }
}

/// The function of a method over the row of its table.
fn function(table: &TableInfo, method: &PartitionMethod) -> SqlResult<Expr> {
    let types = TypeContext::default();
    let syntax = crate::parse::expression(method.expression.as_bytes(), types.sql_mode)?;
    let settings = Settings::default();
    let environment: &dyn Environment = &NoEnvironment;
    let snapshot = selkie_catalog::Snapshot::default();
    let temporary = selkie_catalog::TemporaryTables::default();
    let tables = selkie_catalog::Namespace { snapshot: &snapshot, temporary: &temporary };
    let names = Names { tables, environment, text: &[] };
    let mut bound =
        Binder::new(names, &settings, &types, 0).row_syntax(table, &syntax, Clause::Partition)?;
    crate::fold::fold(&mut bound, &types);
    Ok(bound)
}

/// Evaluates a function for each row.
fn evaluate(
    expr: &Expr,
    columns: &[usize],
    eval: &EvalContext<'_>,
    (layout, rows): (&RowLayout, &ByteRows),
) -> SqlResult<Vec<Value>> {
    let decode = |at: &usize| {
        let column = layout.decode(rows, *at);
        column.map(Arc::new).map_err(SqlError::internal)
    };
    let columns: SqlResult<Vec<_>> = columns.iter().map(decode).collect();
    let result = expr.eval(eval, &Batch::new(columns?, rows.len()))?;
    Ok((0..rows.len()).map(|row| result.value(row)).collect())
}

/// An integer as the number that lists and hashes use; `None` for NULL.
pub(crate) fn as_signed(value: &Value) -> Option<i64> {
    match value {
        Value::Int(v) => Some(*v),
        Value::UInt(v) => Some(*v as i64),
        Value::Decimal(v) => Some(v.round(0).to_i64_clamped().0),
        _ => None,
    }
}

/// Sign of the numbers that a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// They may be negative.
    Signed,
    /// They are never negative.
    Unsigned,
}

impl Sign {
    /// The sign of numbers of a type.
    pub(crate) fn of(ty: &SqlType) -> Self {
        if ty.unsigned { Self::Unsigned } else { Self::Signed }
    }

    /// An integer as the number that ranges compare.
    pub(crate) fn number(self, value: &Value) -> i128 {
        let number = as_signed(value).unwrap_or(0);
        match self {
            Self::Signed => i128::from(number),
            Self::Unsigned => i128::from(number as u64),
        }
    }
}

/// Comparable keys of columns, for RANGE COLUMNS and LIST COLUMNS.
#[derive(Clone, Debug)]
pub(crate) struct ColumnKeys {
    columns: Vec<usize>,
    parts: Vec<KeyPart>,
}

/// Sorts behind every key part, all of which begin with a marker for NULL.
const ABOVE_ALL: u8 = 0xff;

impl ColumnKeys {
    /// Those of a method over columns; `None` if a column is missing.
    pub(crate) fn new(method: &PartitionMethod, table: &TableInfo) -> Option<Self> {
        let columns = method.columns_of(table)?;
        let part = |at: &usize| KeyPart {
            ty: table.columns[*at].ty.clone(),
            nullable: true,
            prefix: None,
            descending: false,
        };
        Some(Self { parts: columns.iter().map(part).collect(), columns })
    }

    /// The key of bounds; it is above the keys of all rows below the bounds, and not above others.
    pub(crate) fn of_bounds(&self, bounds: &[Option<PartitionValue>]) -> Vec<u8> {
        let mut key = Vec::new();
        for (part, bound) in self.parts.iter().zip(bounds) {
            match bound {
                Some(bound) => part.encode(&bound.value, &mut key),
                // Nothing is above it, whatever follows.
                None => {
                    key.push(ABOVE_ALL);
                    break;
                }
            }
        }
        key
    }

    pub(crate) fn of_tuple(&self, values: &[PartitionValue]) -> Vec<u8> {
        let mut key = Vec::new();
        let parts = self.parts.iter().zip(values);
        parts.for_each(|(part, value)| part.encode(&value.value, &mut key));
        key
    }

    fn of_value(&self, value: &Value) -> Vec<u8> {
        let mut key = Vec::new();
        self.parts.iter().take(1).for_each(|part| part.encode(value, &mut key));
        key
    }

    fn of_row(&self, layout: &RowLayout, row: &[u8], key: &mut Vec<u8>) -> SqlResult<()> {
        for (part, at) in self.parts.iter().zip(&self.columns) {
            let value = layout.value(row, *at).map_err(SqlError::internal)?;
            part.encode(&value, key);
        }
        Ok(())
    }
}
