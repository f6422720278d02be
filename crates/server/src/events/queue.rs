//! Due times of events, each event with one.
//!
//! Must not know clocks, threads or SQL.

use std::collections::{BTreeMap, BTreeSet};

/// Schema and name.
pub(super) type Name = (Box<str>, Box<str>);

/// The due times, in order; those of one second are in the order of their names.
#[derive(Debug, Default)]
pub(super) struct Queue {
    times: BTreeSet<(i64, Name)>,
    due: BTreeMap<Name, i64>,
}

impl Queue {
    /// Sets the due time of an event; without one the event leaves the queue.
    pub(super) fn set(&mut self, schema: &str, name: &str, due: Option<i64>) {
        self.remove(schema, name);
        if let Some(due) = due {
            let name: Name = (schema.into(), name.into());
            self.times.insert((due, name.clone()));
            self.due.insert(name, due);
        }
    }

    /// As [`Self::set`], if the event has no due time.
    pub(super) fn set_if_absent(&mut self, schema: &str, name: &str, due: Option<i64>) {
        if !self.due.contains_key(&(schema.into(), name.into())) {
            self.set(schema, name, due);
        }
    }

    /// Removes an event.
    pub(super) fn remove(&mut self, schema: &str, name: &str) {
        let name: Name = (schema.into(), name.into());
        if let Some(due) = self.due.remove(&name) {
            self.times.remove(&(due, name));
        }
    }

    /// Removes the events of a schema.
    pub(super) fn remove_schema(&mut self, schema: &str) {
        self.due.retain(|(own, _), _| **own != *schema);
        self.times.retain(|(_, (own, _))| **own != *schema);
    }

    /// Takes the first event that is due.
    pub(super) fn take_due(&mut self, now: i64) -> Option<(Name, i64)> {
        let (due, _) = self.times.first()?;
        if *due > now {
            return None;
        }
        let (due, name) = self.times.pop_first()?;
        self.due.remove(&name);
        Some((name, due))
    }

    /// The first due time.
    pub(super) fn first(&self) -> Option<i64> {
        self.times.first().map(|(due, _)| *due)
    }

    /// Number of events.
    pub(super) fn len(&self) -> usize {
        self.due.len()
    }

    /// Removes all events.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Queue;

    fn taken(queue: &mut Queue, now: i64) -> Option<(String, i64)> {
        queue.take_due(now).map(|((schema, name), due)| (format!("{schema}.{name}"), due))
    }

    #[test]
    fn an_event_is_taken_once() {
        let mut queue = Queue::default();
        queue.set("a", "x", Some(10));
        queue.set("a", "y", Some(5));
        queue.set("b", "x", Some(5));
        assert_eq!(queue.first(), Some(5));
        assert_eq!(taken(&mut queue, 4), None);
        assert_eq!(taken(&mut queue, 5), Some(("a.y".to_owned(), 5)));
        assert_eq!(taken(&mut queue, 5), Some(("b.x".to_owned(), 5)));
        assert_eq!(taken(&mut queue, 5), None);
        assert_eq!(taken(&mut queue, 99), Some(("a.x".to_owned(), 10)));
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_new_due_time_replaces_the_old_one() {
        let mut queue = Queue::default();
        queue.set("a", "x", Some(10));
        queue.set("a", "x", Some(3));
        queue.set_if_absent("a", "x", Some(1));
        queue.set("a", "gone", Some(1));
        queue.set("a", "gone", None);
        queue.set("b", "x", Some(1));
        queue.remove_schema("b");
        assert_eq!(taken(&mut queue, 99), Some(("a.x".to_owned(), 3)));
        assert_eq!(taken(&mut queue, 99), None);
    }

    /// Events with intervals of 1 to 5 s under changes and pauses: no due time is taken twice, and
    /// none before its time.
    #[test]
    fn no_due_time_is_taken_twice() {
        let mut queue = Queue::default();
        let mut last: BTreeMap<String, i64> = BTreeMap::new();
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for now in 0..20_000_i64 {
            let name = format!("e{}", next(5));
            match next(10) {
                0 => queue.set("s", &name, last.get(&format!("s.{name}")).map(|last| last + 1)),
                1 => queue.remove("s", &name),
                2 => queue.set("s", &name, Some(now + next(5) as i64)),
                3..=5 => continue,
                _ => {}
            }
            while let Some(((schema, name), due)) = queue.take_due(now) {
                let key = format!("{schema}.{name}");
                assert!(due <= now, "{key} at {now}");
                if last.insert(key.clone(), due.max(now)).is_some_and(|last| last >= due) {
                    // The definition itself asked for this second again.
                    assert!(due >= now - 5, "{key} at {now}");
                }
                let interval = 1 + next(5) as i64;
                queue.set_if_absent(&schema, &name, Some(now + interval));
                assert!(queue.first().is_some());
            }
        }
    }
}
