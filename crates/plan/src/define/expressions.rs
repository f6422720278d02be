//! Expressions in definitions: CHECK, DEFAULT (expr) and generated columns. Makes their canonical
//! text, and checks whether each is allowed in its place.

use hashbrown::HashSet;

use selkie_catalog::{CheckInfo, ColumnInfo, DefaultValue, Generated, TableInfo};
use selkie_engine::IndexKind;
use selkie_expr::{Expr as Bound, ExprKind as BoundKind, VariableScope};
use selkie_sql::ast::{self, Expr, ExprKind, UnaryOp};
use selkie_sql::{UnparseOptions, unparse_expr};
use selkie_types::charset::{identifier_eq, in_one_case};
use selkie_types::error::catalogue::{
    ER_DUP_CONSTRAINT_NAME, ER_EXPRESSION_REFERS_TO_UNINIT_FIELD,
    ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, ER_INVALID_DEFAULT,
    ER_PRIMARY_KEY_BASED_ON_GENERATED_COLUMN, ER_SP_DOES_NOT_EXIST, ER_SUBQUERIES_NOT_SUPPORTED,
    ER_UNKNOWN_ERROR,
};
use selkie_types::{Batch, Condition, Level, SqlError, SqlResult, SqlType, Value, stack};

use super::forbidden::forbidden;
use super::mode_dependence::mode_of;
use super::{ColumnSource, DefineContext, constant, system_time};
use crate::bind::{Binder, Clause, Names};
use crate::physical::RowRules;
use crate::settings::{Environment, Settings};

/// The environment for expressions in definitions: system variables are visible, stored functions
/// are not.
struct Defining<'a>(&'a dyn Environment);

impl Environment for Defining<'_> {
    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<SqlType> {
        self.0.system_variable(scope, name)
    }

    fn permissions(&self) -> &dyn crate::Permissions {
        &crate::Unrestricted
    }
}

/// Canonical text of an expression; column names have no table.
pub(super) fn text(expr: &Expr) -> String {
    let mut expr = expr.clone();
    expr.for_each_column_mut(&mut |column| (column.schema, column.table) = (None, None));
    unparse_expr(&expr, &UnparseOptions::default())
}

/// Text of a DEFAULT: in parentheses, except for calls, columns and similar.
pub(super) fn default_text(expr: &Expr) -> String {
    let bare = match &expr.kind {
        ExprKind::Call(call) => !["mod", "isnull", "datediff"].iter().any(|n| call.name.is(n)),
        ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Cast { .. } => true,
        ExprKind::NextValue(_) | ExprKind::PreviousValue(_) | ExprKind::SetValue { .. } => true,
        ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr } => {
            matches!(expr.kind, ExprKind::Literal(_))
        }
        ExprKind::Case { .. } | ExprKind::Trim { .. } | ExprKind::Char { .. } => true,
        ExprKind::WeightString { .. } | ExprKind::ColumnAdd { .. } => true,
        ExprKind::Extract { .. } | ExprKind::ConvertUsing { .. } | ExprKind::UserVar(_) => true,
        _ => false,
    };
    if bare { text(expr) } else { format!("({})", text(expr)) }
}

/// The expression of `AS (expr)`, or the bound of a period.
pub(super) fn generated(def: &ast::ColumnDef) -> Option<Generated> {
    Some(match def.generated.as_deref()? {
        ast::Generated::Expr { expr, stored } => {
            Generated { expression: text(expr), stored: *stored }
        }
        _ => system_time::generated(system_time::role(def)),
    })
}

/// The CHECK of a column definition.
pub(super) fn column_check(def: &ast::ColumnDef) -> Option<String> {
    def.check.as_ref().map(|check| text(&check.expr))
}

/// Adds a table-level CHECK to `checks`; [`name_checks`] names those without a name.
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

/// An error if a check has the name of a unique key, a foreign key or a column's check.
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

