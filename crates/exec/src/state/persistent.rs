//! Engine-independent statistics: the rows of `mysql.table_stats`, `mysql.column_stats` and
//! `mysql.index_stats`, and what the planner takes from them.
//!
//! The tables belong to users, who may write anything into them: a row that makes no sense is
//! ignored, and never an error. Must not compute statistics.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_catalog::histogram::{self, Bound, HistogramKind};
use selkie_catalog::{
    ColumnStatistics, IndexStatistics, Statistics, TableInfo, TableKind, new_version,
};
use selkie_engine::{EngineTrx, LockMode as RowLock};
use selkie_types::temporal::DateOptions;
use selkie_types::{
    Charset, Date, DateTime, Decimal, Physical, SqlResult, SqlType, Time, TypeKind, Value,
};

use super::control::Control;
use super::own_table::{OwnShape, OwnTable};
use super::own_transaction::{begin_in, commit_now};
use crate::Instance;

const TABLE_STATS: OwnShape = OwnShape {
    name: "table_stats",
    columns: &["db_name", "table_name", "cardinality"],
    kinds: &[TypeKind::VarChar, TypeKind::VarChar, TypeKind::BigInt],
    key: &[0, 1],
};

const COLUMN_STATS: OwnShape = OwnShape {
    name: "column_stats",
    columns: &[
        "db_name",
        "table_name",
        "column_name",
        "min_value",
        "max_value",
        "nulls_ratio",
        "avg_length",
        "avg_frequency",
        "hist_size",
        "hist_type",
        "histogram",
    ],
    kinds: &[
        TypeKind::VarChar,
        TypeKind::VarChar,
        TypeKind::VarChar,
        TypeKind::VarChar,
        TypeKind::VarChar,
        TypeKind::Decimal,
        TypeKind::Decimal,
        TypeKind::Decimal,
        TypeKind::TinyInt,
        TypeKind::Enum,
        TypeKind::LongText,
    ],
    key: &[0, 1, 2],
};

const INDEX_STATS: OwnShape = OwnShape {
    name: "index_stats",
    columns: &["db_name", "table_name", "index_name", "prefix_arity", "avg_frequency"],
    kinds: &[
        TypeKind::VarChar,
        TypeKind::VarChar,
        TypeKind::VarChar,
        TypeKind::Int,
        TypeKind::Decimal,
    ],
    key: &[0, 1, 2, 3],
};

/// Buckets of a histogram as the planner has it.
const BUCKETS: usize = 64;

/// A row of `mysql.column_stats` behind its key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnRow {
    /// Name of the column.
    pub name: String,
    /// `min_value` to `histogram`.
    pub values: [Value; 8],
}

/// A row of `mysql.index_stats` behind its key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndexRow {
    /// Name of the index.
    pub name: String,
    /// Number of parts, 1 or more.
    pub arity: u64,
    /// Rows for each key; NULL if it is not known.
    pub frequency: Value,
}

/// The rows of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    /// Number of rows of the table.
    pub cardinality: Option<u64>,
    /// Rows of columns.
    pub columns: Vec<ColumnRow>,
    /// Rows of indexes.
    pub indexes: Vec<IndexRow>,
}

/// The three tables; missing ones hold nothing and take nothing.
pub(crate) struct StatTables<'a> {
    tables: Option<OwnTable<'a>>,
    columns: Option<OwnTable<'a>>,
    indexes: Option<OwnTable<'a>>,
}

fn key(schema: &str, table: &str) -> Vec<Value> {
    vec![Value::bytes(schema), Value::bytes(table)]
}

