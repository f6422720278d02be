//! `PROCEDURE ANALYSE`: a row about each column of a query. Only the executor knows the rules by
//! which values are judged; a plan must not depend on them.

use selkie_types::TypeKind;

use super::PlanNode;

/// Gives a row about the values of each column of its input.
#[derive(Clone, Debug)]
pub struct Analyse {
    /// Source of rows.
    pub input: PlanNode,
    /// Its columns.
    pub columns: Vec<AnalysedColumn>,
    /// Most different numbers that are listed.
    pub most_values: u64,
    /// Most bytes of different texts that are listed.
    pub most_bytes: u64,
}

/// A column that is analysed.
#[derive(Clone, Debug)]
pub struct AnalysedColumn {
    /// Its full name.
    pub name: String,
    /// Its type, if it is a column of a table.
    pub kind: Option<TypeKind>,
    /// `ZEROFILL`.
    pub zerofill: bool,
}
