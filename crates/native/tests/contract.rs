//! The contract's tests on the native engine, alone and beside the memory engine as a model.
//!
//! They use real files, small pools and restarts.

use selkie_engine::testing::{TRANSACTIONAL, Twin, compare, conformance, contents, items};
use selkie_engine::{Engine, Lsn};
use selkie_memory::MemoryEngine;
use selkie_native::{FlushAtCommit, NativeEngine, NativeOptions};
use std::path::PathBuf;

/// A directory that is removed at the end of the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("selkie-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self) -> NativeEngine {
        let options = NativeOptions {
            buffer_pool_bytes: 8 << 20,
            log_capacity_bytes: 16 << 20,
            log_buffer_bytes: 2 << 20,
            log_segment_bytes: 4 << 20,
            flush_at_commit: FlushAtCommit::EverySecond,
            ..NativeOptions::default()
        };
        NativeEngine::open(&self.0, &options).unwrap()
    }
}

/// Makes the log durable, without writing pages or a checkpoint.
fn make_durable(engine: &NativeEngine) {
    let mut tail = 0;
    engine.status(&mut |name, value| {
        if name == "Innodb_lsn_current" {
            tail = value;
        }
    });
    engine.set_flush_at_commit(FlushAtCommit::Durable);
    engine.wait_durable(Lsn(tail)).unwrap();
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn keeps_the_contract() {
    let scratch = Scratch::new("conformance");
    let engine = scratch.open();
    conformance(&engine);
    engine.shutdown().unwrap();
}

fn counter(engine: &NativeEngine, wanted: &str) -> u64 {
    let mut found = 0;
    engine.status(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

#[test]
fn the_pool_is_resized_by_its_variable() {
    let scratch = Scratch::new("resize");
    let engine = scratch.open();
    for mebibytes in [24, 4, 8] {
        let bytes = mebibytes << 20;
        assert_eq!(engine.set_variable("innodb_buffer_pool_size", bytes), bytes);
        assert_eq!(counter(&engine, "Innodb_buffer_pool_pages_total"), bytes >> 14);
        conformance(&engine);
    }
    let most = engine.set_variable("innodb_buffer_pool_size", u64::MAX);
    assert!(most < 1 << 41, "no more than there is memory: {most}");
    assert_eq!(engine.set_variable("innodb_buffer_pool_size", 8 << 20), 8 << 20);
    assert_eq!(engine.set_variable("innodb_flush_log_at_trx_commit", 2), 2);
    assert_eq!(engine.set_variable("any_other", 7), 7);
    engine.shutdown().unwrap();
}

#[test]
fn equals_the_model_also_after_restarts() {
    let scratch = Scratch::new("model");
    let model = MemoryEngine::model_of(&TRANSACTIONAL);
    let def = items(1);
    for seed in 0..5 {
        let engine = scratch.open();
        compare(
            &mut Twin::new(&model, &def),
            &mut Twin::new(&engine, &def),
            seed,
            400,
            300 + 100 * seed,
        );
        match seed % 2 {
            0 => engine.shutdown().unwrap(),
            _ => {
                make_durable(&engine);
                drop(engine);
            }
        }
        let engine = scratch.open();
        assert!(contents(&engine, &def) == contents(&model, &def), "seed {seed}");
    }
}
