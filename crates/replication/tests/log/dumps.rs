//! Dumps of a log: where they begin, what they send, why they end.
//!
//! Expected streams are those of MariaDB 10.11 for the same groups. Must not look into the cursor:
//! a reader sees events only.

use std::sync::Arc;

use selkie_replication::codec::{Checksum, Format, Frame, HEADER_BYTES};
use selkie_replication::cursor::{
    Annotations, Ask, Capability, Dump, Found, Known, MarkedEvents, Passed, Reason, Refusal, Start,
    Step,
};
use selkie_replication::gtid::Position;
use selkie_replication::log::{BinaryLog, Place};
use selkie_replication::{Event, Gtid};

use crate::engine::{Engine, begun, fill_cache, head};
use crate::files::Sim;

/// A log of three files: 0-1-1, 0-1-2, 1-1-1 | 0-1-3, 1-1-2, 0-1-9 | 0-1-10.
struct Life {
    files: Arc<Sim>,
    engine: Engine,
    log: BinaryLog,
}

impl Life {
    fn new(checksum: Checksum) -> Self {
        let (files, engine, log) = begun(checksum);
        let mut life = Self { files, engine, log };
        life.groups(&[(0, None), (0, None), (1, None)]);
        life.rotate();
        life.groups(&[(0, None), (1, None), (0, Some(9))]);
        life.rotate();
        life.groups(&[(0, None)]);
        life
    }

    fn groups(&mut self, all: &[(u32, Option<u64>)]) {
        for (domain, seq) in all {
            let mut cache = self.log.cache();
            fill_cache(&mut cache, &[10]);
            let mut group = self.log.group(head(*domain, *seq), &mut cache);
            self.engine.ride(&self.files, &mut group).unwrap();
        }
        self.engine.write_all(&self.log).unwrap();
    }

    fn rotate(&mut self) {
        self.engine.ride(&self.files, &mut self.log.rotation(200)).unwrap();
        self.engine.write_all(&self.log).unwrap();
    }

    fn found(&self) -> Found<'_> {
        Found {
            log: &self.log,
            upto: self.log.end(),
            state: self.log.gtid_state(),
            applied: Position::default(),
            server_id: 1,
        }
    }

    /// All that a reader gets, and the end.
    fn dump(&self, ask: &Ask) -> (Vec<Vec<u8>>, Result<Step, Refusal>) {
        let mut sent = Vec::new();
        let mut send = |event: &[u8]| sent.push(event.to_vec());
        let result = Dump::begin(&self.found(), ask, &mut send).and_then(|mut dump| {
            loop {
                match dump.step(self.log.end(), &mut send)? {
                    Step::Went => {}
                    step => return Ok(step),
                }
            }
        });
        (sent, result)
    }

    /// As [`Self::dump`], in words.
    fn told(&self, ask: &Ask) -> String {
        let (sent, result) = self.dump(ask);
        let mut words: Vec<_> = sent.iter().filter_map(|event| word(event)).collect();
        words.extend(result.err().map(|refusal| refusal.to_string()));
        words.join(" ")
    }
}

/// The event in a word, as far as dumps differ in it.
fn word(bytes: &[u8]) -> Option<String> {
    let format = Format::new("", 0, Checksum::Crc32);
    let frame = Frame::split(bytes, &format).unwrap();
    frame.verify().unwrap();
    Some(match Event::decode(&frame, &format).unwrap() {
        Event::Rotate(rotate) if frame.header.timestamp == 0 => {
            format!("{}:{}", String::from_utf8_lossy(rotate.file), rotate.position)
        }
        Event::FormatDescription(format) if frame.header.end_log_pos == 0 => {
            assert_eq!(format.created, 0);
            "elsewhere".to_owned()
        }
        Event::FormatDescription(format) if format.created == 0 => "later".to_owned(),
        Event::FormatDescription(_) => "whole".to_owned(),
        Event::Gtid(gtid) => format!("{}-{}", gtid.domain, gtid.seq),
        Event::GtidList(list) if frame.header.timestamp == 0 => {
            let gtids: Vec<_> = list.gtids.iter().map(Gtid::to_string).collect();
            format!("list({:x}:{})", list.flags >> 28, gtids.join(","))
        }
        _ => return None,
    })
}

fn at(name: &str, offset: u64) -> Ask {
    let start = Start::At { name: name.to_owned(), offset };
    Ask {
        start,
        annotations: Annotations::Unwanted,
        marked: MarkedEvents::Wanted,
        capability: Capability::GTID,
        checksum: Some(Checksum::Crc32),
    }
}

fn known(position: &str) -> Known {
    Known { position: position.parse().unwrap(), ..Known::default() }
}

fn behind(known: Known) -> Ask {
    Ask { start: Start::Behind(known), ..at("", 4) }
}

