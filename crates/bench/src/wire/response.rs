//! Finds the end of an answer without decoding its rows.
//!
//! Source of the format: the MySQL client/server protocol, version 4.1, with EOF packets.

use super::packet::Reader;
use super::rows::ServerError;

/// More results follow this one.
const MORE_RESULTS: u64 = 8;

/// Outcome of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Success, with the number of rows.
    Ok(u64),
    /// An error.
    Failed(ServerError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    First,
    Columns(u64),
    Rows,
}

/// Follows the answers of one connection, which may arrive in any pieces.
#[derive(Debug)]
pub(crate) struct Scanner {
    expect: Expect,
    rows: u64,
    /// The start of an incomplete packet.
    partial: Vec<u8>,
}

impl Default for Scanner {
    fn default() -> Self {
        Self { expect: Expect::First, rows: 0, partial: Vec::new() }
    }
}

/// The bytes are not a valid answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Scanner {
    /// Takes bytes that have arrived. Returns the outcome if they complete the answer.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Option<Outcome>, Malformed> {
        if self.partial.is_empty() {
            return self.scan(bytes);
        }
        let mut whole = std::mem::take(&mut self.partial);
        whole.extend_from_slice(bytes);
        self.scan(&whole)
    }

    fn scan(&mut self, mut bytes: &[u8]) -> Result<Option<Outcome>, Malformed> {
        while let Some((header, rest)) = bytes.split_first_chunk::<4>() {
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let Some((payload, rest)) = rest.split_at_checked(length) else { break };
            bytes = rest;
            if let Some(outcome) = self.packet(payload)? {
                return if bytes.is_empty() { Ok(Some(outcome)) } else { Err(Malformed) };
            }
        }
        self.partial = bytes.to_vec();
        Ok(None)
    }

    fn packet(&mut self, payload: &[u8]) -> Result<Option<Outcome>, Malformed> {
        let first = *payload.first().ok_or(Malformed)?;
        if first == 0xFF {
            *self = Self::default();
            return ServerError::parse(payload).map(Outcome::Failed).map(Some).ok_or(Malformed);
        }
        let is_end = first == 0xFE && payload.len() < 9;
        match self.expect {
            Expect::First if first == 0 => {
                let mut rest = Reader(&payload[1..]);
                rest.length_encoded().ok_or(Malformed)?;
                rest.length_encoded().ok_or(Malformed)?;
                return Ok(self.end(rest.fixed(2).ok_or(Malformed)?));
            }
            Expect::First => {
                let columns = Reader(payload).length_encoded().ok_or(Malformed)?;
                self.expect = Expect::Columns(columns);
            }
            Expect::Columns(0) if is_end => self.expect = Expect::Rows,
            Expect::Columns(0) => return Err(Malformed),
            Expect::Columns(left) => self.expect = Expect::Columns(left - 1),
            Expect::Rows if is_end => {
                let status = Reader(&payload[1..]).fixed(4).ok_or(Malformed)? >> 16;
                return Ok(self.end(status));
            }
            Expect::Rows => self.rows += 1,
        }
        Ok(None)
    }

    fn end(&mut self, status: u64) -> Option<Outcome> {
        self.expect = Expect::First;
        (status & MORE_RESULTS == 0).then(|| Outcome::Ok(std::mem::take(&mut self.rows)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(payload: &[u8]) -> Vec<u8> {
        let mut out = (payload.len() as u32).to_le_bytes()[..3].to_vec();
        out.push(1);
        out.extend_from_slice(payload);
        out
    }

    fn result_set() -> Vec<u8> {
        let end = packet(&[0xFE, 0, 0, 2, 0]);
        [packet(&[1]), packet(b"column"), end.clone(), packet(b"\x01a"), packet(b"\x01b"), end]
            .concat()
    }

    #[test]
    fn a_result_set_ends_wherever_it_is_cut() {
        let bytes = result_set();
        for cut in 0..bytes.len() {
            let mut scanner = Scanner::default();
            assert_eq!(scanner.feed(&bytes[..cut]), Ok(None));
            assert_eq!(scanner.feed(&bytes[cut..]), Ok(Some(Outcome::Ok(2))));
        }
    }

    #[test]
    fn errors_are_told() {
        let mut scanner = Scanner::default();
        let bytes = packet(b"\xFF\xBD\x04#40001Deadlock found");
        let Ok(Some(Outcome::Failed(error))) = scanner.feed(&bytes) else { panic!("no error") };
        assert_eq!((error.code, error.message.as_str()), (1213, "Deadlock found"));
    }

    #[test]
    fn what_follows_an_answer_is_malformed() {
        let bytes = [result_set(), vec![0]].concat();
        assert_eq!(Scanner::default().feed(&bytes), Err(Malformed));
    }
}
