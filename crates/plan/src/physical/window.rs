//! Window functions. Data only. One operator computes all functions over one partitioning and
//! order; a block with several of these has several operators.

use selkie_expr::Expr;
use selkie_expr::aggregate::Aggregate as AggregateCall;
use selkie_types::SqlType;

use super::{PlanNode, SortKey};

/// Computes window functions over one partitioning and order. Output: the input columns, then one
/// column per call. The operator sorts the rows itself and gives them sorted by partition and
/// order.
#[derive(Clone, Debug)]
pub struct Window {
    /// Source of rows.
    pub input: PlanNode,
    /// Partition keys over the input row.
    pub partition: Vec<Expr>,
    /// Order within a partition.
    pub order: Vec<SortKey>,
    /// Functions to compute.
    pub calls: Vec<WindowCall>,
}

/// One window function.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// The function.
    pub function: WindowFunction,
    /// Arguments over the input row; those of an aggregate are in its call.
    pub args: Vec<Expr>,
    /// Frame.
    pub frame: WindowFrame,
    /// Type of the result.
    pub ty: SqlType,
}

/// Kind of a window function.
#[derive(Clone, Debug)]
pub enum WindowFunction {
    /// ROW_NUMBER().
    RowNumber,
    /// RANK().
    Rank,
    /// DENSE_RANK().
    DenseRank,
    /// PERCENT_RANK().
    PercentRank,
    /// CUME_DIST().
    CumeDist,
    /// NTILE(n).
    Ntile,
    /// LEAD(expr, n).
    Lead,
    /// LAG(expr, n).
    Lag,
    /// FIRST_VALUE(expr).
    FirstValue,
    /// LAST_VALUE(expr).
    LastValue,
    /// NTH_VALUE(expr, n).
    NthValue,
    /// PERCENTILE_CONT(share), interpolated between values of the order key; MEDIAN has share 0.5.
    PercentileCont,
    /// PERCENTILE_DISC(share), one of the values of the order key.
    PercentileDisc,
    /// An aggregate over the frame.
    Aggregate(AggregateCall),
}

/// Unit of frame bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    /// Number of rows.
    Rows,
    /// Values of the order key; `Preceding` and `Following` are differences from the current value.
    Range,
}

/// One end of a frame.
#[derive(Clone, Debug)]
pub enum FrameBound {
    /// The partition's first row.
    UnboundedPreceding,
    /// This many rows or units before the current row.
    Preceding(Expr),
    /// The current row (in RANGE, its peers too).
    CurrentRow,
    /// This many rows or units after the current row.
    Following(Expr),
    /// The partition's last row.
    UnboundedFollowing,
}

/// Rows of the partition over which a function is computed.
#[derive(Clone, Debug)]
pub struct WindowFrame {
    /// Unit.
    pub unit: FrameUnit,
    /// First row.
    pub start: FrameBound,
    /// Last row.
    pub end: FrameBound,
}
