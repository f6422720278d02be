//! Groups so small that a step from entry to entry costs less than a search for the next group: all
//! entries are read. MariaDB still takes the ends of groups, by its own costs, and EXPLAIN names
//! what it takes.

use selkie_engine::{IndexDef, IndexKind};

use super::access::Path;
use super::group_ends::{Asked, Wanted, Way, bounded_parts, parts_with};
use super::{Builder, Goal};
use crate::estimate::{prefix_distinct, table_rows};
use crate::explain::key_length;
use crate::logical::RelationInfo;
use crate::physical::{GroupEnds, KeyRange};

/// MariaDB's cost of testing a row, where reading a page costs one.
const ROW: f64 = 0.2;
/// Its cost of finding a group within the pages of an index, for each level and beside these.
const LEVEL: f64 = 0.1;
const GROUP: f64 = 0.05;
/// Its cost of starting to read ranges.
const RANGES: f64 = 0.3;
/// Bytes of a page that hold entries.
const PAGE: f64 = 8192.0;
/// Bytes of the key of a row in a table without a primary key.
const ROW_ID: usize = 6;

impl Builder<'_> {
    /// A read of all entries of an index that MariaDB replaces by the ends of groups.
    pub(super) fn passing_path(
        &self,
        info: &RelationInfo,
        at: usize,
        way: &Way,
        wanted: &Wanted,
        asked: &Asked<'_>,
    ) -> Option<Path> {
        let index = &info.table.def.indexes[at];
        if !is_known(info, index, way, wanted) || self.is_dear_to_mariadb(info, at, wanted) {
            return None;
        }
        let rows = table_rows(&info.table, self.source);
        let selectivity = self.estimator().all(asked.conditions);
        let goal = Goal { order: asked.order, limit: None };
        let (conditions, read) = (asked.conditions, asked.read);
        let mut path = self.index_path(info, at, conditions, read, goal, rows, selectivity)?;
        let groups = self.groups_between(info, at, &path.bounds, conditions, way.ends.parts);
        if !self.seems_dearer(info, at, &path, (&way.ends, groups)) {
            return None;
        }
        path.groups = Some(GroupEnds { passed: true, ..way.ends.clone() });
        path.examined = groups;
        Some(path)
    }

    /// Compat: MariaDB does not read the groups of a clustered index for an aggregate with
    /// DISTINCT. Without a primary key, the first unique key without NULLs is the clustered one.
    pub(super) fn is_dear_to_mariadb(
        &self,
        info: &RelationInfo,
        at: usize,
        wanted: &Wanted,
    ) -> bool {
        let def = &info.table.def;
        let first = || def.indexes.iter().position(|index| def.is_identified_by(index));
        let clustered =
            def.indexes[at].kind == IndexKind::Primary || !def.has_primary() && first() == Some(at);
        wanted.distinct.is_some() && clustered
    }

    /// Whether the entries of a path cost MariaDB more than the ends of `groups` groups.
    fn seems_dearer(
        &self,
        info: &RelationInfo,
        at: usize,
        path: &Path,
        (ends, groups): (&GroupEnds, f64),
    ) -> bool {
        let index = &info.table.def.indexes[at];
        let rows = table_rows(&info.table, self.source).max(1.0);
        let row_key = match info.table.def.primary() {
            Some(primary) => key_length(&info.table, 0, primary.parts.len()),
            None => ROW_ID,
        };
        let entry = key_length(&info.table, at, index.parts.len()) + row_key;
        let per_page = (PAGE / entry as f64).floor() + 1.0;
        let pages = (rows / per_page).floor() + 1.0;
        let levels = (rows.ln() / per_page.ln()).ceil();
        let groups = groups.round().max(1.0);
        let distinct = |parts| prefix_distinct(&info.table, (at, parts), rows, self.source);
        let in_group = (rows / distinct(ends.parts)).floor().max(1.0);
        let used = ends.parts + ends.gap + usize::from(!ends.is_one());
        let searched = if used > ends.parts {
            let in_part = (rows / distinct(used)).floor().max(1.0);
            let overlap = match in_part >= per_page {
                true => 1.0,
                false => (pages / groups * (in_part - 1.0) / in_group).min(1.0),
            };
            (groups * (1.0 + overlap)).min(pages)
        } else if in_group > per_page {
            groups + f64::from(u8::from(ends.first && ends.last))
        } else {
            pages
        };
        let by_ends = searched + groups * (levels * LEVEL + GROUP);
        let entries = path.examined.round();
        let is_point = |r: &&KeyRange| r.equal.len() >= index.parts.len() && index.is_unique();
        let by_entries = match path.bounds.restricts() {
            true => RANGES + path.bounds.ranges.iter().filter(is_point).count() as f64,
            false => entries / per_page + 1.0,
        };
        by_ends < by_entries + entries * ROW
    }
}

/// Compat: whether MariaDB knows this way of reading groups: their columns are the first parts of
/// the index, a part between them and the one whose ends are wanted has one value, and nothing
/// behind them is tested.
fn is_known(info: &RelationInfo, index: &IndexDef, way: &Way, wanted: &Wanted) -> bool {
    let ends = &way.ends;
    let of_group = parts_with(info, index, &wanted.every) == Some(ends.parts)
        && bounded_parts(&way.bounds) <= ends.parts;
    // The rows of a unique key are no groups.
    let of_group = of_group && !(index.is_unique() && ends.parts >= index.parts.len());
    let is_behind = wanted.end.is_none() || !ends.is_one();
    let within = match &ends.within[..] {
        [] => true,
        [only] => wanted.end.is_some() || !only.is_bounded(),
        _ => wanted.end.is_some() && ends.gap == 0,
    };
    wanted.is_known && of_group && is_behind && within
}
