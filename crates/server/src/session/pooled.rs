//! A session as a client of the thread pool: one command at a time, and no thread while it is idle.
//!
//! Must not wait for the client's next command.

use std::cell::Cell;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use selkie_engine::{Kept, KeptSlot};

use super::connection::{Greeted, Registration, greet_client, note_left};
use super::dispatch::Session;
use crate::backend::{BackendSession, SessionFactory};
use crate::net::{Closer, Peer, ReadError, Transport};
use crate::server::Server;
use crate::sessions::Door;
use crate::thread_pool::{Client, Priority, Progress};

/// Longest answer, in bytes, that is kept in memory to be sent together with others.
const SHORT: usize = 16 << 10;

thread_local!(static PACKET: KeptSlot<Vec<u8>> = const { Cell::new(None) });

/// A connection of the pool.
pub(crate) struct PooledSession<B: SessionFactory> {
    stage: Stage<B>,
}

enum Stage<B: SessionFactory> {
    /// The client has its greeting and must log in.
    Login(Box<Greeted>, Arc<B>),
    /// The client sends commands.
    Commands { session: Box<Session<B::Session>>, _registration: Registration },
    /// During a login, and after a failed one.
    Over,
}

impl<B: SessionFactory> PooledSession<B> {
    /// Accepts a client; returns the number of its connection and its socket. `None` if the client
    /// was refused or left.
    pub(crate) fn accept(
        server: &Arc<Server>,
        backend: &Arc<B>,
        transport: Box<dyn Transport>,
        peer: &Peer,
    ) -> Option<(u64, Self, Closer)> {
        let socket = transport.closer();
        let greeted = greet_client(server, transport, peer, Door::Main)?;
        let id = greeted.id();
        let stage = Stage::Login(Box::new(greeted), Arc::clone(backend));
        Some((id, Self { stage }, socket))
    }

    fn log_in(&mut self, timed_out: bool) -> Progress {
        let Stage::Login(greeted, backend) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Progress::Ended;
        };
        if timed_out {
            note_left(greeted.server());
            // The pool still needs the socket to remove it.
            self.stage = Stage::Login(greeted, backend);
            return Progress::Ended;
        }
        // Only a hostile or distant client sends its login in pieces; then a thread waits.
        let Some((mut session, registration)) = greeted.log_in(&*backend) else {
            return Progress::Ended;
        };
        session.backend.hold_answers();
        let progress = session.after_answer();
        self.stage = Stage::Commands { session: Box::new(session), _registration: registration };
        progress
    }
}

impl<B: SessionFactory> Client for PooledSession<B> {
    fn serve(&mut self, timed_out: bool) -> Progress {
        match &mut self.stage {
            Stage::Commands { session, .. } => session.serve(timed_out),
            Stage::Login(greeted, _) if greeted.server().is_stopping() => Progress::Ended,
            Stage::Login(..) => self.log_in(timed_out),
            Stage::Over => Progress::Ended,
        }
    }

    fn answer(&mut self) -> Progress {
        match &mut self.stage {
            Stage::Commands { session, .. } => session.release_answer(),
            _ => Progress::Ended,
        }
    }

    fn leave(&mut self) {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let Stage::Commands { mut session, _registration } = stage else { return };
        let thread = std::thread::Builder::new().name("dump".to_owned());
        let spawned = thread.spawn(move || {
            session.run_dump();
            // The session ends before it leaves the process list.
            drop(session);
            drop(_registration);
        });
        if let Err(error) = spawned {
            tracing::error!("Can't create a thread: {error}");
        }
    }

    fn memory(&self, note: &mut dyn FnMut(usize, usize)) {
        if let Stage::Commands { session, .. } = &self.stage {
            session.memory(note);
        }
    }

    fn priority(&self) -> Priority {
        match &self.stage {
            Stage::Commands { session, .. } => session.priority(),
            _ => Priority::Low,
        }
    }

    fn socket(&self) -> Option<BorrowedFd<'_>> {
        match &self.stage {
            Stage::Login(greeted, _) => Some(greeted.wire.socket()),
            Stage::Commands { session, .. } => Some(session.wire.socket()),
            Stage::Over => None,
        }
    }
}

impl<S: BackendSession> Session<S> {
    fn serve(&mut self, timed_out: bool) -> Progress {
        if self.has_waited() && self.is_answerless() {
            return Progress::Ended;
        }
        if !self.out.is_empty() {
            // Sends the rest of an answer that could not be sent without waiting.
            self.send();
            return self.after_answer();
        }
        if self.shared.server.is_stopping() {
            return Progress::Ended;
        }
        let mut packet = Kept::take(&PACKET);
        match self.wire.packet_now(&mut packet) {
            Ok(true) => self.run_command(&packet),
            Ok(false) if timed_out => self.left(&ReadError::Timeout { idle: true }),
            Ok(false) => self.idle(),
            Err(error) => self.left(&error),
        }
    }

    fn run_command(&mut self, packet: &[u8]) -> Progress {
        self.command(packet);
        if self.wants_dump() {
            return Progress::Leaving;
        }
        self.note_debt();
        if let Some(commit) = self.backend.take_unsettled() {
            return Progress::Unsettled(commit);
        }
        if let Some(parked) = self.park() {
            return parked;
        }
        if self.out.len() <= SHORT && !self.ended {
            return Progress::Answered;
        }
        self.send();
        self.after_answer()
    }

    /// Lets the answer wait for a replica, if it must.
    fn park(&mut self) -> Option<Progress> {
        let debt = self.begin_wait()?;
        let (server, handle) = (Arc::clone(&self.shared.server), Arc::clone(&self.shared.handle));
        Some(Progress::Parked(Box::new(move |waker| match server.binlog() {
            Some(binlog) => binlog.semi.wake_after(debt, handle.kill.clone(), waker),
            None => waker.wake(),
        })))
    }

    fn left(&mut self, error: &ReadError) -> Progress {
        self.lost(error);
        Progress::Ended
    }

    /// Sends an answer that was held back, until its commit was durable or to leave with others.
    fn release_answer(&mut self) -> Progress {
        if let Some(parked) = self.park() {
            return parked;
        }
        match self.wire.flush_now(&mut self.out) {
            // A worker sends the rest.
            Ok(false) => return Progress::Ready,
            Ok(true) => self.sent(true),
            Err(_) => self.sent(false),
        }
        self.after_answer()
    }

    fn after_answer(&mut self) -> Progress {
        if self.ended {
            return Progress::Ended;
        }
        self.rest();
        match self.wire.may_hold_more() {
            true => Progress::Ready,
            false => self.idle(),
        }
    }

    fn idle(&self) -> Progress {
        Progress::Idle(match self.wire.has_pending() {
            true => self.patience.read,
            false => self.patience.idle,
        })
    }

    /// `thread_pool_priority`; `auto` prefers sessions in a transaction, which may hold locks.
    fn priority(&self) -> Priority {
        match self.patience.priority {
            Some(priority) => priority,
            None if self.shared.handle.in_transaction() => Priority::High,
            None => Priority::Low,
        }
    }
}
