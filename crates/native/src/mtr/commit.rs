//! The end of a mini-transaction: reserve, stamp, copy, unlatch, in this order.
//!
//! Pages must be stamped with the group's LSNs before the log counts the group as completed (I4).

use super::edit::{Held, Mtr};
use crate::ids::Lsn;

impl Mtr<'_> {
    /// Appends the group and unlatches all pages. Returns the group's end, to wait for if the
    /// change must be durable. A mini-transaction without records returns the current tail.
    pub(crate) fn commit(self) -> Lsn {
        self.commit_with(|_| {})
    }

    /// As `commit`, but calls `publish` with the group's end before the group counts as completed
    /// (I18): a thread that sees a `Log::completed` of at least that position also sees the stores
    /// of `publish`. It must not block.
    pub(crate) fn commit_with(mut self, publish: impl FnOnce(Lsn)) -> Lsn {
        let mut pages = std::mem::take(&mut self.pages);
        let records = std::mem::take(&mut self.records);
        assert!(pages.iter().all(is_recorded), "a page was changed and not recorded");
        if records.is_empty() {
            let tail = self.storage.log().tail();
            publish(tail);
            return tail;
        }
        let log = self.storage.log();
        let crc = crc32c::crc32c(records.bytes());
        let reserved = log.reserve(records.bytes().len());
        let changed = pages.iter().filter(|h| h.logged).count();
        self.storage.pool().changes.add_about(changed as u64);
        crate::failpoint::reached("mtr reserved");
        for held in pages.iter_mut().filter(|h| h.logged) {
            if let Some(guard) = &mut held.guard {
                guard.mark_dirty(reserved.start, reserved.end, held.initialised);
            }
        }
        log.fill(&reserved, records.bytes(), crc);
        crate::failpoint::reached("mtr copied");
        let end = reserved.end;
        publish(end);
        crate::failpoint::reached("mtr published");
        // I4: the dirty pages carry their rec_lsn before the log slot is cleared.
        drop(reserved);
        drop(pages);
        Mtr::recycle_buffer(records);
        end
    }
}

fn is_recorded(held: &Held<'_>) -> bool {
    held.logged || !held.guard.as_ref().is_some_and(|g| g.is_changed())
}
