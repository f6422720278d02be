//! JSON_TABLE joined to the rows on which its document depends. Data only. Its columns follow the
//! columns of the input row.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_expr::json_table::JsonRows;
use selkie_types::{SqlType, Value};

use super::PlanNode;

/// Value of a column when its path gives no usable value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonFallback {
    /// NULL.
    Null,
    /// An error.
    Error,
    /// A value that is not yet converted to the column's type, and its own type.
    Default(Value, SqlType),
}

/// A column of JSON_TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTableColumn {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub ty: SqlType,
    /// `ON EMPTY`.
    pub on_empty: JsonFallback,
    /// `ON ERROR`.
    pub on_error: JsonFallback,
}

/// Definition of a JSON_TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTableDef {
    /// Its alias.
    pub alias: Box<str>,
    /// Rows as nested paths.
    pub rows: JsonRows,
    /// All columns, in the order of the cells of a row.
    pub columns: Vec<JsonTableColumn>,
}

/// Joins each row of the input with the rows of a document computed from it.
#[derive(Clone, Debug)]
pub struct JsonTableJoin {
    /// Rows the document depends on.
    pub input: PlanNode,
    /// The document, over the input.
    pub document: Expr,
    /// The table.
    pub table: Arc<JsonTableDef>,
    /// Positions of the columns of the table that something reads.
    pub used: Vec<usize>,
    /// Whether a row of the input without rows of the table is kept, with NULLs.
    pub outer: bool,
    /// Join conditions over the columns of the input and of the table.
    pub on: Vec<Expr>,
}
