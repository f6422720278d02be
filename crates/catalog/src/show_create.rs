//! `SHOW CREATE TABLE` and `SHOW CREATE DATABASE`: the text of the statement that creates a
//! definition. Layout and order of clauses follow MariaDB 10.11; [`ShowStyle`] holds the
//! differences by `sql_mode`.

use std::fmt::Write;

use selkie_engine::{IndexDef, IndexKind, Personality};
use selkie_expr::TimeZone;
use selkie_types::{CollationId, SqlMode, SqlType, TypeKind, Value, quote_string, write_value};

use crate::{ColumnInfo, DefaultValue, Schema, SystemRole, TableInfo, TableKind};

/// An identifier in backticks.
pub fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Writes a character set after `words`, and its collation. The binary character set has no other
/// collation, so its collation is not written.
fn put_charset(out: &mut String, words: &str, collation: CollationId) {
    let collation = collation.info();
    let (charset, name) = (collation.charset.name(), collation.name);
    let _ = write!(out, "{words}{charset}");
    if charset != name {
        let assigned = if words.ends_with('=') { "=" } else { " " };
        let _ = write!(out, " COLLATE{assigned}{name}");
    }
}

/// The statement that creates `schema`.
pub fn show_create_database(schema: &Schema, if_not_exists: bool) -> String {
    let mut out = String::from("CREATE DATABASE ");
    if if_not_exists {
        out.push_str("/*!32312 IF NOT EXISTS*/ ");
    }
    let _ = write!(out, "{} /*!40100 DEFAULT ", quote_identifier(&schema.name));
    put_charset(&mut out, "CHARACTER SET ", schema.collation);
    out.push_str(" */");
    if !schema.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", quote_string(&schema.comment));
    }
    out
}

/// The part of `sql_mode` that changes how definitions are shown.
#[derive(Clone, Copy, Debug)]
pub struct ShowStyle {
    mode: SqlMode,
}

impl ShowStyle {
    /// The style for `mode`.
    pub fn of(mode: SqlMode) -> Self {
        Self { mode }
    }

    /// Whether options that only MariaDB knows are left out.
    pub fn is_foreign(self) -> bool {
        use SqlMode as M;
        let others = [M::POSTGRESQL, M::ORACLE, M::MSSQL, M::DB2, M::MAXDB, M::ANSI];
        others.into_iter().any(|mode| self.mode.contains(mode))
    }

    /// Whether options are left out that the versions 3.23 and 4.0 do not know.
    fn is_old(self) -> bool {
        [SqlMode::MYSQL323, SqlMode::MYSQL40].into_iter().any(|mode| self.mode.contains(mode))
    }

    /// Whether columns and indexes have no options of their own.
    fn is_limited(self) -> bool {
        self.is_old() || self.mode.contains(SqlMode::NO_FIELD_OPTIONS)
    }

    /// Options that no engine knows. They are commented out unless `sql_mode` ignores bad options.
    fn unknown(self, options: &str) -> String {
        match self.mode.contains(SqlMode::IGNORE_BAD_TABLE_OPTIONS) {
            true => format!(" {options}"),
            false => format!(" /* {options} */"),
        }
    }
}

