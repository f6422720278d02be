//! Tests of the server's connections: a double instead of the executor, and clients that send raw
//! packets.
//!
//! Statements are words of the double (`support::double`); no SQL runs here.

mod support;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use selkie_server::accounts::{AccountName, AuthMethod, IfExists};
use selkie_server::lifecycle::{Running, Start, start};
use selkie_server::options::{Sources, apply};
use selkie_server::variables::startup_values;
use support::client::{CAPS, Client};
use support::double::Double;

struct TestServer {
    running: Option<Running>,
    dir: PathBuf,
    at: SocketAddr,
}

impl TestServer {
    fn start(options: &[&str]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("selkie-conn-{}-{number}", std::process::id()));
        let mut all = vec![format!("--datadir={}", dir.display()), "--port=0".to_owned()];
        all.extend(options.iter().map(|o| (*o).to_owned()));
        let settings = apply(startup_values(), &Sources { options: all }).unwrap();
        let running =
            start(Start { settings, backend: &|_, _, _, _| Ok(Arc::new(Double)) }).unwrap();
        let at = running.addresses()[0];
        Self { running: Some(running), dir, at }
    }

    fn server(&self) -> &selkie_server::server::Server {
        &self.running.as_ref().unwrap().server
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn text(packet: &[u8]) -> String {
    String::from_utf8_lossy(packet).into_owned()
}

fn code(packet: &[u8]) -> u16 {
    match packet {
        [0xff, low, high, ..] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    }
}

#[test]
fn greeting_and_simple_commands() {
    let server = TestServer::start(&[]);
    let mut c = Client::root(server.at);
    assert!(c.greeting.version.starts_with("5.5.5-10.11."));
    assert_eq!(c.command(&[0x0e]), [0, 0, 0, 2, 0, 0, 0]);
    assert!(text(&c.command(&[0x09])).starts_with("Uptime: "));
    assert_eq!(code(&c.command(&[0x77])), 1047);
    assert_eq!(code(&c.command(&[])), 1047);
    assert_eq!(code(&c.command(&[0x02])), 1046);
    assert_eq!(code(&c.command(b"\x02nosuch")), 1049);
    assert_eq!(c.command(b"\x02db"), b"\0\0\0\x02\x40\0\0\0\x05\x01\x03\x02db");
    assert_eq!(c.command(&[0x1b, 1, 0]), [0xfe, 0, 0, 2, 0]);
    assert_eq!(code(&c.command(&[0x1b, 9, 0])), 1047);
    assert_eq!(c.command(&[0x1f]), [0, 0, 0, 2, 0, 0, 0]);
    c.send(&[1], 0);
    assert!(c.receive().is_empty());
}

#[test]
fn results_and_multi_results() {
    let server = TestServer::start(&[]);
    let mut c = Client::root(server.at);
    let one = c.query("rows 2");
    assert_eq!(one[0], [1]);
    assert_eq!(one[2], [0xfe, 0, 0, 2, 0]);
    assert_eq!(one[3..5], [b"\x010".to_vec(), b"\x011".to_vec()]);
    assert_eq!(one[5], [0xfe, 0, 0, 2, 0]);
    let ok = c.query("changed 3");
    assert!(text(&ok[0]).contains("Rows matched"));
    assert_eq!(ok[0][..5], [0, 3, 7, 2, 0]);
    let many = c.query("rows 1;do 0;rows 1");
    assert_eq!(many.len(), 5 + 1 + 5);
    assert_eq!(many[2], [0xfe, 0, 0, 10, 0]);
    assert_eq!(many[4], [0xfe, 0, 0, 10, 0]);
    assert_eq!(many[8], [0xfe, 0, 0, 2, 0]);
    assert_eq!(many[5], [0, 0, 0, 10, 0, 0, 0]);
    assert_eq!(many[10], [0xfe, 0, 0, 2, 0]);
    assert_eq!(code(&c.query("rows 1;nonsense;rows 1")[5]), 1064);
    assert_eq!(c.query("rows 20000").len(), 20000 + 4);
}

#[test]
fn prepared_statements() {
    let server = TestServer::start(&[]);
    let mut c = Client::root(server.at);
    let prepared = c.command(b"\x16echo ? ?");
    assert_eq!(prepared, [0, 1, 0, 0, 0, 2, 0, 2, 0, 0, 0, 0]);
    for _ in 0..6 {
        c.receive();
    }
    c.send(b"\x18\x01\0\0\0\x01\0abc", 0);
    c.send(b"\x18\x01\0\0\0\x01\0def", 0);
    c.send(b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\x03\0\xfc\0\x2a\0\0\0", 0);
    let rows = c.answer();
    // The number has the width that the client declared.
    assert_eq!(rows[4], b"\0\0\x2a\0\0\0\x06abcdef");
    assert_eq!(c.command(b"\x1a\x01\0\0\0"), [0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(code(&c.command(b"\x17\x01\0\0\0\0\x01")), 1835);
    c.send(b"\x19\x01\0\0\0", 0);
    assert_eq!(code(&c.command(b"\x17\x01\0\0\0\0\x01\0\0\0")), 1243);
    assert_eq!(c.command(&[0x0e])[0], 0);
}

#[test]
fn cursors() {
    let server = TestServer::start(&[]);
    let mut c = Client::root(server.at);
    c.command(b"\x16rows 5");
    // The one column and its EOF.
    c.receive();
    c.receive();
    c.send(b"\x17\x01\0\0\0\x01\x01\0\0\0", 0);
    assert_eq!(c.receive(), [1]);
    c.receive();
    assert_eq!(c.receive(), [0xfe, 0, 0, 0x42, 0]);
    c.send(b"\x1c\x01\0\0\0\x03\0\0\0", 0);
    assert_eq!(c.receive(), b"\0\0\0\0\0\0\0\0\0\0");
    c.receive();
    c.receive();
    assert_eq!(c.receive(), [0xfe, 0, 0, 0x42, 0]);
    c.send(b"\x1c\x01\0\0\0\x03\0\0\0", 0);
    c.receive();
    c.receive();
    assert_eq!(c.receive(), [0xfe, 0, 0, 0x82, 0]);
    assert_eq!(code(&c.command(b"\x1c\x01\0\0\0\x03\0\0\0")), 1421);
}

#[test]
fn authentication() {
    let server = TestServer::start(&[]);
    let refused = |user, password| Client::login(server.at, user, password, CAPS).1;
    assert_eq!(
        text(&refused("nosuch", "x")[3..]),
        "#28000Access denied for user 'nosuch'@'localhost' (using password: YES)"
    );
    assert!(text(&refused("nosuch", "")).contains("using password: NO"));
    let name = AccountName::new("app", "%");
    server
        .server()
        .accounts
        .change(|acl| {
            acl.create(&[(name.clone(), Default::default())], IfExists::Fail)?;
            acl.set_password(&name, |_| Ok(AuthMethod::password(b"secret")))
        })
        .unwrap();
    assert_eq!(refused("app", "secret"), [0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(code(&refused("app", "Secret")), 1045);
    assert_eq!(code(&refused("app", "")), 1045);
    let (mut c, _) = Client::login(server.at, "app", "secret", CAPS);
    assert_eq!(code(&c.command(&[0x08, 0])), 1227);
}

#[test]
fn change_user_switches_the_challenge() {
    let server = TestServer::start(&[]);
    let mut c = Client::root(server.at);
    let answer = c.command(b"\x11root\0\0db\0\x2d\0mysql_native_password\0\0");
    assert!(answer.starts_with(b"\xfemysql_native_password\0"));
    c.send(b"", 2);
    assert_eq!(c.receive()[0], 0);
    let answer = c.command(b"\x11nosuch\0\0\0\x2d\0mysql_native_password\0\0");
    assert_eq!(answer[0], 0xfe);
    c.send(b"", 2);
    assert_eq!(code(&c.receive()), 1045);
    assert!(c.receive().is_empty());
}

#[test]
fn bytes_that_are_no_protocol() {
    let server = TestServer::start(&["--max-allowed-packet=16384"]);
    let mut c = Client::greeted(server.at).ok().unwrap();
    c.send(b"abc", 1);
    assert_eq!(code(&c.receive()), 1043);
    let mut c = Client::greeted(server.at).ok().unwrap();
    c.send_raw(b"GET / HTTP/1.0\r\n\r\n");
    assert!(matches!(code(&c.receive()), 1043 | 1153 | 1156));
    let mut c = Client::root(server.at);
    c.send_raw(&[1, 0, 0, 3, 0x0e]);
    assert!(c.receive().is_empty());
    let mut c = Client::root(server.at);
    c.send(&vec![3; 20000], 0);
    assert!(matches!(code(&c.receive()), 1153 | 0));
    assert_eq!(Client::root(server.at).command(&[0x0e])[0], 0);
}

#[test]
fn kill_ends_a_statement_and_a_connection() {
    let server = TestServer::start(&[]);
    let mut c = Client::root(server.at);
    c.send(b"\x03sleep", 0);
    let running = || {
        let list = server.server().sessions.list();
        list.into_iter().find(|s| s.activity().command == "Query")
    };
    let victim = loop {
        match running() {
            Some(session) => break session,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    victim.kill_query();
    assert_eq!(code(&c.receive()), 1317);
    assert_eq!(c.command(&[0x0e])[0], 0);
    victim.kill_connection();
    let told = c.receive();
    assert!(told.is_empty() || code(&told) == 1927);
    assert!(c.receive().is_empty());
}

#[test]
fn connection_limit_keeps_one_place_for_the_administrator() {
    let server = TestServer::start(&["--max-connections=10"]);
    let kept: Vec<Client> = (0..11).map(|_| Client::root(server.at)).collect();
    let refused = Client::greeted(server.at).err().unwrap();
    assert_eq!(text(&refused), "\u{fffd}\u{10}\u{4}Too many connections");
    drop(kept);
}

#[test]
fn idle_sessions_are_ended() {
    let server = TestServer::start(&["--wait-timeout=1"]);
    let mut c = Client::root(server.at);
    assert!(c.receive().is_empty());
}

#[test]
fn local_files() {
    let server = TestServer::start(&[]);
    let mut c = Client::root(server.at);
    assert_eq!(c.command(b"\x03file /x"), b"\xfb/x");
    c.send(b"hello", 2);
    c.send(b" world", 3);
    c.send(b"", 4);
    assert_eq!(c.receive()[..2], [0, 11]);
    let (mut c, _) = Client::login(server.at, "root", "", CAPS & !0x80);
    assert_eq!(code(&c.command(b"\x03file /x")), 1148);
}

#[test]
fn open_accounts_confine_the_server_to_this_machine() {
    let dir = std::env::temp_dir().join(format!("selkie-open-{}", std::process::id()));
    let options = vec![
        format!("--datadir={}", dir.display()),
        "--port=0".to_owned(),
        "--bind-address=0.0.0.0".to_owned(),
    ];
    let settings = apply(startup_values(), &Sources { options }).unwrap();
    let error = start(Start { settings, backend: &|_, _, _, _| Ok(Arc::new(Double)) }).unwrap_err();
    assert!(error.contains("'root'@'127.0.0.1' has no password"), "{error}");
    let _ = std::fs::remove_dir_all(dir);
}

#[test]
fn character_sets_of_client_and_result() {
    let server = TestServer::start(&[]);
    let mut c = Client::root(server.at);
    let utf8 = c.query("text \u{e9}");
    assert_eq!(utf8[3], "\u{2}\u{e9}".as_bytes());
}
