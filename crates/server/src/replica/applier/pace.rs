//! When a group is applied: a delay, the end that START SLAVE UNTIL names, groups to be skipped,
//! another try.
//!
//! Must not apply anything.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selkie_replication::Gtid;
use selkie_replication::codec::{Event, Header};
use selkie_replication::replica::Place;

use super::{Applying, End, LOOK, Trouble};
use crate::replica::applier::group::Group;
use crate::replica::connection::Until;
use crate::replica::duplicates::{Offer, Owned};
use crate::server::Server;
use crate::variables::ids;

const OFFERING: &str =
    "Waiting for other master connection to process GTID received on multiple master connections";
const DELAYING: &str = "Waiting until MASTER_DELAY seconds after master executed event";

impl Applying {
    /// Ends the applier if it has reached what START SLAVE UNTIL named.
    pub(super) fn check_until(&self) -> Result<(), End> {
        let progress = self.connection.progress.lock();
        let course = self.reader.course().place();
        // All that the workers were given will be applied.
        let (applied, relay) = match self.membership.is_some() && !course.file.is_empty() {
            true => (course, &self.reader.place()),
            false => (&progress.applied, &progress.relay),
        };
        let is_reached = match &progress.until {
            Until::None => return Ok(()),
            Until::Primary(place) => is_at_or_behind(applied, place),
            Until::Relay(place) => is_at_or_behind(relay, place),
            Until::Gtid(position) if self.membership.is_some() => self.handed.reaches(position),
            Until::Gtid(position) => {
                let tracker = self.server.applied().tracker();
                tracker.look(|applied| applied.gtids().reaches(position))
            }
        };
        if is_reached { Err(End::Stopped) } else { Ok(()) }
    }

