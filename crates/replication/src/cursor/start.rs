//! The place at which a dump begins.
//!
//! Must not promise a place that no event begins at. Must not decide what is skipped behind the
//! place; `groups` does.

use std::collections::BTreeMap;

use super::ask::{Ask, Known, Start};
use super::groups::{Groups, Wanted};
use super::refusal::Reason;
use crate::codec::{Event, HEADER_BYTES, Header};
use crate::file::MAGIC;
use crate::gtid::{BinlogState, Gtid, Position};
use crate::log::{BinaryLog, FileNumber, Place, ScanError};

/// Offset of the first event of a file.
pub(super) const FIRST: u64 = MAGIC.len() as u64;

/// The log as a reader finds it.
pub struct Found<'a> {
    /// The log.
    pub log: &'a BinaryLog,
    /// End of what readers may get.
    pub upto: Place,
    /// The groups up to that end.
    pub state: BinlogState,
    /// The groups that this server has applied as a replica (`gtid_slave_pos`).
    pub applied: Position,
    /// Number of this server.
    pub server_id: u32,
}

/// Beginning of a dump.
pub(super) struct Begun {
    pub(super) place: Place,
    pub(super) groups: Groups,
}

impl Found<'_> {
    /// The place at which the reader begins.
    pub(super) fn begin(&self, ask: &Ask) -> Result<Begun, Reason> {
        match &ask.start {
            Start::At { name, offset } => {
                let place = self.at(name, *offset)?;
                Ok(Begun { place, groups: Groups::all() })
            }
            Start::Behind(known) => self.behind(known),
        }
    }

    /// The files that readers may get, with their lengths.
    fn files(&self) -> impl DoubleEndedIterator<Item = (FileNumber, u64)> {
        let upto = self.upto;
        let files = self.log.files().into_iter().filter(move |(file, _)| *file <= upto.file);
        let length = move |file, length| if file == upto.file { upto.offset } else { length };
        files.map(move |(file, bytes)| (file, length(file, bytes))).collect::<Vec<_>>().into_iter()
    }

    fn at(&self, name: &str, offset: u64) -> Result<Place, Reason> {
        let mut files = self.files();
        let is_it = |file: FileNumber| name.is_empty() || self.log.log_files().name(file) == name;
        let (file, length) = files.find(|(file, _)| is_it(*file)).ok_or(Reason::NoFile)?;
        if !(FIRST..=length).contains(&offset) {
            return Err(Reason::Impossible);
        }
        let place = Place { file, offset };
        if offset != FIRST && offset != length {
            self.check_event(place)?;
        }
        Ok(place)
    }

    /// Compat: MariaDB reads at any offset, and ends with another text when it finds no event
    /// there.
    fn check_event(&self, place: Place) -> Result<(), Reason> {
        let mut bytes = [0; HEADER_BYTES];
        let mut have = 0;
        while have < HEADER_BYTES {
            let rest = bytes.get_mut(have..).unwrap_or_default();
            let read = self.log.log_files().read(place.file, place.offset + have as u64, rest);
            match read.map_err(|_| Reason::Unreadable)? {
                0 => return Err(Reason::Impossible),
                n => have += n,
            }
        }
        let header = Header::decode(&bytes).map_err(|_| Reason::Impossible)?;
        let ends = place.offset + u64::from(header.event_length);
        match header.end_log_pos == ends as u32 && header.event_length as usize >= HEADER_BYTES {
            true => Ok(()),
            false => Err(Reason::Impossible),
        }
    }

    fn behind(&self, known: &Known) -> Result<Begun, Reason> {
        let mut wanted = BTreeMap::new();
        let mut until = known.until.clone().map(by_domain);
        for gtid in known.position.gtids() {
            if let Some(entry) = self.wanted(gtid, known, &mut until)? {
                wanted.insert(gtid.domain, entry);
            }
        }
        let files: Vec<_> = self.files().collect();
        for (file, length) in files.into_iter().rev() {
            let list = self.groups_before(Place { file, offset: length })?;
            if !is_behind(&wanted, &list) {
                continue;
            }
            // Nothing of these domains has to be skipped in the file.
            list.iter().for_each(|gtid| {
                if wanted.get(&gtid.domain).is_some_and(|entry| entry.gtid == *gtid) {
                    wanted.remove(&gtid.domain);
                }
            });
            until.iter_mut().for_each(|until| forget_reached(until, &list));
            let groups = Groups::behind(wanted, until, known);
            return Ok(Begun { place: Place { file, offset: FIRST }, groups });
        }
        Err(Reason::TooOld)
    }

    /// The group to skip to; none if nothing of its domain is skipped.
    fn wanted(
        &self,
        gtid: Gtid,
        known: &Known,
        until: &mut Option<BTreeMap<u32, Gtid>>,
    ) -> Result<Option<Wanted>, Reason> {
        let is_own = self.applied.last(gtid.domain) == Some(gtid);
        let has = |gtid: &Gtid| self.state.has(*gtid);
        if has(&gtid) {
            return Ok(Some(Wanted { gtid, is_new_domain: false, may_be_missing: is_own }));
        }
        if is_own {
            return Ok(self.behind_applied(gtid));
        }
        let Some(last) = self.state.last(gtid.domain) else {
            // Another primary may have the domain. If it comes here after all, the group must.
            return Ok(Some(Wanted { gtid, is_new_domain: true, may_be_missing: false }));
        };
        let entry = Wanted { gtid, is_new_domain: false, may_be_missing: false };
        if known.ignores_duplicates && last.seq < gtid.seq {
            return Ok(Some(entry));
        }
        if let Some(until) = until {
            // A reader that is behind its end gets nothing of the domain.
            let end = until.get(&gtid.domain);
            if end.is_none_or(has) {
                until.remove(&gtid.domain);
                return Ok(Some(entry));
            }
        }
        match last.seq > gtid.seq {
            true => Err(Reason::Diverged(gtid)),
            false => Err(Reason::Unknown(gtid)),
        }
    }

    /// The group to skip to for a reader that has what this server has applied as a replica without
    /// logging it.
    fn behind_applied(&self, gtid: Gtid) -> Option<Wanted> {
        let own = self.state.last_of(gtid.domain, self.server_id);
        let found = match own.filter(|own| own.seq > gtid.seq) {
            Some(own) => Gtid { server: own.server, ..gtid },
            None => self.state.last(gtid.domain)?,
        };
        Some(Wanted { gtid: found, is_new_domain: false, may_be_missing: true })
    }

    /// The groups before a file, from the list at its beginning; `end` is the file's.
    fn groups_before(&self, end: Place) -> Result<Vec<Gtid>, Reason> {
        let mut scan = self.log.scan_upto(end);
        while let Some(placed) = scan.next_event().map_err(|error| why(&error))? {
            if let Event::GtidList(list) = placed.event {
                return Ok(list.gtids);
            }
        }
        Ok(Vec::new())
    }
}

