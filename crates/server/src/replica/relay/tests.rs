//! Relay files beside a model: what was published is read, once and in order.
//!
//! Must not need a primary: the events are made here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use selkie_replication::codec::{
    Checksum, Event, Format, GtidEvent, Header, Query, Rotate, StatusVars, Xid, flags,
};
use selkie_replication::file::Events;

use super::*;

const NOW: Duration = Duration::ZERO;
const SETTINGS: RelaySettings = RelaySettings { server_id: 2, max_size: 4096, verify: true };

/// A directory that goes with its test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("selkie-relay-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> LogNames {
        LogNames::new("relay", None, "", &self.0)
    }

    fn bytes(&self, number: u32) -> Vec<u8> {
        std::fs::read(self.0.join(self.names().file(number))).unwrap()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A primary that writes.
struct Primary {
    format: Format,
    end: u64,
}

impl Primary {
    fn new() -> Self {
        Self { format: Format::new("10.11.19-MariaDB", 7, Checksum::Crc32), end: 4 }
    }

    fn event(&mut self, event: &Event<'_>) -> Vec<u8> {
        let mut header = Header::new(event.kind(), 9, 1);
        let mut out = Vec::new();
        event.encode(&header, &self.format, &mut out);
        self.end += out.len() as u64;
        header.end_log_pos = self.end as u32;
        out.clear();
        event.encode(&header, &self.format, &mut out);
        out
    }

    /// The name of its file, and the format.
    fn begin(&mut self) -> Vec<Vec<u8>> {
        let mut header = Header::new(selkie_replication::EventKind::ROTATE, 0, 1);
        header.flags = flags::ARTIFICIAL;
        let rotate = Event::Rotate(Rotate { position: 4, file: b"binlog.000003" });
        let mut out = Vec::new();
        rotate.encode(&header, &self.format, &mut out);
        let format = Event::FormatDescription(self.format.clone());
        vec![out, self.event(&format)]
    }

    fn group(&mut self, seq: u64, filler: usize) -> Vec<Vec<u8>> {
        let text = "x".repeat(filler);
        let query = Query {
            thread_id: 1,
            exec_time: 0,
            error_code: 0,
            status: StatusVars(&[]),
            database: b"d",
            text: text.as_bytes(),
        };
        vec![
            self.event(&Event::Gtid(GtidEvent::new(seq, 0, 0))),
            self.event(&Event::Query(query)),
            self.event(&Event::Xid(Xid(seq))),
        ]
    }
}

fn all(reader: &mut RelayReader) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| reader.next(NOW).unwrap()).collect()
}

/// Events that the primary wrote, without those made for a file's beginning.
fn of_primary(events: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let is_made = |event: &Vec<u8>| Header::decode(event).unwrap().has(flags::ARTIFICIAL);
    events.into_iter().filter(|event| !is_made(event)).collect()
}

#[test]
fn events_are_read_as_they_came_over_the_ends_of_files() {
    let directory = Directory::new("read");
    let relay = RelayLog::open(directory.names(), SETTINGS).unwrap();
    assert!(relay.is_fresh());
    relay.begin_stream(Checksum::Crc32).unwrap();
    let mut reader = relay.reader();
    assert!(reader.next(NOW).unwrap().is_none());
    let mut primary = Primary::new();
    let mut sent = primary.begin();
    relay.append(&sent.concat()).unwrap();
    assert_eq!(all(&mut reader), sent);
    assert_eq!(reader.course().place().offset, primary.end);
    let mut read = of_primary(sent.clone());
    let mut places = vec![(reader.place(), 2)];
    for seq in 1..30 {
        let group = primary.group(seq, 600);
        relay.append(&group.concat()).unwrap();
        sent.extend(group);
        read.extend(of_primary(all(&mut reader)));
        assert_eq!(reader.course().place().offset, primary.end);
        places.push((reader.place(), sent.len()));
        assert!(reader.is_at_end());
    }
    assert_eq!(read, of_primary(sent.clone()));
    let files = relay.files();
    assert!(files.len() > 3, "{files:?}");
    assert_eq!(relay.last(), reader.place());
    assert_eq!(of_primary(all(&mut relay.reader())), of_primary(sent.clone()));
    // Every file is whole, and each but the last says which one follows.
    for (at, (name, length)) in files.iter().enumerate() {
        let bytes = directory.bytes(at as u32 + 1);
        assert_eq!(bytes.len() as u64, *length);
        let last = Events::new(&bytes).map(|event| event.unwrap().event).last().unwrap();
        if let Some((next, _)) = files.get(at + 1) {
            let rotate = Rotate { position: 4, file: next.as_bytes() };
            assert_eq!(last, Event::Rotate(rotate), "{name}");
        }
    }
    // A reader that begins in the middle gets the format and the place first.
    for (place, behind) in places {
        let mut reader = relay.reader_at(&place).unwrap();
        let format = reader.next(NOW).unwrap().unwrap();
        assert!(Header::decode(&format).unwrap().has(flags::ARTIFICIAL));
        assert_eq!(of_primary(all(&mut reader)), sent[behind..]);
    }
}