/// The statement that creates `table`. `auto_increment` is the next value and is shown if it is
/// above 1. Values of TIMESTAMP columns are shown in `zone`.
pub fn show_create_table(
    table: &TableInfo,
    auto_increment: Option<u64>,
    style: ShowStyle,
    zone: &TimeZone,
) -> String {
    let columns = table.columns.iter().filter(|column| !column.is_hidden());
    let mut lines: Vec<String> =
        columns.map(|column| format!("  {}", column_clause(table, column, style, zone))).collect();
    lines.extend(table.period_clause().map(|clause| format!("  {clause}")));
    let texts = table.fulltext.iter().map(|index| (&index.def, &index.info));
    for (index, info) in table.def.indexes.iter().zip(&table.indexes).chain(texts) {
        lines.push(format!("  {}", index_clause(table, index, info, style)));
    }
    lines.extend(crate::system_time::period_clause(table).map(|clause| format!("  {clause}")));
    lines.extend(table.foreign_keys.iter().map(|key| format!("  {}", key.clause(table.schema()))));
    for check in &table.checks {
        let name = quote_identifier(&check.name);
        lines.push(format!("  CONSTRAINT {name} CHECK ({})", check.expression));
    }
    let own = table.kind == TableKind::Temporary || is_information(table);
    let temporary = if own { "TEMPORARY " } else { "" };
    let name = quote_identifier(table.name());
    let mut out = format!("CREATE {temporary}TABLE {name} (\n{}\n)", lines.join(",\n"));
    if !style.is_foreign() && !style.mode.contains(SqlMode::NO_TABLE_OPTIONS) {
        table_options(table, auto_increment, style, &mut out);
    }
    if table.system_time().is_some() {
        out.push_str(" WITH SYSTEM VERSIONING");
    }
    if let Some(partitions) = &table.partitions {
        let hidden =
            style.is_foreign() || style.is_old() || style.mode.contains(SqlMode::NO_TABLE_OPTIONS);
        let engine = Some(table.engine.name).filter(|_| !hidden);
        out.push_str(&crate::show_partitions::partition_clause(partitions, engine, zone));
    }
    out
}

fn is_information(table: &TableInfo) -> bool {
    table.kind == TableKind::System && table.schema() == "information_schema"
}

fn table_options(
    table: &TableInfo,
    auto_increment: Option<u64>,
    style: ShowStyle,
    out: &mut String,
) {
    let word = if style.is_old() { "TYPE" } else { "ENGINE" };
    let _ = write!(out, " {word}={}", table.engine.name);
    if let Some(next) = auto_increment.filter(|next| *next > 1) {
        let _ = write!(out, " AUTO_INCREMENT={next}");
    }
    if !table.is_sequence() && !style.is_old() {
        out.push_str(" DEFAULT ");
        put_charset(out, "CHARSET=", table.collation);
    }
    let checksum = if is_information(table) { 0 } else { 1 };
    // Compat: MariaDB asks the engine, which of a table in partitions is that of partitions.
    let plain = !table.is_sequence() && table.partitions.is_none();
    let sums = table.engine.shown.page_checksum && plain;
    let mut checksum = Some(format!(" PAGE_CHECKSUM={checksum}")).filter(|_| sums);
    let shown = &table.options.shown;
    if shown.iter().any(|(name, _)| name == "PAGE_CHECKSUM") {
        checksum = None;
    }
    let given = |name: &str| !name.starts_with('`') && name != "CONNECTION";
    for (name, value) in shown.iter().filter(|(name, _)| given(name)) {
        let after_checksum = !SHOWN_BEFORE_PAGE_CHECKSUM.contains(&&**name);
        if let Some(text) = checksum.take_if(|_| after_checksum) {
            out.push_str(&text);
        }
        match name.as_str() {
            "TRANSACTIONAL" if !table.engine.shown.transactional => {
                out.push_str(&style.unknown(&format!("{name}={value}")));
            }
            _ => {
                let _ = write!(out, " {name}={value}");
            }
        }
    }
    out.push_str(&checksum.unwrap_or_default());
    if !table.options.comment.is_empty() {
        let _ = write!(out, " COMMENT={}", quote_string(&table.options.comment));
    }
    own_options(table, style, out);
}

/// Options shown before `PAGE_CHECKSUM`.
const SHOWN_BEFORE_PAGE_CHECKSUM: &[&str] = &[
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "PACK_KEYS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
];

/// Options after the comment: `CONNECTION`, options of the engine, options of no engine.
fn own_options(table: &TableInfo, style: ShowStyle, out: &mut String) {
    let mut unknown = Vec::new();
    for (name, value) in &table.options.shown {
        let quoted = name.starts_with('`');
        if name == "CONNECTION" || (quoted && is_engine_option(table.engine, name)) {
            let _ = write!(out, " {name}={value}");
        } else if quoted {
            unknown.push(format!("{name}={value}"));
        }
    }
    if !unknown.is_empty() {
        out.push_str(&style.unknown(&unknown.join(" ")));
    }
}

