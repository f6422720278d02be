//! The part of a dump whose reader acknowledges: which events ask it to, and what it answers.
//!
//! Each event has two bytes in front, the second one being 1 if the reader is to acknowledge. The
//! reader's answer begins an exchange: the packets behind such an event are numbered from 1 on.
//! One question for all groups that are sent together is enough, as an answer is about all of the
//! log before it.
//!
//! Must not wait for an answer. Must not believe that a reader has what it was not sent.

use selkie_protocol::Output;
use selkie_protocol::replica::Ack;
use selkie_replication::cursor::Passed;
use selkie_replication::log::Place;

use crate::binlog::Binlog;
use crate::dumps::Wishes;

/// Bytes in front of an event for readers that do not acknowledge: OK.
const PLAIN: &[u8] = &[0];
/// Bytes in front of an event for those that do: OK, a mark, and whether it asks.
const MARKED: &[u8] = &[0, Ack::MAGIC, 0];

/// Acknowledgements of a dump's reader, until the value is dropped.
pub(super) struct Acks<'s> {
    binlog: &'s Binlog,
    server_id: u32,
    /// Number of the log's life when the dump began.
    life: u64,
    /// The last group in the output: bytes before its last event, and its end.
    last: Option<(usize, Place)>,
    /// End of the last group with which the reader was asked.
    asked: Place,
    /// End of the last group it has acknowledged.
    acked: Place,
    /// Whether a group was sent. Until then the reader has all that the dump goes past.
    has_sent: bool,
}

impl<'s> Acks<'s> {
    /// The acknowledgements of a reader that has come.
    pub(super) fn new(binlog: &'s Binlog, server_id: u32) -> Self {
        binlog.semi.enter();
        let (life, none) = (binlog.semi.life(), Place::default());
        Self { binlog, server_id, life, last: None, asked: none, acked: none, has_sent: false }
    }

    /// The dump begins at a place, so that the reader has everything before it.
    pub(super) fn begin(&self, place: Place) {
        self.binlog.semi.acknowledge((self.life, place), self.server_id);
    }

    /// Notes what the last step of the dump has done. `before` is the length of the output before
    /// the step.
    pub(super) fn note(&mut self, passed: Option<(Place, Passed)>, before: usize) {
        match passed {
            Some((place, Passed::Sent)) => {
                (self.last, self.has_sent) = (Some((before, place)), true)
            }
            Some((place, Passed::Known)) if !self.has_sent => self.begin(place),
            _ => {}
        }
    }

    /// Asks with the last group in the output, if an answer to it is wanted.
    pub(super) fn ask(&mut self, out: &mut Output) {
        let Some((packet, place)) = self.last.take() else { return };
        if self.binlog.semi.asks(place) {
            out.patch(packet, MARKED.len() - 1, 1);
            out.renumber_behind(packet, 1);
            self.asked = place;
        }
    }

    /// Whether the reader has not answered yet.
    pub(super) fn is_asked(&self) -> bool {
        self.asked > self.acked
    }

    /// Takes a packet of the reader. Compat: packets that are no acknowledgements are ignored.
    pub(super) fn take(&mut self, packet: &[u8]) {
        let ack = match Ack::decode(packet) {
            Ok(ack) => ack,
            Err(error) => {
                let server = self.server_id;
                tracing::error!("Server {server} has sent no acknowledgement: {error:?}");
                return;
            }
        };
        self.binlog.semi.note_answer();
        let name = std::str::from_utf8(ack.file).ok();
        let file = name.and_then(|name| self.binlog.files().names().number(name));
        let Some(file) = file else { return };
        let place = Place { file, offset: ack.offset };
        if place <= self.asked {
            self.acked = self.acked.max(place);
            self.binlog.semi.acknowledge((self.life, place), self.server_id);
        }
    }
}

impl Drop for Acks<'_> {
    fn drop(&mut self) {
        self.binlog.semi.leave();
    }
}

/// Bytes in front of each event for a reader with these wishes.
pub(super) fn head(wishes: &Wishes) -> &'static [u8] {
    if wishes.acknowledges { MARKED } else { PLAIN }
}

/// Appends an event as a packet.
pub(super) fn put(out: &mut Output, head: &[u8], event: &[u8]) {
    out.packet(|b| {
        b.extend_from_slice(head);
        b.extend_from_slice(event);
    });
}
