//! The wishes of a reader, from its command and from the user variables it has set before.
//!
//! Must not look at the log: a wish may be impossible.

use std::time::Duration;

use selkie_protocol::replica::BinlogDump;
use selkie_replication::codec::Checksum;
use selkie_replication::cursor::{Annotations, Ask, Capability, Known, MarkedEvents, Start};
use selkie_types::SqlResult;

/// End of a dump.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// It waits for more where the log ends.
    Waits,
    /// It ends there.
    Leaves,
}

/// All that a reader wants.
#[derive(Clone, Debug)]
pub(crate) struct Wishes {
    /// Wishes about events.
    pub(crate) ask: Ask,
    /// Number of its server.
    pub(crate) server_id: u32,
    /// Whether it waits.
    pub(crate) patience: Patience,
    /// Whether it acknowledges what it has got.
    pub(crate) acknowledges: bool,
    /// Time without an event after which it wants a sign of life; none for never.
    pub(crate) heartbeat: Option<Duration>,
}

impl Wishes {
    /// Whether it wants a last group, and so has less than what it is not sent.
    pub(crate) fn has_end(&self) -> bool {
        matches!(&self.ask.start, Start::Behind(known) if known.until.is_some())
    }

    /// Whether the dump ends where the log does.
    pub(crate) fn ends_with_log(&self) -> bool {
        self.patience == Patience::Leaves
    }
}

/// The wishes of a command; `variable` tells user variables as text.
pub(crate) fn wishes(
    dump: &BinlogDump<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> SqlResult<Wishes> {
    let number = |name| variable(name).map_or(0, |text| integer(&text));
    let nanoseconds = number("master_heartbeat_period");
    let wants = dump.has(BinlogDump::ANNOTATE);
    let ask = Ask {
        start: start(dump, variable)?,
        marked: MarkedEvents::default(),
        annotations: if wants { Annotations::Wanted } else { Annotations::Unwanted },
        capability: Capability(number("mariadb_slave_capability")),
        checksum: variable("master_binlog_checksum").map(|text| checksum(&text)),
    };
    Ok(Wishes {
        ask,
        server_id: dump.server_id,
        patience: match dump.has(BinlogDump::NON_BLOCK) {
            true => Patience::Leaves,
            false => Patience::Waits,
        },
        acknowledges: number("rpl_semi_sync_slave") != 0,
        heartbeat: (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds)),
    })
}

fn start(dump: &BinlogDump<'_>, variable: &dyn Fn(&str) -> Option<String>) -> SqlResult<Start> {
    let Some(position) = variable("slave_connect_state") else {
        let name = String::from_utf8_lossy(dump.file).into_owned();
        return Ok(Start::At { name, offset: u64::from(dump.offset) });
    };
    let is_set = |name| variable(name).is_some_and(|text| integer(&text) != 0);
    let until = variable("slave_until_gtid").map(|text| crate::admin::parsed(&text));
    Ok(Start::Behind(Known {
        position: crate::admin::parsed(&position)?,
        is_strict: is_set("slave_gtid_strict_mode"),
        ignores_duplicates: is_set("slave_gtid_ignore_duplicates"),
        until: until.transpose()?,
    }))
}

/// Compat: every text but NONE says that the reader knows checksums.
fn checksum(text: &str) -> Checksum {
    if text.eq_ignore_ascii_case("NONE") { Checksum::None } else { Checksum::Crc32 }
}

/// The number at the beginning of a text, rounded down; 0 without one.
fn integer(text: &str) -> u64 {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.parse::<f64>() {
        Ok(number) if digits != text.len() => number as u64,
        _ => text.get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)], payload: &[u8]) -> SqlResult<Wishes> {
        let dump = BinlogDump::decode(payload).unwrap();
        let find = |name: &str| set.iter().find(|(key, _)| *key == name);
        wishes(&dump, &|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn variables_say_how_to_begin() {
        let payload = b"\x04\0\0\0\x02\0\x02\0\0\0binlog.000001";
        let plain = with(&[], payload).unwrap();
        assert!(
            matches!(&plain.ask.start, Start::At { name, offset: 4 } if name == "binlog.000001")
        );
        assert_eq!((plain.ask.checksum, plain.ask.capability), (None, Capability(0)));
        assert_eq!((plain.heartbeat, plain.ends_with_log()), (None, false));
        assert!(!plain.acknowledges);
        let set = [
            ("slave_connect_state", "0-1-2,1-1-3"),
            ("slave_gtid_strict_mode", "1"),
            ("master_binlog_checksum", "CRC32"),
            ("mariadb_slave_capability", "4"),
            ("master_heartbeat_period", "1.5e9"),
            ("rpl_semi_sync_slave", "1"),
        ];
        let known = with(&set, payload).unwrap();
        let Start::Behind(behind) = &known.ask.start else { panic!() };
        assert_eq!(behind.position.to_string(), "0-1-2,1-1-3");
        assert!(behind.is_strict && !behind.ignores_duplicates && behind.until.is_none());
        assert_eq!(known.ask.checksum, Some(Checksum::Crc32));
        assert_eq!(known.heartbeat, Some(Duration::from_millis(1500)));
        assert!(known.acknowledges);
        assert_eq!(with(&[("slave_connect_state", "x")], payload).unwrap_err().code(), 1941);
    }
}
