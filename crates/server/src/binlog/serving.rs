//! The log as readers get it: its end, and the places that purging leaves alone.
//!
//! Must not tell a reader of anything that is not durable (DUMP-1).

use selkie_engine::EngineResult;
use selkie_replication::cursor::Found;
use selkie_replication::gtid::Position;
use selkie_replication::log::{FileNumber, Place};
use selkie_types::error::catalogue::ER_WARN_PURGE_LOG_IN_USE;
use selkie_types::{Condition, SqlResult};

use super::life::Binlog;
use crate::dumps::Haste;

impl Binlog {
    /// The log for a reader who has entered, and its end.
    pub(crate) fn found(&self, server_id: u32, applied: Position) -> SqlResult<(Found<'_>, Place)> {
        // A purge under way has not seen the reader; the next one will.
        drop(self.lock_files());
        let now = self.log().end();
        let upto = self.durable_end(Haste::None, |end| end >= now);
        let upto = upto.map_err(|error| self.statement_error(error))?;
        // Groups behind the end may be in the state, which makes no difference: they are in the log
        // too, and come.
        let state = self.log().gtid_state();
        Ok((Found { log: self.log(), upto, state, applied, server_id }, upto))
    }

    /// The end of the log, durable and in the files; `after` is the end that a reader has.
    pub(crate) fn served(&self, after: Place, haste: Haste) -> SqlResult<Place> {
        let end = self.durable_end(haste, |end| end > after);
        end.map_err(|error| self.statement_error(error))
    }

    fn durable_end(&self, haste: Haste, suffices: impl Fn(Place) -> bool) -> EngineResult<Place> {
        self.served.end(self.log(), self.engine()?.as_ref(), haste, suffices)
    }

    /// The lowest file to keep: `lowest`, or one before it that is read. Then the condition says
    /// so.
    pub(super) fn unread_below(&self, lowest: FileNumber) -> (FileNumber, Option<Condition>) {
        let Some((first, readers)) = self.readers.first_below(lowest) else {
            return (lowest, None);
        };
        let files: Vec<_> = self.log().files().into_iter().map(|(file, _)| file).collect();
        let kept = files.iter().copied().find(|file| *file >= first).unwrap_or(lowest).min(lowest);
        let count = |below| files.iter().filter(|file| **file < below).count();
        let name = self.files().names().file(kept);
        let text = (count(kept), count(lowest));
        let condition =
            Condition::warning(&ER_WARN_PURGE_LOG_IN_USE, &[&name, &readers, &text.0, &text.1]);
        (kept, Some(condition))
    }
}
