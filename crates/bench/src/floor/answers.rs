//! The packets of the floor server, made once at its start.
//!
//! Must not depend on what a statement means: only its first word and its question marks count.

use crate::wire::{begin_packet, end_packet, put_length_encoded};

/// Number of a prepared statement that returns a row.
const ROW: u32 = 1;
/// Number of a prepared statement that returns no row.
const NO_ROW: u32 = 2;

/// The ready answers.
pub(super) struct Answers {
    pub(super) greeting: Vec<u8>,
    welcome: Vec<u8>,
    ok: Vec<u8>,
    text_row: Vec<u8>,
    binary_row: Vec<u8>,
}

/// PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, CONNECT_WITH_DB, PLUGIN_AUTH, MULTI_RESULTS.
const CAPABILITIES: u32 = 0x200 | 0x2000 | 0x8000 | 0x8 | 0x8_0000 | 0x2_0000 | 0x1 | 0x80;
const AUTOCOMMIT: u16 = 2;
/// A value as long as the values of sysbench's column c.
const VALUE: [u8; 119] = [b'7'; 119];

impl Answers {
    pub(super) fn new() -> Self {
        Self {
            greeting: packets(0, &[&greeting()]),
            welcome: packets(2, &[&ok()]),
            ok: packets(1, &[&ok()]),
            text_row: packets(1, &[&[1], &column(), &end(), &text(), &end()]),
            binary_row: packets(1, &[&[1], &column(), &end(), &binary(), &end()]),
        }
    }

    /// Appends the answer to a packet; `None` if the client leaves.
    pub(super) fn answer(&self, sequence: u8, payload: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let found = match (sequence, payload.first()?) {
            (1, _) => &self.welcome,
            (_, 1) => return None,
            (_, 3) => {
                if is_select(&payload[1..]) {
                    &self.text_row
                } else {
                    &self.ok
                }
            }
            (_, 0x16) => {
                prepare(&payload[1..], out);
                return Some(());
            }
            (_, 0x17) if payload.get(1..5)? == ROW.to_le_bytes() => &self.binary_row,
            // COM_STMT_CLOSE has no answer.
            (_, 0x19) => return Some(()),
            _ => &self.ok,
        };
        out.extend_from_slice(found);
        Some(())
    }
}

fn is_select(text: &[u8]) -> bool {
    text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"select"))
}

fn packets(sequence: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, payload) in payloads.iter().enumerate() {
        let mut packet = Vec::new();
        let start = begin_packet(&mut packet);
        packet.extend_from_slice(payload);
        end_packet(&mut packet, start, sequence + at as u8);
        out.extend_from_slice(&packet);
    }
    out
}

fn greeting() -> Vec<u8> {
    let mut out = b"\x0A5.5.5-10.11.0-MariaDB-floor\0".to_vec();
    out.extend_from_slice(&[1, 0, 0, 0]);
    out.extend_from_slice(b"12345678\0");
    out.extend_from_slice(&(CAPABILITIES as u16).to_le_bytes());
    out.push(45);
    out.extend_from_slice(&AUTOCOMMIT.to_le_bytes());
    out.extend_from_slice(&((CAPABILITIES >> 16) as u16).to_le_bytes());
    out.push(21);
    out.extend_from_slice(&[0; 10]);
    out.extend_from_slice(b"123456789012\0mysql_native_password\0");
    out
}

fn ok() -> Vec<u8> {
    vec![0, 0, 0, AUTOCOMMIT as u8, 0, 0, 0]
}

fn end() -> Vec<u8> {
    vec![0xFE, 0, 0, AUTOCOMMIT as u8, 0]
}

fn column() -> Vec<u8> {
    let mut out = Vec::new();
    for name in ["def", "sbtest", "sbtest1", "sbtest1", "c", "c"] {
        put_length_encoded(&mut out, name.len() as u64);
        out.extend_from_slice(name.as_bytes());
    }
    out.extend_from_slice(&[0x0C, 45, 0, 0xE0, 1, 0, 0, 0xFE, 1, 0, 0, 0, 0]);
    out
}

fn text() -> Vec<u8> {
    let mut out = Vec::new();
    put_length_encoded(&mut out, VALUE.len() as u64);
    out.extend_from_slice(&VALUE);
    out
}

fn binary() -> Vec<u8> {
    let mut out = vec![0, 0];
    out.extend_from_slice(&text());
    out
}

/// Appends the answer to the PREPARE of a statement.
fn prepare(statement: &[u8], out: &mut Vec<u8>) {
    let marks = statement.iter().filter(|byte| **byte == b'?').count() as u16;
    let select = is_select(statement);
    let mut head = vec![0];
    head.extend_from_slice(&if select { ROW } else { NO_ROW }.to_le_bytes());
    head.extend_from_slice(&u16::from(select).to_le_bytes());
    head.extend_from_slice(&marks.to_le_bytes());
    head.extend_from_slice(&[0; 3]);
    let (column, end) = (column(), end());
    let mut payloads: Vec<&[u8]> = vec![&head];
    if marks > 0 {
        payloads.extend(std::iter::repeat_n(column.as_slice(), usize::from(marks)));
        payloads.push(&end);
    }
    if select {
        payloads.extend([column.as_slice(), &end]);
    }
    out.extend_from_slice(&packets(1, &payloads));
}
