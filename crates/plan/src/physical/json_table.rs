//! JSON_TABLE beside the rows its document comes from. Data only.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_expr::json_table::JsonRows;
use selkie_types::{SqlType, Value};

use super::PlanNode;

/// What a column holds when its path gives nothing usable.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonFallback {
    /// NULL.
    Null,
    /// The statement fails.
    Error,
    /// A value, not yet of the column's type, and its type.
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

/// What JSON_TABLE makes of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTableDef {
    /// Its alias.
    pub alias: Box<str>,
    /// The rows.
    pub rows: JsonRows,
    /// All columns, in the order of the rows' cells.
    pub columns: Vec<JsonTableColumn>,
}

/// For each row of the input, the rows of a document computed from it.
#[derive(Clone, Debug)]
pub struct JsonTableJoin {
    /// Rows the document depends on.
    pub input: PlanNode,
    /// The document, over the input.
    pub document: Expr,
    /// The table.
    pub table: Arc<JsonTableDef>,
    /// Rows of the input without any rows of the table stay, with NULLs.
    pub outer: bool,
    /// Conditions of the join, over the input's columns and the table's.
    pub on: Vec<Expr>,
}
