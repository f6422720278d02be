//! Riders of a real process with several threads, real files and a real `kill -9`. After each, the
//! riders' file must name exactly the rows in the table, and every one that was acknowledged.

use super::contract::NativeEngine;
use super::options::NativeOptions;
use super::rider_model::RiderLog;
use crate::disk::{Disk, RealDisk};
use crate::page::get_u64;
use selkie_engine::testing::{NoContext, contents, item_row, items, rows_of};
use selkie_engine::{Engine, EngineTrx, Isolation, Lsn};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const DIR: &str = "SELKIE_RIDER_KILL_TEST_DIR";
const THREADS: u64 = 4;
/// Rows of one thread; no thread comes to its end.
const SPAN: u64 = 1 << 20;

fn open(dir: &Path) -> (NativeEngine, Arc<RiderLog>) {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new(dir).expect("directory"));
    let log = RiderLog::new(disk.clone());
    let options = NativeOptions {
        buffer_pool_bytes: 2 << 20,
        log_capacity_bytes: 2 << 20,
        log_buffer_bytes: 1 << 20,
        log_segment_bytes: 512 << 10,
        rider_files: Some(log.clone()),
        ..NativeOptions::default()
    };
    (NativeEngine::open_on(disk, &options).expect("opened"), log)
}

fn begin(engine: &NativeEngine) -> Box<dyn EngineTrx> {
    engine.begin(Isolation::RepeatableRead, false).expect("begun")
}

/// Ids of the rows, once as rows and once as riders.
fn ids(engine: &NativeEngine, log: &RiderLog) -> (BTreeSet<u64>, Vec<u64>) {
    let def = items(1);
    let id = |row: &Vec<u8>| match def.layout.value(row, 0).expect("a row") {
        selkie_types::Value::Int(id) => id as u64,
        other => panic!("not an id: {other:?}"),
    };
    let rows = contents(engine, &def).iter().map(id).collect();
    (rows, log.contents().iter().map(|rider| get_u64(rider, 0)).collect())
}

fn commit(engine: &NativeEngine, log: &RiderLog, id: u64) -> Lsn {
    let (def, trx) = (items(1), begin(engine));
    let table = engine.open_table(&def).expect("the table");
    let row = item_row(&def, id as i64, None, 0, "a row with a rider");
    table.insert(&*trx, &NoContext::default(), &rows_of([row])).expect("inserted");
    let mut payload = id.to_le_bytes().to_vec();
    payload.resize(8 + (id * 37 % 400) as usize, 1);
    trx.commit(Some(&mut log.rider(&payload))).expect("committed").expect("changed")
}

/// The child's work; in the test run proper it returns at once.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let (engine, log) = open(Path::new(&dir));
    let (rows, _) = ids(&engine, &log);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (engine, log, first) = (&engine, &log, thread * SPAN);
            let next = rows.range(first..first + SPAN).last().map_or(first, |last| last + 1);
            scope.spawn(move || {
                for id in next.. {
                    let lsn = commit(engine, log, id);
                    engine.wait_durable(lsn).expect("durable");
                    if id % 3 == 0 {
                        log.write_upto(lsn);
                    }
                    if id % 500 == 0 {
                        engine.checkpoint(false).expect("a checkpoint");
                    }
                    let line = format!("ack {id}\n");
                    std::io::stdout().lock().write_all(line.as_bytes()).expect("a reader");
                }
            });
        }
    });
}

/// Runs a child for a while, kills it, and returns what it has acknowledged.
fn run_child(dir: &Path, time: Duration) -> BTreeSet<u64> {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "engine::rider_kill_tests::child", "--nocapture"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut first = String::new();
    while !first.contains("ack ") {
        first.clear();
        assert!(output.read_line(&mut first).expect("read") > 0, "the child ended by itself");
    }
    std::thread::sleep(time);
    child.kill().expect("killed");
    child.wait().expect("gone");
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("the rest");
    let complete = rest.rsplit_once('\n').map_or("", |(lines, _)| lines);
    let lines = complete.lines().filter_map(|line| line.strip_prefix("ack "));
    lines.filter_map(|id| id.parse().ok()).collect()
}

#[test]
fn kill_minus_nine_leaves_rows_and_riders_equal() {
    let dir = std::env::temp_dir().join(format!("selkie-riders-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let (engine, _) = open(&dir);
    let trx = begin(&engine);
    engine.create_table(&*trx, &items(1)).expect("created");
    trx.commit(None).expect("committed");
    engine.shutdown().expect("closed");
    drop(engine);
    let cycles = std::env::var("SELKIE_CYCLES").ok().and_then(|s| s.parse().ok()).unwrap_or(3);
    for cycle in 0..cycles {
        let acked = run_child(&dir, Duration::from_millis(40 + 37 * (cycle % 7)));
        assert!(!acked.is_empty(), "no commit was reported");
        let (engine, log) = open(&dir);
        let (rows, riders) = ids(&engine, &log);
        assert_eq!(riders.iter().copied().collect::<BTreeSet<_>>(), rows, "cycle {cycle}");
        assert_eq!(riders.len(), rows.len(), "a rider came twice");
        assert!(acked.is_subset(&rows), "cycle {cycle}: an acknowledged commit is lost");
        for thread in 0..THREADS {
            let own = riders.iter().filter(|id| *id / SPAN == thread);
            assert!(own.is_sorted(), "commits of thread {thread} in another order");
        }
    }
    std::fs::remove_dir_all(dir).expect("removed");
}
