//! A catalog for tests: the TPC-H schema with DBT3's indexes and the statistics of scale factor 1,
//! and a few small tables. No engine, no data.

use std::sync::Arc;

use selkie_catalog::{
    ColumnInfo, ColumnStatistics, IndexInfo, IndexStatistics, Namespace, Schema, Snapshot,
    Statistics, TableInfo, TableKind, TableOptions, TemporaryTables,
};
use selkie_engine::{IndexDef, IndexId, IndexKind, IndexPart, TableId};
use selkie_expr::TypeContext;
use selkie_plan::physical::Plan;
use selkie_plan::{NoEnvironment, PlanContext, Settings, StatisticsSource, StoredStatistics, plan};
use selkie_types::temporal::DateOptions;
use selkie_types::{CollationId, Date, Decimal, SqlResult, SqlType, TypeKind, Value};

/// One line per column, `name type distinct [min max]`; one line per index, `key name columns...`.
const TABLES: &str = include_str!("tables.txt");

fn column_type(text: &str) -> SqlType {
    let (name, arguments) = text.split_once('(').unwrap_or((text, ""));
    let mut numbers = arguments.trim_end_matches(')').split(',').filter_map(|n| n.parse().ok());
    let length: u32 = numbers.next().unwrap_or(0);
    let decimals = numbers.next().unwrap_or(0) as u8;
    let mut ty = match name {
        "int" => SqlType::int(),
        "bigint" => SqlType::bigint(),
        "date" => SqlType::date(),
        "datetime" => SqlType::datetime(0),
        "decimal" => SqlType::decimal(length, decimals),
        "char" => SqlType::new(TypeKind::Char, length, 0),
        "varchar" => SqlType::new(TypeKind::VarChar, length, 0),
        other => panic!("no type {other} here"),
    };
    if ty.is_string() {
        ty.collation = CollationId::UTF8MB4_GENERAL_CI;
    }
    ty
}

fn value(text: &str, ty: &SqlType) -> Value {
    match ty.kind {
        TypeKind::Date => Date::parse(text.as_bytes(), DateOptions::default())
            .value
            .map_or(Value::Null, Value::Date),
        TypeKind::Decimal => Value::Decimal(Decimal::parse(text.as_bytes()).value),
        TypeKind::Int | TypeKind::BigInt => Value::Int(text.parse().unwrap()),
        _ => Value::bytes(text),
    }
}

struct Draft {
    name: String,
    rows: u64,
    columns: Vec<ColumnInfo>,
    statistics: Vec<Option<ColumnStatistics>>,
    indexes: Vec<IndexDef>,
    prefixes: Vec<IndexStatistics>,
}

impl Draft {
    fn column(&mut self, words: &[&str]) {
        let (nullable, ty) = match words[1].strip_suffix('?') {
            Some(ty) => (true, column_type(ty)),
            None => (false, column_type(words[1])),
        };
        let end = |at: usize| words.get(at).map_or(Value::Null, |text| value(text, &ty));
        self.statistics.push(words.get(2).map(|distinct| ColumnStatistics {
            distinct: distinct.parse().unwrap(),
            null_fraction: if nullable { 0.01 } else { 0.0 },
            min: end(3),
            max: end(4),
            ..ColumnStatistics::default()
        }));
        self.columns.push(ColumnInfo { nullable, ..ColumnInfo::not_null(words[0], ty) });
    }

    fn index(&mut self, words: &[&str]) {
        let kind = match words[0] {
            "primary" => IndexKind::Primary,
            "unique" => IndexKind::Unique,
            _ => IndexKind::Plain,
        };
        let (names, distinct): (Vec<&str>, Vec<&str>) =
            words[2..].iter().partition(|w| !w.starts_with(|c: char| c.is_ascii_digit()));
        let part = |name: &&str| IndexPart {
            column: self.columns.iter().position(|c| &*c.name == *name).unwrap(),
            prefix: None,
            descending: false,
        };
        let parts = names.iter().map(part).collect();
        let id = IndexId(self.indexes.len() as u32);
        self.indexes.push(IndexDef {
            id,
            name: words[1].into(),
            kind,
            parts,
            hashed: false,
            without_overlaps: false,
        });
        let prefix_distinct = distinct.iter().map(|d| d.parse().unwrap()).collect();
        self.prefixes.push(IndexStatistics { prefix_distinct });
    }