fn by_domain(position: Position) -> BTreeMap<u32, Gtid> {
    position.gtids().map(|gtid| (gtid.domain, gtid)).collect()
}

/// The reason for an error of a file.
pub(super) fn why(error: &ScanError) -> Reason {
    use crate::error::DecodeError;
    use crate::file::Damage;
    match error {
        ScanError::Io(_) => Reason::Unreadable,
        ScanError::Damaged(error) => match error.damage {
            Damage::Event(DecodeError::Checksum { .. }) => Reason::Damaged,
            Damage::Torn(_) => Reason::Torn,
            _ => Reason::Bogus,
        },
    }
}

/// Whether all groups that a reader lacks are in a file or behind it. `list` has the groups before
/// the file, the last one of each domain behind the domain's others.
fn is_behind(wanted: &BTreeMap<u32, Wanted>, list: &[Gtid]) -> bool {
    list.iter().enumerate().all(|(at, before)| {
        let Some(entry) = wanted.get(&before.domain) else {
            // The reader has nothing of the domain.
            return false;
        };
        let gtid = entry.gtid;
        if gtid.server != before.server || gtid.seq > before.seq {
            return true;
        }
        let is_last = list.get(at + 1).is_none_or(|next| next.domain != before.domain);
        gtid.seq == before.seq && is_last
    })
}

/// Forgets the ends that a reader has reached with the groups before a file.
fn forget_reached(until: &mut BTreeMap<u32, Gtid>, list: &[Gtid]) {
    for before in list {
        let end = until.get(&before.domain);
        if end.is_some_and(|end| end.server == before.server && end.seq <= before.seq) {
            until.remove(&before.domain);
        }
    }
}
