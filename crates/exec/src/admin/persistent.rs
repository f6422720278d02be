//! ANALYZE TABLE ... PERSISTENT: computes the rows of `mysql.table_stats`, `column_stats` and
//! `index_stats` and stores them.
//!
//! Must not change what the statement does not name: rows of other columns and indexes stay.

mod collect;
mod place;

use selkie_catalog::TableInfo;
use selkie_catalog::histogram::{self, Bound, HistogramKind, Run};
use selkie_expr::{EvalContext, VariableScope};
use selkie_sql::ast::{Ident, PersistentFor};
use selkie_types::{Charset, Physical, SqlResult, SqlType, TypeKind, Value, write_value};

use self::collect::{Prefix, Sample, Sorted};
use crate::query::execution::Execution;
use crate::state::persistent::{self, ColumnRow, IndexRow, Rows, StatTables};

/// Longest `min_value` and `max_value` in bytes.
const LONGEST_BOUND: usize = 255;

/// Settings of the session.
struct Wanted {
    kind: HistogramKind,
    /// `histogram_size`.
    size: usize,
    /// `analyze_sample_percentage`.
    percentage: f64,
    /// `optimizer_switch` has `extended_keys`.
    extends: bool,
}

/// Computes and stores the statistics of a locked table; false if a name is not known, after what
/// is known was stored.
pub(super) fn collect(
    execution: &Execution<'_>,
    table: &TableInfo,
    only: Option<&PersistentFor>,
) -> SqlResult<bool> {
    let wanted = Wanted::of(execution)?;
    let all = PersistentFor { columns: None, indexes: None };
    let only = only.unwrap_or(&all);
    let column_names = || table.columns.iter().map(|column| &*column.name);
    let index_names = || table.def.indexes.iter().map(|index| &*index.name);
    let columns = places(only.columns.as_deref(), column_names);
    let indexes = places(only.indexes.as_deref(), index_names);
    let rows = collect::count(execution, table)?;
    let session = &*execution.session;
    let eval = EvalContext::new(session.type_context(), session, 0);
    session.begin_random(&eval);
    let sample = Sample::new(wanted.percentage, rows, eval.random_seeds());
    let cardinality = Some(sample.rows(&eval, rows));
    let mut found = Rows { cardinality, ..Rows::default() };
    for at in columns.found {
        let is_read = !table.columns[at].ty.is_text_or_blob() && !table.is_computed(at);
        if is_read {
            let sorted = collect::column(execution, table, at, (&eval, sample))?;
            found.columns.push(column_row(execution, table, at, (&sorted, &wanted)));
        }
    }
    session.end_random(&eval);
    for at in indexes.found.into_iter().filter(|at| !table.def.indexes[*at].hashed) {
        found.indexes.extend(index_rows(execution, table, at, &wanted)?);
    }
    let name = (table.schema(), table.name());
    let tables = StatTables::open(execution.instance, execution.control)?;
    tables.put(execution.instance, name, &found)?;
    let all = tables.rows(execution.instance, name)?;
    persistent::publish(execution.instance, name, &all);
    Ok(columns.all_known && indexes.all_known)
}

struct Places {
    found: Vec<usize>,
    all_known: bool,
}

/// Positions of names; of all without a list.
fn places<'n, I: Iterator<Item = &'n str>>(
    list: Option<&[Ident]>,
    names: impl Fn() -> I,
) -> Places {
    let Some(list) = list else {
        return Places { found: (0..names().count()).collect(), all_known: true };
    };
    let place = |wanted: &Ident| names().position(|name| name.eq_ignore_ascii_case(&wanted.value));
    let mut found: Vec<usize> = list.iter().filter_map(place).collect();
    let all_known = found.len() == list.len();
    found.sort_unstable();
    found.dedup();
    Places { found, all_known }
}

impl Wanted {
    fn of(execution: &Execution<'_>) -> SqlResult<Self> {
        let session = &*execution.session;
        let value = |name| session.frame.hooks.variable(session, VariableScope::Session, name);
        let kind = match value("histogram_type")? {
            Value::Bytes(name) => HistogramKind::of(&name),
            _ => None,
        };
        let number = |value| match value {
            Value::Int(v) => v as f64,
            Value::UInt(v) => v as f64,
            Value::Double(v) => v,
            _ => 0.0,
        };
        Ok(Self {
            kind: kind.unwrap_or(HistogramKind::Double),
            size: number(value("histogram_size")?) as usize,
            percentage: number(value("analyze_sample_percentage")?),
            extends: match value("optimizer_switch")? {
                Value::Bytes(switches) => {
                    switches.split(|b| *b == b',').any(|switch| switch == b"extended_keys=on")
                }
                _ => false,
            },
        })
    }
}

fn ratio(value: u64, of: u64) -> Value {
    Value::Decimal(collect::ratio(value, of))
}

/// Whether the column alone is a key without NULLs: its values differ, so nothing needs counting.
fn identifies(table: &TableInfo, at: usize) -> bool {
    table.def.indexes.iter().any(|index| {
        let own = index.parts.len() == 1 && index.parts[0].column == at;
        own && index.parts[0].prefix.is_none() && table.def.is_identified_by(index)
    })
}

