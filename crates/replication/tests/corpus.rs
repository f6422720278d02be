//! Files of MariaDB 10.11, decoded and encoded again: the bytes stay the same, and rows are shown
//! as by `mariadb-binlog`.
//!
//! Must not expect anything that this crate wrote: all expected bytes and lines are MariaDB's.

mod common;

use common::corpus;
use selkie_replication::codec::{Rows, StatusVar, StatusVars, TableMap, pack, unpack};
use selkie_replication::file::{Damage, Events, MAGIC};
use selkie_replication::images::{Images, Shape, columns};
use selkie_replication::show::Printer;
use selkie_replication::{DecodeError, Event, EventKind};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn events_are_encoded_as_they_were() {
    for file in corpus() {
        let mut again = MAGIC.to_vec();
        let mut events = Events::new(&file.log);
        while let Some(placed) = events.next() {
            let placed = placed.unwrap_or_else(|error| panic!("{}: {error}", file.name));
            let begin = again.len();
            let format = events.format().unwrap();
            placed.event.encode(&placed.frame.header, format, &mut again);
            let place = (&file.name, placed.offset);
            assert_eq!(&again[begin..], placed.frame.bytes(), "{place:?}: {:?}", placed.event);
        }
        assert_eq!(again, file.log, "{}", file.name);
    }
}

