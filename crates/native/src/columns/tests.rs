//! Directories, touched keys and positions by themselves, against simple models of them.
//!
//! Nothing here reads a tree: the simulation of the engine compares groups with rows.

use super::*;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use selkie_column::encode;
use selkie_engine::testing::items;
use selkie_engine::{IndexCodec, TouchedKeys};
use selkie_types::{ByteRows, Column, Physical, Value};
use std::collections::BTreeSet;

fn key(number: u16) -> [u8; 2] {
    number.to_be_bytes()
}

fn keys_of<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> Keys {
    let mut rows = ByteRows::default();
    keys.into_iter().for_each(|key| rows.push(key.as_ref()));
    Keys::new(&rows)
}

fn group(limit: usize) -> Arc<Group> {
    Arc::new(Group::new(0, limit, Arc::default()))
}

fn fill(group: &Group, at: u64, keys: Keys) {
    group.fill(Built { at, keys, segments: Segments::new(Vec::new(), Vec::new()) });
}

/// Builds a group of the keys from `lower` to `upper`.
fn build(columns: &Columns, lower: u16, upper: u16, limit: usize) -> Arc<Group> {
    let built = group(limit);
    let building = columns.begin_building().expect("nobody builds");
    building.begin((&key(lower), &key(upper)), &built);
    fill(&built, 1, keys_of((lower..upper).map(key)));
    assert!(building.end(&built));
    built
}

fn taken(group: &Group) -> Option<Arc<TouchedKeys>> {
    group.take_touched(&group.built()?.keys)
}

#[test]
fn a_write_touches_the_group_of_its_key_and_no_other() {
    let columns = Columns::default();
    columns.touch(&key(11));
    let (low, high) = (build(&columns, 10, 20, 8), build(&columns, 20, 30, 8));
    [9, 19, 20, 20, 30].into_iter().for_each(|number| columns.touch(&key(number)));
    let keys = |group: &Group| -> Vec<Vec<u8>> {
        taken(group).expect("not full").keys.iter().map(|key| key.key.to_vec()).collect()
    };
    assert_eq!(keys(&low), [key(19)]);
    assert_eq!(keys(&high), [key(20)]);
    assert!(taken(&low).is_some_and(|t| t.is_dead(9) && t.dead.count_ones() == 1));
}

#[test]
fn keys_touched_during_a_build_count() {
    let columns = Columns::default();
    let (built, building) = (group(8), columns.begin_building().expect("nobody builds"));
    assert!(columns.begin_building().is_none());
    building.begin((&key(10), &key(20)), &built);
    columns.touch(&key(15));
    fill(&built, 1, keys_of((10..20).map(key)));
    assert!(building.end(&built));
    assert!(taken(&built).is_some_and(|t| t.is_dead(5)));
}

#[test]
fn a_full_group_is_not_read_any_more_and_a_full_build_is_thrown_away() {
    let columns = Columns::default();
    let read = build(&columns, 10, 40, 8);
    (10..17).for_each(|number| columns.touch(&key(number)));
    assert_eq!(taken(&read).map(|t| t.keys.len()), Some(7));
    (10..19).for_each(|number| columns.touch(&key(number)));
    assert!(read.is_full() && taken(&read).is_none());
    columns.remove(&read);
    assert_eq!(columns.directory().regions().len(), 1);

    let (built, building) = (group(2), columns.begin_building().expect("nobody builds"));
    building.begin((&key(10), &key(20)), &built);
    (10..13).for_each(|number| columns.touch(&key(number)));
    fill(&built, 1, keys_of((10..20).map(key)));
    assert!(!building.end(&built));
    assert_eq!(columns.directory().regions().len(), 1);
}

#[test]
fn a_replaced_directory_keeps_working_for_its_readers() {
    let columns = Columns::default();
    let old = build(&columns, 10, 20, 8);
    let before = columns.directory();
    columns.remove(&old);
    let at = before.position_of(&key(15));
    assert!(before.regions()[at].group.is_some());
    assert_eq!(columns.directory().regions().len(), 1);
}

