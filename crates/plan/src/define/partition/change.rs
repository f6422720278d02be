//! ALTER TABLE on partitions: actions that touch the storage of the named leaves only. Other
//! changes of a partitioned table read its clause again.

use std::sync::Arc;

use hashbrown::HashSet;
use selkie_catalog::{
    Given, MethodKind, Partition, PartitionLimit, Partitioning, Subpartition, TableInfo,
};
use selkie_engine::TableId;
use selkie_expr::{EvalContext, TimeZone};
use selkie_sql::ast::{AlterAction, Ident, PartitionBy, PartitionDef, PartitionMaintenance};
use selkie_types::charset::{identifier_eq, in_one_case};
use selkie_types::error::catalogue::*;
use selkie_types::{CollationId, Condition, Level, SqlError, SqlResult};

use super::{
    add_subpartitions, check_count, check_names, defined, described, history, is_range, limits,
    names, plain, reorganize,
};
use crate::define::DefineContext;

/// Fails unless the table has partitions.
pub(super) fn partitions_of(table: &TableInfo) -> SqlResult<&Arc<Partitioning>> {
    let none = || SqlError::new(&ER_PARTITION_MGMT_ON_NONPARTITIONED, &[]);
    table.partitions.as_ref().ok_or_else(none)
}

/// A change that touches the leaves it names and no others.
#[derive(Debug)]
pub struct PartitionChange {
    /// The definition after it. Leaves that need new storage have the id 0.
    pub table: TableInfo,
    /// Whether rows of the leaves that go away move to the new ones.
    pub moves: bool,
}

/// Whether an action touches only the leaves it names.
pub fn is_partition_change(action: &AlterAction) -> bool {
    use AlterAction as A;
    match action {
        A::AddPartition { .. }
        | A::DropPartition { .. }
        | A::CoalescePartition(_)
        | A::ReorganizePartition { .. } => true,
        A::MaintainPartitions { action, .. } => {
            matches!(action, PartitionMaintenance::Truncate | PartitionMaintenance::Rebuild)
        }
        _ => false,
    }
}

/// The change that an action makes for which [`is_partition_change`] holds. `None` if it has
/// nothing to do.
pub fn define_partition_change(
    context: &DefineContext<'_>,
    old: &TableInfo,
    action: &AlterAction,
) -> SqlResult<Option<PartitionChange>> {
    use AlterAction as A;
    let mut partitions = (**partitions_of(old)?).clone();
    let mut moves = true;
    let goes_on = match action {
        A::AddPartition { if_not_exists, partitions: defs, count } => {
            let new = Added { defs, count: *count, if_not_exists: *if_not_exists };
            moves = renew_for_added(&mut partitions);
            add(context, old, &mut partitions, &new)?
        }
        A::DropPartition { names, if_exists } => {
            moves = false;
            let names = match *if_exists && partitions.method.kind.has_values() {
                true => known(context, &partitions, names),
                false => names.iter().collect(),
            };
            let some = !names.is_empty();
            if some {
                drop_parts(old, &mut partitions, &names)?;
            }
            some
        }
        A::CoalescePartition(count) => {
            coalesce(&mut partitions, *count)?;
            true
        }
        A::ReorganizePartition { names, into } => {
            reorganize::reorganize(context, old, &mut partitions, (names, into))?
        }
        A::MaintainPartitions { action: PartitionMaintenance::Rebuild, names } => {
            let named = find(&partitions, names)?;
            named.into_iter().for_each(|at| renew(&mut partitions.parts[at]));
            true
        }
        A::MaintainPartitions { names, .. } => {
            moves = false;
            empty(old, &mut partitions, names)?;
            true
        }
        _ => false,
    };
    let table = TableInfo { partitions: Some(Arc::new(partitions)), ..old.clone() };
    Ok(goes_on.then_some(PartitionChange { table, moves }))
}

/// Gives a partition new storage.
pub(super) fn renew(part: &mut Partition) {
    part.id = TableId(0);
    part.subs.iter_mut().for_each(|sub| sub.id = TableId(0));
}

/// Gives new storage to the partitions whose rows may belong to an added one; false if there are
/// none.
fn renew_for_added(partitions: &mut Partitioning) -> bool {
    let hashes = !partitions.method.kind.has_values();
    let mut renewed = false;
    for part in &mut partitions.parts {
        if hashes || part.limit == PartitionLimit::Default {
            renew(part);
            renewed = true;
        }
    }
    renewed
}

/// The partitions that ADD PARTITION adds.
struct Added<'a> {
    defs: &'a [PartitionDef],
    count: Option<u64>,
    if_not_exists: bool,
}

