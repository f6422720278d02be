//! The keys that the groups of a lane have touched, with the last group for each.
//!
//! Must not know what keys are made of.

use hashbrown::HashMap;

/// A key that a group touches. A *space* is a list of columns of a table; keys of one space are
/// compared with each other only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touch {
    /// A key.
    Key {
        /// Its space.
        space: u64,
        /// Its hash.
        key: u64,
    },
    /// Keys of a space that are not known.
    Space(u64),
}

/// Groups that have touched a space.
#[derive(Clone, Copy, Debug, Default)]
struct Groups {
    /// The last one.
    any: u64,
    /// The last one whose keys are not known.
    whole: u64,
}

/// Touched keys and spaces.
#[derive(Debug, Default)]
pub(super) struct Touched {
    keys: HashMap<(u64, u64), u64, foldhash::fast::FixedState>,
    spaces: HashMap<u64, Groups, foldhash::fast::FixedState>,
    /// Number of keys at which old ones are looked for.
    full_at: usize,
}

/// Keys from which on it is worth looking for old ones.
const MANY: usize = 4096;

impl Touched {
    /// Group `number` touches these keys. Returns the last group before it that has touched one of
    /// them; 0 if there is none.
    pub(super) fn touch(&mut self, number: u64, touches: &[Touch]) -> u64 {
        let mut last = 0;
        for touch in touches {
            let before = match *touch {
                Touch::Key { space, key } => {
                    let groups = self.spaces.entry(space).or_default();
                    groups.any = number;
                    let whole = groups.whole;
                    self.keys.insert((space, key), number).unwrap_or(0).max(whole)
                }
                Touch::Space(space) => {
                    let groups = self.spaces.entry(space).or_default();
                    groups.whole = number;
                    std::mem::replace(&mut groups.any, number)
                }
            };
            // The group itself may have touched it before.
            last = last.max(if before == number { 0 } else { before });
        }
        last
    }

    /// Groups up to `committed` need not be known any more.
    pub(super) fn forget_upto(&mut self, committed: u64) {
        if self.keys.len() < self.full_at.max(MANY) {
            return;
        }
        self.keys.retain(|_, number| *number > committed);
        self.spaces.retain(|_, groups| groups.any > committed);
        self.full_at = self.keys.len() * 2;
    }
}