/// Keys of these numbers, made of the group's columns and stored, and the codec.
fn keys_of_numbers(numbers: &BTreeSet<i32>) -> (Keys, Keys, IndexCodec) {
    let def = items(1);
    let codec = IndexCodec::new(&def, &def.indexes[0]);
    let (mut keys, mut column) = (ByteRows::default(), Column::new(Physical::Int, 0, 0));
    for number in numbers {
        let value = Value::Int(i64::from(*number));
        column.push(&value);
        codec.key_of_values(&[value], keys.buffer());
        keys.end_row();
    }
    let parts = vec![Arc::new(encode(&column))];
    (Keys::of_parts(&keys, Arc::new(codec.clone()), parts), Keys::new(&keys), codec)
}

#[test]
fn keys_that_columns_make_take_no_room() {
    let (made, stored, _) = keys_of_numbers(&(-5000..5000).collect());
    assert!(made.memory() < 200 && stored.memory() > 10_000, "{}", made.memory());
}

#[test]
fn columns_of_other_values_make_no_keys() {
    let mut keys = ByteRows::default();
    (0..10).for_each(|number| keys.push(&key(number)));
    let mut column = Column::new(Physical::Int, 0, 0);
    (0..10).for_each(|number| column.push(&Value::Int(number)));
    let def = items(1);
    let codec = Arc::new(IndexCodec::new(&def, &def.indexes[0]));
    let positions = Keys::of_parts(&keys, codec, vec![Arc::new(encode(&column))]);
    assert_eq!((positions.find(&key(7)), positions.find(&key(99))), (Ok(7), Err(10)));
}

#[test]
fn wide_columns_that_nobody_reads_are_given_up() {
    let columns = Columns::default();
    let memory = Arc::<Memory>::default();
    let group = Arc::new(Group::new(0, 10, memory.clone()));
    let building = columns.begin_building().expect("nobody builds");
    building.begin((&key(0), &key(100)), &group);
    let segment = |len: usize| {
        let mut column = Column::new(Physical::Bytes, 0, 0);
        (0..100).for_each(|at| column.push(&Value::Bytes(vec![at as u8; len].into())));
        Some(Arc::new(encode(&column)))
    };
    let segments = Segments::new(vec![segment(4), segment(50), segment(60)], Vec::new());
    group.fill(Built { at: 1, keys: keys_of((0..100).map(key)), segments });
    assert!(building.end(&group));
    let before = memory.bytes.load(Ordering::Relaxed);
    columns.want_all(&[2]);
    let freed = columns.shed_unread(|(bytes, rows)| bytes > rows * 20);
    assert!(freed > 4000 && memory.bytes.load(Ordering::Relaxed) == before - freed);
    let there = |at| group.built().expect("built").segments.get(at).is_some();
    assert_eq!([0, 1, 2].map(there), [true, false, true]);
    assert_eq!(columns.directory().state().absent, 0b10);
    let lacks = |at| columns.directory().state().lacks(at);
    assert_eq!([0, 1, 65].map(lacks), [false, true, false]);
    assert!(columns.shed_unread(|_| true) > 0);
    assert_eq!(columns.directory().state().absent, 0b11);
    drop(building);
    drop((group, columns));
    assert_eq!(memory.bytes.load(Ordering::Relaxed), 0);
}

