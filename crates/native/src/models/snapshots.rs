//! Model of snapshots: nothing that a snapshot needs is reclaimed, whichever part of the list the
//! snapshot is in.

use super::{Body, Explore, run};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::step;
use crate::trx::Snapshots;
use std::sync::Arc;

struct Model {
    snapshots: Snapshots,
    /// Position up to which commits are published.
    published: AtomicU64,
    /// Position up to which all readers see every commit: the replaced versions are gone.
    reclaimed: AtomicU64,
}

impl Model {
    fn now(&self) -> u64 {
        self.published.load(Ordering::SeqCst)
    }

    fn commit(&self) {
        (1..5).for_each(|lsn| self.published.store(lsn, Ordering::SeqCst));
    }

    fn read(&self, part: usize) {
        for _ in 0..2 {
            let snapshot = self.snapshots.take_in(part, || self.now());
            step();
            let reclaimed = self.reclaimed.load(Ordering::SeqCst);
            assert!(reclaimed <= snapshot.lsn, "{reclaimed} is gone that {} needs", snapshot.lsn);
            self.snapshots.release(snapshot);
        }
    }

    fn purge(&self) {
        for _ in 0..2 {
            let horizon = self.snapshots.horizon_at(self.now());
            self.reclaimed.fetch_max(horizon, Ordering::SeqCst);
        }
    }
}

#[test]
fn readers_keep_what_they_see() {
    Explore::schedules(1000).run(|| {
        let model = Arc::new(Model {
            snapshots: Snapshots::in_parts(2),
            published: AtomicU64::new(0),
            reclaimed: AtomicU64::new(0),
        });
        let who = |work: fn(&Model)| {
            let model = model.clone();
            Box::new(move || work(&model)) as Body<()>
        };
        let readers = [who(|model| model.read(0)), who(|model| model.read(1))];
        run(readers.into_iter().chain([who(Model::commit), who(Model::purge)]).collect());
        assert_eq!(model.snapshots.horizon_at(9), 9);
    });
}