fn column_row(
    execution: &Execution<'_>,
    table: &TableInfo,
    at: usize,
    (found, wanted): (&Sorted, &Wanted),
) -> ColumnRow {
    let info = &table.columns[at];
    let name = info.name.to_string();
    let unique = identifies(table, at);
    let mut values = [const { Value::Null }; 8];
    if found.rows > 0 {
        values[2] = ratio(found.nulls, found.rows);
    }
    let present = found.rows - found.nulls;
    if present > 0 {
        let last = found.counts.len() - 1;
        values[0] = shown(execution, &info.ty, &found.values.value(0));
        values[1] = shown(execution, &info.ty, &found.values.value(last));
        values[3] = length(&info.ty, found.bytes, present);
        values[4] = Value::Decimal(found.frequency());
    }
    if unique {
        values[4] = ratio(1, 1);
        return ColumnRow { name, values };
    }
    let json = wanted.kind == HistogramKind::Json;
    values[5] = Value::UInt(if json { 0 } else { wanted.size as u64 });
    if present > 0 && wanted.size > 0 {
        let (size, histogram) = histogram(execution, &info.ty, found, wanted);
        values[5] = Value::UInt(size as u64);
        values[6] = Value::UInt(wanted.kind.member());
        values[7] = Value::Bytes(histogram.into());
    }
    ColumnRow { name, values }
}

/// Mean length of the values in bytes.
fn length(ty: &SqlType, bytes: u64, values: u64) -> Value {
    match ty.physical() {
        Physical::Bytes if ty.fixed_binary().is_none() => ratio(bytes, values),
        _ => ratio(ty.record_bytes() as u64, 1),
    }
}

/// The text of a bound, in the character set of its column.
fn shown(execution: &Execution<'_>, ty: &SqlType, value: &Value) -> Value {
    let mut bytes = display(execution, ty, value);
    bytes.truncate(LONGEST_BOUND);
    Value::Bytes(bytes.into())
}

fn display(execution: &Execution<'_>, ty: &SqlType, value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    match (ty.kind, value) {
        (TypeKind::Bit, Value::UInt(bits)) => bytes.extend_from_slice(bits.to_string().as_bytes()),
        (TypeKind::Timestamp, Value::DateTime(instant)) => {
            let zone = execution.session.type_context().time_zone;
            write_value(ty, &Value::DateTime(zone.to_local(*instant)), &mut bytes);
        }
        _ => write_value(ty, value, &mut bytes),
    }
    bytes
}

/// Size and bytes of a histogram.
fn histogram(
    execution: &Execution<'_>,
    ty: &SqlType,
    found: &Sorted,
    wanted: &Wanted,
) -> (usize, Vec<u8>) {
    let values = (0..found.counts.len()).map(|at| found.values.value(at));
    if wanted.kind != HistogramKind::Json {
        let places = place::Places::new(ty, &found.values);
        let runs = values.zip(&found.counts);
        let runs: Vec<Run<f64>> =
            runs.map(|(value, rows)| Run { value: places.of(&value), rows: *rows }).collect();
        return (wanted.size, histogram::equal_height(wanted.kind, wanted.size, &runs));
    }
    let runs = values.zip(&found.counts);
    let runs: Vec<Run<Bound>> = runs
        .map(|(value, rows)| Run { value: bound(execution, ty, &value), rows: *rows })
        .collect();
    let session = &*execution.session;
    let started = session.values.statement_start.get();
    let mut now = Vec::new();
    if let Some(at) = session.type_context().time_zone.local_from_micros(started) {
        at.write_to(&mut now, 0);
    }
    let version = session.frame.hooks.version();
    let made = histogram::json(wanted.size, &String::from_utf8_lossy(&now), &version, &runs);
    (made.buckets, made.text.into_bytes())
}

/// A value in JSON. Compat: bytes count as latin1, and those of BIT are in hexadecimal digits.
fn bound(execution: &Execution<'_>, ty: &SqlType, value: &Value) -> Bound {
    if let (TypeKind::Bit, Value::UInt(bits)) = (ty.kind, value) {
        let bytes = bits.to_be_bytes();
        return Bound::Hex(bytes[8 - (ty.length as usize).div_ceil(8).clamp(1, 8)..].to_vec());
    }
    let bytes = display(execution, ty, value);
    let charset = match ty.collation.charset() {
        Charset::Binary => Charset::Latin1,
        charset => charset,
    };
    let (converted, lost) = charset.convert(&bytes, Charset::Utf8mb4);
    match std::str::from_utf8(&converted) {
        Ok(text) if lost == 0 => Bound::Text(text.to_owned()),
        _ => Bound::Hex(bytes),
    }
}

fn index_rows(
    execution: &Execution<'_>,
    table: &TableInfo,
    at: usize,
    wanted: &Wanted,
) -> SqlResult<Vec<IndexRow>> {
    let def = &table.def.indexes[at];
    // Compat: keys of engines with clustered rows go on with the primary key, unless unique.
    let goes_on = wanted.extends && table.engine.keys.clustered && !def.is_unique();
    let behind = table.def.parts_behind(def).filter(|_| goes_on).map(|part| part.column);
    let prefixes = collect::index(execution, table, at, behind.collect())?;
    let identified = table.def.is_identified_by(def).then_some(def.parts.len());
    let mut rows = Vec::with_capacity(prefixes.len());
    for (arity, prefix) in (1..).zip(prefixes) {
        let frequency = match prefix {
            _ if identified == Some(arity) => ratio(1, 1),
            Some(Prefix { rows, keys }) if keys > 0 => ratio(rows, keys),
            _ => Value::Null,
        };
        rows.push(IndexRow { name: def.name.to_string(), arity: arity as u64, frequency });
    }
    Ok(rows)
}