fn is_engine_option(engine: &Personality, quoted: &str) -> bool {
    let name = quoted.trim_matches('`');
    engine.shown.options.iter().any(|known| known.name.eq_ignore_ascii_case(name))
}

fn column_clause(
    table: &TableInfo,
    column: &ColumnInfo,
    style: ShowStyle,
    zone: &TimeZone,
) -> String {
    // The name alone would mean another type in this mode.
    let other = match column.ty.kind {
        TypeKind::Date => style.mode.contains(SqlMode::ORACLE),
        TypeKind::Timestamp => style.mode.contains(SqlMode::MAXDB),
        _ => false,
    };
    let dialect = if other { "mariadb_schema." } else { "" };
    let mut out =
        format!("{} {dialect}{}", quote_identifier(&column.name), column.type_text(style.mode));
    match style.is_old() {
        true if has_binary_order(&column.ty) => out.push_str(" binary"),
        true => {}
        false => charset_clause(table.collation, &column.ty, &mut out),
    }
    if column.system.is_bound() {
        crate::system_time::put_bound(column, &mut out);
    } else if let Some(generated) = &column.generated {
        let kind = if generated.stored { "STORED" } else { "VIRTUAL" };
        let _ = write!(out, " GENERATED ALWAYS AS ({}) {kind}", generated.expression);
        out.push_str(if column.invisible { " INVISIBLE" } else { "" });
    } else if is_information(table) {
        // Compat: rows are never inserted into these tables, so no defaults are shown.
        out.push_str(if column.nullable { "" } else { " NOT NULL" });
    } else {
        null_and_default(column, zone, &mut out);
        if column.on_update_now && !style.is_limited() {
            let _ = write!(out, " ON UPDATE {}", current_timestamp(&column.ty));
        }
    }
    if column.auto_increment && !style.mode.contains(SqlMode::NO_FIELD_OPTIONS) {
        out.push_str(" AUTO_INCREMENT");
    }
    if column.system == SystemRole::Unversioned {
        out.push_str(" WITHOUT SYSTEM VERSIONING");
    }
    if !column.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", quote_string(&column.comment));
    }
    if !column.options.is_empty() {
        let shown = column.options.iter().map(|(name, value)| format!("{name}={value}"));
        out.push_str(&style.unknown(&shown.collect::<Vec<_>>().join(" ")));
    }
    if let Some(check) = &column.check {
        let _ = write!(out, " CHECK ({check})");
    }
    out
}

/// Whether a CHAR or VARCHAR compares the codes of its characters.
fn has_binary_order(ty: &SqlType) -> bool {
    matches!(ty.kind, TypeKind::Char | TypeKind::VarChar)
        && !ty.is_binary_string()
        && ty.collation.name().ends_with("_bin")
}

/// Compat: MariaDB 10.11 shows a column's charset and collation exactly when the collation differs
/// from the table's.
fn charset_clause(table: CollationId, ty: &SqlType, out: &mut String) {
    let has_charset = ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    if !has_charset || ty.is_binary_string() || ty.collation == table {
        return;
    }
    let collation = ty.collation.info();
    let _ = write!(out, " CHARACTER SET {}", collation.charset.name());
    // Compat: not for the one collation of the set binary, which ENUM and SET may have.
    if !ty.collation.is_binary() {
        let _ = write!(out, " COLLATE {}", collation.name);
    }
}

fn null_and_default(column: &ColumnInfo, zone: &TimeZone, out: &mut String) {
    if !column.nullable {
        out.push_str(" NOT NULL");
    } else if column.ty.kind == TypeKind::Timestamp {
        // Compat: a TIMESTAMP is NOT NULL unless declared NULL, so NULL is shown.
        out.push_str(" NULL");
    }
    if column.invisible {
        out.push_str(" INVISIBLE");
    }
    if let Some(default) = default_text(column, zone) {
        let _ = write!(out, " DEFAULT {default}");
    } else if column.nullable && !column.auto_increment {
        out.push_str(" DEFAULT NULL");
    }
}