    /// Waits until a group of this time may be applied.
    pub(super) fn delay(&self, timestamp: u32) -> Result<(), End> {
        let delay = self.connection.config.lock().delay;
        if delay == 0 || timestamp == 0 {
            return Ok(());
        }
        let difference = self.connection.progress.lock().clock_difference;
        // The difference is what the primary's clock is ahead.
        let due = i64::from(timestamp) + i64::from(delay) - difference;
        loop {
            let left = due - now();
            let mut progress = self.connection.progress.lock();
            if left <= 0 {
                progress.remaining_delay = None;
                return Ok(());
            }
            progress.remaining_delay = Some(left.clamp(0, i64::from(u32::MAX)) as u32);
            drop(progress);
            self.set_state(DELAYING);
            if self.must_end() {
                return Err(End::Stopped);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Whether the next group is to be skipped.
    pub(super) fn skips(&self) -> bool {
        self.connection.progress.lock().skip_counter > 0
    }

    /// Goes behind a group without applying it. Compat: its events count, but a group is never
    /// skipped in part.
    pub(super) fn skip(
        &mut self,
        mut group: Group,
        header: &Header,
        event: &Event<'_>,
    ) -> Result<(), End> {
        let events = self.go_behind(&mut group, header, event)?;
        let end = self.reader.course().place().clone();
        let entry = self.entry(&mut group, end.clone());
        self.server.applied().note_later(&entry)?;
        group.gtid.iter().for_each(|gtid| self.handed.set(*gtid));
        let mut progress = self.connection.progress.lock();
        progress.skip_counter = progress.skip_counter.saturating_sub(events);
        drop(progress);
        self.applied(&group, end);
        Ok(())
    }

    /// Whether an earlier life has applied a group, which the applier goes behind.
    pub(super) fn is_done(&self, gtid: Gtid) -> bool {
        let mut done = self.connection.done.lock();
        let last = done.get(&gtid.domain).copied();
        if last == Some(gtid) {
            done.remove(&gtid.domain);
        }
        last.is_some()
    }

    /// Goes behind a group that an earlier life, or another connection, has applied.
    pub(super) fn pass(
        &mut self,
        mut group: Group,
        header: &Header,
        event: &Event<'_>,
    ) -> Result<(), End> {
        self.go_behind(&mut group, header, event)?;
        let end = self.reader.course().place().clone();
        // The number is in the position already.
        let number = group.gtid.take();
        let entry = self.entry(&mut group, end.clone());
        self.server.applied().note_later(&entry)?;
        if let (Some(gtid), Some(membership), Some((order, _))) =
            (number, &self.membership, &group.order)
        {
            self.handed.set(gtid);
            membership.pass(*order, gtid, &end, &self.reader.place());
        } else {
            self.reached(None, &end);
        }
        Ok(())
    }

    /// Offers a group that other connections may have received too. None if the applier goes behind
    /// it, because it is applied. Without `gtid_ignore_duplicates` nobody is asked.
    pub(super) fn offer(&self, group: &Group) -> Result<Option<Vec<Owned>>, End> {
        let ignores = self.server.globals.get(ids().gtid_ignore_duplicates).as_bool();
        let Some(gtid) = group.gtid.filter(|_| ignores) else { return Ok(Some(Vec::new())) };
        let tracker = self.server.applied().tracker();
        let is_applied = || {
            let last = tracker.look(|applied| applied.gtids().last(gtid.domain));
            last.is_some_and(|last| last.seq >= gtid.seq)
        };
        loop {
            match self.server.replica.domains.offer(gtid.domain, LOOK, is_applied) {
                Offer::Owned(owned) => return Ok(Some(vec![owned])),
                Offer::Applied => return Ok(None),
                Offer::Busy => self.set_state(OFFERING),
            }
            if self.must_end() {
                return Err(End::Stopped);
            }
        }
    }

    /// Reads up to the end of a group. Returns the number of its events.
    fn go_behind(
        &mut self,
        group: &mut Group,
        header: &Header,
        event: &Event<'_>,
    ) -> Result<u64, End> {
        let mut events = 1;
        let mut ends = group.take(header.kind, event);
        while !ends {
            let bytes = self.within_group().map_err(|trouble| match trouble {
                Trouble::End(end) => end,
                Trouble::Failed(failed) => End::Failed(failed.error),
            })?;
            let frame = self.frame(&bytes)?;
            ends = group.take(frame.header.kind, &self.event(&frame)?);
            events += 1;
        }
        Ok(events)
    }

    /// Whether a group that failed is tried again; waits before that.
    pub(super) fn may_retry(&self, tries: &mut u64) -> Result<bool, End> {
        let Some(pause) = retry_pause(&self.server, tries) else { return Ok(false) };
        self.connection.progress.lock().retried_transactions += 1;
        match self.connection.applier.pause(pause) {
            true => Err(End::Stopped),
            false => Ok(true),
        }
    }
}

/// The pause before another try of a group; none if it was tried often enough.
pub(in crate::replica) fn retry_pause(server: &Server, tries: &mut u64) -> Option<Duration> {
    let number = |id| server.globals.get(id).as_u64();
    if *tries >= number(ids().slave_transaction_retries) {
        return None;
    }
    *tries += 1;
    // Compat: a second more each time, five at most.
    let longer = Duration::from_secs((*tries).min(5) - 1);
    Some(Duration::from_secs(number(ids().slave_transaction_retry_interval)).max(longer))
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64)
}

/// Whether a place is at or behind another one. Names of files end with their numbers.
fn is_at_or_behind(place: &Place, other: &Place) -> bool {
    let number = |name: &str| name.rsplit('.').next().and_then(|digits| digits.parse::<u64>().ok());
    let (here, there) = (number(&place.file), number(&other.file));
    here.is_some() && (here, place.offset) >= (there, other.offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_of_files() {
        let at = |file: &str, offset| Place { file: file.to_owned(), offset };
        assert!(is_at_or_behind(&at("b.000010", 4), &at("b.000009", 900)));
        assert!(is_at_or_behind(&at("b.000009", 900), &at("b.000009", 900)));
        assert!(!is_at_or_behind(&at("b.000009", 899), &at("b.000009", 900)));
        assert!(!is_at_or_behind(&at("", 0), &at("b.000001", 0)));
    }
}