#[test]
fn what_is_not_published_is_cut() {
    let directory = Directory::new("cut");
    let relay = RelayLog::open(directory.names(), SETTINGS).unwrap();
    let mut primary = Primary::new();
    relay.begin_stream(Checksum::Crc32).unwrap();
    relay.append(&primary.begin().concat()).unwrap();
    let mut reader = relay.reader();
    assert_eq!(all(&mut reader).len(), 2);
    let group = primary.group(1, 10_000);
    relay.push(&group[0]).unwrap();
    relay.push(&group[1]).unwrap();
    assert!(reader.next(NOW).unwrap().is_none());
    relay.cut();
    relay.push(&group[0]).unwrap();
    relay.push(&group[1]).unwrap();
    assert!(reader.next(NOW).unwrap().is_none());
    relay.append(&group[2]).unwrap();
    assert_eq!(all(&mut reader), group);
    // A new stream ends the rest of a group, and begins a file.
    relay.push(&primary.group(2, 5)[0]).unwrap();
    relay.begin_stream(Checksum::None).unwrap();
    assert!(of_primary(all(&mut reader)).is_empty());
    assert_eq!(relay.files().len(), 4);
    assert!(relay.push(b"no event").is_err());
}

#[test]
fn flush_begins_a_file_behind_a_whole_group() {
    let directory = Directory::new("flush");
    let relay = RelayLog::open(directory.names(), RelaySettings { max_size: 1 << 20, ..SETTINGS });
    let relay = relay.unwrap();
    let mut primary = Primary::new();
    relay.begin_stream(Checksum::Crc32).unwrap();
    relay.append(&primary.begin().concat()).unwrap();
    let files = relay.files().len();
    relay.flush().unwrap();
    assert_eq!(relay.files().len(), files + 1);
    let group = primary.group(1, 100);
    relay.push(&group[0]).unwrap();
    relay.flush().unwrap();
    relay.append(&group[1..].concat()).unwrap();
    assert_eq!(relay.files().len(), files + 1);
    let next = primary.group(2, 100);
    relay.append(&next.concat()).unwrap();
    assert_eq!(relay.files().len(), files + 2);
    let groups: Vec<Vec<u8>> = of_primary(all(&mut relay.reader()));
    assert!(groups.ends_with(&[group, next].concat()));
}

#[test]
fn files_below_the_applied_one_go() {
    let directory = Directory::new("purge");
    std::fs::write(directory.0.join("relay.000009"), b"an earlier life").unwrap();
    std::fs::write(directory.0.join("relay-b.000009"), b"another connection").unwrap();
    let relay = RelayLog::open(directory.names(), SETTINGS).unwrap();
    assert!(!directory.0.join("relay.000009").exists());
    let mut primary = Primary::new();
    relay.begin_stream(Checksum::Crc32).unwrap();
    relay.append(&primary.begin().concat()).unwrap();
    (1..20).for_each(|seq| relay.append(&primary.group(seq, 900).concat()).unwrap());
    let before = relay.space();
    let mut reader = relay.reader();
    let place = relay.files()[2].0.clone();
    relay.purge_below(&place).unwrap();
    assert!(relay.space() < before);
    assert_eq!(relay.files()[0].0, place);
    let index = std::fs::read_to_string(directory.0.join("relay.index")).unwrap();
    let lines: Vec<String> = relay.files().iter().map(|(name, _)| format!("./{name}")).collect();
    assert_eq!(index.lines().collect::<Vec<_>>(), lines);
    assert!(reader.next(NOW).is_err());
    let mut reader = relay.reader();
    assert!(reader.next(NOW).unwrap().is_some());
    relay.reset().unwrap();
    assert!(reader.next(NOW).is_err());
    assert!(relay.is_fresh());
    assert_eq!(relay.files().len(), 1);
    assert!(Path::new(&directory.0).join("relay-b.000009").exists());
}

