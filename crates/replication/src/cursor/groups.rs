//! The groups that a reader gets: those behind the ones it has, up to the ones it wants last.
//!
//! Must not send. Must not take a group apart: the answer for a group's first event holds for all.

use std::collections::BTreeMap;

use super::ask::Known;
use super::refusal::Reason;
use crate::codec::{Event, EventKind, GtidEvent, Rows};
use crate::file::Placed;
use crate::gtid::{BinlogState, Gtid};

/// A group that a reader has: up to it, groups of its domain are skipped.
#[derive(Copy, Clone, Debug)]
pub(super) struct Wanted {
    pub(super) gtid: Gtid,
    /// Whether the log had nothing of the domain when the reader came.
    pub(super) is_new_domain: bool,
    /// Whether it is no error in strict mode that the log does not have the group.
    pub(super) may_be_missing: bool,
}

/// Way in which a group ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Ending {
    /// With the first event that is a statement.
    Statement,
    /// With a commit.
    Commit,
}

/// The state of a dump between two events.
#[derive(Debug)]
pub(super) struct Groups {
    wanted: BTreeMap<u32, Wanted>,
    /// Last groups to send, of the domains that have not reached them.
    until: Option<BTreeMap<u32, Gtid>>,
    is_strict: bool,
    /// Groups that were seen. With an end, those before the first file too.
    seen: BinlogState,
    has_list: bool,
    /// The group that is skipped.
    skipped: Option<Ending>,
    /// The group that is the last one.
    last: Option<Ending>,
    /// The reader has to hear of what was skipped.
    owes_list: bool,
    /// The group under way.
    current: Option<Ending>,
}

/// An event's fate.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is sent.
    Sent,
    /// The reader has it, or does not want it.
    Skipped,
}

impl Groups {
    /// All groups.
    pub(super) fn all() -> Self {
        Self::behind(BTreeMap::new(), None, &Known::default())
    }

    /// The groups behind `wanted`, up to `until`, by the rules of `known`.
    pub(super) fn behind(
        wanted: BTreeMap<u32, Wanted>,
        until: Option<BTreeMap<u32, Gtid>>,
        known: &Known,
    ) -> Self {
        let is_over = until.as_ref().is_some_and(BTreeMap::is_empty);
        Self {
            wanted,
            until,
            is_strict: known.is_strict,
            seen: BinlogState::default(),
            has_list: false,
            skipped: None,
            last: is_over.then_some(Ending::Statement),
            owes_list: false,
            current: None,
        }
    }

    /// Whether the reader is in the middle of a domain.
    pub(super) fn is_within(&self) -> bool {
        self.wanted.values().any(|entry| !entry.is_new_domain)
    }

    /// The groups that were seen.
    pub(super) fn seen(&self) -> Vec<Gtid> {
        self.seen.gtids().collect()
    }

    /// Takes the next event. `now` tells the groups of the whole log.
    pub(super) fn take(
        &mut self,
        placed: &Placed<'_>,
        now: impl FnOnce() -> BinlogState,
    ) -> Result<Fate, Reason> {
        match &placed.event {
            Event::Gtid(event) => {
                let server = placed.frame.header.server_id;
                let gtid = Gtid { domain: event.domain, server, seq: event.seq };
                self.begin(gtid, ending(event), now)?;
            }
            Event::GtidList(list) if self.until.is_some() && !self.has_list => {
                self.has_list = true;
                self.seen = list.gtids.iter().copied().collect();
            }
            _ => {}
        }
        let Some(ending) = self.skipped else { return Ok(Fate::Sent) };
        if ends(&placed.event, ending) {
            self.skipped = None;
        }
        Ok(Fate::Skipped)
    }

