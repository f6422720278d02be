//! Expressions of definitions: CHECK, DEFAULT (expr) and generated columns. Their canonical text,
//! and what may not be in them.

use selkie_catalog::{CheckInfo, ColumnInfo, DefaultValue, Generated, TableInfo};
use selkie_engine::IndexKind;
use selkie_expr::Expr as Bound;
use selkie_sql::ast::{self, Expr, ExprKind, FunctionCall, UnaryOp};
use selkie_sql::{UnparseOptions, unparse_expr};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_DUP_CONSTRAINT_NAME, ER_EXPRESSION_REFERS_TO_UNINIT_FIELD,
    ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, ER_PRIMARY_KEY_BASED_ON_GENERATED_COLUMN,
    ER_SP_DOES_NOT_EXIST, ER_SUBQUERIES_NOT_SUPPORTED,
};
use selkie_types::{SqlError, SqlResult};

use super::{ColumnSource, DefineContext};
use crate::bind::{Binder, Clause, Names};
use crate::physical::RowRules;
use crate::settings::{Environment, Settings};

/// Functions whose value depends on the time or the session, or is never the same.
const VARYING: &[&str] = &[
    "benchmark",
    "connection_id",
    "curdate",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "curtime",
    "database",
    "found_rows",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "load_file",
    "localtime",
    "localtimestamp",
    "master_pos_wait",
    "now",
    "rand",
    "random_bytes",
    "release_all_locks",
    "release_lock",
    "row_count",
    "schema",
    "session_user",
    "sleep",
    "sys_guid",
    "sysdate",
    "system_user",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "uuid",
    "uuid_short",
];

/// Of those, the ones a DEFAULT may not have either.
const NO_DEFAULT: &[&str] =
    &["found_rows", "get_lock", "last_insert_id", "load_file", "release_lock", "row_count"];

const AGGREGATES: &[&str] = &[
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "count",
    "json_arrayagg",
    "json_objectagg",
    "max",
    "min",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
];

/// Stands for the session while a definition is checked: no variable has a type.
struct NoSession;

impl Environment for NoSession {
    fn permissions(&self) -> &dyn crate::Permissions {
        &crate::Unrestricted
    }
}

/// The canonical text of an expression: columns without their table.
pub(super) fn text(expr: &Expr) -> String {
    let mut expr = expr.clone();
    expr.for_each_column_mut(&mut |column| (column.schema, column.table) = (None, None));
    unparse_expr(&expr, &UnparseOptions::default())
}

/// The text of DEFAULT: operators in parentheses, calls and columns without.
pub(super) fn default_text(expr: &Expr) -> String {
    let bare = match &expr.kind {
        ExprKind::Call(call) => !call.name.is("mod") && !call.name.is("isnull"),
        ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Cast { .. } => true,
        ExprKind::NextValue(_) | ExprKind::PreviousValue(_) | ExprKind::SetValue { .. } => true,
        ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr } => {
            matches!(expr.kind, ExprKind::Literal(_))
        }
        ExprKind::Case { .. } | ExprKind::Trim { .. } | ExprKind::Char { .. } => true,
        ExprKind::Extract { .. } | ExprKind::ConvertUsing { .. } | ExprKind::UserVar(_) => true,
        _ => false,
    };
    if bare { text(expr) } else { format!("({})", text(expr)) }
}

/// What `AS (expr)` says; system versioning is not there.
pub(super) fn generated(def: &ast::ColumnDef) -> SqlResult<Option<Generated>> {
    match def.generated.as_deref() {
        None => Ok(None),
        Some(ast::Generated::Expr { expr, stored }) => {
            Ok(Some(Generated { expression: text(expr), stored: *stored }))
        }
        Some(_) => Err(SqlError::not_supported("system-versioned tables")),
    }
}

/// A column's own CHECK.
pub(super) fn column_check(def: &ast::ColumnDef) -> Option<String> {
    def.check.as_ref().map(|check| text(&check.expr))
}

/// Adds a table's CHECK to `checks`; those without a name get one.
pub(super) fn add_check(
    context: &DefineContext<'_>,
    checks: &mut Vec<CheckInfo>,
    def: &ast::CheckDef,
) -> SqlResult<()> {
    let taken = |checks: &[CheckInfo], name: &str| {
        checks.iter().any(|check| identifier_eq(&check.name, name))
    };
    let name = match &def.name {
        Some(name) if taken(checks, &name.value) => {
            let arguments: [&dyn std::fmt::Display; 2] = [&"CHECK", &name.value];
            if def.if_not_exists {
                context.eval.note(&ER_DUP_CONSTRAINT_NAME, &arguments);
                return Ok(());
            }
            return Err(SqlError::new(&ER_DUP_CONSTRAINT_NAME, &arguments));
        }
        Some(name) => name.value.to_string(),
        None => String::new(),
    };
    checks.push(CheckInfo { name, expression: text(&def.expr) });
    Ok(())
}

