//! A table as SQL sees it: the engine's definition, and everything that only `SHOW CREATE TABLE`
//! shows. Serialized types here are the dictionary's stored format: fields added later have a serde
//! default.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use selkie_engine::{
    ColumnDef, IndexDef, IndexKind, IndexPart, Personality, TableDef, TableId, TextDef, TextRules,
};
use selkie_expr::NamedTable;
use selkie_types::{CollationId, RowVersion, SqlMode, SqlType, TypeKind, Value};
use serde::{Deserialize, Serialize};

use crate::{ForeignKey, Partitioning, Period, SERIES_ENGINE, Statistics, SystemRole, SystemTime};

/// A version for a new definition. It is unique since the server's start, so nothing cached for
/// another definition, of whatever name, is ever used for this one.
pub fn new_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Kind of the object behind a table name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TableKind {
    /// Rows are stored in an engine.
    Base,
    /// A session's own table, dropped when the session ends.
    Temporary,
    /// A view.
    View(View),
    /// Rows are computed on request, as in `information_schema`.
    System,
}

/// Definition of a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Text of the query in canonical form; every table name has its schema.
    pub select: String,
    /// `MERGE`, `TEMPTABLE` or `UNDEFINED`.
    pub algorithm: String,
    /// `user@host`.
    pub definer: String,
    /// Whether it runs with the invoker's privileges.
    pub security_invoker: bool,
    /// `NONE`, `LOCAL` or `CASCADED`.
    pub check_option: String,
    /// `character_set_client` at creation.
    pub client_charset: String,
    /// `collation_connection` at creation.
    pub connection_collation: String,
    /// Whether any of its columns can be updated, as `information_schema` shows.
    #[serde(default)]
    pub updatable: bool,
}

/// Value of a column when a statement gives none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DefaultValue {
    /// No `DEFAULT` clause: NULL if allowed, else an error (the type's zero value when not strict).
    Implicit,
    /// A constant, already converted to the column's type.
    Literal(Value),
    /// `CURRENT_TIMESTAMP(fsp)`.
    CurrentTimestamp,
    /// Any other expression, in canonical text.
    Expression(String),
    /// A constant of a TEXT or BLOB column. Compat: it is shown as the written expression.
    Written {
        /// The constant, already converted to the column's type.
        value: Value,
        /// The expression in canonical text.
        text: String,
    },
}

impl DefaultValue {
    /// The default's value if it is a constant.
    pub fn constant(&self) -> Option<&Value> {
        match self {
            Self::Literal(value) | Self::Written { value, .. } => Some(value),
            _ => None,
        }
    }
}

/// Definition of a generated column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generated {
    /// Expression in canonical text.
    pub expression: String,
    /// `STORED` rather than `VIRTUAL`.
    pub stored: bool,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnInfo {
    /// Name; case-insensitive.
    pub name: Box<str>,
    /// Type.
    pub ty: SqlType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// Default value.
    pub default: DefaultValue,
    /// `ON UPDATE CURRENT_TIMESTAMP`.
    pub on_update_now: bool,
    /// `AUTO_INCREMENT`.
    pub auto_increment: bool,
    /// `GENERATED ALWAYS AS`.
    pub generated: Option<Generated>,
    /// Column-level CHECK, canonical text.
    pub check: Option<String>,
    /// Name of the column when its CHECK was made, if it has been renamed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_as: Option<String>,
    /// Left out of `SELECT *`.
    pub invisible: bool,
    /// `COMMENT`.
    pub comment: String,
    /// Options that no engine knows, kept to be shown: quoted name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// Part in system versioning.
    #[serde(default, skip_serializing_if = "SystemRole::is_plain")]
    pub system: SystemRole,
    /// `COMPRESSED`, which is only shown: values are stored as they are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,
}

impl ColumnInfo {
    /// Whether the SQL mode refuses the zero date that old rows would get, were the column added.
    ///
    /// Compat: TIMESTAMP columns get it in any mode.
    pub fn refuses_zero(&self, mode: SqlMode) -> bool {
        mode.contains(SqlMode::NO_ZERO_DATE)
            && matches!(self.ty.kind, TypeKind::Date | TypeKind::DateTime)
            && !self.nullable
            && self.generated.is_none()
            && matches!(self.default, DefaultValue::Implicit)
    }

    /// A NOT NULL column with no clause beside its type.
    pub fn not_null(name: &str, ty: SqlType) -> Self {
        Self {
            name: name.into(),
            ty,
            nullable: false,
            default: DefaultValue::Implicit,
            on_update_now: false,
            auto_increment: false,
            generated: None,
            check: None,
            checked_as: None,
            invisible: false,
            comment: String::new(),
            options: Vec::new(),
            system: SystemRole::Plain,
            compressed: false,
        }
    }

