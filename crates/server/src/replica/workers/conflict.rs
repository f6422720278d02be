//! Groups that are in the way of earlier ones of their domains.
//!
//! A group waits for rows of others, or for its turn, which is a wait for the group before. If an
//! earlier group so waits, through whatever chain, for a later one of its lane, neither can go on:
//! the later one gives way. The engine sees only a part of such circles.
//!
//! A group may also wait because somebody keeps all changes out, who waits for those that are
//! inside. Each of these may be one that waits for a row.

use std::sync::atomic::Ordering;

use hashbrown::{HashMap, HashSet};

use super::State;

impl State {
    /// Makes groups give way that earlier ones wait for. `rows` are pairs of sessions, a waiter and
    /// a holder.
    pub(super) fn resolve(&mut self, rows: &[(u64, u64)]) {
        if rows.is_empty() {
            return;
        }
        let mut edges: HashMap<u64, Vec<u64>> = HashMap::new();
        for (waiter, holder) in rows {
            edges.entry(*waiter).or_default().push(*holder);
        }
        for slot in self.slots.iter().filter(|slot| slot.task.is_some_and(|task| task.waits)) {
            let before = slot.task.and_then(|task| self.before(task));
            if let Some(before) = before {
                edges.entry(slot.session()).or_default().push(before);
            }
        }
        let kept_out = self.slots.iter().filter(|slot| slot.at_gate.load(Ordering::Relaxed));
        for slot in kept_out {
            let inside = rows.iter().map(|(waiter, _)| *waiter);
            edges.entry(slot.session()).or_default().extend(inside);
        }
        for at in self.in_the_way(&edges) {
            if !self.slots[at].gives_way && !self.slots[at].is_empty {
                self.slots[at].give_way();
            }
        }
    }

    /// The session that a waiting group waits for.
    pub(super) fn before(&self, task: super::Task) -> Option<u64> {
        let crew = self.crews.iter().find(|(id, _)| *id == task.crew).map(|(_, crew)| crew)?;
        let before = crew.lanes.get(&task.domain)?.before(task.number)?;
        self.slots.get(before).map(super::Slot::session)
    }

    /// Workers whose groups an earlier one of the lane waits for.
    fn in_the_way(&self, edges: &HashMap<u64, Vec<u64>>) -> HashSet<usize> {
        let mut found = HashSet::new();
        let session = |worker: usize| self.slots.get(worker).map(super::Slot::session);
        for queue in self.crews.iter().flat_map(|(_, crew)| crew.lanes.values()) {
            for (number, worker) in &queue.running {
                let Some(waiter) = session(*worker).filter(|id| edges.contains_key(id)) else {
                    continue;
                };
                let reached = reachable(edges, waiter);
                let later = queue.running.range(number + 1..);
                let in_way =
                    |worker: &usize| session(*worker).is_some_and(|id| reached.contains(&id));
                found.extend(later.map(|(_, worker)| *worker).filter(in_way));
            }
        }
        found
    }
}

/// All sessions that one waits for, directly or not.
fn reachable(edges: &HashMap<u64, Vec<u64>>, from: u64) -> HashSet<u64> {
    let (mut seen, mut open) = (HashSet::new(), vec![from]);
    while let Some(session) = open.pop() {
        let next = edges.get(&session).into_iter().flatten();
        open.extend(next.copied().filter(|next| seen.insert(*next)));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_followed_to_their_end() {
        let edges = HashMap::from([(1, vec![2, 3]), (3, vec![4]), (4, vec![1]), (5, vec![6])]);
        let mut found: Vec<u64> = reachable(&edges, 1).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3, 4]);
        assert!(reachable(&edges, 2).is_empty());
    }
}
