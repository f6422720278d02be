//! EXCHANGE PARTITION and CONVERT: a leaf and a table change places, or one becomes the other. Only
//! ids of storage change hands, so both definitions must store rows in the same way.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, Given, PartitionOptions, Partitioning, TableInfo, TableKind};
use selkie_engine::{IndexDef, RowFormats, TableDef};
use selkie_sql::ast::{Ident, PartitionDef};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::change::{find, partitions_of};
use super::{check_count, check_names, defined, history, limits};
use crate::define::{DefineContext, create};

/// A partitioned table and another one that its leaf becomes or was.
#[derive(Debug)]
pub struct Converted {
    /// The partitioned table.
    pub table: TableInfo,
    /// Number of the leaf.
    pub leaf: usize,
    /// The leaf as a table of its own.
    pub other: TableInfo,
}

/// The number of the leaf `name` of `table`, which changes places with `other`.
/// Conditions that come after the error go to `after_error`.
pub fn check_exchange(
    table: &TableInfo,
    name: &Ident,
    other: &TableInfo,
    after_error: &dyn Fn(Condition),
) -> SqlResult<usize> {
    let partitions = partitions_of(table)?;
    check_same(table, other)?;
    let unknown = || SqlError::new(&ER_UNKNOWN_PARTITION, &[&name.value, &table.name()]);
    let leaves = partitions.leaves_of(&name.value).ok_or_else(unknown)?;
    match leaves.len() {
        1 => {
            if let Some(leaf) = partitions.leaves().nth(leaves.start) {
                let options = leaf.sub.map_or(&leaf.part.options, |sub| &sub.options);
                check_limits(options, other, after_error)?;
            }
            Ok(leaves.start)
        }
        _ => Err(SqlError::new(&ER_PARTITION_INSTEAD_OF_SUBPARTITION, &[])),
    }
}

/// CONVERT PARTITION: the leaf `name` of `old` becomes the table `schema`.`to`.
pub fn define_convert_out(
    context: &DefineContext<'_>,
    old: &TableInfo,
    name: &Ident,
    (schema, to): (&str, &str),
) -> SqlResult<Converted> {
    let to = create::table_name(to)?;
    let mut partitions = (**partitions_of(old)?).clone();
    check_values(&partitions, "CONVERT")?;
    if partitions.parts.len() <= 1 {
        return Err(SqlError::new(&ER_DROP_LAST_PARTITION, &[]));
    }
    let leaf = find(&partitions, std::slice::from_ref(name))?[0];
    if !old.fulltext.is_empty() {
        // A leaf keeps no words of texts, which a table of its own has.
        return Err(SqlError::new(&ER_TABLES_DIFFERENT_METADATA, &[&to]));
    }
    if partitions.rotation().is_some() {
        history::before_drop(old, &mut partitions, &[leaf])?;
    }
    let part = partitions.parts.remove(leaf);
    let def =
        TableDef { id: part.id, schema: schema.into(), name: to.into(), ..(*old.def).clone() };
    let other = TableInfo {
        def: Arc::new(def),
        partitions: None,
        created: context.now_seconds,
        statistics: None,
        persistent: None,
        ..old.clone()
    };
    let table = TableInfo { partitions: Some(Arc::new(partitions)), ..old.clone() };
    Ok(Converted { table, leaf, other })
}

/// CONVERT TABLE: `other` becomes a leaf of `old`.
pub fn define_convert_in(
    context: &DefineContext<'_>,
    old: &TableInfo,
    other: &TableInfo,
    partition: &PartitionDef,
) -> SqlResult<Converted> {
    let mut partitions = (**partitions_of(old)?).clone();
    if partitions.rotation().is_some() {
        return Err(SqlError::new(&ER_ONLY_ON_RANGE_LIST_PARTITION, &[&"CONVERT TABLE TO"]));
    }
    check_values(&partitions, "CONVERT TABLE TO")?;
    check_same(old, other)?;
    let leaf = partitions.parts.len();
    let defs = std::slice::from_ref(partition);
    let mut parts = defined(context, old, &partitions.method, defs)?;
    parts.iter_mut().for_each(|part| part.id = other.def.id);
    partitions.parts.append(&mut parts);
    partitions.given = Given::List;
    check_count(&partitions)?;
    check_names(&partitions)?;
    limits::check(context, &partitions, old)?;
    let table = TableInfo { partitions: Some(Arc::new(partitions)), ..old.clone() };
    Ok(Converted { table, leaf, other: other.clone() })
}

/// Fails unless partitions have values and no subpartitions.
fn check_values(partitions: &Partitioning, what: &str) -> SqlResult<()> {
    match () {
        () if !partitions.method.kind.has_values() => {
            Err(SqlError::new(&ER_ONLY_ON_RANGE_LIST_PARTITION, &[&what]))
        }
        () if partitions.sub.is_some() => {
            Err(SqlError::new(&ER_PARTITION_CONVERT_SUBPARTITIONED, &[]))
        }
        () => Ok(()),
    }
}