    /// The name of its CHECK. Compat: it stays when the column is renamed.
    pub fn check_name(&self) -> &str {
        self.checked_as.as_deref().unwrap_or(&self.name)
    }

    /// Gives the column another name.
    pub fn rename(&mut self, name: &str) {
        if self.check.is_some() && self.checked_as.is_none() {
            self.checked_as = Some(self.name.to_string());
        }
        self.name = name.into();
    }

    /// The text of the type, as SHOW and `information_schema` give it.
    pub fn type_text(&self, mode: SqlMode) -> String {
        let compressed = if self.compressed { " /*M!100301 COMPRESSED*/" } else { "" };
        format!("{}{compressed}", shown_type(&self.ty, mode))
    }
}

/// The prefix length of a key part as it is shown. Compat: a hashed key over whole geometries shows
/// 8 bytes of each.
pub fn shown_prefix(ty: &SqlType, index: &IndexDef, part: &IndexPart) -> Option<u32> {
    part.prefix.or_else(|| (index.hashed && ty.geometry.is_some()).then_some(8))
}

/// The text of a type. Compat: with sql_mode=ORACLE a BLOB has its length, since BLOB alone would
/// be a LONGBLOB.
pub(crate) fn shown_type(ty: &SqlType, mode: SqlMode) -> String {
    match ty.kind == TypeKind::Text && ty.is_binary_string() && mode.contains(SqlMode::ORACLE) {
        true => format!("{ty}(65535)"),
        false => ty.to_string(),
    }
}

/// SQL attributes of an index beyond the engine's definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IndexInfo {
    /// `COMMENT`.
    pub comment: String,
    /// `BTREE` or `HASH` as written; `None` if not written.
    pub algorithm: Option<String>,
    /// The optimizer must not use it (`IGNORED`).
    pub ignored: bool,
    /// Created for a foreign key: dropped when another index begins with its columns.
    #[serde(default)]
    pub generated: bool,
    /// `KEY_BLOCK_SIZE`, kept to be shown; 0 if not given.
    #[serde(default)]
    pub key_block_size: u64,
}

/// A FULLTEXT index: words of texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextIndex {
    /// Id, name and columns. The id is never that of another index of the table.
    pub def: IndexDef,
    /// SQL attributes.
    pub info: IndexInfo,
    /// Whether stopwords are left out.
    pub stopwords: bool,
    /// The table of stopwords, `db/table`; none for the built-in list.
    pub stopword_table: Option<Box<str>>,
    /// The rules by which the engine keeps it; none if it does not, so that searches read rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<TextRules>,
}

impl TextIndex {
    /// Those of `all` that the engine keeps, as it sees them.
    pub fn kept(all: &[Self]) -> Vec<TextDef> {
        let text = |of: &Self| Some(TextDef { index: of.def.clone(), rules: of.rules.clone()? });
        all.iter().filter_map(text).collect()
    }
}

/// A table-level CHECK.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckInfo {
    /// Constraint name.
    pub name: String,
    /// Condition in canonical text.
    pub expression: String,
}

/// Options after the closing parenthesis of `CREATE TABLE`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableOptions {
    /// `COMMENT`.
    pub comment: String,
    /// Options to be shown, in order, such as `ROW_FORMAT`: name, value as shown.
    pub shown: Vec<(String, String)>,
    /// `ALTER TABLE ... DISABLE KEYS` was executed. Keys are maintained all the same.
    #[serde(default)]
    pub keys_disabled: bool,
    /// The format of rows when the table was made, if `ROW_FORMAT` was not given and the engine's
    /// usual one was not that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_format: Option<String>,
}

impl TableOptions {
    /// The value of an option, if it is shown.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.shown.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A table, view or system table.
#[derive(Clone, Debug)]
pub struct TableInfo {
    /// The engine's definition. Views and system tables have id 0 and no indexes.
    pub def: Arc<TableDef>,
    /// Kind of the table.
    pub kind: TableKind,
    /// The engine; [`Personality::NONE`] for views.
    pub engine: &'static Personality,
    /// Columns, in the order of `def.columns`.
    pub columns: Vec<ColumnInfo>,
    /// One per index of `def`.
    pub indexes: Vec<IndexInfo>,
    /// FULLTEXT indexes; `def` has those that the engine keeps.
    pub fulltext: Vec<TextIndex>,
    /// Table-level CHECKs.
    pub checks: Vec<CheckInfo>,
    /// The application-time period.
    pub period: Option<Period>,
    /// Foreign keys of this table.
    pub foreign_keys: Vec<ForeignKey>,
    /// Partitions; with them the table's own id has no storage.
    pub partitions: Option<Arc<Partitioning>>,
    /// Default collation of new columns.
    pub collation: CollationId,
    /// Other options.
    pub options: TableOptions,
    /// Time of creation in seconds since 1970.
    pub created: u64,
    /// Version, unique among all definitions (CAT-1): see [`new_version`].
    pub version: u64,
    /// Next id for an index (CAT-4); 0 if no index had an id yet.
    pub next_index: u32,
    /// Result of ANALYZE, if it ran.
    pub statistics: Option<Arc<Statistics>>,
    /// Content of `mysql.column_stats` and `mysql.index_stats` when they were last read.
    pub persistent: Option<Arc<Statistics>>,
}

impl NamedTable for TableInfo {
    fn column_names(&self, at: usize) -> (&str, &str, &str) {
        let column = self.columns.get(at).map_or("", |c| &c.name);
        (self.schema(), self.name(), column)
    }
}

impl TableInfo {
    /// The format of its rows, as `information_schema` shows it.
    pub fn row_format(&self) -> &'static str {
        crate::information::row_format(self)
    }

