//! The coordinator's part in applying groups beside each other: it gives them to the workers, and
//! waits for these where something must come after all groups before.
//!
//! Must not apply groups.

use selkie_replication::replica::{Entry, Place};
use selkie_types::SqlError;

use super::group::Group;
use super::{Applying, End, LOOK};
use crate::replica::workers::Membership;

const NO_ROOM: &str = "Waiting for room in worker thread event queue";
const DRAINING: &str = "Waiting for prior transaction to commit";

impl Applying {
    /// Gives the group whose first event is `first` to the workers; false if there are none, or if
    /// the group is too large. Then all before it is applied, and it has to be read again.
    pub(super) fn hands_over(&mut self, group: Group, first: Vec<u8>) -> Result<bool, End> {
        if self.membership.is_none() {
            return Ok(false);
        }
        let begin = group.begin.clone();
        let Some(parcel) = self.pack(group, first)? else {
            self.drain()?;
            let reader = self.relay.reader_at(&begin);
            self.reader = reader.map_err(|error| super::relay_error(&error))?;
            return Ok(false);
        };
        let sight = self.session.seen();
        self.wait_for_workers(NO_ROOM, Membership::wait_for_room)?;
        parcel.group.gtid.iter().for_each(|gtid| self.handed.set(*gtid));
        let hides_errors = self.session.hides_errors();
        if let Some(membership) = &self.membership {
            membership.hand_over(parcel, &sight, hides_errors);
        }
        Ok(true)
    }

    /// Waits until the workers have applied all that they were given.
    pub(super) fn drain(&mut self) -> Result<(), End> {
        self.wait_for_workers(DRAINING, Membership::wait_idle)
    }

    fn wait_for_workers(
        &mut self,
        state: &'static str,
        is_over: impl Fn(&Membership) -> bool,
    ) -> Result<(), End> {
        loop {
            let Some(membership) = &self.membership else { return Ok(()) };
            if let Some(error) = membership.failure() {
                return Err(End::Failed(error));
            }
            if is_over(membership) {
                // One of them may just have failed.
                return membership.failure().map_or(Ok(()), |error| Err(End::Failed(error)));
            }
            if self.must_end() {
                return Err(End::Stopped);
            }
            self.set_state(state);
            self.resolve();
            self.settle_sometimes()?;
        }
    }

    /// Looks for groups that are in the way of others, once more: a wait that closes a circle may
    /// be none for a row.
    pub(super) fn resolve(&self) {
        let workers = &self.server.replica.workers;
        workers.resolve(&|show| self.server.applied().row_waits(show));
    }

    /// Makes durable what is applied, if that was long ago.
    pub(super) fn settle_sometimes(&mut self) -> Result<(), End> {
        if self.settled.elapsed() >= LOOK {
            self.settle()?;
            self.purge();
        }
        Ok(())
    }

    /// Makes durable what is applied.
    pub(super) fn settle(&mut self) -> Result<(), End> {
        self.session.settle()?;
        let others = self.membership.as_ref().map(Membership::take_unsettled);
        others.into_iter().flatten().try_for_each(|commit| commit.settle())?;
        self.settled = std::time::Instant::now();
        Ok(())
    }

    /// The note of a group that the coordinator applies itself, when all before it is applied.
    pub(super) fn entry(&mut self, group: &mut Group, end: Place) -> Entry {
        let note = self.note(group.gtid, end);
        let Some(membership) = &self.membership else { return note.into() };
        if group.order.is_none() {
            group.order = membership.begin();
        }
        match &group.order {
            Some((order, flights)) => Entry::beside(note, flights, *order),
            None => note.into(),
        }
    }

    /// Goes behind a place that the coordinator has reached itself.
    pub(super) fn reached(&mut self, group: Option<&Group>, end: &Place) {
        let relay = self.reader.place();
        let Some(membership) = &self.membership else {
            self.connection.progress.lock().applied.clone_from(end);
            self.went_on();
            return;
        };
        let order = match group.and_then(|group| group.order.as_ref()) {
            Some((order, _)) => Some(*order),
            None => membership.begin().map(|(order, _)| order),
        };
        order.iter().for_each(|order| membership.end(*order, end, &relay));
        self.purge();
    }

    /// Ends the workers' part: groups that have begun are applied, the others are forgotten.
    /// Returns the error of the group that has failed.
    pub(super) fn leave_workers(&mut self) -> Option<SqlError> {
        self.membership.as_ref()?;
        self.set_state(DRAINING);
        let membership = self.membership.take()?;
        let ahead = membership.stop(&|| self.resolve());
        self.connection.done.lock().extend(ahead);
        let unsettled = membership.take_unsettled();
        let settled = unsettled.into_iter().try_for_each(|commit| commit.settle());
        membership.failure().or(settled.err())
    }
}
