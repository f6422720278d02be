//! Schedules against a model: every order that tickets allow gives the state of the serial one.
//! Must not know the rules that it tests.

use std::collections::BTreeMap;

use super::*;

/// Numbers that look like random ones.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }
}

/// A group of the model: it reads and writes keys of a table, or does anything at all.
#[derive(Clone, Debug)]
struct Group {
    reads: Vec<u64>,
    writes: Vec<u64>,
    is_opaque: bool,
    is_alone: bool,
    has_waited: bool,
    commit_id: Option<u64>,
}

impl Group {
    fn touches(&self) -> Vec<Touch> {
        let keys = self.reads.iter().chain(&self.writes);
        keys.map(|key| Touch::Key { space: key % 3, key: *key }).collect()
    }

    fn facts<'t>(&self, touches: &'t [Touch]) -> Facts<'t> {
        Facts {
            commit_id: self.commit_id,
            is_alone: self.is_alone,
            has_waited: self.has_waited,
            touches: Some(touches).filter(|_| !self.is_opaque),
        }
    }

    /// New values of its keys, from what it sees.
    fn result(&self, number: u64, seen: &BTreeMap<u64, u64>) -> Vec<(u64, u64)> {
        let value = |key: &u64| seen.get(key).copied().unwrap_or(0);
        let sum: u64 = self
            .reads
            .iter()
            .map(value)
            .fold(number, |all, v| all.wrapping_mul(31).wrapping_add(v));
        let write = |key: &u64| (*key, sum.wrapping_add(value(key)));
        self.writes.iter().map(write).collect()
    }
}

fn conflicts(one: &Group, other: &Group) -> bool {
    let touches =
        |group: &Group, key: &u64| group.reads.contains(key) || group.writes.contains(key);
    one.writes.iter().any(|key| touches(other, key))
        || other.writes.iter().any(|key| touches(one, key))
}

/// Groups as a primary commits them: those of one commit have nothing in common.
fn groups(draw: &mut Draw, count: usize, keys: u64) -> Vec<Group> {
    let mut all: Vec<Group> = Vec::new();
    let mut commit_id = 1;
    for _ in 0..count {
        let some = |draw: &mut Draw| {
            let count = draw.next(3);
            (0..count).map(|_| draw.next(keys)).collect()
        };
        let mut group = Group {
            reads: some(draw),
            writes: some(draw),
            is_opaque: draw.next(6) == 0,
            is_alone: draw.next(12) == 0,
            has_waited: draw.next(8) == 0,
            commit_id: None,
        };
        let together = all.iter().rev().take_while(|other| other.commit_id == Some(commit_id));
        if group.is_alone || together.clone().any(|other| conflicts(other, &group)) {
            commit_id += 1;
        }
        if !group.is_alone && draw.next(4) > 0 {
            group.commit_id = Some(commit_id);
        }
        all.push(group);
    }
    all
}

/// Applies the groups in a random one of the orders that a lane allows. Each one sees what was
/// committed when it began, and its changes are committed in order.
fn apply(draw: &mut Draw, mode: ParallelMode, groups: &[Group]) -> (BTreeMap<u64, u64>, usize) {
    let mut lane = Lane::default();
    let tickets: Vec<Ticket> =
        groups.iter().map(|group| lane.add(mode, group.facts(&group.touches()))).collect();
    let mut state = BTreeMap::new();
    let mut running: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    let mut begun = vec![false; groups.len()];
    let mut most = 0;
    while (lane.committed() as usize) < groups.len() {
        let open: Vec<usize> =
            (0..groups.len()).filter(|at| !begun[*at] && lane.may_begin(tickets[*at])).collect();
        let begins = !open.is_empty() && draw.next(3) > 0;
        if begins {
            let at = open[draw.next(open.len() as u64) as usize];
            begun[at] = true;
            let number = tickets[at].number;
            running.insert(number, groups[at].result(number, &state));
            most = most.max(running.len());
        } else if let Some(entry) = running.first_entry()
            && lane.is_next(*entry.key())
        {
            state.extend(entry.remove());
            lane.commit();
        }
    }
    (state, most)
}