fn text(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

impl<'a> StatTables<'a> {
    pub(crate) fn open(instance: &Instance, control: &'a Control) -> SqlResult<Self> {
        let open = |shape| OwnTable::open(instance, control, shape);
        Ok(Self {
            tables: open(&TABLE_STATS)?,
            columns: open(&COLUMN_STATS)?,
            indexes: open(&INDEX_STATS)?,
        })
    }

    fn any(&self) -> Option<&OwnTable<'a>> {
        self.tables.as_ref().or(self.columns.as_ref()).or(self.indexes.as_ref())
    }

    /// Runs `work` in a transaction of its own and commits it; nothing without the tables.
    fn change(
        &self,
        instance: &Instance,
        work: impl FnOnce(&dyn EngineTrx) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let Some(any) = self.any() else { return Ok(()) };
        let (engine, trx) = begin_in(instance, &any.info)?;
        work(&*trx)?;
        commit_now(&*engine, trx)
    }

    /// Stores rows in place of those with their keys.
    pub(crate) fn put(
        &self,
        instance: &Instance,
        name: (&str, &str),
        rows: &Rows,
    ) -> SqlResult<()> {
        self.change(instance, |trx| self.put_in(trx, name, rows))
    }

    fn put_in(
        &self,
        trx: &dyn EngineTrx,
        (schema, table): (&str, &str),
        rows: &Rows,
    ) -> SqlResult<()> {
        if let (Some(stored), Some(cardinality)) = (&self.tables, rows.cardinality) {
            let mut row = key(schema, table);
            row.push(Value::UInt(cardinality));
            stored.put(trx, &row, TABLE_STATS.key.len())?;
        }
        if let Some(stored) = &self.columns {
            for one in &rows.columns {
                let mut row = key(schema, table);
                row.push(Value::bytes(&one.name));
                row.extend(one.values.iter().cloned());
                stored.put(trx, &row, COLUMN_STATS.key.len())?;
            }
        }
        if let Some(stored) = &self.indexes {
            for one in &rows.indexes {
                let mut row = key(schema, table);
                row.extend([
                    Value::bytes(&one.name),
                    Value::UInt(one.arity),
                    one.frequency.clone(),
                ]);
                stored.put(trx, &row, INDEX_STATS.key.len())?;
            }
        }
        Ok(())
    }

    /// Replaces the rows of one table by others, possibly under another name: `None` drops them.
    pub(crate) fn replace(
        &self,
        instance: &Instance,
        (schema, table): (&str, &str),
        new: Option<((&str, &str), &Rows)>,
    ) -> SqlResult<()> {
        self.change(instance, |trx| {
            for stored in [&self.tables, &self.columns, &self.indexes].into_iter().flatten() {
                stored.remove(trx, &key(schema, table))?;
            }
            new.map_or(Ok(()), |(name, rows)| self.put_in(trx, name, rows))
        })
    }

    /// The rows of one table.
    pub(crate) fn rows(
        &self,
        instance: &Instance,
        (schema, table): (&str, &str),
    ) -> SqlResult<Rows> {
        let mut rows = Rows::default();
        let Some(any) = self.any() else { return Ok(rows) };
        let (_, trx) = begin_in(instance, &any.info)?;
        let key = key(schema, table);
        let mut see = |stored: &Option<OwnTable<'a>>, kind: Kind| -> SqlResult<()> {
            let Some(stored) = stored else { return Ok(()) };
            let found = stored.rows(&*trx, &key, RowLock::None)?;
            found.rows.iter().try_for_each(|row| {
                rows.add(kind, stored.values(row)?);
                Ok(())
            })
        };
        see(&self.tables, Kind::Table)?;
        see(&self.columns, Kind::Column)?;
        see(&self.indexes, Kind::Index)?;
        Ok(rows)
    }

    /// The rows of all tables by schema and name.
    pub(crate) fn all(&self, instance: &Instance) -> SqlResult<HashMap<(String, String), Rows>> {
        let mut all: HashMap<(String, String), Rows> = HashMap::new();
        let Some(any) = self.any() else { return Ok(all) };
        let (_, trx) = begin_in(instance, &any.info)?;
        let mut see = |stored: &Option<OwnTable<'a>>, kind: Kind| -> SqlResult<()> {
            let Some(stored) = stored else { return Ok(()) };
            stored.each(&*trx, |row| {
                let values = stored.values(row)?;
                let name = (text(&values[0]), text(&values[1]));
                all.entry(name).or_default().add(kind, values);
                Ok(())
            })
        };
        see(&self.tables, Kind::Table)?;
        see(&self.columns, Kind::Column)?;
        see(&self.indexes, Kind::Index)?;
        Ok(all)
    }
}

/// Lets the planner see what the tables say of all tables, or of one.
pub(crate) fn reload(
    instance: &Instance,
    control: &Control,
    only: Option<(&str, &str)>,
) -> SqlResult<()> {
    let tables = StatTables::open(instance, control)?;
    let mut all = match only {
        None => tables.all(instance)?,
        Some((schema, table)) => {
            let rows = tables.rows(instance, (schema, table))?;
            [((schema.to_owned(), table.to_owned()), rows)].into_iter().collect()
        }
    };
    let snapshot = instance.catalog.snapshot();
    let known = snapshot.schemas().flat_map(|schema| schema.tables.values());
    for table in known.filter(|table| only.is_none() && table.persistent.is_some()) {
        all.entry((table.schema().to_owned(), table.name().to_owned())).or_default();
    }
    for ((schema, table), rows) in all {
        publish(instance, (&schema, &table), &rows);
    }
    Ok(())
}

