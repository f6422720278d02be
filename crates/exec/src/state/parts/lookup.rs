//! Looking rows of a table in parts up: by row keys, which tell the leaf, and by keys of an index.
//! Such a key goes to the leaves that its values allow, and to all if it does not tell them.

use selkie_engine::{EngineResult, EngineTrx, LockMode, RowSet, Scan, StatementContext};
use selkie_types::ByteRows;

use super::{PartSet, put_key, split};

impl PartSet {
    /// Rows by their row keys, in order of the keys.
    pub(super) fn look_up_rows(
        &self,
        (trx, context): (&dyn EngineTrx, &dyn StatementContext),
        scan: &Scan,
        keys: &ByteRows,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        let mut from = 0;
        while from < keys.len() {
            let (leaf, _) = split(keys.get(from))?;
            let mut own = ByteRows::default();
            let mut to = from;
            while to < keys.len() {
                let (other, key) = split(keys.get(to))?;
                if other != leaf {
                    break;
                }
                own.push(key);
                to += 1;
            }
            if scan.parts.as_ref().is_none_or(|parts| parts.contains(&(leaf as u16))) {
                let mut found = RowSet::default();
                self.leaf(leaf)?.lookup(trx, context, scan, &own, &mut found)?;
                let rows = 0..found.count();
                append(out, leaf, &found, rows, from as u32);
            }
            from = to;
        }
        Ok(())
    }

    /// Rows by keys of an index, in order of the keys, then of the leaves.
    pub(super) fn look_up_keys(
        &self,
        (trx, context): (&dyn EngineTrx, &dyn StatementContext),
        scan: &Scan,
        keys: &ByteRows,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        // A reader of one leaf needs neither routes nor keys with the leaf's number. One that locks
        // asks no leaf for keys that it cannot have: the gaps there are others'.
        if let (Some([leaf]), false, LockMode::None) =
            (scan.parts.as_deref(), scan.want_keys, scan.lock)
        {
            return self.leaf(usize::from(*leaf))?.lookup(trx, context, scan, keys, out);
        }
        let mut found: Vec<(usize, RowSet, usize)> = Vec::new();
        for (leaf, asked) in self.asked_of(scan, keys) {
            let mut own = ByteRows::with_capacity(asked.len());
            asked.iter().for_each(|key| own.push(keys.get(*key as usize)));
            let mut set = RowSet::default();
            self.leaf(leaf)?.lookup(trx, context, scan, &own, &mut set)?;
            set.found_by.iter_mut().for_each(|key| *key = asked[*key as usize]);
            if set.count() > 0 {
                found.push((leaf, set, 0));
            }
        }
        if let [(leaf, set, _)] = &found[..] {
            append(out, *leaf, set, 0..set.count(), 0);
            return Ok(());
        }
        for key in 0..keys.len() as u32 {
            for (leaf, set, at) in &mut found {
                let from = *at;
                while set.found_by.get(*at) == Some(&key) {
                    *at += 1;
                }
                append(out, *leaf, set, from..*at, 0);
            }
        }
        Ok(())
    }
}

impl PartSet {
    /// The leaves that are asked, each with the numbers of the keys that it may have.
    fn asked_of(&self, scan: &Scan, keys: &ByteRows) -> Vec<(usize, Vec<u32>)> {
        let read = self.read_by(scan);
        let route = scan.index.and_then(|at| self.routes.get(at)).and_then(Option::as_ref);
        let mut asked: Vec<(usize, Vec<u32>)> =
            read.iter().map(|leaf| (usize::from(*leaf), Vec::new())).collect();
        for number in 0..keys.len() {
            let leaves = route.and_then(|route| route.leaves(&self.router, keys.get(number)));
            match leaves {
                None => asked.iter_mut().for_each(|(_, own)| own.push(number as u32)),
                Some(leaves) => {
                    for at in leaves.iter().filter_map(|leaf| read.binary_search(leaf).ok()) {
                        asked[at].1.push(number as u32);
                    }
                }
            }
        }
        asked.retain(|(_, own)| !own.is_empty());
        asked
    }
}

/// Appends rows of a leaf. `offset` is added to the numbers of their keys.
fn append(out: &mut RowSet, leaf: usize, set: &RowSet, rows: std::ops::Range<usize>, offset: u32) {
    for row in rows {
        copy_row(out, leaf, set, row);
        if let Some(key) = set.found_by.get(row) {
            out.found_by.push(key + offset);
        }
    }
}

/// Appends a row of a leaf, or the entry in its place.
pub(super) fn copy_row(out: &mut RowSet, leaf: usize, set: &RowSet, row: usize) {
    if !set.rows.is_empty() {
        out.rows.push(set.rows.get(row));
    }
    if !set.entries.is_empty() {
        out.entries.push(set.entries.get(row));
    }
    if !set.keys.is_empty() {
        put_key(&mut out.keys, leaf, set.keys.get(row));
    }
}
