//! The order of MariaDB's hash tables, which clients see where it lists one: START ALL SLAVES and
//! STOP ALL SLAVES take connections in it, SHOW GRANTS lists tables, routines and columns in it.
//!
//! Compat: it is the order of the slots of a table that grows by one slot with each name: linear
//! hashing, where a name that is alone in its bucket is in the slot of the bucket's number, and
//! others are where a slot was free. Must not know what the names are of.

use selkie_types::CollationId;
use selkie_types::charset::SortHash;

/// A number that names with equal letters have in common.
pub(crate) fn hash_of_name(name: &str) -> u32 {
    let mut hash = SortHash::default();
    hash.add_text(CollationId::UTF8MB3_GENERAL_CI.info(), name.as_bytes());
    hash.finish()
}

/// A number for names of which each ends with a zero byte.
pub(crate) fn hash_of_names(names: &[&str]) -> u32 {
    let mut hash = SortHash::default();
    for name in names {
        hash.add_bytes(name.as_bytes());
        hash.add_bytes(&[0]);
    }
    hash.finish()
}

/// The bucket of a hash in a table of `slots`.
fn bucket(hash: u32, slots: usize) -> usize {
    let size = slots.next_power_of_two();
    let number = hash as usize & (size - 1);
    if number < slots { number } else { number & (size / 2 - 1) }
}

/// The table: a name's position in `names` for each slot, and the slots of each bucket.
#[derive(Default)]
struct Table {
    slots: Vec<usize>,
    buckets: Vec<Vec<usize>>,
}

impl Table {
    /// Adds the name at `new`, whose slot is that of its bucket; who was there moves.
    fn add(&mut self, new: usize, hashes: &[u32]) {
        let free = self.split(hashes);
        let number = self.slots.len();
        let home = |name: usize| bucket(hashes[name], number);
        let wanted = home(new);
        if wanted != free {
            let moved = self.slots[wanted];
            self.slots[free] = moved;
            match home(moved) {
                same if same == wanted => self.buckets[same].insert(1, free),
                other => {
                    let slot = self.buckets[other].iter_mut().find(|slot| **slot == wanted);
                    slot.into_iter().for_each(|slot| *slot = free);
                    self.buckets[wanted] = vec![wanted];
                }
            }
        } else {
            self.buckets[wanted] = vec![wanted];
        }
        self.slots[wanted] = new;
    }

    /// Makes a slot, and shares the members of the bucket that it is split from. Returns a free
    /// slot.
    fn split(&mut self, hashes: &[u32]) -> usize {
        let last = self.slots.len();
        self.slots.push(usize::MAX);
        self.buckets.push(Vec::new());
        let low = last - (last + 1).next_power_of_two() / 2;
        if last == 0 {
            return last;
        }
        let members = std::mem::take(&mut self.buckets[low]);
        let (stay, mut go): (Vec<usize>, Vec<usize>) = members
            .into_iter()
            .partition(|slot| bucket(hashes[self.slots[*slot]], last + 1) == low);
        let Some(first) = go.first_mut() else {
            self.buckets[low] = stay;
            return last;
        };
        let mut free = std::mem::replace(first, last);
        self.slots[last] = self.slots[free];
        self.buckets[last] = go;
        self.buckets[low] = stay;
        if free == low
            && let Some(first) = self.buckets[low].first_mut()
        {
            free = std::mem::replace(first, low);
            self.slots[low] = self.slots[free];
        }
        free
    }
}

/// Positions in `hashes`, whose names were added in this order, in the order of the table.
pub(crate) fn in_slots(hashes: &[u32]) -> Vec<usize> {
    let mut table = Table::default();
    (0..hashes.len()).for_each(|name| table.add(name, hashes));
    table.slots
}

#[cfg(test)]
mod tests {
    use super::{hash_of_name, hash_of_names, in_slots};

    fn order(names: &[&str]) -> Vec<usize> {
        in_slots(&names.iter().map(|name| hash_of_name(name)).collect::<Vec<_>>())
    }

    fn ordered(names: &str) -> String {
        let names: Vec<&str> = std::iter::once("").chain(names.split(' ')).collect();
        let order = order(&names).into_iter().map(|at| names[at]);
        order.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn orders_seen_on_mariadb() {
        for seen in ["master2 master1", "m2 m1", "a c b", "slave2 slave1", "c2a b2a", "a2b c2b"] {
            let mut names: Vec<&str> = seen.split(' ').collect();
            names.sort_unstable();
            assert_eq!(ordered(&names.join(" ")), seen);
        }
        assert_eq!(ordered("a b c d e f g"), "e g b a d c f");
        assert_eq!(order(&["", "a", "b", "c"]), [1, 0, 3, 2]);
        assert_eq!(order(&["f1", "f3", "f2", "a", "b", "c"]), [1, 0, 5, 4, 3, 2]);
        let keys: [&[&str]; 4] = [
            &["mariadb.sys", "mysql", "global_priv"],
            &["u1", "gx", "t1"],
            &["u1", "gx", "t2"],
            &["u1", "gx", "t3"],
        ];
        assert_eq!(in_slots(&keys.map(hash_of_names)), [0, 2, 1, 3]);
    }
}