    /// Whether the table has rows in an engine.
    pub fn has_storage(&self) -> bool {
        matches!(self.kind, TableKind::Base | TableKind::Temporary) && self.def.id != TableId(0)
    }

    /// The index reported to clients as the primary key.
    ///
    /// Compat: without a primary key, it is the first unique key that has neither NULLs nor
    /// prefixes.
    pub fn shown_primary(&self) -> Option<&IndexDef> {
        let whole = |part: &IndexPart| part.prefix.is_none() && !self.columns[part.column].nullable;
        let tells_rows_apart = |index: &&IndexDef| {
            let unique = index.kind == IndexKind::Unique && !index.hashed;
            index.kind.is_primary() || unique && index.parts.iter().all(whole)
        };
        self.def.indexes.first().filter(tells_rows_apart)
    }

    /// Whether it is a sequence.
    pub fn is_sequence(&self) -> bool {
        self.options.shown.iter().any(|(name, _)| name == "SEQUENCE")
    }

    /// Whether it is a [`Series`] of numbers.
    pub fn is_series(&self) -> bool {
        std::ptr::eq(self.engine, &SERIES_ENGINE)
    }

    /// Schema name.
    pub fn schema(&self) -> &str {
        &self.def.schema
    }

    /// Table name.
    pub fn name(&self) -> &str {
        &self.def.name
    }