/// Reads the statistics when the server starts.
pub fn load_statistics(instance: &Instance) -> SqlResult<()> {
    reload(instance, &Control::unattended(), None)
}

/// Lets the planner see the rows of a table. Plans are made anew only if something has changed.
pub(crate) fn publish(instance: &Instance, (schema, table): (&str, &str), rows: &Rows) {
    instance.catalog.publish(|snapshot| {
        let Some(now) = snapshot.table(schema, table) else { return };
        let persistent = rows.statistics(now);
        if now.kind != TableKind::Base || now.persistent.as_deref() == persistent.as_ref() {
            return;
        }
        let persistent = persistent.map(Arc::new);
        let info = TableInfo { version: new_version(), persistent, ..TableInfo::clone(now) };
        snapshot.put_table(Arc::new(info));
    });
}

#[derive(Clone, Copy)]
enum Kind {
    Table,
    Column,
    Index,
}

impl Rows {
    fn add(&mut self, kind: Kind, values: Vec<Value>) {
        match (kind, &values[..]) {
            (Kind::Table, [_, _, Value::UInt(rows)]) => self.cardinality = Some(*rows),
            (Kind::Column, [_, _, name, row @ ..]) => {
                if let Ok(values) = <[Value; 8]>::try_from(row.to_vec()) {
                    self.columns.push(ColumnRow { name: text(name), values });
                }
            }
            (Kind::Index, [_, _, name, Value::UInt(arity), frequency]) => {
                let frequency = frequency.clone();
                self.indexes.push(IndexRow { name: text(name), arity: *arity, frequency });
            }
            _ => {}
        }
    }

    /// Statistics for the planner from the rows; nothing without rows.
    pub(crate) fn statistics(&self, table: &TableInfo) -> Option<Statistics> {
        if *self == Self::default() {
            return None;
        }
        let rows = self.cardinality.unwrap_or(0);
        let column = |at: usize| {
            let info = &table.columns[at];
            let row = self.columns.iter().find(|row| row.name.eq_ignore_ascii_case(&info.name))?;
            of_column(&info.ty, rows, &row.values)
        };
        let index = |def: &selkie_engine::IndexDef| {
            let of_name = |row: &&IndexRow| row.name.eq_ignore_ascii_case(&def.name);
            let mut found: Vec<(u64, f64)> = self
                .indexes
                .iter()
                .filter(of_name)
                .filter_map(|row| Some((row.arity, number(&row.frequency).filter(|f| *f > 0.0)?)))
                .collect();
            found.sort_by_key(|(arity, _)| *arity);
            let in_turn = found.iter().zip(1..).take_while(|((arity, _), at)| arity == at);
            let distinct = in_turn.map(|((_, frequency), _)| rows as f64 / frequency);
            IndexStatistics { prefix_distinct: distinct.take(def.parts.len()).collect() }
        };
        Some(Statistics {
            rows,
            columns: (0..table.columns.len()).map(column).collect(),
            indexes: table.def.indexes.iter().map(index).collect(),
        })
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Decimal(v) => Some(v.to_f64()),
        _ => None,
    }
}

fn of_column(ty: &SqlType, rows: u64, row: &[Value; 8]) -> Option<ColumnStatistics> {
    let [min, max, nulls, length, frequency, _, kind, histogram] = row;
    let null_fraction = number(nulls)?.clamp(0.0, 1.0);
    let frequency = number(frequency).filter(|f| *f > 0.0);
    let filled = rows as f64 * (1.0 - null_fraction);
    let bound = |value: &Value| match value {
        Value::Bytes(text) => of_text(ty, text),
        _ => None,
    };
    let (min, max) = (bound(min).unwrap_or(Value::Null), bound(max).unwrap_or(Value::Null));
    let kind = match kind {
        Value::UInt(member) => HistogramKind::ALL.get(*member as usize - usize::from(*member > 0)),
        _ => None,
    };
    let histogram = match (kind, histogram) {
        (Some((HistogramKind::Json, _)), Value::Bytes(text)) => of_json(ty, text, &max),
        (Some((kind, _)), Value::Bytes(bytes)) => of_bytes(*kind, bytes, (&min, &max)),
        _ => None,
    };
    Some(ColumnStatistics {
        distinct: frequency.map_or(1.0, |frequency| (filled / frequency).max(1.0)),
        null_fraction,
        average_bytes: number(length).unwrap_or(8.0),
        min,
        max,
        histogram: histogram.unwrap_or_default(),
    })
}

