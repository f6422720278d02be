//! REORGANIZE PARTITION: some neighbours are replaced by others, which must hold the same rows.
//! Only the definition is made here; rows move when it is carried out.

use selkie_catalog::{Given, MethodKind, Partition, PartitionLimit, Partitioning, TableInfo};
use selkie_sql::ast::{Ident, PartitionDef};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::change::{fill_subpartitions, find, renew};
use super::{check_count, check_names, defined, history, limits};
use crate::define::DefineContext;

/// Replaces the named partitions by `into`; false if there is nothing to do.
pub(super) fn reorganize(
    context: &DefineContext<'_>,
    table: &TableInfo,
    of: &mut Partitioning,
    (names, into): (&[Ident], &[PartitionDef]),
) -> SqlResult<bool> {
    let kind = of.method.kind;
    if names.is_empty() {
        return match kind.has_values() {
            true => Err(SqlError::new(&ER_REORG_NO_PARAM_ERROR, &[])),
            false => Ok(false),
        };
    }
    let mut parts = defined(context, table, &of.method, into)?;
    if names.len() > of.parts.len() {
        return Err(SqlError::new(&ER_REORG_PARTITION_NOT_EXIST, &[]));
    }
    let by_time = kind == MethodKind::SystemTime;
    if by_time && names.len() != into.len() {
        return Err(SqlError::new(&ER_REORG_HASH_ONLY_ON_SAME_NO, &[]));
    }
    let mut found = find(of, names)?;
    found.sort_unstable();
    if !kind.has_values() && found.len() != into.len() {
        return Err(SqlError::new(&ER_REORG_HASH_ONLY_ON_SAME_NO, &[]));
    }
    let (first, last) = (found[0], found[found.len() - 1]);
    if last - first + 1 != found.len() {
        return Err(SqlError::new(&ER_CONSECUTIVE_REORG_PARTITIONS, &[]));
    }
    fill_subpartitions(context, of, &mut parts, into)?;
    if by_time {
        history::replace(table, of, first..=last, parts)?;
        check_names(of)?;
        history::settle(of, table)?;
        return Ok(true);
    }
    let is_last = last + 1 == of.parts.len();
    let old: Vec<Partition> = of.parts.splice(first..=last, parts).collect();
    let same = old.len() == into.len() && old.iter().zip(into).all(|(o, i)| i.name.is(&o.name));
    if kind.has_values() || !same {
        of.given = Given::List;
    }
    check_count(of)?;
    check_names(of)?;
    limits::check(context, of, table)?;
    check_total(context, table, of, (&old, first + into.len() - 1, is_last))?;
    // Rows of the default partition may belong to a new one, and the other way round.
    of.parts.iter_mut().filter(|part| part.limit == PartitionLimit::Default).for_each(renew);
    Ok(true)
}

/// Fails unless ranges end where they ended before; the table's last range may end later.
fn check_total(
    context: &DefineContext<'_>,
    table: &TableInfo,
    of: &Partitioning,
    (old, end, is_last): (&[Partition], usize, bool),
) -> SqlResult<()> {
    if !matches!(of.method.kind, MethodKind::Range | MethodKind::RangeColumns) {
        return Ok(());
    }
    let (Some(before), Some(after)) = (old.last(), of.parts.get(end)) else { return Ok(()) };
    let order = limits::order(context, table, &of.method, (&before.limit, &after.limit))?;
    match order.is_eq() || (is_last && order.is_lt()) {
        true => Ok(()),
        false => Err(SqlError::new(&ER_REORG_OUTSIDE_RANGE, &[])),
    }
}