#[test]
fn damage_is_noticed() {
    let directory = Directory::new("damage");
    let relay = RelayLog::open(directory.names(), SETTINGS).unwrap();
    let mut primary = Primary::new();
    relay.begin_stream(Checksum::Crc32).unwrap();
    relay.append(&primary.begin().concat()).unwrap();
    let at = relay.last();
    relay.append(&primary.group(1, 100).concat()).unwrap();
    let path = directory.0.join(&at.file);
    let whole = std::fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[at.offset as usize + 25] ^= 1;
    std::fs::write(&path, &flipped).unwrap();
    let error = relay.reader_at(&at).unwrap().next_behind_format().unwrap_err();
    assert!(is_bad_checksum(&error));
    relay.set(RelaySettings { verify: false, ..SETTINGS });
    assert!(relay.reader_at(&at).unwrap().next_behind_format().is_ok());
    std::fs::write(&path, &whole[..at.offset as usize + 30]).unwrap();
    assert!(relay.reader_at(&at).and_then(RelayReader::next_behind_format).is_err());
    std::fs::write(&path, &whole).unwrap();
    assert!(relay.reader_at(&Place { offset: at.offset + 1, ..at }).is_err());
}

#[test]
fn a_reader_waits_for_more() {
    let directory = Directory::new("wait");
    let relay = RelayLog::open(directory.names(), SETTINGS).unwrap();
    let mut primary = Primary::new();
    relay.begin_stream(Checksum::Crc32).unwrap();
    let (mut reader, other) = (relay.reader(), relay.clone());
    let waiting = std::thread::spawn(move || {
        let first = reader.next(Duration::from_secs(60)).unwrap();
        (first, all(&mut reader), reader.next(Duration::from_secs(60)).unwrap())
    });
    std::thread::sleep(Duration::from_millis(20));
    let events = primary.begin();
    other.append(&events.concat()).unwrap();
    while !waiting.is_finished() {
        other.wake();
        std::thread::sleep(Duration::from_millis(2));
    }
    let (first, rest, last) = waiting.join().unwrap();
    assert_eq!((first, rest.len(), last), (Some(events[0].clone()), 1, None));
}

impl RelayReader {
    /// The next event that is not made for the reader.
    fn next_behind_format(mut self) -> io::Result<Option<Vec<u8>>> {
        self.before.clear();
        self.next(NOW)
    }
}

/// State of an applier that has applied all groups up to one.
fn applied(seq: u64, end: u64) -> Known {
    let gtid = selkie_replication::Gtid { domain: 0, server: 1, seq };
    let place = match seq {
        0 => Place::default(),
        _ => Place { file: "binlog.000003".to_owned(), offset: end },
    };
    Known { gtids: (seq > 0).then_some(gtid).into_iter().collect(), place, by_gtids: true }
}

/// Groups that a reader gives from a place of a walk on.
fn from(relay: &RelayLog, kept: &Kept) -> Vec<u64> {
    let (number, offset) = kept.first;
    let place = Place { file: relay.names().file(number), offset };
    seqs(&all(&mut relay.reader_at(&place).unwrap()))
}

fn seqs(events: &[Vec<u8>]) -> Vec<u64> {
    let of_kind = |event: &&Vec<u8>| event[4] == selkie_replication::EventKind::GTID.0;
    let seq = |event: &Vec<u8>| u64::from_le_bytes(event[19..27].try_into().unwrap());
    events.iter().filter(of_kind).map(seq).collect()
}

