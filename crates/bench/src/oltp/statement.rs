//! The statements of mixes, as text and as executions of prepared statements.
//!
//! Sources: sysbench 1.0's scripts. Values are written into the packet without an allocation for
//! each.

use super::random::Random;
use crate::wire::{begin_packet, end_packet, put_length_encoded};

/// Index that a statement on many rows uses. A covered one reads only its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    Primary,
    Secondary,
}

/// A statement. Counts are numbers of rows, or of values in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Begin,
    Commit,
    PointSelect,
    SimpleRange(u32),
    CountRange(u32),
    SumRange(u32),
    OrderRange(u32),
    DistinctRange(u32),
    IndexUpdate,
    NonIndexUpdate,
    /// A deletion, followed by the insertion of the same row.
    DeleteInsert,
    /// The second half of [`Kind::DeleteInsert`].
    InsertAgain,
    Delete,
    Insert,
    /// Rows of a list of values.
    Points {
        index: Index,
        covered: bool,
        count: u32,
    },
    /// The same rows in every execution.
    HotPoints(u32),
    /// Rows of a range.
    Range {
        index: Index,
        covered: bool,
        count: u32,
    },
    /// Ten ranges of the secondary index.
    RandomRanges,
    /// The whole table.
    Scan,
    /// Rows of a list of primary keys; changes a column without an index.
    UpdateList(u32),
    /// The same row in every execution.
    UpdateOne,
    /// Rows by Zipf's law: some much more often than others.
    UpdateZipf,
}

/// Number of ranges of [`Kind::RandomRanges`].
const RANGES: usize = 10;
/// Width of these ranges, beyond one value.
const DELTA: u64 = 5;

/// A parameter's value.
#[derive(Clone, Copy, Debug)]
enum Value {
    Number(u64),
    /// This number of groups of eleven digits.
    Digits(usize),
}

/// Values of one statement; the memory is used again.
#[derive(Default)]
pub(super) struct Values(Vec<Value>);

impl Values {
    fn number(&mut self, number: u64) {
        self.0.push(Value::Number(number));
    }

