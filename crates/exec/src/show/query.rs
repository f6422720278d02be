//! SHOW statements as queries over `information_schema`. Must check the privileges whose lack is an
//! error in SHOW: the queried tables only leave rows out.

use std::fmt::Write;
use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind, quote_identifier};
use selkie_sql::ast::{
    Describe, Ident, RoutineKind, Show, ShowFilter, ShowWhat, StringLiteral, TableName, VarScope,
};
use selkie_types::error::catalogue::{
    ER_BAD_FIELD_ERROR, ER_COLUMNACCESS_DENIED_ERROR, ER_NO_DB_ERROR, ER_NO_SUCH_TABLE,
    ER_PROCACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_VIEW_INVALID,
};
use selkie_types::{Privileges, SqlError, SqlResult, quote_string};

use crate::query::execution::Scope;
use crate::run::count_use;
use crate::state::session::{Access, Privilege};
use crate::{Instance, Session};

/// Query of a SHOW without filter.
pub(super) struct Shape {
    /// Pairs of result column and expression; LIKE compares the first.
    columns: Vec<(String, &'static str)>,
    /// Table of `information_schema`.
    table: &'static str,
    /// Condition on its rows.
    condition: String,
    /// Expression that LIKE compares, if not the first column.
    like: Option<&'static str>,
    /// Order of the rows.
    order: &'static str,
}

impl Shape {
    pub(super) fn new(table: &'static str, columns: &[(&str, &'static str)]) -> Self {
        let columns = columns.iter().map(|(name, expr)| ((*name).to_owned(), *expr)).collect();
        Self { columns, table, condition: String::new(), like: None, order: "" }
    }

    pub(super) fn filtered(mut self, condition: String) -> Self {
        self.condition = condition;
        self
    }

    /// LIKE compares the column `name`: as it is, it tells which rows are to be made at all.
    pub(super) fn matched(mut self, name: &'static str) -> Self {
        self.like = Some(name);
        self
    }

    pub(super) fn ordered(mut self, order: &'static str) -> Self {
        self.order = order;
        self
    }
}

/// Query for `show` without its WHERE; `None` if it has none. A WHERE is to be put to the query's
/// outermost block, which has no other.
pub(crate) fn show_query(scope: Scope<'_>, show: &Show) -> SqlResult<Option<String>> {
    if let ShowWhat::OpenTables { schema } = &show.what {
        let rows = open_tables(scope.instance, schema.as_ref());
        return Ok(Some(filtered(rows, "`Table`", show.filter.as_deref())));
    }
    let Some(mut shape) = shape(scope, &show.what)? else { return Ok(None) };
    let filter = show.filter.as_deref();
    if let (Some(ShowFilter::Like(pattern)), true) = (filter, names_pattern(&show.what)) {
        let name = &mut shape.columns[0].0;
        *name = format!("{name} ({})", String::from_utf8_lossy(&pattern.bytes));
    }
    Ok(Some(render(&shape, filter)))
}

/// Whether the name of the first column contains the pattern. Compat: MariaDB does this here.
fn names_pattern(what: &ShowWhat) -> bool {
    matches!(what, ShowWhat::Databases | ShowWhat::Tables { .. })
}

/// Query for DESCRIBE.
pub(crate) fn describe_query(scope: Scope<'_>, describe: &Describe) -> SqlResult<String> {
    let shape = columns_shape(scope, false, &describe.table)?;
    let filter = describe.pattern.clone().map(|bytes| ShowFilter::Like(StringLiteral::utf8(bytes)));
    Ok(render(&shape, filter.as_ref()))
}

