//! The segments of a group, of which those that nobody reads may be given up later.
//!
//! Whoever reads a segment has its own reference. Nothing is taken under the mutex (C12).

use super::bit;
use crate::sync::Mutex;
use selkie_column::Segment;
use std::sync::Arc;

/// The columns of a group by position in the definition.
pub(crate) struct Segments {
    content: Mutex<Content>,
}

struct Content {
    /// `None`: the column is not in the group.
    kept: Vec<Option<Arc<Segment>>>,
    left_out: Vec<LeftOut>,
}

/// A column that could be in a group but is not, for its size.
#[derive(Clone, Copy)]
pub(crate) struct LeftOut {
    pub(crate) column: usize,
    pub(crate) bytes: u64,
}

impl Segments {
    pub(crate) fn new(kept: Vec<Option<Arc<Segment>>>, left_out: Vec<LeftOut>) -> Segments {
        Segments { content: Mutex::new(Content { kept, left_out }) }
    }

    /// The segment of a column; `None` if it is not in the group.
    pub(crate) fn get(&self, column: usize) -> Option<Arc<Segment>> {
        self.content.lock().kept.get(column)?.clone()
    }

    /// Bytes of all segments.
    pub(super) fn memory(&self) -> u64 {
        self.content.lock().kept.iter().flatten().map(|segment| segment.memory() as u64).sum()
    }

    /// The columns that were left out, a bit for each of the first 64.
    pub(super) fn absent(&self) -> u64 {
        self.content.lock().left_out.iter().fold(0, |bits, left| bits | bit(left.column))
    }

    /// Whether a column for which this is true was left out.
    pub(crate) fn lacks(&self, mut is_lacked: impl FnMut(LeftOut) -> bool) -> bool {
        self.content.lock().left_out.iter().any(|left| is_lacked(*left))
    }

    /// Leaves out the columns for which this is true, by position, bytes and rows. Returns the
    /// bytes that they took.
    pub(super) fn shed(&self, is_shed: impl Fn(usize, (usize, usize)) -> bool) -> u64 {
        let mut content = self.content.lock();
        let Content { kept, left_out } = &mut *content;
        let mut freed = 0;
        for (column, place) in kept.iter_mut().enumerate() {
            let shed =
                place.take_if(|segment| is_shed(column, (segment.bytes().len(), segment.rows())));
            if let Some(segment) = shed {
                let bytes = segment.memory() as u64;
                left_out.push(LeftOut { column, bytes });
                freed += bytes;
            }
        }
        freed
    }
}
