//! A thread of the client: many connections and one epoll.
//!
//! Must not block on a connection; a lost connection is noted, and the others go on.

use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;

use super::pace::Pace;
use super::result::Tally;
use super::session::{Session, Step};
use crate::error::Result;
use crate::stop;

/// Start and end of the time that counts.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) from: Instant,
    pub(super) until: Instant,
}

/// Maximum sleep, and so the maximum delay until the end of a run or Ctrl-C is noticed.
const NAP: Duration = Duration::from_millis(100);
const BUFFER: usize = 1 << 18;

pub(super) struct Worker {
    epoll: OwnedFd,
    /// `None` means the connection is lost.
    sessions: Vec<Option<Session>>,
    free: Vec<usize>,
    pace: Pace,
    window: Window,
    tally: Tally,
    last_end: Instant,
}

impl Worker {
    pub(super) fn new(sessions: Vec<Session>, pace: Pace, window: Window) -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(std::io::Error::from)?;
        for (at, session) in sessions.iter().enumerate() {
            let data = epoll::EventData::new_u64(at as u64);
            let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
            epoll::add(&epoll, session.connection.socket(), data, flags)
                .map_err(std::io::Error::from)?;
        }
        Ok(Self {
            epoll,
            free: (0..sessions.len()).rev().collect(),
            sessions: sessions.into_iter().map(Some).collect(),
            pace,
            window,
            tally: Tally::new(),
            last_end: window.from,
        })
    }

    /// Runs until the end of the window, Ctrl-C, or the loss of all connections.
    pub(super) fn run(mut self) -> Tally {
        let mut buffer = vec![0; BUFFER];
        let mut events = Vec::with_capacity(1024);
        while Instant::now() < self.window.until
            && !stop::requested()
            && self.sessions.iter().any(Option::is_some)
        {
            self.begin_what_is_due();
            events.clear();
            let nap = self.pace.quiet(Instant::now()).map_or(NAP, |quiet| quiet.min(NAP));
            let nap = Timespec { tv_sec: nap.as_secs() as i64, tv_nsec: nap.subsec_nanos().into() };
            // An interrupted wait counts as a short one.
            let _ =
                epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&nap));
            for event in &events {
                self.look_at(event.data.u64() as usize, &mut buffer);
            }
        }
        let now = Instant::now().min(self.window.until);
        self.tally.gap = self.tally.gap.max(now.saturating_duration_since(self.last_end));
        self.tally
    }

    fn begin_what_is_due(&mut self) {
        while let Some(at) = self.free.pop() {
            let Some(due) = self.pace.due(Instant::now()) else {
                self.free.push(at);
                return;
            };
            self.begin(at, due);
        }
    }

    fn begin(&mut self, at: usize, due: Instant) {
        let Some(session) = &mut self.sessions[at] else { return };
        if let Err(error) = session.begin(due) {
            self.lose(at, error.to_string());
        }
    }

    fn look_at(&mut self, at: usize, buffer: &mut [u8]) {
        let Some(session) = &mut self.sessions[at] else { return };
        let before = session.queries;
        let step = session.go_on(buffer);
        let (since, queries) = (session.since, session.queries - before);
        let now = Instant::now();
        let counts = now >= self.window.from;
        if counts {
            self.tally.queries += queries;
        }
        match step {
            Ok(Step::Under) => {}
            Ok(Step::Done) => {
                if counts {
                    self.ended(now, since);
                }
                match self.pace.due(now) {
                    Some(due) => self.begin(at, due),
                    None => self.free.push(at),
                }
            }
            Ok(Step::Failed(code)) if counts => *self.tally.errors.entry(code).or_default() += 1,
            Ok(Step::Failed(_)) => {}
            Err(error) => self.lose(at, error.to_string()),
        }
    }

    fn ended(&mut self, now: Instant, since: Instant) {
        let second = (now - self.window.from).as_secs() as usize;
        self.tally.transaction(second, now.saturating_duration_since(since));
        self.tally.gap = self.tally.gap.max(now.saturating_duration_since(self.last_end));
        self.last_end = now;
    }

    fn lose(&mut self, at: usize, why: String) {
        self.sessions[at] = None;
        self.tally.lost.push(why);
    }
}
