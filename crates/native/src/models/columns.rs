//! Model of column groups: one leaf, writers that commit or roll back, a builder that builds and
//! builds again, and readers. A reader gets by columns what it would get by rows.

use super::{Body, Explore, run};
use crate::columns::{Built, Columns, Finder, Group, Keys, Segments};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::step;
use selkie_column::encode;
use selkie_types::{ByteRows, Column, Physical, Value};
use std::sync::Arc;

const KEYS: usize = 2;

/// The versions of an entry, newest last: value and position of the commit, `u64::MAX` before it.
type Versions = Vec<(i64, Arc<AtomicU64>)>;

struct Model {
    columns: Columns,
    /// The mutex is the leaf's latch.
    leaf: Mutex<[Versions; KEYS]>,
    /// The position up to which commits are published.
    published: AtomicU64,
}

fn key(at: usize) -> [u8; 1] {
    [at as u8]
}

/// The newest value that a snapshot sees.
fn seen(versions: &Versions, snapshot: u64) -> Option<i64> {
    let seen = |(_, commit): &&(i64, Arc<AtomicU64>)| commit.load(Ordering::SeqCst) <= snapshot;
    versions.iter().rev().find(seen).map(|(value, _)| *value)
}

impl Model {
    fn new() -> Model {
        let first = |at: usize| vec![(at as i64 * 100, Arc::new(AtomicU64::new(0)))];
        Model {
            columns: Columns::default(),
            leaf: Mutex::new([first(0), first(1)]),
            published: AtomicU64::new(0),
        }
    }

    fn change(&self, at: usize, value: i64) -> Arc<AtomicU64> {
        let commit = Arc::new(AtomicU64::new(u64::MAX));
        let mut leaf = self.leaf.lock();
        self.columns.touch(&key(at));
        leaf[at].push((value, commit.clone()));
        commit
    }

    /// Changes a row and commits at `position`. There is one such writer, so positions ascend.
    fn write(&self) {
        for position in 1..4 {
            let commit = self.change(0, position as i64);
            commit.store(position, Ordering::SeqCst);
            self.published.store(position, Ordering::SeqCst);
        }
    }

    /// Changes the other row and takes the change back.
    fn roll_back(&self) {
        self.change(1, -1);
        self.leaf.lock()[1].pop();
    }

    fn build(&self) {
        for _ in 0..2 {
            let Some(building) = self.columns.begin_building() else { return };
            for region in self.columns.directory().regions() {
                region.group.iter().for_each(|group| self.columns.remove(group));
            }
            let group = Arc::new(Group::new(0, 3, Arc::default()));
            building.begin((&key(0), &key(KEYS)), &group);
            let snapshot = self.published.load(Ordering::SeqCst);
            let (mut keys, mut values) = (ByteRows::default(), Column::new(Physical::Int, 0, KEYS));
            for at in 0..KEYS {
                let leaf = self.leaf.lock();
                let Some((value, commit)) = leaf[at].last() else { continue };
                if commit.load(Ordering::SeqCst) <= snapshot {
                    keys.push(&key(at));
                    values.push(&Value::Int(*value));
                } else {
                    group.touch(&key(at));
                }
            }
            let segments = vec![(!values.is_empty()).then(|| Arc::new(encode(&values)))];
            let segments = Segments::new(segments, Vec::new());
            group.fill(Built { at: snapshot, keys: Keys::new(&keys), segments });
            building.end(&group);
        }
    }

    fn read(&self) {
        for _ in 0..2 {
            let snapshot = self.published.load(Ordering::SeqCst);
            let directory = self.columns.directory();
            step();
            for at in 0..KEYS {
                let region = &directory.regions()[directory.position_of(&key(at))];
                let by_group =
                    region.group.as_ref().and_then(|group| self.in_group(group, at, snapshot));
                step();
                let by_rows = seen(&self.leaf.lock()[at], snapshot);
                assert!(
                    by_group.is_none_or(|value| Some(value) == by_rows),
                    "row {at} at {snapshot}"
                );
            }
        }
    }

    /// A row's value in a group; `None` if it must be looked up.
    fn in_group(&self, group: &Group, at: usize, snapshot: u64) -> Option<i64> {
        let built = group.built().filter(|built| built.at <= snapshot)?;
        let touched = group.take_touched(&built.keys)?;
        let position = Finder::new(&built.keys).find(&key(at));
        let is_touched = touched.keys.iter().any(|touched| *touched.key == key(at));
        assert!(position.is_err() || position.is_ok_and(|p| touched.is_dead(p)) == is_touched);
        let position = position.ok().filter(|_| !is_touched)?;
        match built.segments.get(0)?.decode(0).ok()?.value(position as usize) {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }
}

#[test]
fn columns_give_what_rows_give() {
    Explore::schedules(2000).run(|| {
        let model = Arc::new(Model::new());
        let who = |work: fn(&Model)| {
            let model = model.clone();
            Box::new(move || work(&model)) as Body<()>
        };
        let works = [Model::write, Model::roll_back, Model::build, Model::read, Model::read];
        run(works.into_iter().map(who).collect());
    });
}
