//! PARTITION BY: from the clause and a table that is otherwise complete to its partitioning. A
//! clause that MariaDB rejects is rejected with the same error. Leaves have no storage yet.

mod change;
mod exchange;
mod function;
mod history;
mod limits;
mod options;
mod reorganize;

use std::sync::Arc;

use hashbrown::HashSet;
use selkie_catalog::{
    Given, MethodKind, Partition, PartitionLimit, PartitionMethod, PartitionOptions, Partitioning,
    Subpartition, TableInfo, TableKind, is_transaction_bound,
};
use selkie_engine::{Personality, TableId};
use selkie_sql::ast::{self, PartitionBy, PartitionDef, PartitionOption};
use selkie_types::charset::in_one_case;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::{DefineContext, system_time};
pub(super) use change::again;
pub use change::{PartitionChange, define_partition_change, is_partition_change};
pub use exchange::{Converted, check_exchange, define_convert_in, define_convert_out};

/// Lengths in bytes of all columns that KEY or COLUMNS may read.
const MOST_KEY_BYTES: usize = 3072;

/// `table` with the partitions that a new clause describes.
pub(super) fn partitioned(
    context: &DefineContext<'_>,
    table: TableInfo,
    by: &PartitionBy,
) -> SqlResult<TableInfo> {
    let table = described(context, table, by)?;
    history::check_rotation(&table)?;
    Ok(table)
}

/// `table` with the partitions that `by` describes.
fn described(
    context: &DefineContext<'_>,
    table: TableInfo,
    by: &PartitionBy,
) -> SqlResult<TableInfo> {
    check_table(&table)?;
    let by_time = matches!(by.method, ast::PartitionMethod::SystemTime { .. });
    if by_time && table.system_time().is_none() {
        return Err(SqlError::new(&ER_VERS_NOT_VERSIONED, &[&table.name()]));
    }
    if by_time && table.is_versioned_by_transaction() {
        return Err(system_time::not_by_time(&table));
    }
    let partitioning = partitioning(context, &table, by)?;
    let table = TableInfo { partitions: Some(Arc::new(partitioning)), ..table };
    check(&table)?;
    Ok(table)
}

/// Fails if a table of its kind cannot be partitioned.
fn check_table(table: &TableInfo) -> SqlResult<()> {
    match () {
        () if table.kind == TableKind::Temporary => Err(not_with("CREATE TEMPORARY TABLE")),
        () if !table.foreign_keys.is_empty() => Err(not_with("FOREIGN KEY")),
        () if table.columns.iter().any(|column| column.ty.geometry.is_some()) => {
            Err(SqlError::new(&ER_CHECK_NOT_IMPLEMENTED, &[&"GEOMETRY"]))
        }
        () => check_engine(table.engine),
    }
}

/// Fails unless the engine can have partitioned tables.
pub(super) fn check_engine(engine: &Personality) -> SqlResult<()> {
    match engine.statements.partitions {
        true => Ok(()),
        false => Err(SqlError::new(&ER_PARTITION_MERGE_ERROR, &[])),
    }
}

/// The error for a feature that partitioned tables do not have.
pub(super) fn not_with(what: &str) -> SqlError {
    SqlError::new(&ER_FEATURE_NOT_SUPPORTED_WITH_PARTITIONING, &[&what])
}

/// Compat: its own message for CREATE TEMPORARY TABLE .. LIKE.
pub(super) fn not_temporary() -> SqlError {
    SqlError::new(&ER_ILLEGAL_HA_CREATE_OPTION, &[&"partition", &"TEMPORARY"])
}

/// Fails if a partitioned table is not allowed as it is: also after its columns, keys or engine
/// have changed.
pub(super) fn check(table: &TableInfo) -> SqlResult<()> {
    let Some(partitions) = &table.partitions else { return Ok(()) };
    check_table(table)?;
    let mut used = partitions.method.columns_of(table).ok_or_else(not_found)?;
    if let Some(sub) = &partitions.sub {
        used.extend(sub.columns_of(table).ok_or_else(not_found)?);
    }
    if used.iter().any(|column| is_transaction_bound(&table.columns[*column])) {
        return Err(SqlError::new(&ER_VERS_TRX_PART_HISTORIC_ROW_NOT_SUPPORTED, &[]));
    }
    for index in table.def.indexes.iter().filter(|index| index.is_unique()) {
        if !used.iter().all(|column| index.holds(*column)) {
            let kind = if index.kind.is_primary() { "PRIMARY KEY" } else { "UNIQUE INDEX" };
            return Err(SqlError::new(&ER_UNIQUE_KEY_NEED_ALL_FIELDS_IN_PF, &[&kind]));
        }
    }
    Ok(())
}