    fn begin(
        &mut self,
        gtid: Gtid,
        ending: Ending,
        now: impl FnOnce() -> BinlogState,
    ) -> Result<(), Reason> {
        if self.wanted.is_empty() && self.until.is_none() {
            return Ok(());
        }
        self.seen.add(gtid);
        self.begin_behind(gtid, ending, now)?;
        self.begin_until(gtid, ending);
        Ok(())
    }

    /// Skips a group that the reader has.
    fn begin_behind(
        &mut self,
        gtid: Gtid,
        ending: Ending,
        now: impl FnOnce() -> BinlogState,
    ) -> Result<(), Reason> {
        let Some(entry) = self.wanted.get_mut(&gtid.domain) else { return Ok(()) };
        let has = entry.gtid;
        if entry.is_new_domain && !now().has(has) {
            return Err(Reason::Unknown(has));
        }
        entry.is_new_domain = false;
        let is_of_server = gtid.server == has.server;
        if !is_of_server || gtid.seq <= has.seq {
            self.skipped = Some(ending);
        }
        if is_of_server && gtid.seq >= has.seq {
            if self.is_strict && gtid.seq > has.seq && !entry.may_be_missing {
                return Err(Reason::Hole(has));
            }
            // Compat: MariaDB sends the list inside of a group that is not skipped.
            self.owes_list |= self.skipped.is_some();
            self.wanted.remove(&gtid.domain);
        }
        Ok(())
    }

    /// Skips a group behind the reader's end.
    fn begin_until(&mut self, gtid: Gtid, ending: Ending) {
        let Some(until) = &mut self.until else { return };
        let Some(end) = until.get(&gtid.domain).copied() else {
            self.skipped = Some(ending);
            return;
        };
        if end.server != gtid.server || gtid.seq < end.seq {
            return;
        }
        until.remove(&gtid.domain);
        if until.is_empty() {
            self.last = Some(ending);
        }
        if gtid.seq > end.seq {
            self.skipped = Some(ending);
        }
    }

    /// Whether an event, which is the next one of the log, ends a group.
    pub(super) fn passes(&mut self, event: &Event<'_>) -> bool {
        if let Event::Gtid(begin) = event {
            self.current = Some(ending(begin));
        }
        self.current.take_if(|ending| ends(event, *ending)).is_some()
    }

    /// Whether groups that are skipped are groups that the reader has.
    pub(super) fn skips_known(&self) -> bool {
        self.until.is_none()
    }

    /// Whether the reader has to get a list of the groups seen, now that an event was taken.
    pub(super) fn take_list(&mut self) -> bool {
        self.skipped.is_none() && std::mem::take(&mut self.owes_list)
    }

    /// Whether the event that was taken is the last one for the reader.
    pub(super) fn is_end(&self, event: &Event<'_>) -> bool {
        self.last.is_some_and(|ending| ends(event, ending))
    }
}

fn ending(event: &GtidEvent<'_>) -> Ending {
    match event.has(GtidEvent::STANDALONE) {
        true => Ending::Statement,
        false => Ending::Commit,
    }
}

/// Whether an event is the last one of its group.
fn ends(event: &Event<'_>, ending: Ending) -> bool {
    match ending {
        Ending::Statement => !goes_on(event.kind()),
        Ending::Commit => match event {
            Event::Xid(_) | Event::XaPrepare(_) => true,
            Event::Query(query) => matches!(query.text, b"COMMIT" | b"ROLLBACK"),
            _ => false,
        },
    }
}

/// Whether an event of this type comes before the statement or the rows that it belongs to.
fn goes_on(kind: EventKind) -> bool {
    const KINDS: [EventKind; 9] = [
        EventKind::GTID,
        EventKind::INTVAR,
        EventKind::RAND,
        EventKind::USER_VAR,
        EventKind::TABLE_MAP,
        EventKind::ANNOTATE_ROWS,
        EventKind::BEGIN_LOAD_QUERY,
        EventKind::APPEND_BLOCK,
        EventKind::DELETE_FILE,
    ];
    KINDS.contains(&kind) || Rows::is(kind)
}