/// Adds partitions; false if there is nothing to add.
fn add(
    context: &DefineContext<'_>,
    table: &TableInfo,
    to: &mut Partitioning,
    new: &Added<'_>,
) -> SqlResult<bool> {
    let kind = to.method.kind;
    let by_time = kind == MethodKind::SystemTime;
    if new.defs.is_empty() && kind.has_values() && !by_time {
        let name = if is_range(kind) { "RANGE" } else { "LIST" };
        return Err(SqlError::new(&ER_PARTITIONS_MUST_BE_DEFINED_ERROR, &[&name]));
    }
    if new.defs.is_empty() && new.count.unwrap_or(0) == 0 {
        return Err(SqlError::new(&ER_ADD_PARTITION_NO_NEW_PARTITION, &[]));
    }
    let mut parts = match new.count {
        Some(count) => {
            let most = Partitioning::MOST_LEAVES;
            let count = usize::try_from(count).unwrap_or(most).min(most);
            let (first, limit) = match by_time {
                true => (history::first_free(to, count), PartitionLimit::History(None)),
                false => (to.parts.len(), PartitionLimit::Slot),
            };
            let made = names("p", first + count).skip(first);
            made.map(|name| plain(name, limit.clone())).collect()
        }
        None => {
            to.given = Given::List;
            defined(context, table, &to.method, new.defs)?
        }
    };
    fill_subpartitions(context, to, &mut parts, new.defs)?;
    match by_time {
        true => history::add(context, to, parts)?,
        false => to.parts.append(&mut parts),
    }
    check_count(to)?;
    if let Err(error) = check_names(to) {
        if new.if_not_exists && error.is(&ER_SAME_NAME_PARTITION) {
            context.eval.push(Condition::from_error(Level::Note, &error));
            return Ok(false);
        }
        return Err(error);
    }
    history::settle(to, table)?;
    limits::check(context, to, table)?;
    Ok(true)
}

/// Gives new partitions of a partitioning, which has others, their subpartitions.
pub(super) fn fill_subpartitions(
    context: &DefineContext<'_>,
    of: &mut Partitioning,
    parts: &mut Vec<Partition>,
    defs: &[PartitionDef],
) -> SqlResult<()> {
    if of.sub.is_none() {
        return Ok(());
    }
    let each = of.leaves_each();
    let mut only = Partitioning { parts: std::mem::take(parts), ..of.clone() };
    add_subpartitions(context, &mut only, defs, each)?;
    if only.leaves_each() != each {
        return Err(SqlError::new(&ER_ADD_PARTITION_SUBPART_ERROR, &[]));
    }
    if defs.iter().any(|def| !def.subpartitions.is_empty()) {
        of.subs_given = Given::List;
    }
    *parts = only.parts;
    Ok(())
}

/// Positions of the named partitions; an error if one is missing or named twice. No name: all.
pub(super) fn find(partitions: &Partitioning, names: &[Ident]) -> SqlResult<Vec<usize>> {
    find_all(partitions, &names.iter().collect::<Vec<_>>())
}

/// Those of `names` that are names of partitions; a note for each of the others.
fn known<'a>(
    context: &DefineContext<'_>,
    partitions: &Partitioning,
    names: &'a [Ident],
) -> Vec<&'a Ident> {
    let is_known = |name: &&Ident| {
        let found = partitions.parts.iter().any(|part| identifier_eq(&part.name, &name.value));
        if !found {
            let error = SqlError::new(&ER_PARTITION_DOES_NOT_EXIST, &[]);
            context.eval.push(Condition::from_error(Level::Note, &error));
        }
        found
    };
    names.iter().filter(is_known).collect()
}

fn find_all(partitions: &Partitioning, names: &[&Ident]) -> SqlResult<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..partitions.parts.len()).collect());
    }
    let wrong = || SqlError::new(&ER_PARTITION_DOES_NOT_EXIST, &[]);
    let mut seen = HashSet::new();
    let position = |name: &&Ident| {
        let found = partitions.parts.iter().position(|part| identifier_eq(&part.name, &name.value));
        found.filter(|_| seen.insert(in_one_case(&name.value))).ok_or_else(wrong)
    };
    names.iter().map(position).collect()
}

fn drop_parts(table: &TableInfo, from: &mut Partitioning, names: &[&Ident]) -> SqlResult<()> {
    if !from.method.kind.has_values() {
        return Err(SqlError::new(&ER_ONLY_ON_RANGE_LIST_PARTITION, &[&"DROP"]));
    }
    // Compat: counted before they are looked up.
    if names.len() >= from.parts.len() && from.rotation().is_none() {
        return Err(SqlError::new(&ER_DROP_LAST_PARTITION, &[]));
    }
    let found = find_all(from, names)?;
    if from.rotation().is_some() {
        history::before_drop(table, from, &found)?;
    }
    let mut at = 0;
    from.parts.retain(|_| {
        at += 1;
        !found.contains(&(at - 1))
    });
    Ok(())
}

/// Gives the named partitions new storage.
fn empty(table: &TableInfo, partitions: &mut Partitioning, names: &[Ident]) -> SqlResult<()> {
    let is_sub = |name: &Ident| {
        let mut subs = partitions.parts.iter().flat_map(|part| &part.subs);
        subs.any(|sub: &Subpartition| identifier_eq(&sub.name, &name.value))
    };
    for name in names {
        if is_sub(name) {
            return Err(SqlError::new(&ER_WRONG_PARTITION_NAME, &[]));
        }
        if partitions.leaves_of(&name.value).is_none() {
            return Err(SqlError::new(&ER_UNKNOWN_PARTITION, &[&name.value, &table.name()]));
        }
    }
    for part in &mut partitions.parts {
        if names.is_empty() || names.iter().any(|name| identifier_eq(&name.value, &part.name)) {
            renew(part);
        }
    }
    Ok(())
}