fn render(shape: &Shape, filter: Option<&ShowFilter>) -> String {
    let list: Vec<String> = shape
        .columns
        .iter()
        .map(|(name, expr)| format!("{expr} AS {}", quote_identifier(name)))
        .collect();
    let mut inner = format!("SELECT {} FROM information_schema.{}", list.join(", "), shape.table);
    if !shape.condition.is_empty() {
        let _ = write!(inner, " WHERE {}", shape.condition);
    }
    if let Some(ShowFilter::Like(pattern)) = filter {
        let word = if shape.condition.is_empty() { "WHERE" } else { "AND" };
        let expr = shape.like.unwrap_or(shape.columns[0].1);
        let pattern = quote_string(&String::from_utf8_lossy(&pattern.bytes));
        // Compat: these names are compared case-sensitively.
        let _ = match shape.table {
            "TABLES" => write!(inner, " {word} {expr} COLLATE utf8mb3_bin LIKE {pattern}"),
            // But for that of the schema that is in no directory.
            "SCHEMATA" => write!(
                inner,
                " {word} ({expr} COLLATE utf8mb3_bin LIKE {pattern} OR {expr} = \
                 'information_schema' AND {expr} LIKE {pattern})"
            ),
            _ => write!(inner, " {word} {expr} LIKE {pattern}"),
        };
    }
    if !shape.order.is_empty() {
        let _ = write!(inner, " ORDER BY {}", shape.order);
    }
    match filter {
        Some(ShowFilter::Where(_)) => format!("SELECT * FROM ({inner}) AS {}", shape.table),
        _ => inner,
    }
}

/// Query over constants that lists the tables with an open handle.
fn open_tables(instance: &Instance, schema: Option<&Ident>) -> String {
    let head = |schema: &str, table: &str, on: &str| {
        format!(
            "SELECT {schema} AS `Database`, {table} AS `Table`, 0 AS In_use, 0 AS Name_locked{on}"
        )
    };
    let mut rows = vec![head("''", "''", " FROM DUAL WHERE 0")];
    let snapshot = instance.catalog.snapshot();
    let wanted = |name: &str| schema.is_none_or(|schema| *schema.value == *name);
    for known in snapshot.schemas().filter(|known| wanted(&known.name)) {
        let open = known.tables.values().filter(|table| instance.is_open(table.def.id));
        rows.extend(open.map(|t| head(&literal(t.schema()), &literal(t.name()), "")));
    }
    rows.join(" UNION ALL ")
}

/// Adds LIKE, which compares `column`, to a query, or makes it one that takes a WHERE.
fn filtered(rows: String, column: &str, filter: Option<&ShowFilter>) -> String {
    match filter {
        None => rows,
        Some(ShowFilter::Like(pattern)) => {
            let pattern = quote_string(&String::from_utf8_lossy(&pattern.bytes));
            format!("SELECT * FROM ({rows}) AS shown WHERE {column} LIKE {pattern}")
        }
        Some(ShowFilter::Where(_)) => format!("SELECT * FROM ({rows}) AS shown"),
    }
}

fn literal(text: &str) -> String {
    quote_string(text)
}

/// The schema that a SHOW is about; it must exist.
fn schema_of(scope: Scope<'_>, schema: Option<&Ident>) -> SqlResult<String> {
    let Scope { instance, session } = scope;
    let name = schema.map(|s| &*s.value).or(session.frame.schema.as_deref());
    let name = name.ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]))?;
    check_any(session, name, "")?;
    match instance.catalog.snapshot().schema(name) {
        Some(schema) => Ok(schema.name.to_string()),
        None => Err(SqlError::unknown_database(name)),
    }
}

/// Fails unless the account has any privilege on the table, on the schema, or on an object in it.
fn check_any(session: &Session, schema: &str, table: &str) -> SqlResult<()> {
    let everywhere = session.frame.account.global.has_any(Privileges::TABLE);
    check_sees(session, schema, table, Privilege::Any, everywhere)
}

/// Fails unless the account may see the columns of the table.
fn check_shown(session: &Session, schema: &str, table: &str) -> SqlResult<()> {
    let everywhere = session.frame.account.global.has(Privileges::SELECT);
    check_sees(session, schema, table, Privilege::ShowTable, everywhere)
}

/// Checks `privilege` on a table, unless the account has it `everywhere`, or the table is in
/// `information_schema` or temporary.
fn check_sees(
    session: &Session,
    schema: &str,
    table: &str,
    privilege: Privilege,
    everywhere: bool,
) -> SqlResult<()> {
    if everywhere
        || schema.eq_ignore_ascii_case("information_schema")
        || session.frame.temporary.get(schema, table).is_some()
    {
        return Ok(());
    }
    let access = Access { privilege, schema, table, columns: &[] };
    session.frame.hooks.check_access(session, &access)
}