fn not_found() -> SqlError {
    SqlError::new(&ER_FIELD_NOT_FOUND_PART_ERROR, &[])
}

fn partitioning(
    context: &DefineContext<'_>,
    table: &TableInfo,
    by: &PartitionBy,
) -> SqlResult<Partitioning> {
    let kind = kind_of(&by.method);
    let subpartitioned = by.subpartition.is_some();
    if let Some(sub) = by.subpartition.as_ref().filter(|_| !kind.has_values()) {
        // Compat: MariaDB has seen functions that are not allowed by then.
        let seen = [&by.method, &sub.method].into_iter().find_map(|method| {
            let error = function::method(context, table, method).err()?;
            let is_function = error.is(&ER_PARTITION_FUNCTION_IS_NOT_ALLOWED);
            (is_function || error.is(&ER_PARSE_ERROR)).then_some(error)
        });
        return Err(seen.unwrap_or_else(|| SqlError::new(&ER_SUBPARTITION_ERROR, &[])));
    }
    if by.partitions.is_empty() && kind.has_values() && kind != MethodKind::SystemTime {
        let name = if is_range(kind) { "RANGE" } else { "LIST" };
        return Err(SqlError::new(&ER_PARTITIONS_MUST_BE_DEFINED_ERROR, &[&name]));
    }
    let count = count_of(by.count, "partitions")?;
    let subcount = match &by.subpartition {
        Some(sub) => count_of(sub.count, "subpartitions")?,
        None => None,
    };
    let method = function::method(context, table, &by.method).map_err(|error| {
        // Compat: the values are looked at before the type of the only column.
        let only_column = error.is(&ER_FIELD_TYPE_NOT_ALLOWED_AS_PARTITION_FIELD);
        limits::wrong_values(context, table, by).filter(|_| only_column).unwrap_or(error)
    })?;
    let sub = by.subpartition.as_ref();
    let sub = sub.map(|sub| function::method(context, table, &sub.method)).transpose()?;
    let made = count.unwrap_or(1);
    let parts: Vec<Partition> = match by.partitions.is_empty() {
        true if kind == MethodKind::SystemTime => history::made(count),
        true => names("p", made).map(|name| plain(name, PartitionLimit::Slot)).collect(),
        false => defined(context, table, &method, &by.partitions)?,
    };
    let subs_listed = by.partitions.iter().any(|part| !part.subpartitions.is_empty());
    if subs_listed && !subpartitioned {
        return Err(SqlError::new(&ER_SUBPARTITION_ERROR, &[]));
    }
    let given = |listed: bool, counted: bool| match (listed, counted) {
        (true, _) => Given::List,
        (false, true) => Given::Count,
        (false, false) => Given::Nothing,
    };
    let mut out = Partitioning {
        method,
        sub,
        parts,
        given: given(!by.partitions.is_empty(), count.is_some() || kind == MethodKind::SystemTime),
        subs_given: given(subs_listed, subcount.is_some()),
    };
    if subpartitioned {
        add_subpartitions(context, &mut out, &by.partitions, subcount.unwrap_or(1))?;
    }
    options::check_comments(context, &mut out)?;
    check_count(&out)?;
    check_names(&out)?;
    history::settle(&mut out, table)?;
    limits::check(context, &out, table)?;
    Ok(out)
}

/// The kind of a method.
fn kind_of(method: &ast::PartitionMethod) -> MethodKind {
    use ast::PartitionMethod as M;
    match method {
        M::Hash { .. } => MethodKind::Hash,
        M::Key { .. } => MethodKind::Key,
        M::Range(_) => MethodKind::Range,
        M::RangeColumns(_) => MethodKind::RangeColumns,
        M::List(_) => MethodKind::List,
        M::ListColumns(_) => MethodKind::ListColumns,
        M::SystemTime { .. } => MethodKind::SystemTime,
    }
}

fn is_range(kind: MethodKind) -> bool {
    matches!(kind, MethodKind::Range | MethodKind::RangeColumns)
}

/// A number of partitions that a statement gives.
fn count_of(count: Option<u64>, what: &str) -> SqlResult<Option<usize>> {
    match count {
        Some(0) => Err(SqlError::new(&ER_NO_PARTS_ERROR, &[&what])),
        Some(n) if n > Partitioning::MOST_LEAVES as u64 => {
            Err(SqlError::new(&ER_TOO_MANY_PARTITIONS_ERROR, &[]))
        }
        Some(n) => Ok(Some(n as usize)),
        None => Ok(None),
    }
}

fn names(prefix: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |at| format!("{prefix}{at}"))
}