    fn table(self, id: u64) -> TableInfo {
        let indexes = vec![IndexInfo::default(); self.indexes.len()];
        let def = TableInfo::make_def(TableId(id), "test", &self.name, &self.columns, self.indexes);
        let statistics =
            Statistics { rows: self.rows, columns: self.statistics, indexes: self.prefixes };
        TableInfo {
            def: Arc::new(def),
            kind: TableKind::Base,
            engine: &selkie_engine::testing::TRANSACTIONAL,
            columns: self.columns,
            indexes,
            checks: Vec::new(),
            period: None,
            foreign_keys: Vec::new(),
            partitions: None,
            collation: CollationId::UTF8MB4_GENERAL_CI,
            options: TableOptions::default(),
            created: 0,
            version: 1,
            fulltext: Vec::new(),
            next_index: 0,
            statistics: Some(Arc::new(statistics)),
            persistent: None,
        }
    }
}

/// The definitions for all tests.
pub(crate) fn snapshot() -> Snapshot {
    let mut snapshot = Snapshot::default();
    snapshot.put_schema(Schema {
        name: "test".into(),
        collation: CollationId::UTF8MB4_GENERAL_CI,
        comment: String::new(),
        tables: Default::default(),
    });
    let mut draft: Option<Draft> = None;
    let mut id = 1;
    for line in TABLES.lines().chain(["table end 0"]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first() {
            None => {}
            Some(&"table") => {
                if let Some(done) = draft.take() {
                    snapshot.put_table(Arc::new(done.table(id)));
                    id += 1;
                }
                draft = Some(Draft {
                    name: words[1].into(),
                    rows: words[2].parse().unwrap(),
                    columns: Vec::new(),
                    statistics: Vec::new(),
                    indexes: Vec::new(),
                    prefixes: Vec::new(),
                });
            }
            Some(&("primary" | "unique" | "key")) => draft.as_mut().unwrap().index(&words),
            Some(_) => draft.as_mut().unwrap().column(&words),
        }
    }
    snapshot
}

/// Row counts from ANALYZE; all rows of large tables are in column groups.
struct Grouped {
    /// Whether the cache holds a tenth of the rows of large tables only.
    is_cache_small: bool,
    /// A column that groups of `lineitem` lack.
    absent: Option<&'static str>,
}

impl StatisticsSource for Grouped {
    fn table_rows(&self, table: &TableInfo) -> Option<f64> {
        StoredStatistics.table_rows(table)
    }

    fn grouped_share(&self, table: &TableInfo, columns: &[usize]) -> f64 {
        let is_absent = |at: &usize| self.absent == Some(&*table.columns[*at].name);
        match self.table_rows(table) >= Some(50_000.0) && !columns.iter().any(is_absent) {
            true => 1.0,
            false => 0.0,
        }
    }

    fn uncached_share(&self, table: &TableInfo) -> f64 {
        match self.is_cache_small && self.table_rows(table) >= Some(50_000.0) {
            true => 0.9,
            false => 0.0,
        }
    }
}

/// Plans `sql` over these definitions.
pub(crate) fn plan_sql(sql: &str) -> SqlResult<Plan> {
    plan_by(sql, &StoredStatistics)
}

/// Plans `sql` over these definitions, as if large tables had column groups.
#[allow(dead_code, reason = "only some of the test programs have such plans")]
pub(crate) fn plan_sql_with_groups(sql: &str) -> SqlResult<Plan> {
    plan_by(sql, &Grouped { is_cache_small: false, absent: None })
}

/// As [`plan_sql_with_groups`], as if the cache held a tenth of the rows of large tables, and the
/// groups lacked a column.
#[allow(dead_code, reason = "only some of the test programs have such plans")]
pub(crate) fn plan_sql_short_of_memory(sql: &str, absent: Option<&'static str>) -> SqlResult<Plan> {
    plan_by(sql, &Grouped { is_cache_small: true, absent })
}

fn plan_by(sql: &str, statistics: &dyn StatisticsSource) -> SqlResult<Plan> {
    let (snapshot, temporary) = (&snapshot(), &TemporaryTables::default());
    let parsed = selkie_sql::parse(sql.as_bytes(), &selkie_sql::ParseOptions::default())?;
    let settings = Settings { schema: Some("test"), ..Settings::default() };
    let context = PlanContext {
        text: sql.as_bytes(),
        tables: Namespace { snapshot, temporary },
        environment: &NoEnvironment,
        statistics,
        settings: &settings,
        types: &TypeContext::default(),
        parameters: parsed.params as usize,
    };
    plan(&parsed.statement, &context)
}