const FROM_2: &str = "binlog.000003:4 later 0-10";

#[test]
fn a_dump_goes_from_file_to_file() {
    let life = Life::new(Checksum::Crc32);
    let all = "binlog.000001:4 whole 0-1 0-2 1-1 binlog.000002:4 later 0-3 1-2 0-9";
    let all = format!("{all} {FROM_2}");
    assert_eq!(life.told(&at("binlog.000001", 4)), all);
    assert_eq!(life.told(&at("", 4)), all);
    assert_eq!(life.told(&behind(known(""))), all);
    assert_eq!(life.told(&at("binlog.000003", 4)), FROM_2);
    let (sent, result) = life.dump(&at("binlog.000002", 4));
    assert_eq!(result, Ok(Step::CaughtUp));
    let files = life.files.all();
    // All but the events that name files are those of the files, one behind the other.
    let real: Vec<u8> =
        sent.iter().filter(|event| event[..4] != [0; 4]).flatten().copied().collect();
    let mut stored = [&files[&2][4..], &files[&3][4..]].concat();
    let in_use = stored.iter().skip(files[&2].len() - 4 + 17).take(1).copied().collect::<Vec<_>>();
    assert_eq!(in_use, [1]);
    stored[files[&2].len() - 4 + 17] = 0;
    assert_eq!(real, stored);
}

#[test]
fn a_dump_begins_at_an_event_only() {
    let life = Life::new(Checksum::Crc32);
    let first_group = life.files.all()[&3].len() as u64;
    let begins = life.log.end().offset;
    assert_eq!(first_group, begins);
    assert_eq!(
        life.told(&at("binlog.000003", begins)),
        format!("binlog.000003:{begins} elsewhere")
    );
    let spot = |first: &str, offset: u64| {
        format!(
            "Client requested master to start replication from impossible position; the first \
             event '{first}' at {offset}, the last event read from '{first}' at 4, the last byte \
             read from '{first}' at 4."
        )
    };
    for offset in [0, 3, 5, 255, 257, begins - 1, begins + 1, 99_999] {
        assert_eq!(life.told(&at("binlog.000003", offset)), spot("binlog.000003", offset));
    }
    assert_eq!(life.told(&at("", 0)), spot(".", 0));
    let none = "Could not find first log file name in binary log index file";
    assert_eq!(life.told(&at("binlog.000004", 4)), none);
    assert!(life.told(&at("binlog.000002", 256)).starts_with("binlog.000002:256 elsewhere 0-3"));
}

#[test]
fn groups_that_the_reader_has_are_left_out() {
    let life = Life::new(Checksum::Crc32);
    let from = |position: &str| life.told(&behind(known(position)));
    let rest = format!("binlog.000002:4 later 0-3 1-2 0-9 {FROM_2}");
    assert_eq!(from("0-1-1"), format!("binlog.000001:4 later list(0:0-1-1) 0-2 1-1 {rest}"));
    assert_eq!(from("0-1-2,1-1-1"), rest);
    assert_eq!(
        from("0-1-3,1-1-1"),
        format!("binlog.000002:4 later list(0:0-1-3) 1-2 0-9 {FROM_2}")
    );
    assert_eq!(from("0-1-9,1-1-2"), FROM_2);
    assert_eq!(from("0-1-10,1-1-2"), "binlog.000003:4 later list(0:0-1-10)");
    // Of a domain that the reader does not know it gets all.
    assert!(from("0-1-10").starts_with("binlog.000001:4 later 1-1 binlog.000002:4"));
    // Another primary may have a domain that the log does not have.
    assert_eq!(from("0-1-9,1-1-2,7-7-7"), FROM_2);
    assert_eq!(from("0-1-5,1-1-1"), format!("binlog.000002:4 later 1-2 0-9 {FROM_2}"));
}

#[test]
fn a_dump_tells_the_groups_it_has_passed() {
    let life = Life::new(Checksum::Crc32);
    let passed = |ask: &Ask| {
        let mut dump = Dump::begin(&life.found(), ask, &mut |_| {}).unwrap();
        let (mut word, mut last) = (String::new(), Place::default());
        loop {
            let step = dump.step(life.log.end(), &mut |_| {}).unwrap();
            if let Some((place, how)) = dump.passed() {
                assert!(place > last && place == dump.place());
                last = place;
                word.push(match how {
                    Passed::Sent => 'S',
                    Passed::Known => 'K',
                    Passed::Unwanted => 'U',
                });
            }
            if step != Step::Went {
                return (word, last);
            }
        }
    };
    let all = |word: &str| (word.to_owned(), life.log.end());
    assert_eq!(passed(&at("", 4)), all("SSSSSSS"));
    assert_eq!(passed(&behind(known("0-1-1"))), all("KSSSSSS"));
    assert_eq!(passed(&behind(known("0-1-3,1-1-1"))), all("KSSS"));
    assert_eq!(passed(&behind(known("0-1-10,1-1-2"))), all("K"));
    // A reader that wants a last group may not have those that it does not get.
    let until = Some("0-1-12".parse().unwrap());
    assert_eq!(passed(&behind(Known { until, ..known("0-1-10,1-1-2") })), all("U"));
}

