//! Packets of a server as a client reads them.
//!
//! Must not keep rows: they borrow from the packet.

use crate::error::{DecodeError, DecodeResult};
use crate::reader::Reader;

/// An error that a server has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// Its number.
    pub code: u16,
    /// The SQLSTATE.
    pub sqlstate: [u8; 5],
    /// The text.
    pub message: String,
}

impl ServerError {
    /// Decodes the packet behind its first byte.
    pub(super) fn decode(r: &mut Reader<'_>) -> DecodeResult<Self> {
        let code = r.u16("error number")?;
        let mut text = r.take_rest();
        let mut sqlstate = *b"HY000";
        if let Some((state, rest)) =
            text.strip_prefix(b"#").and_then(|rest| rest.split_first_chunk::<5>())
        {
            (sqlstate, text) = (*state, rest);
        }
        Ok(Self { code, sqlstate, message: String::from_utf8_lossy(text).into_owned() })
    }
}

/// The first packet of an answer to a command, or the last one of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// It is done.
    Ok,
    /// It failed.
    Err(ServerError),
    /// Rows or columns end.
    Eof,
    /// Something else: the head of a result, a row, an event.
    Other(&'a [u8]),
}

/// Longest EOF packet. A longer packet that begins like one is a row.
const EOF_MAX: usize = 9;

impl<'a> Answer<'a> {
    /// Decodes a packet for a client that gets EOF packets.
    pub fn decode(payload: &'a [u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        Ok(match r.u8("answer")? {
            0x00 => Self::Ok,
            0xff => Self::Err(ServerError::decode(&mut r)?),
            0xfe if payload.len() < EOF_MAX => Self::Eof,
            0xfb => return Err(DecodeError::Invalid("request for a file")),
            _ => Self::Other(payload),
        })
    }
}

/// The number of columns that the head of a result tells.
pub fn column_count(payload: &[u8]) -> DecodeResult<usize> {
    let count = Reader::new(payload).lenenc("count of columns")?;
    // A table has fewer columns.
    match usize::try_from(count) {
        Ok(count @ 1..=4096) => Ok(count),
        _ => Err(DecodeError::Invalid("count of columns")),
    }
}

/// The values of a row, none for NULL.
pub fn text_row(payload: &[u8], columns: usize) -> DecodeResult<Vec<Option<&[u8]>>> {
    let mut r = Reader::new(payload);
    let row = (0..columns).map(|_| r.lenenc_bytes_or_null("value")).collect();
    if r.is_empty() { row } else { Err(DecodeError::Invalid("row")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_of_a_server() {
        assert_eq!(Answer::decode(b"\0\0\0\x02\0\0\0"), Ok(Answer::Ok));
        assert_eq!(Answer::decode(b"\xfe\0\0\x02\0"), Ok(Answer::Eof));
        assert_eq!(Answer::decode(b"\x01"), Ok(Answer::Other(b"\x01")));
        let refused = Answer::decode(b"\xff\x15\x04#28000Access denied");
        let error =
            ServerError { code: 1045, sqlstate: *b"28000", message: "Access denied".into() };
        assert_eq!(refused, Ok(Answer::Err(error)));
        let early = Answer::decode(b"\xff\x10\x04Too many connections");
        assert!(matches!(early, Ok(Answer::Err(error)) if error.message == "Too many connections"));
        assert_eq!(text_row(b"\x011\xfb\0", 3), Ok(vec![Some(&b"1"[..]), None, Some(b"")]));
        assert!(text_row(b"\x0112", 1).is_err());
        assert!(column_count(b"\0").is_err());
        assert!(column_count(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff").is_err());
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60), n in 0usize..9) {
            let _ = (Answer::decode(&bytes), column_count(&bytes), text_row(&bytes, n));
        }
    }
}
