//! Lives and deaths of a database. `SELKIE_SEEDS` is the number of histories, `SELKIE_SEED` the
//! first one. A failing seed is printed and replays alone with `SELKIE_SEED=n SELKIE_SEEDS=1`.

use super::super::contract::NativeEngine;
use super::super::options::NativeOptions;
use super::super::rider_model::{NAME as RIDERS, RiderLog};
use super::audit::{self, Found};
use super::grow::Growth;
use super::model::Model;
use super::needs;
use super::session::{Open, Sessions, branch_of};
use crate::disk::sim::{ProcessEnded, Rng, SimDisk};
use crate::disk::{BoundedDisk, Disk};
use crate::failpoint;
use crate::ids::PAGE_SIZE;
use crate::storage::testing::{process, quiet_process_ends};
use crate::trx::{purge_step, undo_losers_step};
use selkie_engine::{Engine, EngineError, EngineResult};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Places in the code where the process can end, see `failpoint`.
const PLACES: [&str; 31] = [
    "mtr reserved",
    "mtr copied",
    "mtr published",
    "log before sync",
    "log durable, not yet said",
    "pages before doublewrite",
    "pages after doublewrite",
    "pages partly in place",
    "pages in place",
    "checkpoint files synced",
    "checkpoint snapshot saved",
    "checkpoint before record",
    "checkpoint recorded",
    "commit published",
    "rider placed",
    "rider reserved",
    "rider filled",
    "rider copied",
    "checkpoint before riders",
    "checkpoint riders synced",
    "rollback before record",
    "rollback of a record",
    "losers before record",
    "undo snapshot stored",
    "file drop logged",
    "file created",
    "split before commit",
    "split committed",
    "long value partly written",
    "index filled",
    "index published",
];

/// Places that only a start reaches.
const AT_START: [&str; 2] = ["riders restored", "rider given back"];

/// Number of data files that are open at once in half of the histories.
const FEW_FILES: usize = 4;

/// Number of histories in a run of the unit tests.
const SEEDS: u64 = 25;

fn options(log: &Arc<RiderLog>) -> NativeOptions {
    NativeOptions {
        rider_files: Some(log.clone()),
        buffer_pool_bytes: 40 * PAGE_SIZE,
        log_capacity_bytes: 1 << 20,
        log_buffer_bytes: 512 << 10,
        log_segment_bytes: 256 << 10,
        undo_memory_bytes: 30 << 10,
        background: false,
        ..NativeOptions::default()
    }
}

fn open(disk: &SimDisk) -> EngineResult<(NativeEngine, Arc<RiderLog>)> {
    let log = RiderLog::new(Arc::new(disk.clone()));
    let most = if disk.seed().is_multiple_of(2) { FEW_FILES } else { usize::MAX };
    let bounded = BoundedDisk::new(Arc::new(disk.clone()), most);
    let engine = NativeEngine::open_unfinished(Arc::new(bounded), &options(&log))?;
    Ok((engine, log))
}

/// An engine and the open transactions of its sessions.
struct Running {
    engine: NativeEngine,
    log: Arc<RiderLog>,
    open: BTreeMap<usize, Open>,
    growth: Option<Growth>,
}

impl Running {
    /// Ends the process: memory is lost, and writes of destructors do not reach the disk.
    fn end(mut self, disk: &SimDisk) {
        disk.power_off();
        let held = (std::mem::take(&mut self.open), self.growth.take());
        let _ = process(|| {
            // Rollbacks would wait for the disk; dropped like this, transactions are left alone.
            let _held = held;
            std::panic::panic_any(ProcessEnded)
        });
        let engine = self.engine;
        let _ = process(|| drop(engine));
    }
}

/// The number of the model's state, from `from` on, that the engine is in; or its differences.
fn state_of(
    (engine, log): (&NativeEngine, &RiderLog),
    model: &Model,
    prepared: &BTreeSet<u32>,
    from: usize,
) -> EngineResult<Result<usize, String>> {
    let found = Found::new(engine, log, model, prepared.clone());
    let mut differences = String::new();
    for n in (from..model.states.len()).rev() {
        match found.difference(engine, model, &model.states[n])? {
            None => return Ok(Ok(n)),
            Some(difference) => differences += &format!("\n{n}: {difference}"),
        }
    }
    Ok(Err(differences))
}