fn coalesce(partitions: &mut Partitioning, count: u64) -> SqlResult<()> {
    if partitions.method.kind.has_values() {
        return Err(SqlError::new(&ER_COALESCE_ONLY_ON_HASH_PARTITION, &[]));
    }
    if count == 0 {
        return Err(SqlError::new(&ER_COALESCE_PARTITION_NO_PARTITION, &[]));
    }
    let left = (partitions.parts.len() as u64).checked_sub(count).filter(|left| *left > 0);
    let left = left.ok_or_else(|| SqlError::new(&ER_DROP_LAST_PARTITION, &[]))?;
    partitions.parts.truncate(left as usize);
    partitions.parts.iter_mut().for_each(renew);
    Ok(())
}

/// The partitions of `old` on its new definition `table`: the clause is read again, since types and
/// names may have changed. Leaves keep their storage.
pub(in crate::define) fn again(
    context: &DefineContext<'_>,
    old: &TableInfo,
    table: TableInfo,
    renamed: &[(String, String)],
) -> SqlResult<TableInfo> {
    let Some(partitions) = &old.partitions else { return Ok(table) };
    let mut by = clause(partitions)?;
    rename(&mut by, renamed);
    // The clause is in UTF-8, whatever the client's character set is.
    let mut types = context.eval.types.clone();
    types.collation_connection = CollationId::UTF8MB4_GENERAL_CI;
    if partitions.rotation().is_some() {
        types.time_zone = TimeZone::utc();
    }
    let eval = EvalContext::new(types, context.eval.session, context.eval.now_micros);
    let stopwords = context.stopwords.clone();
    let context = &DefineContext { eval: &eval, stopwords, ..*context };
    let table = described(context, table, &by)?;
    let Some(new) = &table.partitions else { return Ok(table) };
    let mut new = (**new).clone();
    if has_same_types(old, partitions, &table, &new) {
        // Values read again from their text might differ: a text may have been cut.
        for (part, old) in new.parts.iter_mut().zip(&partitions.parts) {
            part.limit = old.limit.clone();
        }
    }
    (new.given, new.subs_given) = (partitions.given, partitions.subs_given);
    for (part, old) in new.parts.iter_mut().zip(&partitions.parts) {
        part.id = old.id;
        part.options = old.options.clone();
        for (sub, old) in part.subs.iter_mut().zip(&old.subs) {
            sub.id = old.id;
        }
    }
    Ok(TableInfo { partitions: Some(Arc::new(new)), ..table })
}

/// Whether the columns that the partitions of one definition read have the types of those of the
/// other.
fn has_same_types(
    old: &TableInfo,
    before: &Partitioning,
    new: &TableInfo,
    after: &Partitioning,
) -> bool {
    let columns = |table: &TableInfo, by: &Partitioning| by.method.columns_of(table);
    let (Some(a), Some(b)) = (columns(old, before), columns(new, after)) else { return false };
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| old.columns[*a].ty == new.columns[*b].ty)
}

/// The syntax of a partitioning, with all its partitions.
fn clause(partitions: &Partitioning) -> SqlResult<PartitionBy> {
    let mut listed = partitions.clone();
    listed.given = Given::List;
    if listed.sub.is_some() {
        listed.subs_given = Given::List;
    }
    let shown = selkie_catalog::partition_clause(&listed, None, &TimeZone::utc());
    let text = format!("ALTER TABLE t{shown}");
    let parsed = selkie_sql::parse(text.as_bytes(), &selkie_sql::ParseOptions::default())?;
    let selkie_sql::ast::Statement::AlterTable(alter) = parsed.statement else {
        return Err(SqlError::internal("a partitioning that is no ALTER TABLE"));
    };
    match alter.actions.into_iter().next() {
        Some(AlterAction::PartitionBy(by)) => Ok(*by),
        _ => Err(SqlError::internal("a partitioning that is no PARTITION BY")),
    }
}

fn rename(by: &mut PartitionBy, renamed: &[(String, String)]) {
    use selkie_sql::ast::PartitionMethod as M;
    let new_name = |name: &str| {
        let found = renamed.iter().find(|(from, _)| identifier_eq(from, name));
        found.map(|(_, to)| to.clone())
    };
    let sub = by.subpartition.as_mut().map(|sub| &mut sub.method);
    for method in std::iter::once(&mut by.method).chain(sub) {
        match method {
            M::Hash { expr, .. } | M::Range(expr) | M::List(expr) => {
                expr.for_each_column_mut(&mut |column| {
                    if let Some(to) = new_name(&column.name.value) {
                        column.name.value = to.into();
                    }
                });
            }
            M::Key { columns, .. } | M::RangeColumns(columns) | M::ListColumns(columns) => {
                for column in columns {
                    if let Some(to) = new_name(&column.value) {
                        column.value = to.into();
                    }
                }
            }
            M::SystemTime { .. } => {}
        }
    }
}