    /// Position of the column `name`, case-insensitive.
    pub fn column_position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| selkie_types::charset::identifier_eq(&c.name, name))
    }

    /// Position of the column that `_rowid` stands for: the integer that is the primary key or, if
    /// there is none, the first unique key without NULLs.
    pub fn row_id_column(&self) -> Option<usize> {
        let [part] = self.shown_primary()?.own_parts() else { return None };
        let ty = &self.columns[part.column].ty;
        let is_number = ty.is_integer() || matches!(ty.kind, TypeKind::Year | TypeKind::Bit);
        is_number.then_some(part.column)
    }

    /// Position of the column that a statement calls `name`, if it may call it `_rowid`.
    pub fn named_position(&self, name: &str) -> Option<usize> {
        let row_id = || self.row_id_column().filter(|_| name.eq_ignore_ascii_case("_rowid"));
        self.column_position(name).or_else(row_id)
    }

    /// Whether a column is computed when rows are read: it is virtual, in no index, and no
    /// partition depends on it. Stored rows have NULL in its place.
    pub fn is_computed(&self, column: usize) -> bool {
        let is_virtual = self.columns[column].generated.as_ref().is_some_and(|g| !g.stored);
        let mut parts = self.def.indexes.iter().flat_map(|index| &index.parts);
        let routes = || self.partitions.as_ref().is_some_and(|by| by.reads(self, column));
        is_virtual && !parts.any(|part| part.column == column) && !routes()
    }

    /// Position of the FULLTEXT index over columns, in any order. Compat: only their number
    /// counts, so a column that is named twice stands for another one too.
    pub fn text_index_over(&self, columns: &[usize]) -> Option<usize> {
        self.fulltext.iter().position(|index| {
            let has = |column: &usize| index.def.holds(*column);
            columns.len() == index.def.parts.len() && columns.iter().all(has)
        })
    }

    /// Definitions of all indexes, the FULLTEXT ones last.
    pub fn all_indexes(&self) -> impl Iterator<Item = (&IndexDef, Option<&IndexInfo>)> {
        let infos = self.indexes.iter().map(Some).chain(std::iter::repeat(None));
        let texts = self.fulltext.iter().map(|index| (&index.def, Some(&index.info)));
        self.def.indexes.iter().zip(infos).chain(texts)
    }

    /// Positions of the columns called `names`; `None` if one is missing.
    pub fn column_positions(&self, names: &[String]) -> Option<Vec<usize>> {
        names.iter().map(|name| self.column_position(name)).collect()
    }

    /// Whether the planner may search by the index at a position.
    pub fn is_searchable(&self, index: usize) -> bool {
        let ignored = self.indexes.get(index).is_some_and(|info| info.ignored);
        !ignored && self.def.indexes.get(index).is_some_and(|def| !def.hashed)
    }

    /// Position of an index whose first parts are `columns` in this order, without prefixes.
    pub fn index_over(&self, columns: &[usize]) -> Option<usize> {
        self.def.indexes.iter().position(|index| {
            let parts = || index.parts.iter().zip(columns);
            !index.hashed
                && index.parts.len() >= columns.len()
                && parts().all(|(part, column)| part.column == *column && part.prefix.is_none())
        })
    }

    /// The first id that was never given to an index of the table (CAT-4).
    pub fn first_new_index(&self) -> u32 {
        let texts = self.fulltext.iter().map(|index| &index.def);
        let above = self.def.indexes.iter().chain(texts).map(|index| index.id.0 + 1).max();
        self.next_index.max(above.unwrap_or(0))
    }

    /// The form stored in the dictionary.
    pub fn to_stored(&self) -> StoredTable {
        StoredTable {
            kind: self.kind.clone(),
            engine: self.engine.name.to_owned(),
            columns: self.columns.clone(),
            index_defs: self.def.indexes.clone(),
            indexes: self.indexes.clone(),
            fulltext: self.fulltext.clone(),
            checks: self.checks.clone(),
            period: self.period.clone(),
            foreign_keys: self.foreign_keys.clone(),
            partitions: self.partitions.as_deref().cloned(),
            collation: self.collation,
            options: self.options.clone(),
            created: self.created,
            next_index: self.first_new_index(),
            row_versions: self.def.layout.earlier(),
        }
    }

    /// Builds the engine's definition from `columns` and `indexes`.
    pub fn make_def(
        id: TableId,
        schema: &str,
        name: &str,
        columns: &[ColumnInfo],
        indexes: Vec<IndexDef>,
    ) -> TableDef {
        let column = |c: &ColumnInfo| ColumnDef {
            name: c.name.clone(),
            ty: c.ty.clone(),
            nullable: c.nullable,
        };
        let defs: Vec<ColumnDef> = columns.iter().map(column).collect();
        TableDef {
            id,
            schema: schema.into(),
            name: name.into(),
            layout: TableDef::layout_of(&defs),
            columns: defs,
            indexes,
            texts: Vec::new(),
            auto_increment: columns.iter().position(|c| c.auto_increment),
            current: SystemTime::of(columns)
                .map(|period| (period.end, SystemTime::end_value(&columns[period.end].ty))),
        }
    }
}

/// A table's definition as stored in the dictionary, in JSON. Its names and id are columns of the
/// dictionary's row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredTable {
    kind: TableKind,
    engine: String,
    columns: Vec<ColumnInfo>,
    index_defs: Vec<IndexDef>,
    indexes: Vec<IndexInfo>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fulltext: Vec<TextIndex>,
    checks: Vec<CheckInfo>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    period: Option<Period>,
    foreign_keys: Vec<ForeignKey>,
    collation: CollationId,
    options: TableOptions,
    created: u64,
    #[serde(default)]
    next_index: u32,
    /// Earlier column lists of rows that may still be stored, by the version number in the row.
    #[serde(default)]
    row_versions: Vec<RowVersion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partitions: Option<Partitioning>,
}

impl StoredTable {
    /// Name of its engine.
    pub fn engine(&self) -> &str {
        &self.engine
    }

    /// The table `schema`.`name` with this stored definition. `engine` is the one of
    /// [`Self::engine`].
    pub fn into_info(
        self,
        engine: &'static Personality,
        id: TableId,
        schema: &str,
        name: &str,
        statistics: Option<Arc<Statistics>>,
    ) -> TableInfo {
        let mut def = TableInfo::make_def(id, schema, name, &self.columns, self.index_defs);
        def.layout = def.layout.with_earlier(self.row_versions);
        def.texts = TextIndex::kept(&self.fulltext);
        TableInfo {
            def: Arc::new(def),
            kind: self.kind,
            engine,
            columns: self.columns,
            indexes: self.indexes,
            fulltext: self.fulltext,
            checks: self.checks,
            period: self.period,
            foreign_keys: self.foreign_keys,
            partitions: self.partitions.map(Arc::new),
            collation: self.collation,
            options: self.options,
            created: self.created,
            version: new_version(),
            next_index: self.next_index,
            statistics,
            persistent: None,
        }
    }
}