/// KEPT-1, KEPT-2: whatever a crash left of the files, the groups behind the applied one are used
/// up to the last whole one, by both kinds of position.
#[test]
fn another_life_goes_on_with_whole_groups_behind_the_applied_one() {
    const GROUPS: u64 = 27;
    for (applied_seq, cut) in
        [(0, 0), (0, 1), (7, 3), (7, 400), (26, 10), (27, 0), (27, 5), (27, 400)]
    {
        for by_gtids in [true, false] {
            let directory = Directory::new("kept");
            let relay = RelayLog::open(directory.names(), SETTINGS).unwrap();
            relay.begin_stream(Checksum::Crc32).unwrap();
            let mut primary = Primary::new();
            relay.append(&primary.begin().concat()).unwrap();
            let mut ends = vec![primary.end];
            for seq in 1..=GROUPS {
                relay.append(&primary.group(seq, 500).concat()).unwrap();
                ends.push(primary.end);
            }
            // A group that did not come whole, in the file of the last one.
            assert!(relay.files().pop().unwrap().1 < SETTINGS.max_size);
            let rest = primary.group(GROUPS + 1, 500);
            relay.push(&rest[0]).unwrap();
            let (name, length) = relay.files().pop().unwrap();
            let path = directory.0.join(&name);
            drop(relay);
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(length + rest[0].len() as u64 - cut).unwrap();

            let known = Known { by_gtids, ..applied(applied_seq, ends[applied_seq as usize]) };
            let (relay, kept) = RelayLog::reopen(directory.names(), SETTINGS, known).unwrap();
            let lost = u64::from(cut > rest[0].len() as u64);
            if applied_seq > GROUPS - lost {
                // The files end before what is applied.
                assert_eq!(kept, None);
                assert!(relay.is_fresh());
                continue;
            }
            let kept = kept.unwrap();
            let last = GROUPS - lost;
            assert_eq!(from(&relay, &kept), (applied_seq + 1..=last).collect::<Vec<_>>());
            assert_eq!(kept.received.offset, ends[last as usize]);
            let new = if applied_seq < last { format!("0-1-{last}") } else { String::new() };
            assert!(!by_gtids || kept.gtids.to_string() == new, "{kept:?}");
            assert!(!relay.is_fresh());
            // The next stream goes on.
            relay.begin_stream(Checksum::Crc32).unwrap();
            relay.append(&primary.begin()[0]).unwrap();
            let mut next = Primary { end: ends[last as usize], ..Primary::new() };
            relay.append(&next.group(last + 1, 500).concat()).unwrap();
            assert_eq!(from(&relay, &kept), (applied_seq + 1..=last + 1).collect::<Vec<_>>());
        }
    }
}

#[test]
fn files_that_do_not_follow_what_is_applied_are_not_used() {
    let directory = Directory::new("gap");
    let relay = RelayLog::open(directory.names(), SETTINGS).unwrap();
    relay.begin_stream(Checksum::Crc32).unwrap();
    let mut primary = Primary::new();
    relay.append(&primary.begin().concat()).unwrap();
    for seq in 5..40 {
        relay.append(&primary.group(seq, 500).concat()).unwrap();
    }
    let numbers: Vec<_> = relay.0.public.lock().files.iter().map(|(number, _)| *number).collect();
    drop(relay);
    let reopened = |known| {
        let walked = super::kept::walk(&directory.names(), known).unwrap();
        walked.map(|kept| kept.gtids.to_string())
    };
    // Lower numbers may come later in a domain, so it is not known where 0-1-20 from elsewhere is.
    let other = selkie_replication::Gtid { domain: 0, server: 9, seq: 20 };
    let elsewhere = Known { gtids: [other].into_iter().collect(), ..applied(20, 0) };
    assert_eq!(reopened(elsewhere), None);
    assert_eq!(reopened(applied(50, 0)), None);
    assert_eq!(reopened(Known { by_gtids: false, ..applied(4, 9) }), None);
    assert_eq!(reopened(applied(4, 0)).unwrap(), "0-1-39");
    // A file in the middle is gone: those behind it are not used.
    let gone = numbers[2];
    std::fs::remove_file(directory.0.join(directory.names().file(gone))).unwrap();
    let (relay, kept) = RelayLog::reopen(directory.names(), SETTINGS, applied(4, 0)).unwrap();
    assert_eq!(kept.unwrap().end.0, gone - 1);
    assert_eq!(relay.files().len(), 2);
    assert!(!directory.0.join(directory.names().file(gone + 1)).exists());
}