/// Fails if a check has the name of a unique key, a foreign key or a column's check.
fn check_names(table: &TableInfo) -> SqlResult<()> {
    let unique = table.def.indexes.iter().filter(|i| i.kind == IndexKind::Unique);
    let columns = table.columns.iter().filter(|c| c.check.is_some()).map(|c| &*c.name);
    let keys = table.foreign_keys.iter().map(|k| &*k.name);
    let names = unique.map(|i| &*i.name).chain(keys).chain(columns);
    for name in names {
        if table.checks.iter().any(|check| identifier_eq(&check.name, name)) {
            return Err(SqlError::new(&ER_DUP_CONSTRAINT_NAME, &[&"CHECK", &name]));
        }
    }
    Ok(())
}

/// Compat: a check of nothing but dropped columns goes with them.
pub(super) fn drop_checks(
    context: &DefineContext<'_>,
    checks: &mut Vec<CheckInfo>,
    dropped: &[String],
) {
    checks.retain(|check| {
        let text = check.expression.as_bytes();
        let Ok(mut expr) = crate::parse::expression(text, context.sql_mode()) else { return true };
        let (mut any, mut all) = (false, true);
        expr.for_each_column_mut(&mut |column| {
            any = true;
            all &= dropped.iter().any(|name| identifier_eq(name, &column.name.value));
        });
        !(any && all)
    });
}

/// Names the checks without a name, after all that have one.
pub(super) fn name_checks(checks: &mut [CheckInfo]) {
    for at in 0..checks.len() {
        if checks[at].name.is_empty() {
            let taken = |name: &String| checks.iter().any(|c| identifier_eq(&c.name, name));
            let name = (1..).map(|n| format!("CONSTRAINT_{n}")).find(|name| !taken(name));
            checks[at].name = name.unwrap_or_default();
        }
    }
}

/// `text` with the column `from` called `to`.
pub(super) fn renamed(context: &DefineContext<'_>, text: &str, from: &str, to: &str) -> String {
    let Ok(mut expr) = crate::parse::expression(text.as_bytes(), context.sql_mode()) else {
        return text.to_owned();
    };
    let mut found = false;
    expr.for_each_column_mut(&mut |column| {
        if identifier_eq(&column.name.value, from) {
            column.name.value = to.into();
            found = true;
        }
    });
    let parentheses = text.starts_with('(') && text.ends_with(')');
    let new = unparse_expr(&expr, &UnparseOptions::default());
    match (found, parentheses) {
        (false, _) => text.to_owned(),
        (true, true) => format!("({new})"),
        (true, false) => new,
    }
}

/// Which clause an expression is of, and of what.
#[derive(Clone, Copy)]
struct Place<'a> {
    clause: Clause,
    /// The column or constraint, for messages.
    name: &'a str,
    /// The column that gets the value.
    column: Option<usize>,
    /// The value is kept, so it must always be the same.
    kept: bool,
}

/// Checks every expression of a table that is otherwise complete.
pub(super) fn check(context: &DefineContext<'_>, table: &TableInfo) -> SqlResult<()> {
    check_keys(table)?;
    check_names(table)?;
    for (at, column) in table.columns.iter().enumerate() {
        let place = |clause, kept| Place { clause, name: &column.name, column: Some(at), kept };
        if let Some(generated) = &column.generated {
            let kept = generated.stored || is_indexed(table, at);
            check_one(context, table, &generated.expression, &place(Clause::Generated, kept))?;
            refuse_varying_virtual(context, column)?;
        }
        if let DefaultValue::Expression(text) = &column.default {
            check_one(context, table, text, &place(Clause::Default, false))?;
        }
        if let Some(check) = &column.check {
            let place = Place { column: None, ..place(Clause::Check, true) };
            check_one(context, table, check, &place)?;
        }
    }
    for check in &table.checks {
        let place = Place { clause: Clause::Check, name: &check.name, column: None, kept: true };
        check_one(context, table, &check.expression, &place)?;
    }
    check_cascades(context, table)
}