/// `current_timestamp()` with the column's number of fraction digits.
fn current_timestamp(ty: &SqlType) -> String {
    match ty.decimals {
        0 => "current_timestamp()".into(),
        digits => format!("current_timestamp({digits})"),
    }
}

/// The value of the DEFAULT clause as shown in `zone`; `None` if there is no default or it is NULL.
pub fn default_text(column: &ColumnInfo, zone: &TimeZone) -> Option<String> {
    match &column.default {
        DefaultValue::Implicit | DefaultValue::Literal(Value::Null) => None,
        DefaultValue::CurrentTimestamp => Some(current_timestamp(&column.ty)),
        DefaultValue::Expression(text) | DefaultValue::Written { text, .. } => Some(text.clone()),
        DefaultValue::Literal(Value::DateTime(utc)) if column.ty.kind == TypeKind::Timestamp => {
            Some(literal_text(&column.ty, &Value::DateTime(zone.to_local(*utc))))
        }
        DefaultValue::Literal(value) => Some(literal_text(&column.ty, value)),
    }
}

fn literal_text(ty: &SqlType, value: &Value) -> String {
    if let (TypeKind::Bit, Value::UInt(bits)) = (ty.kind, value) {
        return format!("b'{bits:b}'");
    }
    let mut bytes = Vec::new();
    write_value(ty, value, &mut bytes);
    // Bytes that are not valid UTF-8 would be lost in a text. MariaDB shows them unchanged.
    if ty.is_binary_string() && std::str::from_utf8(&bytes).is_err() {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        return format!("X'{digits}'");
    }
    // Member names are UTF-8 whatever the column's character set is.
    let charset = match ty.members {
        Some(_) => selkie_types::Charset::Utf8mb4,
        None => ty.collation.charset(),
    };
    let (text, _) = charset.convert(&bytes, selkie_types::Charset::Utf8mb4);
    let text = String::from_utf8_lossy(&text);
    if ty.is_numeric() { text.into_owned() } else { quote_string(&text) }
}

/// Key parts in parentheses.
fn key_parts(table: &TableInfo, index: &IndexDef, info: &crate::IndexInfo) -> String {
    let own = index.own_parts().iter();
    let shown = own.filter(|part| !table.columns[part.column].is_hidden());
    let parts = shown.map(|part| {
        let mut text = quote_identifier(&table.columns[part.column].name);
        let ty = &table.columns[part.column].ty;
        if let Some(prefix) = crate::table::shown_prefix(ty, index, part) {
            let _ = write!(text, "({prefix})");
        }
        // Compat: a hash index shows no direction.
        if part.descending && info.algorithm.as_deref() != Some("HASH") {
            text.push_str(" DESC");
        }
        text
    });
    let period = table.period.as_ref().filter(|_| index.without_overlaps);
    let period = period.map(|p| format!("{} WITHOUT OVERLAPS", quote_identifier(&p.name)));
    format!("({})", parts.chain(period).collect::<Vec<_>>().join(","))
}

fn index_clause(
    table: &TableInfo,
    index: &IndexDef,
    info: &crate::IndexInfo,
    style: ShowStyle,
) -> String {
    let mut out = match index.kind {
        IndexKind::Primary | IndexKind::HeapPrimary => "PRIMARY KEY ".to_owned(),
        IndexKind::Unique => format!("UNIQUE KEY {} ", quote_identifier(&index.name)),
        IndexKind::Plain => format!("KEY {} ", quote_identifier(&index.name)),
        IndexKind::Fulltext => format!("FULLTEXT KEY {} ", quote_identifier(&index.name)),
    };
    out.push_str(&key_parts(table, index, info));
    let hides = style.is_foreign() || style.is_limited();
    if hides || style.mode.contains(SqlMode::NO_KEY_OPTIONS) {
        return out;
    }
    if let Some(algorithm) = &info.algorithm {
        let _ = write!(out, " USING {algorithm}");
    }
    if info.key_block_size > 0 && table.engine.keys.shows_block_size {
        let _ = write!(out, " KEY_BLOCK_SIZE={}", info.key_block_size);
    }
    if !info.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", quote_string(&info.comment));
    }
    if info.ignored {
        out.push_str(" IGNORED");
    }
    out
}