proptest! {
    #[test]
    fn keys_made_of_columns_are_found_like_stored_ones(
        numbers in btree_set(-3000..3000i32, 0..2500),
        probes in vec(-3100..3100i32, 30),
        cut in 0..6usize,
    ) {
        let (made, stored, codec) = keys_of_numbers(&numbers);
        for probe in probes {
            let mut key = Vec::new();
            codec.key_of_values(&[Value::Int(i64::from(probe))], &mut key);
            prop_assert_eq!(made.find(&key), stored.find(&key));
            prop_assert_eq!(made.find(&key).is_ok(), numbers.contains(&probe));
            key.resize(cut, 0);
            prop_assert_eq!(made.find(&key), stored.find(&key));
        }
    }

    #[test]
    fn regions_cover_every_key_once(cuts in vec((any::<u16>(), any::<u16>(), any::<bool>()), 0..40)) {
        let columns = Columns::default();
        let mut groups: Vec<(u16, u16, Arc<Group>)> = Vec::new();
        for (a, b, removes) in cuts {
            if removes && !groups.is_empty() {
                let (.., gone) = groups.remove(usize::from(a) % groups.len());
                columns.remove(&gone);
                continue;
            }
            // A stretch lies within one rows-only region.
            let (lower, upper) = (a.min(b), a.max(b));
            let is_free = groups.iter().all(|(from, to, _)| upper <= *from || lower >= *to);
            if lower < upper && is_free {
                let built = group(8);
                let building = columns.begin_building().expect("nobody builds");
                building.begin((&key(lower), &key(upper)), &built);
                fill(&built, 1, keys_of([key(lower)]));
                building.end(&built);
                groups.push((lower, upper, built));
            }
        }
        let directory = columns.directory();
        let regions = directory.regions();
        prop_assert!(regions[0].lower.is_empty());
        for probe in (0..=u16::MAX).step_by(251) {
            let at = directory.position_of(&key(probe));
            prop_assert!(*regions[at].lower <= key(probe)[..]);
            prop_assert!(directory.upper(at).is_none_or(|upper| key(probe)[..] < *upper));
            let owner = groups.iter().find(|(from, to, _)| (*from..*to).contains(&probe));
            prop_assert_eq!(regions[at].group.is_some(), owner.is_some());
            if let (Some(group), Some((.., owner))) = (&regions[at].group, owner) {
                prop_assert!(Arc::ptr_eq(group, owner));
            }
        }
    }

    #[test]
    fn positions_are_those_of_equal_keys(
        prefix in vec(any::<u8>(), 0..3),
        keys in btree_set(vec(0..4u8, 0..5), 0..60),
        probes in vec(vec(0..5u8, 0..7), 20),
    ) {
        let whole = |key: &Vec<u8>| [&prefix[..], key].concat();
        let sorted: BTreeSet<Vec<u8>> = keys.iter().map(whole).collect();
        let positions = keys_of(&sorted);
        let sorted: Vec<Vec<u8>> = sorted.into_iter().collect();
        for probe in probes.iter().map(whole).chain(probes.iter().cloned()).chain(sorted.clone()) {
            let found = positions.find(&probe).map(|at| at as usize).map_err(|at| at as usize);
            prop_assert_eq!(found, sorted.binary_search(&probe));
        }
    }

    #[test]
    fn touched_keys_and_dead_positions_agree(touches in vec(0..40u16, 0..600), every in 1..50usize) {
        let columns = Columns::default();
        let built = group(1000);
        let building = columns.begin_building().expect("nobody builds");
        building.begin((&key(0), &key(100)), &built);
        fill(&built, 1, keys_of((0..40).step_by(2).map(key)));
        prop_assert!(building.end(&built));
        let mut expected = BTreeSet::new();
        for (count, number) in touches.iter().enumerate() {
            columns.touch(&key(*number));
            expected.insert(*number);
            if count % every > 0 {
                continue;
            }
            let touched = taken(&built).expect("not full");
            let keys: Vec<u16> = touched
                .keys
                .iter()
                .map(|key| u16::from_be_bytes([key.key[0], key.key[1]]))
                .collect();
            prop_assert!(keys.iter().eq(&expected));
            for at in touched.keys.iter().map(|key| key.at) {
                prop_assert!(at <= 20);
            }
            let dead: Vec<u16> = touched.dead.iter_ones().map(|at| 2 * at as u16).collect();
            prop_assert!(dead.iter().eq(expected.iter().filter(|number| *number % 2 == 0)));
        }
    }
}