fn is_indexed(table: &TableInfo, column: usize) -> bool {
    table.def.indexes.iter().flat_map(|index| &index.parts).any(|part| part.column == column)
}

fn check_keys(table: &TableInfo) -> SqlResult<()> {
    for index in table.def.indexes.iter().filter(|i| i.kind == IndexKind::Primary) {
        if index.parts.iter().any(|p| table.columns[p.column].generated.is_some()) {
            return Err(SqlError::new(&ER_PRIMARY_KEY_BASED_ON_GENERATED_COLUMN, &[]));
        }
    }
    Ok(())
}

fn check_one(
    context: &DefineContext<'_>,
    table: &TableInfo,
    text: &str,
    place: &Place<'_>,
) -> SqlResult<()> {
    let syntax = crate::parse::expression(text.as_bytes(), context.sql_mode())?;
    if let Some(what) = syntax.find(&mut |e| forbidden(e, place)) {
        let subquery = what == "select ...";
        if subquery && matches!(place.clause, Clause::Check) {
            return Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&place.clause.name()]));
        }
        return Err(not_allowed(&what, place));
    }
    let bound = bind(context, table, &syntax, place)?;
    let auto = bound.columns().into_iter().find(|at| table.columns[*at].auto_increment);
    if let Some(at) = auto {
        let place = Place { name: &table.columns[at].name, ..*place };
        return Err(not_allowed("AUTO_INCREMENT", &place));
    }
    match place.column {
        Some(at) => check_order(table, at, &bound),
        None => Ok(()),
    }
}

fn not_allowed(what: &str, place: &Place<'_>) -> SqlError {
    let arguments: [&dyn std::fmt::Display; 3] = [&what, &place.clause.name(), &place.name];
    SqlError::new(&ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, &arguments)
}

/// What of a node no definition may have, as the message names it.
fn forbidden(expr: &Expr, place: &Place<'_>) -> Option<String> {
    let default = matches!(place.clause, Clause::Default);
    match &expr.kind {
        ExprKind::Subquery(_)
        | ExprKind::Exists(_)
        | ExprKind::InSubquery { .. }
        | ExprKind::Quantified { .. } => Some("select ...".into()),
        ExprKind::Param(_) => Some("?".into()),
        ExprKind::UserVar(name) if place.kept => Some(format!("@{name}")),
        ExprKind::SystemVar(_) if place.kept => Some(text(expr)),
        ExprKind::AssignUserVar { .. } => Some(text(expr)),
        ExprKind::GroupConcat(_) => Some("group_concat()".into()),
        ExprKind::Values(_) => Some("values()".into()),
        ExprKind::NextValue(_) if !default => Some("nextval()".into()),
        ExprKind::PreviousValue(_) if !default => Some("lastval()".into()),
        ExprKind::SetValue { .. } if !default => Some("setval()".into()),
        ExprKind::Call(call) => {
            let named = |list: &[&str]| list.iter().any(|name| call.name.is(name));
            let varies = named(VARYING) || is_unix_timestamp_now(call);
            let refused = call.over.is_some()
                || named(AGGREGATES)
                || (varies && place.kept)
                || (default && named(NO_DEFAULT));
            refused.then(|| function_name(call))
        }
        _ => None,
    }
}

fn is_unix_timestamp_now(call: &FunctionCall) -> bool {
    call.name.is("unix_timestamp") && call.args.is_empty()
}

/// A function's canonical name with empty parentheses.
fn function_name(call: &FunctionCall) -> String {
    let bare = FunctionCall { args: Vec::new(), over: None, ..call.clone() };
    let expr = Expr { kind: ExprKind::Call(Box::new(bare)), span: ast::Span::default() };
    let shown = text(&expr);
    format!("{}()", shown.split('(').next().unwrap_or_default())
}

fn bind(
    context: &DefineContext<'_>,
    table: &TableInfo,
    syntax: &Expr,
    place: &Place<'_>,
) -> SqlResult<Bound> {
    let bound = with_binder(context, |binder| binder.row_syntax(table, syntax, place.clause));
    bound.map_err(|error| {
        let call = syntax.find(&mut |e| match &e.kind {
            ExprKind::Call(call) => Some(call.name.value.clone()),
            _ => None,
        });
        match call {
            Some(name) if error.code() == ER_SP_DOES_NOT_EXIST.code => {
                not_allowed(&format!("`{name}`()"), place)
            }
            _ => error,
        }
    })
}