#[test]
fn every_allowed_order_gives_what_the_primary_has() {
    let mut draw = Draw(0x9E37_79B9_7F4A_7C15);
    let modes = [
        ParallelMode::Minimal,
        ParallelMode::Conservative,
        ParallelMode::Optimistic,
        ParallelMode::Aggressive,
    ];
    for round in 0..600 {
        let keys = 2 + draw.next(40);
        let groups = groups(&mut draw, 30, keys);
        let mut serial = BTreeMap::new();
        for (at, group) in groups.iter().enumerate() {
            let new = group.result(at as u64 + 1, &serial);
            serial.extend(new);
        }
        let mode = modes[round % modes.len()];
        let (state, most) = apply(&mut draw, mode, &groups);
        assert_eq!(state, serial, "{mode:?} {groups:?}");
        assert!(mode != ParallelMode::Minimal || most == 1);
    }
}

fn ticket(lane: &mut Lane, mode: ParallelMode, commit_id: Option<u64>, touches: &[Touch]) -> u64 {
    let facts = Facts { commit_id, is_alone: false, has_waited: false, touches: Some(touches) };
    lane.add(mode, facts).after
}

#[test]
fn groups_without_common_keys_wait_for_nothing() {
    let (mode, mut lane) = (ParallelMode::Optimistic, Lane::default());
    let key = |key| Touch::Key { space: 1, key };
    assert_eq!(ticket(&mut lane, mode, None, &[key(1), key(2)]), 0);
    assert_eq!(ticket(&mut lane, mode, None, &[key(3), key(3)]), 0);
    assert_eq!(ticket(&mut lane, mode, None, &[key(2), key(4)]), 1);
    assert_eq!(ticket(&mut lane, mode, None, &[Touch::Space(1)]), 3);
    assert_eq!(ticket(&mut lane, mode, None, &[key(9)]), 4);
    assert_eq!(ticket(&mut lane, mode, None, &[Touch::Key { space: 2, key: 9 }]), 0);
    let waited = Facts { commit_id: None, is_alone: false, has_waited: true, touches: Some(&[]) };
    assert_eq!(lane.add(mode, waited).after, 6);
    assert_eq!(lane.add(ParallelMode::Aggressive, waited).after, 0);
    assert_eq!(lane.add(mode, Facts { touches: None, ..waited }).after, 8);
    assert_eq!(ticket(&mut lane, mode, None, &[key(77)]), 9);
}

#[test]
fn groups_of_one_commit_run_beside_each_other() {
    let (mode, mut lane) = (ParallelMode::Conservative, Lane::default());
    let mut after = |commit_id| ticket(&mut lane, mode, commit_id, &[]);
    assert_eq!([after(Some(7)), after(Some(7)), after(Some(7))], [0, 0, 0]);
    assert_eq!([after(None), after(None), after(Some(8)), after(Some(8))], [3, 4, 5, 5]);
    let alone = Facts { commit_id: Some(8), is_alone: true, has_waited: false, touches: None };
    assert_eq!(lane.add(mode, alone).after, 7);
    assert_eq!(ticket(&mut lane, mode, Some(8), &[]), 8);
}

#[test]
fn a_front_goes_on_when_its_first_ends() {
    let mut front = Front::new(0);
    let numbers: Vec<u64> = (0..4).map(|_| front.begin()).collect();
    front.end(numbers[1], 20);
    front.end(numbers[2], 30);
    assert_eq!((*front.reached(), front.is_behind(numbers[0])), (0, false));
    front.end(numbers[0], 10);
    assert_eq!((*front.reached(), front.is_behind(numbers[2])), (30, true));
    let next = front.begin();
    front.end(numbers[3], 40);
    front.end(next, 50);
    assert_eq!(*front.reached(), 50);
}
