//! Positions of handlers in key order, and the range of keys that a READ scans. Pure computation on
//! encoded keys; [`read`](super::read) does the reading.

use crate::state::handlers::Point;
use selkie_engine::{Bound, Scan};
use selkie_sql::ast::BinaryOp;

/// Start of a READ; each has its own status counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    First,
    Last,
    Key,
    Onward,
}

/// Range of keys to scan, with a direction.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) lower: Bound,
    pub(super) upper: Bound,
    pub(super) reverse: bool,
    pub(super) start: Start,
    /// Position of the handler if no row is found.
    pub(super) missed: Point,
    /// Position after the last row is passed; `None` keeps it on that row.
    pub(super) passed: Option<Point>,
}

impl Stretch {
    fn new(lower: Bound, upper: Bound, reverse: bool, start: Start) -> Self {
        let end = if reverse { Point::Start } else { Point::End };
        Self { lower, upper, reverse, start, missed: end.clone(), passed: Some(end) }
    }

    pub(super) fn first() -> Self {
        Self::new(Bound::Unbounded, Bound::Unbounded, false, Start::First)
    }

    pub(super) fn last() -> Self {
        Self::new(Bound::Unbounded, Bound::Unbounded, true, Start::Last)
    }

    /// Keys after a point; `None` if the point is the end.
    pub(super) fn after(point: &Point) -> Option<Self> {
        let lower = match point {
            Point::Start => return Some(Self::first()),
            Point::End => return None,
            Point::Row(key) => Bound::Excluded(key.as_slice().into()),
            Point::Before(key) => Bound::Included(key.as_slice().into()),
        };
        Some(Self::new(lower, Bound::Unbounded, false, Start::Onward))
    }

    /// Keys before a point, in reverse; `None` if the point is the start.
    pub(super) fn before(point: &Point) -> Option<Self> {
        let upper = match point {
            Point::Start => return None,
            Point::End => return Some(Self::last()),
            Point::Row(key) | Point::Before(key) => Bound::Excluded(key.as_slice().into()),
        };
        Some(Self::new(Bound::Unbounded, upper, true, Start::Onward))
    }

    /// Keys that compare by `op` with `key`, which may be a prefix.
    pub(super) fn compared(op: BinaryOp, key: &[u8]) -> Self {
        let (at, open) = (|| Bound::Included(key.into()), || Bound::Unbounded);
        match op {
            BinaryOp::Ge => Self::new(at(), open(), false, Start::Key),
            BinaryOp::Gt => Self::new(Bound::Excluded(key.into()), open(), false, Start::Key),
            BinaryOp::Le => Self::new(open(), at(), true, Start::Key),
            BinaryOp::Lt => Self::new(open(), Bound::Excluded(key.into()), true, Start::Key),
            _ => Self {
                missed: Point::Before(key.into()),
                passed: None,
                ..Self::new(at(), at(), false, Start::Key)
            },
        }
    }

    /// The engine scan of this range.
    pub(super) fn scan(&self, index: Option<usize>) -> Scan {
        Scan {
            index,
            lower: self.lower.clone(),
            upper: self.upper.clone(),
            reverse: self.reverse,
            want_keys: true,
            ..Scan::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_lies_beyond_the_ends() {
        assert!(Stretch::after(&Point::End).is_none());
        assert!(Stretch::before(&Point::Start).is_none());
        assert_eq!(Stretch::after(&Point::Start).map(|s| s.start), Some(Start::First));
        assert_eq!(Stretch::before(&Point::End).map(|s| s.start), Some(Start::Last));
    }

    #[test]
    fn a_search_that_fails_stands_before_the_next() {
        let equal = Stretch::compared(BinaryOp::Eq, b"k");
        assert_eq!(equal.missed, Point::Before(b"k".to_vec()));
        assert_eq!(equal.passed, None);
        let next = Stretch::after(&equal.missed).map(|s| s.lower);
        assert_eq!(next, Some(Bound::Included(b"k"[..].into())));
        assert_eq!(Stretch::compared(BinaryOp::Lt, b"k").missed, Point::Start);
        assert_eq!(Stretch::compared(BinaryOp::Gt, b"k").missed, Point::End);
    }
}
