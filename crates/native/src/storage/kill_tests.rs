//! Tests with a real process, real files and a real `kill -9`. The test starts itself as a child
//! that commits from several threads and reports every durable commit on its standard output. It
//! kills the child at a random moment and checks the files.

use super::testing::{PutOp, Seen, StepCounter, small_options};
use super::{Storage, StorageOptions};
use crate::disk::RealDisk;
use crate::ids::{FileId, PageId};
use crate::mtr::Mtr;
use crate::page::get_u64;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

const DIR: &str = "SELKIE_KILL_TEST_DIR";
const THREADS: u32 = 3;
/// Positions of the two copies of a thread's counter, changed in one mini-transaction.
const LEFT: usize = 500;
const RIGHT: usize = 15_000;
/// Pages besides the counters, to keep the evictor busy.
const OTHERS: u32 = 40;

fn open(dir: &Path, background: bool) -> Arc<Storage> {
    let options = StorageOptions { background, ..small_options() };
    let disk = Arc::new(RealDisk::new(dir).expect("directory"));
    let storage =
        Storage::open_on(disk, options, Box::new(PutOp), &mut Seen::default()).expect("opened");
    storage.set_participant(Arc::new(StepCounter(AtomicU64::new(0))));
    storage.start_background();
    storage
}

/// The file and page with a thread's counter.
fn page(n: u32) -> PageId {
    PageId::new(FileId(1), 2 + n)
}

fn create(storage: &Arc<Storage>) {
    let file = storage.space().create_file(storage).expect("file");
    let pages = 2 * THREADS + OTHERS;
    let mut reserved = storage.space().reserve(storage, file, pages).expect("space");
    let mut last = None;
    for _ in 0..pages {
        let mut mtr = Mtr::begin(storage).expect("begun");
        let page = storage.space().alloc(&mut mtr, &mut reserved, None).expect("page");
        mtr.create(PageId { file, page }, 4).expect("created");
        last = Some(mtr.commit());
    }
    storage.log().flush_upto(last.expect("pages"));
}

fn count(storage: &Storage, thread: u32, n: u64) {
    let mut mtr = Mtr::begin(storage).expect("begun");
    let pages = [page(2 * thread), page(2 * thread + 1), page(2 * THREADS + (n as u32) % OTHERS)];
    for (id, at) in pages.into_iter().zip([LEFT, RIGHT, LEFT + 8 * thread as usize]) {
        let slot = mtr.exclusive(id).expect("latched");
        mtr.write(slot, at, &n.to_le_bytes());
    }
    let lsn = mtr.commit();
    storage.log().flush_upto(lsn);
}

fn counters(storage: &Storage, thread: u32) -> (u64, u64) {
    let read = |n: u32, at: usize| get_u64(&storage.pool().shared(page(n)).expect("page")[..], at);
    (read(2 * thread, LEFT), read(2 * thread + 1, RIGHT))
}

/// The child's work; in the test run proper it returns at once.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let storage = open(Path::new(&dir), true);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let storage = &storage;
            scope.spawn(move || {
                let from = counters(storage, thread).0;
                for n in from + 1.. {
                    count(storage, thread, n);
                    let line = format!("ack {thread} {n}\n");
                    std::io::stdout().lock().write_all(line.as_bytes()).expect("a reader");
                }
            });
        }
    });
}

/// Runs a child for a while, kills it, and returns the last acknowledged count of every thread.
fn run_child(dir: &Path, time: Duration) -> [u64; THREADS as usize] {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "storage::kill_tests::child", "--nocapture"])
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
    let mut acked = [0; THREADS as usize];
    let complete = rest.rsplit_once('\n').map_or("", |(lines, _)| lines);
    for line in complete.lines() {
        let mut words = line.split(' ').skip_while(|w| !w.ends_with("ack")).skip(1);
        let (Some(thread), Some(n)) = (words.next(), words.next()) else { continue };
        acked[thread.parse::<usize>().expect("a thread")] = n.parse().expect("a count");
    }
    acked
}

#[test]
fn kill_minus_nine_loses_no_acknowledged_commit() {
    let dir = std::env::temp_dir().join(format!("selkie-kill-{}", std::process::id()));
    let storage = open(&dir, false);
    create(&storage);
    drop(storage);
    let cycles = std::env::var("SELKIE_CYCLES").ok().and_then(|s| s.parse().ok()).unwrap_or(3);
    for cycle in 0..cycles {
        let acked = run_child(&dir, Duration::from_millis(40 + 37 * (cycle % 7)));
        assert!(acked.iter().any(|n| *n > 0), "no commit was reported");
        let storage = open(&dir, false);
        for thread in 0..THREADS {
            let (left, right) = counters(&storage, thread);
            assert_eq!(left, right, "half a mini-transaction of thread {thread}");
            assert!(left >= acked[thread as usize], "thread {thread}: {left} of {acked:?}");
        }
    }
    std::fs::remove_dir_all(dir).expect("removed");
}