/// Compat: a check that reads only dropped columns is dropped with them.
pub(super) fn drop_checks(
    context: &DefineContext<'_>,
    checks: &mut Vec<CheckInfo>,
    dropped: &[String],
    is_old: impl Fn(&CheckInfo) -> bool,
) {
    checks.retain(|check| {
        if !is_old(check) {
            return true;
        }
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

/// Names the checks without a name, after all others are known, with numbers from `first` on.
pub(super) fn name_checks(checks: &mut [CheckInfo], first: usize) {
    let taken: HashSet<String> = checks.iter().map(|check| in_one_case(&check.name)).collect();
    let mut free = (first..)
        .map(|number| format!("CONSTRAINT_{number}"))
        .filter(|name| !taken.contains(&in_one_case(name)));
    for check in checks.iter_mut().filter(|check| check.name.is_empty()) {
        check.name = free.next().unwrap_or_default();
    }
}

/// `text` with the column `from` renamed to `to`.
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

/// The clause of an expression, and the object it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) clause: Clause,
    /// Name of the column or constraint, for messages.
    name: &'a str,
    /// The column that gets the value.
    column: Option<usize>,
    /// The value is stored, so it must always be the same.
    pub(super) kept: bool,
}

/// Checks every expression of a table that is otherwise complete.
pub(super) fn check(context: &DefineContext<'_>, table: &TableInfo) -> SqlResult<()> {
    check_keys(table)?;
    check_names(table)?;
    for (at, column) in table.columns.iter().enumerate() {
        let place = |clause, kept| Place { clause, name: &column.name, column: Some(at), kept };
        if let Some(generated) = column.generated.as_ref().filter(|_| !column.system.is_bound()) {
            let kept = generated.stored || is_indexed(table, at);
            check_one(context, table, &generated.expression, &place(Clause::Generated, kept))?;
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
    for index in table.def.indexes.iter().filter(|i| i.kind.is_primary()) {
        let computed = |c: &ColumnInfo| c.generated.is_some() && !c.system.is_bound();
        if index.parts.iter().any(|p| computed(&table.columns[p.column])) {
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
    refuse_forbidden(&syntax, place)?;
    let bound = bind(context, table, &syntax, place)?;
    check_patterns(context, &bound)?;
    refuse_auto_increment(table, &bound, place)?;
    if place.kept {
        refuse_varying_columns(context, table, &bound, place)?;
    }
    let Some(at) = place.column else { return Ok(()) };
    check_order(context, table, at, &bound)?;
    if matches!(place.clause, Clause::Default) {
        check_constant(context, bound.clone(), &table.columns[at])?;
    }
    let kept = place.kept && matches!(place.clause, Clause::Generated);
    let mode = kept.then(|| mode_of(&bound, &table.columns[at].ty)).flatten();
    let Some(mode) = mode else { return Ok(()) };
    let depends = format!("Expression depends on the @@sql_mode value {mode}");
    (context.after_error)(Condition::raw(Level::Warning, ER_UNKNOWN_ERROR.code, depends));
    Err(not_allowed(text, place))
}

/// An error for parts of expressions in a column's definition that are forbidden whatever the table
/// is.
pub fn check_column_parts(def: &ast::ColumnDef) -> SqlResult<()> {
    let place = |clause, kept| Place { clause, name: &def.name.value, column: None, kept };
    if let Some(default) = &def.default {
        refuse_forbidden(default, &place(Clause::Default, false))?;
    }
    if let Some(ast::Generated::Expr { expr, stored }) = def.generated.as_deref() {
        refuse_forbidden(expr, &place(Clause::Generated, *stored))?;
    }
    match &def.check {
        Some(check) => refuse_forbidden(&check.expr, &place(Clause::Check, true)),
        None => Ok(()),
    }
}

fn refuse_forbidden(syntax: &Expr, place: &Place<'_>) -> SqlResult<()> {
    let Some(what) = syntax.find(&mut |e| forbidden(e, place)) else { return Ok(()) };
    let subquery = what == "select ...";
    if subquery && matches!(place.clause, Clause::Check) {
        return Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&place.clause.name()]));
    }
    Err(not_allowed(&what, place))
}

/// A constant default must be a valid value of the column.
fn check_constant(
    context: &DefineContext<'_>,
    mut bound: Bound,
    column: &ColumnInfo,
) -> SqlResult<()> {
    crate::fold::fold(&mut bound, &context.eval.types);
    let Some(value) = bound.as_literal() else { return Ok(()) };
    let valid = match value.is_null() {
        true => column.nullable,
        false => constant::store(context, bound, column).is_some(),
    };
    match valid {
        true => Ok(()),
        false => Err(SqlError::new(&ER_INVALID_DEFAULT, &[&column.name])),
    }
}

/// Compat: constant patterns are checked when a definition is made.
fn check_patterns(context: &DefineContext<'_>, bound: &Bound) -> SqlResult<()> {
    let mut bad = None;
    bound.visit(&mut |e| {
        let BoundKind::Call(call) = &e.kind else { return };
        let is_pattern = call.function.name().starts_with("REGEXP");
        if is_pattern && call.args.get(1).is_some_and(Bound::is_constant) {
            let mut on_nothing = e.clone();
            if let BoundKind::Call(call) = &mut on_nothing.kind {
                call.args[0] = Bound::literal(Value::bytes(b""), call.args[0].ty.clone());
            }
            bad = bad.take().or(on_nothing.eval(context.eval, &Batch::new(Vec::new(), 1)).err());
        }
    });
    bad.map_or(Ok(()), Err)
}

fn refuse_auto_increment(table: &TableInfo, bound: &Bound, place: &Place<'_>) -> SqlResult<()> {
    // A virtual column that is computed on read finds the value in the row.
    if matches!(place.clause, Clause::Generated) && !place.kept {
        return Ok(());
    }
    match bound.columns().into_iter().find(|at| table.columns[*at].auto_increment) {
        None => Ok(()),
        Some(at) => {
            let place = Place { name: &table.columns[at].name, ..*place };
            Err(not_allowed("AUTO_INCREMENT", &place))
        }
    }
}

/// An error for columns that are computed on every read with varying values.
fn refuse_varying_columns(
    context: &DefineContext<'_>,
    table: &TableInfo,
    bound: &Bound,
    place: &Place<'_>,
) -> SqlResult<()> {
    for at in bound.columns() {
        if varies(context, table, at)? {
            return Err(not_allowed(&table.columns[at].name, place));
        }
    }
    Ok(())
}

/// Whether a virtual column can have different values at different times, or is not yet known when
/// its row is written.
fn varies(context: &DefineContext<'_>, table: &TableInfo, at: usize) -> SqlResult<bool> {
    stack::check()?;
    let generated = table.columns[at].generated.as_ref().filter(|_| table.is_computed(at));
    let Some(generated) = generated else { return Ok(false) };
    let kept = Place { clause: Clause::Generated, name: "", column: None, kept: true };
    let syntax = crate::parse::expression(generated.expression.as_bytes(), context.sql_mode())?;
    if syntax.find(&mut |e| forbidden(e, &kept)).is_some() {
        return Ok(true);
    }
    let bound = bind(context, table, &syntax, &kept)?;
    for used in bound.columns() {
        if table.columns[used].auto_increment || (used < at && varies(context, table, used)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn not_allowed(what: &str, place: &Place<'_>) -> SqlError {
    let arguments: [&dyn std::fmt::Display; 3] = [&what, &place.clause.name(), &place.name];
    SqlError::new(&ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, &arguments)
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

pub(super) fn with_binder<T>(
    context: &DefineContext<'_>,
    run: impl FnOnce(&mut Binder<'_>) -> T,
) -> T {
    let settings = Settings::default();
    let environment = Defining(context.environment);
    let names = Names { tables: context.names, environment: &environment, text: &[] };
    run(&mut Binder::new(names, &settings, &context.eval.types, 0))
}

/// The bound generated columns and checks of a new definition.
pub(super) fn rules(context: &DefineContext<'_>, table: &TableInfo) -> SqlResult<RowRules> {
    with_binder(context, |binder| binder.row_rules(table, &|_| false))
}

/// The bound DEFAULT expressions of new columns.
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

/// Whether a default is more than constants and operators.
pub(super) fn is_computed(context: &DefineContext<'_>, text: &str) -> bool {
    let Ok(expr) = crate::parse::expression(text.as_bytes(), context.sql_mode()) else {
        return true;
    };
    let kept = |e: &selkie_sql::ast::Expr| {
        use selkie_sql::ast::ExprKind as E;
        matches!(e.kind, E::Literal(_) | E::Unary { .. } | E::Binary { .. })
    };
    expr.find(&mut |e| (!kept(e)).then_some(())).is_some()
}

/// Order of evaluation. A generated column may read all columns but itself and later generated
/// ones. A default may read columns that are not generated, but no later column whose default reads
/// columns.
fn check_order(
    context: &DefineContext<'_>,
    table: &TableInfo,
    at: usize,
    bound: &Bound,
) -> SqlResult<()> {
    let is_generated = |at: usize| table.columns[at].generated.is_some();
    for used in bound.columns() {
        let too_late = match (is_generated(at), is_generated(used)) {
            (false, true) => true,
            (true, true) => used > at,
            (false, false) => used > at && depends(context, &table.columns[used])?,
            (true, false) => false,
        };
        if used == at || too_late {
            let arguments: [&dyn std::fmt::Display; 2] =
                [&table.columns[at].name, &table.columns[used].name];
            return Err(SqlError::new(&ER_EXPRESSION_REFERS_TO_UNINIT_FIELD, &arguments));
        }
    }
    Ok(())
}

/// Whether a column's default reads columns.
fn depends(context: &DefineContext<'_>, column: &ColumnInfo) -> SqlResult<bool> {
    let DefaultValue::Expression(text) = &column.default else { return Ok(false) };
    let syntax = crate::parse::expression(text.as_bytes(), context.sql_mode())?;
    let found = syntax.find(&mut |e| matches!(e.kind, ExprKind::Column(_)).then_some(()));
    Ok(found.is_some())
}

/// An error if a cascade sets a column from which a stored column is computed, directly or through
/// a virtual one, or which a check reads.
fn check_cascades(context: &DefineContext<'_>, table: &TableInfo) -> SqlResult<()> {
    super::period::check_cascades(table)?;
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
        let Some(generated) = column.generated.as_ref().filter(|_| !column.system.is_bound())
        else {
            continue;
        };
        match used(&generated.expression, &set)? {
            Some(what) if generated.stored => {
                return refuse(&what, Clause::Generated, &column.name);
            }
            Some(_) => set.push(&column.name),
            None => {}
        }
    }
    let of_columns = table.columns.iter().filter_map(|c| Some((&*c.name, c.check.as_deref()?)));
    let implied = table.period_check();
    let checks = implied.iter().chain(&table.checks);
    let of_table = checks.map(|c| (&*c.name, &*c.expression));
    for (name, text) in of_columns.chain(of_table) {
        if let Some(what) = used(text, &set)? {
            return refuse(&what, Clause::Check, name);
        }
    }
    Ok(())
}