#[test]
fn a_reader_that_has_other_groups_is_refused() {
    let mut life = Life::new(Checksum::Crc32);
    let reason = |life: &Life, known: Known| life.dump(&behind(known)).1.unwrap_err().reason;
    let gtid = |text: &str| text.parse::<Gtid>().unwrap();
    assert_eq!(reason(&life, known("0-1-99")), Reason::Unknown(gtid("0-1-99")));
    assert_eq!(reason(&life, known("0-9-77")), Reason::Unknown(gtid("0-9-77")));
    assert_eq!(reason(&life, known("0-9-1")), Reason::Diverged(gtid("0-9-1")));
    let strict = Known { is_strict: true, ..known("0-1-5,1-1-1") };
    assert_eq!(reason(&life, strict), Reason::Hole(gtid("0-1-5")));
    let ahead = Known { ignores_duplicates: true, ..known("0-1-99,1-1-2") };
    assert_eq!(life.told(&behind(ahead)), "binlog.000003:4 later");
    assert_eq!(
        life.told(&behind(known("0-9-77"))),
        "Error: connecting slave requested to start from GTID 0-9-77, which is not in the master's \
         binlog"
    );
    life.engine.ride(&life.files, &mut life.log.purged(2)).unwrap();
    life.engine.write_all(&life.log).unwrap();
    life.log.remove_purged().unwrap();
    assert_eq!(reason(&life, known("0-1-1,1-1-1")), Reason::TooOld);
    assert_eq!(reason(&life, known("")), Reason::TooOld);
    assert!(life.told(&behind(known("0-1-2,1-1-1"))).starts_with("binlog.000002:4 later 0-3"));
}

#[test]
fn a_domain_that_comes_later_is_checked_then() {
    let mut life = Life::new(Checksum::Crc32);
    life.groups(&[(7, None)]);
    let found = Found { state: "0-1-10,1-1-2".parse().unwrap(), ..life.found() };
    let ask = behind(known("0-1-10,1-1-2,7-7-7"));
    let mut dump = Dump::begin(&found, &ask, &mut |_| {}).unwrap();
    let error = loop {
        match dump.step(life.log.end(), &mut |_| {}) {
            Ok(step) => assert_eq!(step, Step::Went),
            Err(error) => break error,
        }
    };
    assert_eq!(error.reason, Reason::Unknown("7-7-7".parse().unwrap()));
}

#[test]
fn a_dump_ends_with_the_last_group_wanted() {
    let life = Life::new(Checksum::Crc32);
    let upto = |position: &str, until: &str| {
        let until = Some(until.parse().unwrap());
        let ask = behind(Known { until, ..known(position) });
        let (_, result) = life.dump(&ask);
        (life.told(&ask), result)
    };
    let ended = |text: &str| (text.to_owned(), Ok(Step::Ended));
    assert_eq!(upto("", "0-1-2"), ended("binlog.000001:4 whole 0-1 0-2 list(1:0-1-2)"));
    assert_eq!(
        upto("", "0-1-2,1-1-1"),
        ended("binlog.000001:4 whole 0-1 0-2 1-1 list(1:0-1-2,1-1-1)")
    );
    assert_eq!(upto("", ""), ended("binlog.000001:4 whole list(1:)"));
    assert_eq!(upto("0-1-3,1-1-2", "0-1-2"), ended("binlog.000002:4 later list(1:0-1-2,1-1-1)"));
    let (text, result) = upto("0-1-10,1-1-2", "0-1-12");
    assert_eq!(text, "binlog.000003:4 later list(0:0-1-10,1-1-2)");
    assert_eq!(result, Ok(Step::CaughtUp));
}

#[test]
fn readers_without_checksums_get_none_of_them() {
    let life = Life::new(Checksum::Crc32);
    let unaware = Ask { checksum: None, ..at("binlog.000001", 4) };
    let (sent, result) = life.dump(&unaware);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].len(), 40);
    assert_eq!(
        result.unwrap_err().to_string(),
        "Slave can not handle replication events with the checksum that master is configured to \
         log; the first event 'binlog.000001' at 4, the last event read from 'binlog.000001' at 4, \
         the last byte read from 'binlog.000001' at 256."
    );
    let plain = Life::new(Checksum::None);
    let (sent, result) = plain.dump(&unaware);
    assert_eq!((result, sent[0].len()), (Ok(Step::CaughtUp), 40));
    // Compat: NONE says no more than that the reader knows checksums.
    let none = Ask { checksum: Some(Checksum::None), ..at("binlog.000001", 4) };
    let (sent, _) = life.dump(&none);
    let made: Vec<_> = sent.iter().filter(|event| event[..4] == [0; 4]).map(Vec::len).collect();
    assert_eq!(made, [40, 44, 44]);
}

