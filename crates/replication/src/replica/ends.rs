//! Ends of groups: their commit, or their only event.
//!
//! Must not know what events do.

use crate::codec::{EventKind, GtidEvent, Rows};

/// The way in which a group ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ending {
    /// With its first statement.
    Statement,
    /// With a commit.
    Commit,
    /// As its first statement says, which begins a transaction or is alone.
    #[default]
    Open,
}

/// The events of a group so far. The default is a group without a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupEnds {
    ending: Ending,
}

impl GroupEnds {
    /// A group that begins with this event.
    pub fn numbered(event: &GtidEvent<'_>) -> Self {
        let ending = match event.has(GtidEvent::STANDALONE) {
            true => Ending::Statement,
            false => Ending::Commit,
        };
        Self { ending }
    }

    /// Takes the next event of the group, with its text if it is a statement; whether it ends the
    /// group.
    pub fn take(&mut self, kind: EventKind, text: Option<&[u8]>) -> bool {
        let is_commit = matches!(kind, EventKind::XID | EventKind::XA_PREPARE)
            || matches!(text, Some(b"COMMIT" | b"ROLLBACK"));
        match self.ending {
            Ending::Commit => is_commit,
            Ending::Statement => !goes_on(kind),
            Ending::Open if text.is_some_and(begins) => {
                self.ending = Ending::Commit;
                false
            }
            Ending::Open => is_commit || !goes_on(kind),
        }
    }
}

/// Whether a statement begins a transaction.
fn begins(text: &[u8]) -> bool {
    text == b"BEGIN" || text.starts_with(b"XA START ")
}

/// Whether an event of this type comes before the statement or the rows that it belongs to.
pub(super) fn goes_on(kind: EventKind) -> bool {
    const KINDS: [EventKind; 15] = [
        EventKind::GTID,
        EventKind::MYSQL_GTID,
        EventKind::ANONYMOUS_GTID,
        EventKind::GTID_TAGGED,
        EventKind::GTID_LIST,
        EventKind::BINLOG_CHECKPOINT,
        EventKind::INTVAR,
        EventKind::RAND,
        EventKind::USER_VAR,
        EventKind::TABLE_MAP,
        EventKind::ANNOTATE_ROWS,
        EventKind::ROWS_QUERY,
        EventKind::BEGIN_LOAD_QUERY,
        EventKind::APPEND_BLOCK,
        EventKind::DELETE_FILE,
    ];
    KINDS.contains(&kind) || Rows::is(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each event, of a type and with a text, whether it ends a group.
    fn ends(mut group: GroupEnds, events: &[(EventKind, &str)]) -> Vec<bool> {
        let mut take = |(kind, text): &(EventKind, &str)| {
            let text = Some(text.as_bytes()).filter(|text| !text.is_empty());
            group.take(*kind, text)
        };
        events.iter().map(&mut take).collect()
    }

    #[test]
    fn a_group_ends_with_its_commit_or_its_only_event() {
        let (gtid, query) = ((EventKind::GTID, ""), |text| (EventKind::QUERY, text));
        let (insert, value) = (query("INSERT INTO t VALUES (1)"), (EventKind::INTVAR, ""));
        let (xid, list) = ((EventKind::XID, ""), (EventKind::GTID_LIST, ""));
        let numbered = |flags| GroupEnds::numbered(&GtidEvent::new(1, 0, flags));
        let transaction = [gtid, insert, value, list, insert, query("COMMIT")];
        assert_eq!(ends(numbered(0), &transaction), [false, false, false, false, false, true]);
        assert_eq!(ends(numbered(4), &[gtid, insert, xid]), [false, false, true]);
        let alone = numbered(GtidEvent::STANDALONE);
        assert_eq!(ends(alone, &[gtid, list, value, insert]), [false, false, false, true]);
        let old = GroupEnds::default();
        assert_eq!(ends(old, &[query("BEGIN"), insert, xid]), [false, false, true]);
        assert_eq!(ends(old, &[query("DROP TABLE t")]), [true]);
    }
}
