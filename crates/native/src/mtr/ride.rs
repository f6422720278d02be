//! The end of a mini-transaction that carries a rider: places of rider and group under one lock,
//! then the rider's bytes, then as any other.
//!
//! The rider may refuse only before anything is reserved. Afterwards nothing may fail: a place
//! without its bytes would end the log for all later commits.

use super::edit::Mtr;
use crate::disk::Disk;
use crate::ids::Lsn;
use crate::log::{Log, RecordWriter, Reserved};
use selkie_engine::{EngineError, EngineResult, Refusal, Rider};

/// Ends the process if it is dropped while armed: a rider has a place, and its group is not copied.
struct Unfinished<'d> {
    disk: &'d dyn Disk,
    armed: bool,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.disk.abandoned("a commit was abandoned after its rider had taken its place");
        }
    }
}

impl Mtr<'_> {
    /// As `commit_with`, for a mini-transaction that has changed no page. The rider's bytes become
    /// the group's last record. If the rider refuses, nothing was reserved and nothing is logged.
    pub(crate) fn commit_riding(
        mut self,
        rider: &mut dyn Rider,
        publish: impl FnOnce(Lsn),
    ) -> EngineResult<Lsn> {
        assert!(self.pages.is_empty(), "a rider goes with a commit, which changes no page");
        let mut records = std::mem::take(&mut self.records);
        let log = self.storage.log();
        let (reserved, len, mut unfinished) = loop {
            let mut unfinished = Unfinished { disk: self.storage.disk(), armed: true };
            match take_place(log, &records, rider) {
                Ok((reserved, len)) => break (reserved, len, unfinished),
                Err(refusal) => {
                    unfinished.armed = false;
                    after_refusal(refusal, rider)?;
                }
            }
        };
        crate::failpoint::reached("rider reserved");
        log.wait_for_room(reserved.end);
        let end = reserved.end;
        records.rider(len, |out| rider.fill(selkie_engine::Lsn(end.0), out));
        crate::failpoint::reached("rider filled");
        log.fill(&reserved, records.bytes(), crc32c::crc32c(records.bytes()));
        crate::failpoint::reached("rider copied");
        publish(end);
        unfinished.armed = false;
        drop(reserved);
        Mtr::recycle_buffer(records);
        Ok(end)
    }
}

/// Takes the place of the rider, and that of the group: the records so far and the rider's.
fn take_place<'l>(
    log: &'l Log,
    records: &RecordWriter,
    rider: &mut dyn Rider,
) -> Result<(Reserved<'l>, usize), Refusal> {
    let mut len = 0;
    let reserved = log.reserve_in_order(|| {
        len = rider.place()?;
        assert!(len <= log.most_rider_bytes(), "a rider larger than a log group allows");
        crate::failpoint::reached("rider placed");
        Ok(records.len_with_rider(len))
    })?;
    Ok((reserved, len))
}

/// Makes room if that lets the rider try again.
fn after_refusal(refusal: Refusal, rider: &mut dyn Rider) -> EngineResult<()> {
    match refusal {
        Refusal::NoRoom => rider.make_room(),
        Refusal::Error(error) => Err(EngineError::Refused(error)),
    }
}
