//! Events for readers that do not know all kinds: left out, or replaced by others of the same
//! length.
//!
//! Must not change the length or the place of an event.

use super::ask::{Annotations, Capability};
use super::made::{set_flags, set_kind, sign};
use super::refusal::Reason;
use crate::codec::Event;
use crate::codec::{EventKind, Frame, GtidEvent, HEADER_BYTES, flags};
use crate::file::Placed;

/// Bytes of a Query event's post-header.
const QUERY_POST: usize = 13;
/// Statement that begins a group for a reader that knows no GTID events.
const BEGIN: &[u8] = b"BEGIN";
/// Status variables that fill up two bytes: a time zone without a name.
const FILL: &[u8] = &[5, 0];
/// Fields of a NULL user variable besides its name.
const NULL_VARIABLE: usize = 4 + 1;
/// Name of the user variable that replaces a short event, as far as it fits.
const VARIABLE: &[u8] = b"!dummyvar";

/// An event as a reader gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    Same,
    /// Not at all.
    Nothing,
    /// As this one.
    Other(Vec<u8>),
}

/// The form of an event for a reader.
pub(super) fn form(
    placed: &Placed<'_>,
    capability: Capability,
    annotations: Annotations,
) -> Result<Form, Reason> {
    let is_known = match &placed.event {
        Event::AnnotateRows(_) => match annotations {
            Annotations::Wanted => return Ok(Form::Same),
            Annotations::Unwanted if capability >= Capability::HOLES => return Ok(Form::Nothing),
            // Without the event there would be a hole.
            Annotations::Unwanted => capability >= Capability::ANNOTATE,
        },
        Event::Gtid(gtid) if capability < Capability::GTID => {
            return old_gtid(placed, gtid, capability);
        }
        Event::BinlogCheckpoint(_) => capability >= Capability::CHECKPOINT,
        Event::GtidList(_) => capability >= Capability::GTID,
        _ => true,
    };
    match is_known {
        true => Ok(Form::Same),
        false if capability >= Capability::HOLES => Ok(Form::Nothing),
        false => dummy(&placed.frame).map(Form::Other),
    }
}

/// A group's beginning as it was before there were GTID events: BEGIN, or nothing for a statement
/// that stands alone.
fn old_gtid(
    placed: &Placed<'_>,
    gtid: &GtidEvent<'_>,
    capability: Capability,
) -> Result<Form, Reason> {
    if gtid.has(GtidEvent::STANDALONE) {
        return match capability >= Capability::HOLES {
            true => Ok(Form::Nothing),
            false => dummy(&placed.frame).map(Form::Other),
        };
    }
    let plain = QUERY_POST + 1 + BEGIN.len();
    let status: &[u8] = match placed.frame.body.len().checked_sub(plain) {
        Some(0) => &[],
        Some(2) => FILL,
        // Compat: MariaDB cannot replace the event of an XA branch either.
        _ => return Err(Reason::Irreplaceable),
    };
    let mut body = vec![0; QUERY_POST];
    body.iter_mut().skip(QUERY_POST - 2).take(1).for_each(|byte| *byte = status.len() as u8);
    body.extend_from_slice(status);
    body.push(0);
    body.extend_from_slice(BEGIN);
    Ok(Form::Other(replaced(&placed.frame, EventKind::QUERY, &body)))
}

/// An event that does nothing, of the same length.
fn dummy(frame: &Frame<'_>) -> Result<Vec<u8>, Reason> {
    let length = frame.body.len();
    let Some(text) = length.checked_sub(QUERY_POST + 1 + 1) else {
        return null_variable(frame);
    };
    let message = format!(
        "# Dummy event replacing event type {} that slave cannot handle.",
        frame.header.kind.0
    );
    let mut body = vec![0; QUERY_POST + 1];
    body.extend(message.bytes().chain(std::iter::repeat(b' ')).take(text + 1));
    Ok(replaced(frame, EventKind::QUERY, &body))
}

/// A variable that no statement reads, for events too short for a statement.
fn null_variable(frame: &Frame<'_>) -> Result<Vec<u8>, Reason> {
    let length = frame.body.len().checked_sub(NULL_VARIABLE).filter(|length| *length > 0);
    let name = length.and_then(|length| VARIABLE.get(..length)).ok_or(Reason::TooShort)?;
    let mut body = (name.len() as u32).to_le_bytes().to_vec();
    body.extend_from_slice(name);
    body.push(1);
    Ok(replaced(frame, EventKind::USER_VAR, &body))
}

/// The event with another type and another body of the same length.
fn replaced(frame: &Frame<'_>, kind: EventKind, body: &[u8]) -> Vec<u8> {
    let mut event = frame.bytes().to_vec();
    set_kind(&mut event, kind);
    let kept = frame.header.flags & !flags::THREAD_SPECIFIC;
    set_flags(&mut event, kept | flags::SUPPRESS_USE);
    event.iter_mut().skip(HEADER_BYTES).zip(body).for_each(|(to, from)| *to = *from);
    sign(&mut event, frame.checksum);
    event
}
