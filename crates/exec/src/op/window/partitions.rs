//! Sorted rows cut into whole partitions: all at once if they are in memory, else as many as make
//! some megabytes. A single partition must fit into memory.

use std::sync::Arc;

use selkie_types::{Batch, Column, ColumnData, SqlResult};

use super::Sorted;
use crate::op::RowBuffer;
use crate::op::key_sorter::{self, without_last};
use crate::op::merge::Merge;
use crate::run::rows::GOAL;

/// Gives sorted rows by whole partitions.
pub(super) enum Partitions<'r> {
    /// All rows at once, `None` if they were given.
    Kept(Option<Keyed>),
    Merged(Reading<'r>),
}

/// Rows whose last columns are the length of each row's partition key, and the key that begins with
/// it.
pub(super) struct Keyed(Batch);

impl Keyed {
    /// The keys of a row: of its partition, and the whole one.
    fn keys(&self, row: usize) -> (&[u8], &[u8]) {
        let [.., lengths, keys] = self.0.columns() else { return (&[], &[]) };
        let ColumnData::UInt(values) = lengths.data() else { return (&[], &[]) };
        let key = keys.bytes(row);
        (&key[..values[lengths.physical_row(row)] as usize], key)
    }

    /// The rows with their bounds; `None` if there are none.
    fn bounded(self) -> Option<Sorted> {
        let count = self.0.rows();
        if count == 0 {
            return None;
        }
        let starts = |&at: &usize| at == 0 || self.keys(at).0 != self.keys(at - 1).0;
        let partitions = (0..count).filter(starts);
        let partitions: Vec<usize> = partitions.chain([count]).collect();
        let mut peer_start: Vec<usize> = (0..count).collect();
        let mut peer_end: Vec<usize> = (1..=count).collect();
        for at in 1..count {
            if self.keys(at).1 == self.keys(at - 1).1 {
                peer_start[at] = peer_start[at - 1];
            }
        }
        for at in (1..count).rev() {
            if peer_start[at] != at {
                peer_end[at - 1] = peer_end[at];
            }
        }
        let rows = without_last(without_last(self.0));
        Some(Sorted { rows, partitions, peer_start, peer_end })
    }
}

/// Partitions of rows that are being merged.
pub(super) struct Reading<'r> {
    merge: Option<Merge<'r>>,
    rows: RowBuffer,
    /// First row of the last partition that has begun.
    last: usize,
    /// Key of that partition.
    key: Vec<u8>,
}

impl<'r> Partitions<'r> {
    /// The partitions of a sorter's rows, which have the lengths of partition keys as last column.
    pub(super) fn of(sorted: key_sorter::Sorted<'r>) -> SqlResult<Self> {
        Ok(match sorted {
            key_sorter::Sorted::Kept { rows, keys, order } => {
                selkie_meter::ask(rows.memory() + keys.memory())?;
                let keys = Column::from_data(ColumnData::Bytes(keys), None);
                let mut columns = rows.gather(&order);
                columns.push(Arc::new(keys.gather(&order)));
                Self::Kept(Some(Keyed(Batch::new(columns, order.len()))))
            }
            key_sorter::Sorted::Merged(merge) => Self::Merged(Reading {
                merge: Some(merge),
                rows: RowBuffer::default(),
                last: 0,
                key: Vec::new(),
            }),
        })
    }

    /// The next partitions; `None` after the last.
    pub(super) fn next(&mut self) -> SqlResult<Option<Sorted>> {
        match self {
            Self::Kept(rows) => Ok(rows.take().and_then(Keyed::bounded)),
            Self::Merged(reading) => reading.next(),
        }
    }
}

impl Reading<'_> {
    fn next(&mut self) -> SqlResult<Option<Sorted>> {
        while let Some(merge) = &mut self.merge {
            let Some(batch) = merge.next()? else {
                self.merge = None;
                break;
            };
            self.add(batch)?;
            let enough = usize::try_from(selkie_meter::left() / 16).unwrap_or(0).min(GOAL);
            if self.last > 0 && self.rows.memory() >= enough {
                return Ok(self.cut(self.last)?.bounded());
            }
        }
        Ok(self.cut(self.rows.len())?.bounded())
    }

    fn add(&mut self, batch: Batch) -> SqlResult<()> {
        let keyed = Keyed(batch);
        for row in 0..keyed.0.rows() {
            let (key, _) = keyed.keys(row);
            if key != self.key {
                self.last = self.rows.len() + row;
                self.key = key.to_vec();
            }
        }
        self.rows.append(&keyed.0)
    }

    /// Removes and returns the first rows.
    fn cut(&mut self, count: usize) -> SqlResult<Keyed> {
        let rows = std::mem::take(&mut self.rows).batch();
        selkie_meter::ask(rows.memory())?;
        self.rows.append(&rows.slice(count, rows.rows()))?;
        self.last = 0;
        Ok(Keyed(rows.slice(0, count)))
    }
}
