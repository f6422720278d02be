//! SHOW CREATE VIEW. The query is parsed again from the stored text and written in canonical form;
//! it is not planned, so a view over missing tables can be shown.

use selkie_catalog::{ShowStyle, TableInfo, View, quote_identifier};
use selkie_sql::ast::{Mention, Query, Statement};
use selkie_sql::{ParseOptions, UnparseOptions, unparse_query};
use selkie_types::{SqlError, SqlMode, SqlResult, Value};

use super::rows::{ShownRows, definition_type, text_type};

/// Whether a table, by schema and name, has a column.
pub(super) type Exists<'a> = &'a dyn Fn(&str, &str, &str) -> bool;

/// The row of SHOW CREATE VIEW for a session whose current schema is `current`.
pub(super) fn create_view(
    table: &TableInfo,
    view: &View,
    (current, mode): (Option<&str>, SqlMode),
    exists: Exists<'_>,
) -> SqlResult<ShownRows> {
    let options = ParseOptions { sql_mode: SqlMode::default() };
    let Statement::Query(mut query) =
        selkie_sql::parse(view.select.as_bytes(), &options)?.statement
    else {
        return Err(SqlError::internal("a view that is not a query"));
    };
    // Compat: schema names are omitted if all tables are in the current schema.
    let is_current = current == Some(table.schema());
    if is_current && is_within(&mut query, table.schema()) {
        strip(&mut query, exists);
    }
    let (user, host) = view.definer.rsplit_once('@').unwrap_or((&view.definer, ""));
    let options = UnparseOptions {
        charset: &view.client_charset,
        sql_mode: mode,
        ..UnparseOptions::default()
    };
    let quote_identifier = |name: &str| match mode.contains(SqlMode::ANSI_QUOTES) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => quote_identifier(name),
    };
    let name = match is_current {
        true => quote_identifier(table.name()),
        false => format!("{}.{}", quote_identifier(table.schema()), quote_identifier(table.name())),
    };
    let select = unparse_query(&query, &options);
    let check = match view.check_option.as_str() {
        "NONE" => String::new(),
        option => format!(" WITH {option} CHECK OPTION"),
    };
    let is_foreign = ShowStyle::of(mode).is_foreign();
    let own = format!(
        " ALGORITHM={} DEFINER={}@{} SQL SECURITY {}",
        view.algorithm,
        quote_identifier(user),
        quote_identifier(host),
        if view.security_invoker { "INVOKER" } else { "DEFINER" },
    );
    let own = if is_foreign { "" } else { &own };
    let statement = format!("CREATE{own} VIEW {name} AS {select}{check}");
    Ok(ShownRows {
        columns: vec![
            ("View", text_type(64)),
            ("Create View", definition_type()),
            ("character_set_client", text_type(32)),
            ("collation_connection", text_type(64)),
        ],
        rows: vec![vec![
            Value::bytes(table.name()),
            Value::bytes(statement),
            Value::bytes(&view.client_charset),
            Value::bytes(&view.connection_collation),
        ]],
    })
}

fn is_within(query: &mut Query, schema: &str) -> bool {
    let mut within = true;
    query.for_each_mention(&mut |mention| {
        if let Mention::Table(factor) = mention {
            within &= factor.name.schema.as_ref().is_none_or(|s| &*s.value == schema);
        }
    });
    within
}

/// Removes names of schemas. Compat: the first column that is missing and those after it keep them.
fn strip(query: &mut Query, exists: Exists<'_>) {
    let mut misses = false;
    query.for_each_mention(&mut |mention| match mention {
        Mention::Table(factor) => factor.name.schema = None,
        Mention::Column(column) => {
            let (schema, table) = (column.schema.take(), column.table.as_ref());
            if let (Some(schema), Some(table)) = (&schema, table) {
                misses |= !exists(&schema.value, &table.value, &column.name.value);
            }
            column.schema = schema.filter(|_| misses);
        }
        Mention::Call(_)
        | Mention::Variable
        | Mention::Compared(_)
        | Mention::Alias(_)
        | Mention::Common(_)
        | Mention::RowsExamined => {}
    });
}