fn plain(name: String, limit: PartitionLimit) -> Partition {
    let options = PartitionOptions::default();
    Partition { name, id: TableId(0), limit, options, subs: Vec::new() }
}

/// The partitions that a statement lists, without their subpartitions.
fn defined(
    context: &DefineContext<'_>,
    table: &TableInfo,
    method: &PartitionMethod,
    defs: &[PartitionDef],
) -> SqlResult<Vec<Partition>> {
    let mut out = Vec::with_capacity(defs.len());
    for def in defs {
        let name = part_name(&def.name.value)?;
        let limit = limits::limit(context, table, method, def)?;
        let options = options::read(context, &def.options)?;
        out.push(Partition { options, ..plain(name, limit) });
    }
    Ok(out)
}

fn part_name(name: &str) -> SqlResult<String> {
    if name.is_empty() || name.ends_with(' ') {
        return Err(SqlError::new(&ER_WRONG_PARTITION_NAME, &[]));
    }
    if name.chars().count() > 64 {
        return Err(SqlError::new(&ER_TOO_LONG_IDENT, &[&name]));
    }
    Ok(name.to_owned())
}

/// Gives each partition its subpartitions: those that the statement lists, or `count` made ones.
fn add_subpartitions(
    context: &DefineContext<'_>,
    out: &mut Partitioning,
    defs: &[PartitionDef],
    count: usize,
) -> SqlResult<()> {
    for (at, part) in out.parts.iter_mut().enumerate() {
        let options = part.options.clone();
        let listed = defs.get(at).map_or(&[][..], |def| &def.subpartitions);
        if listed.is_empty() {
            if let Some(def) = defs.get(at) {
                // Compat: it warns of the options that each of them inherits.
                (0..count).try_for_each(|_| options::read(context, &def.options).map(drop))?;
            }
            let sub = |name| Subpartition { name, id: TableId(0), options: options.clone() };
            part.subs = names(&format!("{}sp", part.name), count).map(sub).collect();
            continue;
        }
        for sub in listed {
            let own = options::read(context, &sub.options)?;
            part.subs.push(Subpartition {
                name: part_name(&sub.name.value)?,
                id: TableId(0),
                options: options::over(own, &options),
            });
        }
    }
    let each = out.leaves_each();
    if out.parts.iter().any(|part| part.subs.len() != each) {
        return Err(SqlError::new(&ER_PARTITION_WRONG_NO_SUBPART_ERROR, &[]));
    }
    Ok(())
}

fn check_count(partitioning: &Partitioning) -> SqlResult<()> {
    match partitioning.leaf_count() > Partitioning::MOST_LEAVES {
        true => Err(SqlError::new(&ER_TOO_MANY_PARTITIONS_ERROR, &[])),
        false => Ok(()),
    }
}

/// Fails if two partitions or subpartitions have one name.
fn check_names(partitioning: &Partitioning) -> SqlResult<()> {
    let mut seen = HashSet::new();
    let subs = partitioning.parts.iter().flat_map(|part| part.subs.iter().map(|sub| &sub.name));
    for name in partitioning.parts.iter().map(|part| &part.name).chain(subs) {
        if !seen.insert(in_one_case(name)) {
            return Err(SqlError::new(&ER_SAME_NAME_PARTITION, &[name]));
        }
    }
    Ok(())
}

/// The engine that the options of partitions name, if any does; all must name the same.
pub(super) fn engine_name<'a>(
    given: Option<&'a str>,
    by: Option<&'a PartitionBy>,
) -> SqlResult<Option<&'a str>> {
    let Some(by) = by else { return Ok(given) };
    let of = |options: &'a [PartitionOption]| {
        options.iter().rev().find_map(|option| match option {
            PartitionOption::Engine(name) => Some(&*name.value),
            _ => None,
        })
    };
    let mut names = Vec::new();
    for part in &by.partitions {
        let own = of(&part.options);
        match part.subpartitions.is_empty() {
            true => names.push(own),
            false => names.extend(part.subpartitions.iter().map(|sub| of(&sub.options).or(own))),
        }
    }
    let Some(first) = names.iter().flatten().next().copied() else { return Ok(given) };
    let same = |name: &Option<&str>| name.is_some_and(|name| name.eq_ignore_ascii_case(first));
    let fits = given.is_none_or(|given| given.eq_ignore_ascii_case(first));
    // Compat: with an engine for the table, partitions may leave theirs out.
    let complete = |name: &Option<&str>| same(name) || (given.is_some() && name.is_none());
    match fits && names.iter().all(complete) {
        true => Ok(Some(first)),
        false => Err(SqlError::new(&ER_MIX_HANDLER_ERROR, &[])),
    }
}