#[test]
fn old_readers_get_events_they_know() {
    let life = Life::new(Checksum::Crc32);
    let bodies = |capability| {
        let (sent, _) = life.dump(&Ask { capability, ..at("binlog.000003", 4) });
        let body = |event: &Vec<u8>| {
            let behind = &event[HEADER_BYTES..event.len() - 4];
            let text = behind.iter().rev().take_while(|byte| **byte != 0).count();
            let text = String::from_utf8_lossy(&behind[behind.len() - text..]).into_owned();
            (event[4], event.len(), u16::from_le_bytes([event[17], event[18]]), text)
        };
        sent.iter().for_each(|event| assert!(word(event).is_some() || !event.is_empty()));
        sent.iter().skip(2).take(3).map(body).collect::<Vec<_>>()
    };
    let event = |kind, length, flags, text: &str| (kind, length, flags, text.to_owned());
    let old = bodies(Capability(0));
    assert_eq!(old[0], event(2, 59, 8, "# Dummy event replacin"));
    assert_eq!(old[1], event(2, 40, 8, "# D"));
    assert_eq!(old[2], event(2, 42, 8, "BEGIN"));
    let holes = bodies(Capability::HOLES);
    assert_eq!(holes[0], event(2, 42, 8, "BEGIN"));
    assert_eq!((bodies(Capability::CHECKPOINT)[0].0, bodies(Capability::GTID)[0].0), (161, 163));
    // The first list is empty, which is too short for a statement.
    let (sent, _) = life.dump(&Ask { capability: Capability(0), ..at("binlog.000001", 4) });
    assert_eq!(sent[2].len(), 29);
    assert_eq!((sent[2][4], &sent[2][HEADER_BYTES..25]), (14, &b"\x01\0\0\0!\x01"[..]));
}

#[test]
fn damage_ends_a_dump() {
    let life = Life::new(Checksum::Crc32);
    let mut bytes = life.files.all()[&2].clone();
    let group = bytes.len() as u64;
    bytes[(group - 60) as usize] ^= 1;
    life.files.put(2, &bytes);
    let (sent, result) = life.dump(&at("binlog.000001", 4));
    let refusal = result.unwrap_err();
    assert_eq!(refusal.reason, Reason::Damaged);
    assert!(refusal.to_string().starts_with(
        "event read from binlog did not pass crc check; the first event 'binlog.000001' at 4, the \
         last event read from 'binlog.000002' at "
    ));
    assert!(sent.len() > 10);
}

#[test]
fn a_dump_does_not_pass_the_allowed_place() {
    let mut life = Life::new(Checksum::Crc32);
    let upto = life.log.end();
    life.groups(&[(0, None)]);
    life.rotate();
    let mut sent = 0;
    let found = Found { upto, ..life.found() };
    let mut dump = Dump::begin(&found, &at("binlog.000003", 4), &mut |_| sent += 1).unwrap();
    let mut run = |dump: &mut Dump<'_>, upto: Place| {
        while dump.step(upto, &mut |_| sent += 1).unwrap() == Step::Went {}
        std::mem::take(&mut sent)
    };
    // Name, format, list, checkpoint, and a group of four events.
    assert_eq!(run(&mut dump, upto), 7);
    assert_eq!(run(&mut dump, upto), 0);
    assert_eq!(dump.file(), 3);
    let heartbeat = dump.heartbeat();
    assert_eq!(u64::from(u32::from_le_bytes(heartbeat[13..17].try_into().unwrap())), upto.offset);
    // The group, the name of the next file twice, and that file's first three events.
    assert_eq!(run(&mut dump, life.log.end()), 3 + 2 + 3);
    assert_eq!(dump.file(), 4);
}

#[test]
fn marked_events_are_left_out_on_demand() {
    let mut life = Life::new(Checksum::Crc32);
    let mut cache = life.log.cache();
    let marked = selkie_replication::codec::flags::SKIP_REPLICATION;
    cache.add(&crate::engine::query(b"marked"), 1, 1, marked).unwrap();
    let mut group = life.log.group(head(0, None), &mut cache);
    life.engine.ride(&life.files, &mut group).unwrap();
    life.engine.write_all(&life.log).unwrap();
    let count = |marked| life.dump(&Ask { marked, ..at("binlog.000003", 4) }).0.len();
    assert_eq!(count(MarkedEvents::Wanted), count(MarkedEvents::Unwanted) + 1);
}
