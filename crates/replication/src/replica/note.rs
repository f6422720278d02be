//! The state of a replica, and notes of its changes: one is part of each group's commit, so rows
//! and position change together.
//!
//! Must not trust bytes: notes come back from the engine's log after a crash.

use std::collections::BTreeMap;

use crate::bytes::{Reader, put_u16, put_u32, put_u64};
use crate::error::{DecodeError, DecodeResult};
use crate::gtid::{Gtid, Position, gtid, gtids, put_gtid, put_gtids};

/// A place in the binary log of a primary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Name of the file; empty before the first one is known.
    pub file: String,
    /// Offset in it.
    pub offset: u64,
}

/// A change of what is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A connection has applied a group that ends at a place of its primary's log.
    Group {
        /// Name of the connection.
        connection: String,
        /// Number of the group, if it has one.
        gtid: Option<Gtid>,
        /// End of the group.
        end: Place,
    },
    /// `SET GLOBAL gtid_slave_pos`: what is applied in all domains.
    Position(Vec<Gtid>),
    /// CHANGE MASTER: a connection begins at another place.
    Begin {
        /// Name of the connection.
        connection: String,
        /// Place at which it begins.
        at: Place,
    },
    /// RESET SLAVE ALL: a connection is gone.
    Forget(String),
}

/// Groups and places that a replica has applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    gtids: Position,
    places: BTreeMap<String, Place>,
}

const GROUP: u8 = 0;
const POSITION: u8 = 1;
const BEGIN: u8 = 2;
const FORGET: u8 = 3;
/// Version of the encoded state.
const VERSION: u8 = 1;

impl Note {
    /// Appends the note.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Group { connection, gtid, end } => {
                out.push(GROUP);
                put_text(out, connection);
                put_place(out, end);
                out.push(u8::from(gtid.is_some()));
                gtid.iter().for_each(|gtid| put_gtid(out, *gtid));
            }
            Self::Position(gtids) => {
                out.push(POSITION);
                put_gtids(out, gtids);
            }
            Self::Begin { connection, at } => {
                out.push(BEGIN);
                put_text(out, connection);
                put_place(out, at);
            }
            Self::Forget(connection) => {
                out.push(FORGET);
                put_text(out, connection);
            }
        }
    }

    /// The note that is all of `bytes`.
    pub fn decode(bytes: &[u8]) -> DecodeResult<Self> {
        let mut reader = Reader::new(bytes);
        let note = match reader.u8("kind of a note")? {
            GROUP => {
                let (connection, end) = (text(&mut reader)?, place(&mut reader)?);
                let gtid = match reader.u8("whether a note has a number")? {
                    0 => None,
                    1 => Some(gtid(&mut reader)?),
                    _ => return Err(DecodeError::Invalid("whether a note has a number")),
                };
                Self::Group { connection, gtid, end }
            }
            POSITION => Self::Position(gtids(&mut reader)?),
            BEGIN => Self::Begin { connection: text(&mut reader)?, at: place(&mut reader)? },
            FORGET => Self::Forget(text(&mut reader)?),
            _ => return Err(DecodeError::Invalid("kind of a note")),
        };
        if reader.is_empty() { Ok(note) } else { Err(DecodeError::Invalid("note")) }
    }
}

impl Applied {
    /// The last group of each domain: `gtid_slave_pos`.
    pub fn gtids(&self) -> &Position {
        &self.gtids
    }

    /// Place at which a connection goes on in its primary's log.
    pub fn place(&self, connection: &str) -> Option<&Place> {
        self.places.get(connection)
    }

    /// Changes the state as a note says. A note that comes again, with all later ones behind it,
    /// changes nothing in the end.
    pub fn apply(&mut self, note: &Note) {
        match note {
            Note::Group { connection, gtid, end } => {
                gtid.iter().for_each(|gtid| self.gtids.set(*gtid));
                self.set_place(connection, end);
            }
            Note::Position(gtids) => self.gtids = gtids.iter().copied().collect(),
            Note::Begin { connection, at } => self.set_place(connection, at),
            Note::Forget(connection) => {
                self.places.remove(connection);
            }
        }
    }

