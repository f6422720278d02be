//! The index that an access uses, in MariaDB's terms: type, length and parts of the key.
//!
//! Must not know the operators around the access.

use selkie_catalog::TableInfo;
use selkie_engine::IndexDef;
use selkie_types::{Physical, SqlType, TypeKind};

use super::rows::ExplainRow;
use crate::physical::{Access, GroupEnds, IndexRange, KeyRange, RangeBound, TableScan};

/// Describes an access by ranges of an index.
pub(super) fn describe_range(row: &mut ExplainRow, scan: &TableScan, range: &IndexRange) {
    let index = &scan.table.def.indexes[range.index];
    row.key = Some(index.name.to_string());
    let equal = range.ranges.iter().map(|r| r.equal.len()).max().unwrap_or(0);
    let bounded = range.ranges.iter().any(KeyRange::is_bounded);
    let most = index.parts.len() + scan.table.def.parts_behind(index).count();
    let parts = (equal + usize::from(bounded)).min(most);
    let used = if parts == 0 { index.parts.len() } else { parts };
    if let Some(groups) = &range.groups {
        let ends = parts_behind_groups(scan, index, groups);
        row.key_len = Some(key_length(&scan.table, range.index, groups.parts + ends).to_string());
        row.key_parts = key_columns(&scan.table, range.index, groups.parts + ends);
        row.access = Some("range");
        row.possible_keys =
            row.possible_keys.take().or_else(|| row.key.clone().filter(|_| parts > 0));
        return;
    }
    row.key_len = Some(key_length(&scan.table, range.index, used).to_string());
    row.key_parts = key_columns(&scan.table, range.index, used);
    row.access = Some(match (range.unique, range.ranges.len(), bounded) {
        (true, ..) => "const",
        _ if parts == 0 => "index",
        (_, 1, false) => "ref",
        _ => "range",
    });
    if !bounded && range.ranges.len() == 1 && parts > 0 {
        row.reference = Some(vec!["const"; equal].join(","));
    }
    if row.possible_keys.is_none() && parts > 0 {
        row.possible_keys = row.key.clone();
    }
}

/// Number of parts behind those of a group that count as used. Compat: the part whose ends are read
/// is counted if the last of its ranges bounds the least value, or the first of them the greatest;
/// without ranges, if NULLs stand before its least value.
fn parts_behind_groups(scan: &TableScan, index: &IndexDef, groups: &GroupEnds) -> usize {
    let GroupEnds { within, gap, .. } = groups;
    let bound = |r: &KeyRange| r.equal.len() + usize::from(r.is_bounded());
    if groups.is_one() {
        return within.iter().map(bound).max().unwrap_or(0);
    }
    let part = index.parts.get(groups.parts + gap);
    let is_null = part.is_some_and(|part| scan.table.columns[part.column].nullable);
    let is_open = |end: &RangeBound| matches!(end, RangeBound::Unbounded);
    let is_point = |r: &KeyRange| r.equal.len() > *gap || r.like.is_some();
    // Compat: NULL is the lower bound of a range that only has an upper one.
    let has_lower =
        |r: &KeyRange| is_point(r) || !is_open(&r.lower) || is_null && !is_open(&r.upper);
    let has_upper = |r: &KeyRange| is_point(r) || !is_open(&r.upper);
    let is_used = match within.iter().any(|r| bound(r) > *gap) {
        true => {
            groups.first && within.last().is_some_and(has_lower)
                || groups.last && within.first().is_some_and(has_upper)
        }
        false => groups.first && is_null,
    };
    gap + usize::from(is_used)
}

/// Compat: if fewer rows are wanted than there are groups, the index whose groups are read counts
/// as a possible one.
pub(super) fn say_group_key(row: &mut ExplainRow, scan: &TableScan, wanted: Option<u64>) {
    let Access::Index(range) = &scan.access else { return };
    let fewer = wanted.is_some_and(|wanted| row.rows.is_some_and(|rows| wanted < rows));
    if range.groups.is_none() || !fewer {
        return;
    }
    let indexes = scan.table.def.indexes.iter().enumerate();
    let possible = indexes
        .filter(|(at, index)| *at == range.index || scan.shown.possible_keys.contains(&index.name));
    let names: Vec<&str> = possible.map(|(_, index)| &*index.name).collect();
    row.possible_keys = Some(names.join(","));
}

/// Describes an access through several indexes and returns its remark; `None` for other accesses.
pub(super) fn describe_union(row: &mut ExplainRow, scan: &TableScan) -> Option<String> {
    let Access::Union(union) = &scan.access else { return None };
    let (mut names, mut lengths, mut in_order) = (Vec::new(), Vec::new(), true);
    for range in union {
        let mut one = ExplainRow::default();
        describe_range(&mut one, scan, range);
        names.extend(one.key);
        lengths.extend(one.key_len);
        let parts = scan.table.def.indexes[range.index].parts.len();
        in_order &=
            one.access == Some("ref") && range.ranges.iter().all(|r| r.equal.len() >= parts);
    }
    row.access = Some("index_merge");
    row.key = Some(names.join(","));
    row.key_len = Some(lengths.join(","));
    row.possible_keys = row.possible_keys.take().or_else(|| row.key.clone());
    let kind = if in_order { "union" } else { "sort_union" };
    Some(format!("Using {kind}({})", names.join(",")))
}

/// Number of bytes of the first `parts` parts of a key, as MariaDB counts them.
pub(crate) fn key_length(table: &TableInfo, index: usize, parts: usize) -> usize {
    let index = &table.def.indexes[index];
    let part = |part: &selkie_engine::IndexPart| {
        let column = &table.columns[part.column];
        value_length(&column.ty, part.prefix) + usize::from(column.nullable)
    };
    index.parts.iter().chain(table.def.parts_behind(index)).take(parts).map(part).sum()
}

/// Number of bytes of a value in a key, of which `prefix` characters may be kept.
pub(super) fn value_length(ty: &SqlType, prefix: Option<u32>) -> usize {
    match ty.physical() {
        Physical::Bytes if ty.fixed_binary().is_none() => {
            let characters = prefix.unwrap_or(ty.length) as usize;
            let variable = ty.kind != TypeKind::Char;
            characters * ty.collation.charset().max_len() + if variable { 2 } else { 0 }
        }
        _ => ty.record_bytes(),
    }
}

/// Names of the columns of the first `parts` parts of a key.
pub(super) fn key_columns(table: &TableInfo, index: usize, parts: usize) -> Vec<Box<str>> {
    let index = &table.def.indexes[index];
    let all = index.parts.iter().chain(table.def.parts_behind(index)).take(parts);
    all.map(|part| table.columns[part.column].name.clone()).collect()
}
