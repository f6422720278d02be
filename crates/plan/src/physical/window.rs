//! Window functions. Data only.

use selkie_expr::Expr;
use selkie_expr::aggregate::Aggregate as AggregateCall;
use selkie_types::SqlType;

use super::{PlanNode, SortKey};

/// Computes window functions over one partitioning and order. Output: the input columns, then one
/// column per call. The operator sorts by itself; rows come out sorted by partition and order.
#[derive(Clone, Debug)]
pub struct Window {
    /// Where rows come from.
    pub input: PlanNode,
    /// Partition keys over the input row.
    pub partition: Vec<Expr>,
    /// Order within a partition.
    pub order: Vec<SortKey>,
    /// What is computed.
    pub calls: Vec<WindowCall>,
}

/// One window function.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// Which.
    pub function: WindowFunction,
    /// Arguments over the input row; of an aggregate they are in the call.
    pub args: Vec<Expr>,
    /// The frame.
    pub frame: WindowFrame,
    /// Type of the result.
    pub ty: SqlType,
}

/// Which window function.
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
    /// PERCENTILE_CONT(share), between values of the order key; MEDIAN is that of one half.
    PercentileCont,
    /// PERCENTILE_DISC(share), a value of the order key.
    PercentileDisc,
    /// An aggregate over the frame.
    Aggregate(AggregateCall),
}

/// Unit of frame bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    /// Rows counted.
    Rows,
    /// Values of the order key; the bounds `Preceding` and `Following` are differences.
    Range,
}

/// One end of a frame.
#[derive(Clone, Debug)]
pub enum FrameBound {
    /// The partition's first row.
    UnboundedPreceding,
    /// So many before.
    Preceding(Expr),
    /// The current row (its peers, in RANGE).
    CurrentRow,
    /// So many after.
    Following(Expr),
    /// The partition's last row.
    UnboundedFollowing,
}

/// Rows of the partition that a function sees.
#[derive(Clone, Debug)]
pub struct WindowFrame {
    /// Unit.
    pub unit: FrameUnit,
    /// First row.
    pub start: FrameBound,
    /// Last row.
    pub end: FrameBound,
}