/// Fails unless a leaf of `table` can be the storage of `other`, and the other way round. Compat:
/// options must agree too, even those that change nothing.
fn check_same(table: &TableInfo, other: &TableInfo) -> SqlResult<()> {
    let refuse = |error| Err(SqlError::new(error, &[&other.name()]));
    let same_format = table.row_format() == other.row_format();
    let of_table = table.engine.shown.row_formats == RowFormats::ByColumnsOrAsked;
    match () {
        () if other.kind == TableKind::Temporary => refuse(&ER_PARTITION_EXCHANGE_TEMP_TABLE),
        () if other.partitions.is_some() => refuse(&ER_PARTITION_EXCHANGE_PART_TABLE),
        () if !other.foreign_keys.is_empty() => refuse(&ER_PARTITION_EXCHANGE_FOREIGN_KEY),
        () if table.engine.name != other.engine.name => {
            Err(SqlError::new(&ER_MIX_HANDLER_ERROR, &[]))
        }
        () if !same_format && !of_table => differing("ROW_FORMAT"),
        () if table.collation != other.collation => differing("CHARACTER SET"),
        () if !(is_same(table, other) && same_format && has_same_options(table, other)) => {
            Err(SqlError::new(&ER_TABLES_DIFFERENT_METADATA, &[]))
        }
        () if option(table, "AVG_ROW_LENGTH") != option(other, "AVG_ROW_LENGTH") => {
            differing("AVG_ROW_LENGTH")
        }
        () => Ok(()),
    }
}

fn differing(attribute: &str) -> SqlResult<()> {
    Err(SqlError::new(&ER_PARTITION_EXCHANGE_DIFFERENT_OPTION, &[&attribute]))
}

fn option<'t>(table: &'t TableInfo, name: &str) -> Option<&'t str> {
    table.options.get(name)
}

/// Whether the options agree that MariaDB counts as part of the definition.
fn has_same_options(one: &TableInfo, other: &TableInfo) -> bool {
    const COMPARED: &[&str] =
        &["CHECKSUM", "DELAY_KEY_WRITE", "PACK_KEYS", "STATS_PERSISTENT", "TRANSACTIONAL"];
    let own = |table: &TableInfo| -> Vec<(String, String)> {
        let is_own = |(name, _): &&(String, String)| name.starts_with('`');
        table.options.shown.iter().filter(is_own).cloned().collect()
    };
    let sums = |table| option(table, "PAGE_CHECKSUM").unwrap_or("1").to_owned();
    COMPARED.iter().all(|name| option(one, name) == option(other, name))
        && (!one.engine.shown.page_checksum || sums(one) == sums(other))
        && own(one) == own(other)
}

/// Fails unless the numbers of rows given for a leaf are those of a table.
fn check_limits(
    leaf: &PartitionOptions,
    other: &TableInfo,
    after_error: &dyn Fn(Condition),
) -> SqlResult<()> {
    let of_leaf = |wanted: &str| {
        let mut all = leaf.before.iter().chain(&leaf.after);
        all.find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    };
    let differs = |name: &&str| of_leaf(name).unwrap_or("0") != option(other, name).unwrap_or("0");
    let mut errors =
        ["MAX_ROWS", "MIN_ROWS"].into_iter().filter(differs).filter_map(|n| differing(n).err());
    let Some(error) = errors.next() else { return Ok(()) };
    errors.for_each(|error| after_error(Condition::from_error(Level::Error, &error)));
    Err(error)
}

/// Whether rows and index entries of one table are such of the other. Files of indexes are found by
/// id, and rows of earlier definitions by version, so these must agree, too.
fn is_same(one: &TableInfo, other: &TableInfo) -> bool {
    let same_column = |(a, b): (&ColumnInfo, &ColumnInfo)| {
        identifier_eq(&a.name, &b.name)
            && a.ty == b.ty
            && (a.nullable, a.auto_increment) == (b.nullable, b.auto_increment)
            && a.generated == b.generated
    };
    let same_index = |(a, b): (&IndexDef, &IndexDef)| {
        identifier_eq(&a.name, &b.name)
            && (a.id, a.kind, a.hashed) == (b.id, b.kind, b.hashed)
            && a.without_overlaps == b.without_overlaps
            && a.parts == b.parts
    };
    let (a, b) = (&one.def, &other.def);
    one.columns.len() == other.columns.len()
        && one.columns.iter().zip(&other.columns).all(same_column)
        && a.indexes.len() == b.indexes.len()
        && a.indexes.iter().zip(&b.indexes).all(same_index)
        // Only the files of a table of its own have the words of its texts.
        && one.fulltext.is_empty()
        && other.fulltext.is_empty()
        && a.layout == b.layout
}