#[test]
fn all_kinds_of_events_are_there() {
    let mut seen = BTreeSet::new();
    for file in corpus() {
        for placed in Events::new(&file.log) {
            let event = placed.unwrap().event;
            assert!(!matches!(event, Event::Unknown(..)), "{event:?}");
            seen.insert(event.kind());
        }
    }
    let missing: Vec<EventKind> = [2, 4, 5, 9, 11, 13, 14, 15, 16, 17, 18, 19, 23, 24, 25]
        .into_iter()
        .chain([38, 160, 161, 162, 163, 165, 166, 167, 168])
        .map(EventKind)
        .filter(|kind| !seen.contains(kind))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn check_status(vars: StatusVars<'_>) {
    let mut again = Vec::new();
    for found in vars.iter() {
        let found = found.unwrap();
        assert!(!matches!(found, StatusVar::Unknown(..) | StatusVar::Other(..)), "{found:?}");
        found.encode(&mut again);
    }
    assert_eq!(again, vars.0);
}

#[test]
fn status_variables_are_encoded_as_they_were() {
    for file in corpus() {
        for placed in Events::new(&file.log) {
            match placed.unwrap().event {
                Event::Query(query) | Event::QueryCompressed(query) => check_status(query.status),
                Event::ExecuteLoadQuery(load) => check_status(load.query.status),
                _ => {}
            }
        }
    }
}

fn check_table(map: &TableMap<'_>) {
    let (mut types, mut metadata) = (Vec::new(), Vec::new());
    for column in columns(map).unwrap() {
        column.kind.encode(&mut types, &mut metadata);
    }
    assert_eq!((&types[..], &metadata[..]), (map.types, map.metadata));
    let mut optional = Vec::new();
    for field in map.optional.iter() {
        field.unwrap().encode(&mut optional);
    }
    assert_eq!(optional, map.optional.0);
}

fn check_rows(rows: &Rows<'_>, map: &TableMap<'_>) {
    let columns = columns(map).unwrap();
    let bytes = rows.plain_images(1 << 24).unwrap();
    let shapes: Vec<Shape> = [rows.present, rows.present_after]
        .iter()
        .filter(|present| !present.is_empty())
        .map(|present| Shape::new(&columns, present).unwrap())
        .collect();
    let (mut images, mut values, mut again) = (Images::new(&bytes), Vec::new(), Vec::new());
    while !images.is_empty() {
        for shape in &shapes {
            images.next(shape, &mut values).unwrap();
            assert!(shape.put(&values, &mut again));
        }
    }
    assert_eq!(again, &bytes[..]);
}

#[test]
fn tables_and_rows_are_encoded_as_they_were() {
    let mut rows_events = 0;
    for file in corpus() {
        let mut tables = BTreeMap::new();
        for placed in Events::new(&file.log) {
            match placed.unwrap().event {
                Event::TableMap(map) => {
                    check_table(&map);
                    tables.insert(map.table_id, map);
                }
                Event::Rows(rows) => {
                    rows_events += 1;
                    check_rows(&rows, &tables[&rows.table_id]);
                }
                _ => {}
            }
        }
    }
    assert!(rows_events > 40);
}

#[test]
fn rows_are_shown_as_by_the_tool_of_mariadb() {
    for file in corpus() {
        let (mut printer, mut text) = (Printer::new(), Vec::new());
        for placed in Events::new(&file.log) {
            printer.put(&placed.unwrap(), &mut text).unwrap();
        }
        let is_row = |line: &&[u8]| line.starts_with(b"###") && !line.starts_with(b"### ALTER");
        let mine: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(is_row).collect();
        let theirs: Vec<&[u8]> =
            file.rows.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        for (mine, theirs) in mine.iter().zip(&theirs) {
            let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
            assert_eq!(text(mine), text(theirs), "{}", file.name);
            assert_eq!(mine, theirs);
        }
        assert_eq!(mine.len(), theirs.len(), "{}", file.name);
    }
}

#[test]
fn what_is_packed_is_what_was_unpacked() {
    let mut blocks = 0;
    for file in corpus() {
        for placed in Events::new(&file.log) {
            let block = match placed.unwrap().event {
                Event::QueryCompressed(query) => query.text,
                Event::Rows(rows) if rows.plain_images(1 << 24).unwrap() != rows.images => {
                    rows.images
                }
                _ => continue,
            };
            blocks += 1;
            let plain = unpack(block, 1 << 24).unwrap();
            let mut again = Vec::new();
            pack(&plain, &mut again);
            assert_eq!(unpack(&again, plain.len()).unwrap(), plain);
            assert!(unpack(&again, plain.len() - 1).is_err());
            assert!(unpack(&block[..block.len() - 1], 1 << 24).is_err());
        }
    }
    assert!(blocks >= 4);
}

#[test]
fn a_flipped_bit_is_found() {
    let files = corpus();
    let file = files.iter().find(|file| file.name == "group_commit").unwrap();
    for at in 0..file.log.len() {
        let mut log = file.log.clone();
        log[at] ^= 0x10;
        let failed = Events::new(&log).any(|placed| placed.is_err());
        assert!(failed, "a flipped bit of byte {at}");
    }
}

#[test]
fn a_file_that_was_not_closed_is_none_that_is_damaged() {
    let mut log = corpus().remove(0).log;
    // The low byte of the first event's flags.
    log[4 + 17] |= 1;
    assert!(Events::new(&log).all(|placed| placed.is_ok()));
}

#[test]
fn a_file_that_was_cut_is_torn_but_between_events() {
    let files = corpus();
    let file = files.iter().find(|file| file.name == "group_commit").unwrap();
    let ends: BTreeSet<u64> = Events::new(&file.log)
        .map(|placed| placed.unwrap())
        .map(|placed| placed.offset + placed.frame.bytes().len() as u64)
        .collect();
    for length in 0..file.log.len() {
        let last = Events::new(&file.log[..length]).last().unwrap();
        match last {
            Ok(_) => assert!(ends.contains(&(length as u64)), "cut at {length}"),
            Err(error) => assert!(matches!(error.damage, Damage::Torn(_) | Damage::Magic)),
        }
    }
}

#[test]
fn an_encrypted_file_is_read_to_where_encryption_starts() {
    let log = include_bytes!("corpus/encrypted.binlog");
    let mut events = Events::new(log);
    let first: Vec<EventKind> =
        events.by_ref().take(2).map(|placed| placed.unwrap().event.kind()).collect();
    assert_eq!(first, [EventKind::FORMAT_DESCRIPTION, EventKind::START_ENCRYPTION]);
    assert_eq!(events.next().unwrap().unwrap_err().damage, Damage::Encrypted);
    assert!(events.next().is_none());
}

#[test]
fn damages_are_told_apart() {
    let log = corpus().remove(0).log;
    let damage = |log: &[u8]| Events::new(log).find_map(|placed| placed.err()).map(|e| e.damage);
    assert_eq!(damage(b"not a binary log"), Some(Damage::Magic));
    let mut without_format = MAGIC.to_vec();
    without_format.extend_from_slice(&log[256..]);
    assert_eq!(damage(&without_format), Some(Damage::NoFormat(EventKind::GTID_LIST)));
    let mut shifted = log[..256].to_vec();
    shifted.extend_from_slice(&log[285..]);
    assert!(matches!(damage(&shifted), Some(Damage::Place { .. })));
    let mut short = log.clone();
    short[256 + 9..256 + 13].copy_from_slice(&18u32.to_le_bytes());
    assert_eq!(damage(&short), Some(Damage::Length(18)));
    let mut flipped = log;
    flipped[256 + 20] ^= 1;
    let checksum = Some(Damage::Event(DecodeError::Checksum { stored: 0, computed: 0 }));
    let same_kind = std::mem::discriminant(&damage(&flipped)) == std::mem::discriminant(&checksum);
    assert!(same_kind);
}