/// Adopts the transactions that were found prepared.
fn prepared(engine: &NativeEngine, model: &Model) -> EngineResult<BTreeMap<usize, Open>> {
    let mut open = BTreeMap::new();
    for (at, found) in engine.take_prepared()?.into_iter().enumerate() {
        let branch = branch_of(&found.xid);
        let state = model.states.iter().rev().find_map(|db| db.prepared.get(&branch));
        let overlay = state.map(|overlay| (**overlay).clone()).unwrap_or_default();
        let uses = found.tables.iter().copied().collect();
        let life = Arc::default();
        let session =
            Open { trx: found.trx, overlay, snapshot: None, uses, branch: Some(branch), life };
        open.insert(at, session);
    }
    Ok(open)
}

/// Opens after a crash, perhaps with more crashes on the way, and checks. The state found becomes
/// the current one.
fn recover(disk: &SimDisk, model: &mut Model, rng: &mut Rng) -> Running {
    for _ in 0..rng.below(4) {
        needs::declare(disk);
        disk.crash_after(1 + rng.below(60));
        if rng.chance(30) {
            let place = AT_START[rng.below(AT_START.len() as u64) as usize];
            failpoint::arm(place, 1 + rng.below(4), disk);
        }
        let _ = process(|| -> EngineResult<()> {
            let (engine, _) = open(disk)?;
            while undo_losers_step(engine.shared())? {}
            Ok(())
        });
        failpoint::disarm();
        if rng.chance(20) { disk.kill_process() } else { disk.crash() }
    }
    disk.kill_process();
    needs::declare(disk);
    let (engine, log) = open(disk).unwrap_or_else(|e| panic!("recovery failed: {e}"));
    needs::assert_read(disk);
    let running = (|| -> EngineResult<Running> {
        let open = prepared(&engine, model)?;
        let names: BTreeSet<u32> = open.values().filter_map(|open| open.branch).collect();
        let n = match state_of((&engine, &log), model, &names, model.acked)? {
            Ok(n) => n,
            Err(differences) => panic!("no commit left what recovery found:{differences}"),
        };
        model.cut(n);
        audit::counters(&engine, model.now(), model)?;
        audit::files(&engine, disk, model.now());
        if rng.chance(70) {
            while undo_losers_step(engine.shared())? {}
            while purge_step(engine.shared())? {}
        }
        audit::deep(&engine, model.now())?;
        Ok(Running { engine, log, open, growth: None })
    })();
    running.unwrap_or_else(|e| panic!("after recovery: {e}"))
}

/// Arms a random fault for the next life.
fn arm(disk: &SimDisk, rng: &mut Rng) -> &'static str {
    match rng.below(12) {
        0 => {
            disk.fail_after(1 + rng.below(300));
            "an I/O error"
        }
        1 => {
            disk.set_capacity(Some(disk.used() + rng.below(3 << 20)));
            "a full disk"
        }
        2 => "an end without cause",
        3..6 => {
            let name = PLACES[rng.below(PLACES.len() as u64) as usize];
            failpoint::arm(
                name,
                1 + rng.below(if name.starts_with("mtr") { 300 } else { 6 }),
                disk,
            );
            "a place in the code"
        }
        _ => {
            disk.crash_after(1 + rng.below(500));
            "a crash"
        }
    }
}

fn live(disk: &SimDisk, mut running: Running, model: &mut Model, rng: &mut Rng) {
    let cause = arm(disk, rng);
    let (seed, steps) = (rng.next(), 20 + rng.below(200));
    let (engine, open) = (&running.engine, std::mem::take(&mut running.open));
    let (log, rng) = (&*running.log, Rng::new(seed));
    let mut sessions = Sessions { engine, model, log, open, growth: None, rng };
    let outcome = process(|| (0..steps).try_for_each(|_| sessions.step()));
    let ended = disk.is_down();
    failpoint::disarm();
    match outcome {
        Some(Err(EngineError::Io(_))) if cause == "an I/O error" => {}
        Some(Err(e)) if !ended => panic!("{cause}: {e}"),
        None if cause == "a full disk" => panic!("a full disk must not end the process"),
        _ => {}
    }
    (running.open, running.growth) = (std::mem::take(&mut sessions.open), sessions.growth.take());
    running.end(disk);
    disk.set_capacity(None);
}