/// Finds a table whose columns or indexes are shown; the account needs some privilege on it.
fn shown_table(scope: Scope<'_>, table: &TableName) -> SqlResult<Arc<TableInfo>> {
    if let Ok(schema) = scope.session.schema_of(table) {
        check_shown(scope.session, schema, &table.name.value)?;
    }
    table_of(scope, table)
}

/// Finds a table; reports a missing schema first.
pub(super) fn table_of(scope: Scope<'_>, table: &TableName) -> SqlResult<Arc<TableInfo>> {
    let schema = scope.session.schema_of(table)?;
    if scope.instance.catalog.snapshot().schema(schema).is_none() {
        return Err(SqlError::unknown_database(schema));
    }
    let found = scope.table(schema, &table.name.value)?;
    count_use(scope.instance, scope.session, &found);
    Ok(found)
}

fn shape(scope: Scope<'_>, what: &ShowWhat) -> SqlResult<Option<Shape>> {
    Ok(Some(match what {
        ShowWhat::Databases => {
            Shape::new("SCHEMATA", &[("Database", "SCHEMA_NAME")]).ordered("SCHEMA_NAME")
        }
        ShowWhat::Tables { full, schema } => tables(&schema_of(scope, schema.as_ref())?, *full),
        ShowWhat::TableStatus { schema } => table_status(&schema_of(scope, schema.as_ref())?),
        ShowWhat::Columns { full, table } => columns_shape(scope, *full, table)?,
        ShowWhat::Index { table } => index(scope, table)?,
        ShowWhat::Variables(scope) => variables(*scope),
        ShowWhat::Status(scope) => status(*scope),
        ShowWhat::Processlist { full } => processlist(*full),
        ShowWhat::Engines => engines(),
        ShowWhat::Collation => collations(),
        ShowWhat::CharacterSet => character_sets(),
        ShowWhat::Plugins => plugins(),
        ShowWhat::Triggers { schema, .. } => triggers(&schema_of(scope, schema.as_ref())?),
        ShowWhat::Events { schema } => {
            // Compat: a database that does not exist has no events.
            let schema = match schema {
                Some(schema) => (*schema.value).to_owned(),
                None => schema_of(scope, None)?,
            };
            crate::ddl::schema::check_name(&schema)?;
            let privilege = Privilege::Event;
            let access = Access { privilege, schema: &schema, table: "", columns: &[] };
            scope.session.frame.hooks.check_access(scope.session, &access)?;
            events(&schema)
        }
        ShowWhat::RoutineStatus(kind) => routines(*kind),
        ShowWhat::Profile { types, query, limit } => {
            super::profile::shape(types, *query, limit.as_deref())
        }
        ShowWhat::Other(name) => match super::generic::shape(&name.value) {
            Some(shape) => shape,
            None => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

fn tables(schema: &str, full: bool) -> Shape {
    let first = format!("Tables_in_{schema}");
    let mut columns = vec![(&*first, "TABLE_NAME")];
    if full {
        // Compat: a versioned table is a base table here.
        let shown = "IF(TABLE_TYPE = 'SYSTEM VERSIONED', 'BASE TABLE', TABLE_TYPE)";
        columns.push(("Table_type", shown));
    }
    Shape::new("TABLES", &columns)
        .filtered(format!("TABLE_SCHEMA = {}", literal(schema)))
        .ordered("BINARY TABLE_NAME")
}

fn table_status(schema: &str) -> Shape {
    let columns = [
        ("Name", "TABLE_NAME"),
        ("Engine", "ENGINE"),
        ("Version", "VERSION"),
        ("Row_format", "ROW_FORMAT"),
        ("Rows", "TABLE_ROWS"),
        ("Avg_row_length", "AVG_ROW_LENGTH"),
        ("Data_length", "DATA_LENGTH"),
        ("Max_data_length", "MAX_DATA_LENGTH"),
        ("Index_length", "INDEX_LENGTH"),
        ("Data_free", "DATA_FREE"),
        ("Auto_increment", "AUTO_INCREMENT"),
        ("Create_time", "CREATE_TIME"),
        ("Update_time", "UPDATE_TIME"),
        ("Check_time", "CHECK_TIME"),
        ("Collation", "TABLE_COLLATION"),
        ("Checksum", "CHECKSUM"),
        ("Create_options", "CREATE_OPTIONS"),
        ("Comment", "TABLE_COMMENT"),
        ("Max_index_length", "MAX_INDEX_LENGTH"),
        ("Temporary", "TEMPORARY"),
    ];
    Shape::new("TABLES", &columns)
        .filtered(format!("TABLE_SCHEMA = {}", literal(schema)))
        .ordered("BINARY TABLE_NAME")
}

/// Compat: SHOW COLUMNS removes quotes and backslashes from the literal defaults in
/// `information_schema`, except for TEXT and BLOB columns, whose defaults are expressions. U+FFFE
/// temporarily replaces an escaped backslash. This text contains no backslash, because the
/// session's SQL mode may give it no meaning.
const DEFAULT_UNQUOTED: &str = "CASE WHEN COLUMN_DEFAULT = 'NULL' THEN NULL \
     WHEN DATA_TYPE LIKE '%text' OR DATA_TYPE LIKE '%blob' THEN COLUMN_DEFAULT \
     WHEN COLUMN_DEFAULT LIKE '''%' THEN \
     REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(SUBSTR(COLUMN_DEFAULT, 2, \
     CHAR_LENGTH(COLUMN_DEFAULT) - 2), '''''', ''''), \
     CHAR(92, 92 USING utf8mb3), CHAR(239, 191, 190 USING utf8mb3)), \
     CHAR(92, 110 USING utf8mb3), CHAR(10 USING utf8mb3)), \
     CHAR(92, 114 USING utf8mb3), CHAR(13 USING utf8mb3)), \
     CHAR(92, 48 USING utf8mb3), CHAR(0 USING utf8mb3)), \
     CHAR(239, 191, 190 USING utf8mb3), CHAR(92 USING utf8mb3)) ELSE COLUMN_DEFAULT END";

fn columns_shape(scope: Scope<'_>, full: bool, table: &TableName) -> SqlResult<Shape> {
    let info = shown_table(scope, table)?;
    if let TableKind::View(view) = &info.kind
        && let Err(cause) = scope.check_view(view)
    {
        let missing = [&ER_NO_SUCH_TABLE, &ER_BAD_FIELD_ERROR, &ER_VIEW_INVALID];
        // Compat: an account that sees a view's columns needs no privilege on the underlying
        // tables.
        let hidden = [
            &ER_TABLEACCESS_DENIED_ERROR,
            &ER_COLUMNACCESS_DENIED_ERROR,
            &ER_PROCACCESS_DENIED_ERROR,
        ];
        if missing.iter().any(|def| cause.is(def)) {
            return Err(SqlError::new(&ER_VIEW_INVALID, &[&info.schema(), &info.name()]));
        }
        if !hidden.iter().any(|def| cause.is(def)) {
            return Err(cause);
        }
    }
    let mut columns = vec![("Field", "COLUMN_NAME"), ("Type", "COLUMN_TYPE")];
    if full {
        columns.push(("Collation", "COLLATION_NAME"));
    }
    columns.extend([
        ("Null", "IS_NULLABLE"),
        ("Key", "COLUMN_KEY"),
        ("Default", DEFAULT_UNQUOTED),
        ("Extra", "EXTRA"),
    ]);
    if full {
        columns.extend([("Privileges", "PRIVILEGES"), ("Comment", "COLUMN_COMMENT")]);
    }
    Ok(Shape::new("COLUMNS", &columns).filtered(of_table(&info)).ordered("ORDINAL_POSITION"))
}

fn of_table(info: &TableInfo) -> String {
    let (schema, name) = (literal(info.schema()), literal(info.name()));
    format!("TABLE_SCHEMA = {schema} AND TABLE_NAME = {name}")
}

fn index(scope: Scope<'_>, table: &TableName) -> SqlResult<Shape> {
    let info = shown_table(scope, table)?;
    let columns = [
        ("Table", "TABLE_NAME"),
        ("Non_unique", "NON_UNIQUE"),
        ("Key_name", "INDEX_NAME"),
        ("Seq_in_index", "SEQ_IN_INDEX"),
        ("Column_name", "COLUMN_NAME"),
        ("Collation", "COLLATION"),
        ("Cardinality", "CARDINALITY"),
        ("Sub_part", "SUB_PART"),
        ("Packed", "PACKED"),
        ("Null", "NULLABLE"),
        ("Index_type", "INDEX_TYPE"),
        ("Comment", "COMMENT"),
        ("Index_comment", "INDEX_COMMENT"),
        ("Ignored", "IGNORED"),
    ];
    Ok(Shape::new("STATISTICS", &columns).filtered(of_table(&info)))
}

fn variables(scope: Option<VarScope>) -> Shape {
    let table = match scope {
        Some(VarScope::Global) => "GLOBAL_VARIABLES",
        _ => "SESSION_VARIABLES",
    };
    let columns = [("Variable_name", "LOWER(VARIABLE_NAME)"), ("Value", "VARIABLE_VALUE")];
    Shape::new(table, &columns).matched("VARIABLE_NAME")
}

/// Compat: a status name begins with a capital; the rest is lower case.
const STATUS_NAME: &str = "CONCAT(UPPER(LEFT(VARIABLE_NAME, 1)), LOWER(SUBSTR(VARIABLE_NAME, 2)))";

fn status(scope: Option<VarScope>) -> Shape {
    let table = match scope {
        Some(VarScope::Global) => "GLOBAL_STATUS",
        _ => "SESSION_STATUS",
    };
    let columns = [("Variable_name", STATUS_NAME), ("Value", "VARIABLE_VALUE")];
    Shape::new(table, &columns).matched("VARIABLE_NAME")
}

fn processlist(full: bool) -> Shape {
    let info = if full { "INFO" } else { "LEFT(INFO, 100)" };
    let columns = [
        ("Id", "ID"),
        ("User", "USER"),
        ("Host", "HOST"),
        ("db", "DB"),
        ("Command", "COMMAND"),
        ("Time", "TIME"),
        ("State", "STATE"),
        ("Info", info),
        ("Progress", "PROGRESS"),
    ];
    Shape::new("PROCESSLIST", &columns).ordered("ID")
}

fn engines() -> Shape {
    let columns = [
        ("Engine", "ENGINE"),
        ("Support", "SUPPORT"),
        ("Comment", "COMMENT"),
        ("Transactions", "TRANSACTIONS"),
        ("XA", "XA"),
        ("Savepoints", "SAVEPOINTS"),
    ];
    Shape::new("ENGINES", &columns)
}

fn collations() -> Shape {
    let columns = [
        ("Collation", "COLLATION_NAME"),
        ("Charset", "CHARACTER_SET_NAME"),
        ("Id", "ID"),
        ("Default", "IS_DEFAULT"),
        ("Compiled", "IS_COMPILED"),
        ("Sortlen", "SORTLEN"),
    ];
    Shape::new("COLLATIONS", &columns)
}

fn character_sets() -> Shape {
    let columns = [
        ("Charset", "CHARACTER_SET_NAME"),
        ("Description", "DESCRIPTION"),
        ("Default collation", "DEFAULT_COLLATE_NAME"),
        ("Maxlen", "MAXLEN"),
    ];
    Shape::new("CHARACTER_SETS", &columns)
}

fn plugins() -> Shape {
    let columns = [
        ("Name", "PLUGIN_NAME"),
        ("Status", "PLUGIN_STATUS"),
        ("Type", "PLUGIN_TYPE"),
        ("Library", "PLUGIN_LIBRARY"),
        ("License", "PLUGIN_LICENSE"),
    ];
    Shape::new("PLUGINS", &columns)
}

fn triggers(schema: &str) -> Shape {
    let columns = [
        ("Trigger", "TRIGGER_NAME"),
        ("Event", "EVENT_MANIPULATION"),
        ("Table", "EVENT_OBJECT_TABLE"),
        ("Statement", "ACTION_STATEMENT"),
        ("Timing", "ACTION_TIMING"),
        ("Created", "CREATED"),
        ("sql_mode", "SQL_MODE"),
        ("Definer", "DEFINER"),
        ("character_set_client", "CHARACTER_SET_CLIENT"),
        ("collation_connection", "COLLATION_CONNECTION"),
        ("Database Collation", "DATABASE_COLLATION"),
    ];
    let shape = Shape::new("TRIGGERS", &columns);
    let condition = format!("TRIGGER_SCHEMA = {}", literal(schema));
    // Compat: LIKE compares the table, not the trigger.
    shape.filtered(condition).matched("EVENT_OBJECT_TABLE")
}

fn events(schema: &str) -> Shape {
    let columns = [
        ("Db", "EVENT_SCHEMA"),
        ("Name", "EVENT_NAME"),
        ("Definer", "DEFINER"),
        ("Time zone", "TIME_ZONE"),
        ("Type", "EVENT_TYPE"),
        ("Execute at", "EXECUTE_AT"),
        ("Interval value", "INTERVAL_VALUE"),
        ("Interval field", "INTERVAL_FIELD"),
        ("Starts", "STARTS"),
        ("Ends", "ENDS"),
        ("Status", "STATUS"),
        ("Originator", "ORIGINATOR"),
        ("character_set_client", "CHARACTER_SET_CLIENT"),
        ("collation_connection", "COLLATION_CONNECTION"),
        ("Database Collation", "DATABASE_COLLATION"),
    ];
    let shape = Shape::new("EVENTS", &columns);
    let condition = format!("EVENT_SCHEMA = {}", literal(schema));
    shape.filtered(condition).matched("EVENT_NAME")
}

fn routines(kind: RoutineKind) -> Shape {
    let word = match kind {
        RoutineKind::Procedure => "PROCEDURE",
        RoutineKind::Function => "FUNCTION",
        RoutineKind::Package => "PACKAGE",
        RoutineKind::PackageBody => "PACKAGE BODY",
    };
    let columns = [
        ("Db", "ROUTINE_SCHEMA"),
        ("Name", "ROUTINE_NAME"),
        ("Type", "ROUTINE_TYPE"),
        ("Definer", "DEFINER"),
        ("Modified", "LAST_ALTERED"),
        ("Created", "CREATED"),
        ("Security_type", "SECURITY_TYPE"),
        ("Comment", "ROUTINE_COMMENT"),
        ("character_set_client", "CHARACTER_SET_CLIENT"),
        ("collation_connection", "COLLATION_CONNECTION"),
        ("Database Collation", "DATABASE_COLLATION"),
    ];
    let shape = Shape::new("ROUTINES", &columns);
    let condition = format!("ROUTINE_TYPE = '{word}'");
    shape.filtered(condition).matched("ROUTINE_NAME")
}

#[cfg(test)]
mod tests {
    use super::{Shape, render};
    use selkie_sql::ast::{ShowFilter, StringLiteral};

    fn text_of(shape: &Shape) -> String {
        render(shape, Some(&ShowFilter::Like(StringLiteral::utf8(*b"a%'"))))
    }

    #[test]
    fn like_compares_the_first_column() {
        let shape = Shape::new("COLLATIONS", &[("Collation", "COLLATION_NAME"), ("Id", "ID")]);
        let expected = "SELECT COLLATION_NAME AS `Collation`, ID AS `Id` \
             FROM information_schema.COLLATIONS WHERE COLLATION_NAME LIKE 'a%'''";
        assert_eq!(text_of(&shape), expected);
    }

    #[test]
    fn like_compares_the_column_that_it_is_told() {
        let shape = Shape::new("GLOBAL_STATUS", &[("Name", "LOWER(VARIABLE_NAME)")]);
        let expected = "SELECT LOWER(VARIABLE_NAME) AS `Name` \
             FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME LIKE 'a%'''";
        assert_eq!(text_of(&shape.matched("VARIABLE_NAME")), expected);
    }
}