/// The value of a text as `mysql.column_stats` holds it.
fn of_text(ty: &SqlType, text: &[u8]) -> Option<Value> {
    let ascii = || std::str::from_utf8(text).ok();
    let lenient = DateOptions::LENIENT;
    let member = |name: &[u8]| {
        let members = ty.members.as_deref().unwrap_or(&[]);
        members.iter().position(|own| own.as_bytes() == name)
    };
    Some(match (ty.kind, ty.physical()) {
        (TypeKind::Enum, _) => Value::UInt(member(text)? as u64 + 1),
        (TypeKind::Set, _) => {
            let parts = text.split(|c| *c == b',').filter(|part| !part.is_empty());
            let bits = parts.map(|part| Some(1u64 << member(part)?.min(63)));
            Value::UInt(bits.collect::<Option<Vec<u64>>>()?.into_iter().fold(0, |all, b| all | b))
        }
        (_, Physical::Int) => Value::Int(ascii()?.parse().ok()?),
        (_, Physical::UInt) => Value::UInt(ascii()?.parse().ok()?),
        (_, Physical::Double) => {
            Value::Double(ascii()?.parse().ok().filter(|v: &f64| v.is_finite())?)
        }
        (_, Physical::Decimal) => Value::Decimal(Decimal::parse(text).value),
        (_, Physical::Date) => Value::Date(Date::parse(text, lenient).value?),
        (_, Physical::DateTime) => Value::DateTime(DateTime::parse(text, lenient).value?),
        (_, Physical::Time) => Value::Time(Time::parse(text, lenient).value?),
        (_, Physical::Bytes) if ty.fixed_binary().is_some() => return None,
        (_, Physical::Bytes) => Value::bytes(text),
    })
}

/// Ends of buckets from a histogram of bytes. Only numbers have them: between two texts there is
/// no value at a given place.
fn of_bytes(kind: HistogramKind, bytes: &[u8], (min, max): (&Value, &Value)) -> Option<Vec<Value>> {
    let (low, high) = (digits(min)?, digits(max)?);
    let places = histogram::places(kind, bytes)?;
    let ends = places.into_iter().chain([1.0]).map(|place| like(min, low + place * (high - low)));
    ends.collect()
}

/// A value as a number; a time is one by its digits.
fn digits(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Int(v) => *v as f64,
        Value::UInt(v) => *v as f64,
        Value::Double(v) => *v,
        Value::Decimal(v) => v.to_f64(),
        Value::Date(v) => f64::from(v.to_number()),
        Value::DateTime(v) => v.to_number() as f64,
        Value::Time(_) | Value::Bytes(_) | Value::Null => return None,
    })
}

/// The number as a value of the kind of `sample`. Digits that are no date become one near by.
fn like(sample: &Value, number: f64) -> Option<Value> {
    let near = |date: u64| {
        let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
        year * 10_000 + month.clamp(1, 12) * 100 + day.clamp(1, 28)
    };
    let whole = number.max(0.0) as u64;
    let lenient = DateOptions::LENIENT;
    match sample {
        Value::Date(_) => Date::from_number(near(whole) as i64, lenient).value.map(Value::Date),
        Value::DateTime(_) => {
            let (hour, minute, second) = (whole / 10_000 % 100, whole / 100 % 100, whole % 100);
            let clock = hour.min(23) * 10_000 + minute.min(59) * 100 + second.min(59);
            let digits = near(whole / 1_000_000) * 1_000_000 + clock;
            DateTime::from_number(digits as i64, 0, lenient).value.map(Value::DateTime)
        }
        _ => Some(Value::Double(number)),
    }
}

/// Ends of buckets of equally many rows from a histogram in JSON.
fn of_json(ty: &SqlType, text: &[u8], max: &Value) -> Option<Vec<Value>> {
    let buckets = histogram::json_buckets(text)?;
    let value = |bound: &Bound| match bound {
        Bound::Text(text) => {
            of_text(ty, &Charset::Utf8mb4.convert(text.as_bytes(), ty.collation.charset()).0)
        }
        Bound::Hex(bytes) if ty.kind == TypeKind::Bit => {
            Some(Value::UInt(bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte))))
        }
        Bound::Hex(bytes) => Some(Value::bytes(bytes)),
    };
    let values: Option<Vec<Value>> = buckets.iter().map(|bucket| value(&bucket.start)).collect();
    let values = values?;
    let end = |bucket: usize| {
        let share = bucket as f64 / BUCKETS as f64;
        let after = buckets.partition_point(|bucket| bucket.before < share);
        let own = after.checked_sub(1).filter(|at| buckets[*at].single);
        values.get(own.unwrap_or(after)).unwrap_or(max).clone()
    };
    let ends = (1..BUCKETS).map(end);
    Some(ends.chain([max.clone()]).collect())
}
