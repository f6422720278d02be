//! The information files, written and read back.
//!
//! Must pin the order of lines: MariaDB reads them too.

use super::*;

fn fresh() -> Config {
    Config::new(Duration::from_secs(30))
}

fn config() -> Config {
    Config {
        host: "127.0.0.1".to_owned(),
        user: "root".to_owned(),
        password: "secret".to_owned(),
        port: 14241,
        connect_retry: Duration::from_secs(9),
        ssl: true,
        ssl_ca: "/ca".to_owned(),
        ssl_crlpath: "/crls".to_owned(),
        heartbeat: Duration::from_millis(1500),
        ignore_server_ids: vec![7, 9],
        ignore_domains: vec![1, 3],
        using_gtid: UsingGtid::No,
        ..fresh()
    }
}

/// A file as MariaDB 10.11 writes it.
const WRITTEN: &str = "33\nf.000007\n100\n127.0.0.1\nroot\nsecret\n14241\n9\n1\n/ca\n\n\n\n\n0\n1.500\n\n2 7 9\n\n0\n\n/crls\n\n\n\n\n\n\n\n\n\n\n\nusing_gtid=0\ndo_domain_ids=0\nignore_domain_ids=2 1 3\nEND_MARKER\n";

#[test]
fn the_file_of_a_connection() {
    let place = Place { file: "f.000007".to_owned(), offset: 100 };
    assert_eq!(master_text(&config(), &place), WRITTEN);
    let saved = parse_master(WRITTEN, fresh()).unwrap();
    assert_eq!(format!("{:?}", saved.config), format!("{:?}", config()));
    assert_eq!(saved.applied, place);
    // A shorter text over a longer one leaves the longer one's end.
    let longer = format!("{WRITTEN}_MARKER\ndo_domain_ids=1 5\n");
    assert_eq!(master_text(&parse_master(&longer, fresh()).unwrap().config, &place), WRITTEN);
}

#[test]
fn a_delay_is_behind_the_end() {
    let delayed = Config { delay: 7, ..config() };
    let text = master_text(&delayed, &Place::default());
    assert!(text.ends_with("END_MARKER\nsql_delay=7\n"));
    assert_eq!(parse_master(&text, fresh()).unwrap().config.delay, 7);
    assert_eq!(parse_master(WRITTEN, fresh()).unwrap().config.delay, 0);
}

#[test]
fn files_of_old_servers_and_no_files() {
    let old = "log.1\n4\nhost\nuser\npass\n3307\n60\n";
    let saved = parse_master(old, fresh()).unwrap();
    assert_eq!((saved.config.host.as_str(), saved.config.port), ("host", 3307));
    assert_eq!(saved.config.using_gtid, UsingGtid::No);
    assert_eq!(saved.applied, Place { file: "log.1".to_owned(), offset: 4 });
    assert!(parse_master("", fresh()).is_none());
    for text in ["33", "33\n\nx\n", "99999999999999999999\n", "a\0b\n\u{fffd}\nusing_gtid=9"] {
        let saved = parse_master(text, fresh()).unwrap();
        assert_eq!(saved.config.port, DEFAULT_PORT);
    }
}

#[test]
fn the_file_about_relay_files() {
    let relay = Place { file: "x-relay-bin.000002".to_owned(), offset: 875 };
    let applied = Place { file: "bin.000001".to_owned(), offset: 582 };
    let text = relay_text(&relay, &applied, 0);
    assert_eq!(text, "5\n./x-relay-bin.000002\n875\nbin.000001\n582\n0\n");
    assert_eq!(parse_relay(&text), Some((applied.clone(), Some(0))));
    assert_eq!(parse_relay("./x.000001\n4\nbin.000001\n582\n"), Some((applied, None)));
    assert_eq!(parse_relay("5\n./x.000001\n4\n"), None);
}