    fn range(&mut self, random: &mut Random, rows: u64, count: u32) {
        let from = random.special(rows);
        self.number(from);
        self.number(from + u64::from(count) - 1);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Kind {
    /// Its text for a table, with `?` for each value.
    pub(super) fn text(self, table: u32) -> String {
        let t = format!("sbtest{table}");
        match self {
            Self::Begin => "BEGIN".to_owned(),
            Self::Commit => "COMMIT".to_owned(),
            Self::PointSelect => format!("SELECT c FROM {t} WHERE id=?"),
            Self::SimpleRange(_) => format!("SELECT c FROM {t} WHERE id BETWEEN ? AND ?"),
            Self::CountRange(_) => format!("SELECT COUNT(*) FROM {t} WHERE id BETWEEN ? AND ?"),
            Self::SumRange(_) => format!("SELECT SUM(k) FROM {t} WHERE id BETWEEN ? AND ?"),
            Self::OrderRange(_) => format!("SELECT c FROM {t} WHERE id BETWEEN ? AND ? ORDER BY c"),
            Self::DistinctRange(_) => {
                format!("SELECT DISTINCT c FROM {t} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Self::IndexUpdate => format!("UPDATE {t} SET k=k+1 WHERE id=?"),
            Self::NonIndexUpdate | Self::UpdateOne | Self::UpdateZipf => {
                format!("UPDATE {t} SET c=? WHERE id=?")
            }
            Self::UpdateList(count) => format!("UPDATE {t} SET c=? WHERE id IN ({})", marks(count)),
            Self::DeleteInsert | Self::Delete => format!("DELETE FROM {t} WHERE id=?"),
            Self::InsertAgain | Self::Insert => {
                format!("INSERT INTO {t} (id, k, c, pad) VALUES (?, ?, ?, ?)")
            }
            Self::Points { index, covered, count } => {
                let (columns, column) = (columns(index, covered), index.column());
                format!("SELECT {columns} FROM {t} WHERE {column} IN ({})", marks(count))
            }
            Self::HotPoints(count) => {
                format!("SELECT id, k, c, pad FROM {t} WHERE id IN ({})", marks(count))
            }
            Self::Range { index, covered, .. } => {
                let (columns, column) = (columns(index, covered), index.column());
                format!("SELECT {columns} FROM {t} WHERE {column} BETWEEN ? AND ?")
            }
            Self::RandomRanges => {
                let list = ["k BETWEEN ? AND ?"; RANGES].join(" OR ");
                format!("SELECT count(k) FROM {t} WHERE {list}")
            }
            Self::Scan => format!("SELECT COUNT(*) FROM {t} WHERE LENGTH(c) < 0"),
        }
    }

    /// Appends random values for it. `again` is the last deleted row.
    pub(super) fn values(self, random: &mut Random, rows: u64, again: &mut u64, out: &mut Values) {
        match self {
            Self::Begin | Self::Commit | Self::Scan => {}
            Self::PointSelect | Self::IndexUpdate | Self::Delete => {
                out.number(random.special(rows))
            }
            Self::DeleteInsert => {
                *again = random.special(rows);
                out.number(*again);
            }
            Self::SimpleRange(count)
            | Self::CountRange(count)
            | Self::SumRange(count)
            | Self::OrderRange(count)
            | Self::DistinctRange(count)
            | Self::Range { count, .. } => out.range(random, rows, count),
            Self::NonIndexUpdate | Self::UpdateOne | Self::UpdateZipf => {
                out.0.push(Value::Digits(10));
                out.number(match self {
                    Self::UpdateOne => 1 + rows / 2,
                    Self::UpdateZipf => random.zipf(rows),
                    _ => random.special(rows),
                });
            }
            Self::UpdateList(count) => {
                out.0.push(Value::Digits(10));
                (0..count).for_each(|_| out.number(random.special(rows)));
            }
            Self::InsertAgain | Self::Insert => {
                out.number(if self == Self::Insert { 0 } else { *again });
                out.number(random.special(rows));
                out.0.extend([Value::Digits(10), Value::Digits(5)]);
            }
            Self::Points { count, .. } => (0..count).for_each(|_| out.number(random.special(rows))),
            Self::HotPoints(count) => {
                (0..u64::from(count)).for_each(|at| out.number(1 + at * rows / u64::from(count)));
            }
            Self::RandomRanges => (0..RANGES).for_each(|_| {
                let from = random.special(rows);
                out.number(from);
                out.number(from + DELTA);
            }),
        }
    }
}

impl Index {
    fn column(self) -> &'static str {
        match self {
            Self::Primary => "id",
            Self::Secondary => "k",
        }
    }
}

fn columns(index: Index, covered: bool) -> &'static str {
    match (covered, index) {
        (false, _) => "c",
        (true, Index::Primary) => "id",
        (true, Index::Secondary) => "k",
    }
}

fn marks(count: u32) -> String {
    vec!["?"; count as usize].join(", ")
}

const COM_QUERY: u8 = 3;
const COM_STMT_EXECUTE: u8 = 0x17;
const TYPE_LONG: u8 = 3;
const TYPE_VAR_STRING: u8 = 253;
/// Flag of an unsigned type.
const UNSIGNED: u8 = 0x80;

/// Appends a command that runs `text`, with the values instead of its question marks.
pub(super) fn put_query(out: &mut Vec<u8>, text: &str, values: &Values, random: &mut Random) {
    let start = begin_packet(out);
    out.push(COM_QUERY);
    let mut pieces = text.split('?');
    out.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
    for (value, piece) in values.0.iter().zip(pieces) {
        match value {
            Value::Number(number) => {
                out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes());
            }
            Value::Digits(groups) => {
                out.push(b'\'');
                random.put_digits(out, *groups);
                out.push(b'\'');
            }
        }
        out.extend_from_slice(piece.as_bytes());
    }
    end_packet(out, start, 0);
}

/// Appends a command that executes a prepared statement. `first`: the server does not know its
/// types.
pub(super) fn put_execute(
    out: &mut Vec<u8>,
    id: u32,
    first: bool,
    values: &Values,
    random: &mut Random,
) {
    let start = begin_packet(out);
    out.push(COM_STMT_EXECUTE);
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    let values = &values.0;
    if !values.is_empty() {
        out.resize(out.len() + values.len().div_ceil(8), 0);
        out.push(u8::from(first));
    }
    if first {
        for value in values {
            out.extend_from_slice(&match value {
                Value::Number(_) => [TYPE_LONG, UNSIGNED],
                Value::Digits(_) => [TYPE_VAR_STRING, 0],
            });
        }
    }
    for value in values {
        match value {
            Value::Number(number) => out.extend_from_slice(&(*number as u32).to_le_bytes()),
            Value::Digits(groups) => {
                put_length_encoded(out, Random::digits_length(*groups) as u64);
                random.put_digits(out, *groups);
            }
        }
    }
    end_packet(out, start, 0);
}

#[cfg(test)]
mod tests {
    use super::super::mix::{MICRO, MIXES};
    use super::*;

    #[test]
    fn every_statement_has_a_value_for_each_question_mark() {
        let mut random = Random::new(1);
        for group in MIXES.iter().chain(MICRO).flat_map(|mix| mix.groups().collect::<Vec<_>>()) {
            let mut values = Values::default();
            group.kind.values(&mut random, 100, &mut 0, &mut values);
            let marks = group.kind.text(1).matches('?').count();
            assert_eq!(values.0.len(), marks, "{:?}", group.kind);
        }
    }

    #[test]
    fn values_stand_in_the_text() {
        let (mut out, mut values) = (Vec::new(), Values::default());
        values.number(7);
        values.number(106);
        put_query(&mut out, &Kind::SumRange(100).text(3), &values, &mut Random::new(1));
        assert_eq!(&out[5..], b"SELECT SUM(k) FROM sbtest3 WHERE id BETWEEN 7 AND 106");
        assert_eq!(usize::from(out[0]), out.len() - 4);
    }
}
