//! The stream of a primary as its replica takes it: whole groups, filters, and any bytes (R11).
//!
//! Must not need a server: the events are those of the corpus.

mod common;

use std::sync::LazyLock;

use proptest::prelude::*;
use selkie_replication::codec::{Checksum, GtidListEvent};
use selkie_replication::file::Events;
use selkie_replication::gtid::Position;
use selkie_replication::replica::{Course, Place, RelayWriter, Stream, Taken, Wants};
use selkie_replication::{Event, EventKind, Header};

const WRITER: RelayWriter<'static> = RelayWriter { version: "v", server_id: 2, timestamp: 7 };

/// The files of the corpus by name.
static FILES: LazyLock<Vec<(String, Vec<u8>)>> =
    LazyLock::new(|| common::corpus().into_iter().map(|found| (found.name, found.log)).collect());

/// The events of a file as a primary sends them, with the name first.
fn sent(file: &[u8]) -> (Checksum, Vec<Vec<u8>>) {
    let read: Vec<Vec<u8>> = Events::new(file)
        .map_while(Result::ok)
        .map(|placed| placed.frame.bytes().to_vec())
        .collect();
    let mut events = Events::new(file);
    events.next();
    let checksum = events.format().map_or(Checksum::None, |format| format.checksum);
    let format = Course::new(checksum);
    let place = Place { file: "binlog.000001".to_owned(), offset: 4 };
    let mut all = vec![WRITER.rotate(&place, format.format())];
    all.extend(read);
    (checksum, all)
}

/// Events that a replica keeps of others, with the groups it has then.
fn kept(wants: Wants, checksum: Checksum, events: &[Vec<u8>]) -> (Stream, Vec<Vec<u8>>) {
    let mut stream = Stream::new(wants, checksum, Position::default());
    let (mut kept, mut whole) = (Vec::new(), 0);
    for event in events {
        let place = stream.complete().clone();
        let taken = stream.take(event).unwrap();
        if let Taken::Kept { breaks, ends } = taken {
            if breaks {
                kept.truncate(whole);
            }
            kept.push(event.clone());
            if ends {
                whole = kept.len();
            } else {
                assert_eq!(*stream.complete(), place);
            }
        }
    }
    (stream, kept)
}

fn numbers(events: &[Vec<u8>], checksum: Checksum) -> Vec<(u32, u32, u64)> {
    let course = Course::new(checksum);
    let format = selkie_replication::Format::new("10.11.19-MariaDB", 0, checksum);
    let gtid = |event: &Vec<u8>| {
        let frame = course.split(event).unwrap();
        match Event::decode(&frame, &format) {
            Ok(Event::Gtid(event)) => Some((event.domain, frame.header.server_id, event.seq)),
            _ => None,
        }
    };
    events.iter().filter_map(gtid).collect()
}

#[test]
fn all_of_a_file_is_kept_and_complete() {
    for (name, file) in FILES.iter() {
        let (checksum, events) = sent(file);
        let (stream, kept) = kept(Wants::default(), checksum, &events);
        let stops = events.iter().filter(|event| event[4] == EventKind::STOP.0).count();
        assert_eq!(kept.len() + stops, events.len(), "{name}");
        let last = Header::decode(events.last().unwrap()).unwrap();
        if !matches!(last.kind, EventKind::ROTATE | EventKind::FORMAT_DESCRIPTION) {
            assert!(!stream.is_within_group(), "{name}");
            assert_eq!(stream.complete().offset as u32, last.end_log_pos, "{name}");
        }
        let mut position = Position::default();
        for (domain, server, seq) in numbers(&events, checksum) {
            position.set(selkie_replication::Gtid { domain, server, seq });
        }
        assert_eq!(*stream.gtids(), position, "{name}");
    }
}