/// Checks that damage on the disk is refused or harmless, never taken for data.
fn damage(disk: &SimDisk, model: &Model, rng: &mut Rng) {
    let fork = disk.fork(rng.next());
    let names = fork.list().unwrap_or_default();
    let name = &names[rng.below(names.len() as u64) as usize];
    let Some(len) = fork.length(name).filter(|len| *len > 0) else { return };
    fork.flip(name, rng.below(len), rng.below(8) as u8);
    let outcome = process(|| -> EngineResult<()> {
        let (engine, log) = open(&fork)?;
        let open = prepared(&engine, model)?;
        let names = open.values().filter_map(|open| open.branch).collect();
        let state = state_of((&engine, &log), model, &names, 0)?;
        // A page of data may come back from an older copy in the doublewrite file, see
        // `docs/durability.md`. The riders' file has no checksums.
        let told = name.starts_with("data.") || name == RIDERS || state.is_ok();
        assert!(told, "a flipped bit in {name} made a state that never was: {state:?}");
        Running { engine, log, open, growth: None }.end(&fork);
        Ok(())
    });
    drop(outcome);
}

fn history(seed: u64) {
    let (disk, mut rng) = (SimDisk::new(seed), Rng::new(seed ^ 0x51E0));
    let mut model = Model::new();
    for _ in 0..4 {
        let running = recover(&disk, &mut model, &mut rng);
        live(&disk, running, &mut model, &mut rng);
        if rng.chance(20) {
            disk.kill_process()
        } else {
            disk.crash()
        }
        if rng.chance(30) {
            damage(&disk, &model, &mut rng);
        }
    }
    recover(&disk, &mut model, &mut rng).end(&disk);
}

#[test]
fn sessions_crash_and_lose_nothing_acknowledged() {
    quiet_process_ends();
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let first = number("SELKIE_SEED").unwrap_or(1);
    let seeds = number("SELKIE_SEEDS").unwrap_or(SEEDS);
    for seed in first..first + seeds {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| history(seed))) {
            eprintln!("failing seed: SELKIE_SEED={seed} SELKIE_SEEDS=1");
            std::panic::resume_unwind(payload);
        }
    }
}

/// Runs histories that end at the given place until one reaches it. Returns whether one did.
fn ends_at(place: &'static str) -> bool {
    (1..60).any(|seed| {
        let (disk, mut rng) = (SimDisk::new(seed), Rng::new(seed ^ 0xFA11));
        let mut model = Model::new();
        let mut reached = false;
        for life in 0..3 {
            let mut running = recover(&disk, &mut model, &mut rng);
            let (engine, open) = (&running.engine, std::mem::take(&mut running.open));
            let (log, rng_of_life) = (&*running.log, Rng::new(seed + life));
            let mut sessions =
                Sessions { engine, model: &mut model, log, open, growth: None, rng: rng_of_life };
            if life > 0 {
                failpoint::arm(place, 1 + rng.below(3), &disk);
            }
            let outcome = process(|| (0..150).try_for_each(|_| sessions.step()));
            assert!(disk.is_down() || matches!(outcome, Some(Ok(()))), "{place}: {outcome:?}");
            (running.open, running.growth) =
                (std::mem::take(&mut sessions.open), sessions.growth.take());
            reached |= life > 0 && !failpoint::disarm();
            running.end(&disk);
            disk.crash();
        }
        recover(&disk, &mut model, &mut rng).end(&disk);
        reached
    })
}

#[test]
fn a_crash_at_every_named_place() {
    quiet_process_ends();
    for place in PLACES {
        let outcome = catch_unwind(AssertUnwindSafe(|| ends_at(place)));
        let reached = outcome.unwrap_or_else(|payload| {
            eprintln!("failing place: {place}");
            std::panic::resume_unwind(payload)
        });
        assert!(reached, "no history came to: {place}");
    }
}