    /// Takes a place without a new allocation if the connection is known.
    fn set_place(&mut self, connection: &str, at: &Place) {
        match self.places.get_mut(connection) {
            Some(place) => place.clone_from(at),
            None => {
                self.places.insert(connection.to_owned(), at.clone());
            }
        }
    }

    /// The state as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put_gtids(&mut out, &self.gtids.gtids().collect::<Vec<_>>());
        put_u32(&mut out, self.places.len() as u32);
        for (connection, at) in &self.places {
            put_text(&mut out, connection);
            put_place(&mut out, at);
        }
        out
    }

    /// The state from all of `bytes`.
    pub fn decode(bytes: &[u8]) -> DecodeResult<Self> {
        let mut reader = Reader::new(bytes);
        if reader.u8("version")? != VERSION {
            return Err(DecodeError::Invalid("version"));
        }
        let gtids = gtids(&mut reader)?.into_iter().collect();
        let mut places = BTreeMap::new();
        for _ in 0..reader.u32("count of connections")? {
            let name = text(&mut reader)?;
            places.insert(name, place(&mut reader)?);
        }
        let state = Self { gtids, places };
        if reader.is_empty() { Ok(state) } else { Err(DecodeError::Invalid("applied state")) }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    // Names are checked before they come here; a longer one must not break what follows.
    let end = text.floor_char_boundary(usize::from(u16::MAX));
    put_u16(out, end as u16);
    out.extend_from_slice(text.as_bytes().get(..end).unwrap_or_default());
}

fn text(reader: &mut Reader<'_>) -> DecodeResult<String> {
    let length = reader.u16("length of a name")?;
    let bytes = reader.bytes(usize::from(length), "name")?;
    String::from_utf8(bytes.to_vec()).map_err(|_| DecodeError::Invalid("name"))
}

fn put_place(out: &mut Vec<u8>, place: &Place) {
    put_text(out, &place.file);
    put_u64(out, place.offset);
}

fn place(reader: &mut Reader<'_>) -> DecodeResult<Place> {
    Ok(Place { file: text(reader)?, offset: reader.u64("offset")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes() -> Vec<Note> {
        let at = |file: &str, offset| Place { file: file.to_owned(), offset };
        let gtid = |seq| Gtid { domain: 1, server: 2, seq };
        let connection = || "a".to_owned();
        vec![
            Note::Begin { connection: connection(), at: at("binlog.000001", 4) },
            Note::Group {
                connection: connection(),
                gtid: Some(gtid(7)),
                end: at("binlog.000001", 500),
            },
            Note::Group { connection: String::new(), gtid: None, end: at("b.000009", 1 << 40) },
            Note::Position(vec![gtid(3), Gtid { domain: 0, server: 1, seq: u64::MAX }]),
            Note::Forget(connection()),
        ]
    }

    #[test]
    fn notes_and_states_come_back_as_they_were() {
        let mut state = Applied::default();
        for note in notes() {
            let mut bytes = Vec::new();
            note.encode(&mut bytes);
            assert_eq!(Note::decode(&bytes), Ok(note.clone()));
            for end in 0..bytes.len() {
                assert!(Note::decode(&bytes[..end]).is_err());
            }
            state.apply(&note);
            let bytes = state.encode();
            assert_eq!(Applied::decode(&bytes), Ok(state.clone()));
            for end in 0..bytes.len() {
                assert!(Applied::decode(&bytes[..end]).is_err());
            }
        }
        assert_eq!(state.gtids().to_string(), "0-1-18446744073709551615,1-2-3");
        assert_eq!((state.place("a"), state.place("").map(|at| at.offset)), (None, Some(1 << 40)));
    }

    #[test]
    fn notes_that_come_again_change_nothing_in_the_end() {
        let mut once = Applied::default();
        notes().iter().for_each(|note| once.apply(note));
        for from in 0..notes().len() {
            let mut again = once.clone();
            notes()[from..].iter().for_each(|note| again.apply(note));
            assert_eq!(again, once);
        }
    }
}