fn with_binder<T>(context: &DefineContext<'_>, run: impl FnOnce(&mut Binder<'_>) -> T) -> T {
    let settings = Settings {
        sql_mode: context.sql_mode(),
        collation: context.eval.types.collation_connection,
        ..Settings::default()
    };
    let names = Names { tables: context.names, environment: &NoSession, text: &[] };
    run(&mut Binder::new(names, &settings, &context.eval.types, 0))
}

/// Generated columns and checks of a new definition, bound.
pub(super) fn rules(context: &DefineContext<'_>, table: &TableInfo) -> SqlResult<RowRules> {
    with_binder(context, |binder| binder.row_rules(table))
}

/// The DEFAULT expressions of columns that are new.
pub(super) fn defaults(
    context: &DefineContext<'_>,
    table: &TableInfo,
    sources: &[ColumnSource],
) -> SqlResult<Vec<(usize, Bound)>> {
    let mut out = Vec::new();
    for (at, (column, source)) in table.columns.iter().zip(sources).enumerate() {
        if let (ColumnSource::Default, DefaultValue::Expression(text)) = (source, &column.default) {
            let syntax = crate::parse::expression(text.as_bytes(), context.sql_mode())?;
            let place =
                Place { clause: Clause::Default, name: &column.name, column: None, kept: false };
            out.push((at, bind(context, table, &syntax, &place)?));
        }
    }
    Ok(out)
}

/// A computed value may depend on plain columns, and on computed ones before it.
fn check_order(table: &TableInfo, at: usize, bound: &Bound) -> SqlResult<()> {
    let computed = |column: &ColumnInfo| {
        column.generated.is_some() || matches!(column.default, DefaultValue::Expression(_))
    };
    for used in bound.columns() {
        if used == at || (used > at && computed(&table.columns[used])) {
            let arguments: [&dyn std::fmt::Display; 2] =
                [&table.columns[at].name, &table.columns[used].name];
            return Err(SqlError::new(&ER_EXPRESSION_REFERS_TO_UNINIT_FIELD, &arguments));
        }
    }
    Ok(())
}

/// Values of virtual columns are computed when a row is written, not when it is read, so they may
/// not depend on more than the row.
fn refuse_varying_virtual(context: &DefineContext<'_>, column: &ColumnInfo) -> SqlResult<()> {
    let Some(generated) = &column.generated else { return Ok(()) };
    let syntax = crate::parse::expression(generated.expression.as_bytes(), context.sql_mode())?;
    let kept = Place { clause: Clause::Generated, name: &column.name, column: None, kept: true };
    match syntax.find(&mut |e| forbidden(e, &kept)) {
        Some(_) => Err(SqlError::not_supported("virtual columns that vary")),
        None => Ok(()),
    }
}

/// No stored column may be computed from one that a cascade sets, also not by way of a virtual one,
/// and no check depend on one.
fn check_cascades(context: &DefineContext<'_>, table: &TableInfo) -> SqlResult<()> {
    use selkie_catalog::ForeignKeyAction::{Cascade, SetNull};
    let sets = |key: &&selkie_catalog::ForeignKey| {
        matches!(key.on_update, Cascade | SetNull) || key.on_delete == SetNull
    };
    let mut set: Vec<&str> =
        table.foreign_keys.iter().filter(sets).flat_map(|k| &k.columns).map(|c| &**c).collect();
    if set.is_empty() {
        return Ok(());
    }
    let used = |text: &str, set: &[&str]| -> SqlResult<Option<String>> {
        let syntax = crate::parse::expression(text.as_bytes(), context.sql_mode())?;
        Ok(syntax.find(&mut |e| match &e.kind {
            ExprKind::Column(c) => {
                set.iter().find(|name| identifier_eq(name, &c.name.value)).map(|n| (*n).to_owned())
            }
            _ => None,
        }))
    };
    let refuse = |what: &str, clause, name: &str| {
        Err(not_allowed(what, &Place { clause, name, column: None, kept: true }))
    };
    for column in &table.columns {
        let Some(generated) = &column.generated else { continue };
        match used(&generated.expression, &set)? {
            Some(what) if generated.stored => {
                return refuse(&what, Clause::Generated, &column.name);
            }
            Some(_) => set.push(&column.name),
            None => {}
        }
    }
    let of_columns = table.columns.iter().filter_map(|c| Some((&*c.name, c.check.as_deref()?)));
    let of_table = table.checks.iter().map(|c| (&*c.name, &*c.expression));
    for (name, text) in of_columns.chain(of_table) {
        if let Some(what) = used(text, &set)? {
            return refuse(&what, Clause::Check, name);
        }
    }
    Ok(())
}
