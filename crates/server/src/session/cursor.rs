//! The rows of a statement that was executed with a cursor, until FETCH takes them.
//!
//! Must not run statements: all rows exist when the cursor opens.

use std::collections::VecDeque;
use std::sync::Arc;

use selkie_protocol::Output;
use selkie_types::Batch;

use super::head::Head;
use super::rows::put_binary_row;

/// Rows that wait for FETCH.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) head: Arc<Head>,
    batches: VecDeque<Batch>,
    /// Number of sent rows of the first batch.
    sent: usize,
}

impl Cursor {
    pub(super) fn new(head: Arc<Head>) -> Self {
        Self { head, batches: VecDeque::new(), sent: 0 }
    }

    pub(super) fn push(&mut self, batch: Batch) {
        if batch.rows() > 0 {
            self.batches.push_back(batch);
        }
    }

    /// Writes up to `count` rows and returns their number. Fewer than `count` means the end.
    pub(super) fn fetch(&mut self, count: u32, out: &mut Output) -> u32 {
        let mut done = 0;
        while done < count {
            let Some(batch) = self.batches.front() else { break };
            put_binary_row(out, &self.head.encoders, batch, self.sent);
            self.sent += 1;
            done += 1;
            if self.sent == batch.rows() {
                self.batches.pop_front();
                self.sent = 0;
            }
        }
        done
    }

    /// Whether all rows were sent.
    pub(super) fn is_exhausted(&self) -> bool {
        self.batches.is_empty()
    }
}