#[test]
fn groups_of_other_servers_and_domains_are_passed_over() {
    for (name, file) in FILES.iter() {
        let (checksum, events) = sent(file);
        let all = numbers(&events, checksum);
        let Some((domain, server, _)) = all.last().copied() else { continue };
        let wants = [
            Wants { own_server: Some(server), ..Wants::default() },
            Wants { ignored_servers: vec![server], ..Wants::default() },
            Wants { ignored_domains: vec![domain], ..Wants::default() },
            Wants { do_domains: vec![domain + 1], ..Wants::default() },
        ];
        for (at, wants) in wants.into_iter().enumerate() {
            let (mut stream, kept) = kept(wants, checksum, &events);
            let left = numbers(&kept, checksum);
            let is_left = |(d, s, _): &(u32, u32, u64)| match at {
                0 | 1 => *s != server,
                2 => *d != domain,
                _ => false,
            };
            assert_eq!(left, all.iter().copied().filter(is_left).collect::<Vec<_>>(), "{name}");
            assert!(stream.gtids().last(domain).is_some(), "{name}");
            // It is told once that groups were passed over.
            let told = stream.take_passed(&WRITER).unwrap();
            assert!(stream.take_passed(&WRITER).is_none());
            let mut course = stream.course().clone();
            let length = Header::decode(&told).unwrap().event_length as usize;
            let (rotate, list) = told.split_at(length);
            let frame = course.split(rotate).unwrap();
            course.pass(&frame).unwrap();
            assert_eq!(course.place(), stream.complete());
            let frame = course.split(list).unwrap();
            frame.verify().unwrap();
            let event = Event::decode(&frame, course.format()).unwrap();
            let Event::GtidList(list) = event else { panic!("{name}: {event:?}") };
            assert_eq!(list.flags, GtidListEvent::IGNORED);
            let told = list.gtids.iter().copied().find(|gtid| gtid.domain == domain);
            assert_eq!(told, stream.gtids().last(domain), "{name}");
        }
    }
}

#[test]
fn a_group_without_an_end_is_broken_off() {
    let found = FILES.iter().find(|(_, file)| numbers_of(file).len() > 3).unwrap();
    let (checksum, events) = sent(&found.1);
    let begins = |event: &Vec<u8>| event[4] == EventKind::XID.0;
    let commit = events.iter().position(begins).unwrap();
    let cut: Vec<_> = events[..commit].iter().chain(&events[..2]).cloned().collect();
    let mut stream = Stream::new(Wants::default(), checksum, Position::default());
    let fates: Vec<_> = cut.iter().map(|event| stream.take(event).unwrap()).collect();
    assert_eq!(fates[commit], Taken::Kept { breaks: true, ends: true });
    assert!(!stream.is_within_group());
}

fn numbers_of(file: &[u8]) -> Vec<(u32, u32, u64)> {
    let (checksum, events) = sent(file);
    numbers(&events, checksum)
}

proptest! {
    /// Any bytes give a value or an error. A changed event with a checksum is never taken. Without
    /// one it may be, for instance as an event of another kind, and so may a description of the
    /// format: its version says whether there is a checksum. A later event is then the error.
    #[test]
    fn damage_never_panics(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..8, any::<bool>()), 1..6),
    ) {
        let (_, file) = which.get(&FILES);
        let (checksum, mut events) = sent(file);
        let (mut changed, mut trusted) = (Vec::new(), checksum != Checksum::None);
        for (event, byte, bit, cuts) in changes {
            let at = event.index(events.len());
            let event = &mut events[at];
            if event.is_empty() {
                continue;
            }
            trusted &= event.get(4) != Some(&EventKind::FORMAT_DESCRIPTION.0);
            let byte = byte.index(event.len());
            if cuts {
                event.truncate(byte);
            } else {
                event[byte] ^= 1 << bit;
            }
            changed.push(at);
        }
        let mut stream = Stream::new(Wants::default(), checksum, Position::default());
        for (at, event) in events.iter().enumerate() {
            let place = stream.complete().clone();
            if stream.take(event).is_err() {
                // The state stays as it was: a reader asks again from there.
                prop_assert_eq!(stream.complete(), &place);
                let from_changed = if trusted {
                    changed.contains(&at)
                } else {
                    changed.iter().any(|changed| *changed <= at)
                };
                prop_assert!(from_changed);
                break;
            }
        }
    }

    #[test]
    fn garbage_never_panics(events in prop::collection::vec(
        prop::collection::vec(any::<u8>(), 0..80), 0..20)) {
        let mut stream = Stream::new(Wants::default(), Checksum::None, Position::default());
        for mut event in events {
            if event.len() > 12 {
                let length = event.len() as u32;
                event[9..13].copy_from_slice(&length.to_le_bytes());
            }
            let _ = stream.take(&event);
        }
    }
}
