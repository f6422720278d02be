//! States and records of any bytes, and a log whose state is lost.
//!
//! Must end in a value or an error, whatever comes.

use std::sync::Arc;

use proptest::prelude::*;
use selkie_replication::codec::Checksum;

use crate::engine::{Engine, begun, commit, new_log};
use crate::files::Sim;

/// States and records of a real log.
fn samples() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (files, mut engine, log) = begun(Checksum::Crc32);
    let mut states = Vec::new();
    let mut checkpoint = |engine: &mut Engine| {
        engine.durable = engine.end();
        states.push(log.checkpoint(engine.durable).unwrap());
    };
    commit((&files, &mut engine), &log, &[10]).unwrap();
    checkpoint(&mut engine);
    commit((&files, &mut engine), &log, &[2 << 20]).unwrap();
    engine.ride(&files, &mut log.rotation(5)).unwrap();
    checkpoint(&mut engine);
    engine.ride(&files, &mut log.purged(2)).unwrap();
    engine.ride(&files, &mut log.set_state(log.gtid_state())).unwrap();
    engine.ride(&files, &mut log.reset(7, 5)).unwrap();
    engine.ride(&files, &mut log.stop(5)).unwrap();
    checkpoint(&mut engine);
    (states, engine.log.into_iter().map(|logged| logged.bytes).collect())
}

/// Changes a few bytes.
fn damaged(mut bytes: Vec<u8>, damage: &[(prop::sample::Index, u8)], cut: usize) -> Vec<u8> {
    for (at, byte) in damage {
        if !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
    }
    bytes.truncate(bytes.len().saturating_sub(cut));
    bytes
}

fn damage() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    // The first bytes matter most, so half of the changes are there.
    prop::collection::vec(any::<(prop::sample::Index, u8)>(), 0..4)
}

proptest! {
    #[test]
    fn any_bytes_are_a_state_or_an_error(
        which: prop::sample::Index, damage in damage(), cut in 0..8usize, fix: bool, any: Vec<u8>,
    ) {
        let (states, records) = samples();
        let mut state = damaged(which.get(&states).clone(), &damage, cut);
        if fix && state.len() > 4 {
            let covered = state.len() - 4;
            let sum = crc32fast::hash(&state[..covered]).to_le_bytes();
            state[covered..].copy_from_slice(&sum);
        }
        for state in [state, any] {
            let log = new_log(&Arc::new(Sim::default()), Checksum::None);
            if log.restore(&state).is_ok() {
                for record in &records {
                    let _ = log.replay(1, record);
                }
                let _ = log.replayed();
                let _ = (log.files(), log.snapshot(), log.checkpoint(1));
            }
        }
    }

    #[test]
    fn any_bytes_are_a_record_or_an_error(
        which: prop::sample::Index, damage in damage(), cut in 0..8usize, any: Vec<u8>,
    ) {
        let (_, records) = samples();
        let at = which.index(records.len());
        let log = new_log(&Arc::new(Sim::default()), Checksum::None);
        log.restore(&[]).unwrap();
        for record in &records[..at] {
            let _ = log.replay(1, record);
        }
        let head: Vec<_> = records[at].iter().copied().take(60).collect();
        let _ = log.replay(2, &damaged(head, &damage, cut));
        let _ = log.replay(2, &damaged(records[at].clone(), &damage, cut));
        let _ = log.replay(2, &any);
        let _ = log.replayed();
    }
}

#[test]
fn a_log_without_its_state_is_taken_over() {
    let (files, mut engine, log) = begun(Checksum::Crc32);
    engine.ride(&files, &mut log.rotation(5)).unwrap();
    commit((&files, &mut engine), &log, &[10]).unwrap();
    engine.write_all(&log).unwrap();
    let (state, before) = (log.gtid_state(), files.all());
    files.put(3, b"");
    files.put(4, b"not a log");

    let mut engine = Engine::default();
    let log = new_log(&files, Checksum::Crc32);
    engine.start(&log).unwrap();
    assert_eq!((log.gtid_state(), files.all()), (state.clone(), before));
    engine.ride(&files, &mut log.begin_life(9)).unwrap();
    assert_eq!(log.end().file, 3);
    engine.write_all(&log).unwrap();
    let before = files.all();

    let log = new_log(&files, Checksum::Crc32);
    engine.start(&log).unwrap();
    assert_eq!((log.gtid_state(), files.all()), (state, before));
    assert_eq!(files.index(), [1, 2, 3]);
}

#[test]
fn missing_records_are_an_error() {
    let (_, records) = samples();
    let log = new_log(&Arc::new(Sim::default()), Checksum::None);
    log.restore(&[]).unwrap();
    log.replay(1, &records[0]).unwrap();
    assert!(log.replay(3, &records[2]).is_err());
    log.replay(2, &records[1]).unwrap();
    log.replay(2, &records[1]).unwrap();
}
