//! The rows of `SHOW BINLOG EVENTS` for the files of the corpus, beside those of MariaDB 10.11.
//!
//! Must not expect a text that MariaDB did not give.

mod common;

use common::corpus;
use selkie_replication::codec::{
    Incident, Intvar, OptionalFields, TableMap, UserValue, UserVar, XaPrepare,
};
use selkie_replication::file::Events;
use selkie_replication::show::info;
use selkie_replication::{Event, Header};

/// Bytes as the recorded files have them.
fn escaped(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        b'\\' => "\\x5c".to_owned(),
        32..127 => char::from(*byte).to_string(),
        byte => format!("\\x{byte:02x}"),
    };
    bytes.iter().map(one).collect()
}

#[test]
fn events_are_shown_as_by_mariadb() {
    for file in corpus() {
        let mut expected = file.events.lines();
        for placed in Events::new(&file.log) {
            let placed = placed.unwrap();
            let header = &placed.frame.header;
            let text = escaped(&info(header, &placed.event, 1 << 20).unwrap());
            let (kind, server) = (header.kind.name(), header.server_id);
            let line =
                format!("{}\t{kind}\t{server}\t{}\t{text}", placed.offset, header.end_log_pos);
            assert_eq!(Some(line.as_str()), expected.next(), "{}", file.name);
        }
        assert_eq!(expected.next(), None, "{}", file.name);
    }
}

fn shown(event: Event<'_>) -> String {
    let header = Header {
        timestamp: 0,
        kind: event.kind(),
        server_id: 1,
        event_length: 0,
        end_log_pos: 0,
        flags: 0,
    };
    String::from_utf8(info(&header, &event, 0).unwrap()).unwrap()
}

/// Events that no statement makes, which a MariaDB was given in files made for it.
#[test]
fn rare_events_are_shown_as_by_mariadb() {
    let incident = |message| shown(Event::Incident(Incident { incident: 1, message }));
    assert_eq!(incident(b"lost"), "#1 (LOST_EVENTS)");
    assert_eq!(incident(b""), "#1 (LOST_EVENTS): ");
    assert_eq!(shown(Event::Stop), "");
    assert_eq!(shown(Event::Intvar(Intvar { which: 3, value: 7 })), "UNKNOWN=7");
    let variable = |kind, collation, bytes| {
        let value = Some(UserValue { kind, collation, bytes, flags: &[] });
        shown(Event::UserVar(UserVar { name: b"a", value, behind_null: &[] }))
    };
    assert_eq!(variable(UserValue::STRING, 9999, b"x"), "???");
    let (tenth, large) = (0.1f64.to_le_bytes(), 1e30f64.to_le_bytes());
    assert_eq!(variable(UserValue::REAL, 63, &tenth), "@`a`=0.1");
    assert_eq!(variable(UserValue::REAL, 63, &large), "@`a`=1e30");
    let branch = XaPrepare { one_phase: 1, format: 3, gtrid: b"ab", bqual: b"c" };
    assert_eq!(shown(Event::XaPrepare(branch)), "XA COMMIT X'6162',X'63',3 ONE PHASE");
    let (database, table) = (vec![b'd'; 191], vec![b't'; 191]);
    let map = TableMap {
        table_id: 5,
        flags: 1,
        database: &database,
        table: &table,
        types: &[],
        metadata: &[],
        nullable: &[],
        optional: OptionalFields(&[]),
    };
    let expected = format!("table_id: 5 ({}.{}", "d".repeat(191), "t".repeat(50));
    assert_eq!(shown(Event::TableMap(map)), expected);
}
